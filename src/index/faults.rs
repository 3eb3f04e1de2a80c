//! Faults under the store: the disk fails, or the power goes, at every single operation in turn. Whatever was
//! acknowledged must be there afterwards, exactly once.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use super::tests::{metrics, moment, seconds, stream};
use super::*;
use crate::domain::{BlindSpan, Blindness, MomentId};

const MOMENTS: u32 = 6;

/// What is left of a disk after its failure.
#[derive(Debug, Clone, Copy)]
enum Cut {
    /// The process died: every byte that was written is there.
    Process,
    /// The power went: of the writes since the last sync some are there, some in half, some not at all.
    Power,
}

#[derive(Debug, Default)]
struct Platter {
    /// As written.
    written: Vec<u8>,
    /// As of the last sync.
    synced: Vec<u8>,
    /// Changes since the last sync, in order.
    unsynced: Vec<Change>,
    operations: u64,
    /// The operation from which on everything fails.
    fails_at: Option<u64>,
}

#[derive(Debug, Clone)]
enum Change {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Length(length) => bytes.resize(*length, 0),
            Self::Bytes(offset, data) => {
                // A lost change of length leaves nowhere to write to.
                if bytes.len() < offset + data.len() {
                    bytes.resize(offset + data.len(), 0);
                }
                bytes[*offset..offset + data.len()].copy_from_slice(data);
            }
        }
    }

    fn half(&self) -> Self {
        match self {
            Self::Length(length) => Self::Length(*length),
            Self::Bytes(offset, data) => Self::Bytes(*offset, data[..data.len() / 2].to_vec()),
        }
    }
}

impl Platter {
    fn change(&mut self, change: Change) -> io::Result<()> {
        if self.fails() {
            // The last change before the end arrives in half.
            if self.fails_at == Some(self.operations) {
                self.keep(change.half());
            }
            return Err(io::Error::other("the disk is gone"));
        }
        self.keep(change);
        Ok(())
    }

    fn keep(&mut self, change: Change) {
        change.apply(&mut self.written);
        self.unsynced.push(change);
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.fails() {
            return Err(io::Error::other("the disk is gone"));
        }
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.synced);
        }
        Ok(())
    }

    fn fails(&mut self) -> bool {
        self.operations += 1;
        self.fails_at.is_some_and(|at| self.operations >= at)
    }

    fn after(&self, cut: Cut, random: &mut fastrand::Rng) -> Vec<u8> {
        match cut {
            Cut::Process => self.written.clone(),
            Cut::Power => {
                let mut bytes = self.synced.clone();
                for change in &self.unsynced {
                    match random.u8(..3) {
                        0 => {}
                        1 => change.half().apply(&mut bytes),
                        _ => change.apply(&mut bytes),
                    }
                }
                bytes
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<Platter>>);

impl Disk {
    fn holding(bytes: Vec<u8>) -> Self {
        let platter = Platter { written: bytes.clone(), synced: bytes, ..Platter::default() };
        Self(Arc::new(Mutex::new(platter)))
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().expect("not poisoned")
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter().written.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.platter();
        let wanted = offset as usize..offset as usize + out.len();
        let bytes = platter.written.get(wanted).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.platter().change(Change::Length(length as usize))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.platter().sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.platter().change(Change::Bytes(offset as usize, data.to_vec()))
    }
}

/// Stores moments one after the other until the disk fails; says which were acknowledged.
async fn store_until_it_fails(disk: &Disk) -> Vec<f64> {
    let mut acknowledged = Vec::new();
    let Ok(index) = Index::over(disk.clone(), &Config::default(), metrics()) else { return acknowledged };
    let mut failure = index.register(&stream("a"), StreamKind::Live, None).await.err();
    for at in (0..MOMENTS).map(f64::from) {
        match index.append(moment("a", at, 0.0)).await {
            Ok(_) => acknowledged.push(at),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let ended = index.ended();
    let closed = index.close().await;
    if let Some(error) = failure {
        assert!(matches!(error, IndexError::Storage { .. }), "{error:?} is not a failed disk");
        assert_eq!(closed, Err(error.clone()), "the reason is told to everybody");
        assert_eq!(ended.await, Err(error));
    }
    acknowledged
}

async fn read_back(bytes: Vec<u8>) -> Result<Vec<f64>, IndexError> {
    let index = Index::over(Disk::holding(bytes), &Config::default(), metrics())?;
    let record = index.register(&stream("a"), StreamKind::Live, None).await?;
    let scope = Scope { streams: vec![stream("a")], window: Window::ALL };
    let moments = index.moments(scope, usize::MAX, false).await?;
    assert_eq!(record.moments, moments.len() as u64);
    assert_eq!(record.last, moments.last().map(|moment| moment.at));
    // And it goes on from there.
    let next = record.last.map_or(0.0, StreamTime::seconds) + 100.0;
    index.append(moment("a", next, 0.0)).await?;
    assert_eq!(index.neighbours(&stream("a"), seconds(next)).await?.at, Some(seconds(next)));
    index.close().await?;
    Ok(moments.iter().map(|moment| moment.at.seconds()).collect())
}

#[tokio::test]
async fn no_acknowledged_moment_is_lost_whenever_the_disk_fails() {
    let sound = Disk::default();
    assert_eq!(store_until_it_fails(&sound).await.len(), MOMENTS as usize);
    let operations = sound.platter().operations;
    assert!(operations > 50, "only {operations} operations were seen");
    let mut random = fastrand::Rng::with_seed(7);
    let mut acknowledged_in_failed_runs = 0;
    for fails_at in 1..=operations {
        let disk = Disk::default();
        disk.platter().fails_at = Some(fails_at);
        let acknowledged = store_until_it_fails(&disk).await;
        acknowledged_in_failed_runs += acknowledged.len();
        for cut in [Cut::Process, Cut::Power] {
            let bytes = disk.platter().after(cut, &mut random);
            let context = format!("failed at operation {fails_at} of {operations}, {cut:?}");
            let found = match read_back(bytes).await {
                Ok(found) => found,
                // A file that was never finished being created holds nothing yet.
                Err(error) => {
                    assert!(acknowledged.is_empty(), "{context}: {error}");
                    continue;
                }
            };
            let due: Vec<_> = (0..found.len() as u32).map(f64::from).collect();
            assert_eq!(found, due, "{context}: moments are missing or doubled");
            assert!(found.len() >= acknowledged.len(), "{context}: {acknowledged:?} were acknowledged");
            assert!(found.len() <= acknowledged.len() + 1, "{context}: more than the one in flight");
        }
    }
    assert!(acknowledged_in_failed_runs > 0, "no run got far enough to mean anything");
}

/// One thing that a narrator writes.
#[derive(Debug, Clone, Copy)]
enum Step {
    Append(f64),
    /// The last moment holds until then.
    Extend(f64),
    /// Nothing was seen from then to then.
    Blind(f64, f64),
}

/// A camera's day: seen, unchanged, dark, seen, unchanged, and frozen, which is found out late.
const DAY: [Step; 9] = [
    Step::Append(0.0),
    Step::Extend(1.0),
    Step::Extend(2.0),
    Step::Blind(3.0, 3.0),
    Step::Blind(3.0, 4.0),
    Step::Append(5.0),
    Step::Extend(9.0),
    Step::Blind(7.0, 10.0),
    Step::Append(11.0),
];

/// What there is after some steps: spans of moments, spans without sight, the last picture dealt with.
type Spans = (Vec<(f64, f64)>, Vec<(f64, f64)>, Option<f64>);

fn after(steps: &[Step]) -> Spans {
    let (mut moments, mut blind, mut last): Spans = Default::default();
    for step in steps {
        last = Some(match *step {
            Step::Append(at) => {
                moments.push((at, at));
                at
            }
            Step::Extend(until) => {
                moments.last_mut().expect("a moment").1 = until;
                until
            }
            Step::Blind(from, until) => {
                if let Some(moment) = moments.last_mut() {
                    moment.1 = moment.1.min(from - 1e-9);
                }
                blind.retain(|(begin, _)| *begin != from);
                blind.push((from, until));
                until
            }
        });
    }
    (moments, blind, last)
}

/// Takes the steps one after the other until the disk fails; says how many were acknowledged.
async fn live_until_it_fails(disk: &Disk) -> usize {
    let Ok(index) = Index::over(disk.clone(), &Config::default(), metrics()) else { return 0 };
    let (a, mut acknowledged, mut id) = (stream("a"), 0, MomentId(0));
    let mut is_well = index.register(&a, StreamKind::Live, None).await.is_ok();
    for step in DAY {
        is_well = match step {
            Step::Append(at) => index.append(moment("a", at, 0.0)).await.map(|moment| id = moment.id).is_ok(),
            Step::Extend(until) => index.extend(&a, id, seconds(until)).await.is_ok_and(|moment| moment.is_some()),
            Step::Blind(from, until) => index.blind(span(from, until)).await.is_ok(),
        } && is_well;
        acknowledged += usize::from(is_well);
    }
    // Fails as everything before it did.
    let _ = index.close().await;
    acknowledged
}

fn span(from: f64, until: f64) -> BlindSpan {
    let wall = WallTime::from_nanos(1_790_000_000_000_000_000).expect("a time of day");
    BlindSpan { stream: stream("a"), from: seconds(from), until: seconds(until), wall, why: Blindness::Black }
}

async fn spans_in(bytes: Vec<u8>) -> Result<Spans, IndexError> {
    let index = Index::over(Disk::holding(bytes), &Config::default(), metrics())?;
    let record = index.register(&stream("a"), StreamKind::Live, None).await?;
    let scope = Scope { streams: vec![stream("a")], window: Window::ALL };
    let moments = index.moments(scope, usize::MAX, false).await?;
    let blind = index.unobservable(&stream("a"), Window::ALL).await?;
    index.close().await?;
    let moments = moments.iter().map(|moment| (moment.at.seconds(), moment.until.seconds())).collect();
    let blind = blind.iter().map(|span| (span.from.seconds(), span.until.seconds())).collect();
    Ok((moments, blind, record.last.map(StreamTime::seconds)))
}

#[tokio::test]
async fn spans_grow_whole_or_not_at_all_whenever_the_disk_fails() {
    let sound = Disk::default();
    assert_eq!(live_until_it_fails(&sound).await, DAY.len());
    let written = sound.platter().written.clone();
    assert_eq!(spans_in(written).await, Ok(after(&DAY)));
    let operations = sound.platter().operations;
    let mut random = fastrand::Rng::with_seed(7);
    let mut extended_in_failed_runs = 0;
    for fails_at in 1..=operations {
        let disk = Disk::default();
        disk.platter().fails_at = Some(fails_at);
        let acknowledged = live_until_it_fails(&disk).await;
        extended_in_failed_runs += usize::from(acknowledged > 1);
        for cut in [Cut::Process, Cut::Power] {
            let bytes = disk.platter().after(cut, &mut random);
            let context = format!("failed at operation {fails_at} of {operations}, {cut:?}, {acknowledged} steps");
            match spans_in(bytes).await {
                Ok(found) => {
                    let in_flight = (acknowledged + 1).min(DAY.len());
                    let possible = [after(&DAY[..acknowledged]), after(&DAY[..in_flight])];
                    assert!(possible.contains(&found), "{context}: {found:?} is none of {possible:?}");
                }
                // A file that was never finished being created holds nothing yet.
                Err(error) => assert_eq!(acknowledged, 0, "{context}: {error}"),
            }
        }
    }
    assert!(extended_in_failed_runs > 0, "no run got far enough to mean anything");
}

#[tokio::test]
async fn a_disk_without_sync_is_caught_by_this_test() {
    // The negative control: a disk that only pretends to sync loses what was acknowledged.
    let disk = Disk::default();
    let acknowledged = store_until_it_fails(&disk).await;
    let bytes = {
        let mut platter = disk.platter();
        platter.synced.clear();
        platter.after(Cut::Power, &mut fastrand::Rng::with_seed(7))
    };
    assert!(read_back(bytes).await.is_ok_and(|found| found.len() < acknowledged.len()));
}

#[tokio::test]
async fn a_damaged_file_gives_values_or_errors() {
    let disk = Disk::default();
    assert_eq!(store_until_it_fails(&disk).await.len(), MOMENTS as usize);
    let sound = disk.platter().written.clone();
    let filled: Vec<_> = (0..sound.len()).filter(|&at| sound[at] != 0).collect();
    let mut random = fastrand::Rng::with_seed(7);
    let mut refused = 0;
    for _ in 0..400 {
        let mut bytes = sound.clone();
        for _ in 0..random.usize(1..4) {
            bytes[filled[random.usize(..filled.len())]] ^= random.u8(1..);
        }
        if random.u8(..8) == 0 {
            bytes.truncate(random.usize(..sound.len()));
        }
        // Whatever redb makes of it, a panic of its own included, arrives here as a value.
        refused += usize::from(look_at_everything(bytes).await.is_err());
    }
    assert!(refused > 20, "only {refused} damages were noticed: were any made?");
}

async fn look_at_everything(bytes: Vec<u8>) -> Result<(), IndexError> {
    let index = Index::over(Disk::holding(bytes), &Config::default(), metrics())?;
    let scope = Scope { streams: vec![stream("a")], window: Window::ALL };
    index.search(moment("a", 0.0, 0.3).embedding, scope.clone(), 3).await?;
    index.moments(scope, usize::MAX, true).await?;
    index.neighbours(&stream("a"), seconds(2.0)).await?;
    index.unobservable(&stream("a"), Window::ALL).await?;
    let moment = index.append(moment("a", 1000.0, 0.0)).await?;
    index.extend(&stream("a"), moment.id, seconds(1001.0)).await?;
    index.blind(span(1002.0, 1003.0)).await?;
    index.close().await
}

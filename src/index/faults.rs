//! Faults under the store: the disk fails, or the power goes, at every single operation in turn. Whatever was
//! acknowledged must be there afterwards, exactly once.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use super::tests::{metrics, moment, seconds, stream};
use super::*;

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
    index.append(moment("a", 1000.0, 0.0)).await?;
    index.close().await
}

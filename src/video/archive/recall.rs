//! The frame of a live stream at a time of the past, decoded afresh from its segments, also from the one that is being
//! written.
//!
//! Which picture was on display, and where decoding has to begin for it, is told by the segments' notes; the decoder
//! then gets as many pictures as it needs and no container in between, so every picture keeps its exact time.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::fault::Fault;
use super::super::picture::ToPicture;
use super::super::reach::Reach;
use super::super::reader::Reader;
use super::super::whole::is_whole;
use super::Archive;
use super::segment::{Entry, Reading};
use super::shelf::{Segment, Shelf};
use super::unit::{Codec, Unit};
use crate::domain::{Frame, StreamId, StreamKind, StreamTime};
use crate::seams::{EvidenceError, EvidenceSource};
use crate::stop::Stop;

/// Pictures later than the one asked for that the decoder gets: it may hold as many back to re-order them.
const AFTER: usize = 17;
/// How many key pictures further back to begin, if nothing comes out: a key picture may lean on the ones before it.
const STEPS_BACK: usize = 3;
/// More than this is not read for one picture.
const MAX_BYTES: u64 = 128 << 20;
/// How long to wait for pictures that are on their way to the disk.
const CATCH_UP: Duration = Duration::from_secs(2);
/// One call takes no longer than about this.
const PATIENCE: Duration = Duration::from_secs(20);
/// A picture stays on display for so long, or for some of the stream's intervals; then there is a gap.
const LEAST_HOLD: Duration = Duration::from_secs(1);
const HOLD_INTERVALS: u32 = 3;

/// Evidence of a recorded live stream.
pub(in crate::video) struct Recall {
    archive: Archive,
    stream: StreamId,
    dir: PathBuf,
}

/// Why there is no picture.
enum Miss {
    NoFrame(String),
    Expired,
    Decode(String),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Self {
        Self::Decode(format!("the recording cannot be read: {error}"))
    }
}

impl Recall {
    pub(super) fn new(archive: Archive, stream: &StreamId, dir: PathBuf) -> Self {
        Self { archive, stream: stream.clone(), dir }
    }

    fn extract(&self, at: StreamTime) -> Result<Frame, Miss> {
        if let Some(track) = self.archive.track(&self.dir) {
            track.catch_up(at, CATCH_UP);
        }
        let shelf = Shelf::list(&self.dir)?;
        let Some(place) = shelf.segments.iter().rposition(|segment| segment.start <= at) else {
            return Err(nothing_before(&shelf, at));
        };
        let pool = match Pool::load(&shelf, place) {
            // Retention was faster.
            Err(Miss::Decode(_)) if !shelf.segments[place].path.exists() => return Err(Miss::Expired),
            pool => pool?,
        };
        pool.check_displayed(at)?;
        let until = Instant::now() + PATIENCE;
        for begin in pool.begins(at)? {
            let units = pool.units(begin, at)?;
            if let Some(frame) = self.decode(&pool.codec, &units, at, until)? {
                return Ok(frame);
            }
        }
        Err(Miss::Decode("no picture came out of the recording".to_owned()))
    }

    /// The picture on display at `at` among `units`; `None` if none at or before it comes out.
    fn decode(&self, codec: &Codec, units: &[Unit], at: StreamTime, until: Instant) -> Result<Option<Frame>, Miss> {
        let stop = Stop::new();
        let left = || until.saturating_duration_since(Instant::now());
        let failed = |fault: Fault| Miss::Decode(fault.reason());
        let mut reader = match Reader::open_units(codec, units, &stop, left()) {
            Ok(reader) => reader,
            // Nothing decodable from here; an earlier beginning may help.
            Err(Fault::Undecodable(_) | Fault::Damaged(_) | Fault::Access(_)) => return Ok(None),
            Err(fault) => return Err(failed(fault)),
        };
        reader.play().map_err(failed)?;
        let mut reach = Reach::new(at);
        loop {
            let decoded = match reader.next(&stop, left()) {
                Ok(Some(decoded)) => decoded,
                Ok(None) | Err(Fault::Damaged(_) | Fault::Undecodable(_) | Fault::Access(_)) => break,
                Err(fault) => return Err(failed(fault)),
            };
            if reach.offer(decoded.at, decoded.lasts, decoded) {
                break;
            }
        }
        let Some(best) = reach.into_best() else { return Ok(None) };
        let picture = ToPicture::default().convert(&best.frame.sample).map_err(Miss::Decode)?;
        let unit = units.iter().min_by_key(|unit| unit.stamp.at.distance(best.at));
        Ok(unit.map(|unit| {
            let stamp = unit.stamp;
            let (wall, clock, precision) = (stamp.wall, stamp.clock, stamp.precision);
            Frame { stream: self.stream.clone(), at: stamp.at, wall, clock, precision, picture }
        }))
    }
}

fn nothing_before(shelf: &Shelf, at: StreamTime) -> Miss {
    match shelf.expired {
        Some(expired) if at < expired.from => {
            return Miss::NoFrame(format!("the recording began at {}", expired.from));
        }
        Some(expired) if at < expired.until => return Miss::Expired,
        _ => {}
    }
    Miss::NoFrame(match shelf.segments.first() {
        Some(first) => format!("the recording begins at {}", first.start),
        None => "nothing is recorded".to_owned(),
    })
}

/// The pictures around a time: those of the segment it lies in, and of its neighbours.
struct Pool {
    codec: Codec,
    /// In the order in which they were sent.
    pictures: Vec<(usize, Entry)>,
    readings: Vec<Reading>,
    /// Where the next segment begins, if it does not continue this one.
    next: Option<StreamTime>,
}

impl Pool {
    /// Loads the segment at `place`, the one before it, where a group of pictures may have begun, and the one after it,
    /// whose first pictures may have been shown before it; neighbours of another codec are of no use to a decoder.
    fn load(shelf: &Shelf, place: usize) -> Result<Self, Miss> {
        let read = |segment: &Segment| Reading::open(&segment.path);
        let Some(this) = read(&shelf.segments[place])? else {
            return Err(Miss::NoFrame(format!("the recording at {} holds no picture", shelf.segments[place].start)));
        };
        let codec = this.codec.clone();
        let neighbour = |place: Option<usize>| -> Result<Option<Reading>, Miss> {
            let Some(segment) = place.and_then(|place| shelf.segments.get(place)) else { return Ok(None) };
            // One that was deleted meanwhile, or is damaged, is as good as none.
            Ok(read(segment).ok().flatten().filter(|reading| reading.codec == codec))
        };
        let before = neighbour(place.checked_sub(1))?;
        let after = neighbour(Some(place + 1))?;
        let readings: Vec<Reading> = before.into_iter().chain([this]).chain(after).collect();
        let pictures = readings
            .iter()
            .enumerate()
            .flat_map(|(n, reading)| reading.entries.iter().map(move |entry| (n, entry.clone())))
            .collect();
        Ok(Self { codec, pictures, readings, next: shelf.segments.get(place + 1).map(|next| next.start) })
    }

    fn times(&self) -> impl Iterator<Item = StreamTime> {
        self.pictures.iter().map(|(_, entry)| entry.note.stamp.at)
    }

    /// A picture is not on display through a gap, whose bounds are told.
    fn check_displayed(&self, at: StreamTime) -> Result<(), Miss> {
        let shown = self
            .times()
            .filter(|time| *time <= at)
            .max()
            .ok_or_else(|| Miss::NoFrame("the recording of that time holds no picture".to_owned()))?;
        let next = self.times().filter(|time| *time > at).min().or(self.next.filter(|next| *next > at));
        if at.saturating_since(shown) <= self.hold() {
            return Ok(());
        }
        Err(Miss::NoFrame(match next {
            Some(next) => format!("nothing was recorded from {shown} to {next}"),
            None => format!("nothing was recorded after {shown}"),
        }))
    }

    /// For how long a picture may stay on display.
    fn hold(&self) -> Duration {
        let mut times: Vec<StreamTime> = self.times().collect();
        times.sort_unstable();
        let mut steps: Vec<Duration> = times.windows(2).map(|pair| pair[1].saturating_since(pair[0])).collect();
        steps.sort_unstable();
        let usual = steps.get(steps.len() / 2).copied().unwrap_or_default();
        LEAST_HOLD.max(usual * HOLD_INTERVALS)
    }

    /// Where decoding may begin, best first: the last key picture at or before `at`, then earlier ones. One that merely
    /// begins a round of intra refresh makes whole pictures only from the next one on.
    fn begins(&self, at: StreamTime) -> Result<Vec<usize>, Miss> {
        let is_key = |(_, entry): &&(usize, Entry)| entry.note.key && entry.note.stamp.at <= at;
        let keys = self.pictures.iter().enumerate().rev().filter(|(_, picture)| is_key(picture));
        let mut keys: Vec<usize> = keys.map(|(n, _)| n).take(2 + STEPS_BACK).collect();
        if let [last, _, ..] = keys[..]
            && !self.is_whole(last)?
        {
            keys.remove(0);
        }
        keys.truncate(1 + STEPS_BACK);
        Ok(keys)
    }

    fn is_whole(&self, place: usize) -> Result<bool, Miss> {
        let (n, entry) = &self.pictures[place];
        let data = self.readings[*n].data(entry)?;
        Ok(data.is_none_or(|data| is_whole(self.codec.coding, &data)))
    }

    /// What the decoder gets: from `begin` until it cannot hold the wanted picture back any more.
    fn units(&self, begin: usize, at: StreamTime) -> Result<Vec<Unit>, Miss> {
        let (mut units, mut later, mut bytes) = (Vec::new(), 0, 0);
        for (n, entry) in &self.pictures[begin..] {
            let note = &entry.note;
            bytes += u64::from(note.bytes);
            if bytes > MAX_BYTES {
                let reason = format!("more than {MAX_BYTES} bytes lie between it and its key picture");
                return Err(Miss::Decode(reason));
            }
            let data = self.readings[*n].data(entry)?;
            let Some(data) = data else {
                if note.stamp.at <= at {
                    return Err(Miss::Decode(format!("the recorded picture at {} is damaged", note.stamp.at)));
                }
                break;
            };
            units.push(Unit { stamp: note.stamp, key: note.key, data });
            later += usize::from(note.stamp.at > at);
            if later == AFTER {
                break;
            }
        }
        Ok(units)
    }
}

impl EvidenceSource for Recall {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        let stream = self.stream.clone();
        self.extract(at).map_err(|miss| match miss {
            Miss::NoFrame(reason) => EvidenceError::NoFrame { stream, at, reason },
            Miss::Expired => EvidenceError::Expired { stream, at },
            Miss::Decode(reason) => EvidenceError::Decode { stream, at, reason },
        })
    }

    fn kind(&self) -> StreamKind {
        StreamKind::Live
    }
}

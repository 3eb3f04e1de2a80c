//! The picture on display at a time of the past, decoded afresh at every call. Nothing is cached.
//!
//! A seek cuts the time of the picture that it lands on to the time sought, so it goes some way before the time asked
//! for and reads on: the pictures after the first carry their own times. That gives the very time and pixels that the
//! sampler saw, which a test holds it to for every format.

use std::time::{Duration, Instant};

use super::fault::Fault;
use super::file;
use super::picture::ToPicture;
use super::reach::{Candidate, Reach};
use super::reader::{Decoded, Reader};
use super::source::HALF_A_PICTURE;
use super::stream::StreamConfig;
use crate::domain::{Clock, Frame, StreamId, StreamKind, StreamTime, WallTime};
use crate::seams::{EvidenceError, EvidenceSource};
use crate::stop::Stop;

/// How far before the time asked for to seek, until a picture in between is found; then the file is read from its
/// beginning. The steps serve slide shows, whose pictures stand for minutes.
const LEADS: [Duration; 4] =
    [Duration::from_millis(300), Duration::from_secs(3), Duration::from_secs(30), Duration::from_mins(5)];
/// A first picture later than the time sought by this much was not cut.
const CUT: Duration = Duration::from_millis(1);
/// Headers tell the length of a file roughly; what lies further beyond is not searched for.
const BEYOND: Duration = Duration::from_secs(5);
/// One call takes no longer than about this.
const PATIENCE: Duration = Duration::from_secs(20);

/// Evidence of a file or finite pattern, which is read again.
pub(super) struct Replay {
    stream: StreamId,
    config: StreamConfig,
    beginning: WallTime,
    /// What the file was when the stream was set up, if it was there.
    identity: Option<String>,
    patience: Duration,
}

/// Evidence of a live stream that is not recorded.
pub(super) struct Unrecorded {
    stream: StreamId,
    reason: &'static str,
}

/// Why there is no picture, before it is known where.
enum Miss {
    NoFrame(String),
    Fault(Fault),
}

impl From<Fault> for Miss {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A candidate, and whether the file ended before a later picture came.
type Found = (Option<Candidate<Decoded>>, bool);

impl Replay {
    pub(super) fn new(stream: &StreamId, config: &StreamConfig, epoch: WallTime) -> Self {
        Self {
            stream: stream.clone(),
            config: config.clone(),
            beginning: config.beginning(epoch),
            identity: config.identity(stream).ok().flatten(),
            patience: PATIENCE,
        }
    }

    /// A file that was watched once and is in no configuration any more: `identity` says which it was.
    pub(super) fn former(stream: &StreamId, identity: &str, beginning: WallTime) -> Option<Self> {
        let config = StreamConfig::new(file::path_of(identity)?.to_str()?).ok()?;
        let identity = Some(identity.to_owned());
        Some(Self { stream: stream.clone(), config, beginning, identity, patience: PATIENCE })
    }

    fn extract(&self, at: StreamTime) -> Result<Frame, Miss> {
        self.check_unchanged()?;
        let search = Search { config: &self.config, at, stop: Stop::new(), until: Instant::now() + self.patience };
        let found = search.run()?;
        let picture = ToPicture::default()
            .convert(&found.frame.sample)
            .map_err(|reason| Miss::Fault(Fault::Undecodable(reason)))?;
        let wall = self.beginning.plus(found.at.saturating_since(StreamTime::ZERO));
        let precision = found.lasts.map_or(HALF_A_PICTURE, |lasts| lasts / 2);
        Ok(Frame { stream: self.stream.clone(), at: found.at, wall, clock: Clock::Media, precision, picture })
    }

    /// A frame of another file is no evidence.
    fn check_unchanged(&self) -> Result<(), Miss> {
        let now = self.config.identity(&self.stream).map_err(|error| Miss::NoFrame(error.to_string()))?;
        match &self.identity {
            Some(then) if now.as_ref() != Some(then) => {
                Err(Miss::NoFrame("the file was changed after it was watched".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// One search for one time.
struct Search<'a> {
    config: &'a StreamConfig,
    at: StreamTime,
    /// Never asked: a question ends by its own deadline.
    stop: Stop,
    until: Instant,
}

impl Search<'_> {
    fn run(&self) -> Result<Candidate<Decoded>, Miss> {
        let mut reader = Reader::open_file(self.config, &self.stop, self.left()?)?;
        if self.at > StreamTime::ZERO + LEADS[0] && file::seeks_exactly(&self.config.address, &reader.plugged()) {
            if let Some(length) = reader.duration().filter(|&length| self.at > StreamTime::ZERO + length + BEYOND) {
                return Err(Miss::NoFrame(format!("the video is {:.3} s long", length.as_secs_f64())));
            }
            if let Some(found) = self.by_seeking(&mut reader)? {
                return Ok(found);
            }
            reader = Reader::open_file(self.config, &self.stop, self.left()?)?;
        }
        self.read_from_beginning(&mut reader)
    }

    /// Seeks further and further back until the picture is found behind another; `None` if it never is.
    fn by_seeking(&self, reader: &mut Reader) -> Result<Option<Candidate<Decoded>>, Miss> {
        for lead in LEADS {
            let target = self.at - lead;
            if target == StreamTime::ZERO || !reader.seek(target) {
                break;
            }
            reader.play()?;
            let (best, ended) = self.read(reader)?;
            if let Some(best) = best.filter(|best| !best.first || best.at > target + CUT) {
                return on_display(best, ended, self.at).map(Some);
            }
        }
        Ok(None)
    }

    fn read_from_beginning(&self, reader: &mut Reader) -> Result<Candidate<Decoded>, Miss> {
        reader.play()?;
        let (best, ended) = self.read(reader)?;
        let best = best.ok_or_else(|| Miss::NoFrame("the video starts later".to_owned()))?;
        on_display(best, ended, self.at)
    }

    fn read(&self, reader: &mut Reader) -> Result<Found, Miss> {
        let mut reach = Reach::new(self.at);
        while let Some(decoded) = reader.next(&self.stop, self.left()?)? {
            if reach.offer(decoded.at, decoded.lasts, decoded) {
                return Ok((reach.into_best(), false));
            }
        }
        Ok((reach.into_best(), true))
    }

    fn left(&self) -> Result<Duration, Fault> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Fault::Silent(PATIENCE)) } else { Ok(left) }
    }
}

/// The last picture of a file is on display as long as it says that it lasts.
fn on_display(best: Candidate<Decoded>, ended: bool, at: StreamTime) -> Result<Candidate<Decoded>, Miss> {
    let end = best.at + best.lasts.unwrap_or_default();
    if ended && at > best.at && at >= end {
        return Err(Miss::NoFrame(format!("the video ends at {end}")));
    }
    Ok(best)
}

impl EvidenceSource for Replay {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        let stream = || self.stream.clone();
        self.extract(at).map_err(|miss| match miss {
            Miss::NoFrame(reason) | Miss::Fault(Fault::Access(reason)) => {
                EvidenceError::NoFrame { stream: stream(), at, reason }
            }
            Miss::Fault(fault) => EvidenceError::Decode { stream: stream(), at, reason: fault.reason() },
        })
    }

    fn kind(&self) -> StreamKind {
        StreamKind::File
    }
}

impl Unrecorded {
    pub(super) fn new(stream: &StreamId, reason: &'static str) -> Self {
        Self { stream: stream.clone(), reason }
    }
}

impl EvidenceSource for Unrecorded {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        Err(EvidenceError::NoFrame { stream: self.stream.clone(), at, reason: self.reason.to_owned() })
    }

    fn kind(&self) -> StreamKind {
        StreamKind::Live
    }
}

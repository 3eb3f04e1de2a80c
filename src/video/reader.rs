//! Decoded pictures in order, each with its own time, from one pipeline. Blocks; honours a stop within [`POLL`].

use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;

use super::archive::{Codec, Unit};
use super::clock::Stamp;
use super::fault::Fault;
use super::pipeline::Pipeline;
use super::stream::StreamConfig;
use super::tap::{Tap, stamp_of};
use super::{file, wiring};
use crate::domain::StreamTime;
use crate::stop::Stop;

/// How long a pull waits before the stop and the bus are looked at.
const POLL: Duration = Duration::from_millis(50);

/// After a fault a file gets so long for each picture that is still in the decoder.
const DRAIN: Duration = Duration::from_secs(1);

/// A decoded picture, not converted yet.
pub(super) struct Decoded {
    /// Its own stream time: of the media for a file, of its arrival for a live stream.
    pub(super) at: StreamTime,
    /// How long it says that it lasts.
    pub(super) lasts: Option<Duration>,
    /// All its times, if it is live.
    pub(super) stamp: Option<Stamp>,
    /// The picture in the decoder's format.
    pub(super) sample: gst::Sample,
}

/// Reads one source once, from its beginning or from where it was sought.
pub(super) struct Reader {
    pipeline: Pipeline,
    /// What a live source passes; a file has none.
    tap: Option<Tap>,
    /// Whether a picture was ever pulled.
    pulled: bool,
    /// Pulled while opening.
    first: Option<gst::Sample>,
    /// Pictures that carried no time and were passed over.
    untimed: u64,
}

impl Reader {
    /// Opens a file and waits until its first picture is decoded; reading starts with [`Self::play`].
    pub(super) fn open_file(config: &StreamConfig, stop: &Stop, patience: Duration) -> Result<Self, Fault> {
        file::check(&config.address)?;
        let mut reader = Self::new(wiring::build(config, None)?, None);
        reader.pipeline.set_state(gst::State::Paused)?;
        reader.preroll(stop, patience)
    }

    /// Decodes recorded pictures, which carry their stream times; reading starts with [`Self::play`].
    pub(super) fn open_units(codec: &Codec, units: &[Unit], stop: &Stop, patience: Duration) -> Result<Self, Fault> {
        let (pipeline, source) = wiring::build_replay(codec)?;
        let mut reader = Self::new(pipeline, None);
        reader.pipeline.set_state(gst::State::Paused)?;
        wiring::feed(&source, units)?;
        reader.preroll(stop, patience)
    }

    fn preroll(mut self, stop: &Stop, patience: Duration) -> Result<Self, Fault> {
        let poll = poll_time();
        let prerolled = |reader: &mut Self| reader.pipeline.sink().try_pull_preroll(poll).map(|_| ());
        match self.wait(stop, patience, prerolled) {
            Ok(Some(())) => Ok(self),
            Ok(None) => Err(Fault::Undecodable("it ends before its first picture".to_owned())),
            Err(fault) => Err(self.stuck(fault)),
        }
    }

    /// Opens a live source and waits for its first picture.
    pub(super) fn open_live(config: &StreamConfig, tap: &Tap, stop: &Stop, patience: Duration) -> Result<Self, Fault> {
        let mut reader = Self::new(wiring::build(config, Some(tap))?, Some(tap.clone()));
        reader.pipeline.set_state(gst::State::Playing)?;
        reader.first = reader.pull(stop, patience)?;
        if reader.first.is_none() {
            return Err(Fault::Access("it ended before its first picture".to_owned()));
        }
        Ok(reader)
    }

    fn new(pipeline: Pipeline, tap: Option<Tap>) -> Self {
        Self { pipeline, tap, pulled: false, first: None, untimed: 0 }
    }

    /// Factory names of what was plugged: demuxer, parser, decoder.
    pub(super) fn plugged(&self) -> Vec<String> {
        self.pipeline.plugged()
    }

    /// The length that the container claims.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.pipeline.duration()
    }

    /// Goes to `to`, exactly; the next picture may be one that is on display there already, its time cut to `to`. False
    /// if the source cannot.
    pub(super) fn seek(&mut self, to: StreamTime) -> bool {
        let flags = gst::SeekFlags::FLUSH | gst::SeekFlags::ACCURATE;
        let to = gst::ClockTime::from_nseconds(to.nanos());
        // To the sink alone: the pipeline would send it to the fakesinks as well.
        self.pipeline.sink().seek(1.0, flags, gst::SeekType::Set, to, gst::SeekType::None, gst::ClockTime::NONE).is_ok()
    }

    /// Lets the pictures run.
    pub(super) fn play(&mut self) -> Result<(), Fault> {
        self.pipeline.set_state(gst::State::Playing)
    }

    /// The next picture that carries a time; `None` at the end.
    pub(super) fn next(&mut self, stop: &Stop, patience: Duration) -> Result<Option<Decoded>, Fault> {
        loop {
            let Some(sample) = self.pull(stop, patience).map_err(|fault| self.stuck(fault))? else {
                return Ok(None);
            };
            match timed(sample) {
                Some(decoded) => return Ok(Some(decoded)),
                None => self.untimed += 1,
            }
        }
    }

    /// Pictures that were passed over because they carried no time.
    pub(super) fn untimed(&self) -> u64 {
        self.untimed
    }

    fn pull(&mut self, stop: &Stop, patience: Duration) -> Result<Option<gst::Sample>, Fault> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let poll = poll_time();
        let pulled = self.wait(stop, patience, |reader| reader.pipeline.sink().try_pull_sample(poll))?;
        self.pulled |= pulled.is_some();
        Ok(pulled)
    }

    /// Polls until there is something, the end (`None`), a fault, a stop, or no patience any more.
    fn wait<T>(
        &mut self,
        stop: &Stop,
        patience: Duration,
        mut poll: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let since = Instant::now();
        loop {
            if stop.is_asked() {
                return Err(Fault::Stopped);
            }
            if let Some(found) = poll(self) {
                self.pipeline.drain();
                return Ok(Some(found));
            }
            let ended = self.pipeline.sink().is_eos();
            match self.pipeline.check() {
                Ok(()) if ended => return Ok(None),
                Err(fault) if ended || !self.may_follow(since.elapsed()) => return Err(fault),
                Ok(()) | Err(_) => {}
            }
            if !self.pulled && self.pipeline.gave_up() {
                // What the bus says is better, if it came meanwhile.
                self.pipeline.check()?;
                return Err(Fault::Undecodable("there is no stream in it that can be played".to_owned()));
            }
            let idle = since.elapsed();
            let stalled = self.tap.as_ref().map_or(idle >= patience, |tap| tap.is_stalled(idle, patience));
            if stalled {
                return Err(Fault::Silent(patience));
            }
        }
    }

    /// Whether pictures from before a fault can still come: a demuxer fails far ahead of the decoder.
    fn may_follow(&self, idle: Duration) -> bool {
        self.tap.is_none() && self.pulled && idle < DRAIN
    }

    /// A file that gives nothing for so long holds a thread that may never return. A live source is waited for: a
    /// camera may refuse the next connection before this one is closed.
    fn stuck(&mut self, fault: Fault) -> Fault {
        if matches!(fault, Fault::Silent(_)) && self.tap.is_none() {
            self.pipeline.give_up();
        }
        fault
    }
}

fn poll_time() -> gst::ClockTime {
    gst::ClockTime::from_mseconds(POLL.as_millis() as u64)
}

fn timed(sample: gst::Sample) -> Option<Decoded> {
    let buffer = sample.buffer()?;
    let stamp = stamp_of(buffer);
    let at = stamp.map(|stamp| stamp.at).or_else(|| {
        let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
        segment.to_stream_time(buffer.pts()?).map(|time| StreamTime::from_nanos(time.nseconds()))
    })?;
    let lasts = buffer.duration().map(Into::into);
    Some(Decoded { at, lasts, stamp, sample })
}

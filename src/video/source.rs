//! Sampled frames of one life of a stream. Owns its pipeline; gives every frame its own times.

use std::time::Duration;

use super::Video;
use super::archive::Feed;
use super::clock::LiveClock;
use super::fault::Fault;
use super::file;
use super::gate::Gate;
use super::glance::glance;
use super::picture::ToPicture;
use super::reader::{Decoded, Reader};
use super::sampler::Sampler;
use super::stream::StreamConfig;
use super::tap::Tap;
use crate::domain::{Clock, Frame, StreamId, StreamTime, WallTime};
use crate::seams::{FrameSource, Origin, SourceError};
use crate::sight::Extra;
use crate::stop::Stop;

/// A resumed file is sought this far before what is due, so that a picture whose time the seek cuts is never kept.
const SEEK_LEAD: Duration = Duration::from_millis(50);
/// A file that ends so much earlier than its container says is worth a word.
const SHORT_BY: Duration = Duration::from_secs(1);

/// What both kinds of sources share.
struct Sampling {
    stream: StreamId,
    reader: Reader,
    sampler: Sampler,
    /// Which pictures between two samples are taken as well.
    extra: Extra,
    to_picture: ToPicture,
    /// The time of day at stream time zero.
    beginning: WallTime,
    stop: Stop,
    patience: Duration,
    /// The last picture seen, kept or not.
    seen: Option<StreamTime>,
    /// Whether its end is no loss if it has a length.
    may_end: bool,
}

/// A file or finite pattern: every picture is decoded, the sampled ones are converted, the consumer is waited for.
pub(super) struct FileSource(Sampling);

/// A source without end: the newest picture when the consumer is ready, stamped with its arrival, and recorded.
pub(super) struct LiveSource {
    sampling: Sampling,
    tap: Tap,
}

/// Half of how long a picture lasts that does not say so.
pub(super) const HALF_A_PICTURE: Duration = Duration::from_millis(20);

impl FileSource {
    /// Opens at the first slot after `origin.after`.
    pub(super) fn open(
        stream: &StreamId,
        config: &StreamConfig,
        origin: &Origin,
        stop: &Stop,
    ) -> Result<Self, SourceError> {
        let failed = |fault: Fault| fault.into_source_error(stream);
        let mut reader = Reader::open_file(config, stop, config.stall_timeout).map_err(failed)?;
        let sampler = Sampler::new(origin.sample_every, origin.after);
        let due = sampler.next_due() - SEEK_LEAD;
        if due > StreamTime::ZERO && file::seeks_exactly(&config.address, &reader.plugged()) && !reader.seek(due) {
            tracing::debug!(%stream, "the file cannot be sought: it is read from its beginning");
        }
        reader.play().map_err(failed)?;
        let beginning = config.beginning(origin.epoch);
        Ok(Self(Sampling::new(stream, config, reader, sampler, beginning, stop)))
    }
}

impl LiveSource {
    /// Connects and waits for the first picture. Pictures are recorded if `video` says so.
    pub(super) fn open(
        stream: &StreamId,
        config: &StreamConfig,
        origin: &Origin,
        stop: &Stop,
        video: Option<&Video>,
    ) -> Result<Self, SourceError> {
        let clock = LiveClock::new(origin.epoch, WallTime::now(), origin.after);
        let tap = Tap::new(stream, clock, Gate::new(config.decode, origin.sample_every));
        if let Some(video) = video {
            tap.serve(feed(video, stream, config, origin.epoch), video.metrics.clocks(stream));
        }
        let reader = Reader::open_live(config, &tap, stop, config.stall_timeout)
            .map_err(|fault| fault.of_live().into_source_error(stream))?;
        let sampler = Sampler::new(origin.sample_every, origin.after);
        Ok(Self { sampling: Sampling::new(stream, config, reader, sampler, origin.epoch, stop), tap })
    }
}

/// Where the pictures of a stream are recorded; a stream that cannot be is watched all the same.
fn feed(video: &Video, stream: &StreamId, config: &StreamConfig, epoch: WallTime) -> Option<Feed> {
    let archive = video.archive.as_ref().filter(|_| config.record && config.is_encoded())?;
    archive.feed(stream, epoch).inspect_err(|error| tracing::error!(%stream, %error, "the stream is not recorded")).ok()
}

impl Sampling {
    fn new(
        stream: &StreamId,
        config: &StreamConfig,
        reader: Reader,
        sampler: Sampler,
        beginning: WallTime,
        stop: &Stop,
    ) -> Self {
        Self {
            stream: stream.clone(),
            reader,
            sampler,
            extra: Extra::new(config.sight().extra_every),
            to_picture: ToPicture::default(),
            beginning,
            stop: stop.clone(),
            patience: config.stall_timeout,
            seen: None,
            may_end: config.may_end(),
        }
    }

    /// The next picture that the sampler keeps, or that shows a sudden change.
    fn next_kept(&mut self) -> Result<Option<Decoded>, Fault> {
        while let Some(decoded) = self.reader.next(&self.stop, self.patience)? {
            self.seen = self.seen.max(Some(decoded.at));
            if self.sampler.keep(decoded.at) {
                if self.extra.is_on()
                    && let Some(glance) = glance(&decoded.sample, &mut self.to_picture)
                {
                    self.extra.taken(decoded.at, glance);
                }
                return Ok(Some(decoded));
            }
            if self.is_sudden(&decoded) {
                return Ok(Some(decoded));
            }
        }
        Ok(None)
    }

    fn is_sudden(&mut self, decoded: &Decoded) -> bool {
        let glance = self.extra.wants(decoded.at).then(|| glance(&decoded.sample, &mut self.to_picture)).flatten();
        glance.is_some_and(|glance| self.extra.look(decoded.at, glance))
    }

    fn frame(&mut self, decoded: &Decoded) -> Result<Frame, SourceError> {
        let picture = self
            .to_picture
            .convert(&decoded.sample)
            .map_err(|reason| SourceError::Unusable { stream: self.stream.clone(), reason })?;
        let stream = self.stream.clone();
        if let Some(stamp) = decoded.stamp {
            let (wall, clock, precision) = (stamp.wall, stamp.clock, stamp.precision);
            return Ok(Frame { stream, at: stamp.at, wall, clock, precision, picture });
        }
        let wall = self.beginning.plus(decoded.at.saturating_since(StreamTime::ZERO));
        let precision = decoded.lasts.map_or(HALF_A_PICTURE, |lasts| lasts / 2);
        Ok(Frame { stream, at: decoded.at, wall, clock: Clock::Media, precision, picture })
    }

    /// The end of a file: normal, also if it comes early; a file whose pictures carry no times is of no use.
    fn finish(&self) -> Result<Option<Frame>, SourceError> {
        let untimed = self.reader.untimed();
        if untimed > 0 && self.seen.is_none() {
            let reason = format!("none of its {untimed} pictures carries a time");
            return Err(SourceError::Unusable { stream: self.stream.clone(), reason });
        }
        let seen = self.seen.unwrap_or_default();
        let claimed = self.reader.duration().unwrap_or_default();
        if StreamTime::ZERO + claimed > seen + SHORT_BY && self.seen.is_some() {
            let claimed_s = claimed.as_secs_f64();
            tracing::warn!(stream = %self.stream, ended_at = %seen, claimed_s, "the file ends earlier than its header says");
        }
        Ok(None)
    }
}

impl FrameSource for FileSource {
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        let source = &mut self.0;
        match source.next_kept() {
            Ok(Some(decoded)) => source.frame(&decoded).map(Some),
            Ok(None) => source.finish(),
            Err(Fault::Access(reason) | Fault::Undecodable(reason) | Fault::Damaged(reason))
                if source.seen.is_some() =>
            {
                let seen = source.seen.unwrap_or_default();
                let reason = format!("it breaks off after {seen}: {reason}");
                Err(SourceError::Unusable { stream: source.stream.clone(), reason })
            }
            Err(fault) => Err(fault.into_source_error(&source.stream)),
        }
    }
}

impl FrameSource for LiveSource {
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        let source = &mut self.sampling;
        let stream = source.stream.clone();
        match source.next_kept() {
            Ok(Some(decoded)) => source.frame(&decoded).map(Some),
            Ok(None) if source.may_end && source.reader.duration().is_some() => Ok(None),
            Ok(None) => Err(SourceError::Lost { stream, reason: "the source ended".to_owned() }),
            Err(Fault::Access(reason) | Fault::Undecodable(reason) | Fault::Damaged(reason)) => {
                Err(SourceError::Lost { stream, reason })
            }
            Err(fault) => Err(fault.into_source_error(&stream)),
        }
    }

    fn remark(&self) -> String {
        self.tap.trouble().unwrap_or_default()
    }
}

//! GStreamer lives here and only here: from an address to sampled frames, and back to the frame at a time.
//!
//! Blocking throughout; one thread owns a source from opening to dropping. Credentials are set as properties of
//! elements and scrubbed from every text that leaves this module.
//!
//! # Decisions
//! - Frames are pulled in the decoder's own format and only the sampled ones converted to RGB.
//! - 2026-11: of live streams only key pictures are decoded where they come often enough and decode by themselves: some
//!   15 times cheaper. What goes into the decoder and what comes out is counted, as open groups of pictures starve.
//! - A file that is cut short plays what there is and then ends normally, with a warning if its header promised more; one
//!   whose container or codec breaks in the middle gives its frames and then `Unusable`, saying where.
//! - The end of a live source is a loss: cameras do not end. An `http` address counts as live, also if it is a file, and
//!   is played at its own pace; only one that has a length ends.
//! - A container that cannot be sought exactly is read from its beginning for evidence: slow, and right.

mod address;
mod archive;
mod clock;
mod debug_log;
mod extract;
mod fault;
mod file;
mod gate;
mod glance;
mod jpeg;
mod metrics;
mod picture;
mod pipeline;
mod plain;
mod reach;
mod reader;
mod sampler;
mod source;
mod stream;
mod tap;
mod whole;
mod wiring;

use gstreamer as gst;
use prometheus::Registry;

pub use address::AddressError;
pub use archive::{ArchiveError, Config as ArchiveConfig};
pub use gate::Decode;
pub use jpeg::{JpegError, to_jpeg};
pub use stream::{Protocol, StreamConfig, StreamConfigError};

use crate::domain::{StreamId, StreamKind, WallTime};
use crate::seams::{EvidenceSource, FrameSource, Origin, SourceError};
use crate::stop::Stop;
use archive::Archive;
use metrics::Metrics;

/// Why no video at all can be handled.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The library does not start.
    #[error("GStreamer does not start: {0}")]
    Init(String),
    /// Elements that every stream needs.
    #[error("{0}")]
    Missing(String),
    /// Live streams cannot be recorded.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A name is taken.
    #[error("the metrics of video are registered already")]
    Metrics(#[from] prometheus::Error),
}

/// What the streams of a process share: the archive and the metrics. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Video {
    archive: Option<Archive>,
    metrics: Metrics,
}

/// Starts GStreamer and makes sure that the elements every file needs are there. May be called again.
pub fn init() -> Result<(), VideoError> {
    gst::init().map_err(|error| VideoError::Init(error.to_string()))?;
    debug_log::keep_clean();
    for factory in ["filesrc", "decodebin", "appsink", "fakesink"] {
        fault::make(factory).map_err(|fault| VideoError::Missing(fault.reason()))?;
    }
    Ok(())
}

impl Video {
    /// Starts GStreamer and the archive.
    pub fn start(config: &ArchiveConfig, registry: &Registry) -> Result<Self, VideoError> {
        init()?;
        let metrics = Metrics::register(registry)?;
        let archive = config.enabled.then(|| Archive::open(config, metrics.clone())).transpose()?;
        Ok(Self { archive, metrics })
    }

    /// Opens a stream and waits for its first picture. A live stream is recorded while it is open.
    pub fn open(
        &self,
        stream: &StreamId,
        config: &StreamConfig,
        origin: Origin,
        stop: &Stop,
    ) -> Result<Box<dyn FrameSource>, SourceError> {
        open_with(stream, config, origin, stop, Some(self))
    }

    /// Ends the recorder of a stream that is closed for good, as soon as it has written what waits.
    pub fn release(&self, stream: &StreamId) {
        if let Some(archive) = &self.archive {
            archive.release(stream);
        }
    }

    /// Shows nothing of how a stream is watched any more; what is recorded of it stays, and is shown.
    pub fn forget(&self, stream: &StreamId) {
        self.metrics.forget(stream);
    }

    /// The past of a stream whose clock starts at `epoch`. Opens nothing yet.
    pub fn evidence(&self, stream: &StreamId, config: &StreamConfig, epoch: WallTime) -> Box<dyn EvidenceSource> {
        match &self.archive {
            Some(archive) if config.kind() == StreamKind::Live && config.record && config.is_encoded() => {
                Box::new(archive.recall(stream, epoch))
            }
            _ => evidence(stream, config, epoch),
        }
    }

    /// The epochs from which the stream times of a stream's recordings count, the earliest first: one for each memory
    /// that it was recorded with.
    pub fn epochs(&self, stream: &StreamId) -> Vec<WallTime> {
        self.archive.as_ref().map(|archive| archive.epochs(stream)).unwrap_or_default()
    }

    /// The past of a stream that is in no configuration any more, as far as it can be found: the file of that `identity`
    /// if it is still there, unchanged, or what was recorded. `None` if nothing says where it was. `beginning` is the
    /// time of day at stream time zero.
    pub fn former_evidence(
        &self,
        stream: &StreamId,
        kind: StreamKind,
        identity: Option<&str>,
        beginning: WallTime,
    ) -> Option<Box<dyn EvidenceSource>> {
        Some(match (kind, &self.archive) {
            (StreamKind::File, _) => Box::new(extract::Replay::former(stream, identity?, beginning)?),
            (StreamKind::Live, Some(archive)) => Box::new(archive.recall(stream, beginning)),
            (StreamKind::Live, None) => Box::new(extract::Unrecorded::new(stream, UNRECORDED)),
        })
    }
}

/// Why live streams have no past.
const UNRECORDED: &str = "live streams are not recorded: see archive.enabled";

/// Opens a stream without recording it, and waits for its first picture. [`init`] comes first.
pub fn open(
    stream: &StreamId,
    config: &StreamConfig,
    origin: Origin,
    stop: &Stop,
) -> Result<Box<dyn FrameSource>, SourceError> {
    open_with(stream, config, origin, stop, None)
}

fn open_with(
    stream: &StreamId,
    config: &StreamConfig,
    origin: Origin,
    stop: &Stop,
    video: Option<&Video>,
) -> Result<Box<dyn FrameSource>, SourceError> {
    Ok(match config.kind() {
        StreamKind::File => Box::new(source::FileSource::open(stream, config, &origin, stop)?),
        StreamKind::Live => Box::new(source::LiveSource::open(stream, config, &origin, stop, video)?),
    })
}

/// The past of a stream that is not recorded. Opens nothing yet.
pub fn evidence(stream: &StreamId, config: &StreamConfig, epoch: WallTime) -> Box<dyn EvidenceSource> {
    let reason = if !config.is_encoded() {
        "its pictures do not come encoded, and only encoded ones are recorded"
    } else if !config.record {
        "the stream is not recorded: it is configured with record = false"
    } else {
        UNRECORDED
    };
    match config.kind() {
        StreamKind::File => Box::new(extract::Replay::new(stream, config, epoch)),
        StreamKind::Live => Box::new(extract::Unrecorded::new(stream, reason)),
    }
}

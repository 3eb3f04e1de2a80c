//! GStreamer lives here and only here: from an address to sampled frames, and back to the frame at a time.
//!
//! Blocking throughout; one thread owns a source from opening to dropping. Credentials are set as properties of
//! elements and scrubbed from every text that leaves this module.
//!
//! # Decisions
//! - Frames are pulled in the decoder's own format and only the sampled ones converted to RGB.
//! - All pictures of a stream are decoded. Decoding key frames alone is some 15 times cheaper and starves on streams
//!   with open groups of pictures; it belongs between parser and decoder in `wiring`, behind a count of both sides.
//! - A file that is cut short plays what there is and then ends normally, with a warning if its header promised more; one
//!   whose container or codec breaks in the middle gives its frames and then `Unusable`, saying where.
//! - The end of a live source is a loss: cameras do not end. An `http` address counts as live, also if it is a file.
//! - A container that cannot be sought exactly is read from its beginning for evidence: slow, and right.

mod address;
mod clock;
mod extract;
mod fault;
mod file;
mod glance;
mod jpeg;
mod picture;
mod pipeline;
mod reach;
mod reader;
mod sampler;
mod source;
mod stream;
mod wiring;

use gstreamer as gst;

pub use address::AddressError;
pub use jpeg::{JpegError, to_jpeg};
pub use stream::{Protocol, StreamConfig, StreamConfigError};

use crate::domain::{StreamId, StreamKind, WallTime};
use crate::seams::{EvidenceSource, FrameSource, Origin, SourceError};
use crate::stop::Stop;

/// Why no video at all can be handled.
#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    /// The library does not start.
    #[error("GStreamer does not start: {0}")]
    Init(String),
    /// Elements that every stream needs.
    #[error("{0}")]
    Missing(String),
}

/// Starts GStreamer and makes sure that the elements every file needs are there. May be called again.
pub fn init() -> Result<(), VideoError> {
    gst::init().map_err(|error| VideoError::Init(error.to_string()))?;
    for factory in ["filesrc", "decodebin", "appsink", "fakesink"] {
        fault::make(factory).map_err(|fault| VideoError::Missing(fault.reason()))?;
    }
    Ok(())
}

/// Opens a stream and waits for its first picture. [`init`] comes first.
pub fn open(
    stream: &StreamId,
    config: &StreamConfig,
    origin: Origin,
    stop: &Stop,
) -> Result<Box<dyn FrameSource>, SourceError> {
    Ok(match config.kind() {
        StreamKind::File => Box::new(source::FileSource::open(stream, config, &origin, stop)?),
        StreamKind::Live => Box::new(source::LiveSource::open(stream, config, &origin, stop)?),
    })
}

/// The past of a stream whose clock starts at `epoch`. Opens nothing yet.
pub fn evidence(stream: &StreamId, config: &StreamConfig, epoch: WallTime) -> Box<dyn EvidenceSource> {
    match config.kind() {
        StreamKind::File => Box::new(extract::Replay::new(stream, config, epoch)),
        StreamKind::Live => Box::new(extract::Unrecorded::new(stream)),
    }
}

/// The past of a stream that is in no configuration any more, as far as it can be found: the file of that `identity` if it
/// is still there, unchanged. `None` if nothing says where it was.
pub fn former_evidence(
    stream: &StreamId,
    kind: StreamKind,
    identity: Option<&str>,
    beginning: WallTime,
) -> Option<Box<dyn EvidenceSource>> {
    match kind {
        StreamKind::File => Some(Box::new(extract::Replay::former(stream, identity?, beginning)?)),
        StreamKind::Live => Some(Box::new(extract::Unrecorded::new(stream))),
    }
}

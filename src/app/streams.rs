//! Configured streams made known to the memory, before anything is watched or asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::answer::StreamEntry;
use crate::domain::{Frame, StreamId, StreamKind, StreamTime, WallTime};
use crate::index::{Index, IndexError};
use crate::seams::{EvidenceError, EvidenceSource};
use crate::video::{self, StreamConfig};

/// A configured stream.
pub(super) struct Prepared {
    pub(super) settings: StreamConfig,
    pub(super) sample_every: Duration,
    /// What the stream is, or why it can be neither watched nor used as evidence.
    pub(super) source: Result<Source, String>,
}

/// A source that the memory has accepted under its stream id.
pub(super) struct Source {
    pub(super) identity: Option<String>,
    epoch: WallTime,
}

/// Registers each stream. One that cannot be read, or that is another file than the one indexed, is refused by itself
/// and does not keep the others from running; a failing index does.
pub(super) async fn prepare(
    streams: BTreeMap<StreamId, StreamConfig>,
    default_every: Duration,
    index: &Index,
) -> Result<BTreeMap<StreamId, Prepared>, IndexError> {
    let mut prepared = BTreeMap::new();
    for (stream, settings) in streams {
        let sample_every = settings.sample_every().unwrap_or(default_every);
        let source = register(&stream, &settings, index).await?;
        prepared.insert(stream, Prepared { settings, sample_every, source });
    }
    Ok(prepared)
}

async fn register(
    stream: &StreamId,
    settings: &StreamConfig,
    index: &Index,
) -> Result<Result<Source, String>, IndexError> {
    let identity = match settings.identity(stream) {
        Ok(identity) => identity,
        Err(error) => return Ok(Err(error.to_string())),
    };
    match index.register(stream, settings.kind(), identity.clone()).await {
        Ok(record) => Ok(Ok(Source { identity, epoch: record.epoch })),
        Err(error @ IndexError::Identity { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

impl Prepared {
    /// What the answering flow knows of the stream.
    pub(super) fn entry(&self, stream: &StreamId) -> StreamEntry {
        let kind = self.settings.kind();
        let evidence: Arc<dyn EvidenceSource> = match &self.source {
            Ok(source) => Arc::from(video::evidence(stream, &self.settings, source.epoch)),
            Err(reason) => Arc::new(Withheld { stream: stream.clone(), kind, reason: reason.clone() }),
        };
        StreamEntry { kind, sample_every: self.sample_every, evidence }
    }
}

/// Stands in for a source that was refused: a frame of another file must never become evidence.
struct Withheld {
    stream: StreamId,
    kind: StreamKind,
    reason: String,
}

impl EvidenceSource for Withheld {
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError> {
        Err(EvidenceError::NoFrame { stream: self.stream.clone(), at, reason: self.reason.clone() })
    }

    fn kind(&self) -> StreamKind {
        self.kind
    }
}

//! Streams made known to the memory, before anything is watched or asked.

use std::sync::Arc;
use std::time::Duration;

use crate::answer::StreamEntry;
use crate::config::Daemon;
use crate::domain::{Frame, StreamId, StreamKind, StreamTime, WallTime, Window, Zone};
use crate::index::{Index, IndexError, Scope, StreamRecord};
use crate::seams::{EvidenceError, EvidenceSource};
use crate::video::{StreamConfig, Video};

/// A stream that is to be watched.
#[derive(Clone)]
pub(super) struct Prepared {
    pub(super) kind: StreamKind,
    pub(super) sample_every: Duration,
    zone: Zone,
    /// As asked for; absent if they cannot be told.
    pub(super) settings: Option<StreamConfig>,
    /// What the stream is, or why it can be neither watched nor used as evidence.
    pub(super) source: Result<Source, Obstacle>,
}

/// A source that the memory has accepted under its stream id.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) settings: StreamConfig,
    pub(super) identity: Option<String>,
    epoch: WallTime,
}

/// Why a stream is refused by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Obstacle {
    /// The file cannot be read.
    #[error("{0}")]
    Source(String),
    /// The memory knows another source under this id.
    #[error("{0}")]
    Identity(String),
    /// The site does not allow it any more.
    #[error("{0}")]
    Policy(String),
}

/// Registers a stream. One that cannot be read, or that is another file than the one indexed, is refused by itself and
/// does not keep the others from running; a failing index does.
pub(super) async fn prepare(
    stream: &StreamId,
    settings: StreamConfig,
    defaults: &Daemon,
    index: &Index,
) -> Result<Prepared, IndexError> {
    let sample_every = settings.sample_every().unwrap_or(defaults.sample_every.0);
    let zone = settings.zone().unwrap_or(&defaults.zone).clone();
    let source = register(stream, &settings, index).await?;
    Ok(Prepared { kind: settings.kind(), sample_every, zone, settings: Some(settings), source })
}

async fn register(
    stream: &StreamId,
    settings: &StreamConfig,
    index: &Index,
) -> Result<Result<Source, Obstacle>, IndexError> {
    let identity = match settings.identity(stream) {
        Ok(identity) => identity,
        Err(error) => return Ok(Err(Obstacle::Source(error.to_string()))),
    };
    match index.register(stream, settings.kind(), identity.clone()).await {
        Ok(record) => Ok(Ok(Source { settings: settings.clone(), identity, epoch: record.epoch })),
        Err(error @ IndexError::Identity { .. }) => Ok(Err(Obstacle::Identity(error.to_string()))),
        Err(error) => Err(error),
    }
}

impl Prepared {
    /// A stream that is shown, and not watched, because of `obstacle`.
    pub(super) fn obstructed(kind: StreamKind, defaults: &Daemon, obstacle: Obstacle) -> Self {
        let (sample_every, zone) = (defaults.sample_every.0, defaults.zone.clone());
        Self { kind, sample_every, zone, settings: None, source: Err(obstacle) }
    }

    /// The same stream, its times counted from another epoch.
    pub(super) fn since(self, epoch: WallTime) -> Self {
        Self { source: self.source.map(|source| Source { epoch, ..source }), ..self }
    }

    /// What the answering flow knows of the stream.
    pub(super) fn entry(&self, stream: &StreamId, video: &Video) -> StreamEntry {
        let evidence: Arc<dyn EvidenceSource> = match &self.source {
            Ok(source) => Arc::from(video.evidence(stream, &source.settings, source.epoch)),
            Err(obstacle) => {
                Arc::new(Withheld { stream: stream.clone(), kind: self.kind, reason: obstacle.to_string() })
            }
        };
        StreamEntry { kind: self.kind, sample_every: self.sample_every, zone: self.zone.clone(), evidence }
    }
}

/// What the answering flow knows of a stream that the memory holds moments of and that nobody watches any more.
pub(super) async fn former(
    stream: &StreamId,
    record: &StreamRecord,
    defaults: &Daemon,
    index: &Index,
    video: &Video,
) -> Result<StreamEntry, IndexError> {
    let kind = record.kind;
    // A file may have been given a time of day of its own: its moments tell. Recordings are found by the epoch.
    let scope = Scope { streams: vec![stream.clone()], window: Window::ALL };
    let first = index.moments(scope, 1, false).await?.into_iter().next();
    let beginning = first.filter(|_| kind == StreamKind::File).and_then(|moment| before(moment.wall, moment.at));
    let beginning = beginning.unwrap_or(record.epoch);
    let evidence = video.former_evidence(stream, kind, record.identity.as_deref(), beginning);
    let reason = "the stream is not watched any more, and nothing tells where its source was".to_owned();
    let evidence = evidence.map_or_else(|| Arc::new(Withheld { stream: stream.clone(), kind, reason }) as _, Arc::from);
    let (sample_every, zone) = (defaults.sample_every.0, defaults.zone.clone());
    Ok(StreamEntry { kind, sample_every, zone, evidence })
}

fn before(wall: WallTime, at: StreamTime) -> Option<WallTime> {
    WallTime::from_nanos(wall.nanos().checked_sub(i64::try_from(at.nanos()).ok()?)?).ok()
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

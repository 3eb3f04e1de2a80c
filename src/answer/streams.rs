//! Which streams can be asked about, and where their evidence comes from. Filled once at start, then only read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::error::AnswerError;
use crate::domain::{StreamId, StreamKind};
use crate::seams::EvidenceSource;

/// One stream that can be asked about.
#[derive(Clone)]
pub struct StreamEntry {
    /// Whether it has an end.
    pub kind: StreamKind,
    /// Stream time between two sampled frames.
    pub sample_every: Duration,
    /// Frames of its past, decoded afresh.
    pub evidence: Arc<dyn EvidenceSource>,
}

impl fmt::Debug for StreamEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamEntry")
            .field("kind", &self.kind)
            .field("sample_every", &self.sample_every)
            .finish_non_exhaustive()
    }
}

/// All streams, by name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Streams(Arc<BTreeMap<StreamId, StreamEntry>>);

impl FromIterator<(StreamId, StreamEntry)> for Streams {
    fn from_iter<I: IntoIterator<Item = (StreamId, StreamEntry)>>(entries: I) -> Self {
        Self(Arc::new(entries.into_iter().collect()))
    }
}

impl Streams {
    /// The stream of this name.
    pub fn find(&self, id: &StreamId) -> Result<&StreamEntry, AnswerError> {
        self.0.get(id).ok_or_else(|| AnswerError::UnknownStream(id.clone()))
    }

    /// The streams a request is about: the named one, or all.
    pub fn scope(&self, stream: Option<&StreamId>) -> Result<Vec<StreamId>, AnswerError> {
        match stream {
            Some(id) => self.find(id).map(|_| vec![id.clone()]),
            None => Ok(self.0.keys().cloned().collect()),
        }
    }
}

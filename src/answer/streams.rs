//! Which streams can be asked about, and where their evidence comes from. Filled by whoever watches them, also while
//! questions are asked: a question goes on with the entry that it found.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::error::AnswerError;
use crate::domain::{StreamId, StreamKind, Zone};
use crate::seams::EvidenceSource;

/// One stream that can be asked about.
#[derive(Clone)]
pub struct StreamEntry {
    /// Whether it has an end.
    pub kind: StreamKind,
    /// Stream time between two sampled frames.
    pub sample_every: Duration,
    /// What "this morning" and "14:30" mean for it.
    pub zone: Zone,
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

/// Says whether the pictures that arrive of a stream show nothing at the moment.
type BlindNow = Arc<dyn Fn(&StreamId) -> bool + Send + Sync>;

/// All streams, by name. Cheap to clone; every clone sees the same ones.
#[derive(Clone, Default)]
pub struct Streams {
    known: Arc<RwLock<BTreeMap<StreamId, StreamEntry>>>,
    blind_now: Option<BlindNow>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("known", &self.known).finish_non_exhaustive()
    }
}

impl FromIterator<(StreamId, StreamEntry)> for Streams {
    fn from_iter<I: IntoIterator<Item = (StreamId, StreamEntry)>>(entries: I) -> Self {
        Self { known: Arc::new(RwLock::new(entries.into_iter().collect())), blind_now: None }
    }
}

impl Streams {
    /// The same streams, watched by somebody who knows whether one shows nothing at the moment.
    #[must_use]
    pub fn watched_by(self, blind_now: impl Fn(&StreamId) -> bool + Send + Sync + 'static) -> Self {
        Self { blind_now: Some(Arc::new(blind_now)), ..self }
    }

    /// Whether the pictures that arrive show nothing at the moment.
    pub(super) fn is_blind_now(&self, id: &StreamId) -> bool {
        self.blind_now.as_ref().is_some_and(|blind_now| blind_now(id))
    }

    /// Adds a stream, or replaces the entry of a known one.
    pub fn set(&self, id: StreamId, entry: StreamEntry) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(id, entry);
    }

    /// Makes a stream unknown.
    pub fn forget(&self, id: &StreamId) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// The stream of this name.
    pub fn find(&self, id: &StreamId) -> Result<StreamEntry, AnswerError> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(id).cloned().ok_or_else(|| AnswerError::UnknownStream(id.clone()))
    }

    /// The streams a request is about: the named one, or all.
    pub fn scope(&self, stream: Option<&StreamId>) -> Result<Vec<StreamId>, AnswerError> {
        match stream {
            Some(id) => self.find(id).map(|_| vec![id.clone()]),
            None => Ok(self.known.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()),
        }
    }
}

//! A caption in the memory.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Caption, Fingerprint, MomentId, StreamId, StreamTime, Timing, WallTime};

/// A unit-length vector that stands for a text; its length belongs to the embedder (384 for MiniLM).
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// Normalises `values` to unit length; an all-zero or non-finite vector becomes all zero and is near nothing.
    pub fn new(mut values: Vec<f32>) -> Self {
        let norm = values.iter().map(|v| v * v).sum::<f32>().sqrt();
        let scale = if norm.is_finite() && norm > 0.0 { 1.0 / norm } else { 0.0 };
        for value in &mut values {
            *value = if scale == 0.0 { 0.0 } else { *value * scale };
        }
        Self(values)
    }

    /// The components.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// Cosine similarity in [-1, 1]; 0 if the lengths differ.
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

/// A moment on its way into the index.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMoment {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Stream time of the captioned frame.
    pub at: StreamTime,
    /// Time of day of the captioned frame.
    pub wall: WallTime,
    /// How exact both times are, if that is known.
    pub timing: Option<Timing>,
    /// What the captioner said.
    pub caption: Caption,
    /// The caption as a vector.
    pub embedding: Embedding,
    /// Which captioner.
    pub captioner: Fingerprint,
    /// Which embedder.
    pub embedder: Fingerprint,
}

/// A caption with its time, as indexed. The span is `at ..= until`: equal unless unchanged pictures extended it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Place in the index.
    pub id: MomentId,
    /// The stream it belongs to.
    pub stream: StreamId,
    /// Stream time of the captioned frame.
    pub at: StreamTime,
    /// Last stream time for which the caption is known to hold.
    pub until: StreamTime,
    /// Time of day of the captioned frame.
    pub wall: WallTime,
    /// How exact both times are; unknown of moments that were stored before it was kept.
    pub timing: Option<Timing>,
    /// What the captioner said.
    pub caption: Caption,
    /// Which captioner.
    pub captioner: Fingerprint,
    /// Which embedder made the stored vector.
    pub embedder: Fingerprint,
}

impl Moment {
    /// How far the span is from `at`; zero inside it.
    pub fn distance(&self, at: StreamTime) -> Duration {
        if at < self.at { self.at.distance(at) } else { at.saturating_since(self.until) }
    }

    /// The same moment as a citation of another time of its span, the one nearest to `at`.
    #[must_use]
    pub fn cited_at(self, at: StreamTime) -> Self {
        let at = at.min(self.until).max(self.at);
        let wall = self.wall.plus(at.saturating_since(self.at));
        Self { at, wall, ..self }
    }
}

/// A moment found by a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// What was found.
    pub moment: Moment,
    /// Cosine similarity to the query.
    pub score: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_are_unit_length_or_zero() {
        let a = Embedding::new(vec![3.0, 4.0]);
        assert!((a.cosine(&a) - 1.0).abs() < 1e-6);
        assert_eq!(Embedding::new(vec![f32::NAN, 1.0]).as_slice(), [0.0, 0.0]);
        assert_eq!(a.cosine(&Embedding::new(vec![1.0])), 0.0);
    }
}

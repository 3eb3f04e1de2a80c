//! Why a request got no answer.

use crate::domain::{Design, Need, StreamId};
use crate::engine::EngineError;
use crate::index::IndexError;
use crate::seams::{EvidenceError, ModelError};

/// What is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing but white space.
    #[error("the text is empty")]
    Empty,
    /// Longer than the configured limit.
    #[error("the text has {got} characters, at most {max} are accepted")]
    TooLong {
        /// The limit.
        max: usize,
        /// Characters given.
        got: usize,
    },
    /// The number of moments is out of range.
    #[error("k is {got}, it must be between 1 and {max}")]
    BadK {
        /// The limit.
        max: usize,
        /// What was asked for.
        got: usize,
    },
    /// No claim, or more than the configured limit.
    #[error("{got} claims were given, between 1 and {max} are accepted")]
    BadCount {
        /// The limit.
        max: usize,
        /// Claims given.
        got: usize,
    },
}

/// Why a request got no answer. Each has a [`Kind`] to act on.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// No such stream is configured.
    #[error("stream {0} is unknown: list the streams to see their names")]
    UnknownStream(StreamId),
    /// As much is being worked on as is allowed; the same request may succeed later.
    #[error("busy: ask again later")]
    Busy,
    /// The request itself cannot be worked on.
    #[error("the request is refused: {0}")]
    Question(Refusal),
    /// The design asked for needs a model that this site does not have.
    #[error("the design {} needs a model that is not configured: {}", .0.as_str(), remedy(*.0))]
    NotConfigured(Design),
    /// The memory failed.
    #[error("the memory cannot be read")]
    Index(#[source] IndexError),
    /// A model needed before any claim existed failed.
    #[error("a model failed")]
    Model(#[source] ModelError),
    /// There is no such frame.
    #[error("there is no such frame")]
    Evidence(#[source] EvidenceError),
    /// The frame exists and cannot be delivered.
    #[error("the frame cannot be delivered: {0}")]
    Frame(String),
    /// The work took longer than is allowed.
    #[error("the deadline passed before the work was done")]
    Deadline,
}

fn remedy(design: Design) -> &'static str {
    design.needs().map_or("", Need::remedy)
}

/// Not a cause but the same error: its text is part of this one's.
impl From<Refusal> for AnswerError {
    fn from(refusal: Refusal) -> Self {
        Self::Question(refusal)
    }
}

/// The kinds of [`AnswerError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// See [`AnswerError::UnknownStream`].
    UnknownStream,
    /// See [`AnswerError::Busy`].
    Busy,
    /// See [`AnswerError::Question`].
    Question,
    /// See [`AnswerError::NotConfigured`].
    NotConfigured,
    /// See [`AnswerError::Index`].
    Index,
    /// See [`AnswerError::Model`].
    Model,
    /// See [`AnswerError::Evidence`] and [`AnswerError::Frame`].
    Evidence,
    /// See [`AnswerError::Deadline`].
    Deadline,
}

impl AnswerError {
    /// What to act on.
    pub fn kind(&self) -> Kind {
        match self {
            Self::UnknownStream(_) => Kind::UnknownStream,
            Self::Busy => Kind::Busy,
            Self::Question(_) => Kind::Question,
            Self::NotConfigured(_) => Kind::NotConfigured,
            Self::Index(_) => Kind::Index,
            Self::Model(_) => Kind::Model,
            Self::Evidence(_) | Self::Frame(_) => Kind::Evidence,
            Self::Deadline => Kind::Deadline,
        }
    }
}

impl From<EngineError> for AnswerError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Busy => Self::Busy,
            EngineError::Model(error) => Self::Model(error),
        }
    }
}

impl From<IndexError> for AnswerError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

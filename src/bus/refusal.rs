//! From what went wrong to what the sender is told. Messages are for readers; they repeat no secret and are short.

use crate::answer::AnswerError;
use crate::seams::EvidenceError;

use super::wire::{ErrorBody, ErrorCode, ErrorReply, V1};

/// Longest message, in characters; some parsers repeat what they were given.
const MAX_MESSAGE: usize = 300;

/// A request that is not answered, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        let cut = message.char_indices().nth(MAX_MESSAGE).map_or(message.len(), |(at, _)| at);
        Self { code, message: message[..cut].to_owned() }
    }

    pub(super) fn busy() -> Self {
        Self::new(ErrorCode::Busy, "as many requests as allowed are at work: ask again later")
    }

    /// The body of the reply.
    pub(super) fn body(&self) -> Vec<u8> {
        let error = ErrorBody { code: self.code.number(), name: self.code, message: self.message.clone() };
        serde_json::to_vec(&ErrorReply { v: V1, error }).expect("a flat struct of numbers and texts serialises")
    }
}

impl From<AnswerError> for Refusal {
    fn from(error: AnswerError) -> Self {
        let code = match &error {
            AnswerError::UnknownStream(_) => ErrorCode::UnknownStream,
            AnswerError::Busy => return Self::busy(),
            AnswerError::Question(_) => ErrorCode::BadRequest,
            AnswerError::NotConfigured(_) => ErrorCode::NotConfigured,
            AnswerError::Index(_) | AnswerError::Model(_) => ErrorCode::Unavailable,
            AnswerError::Evidence(source) => return Self::from(source),
            AnswerError::Frame(_) => ErrorCode::Undecodable,
            AnswerError::Deadline => ErrorCode::Deadline,
        };
        Self::new(code, with_causes(&error))
    }
}

impl From<&EvidenceError> for Refusal {
    fn from(error: &EvidenceError) -> Self {
        let code = match error {
            EvidenceError::NoFrame { .. } => ErrorCode::NoFrame,
            EvidenceError::Expired { .. } => ErrorCode::Expired,
            EvidenceError::Decode { .. } => ErrorCode::Undecodable,
        };
        Self::new(code, with_causes(error))
    }
}

/// An error followed by what caused it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    crate::secret::scrub(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_between_characters() {
        let refusal = Refusal::new(ErrorCode::BadJson, "ä".repeat(10_000));
        assert_eq!(refusal.message, "ä".repeat(MAX_MESSAGE));
        let body: ErrorReply = serde_json::from_slice(&refusal.body()).expect("valid");
        assert_eq!((body.error.code, body.error.name), (400, ErrorCode::BadJson));
    }
}

//! Identities that can travel in a NATS subject, a file name and a metric label without escaping.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longest stream id, so that `<prefix>.<verb>.<stream>` stays far below NATS' subject limit.
pub const MAX_STREAM_ID: usize = 64;

/// Why a text is not an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Empty, too long, or holding a character outside `[A-Za-z0-9_-]`.
    #[error("stream id {0:?} is not 1 to {MAX_STREAM_ID} characters of A-Z a-z 0-9 _ -")]
    Stream(String),
    /// Not a UUID.
    #[error("{0:?} is not a UUID")]
    Uuid(String),
}

/// The name of a camera or a file: one NATS token, `[A-Za-z0-9_-]{1,64}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StreamId(String);

impl StreamId {
    /// Accepts `text` if it is one token.
    pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        let token = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'-';
        if (1..=MAX_STREAM_ID).contains(&text.len()) && text.bytes().all(token) {
            Ok(Self(text))
        } else {
            Err(IdError::Stream(text.chars().take(MAX_STREAM_ID).collect()))
        }
    }

    /// The token.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StreamId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        Self::new(text)
    }
}

impl From<StreamId> for String {
    fn from(id: StreamId) -> Self {
        id.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A moment's place in the index: grows by one for each moment stored, over all streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MomentId(pub u64);

impl fmt::Display for MomentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            /// A new identity; later ones sort later (UUID version 7).
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                Uuid::try_parse(&text).map(Self).map_err(|_| IdError::Uuid(text.chars().take(64).collect()))
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id!(
    /// One question asked over the bus or the command line.
    QuestionId
);
uuid_id!(
    /// One verdict; also names its evidence.
    VerdictId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_id_is_one_subject_token() {
        for good in ["a", "cam-1", "Front_Door", &"x".repeat(MAX_STREAM_ID)] {
            assert_eq!(StreamId::new(good).expect("valid").as_str(), good);
        }
        for bad in ["", "a.b", "a b", "*", ">", "a>", "käfer", "a\0", "a/b", &"x".repeat(MAX_STREAM_ID + 1)] {
            assert!(StreamId::new(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn ids_are_checked_when_deserialised() {
        assert!(serde_json::from_str::<StreamId>("\"a.b\"").is_err());
        assert!(serde_json::from_str::<VerdictId>("\"7\"").is_err());
        let id = VerdictId::generate();
        let json = serde_json::to_string(&id).expect("serialises");
        assert_eq!(serde_json::from_str::<VerdictId>(&json).expect("parses"), id);
    }
}

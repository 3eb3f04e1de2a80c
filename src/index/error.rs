//! Why the memory refuses, and what to do about it.

use std::path::PathBuf;

use crate::domain::{Fingerprint, StreamId, StreamKind, StreamTime};

/// Why the index gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Another process has the file open.
    #[error("the index {path} is open in another process: stop it, or give this one another index.path")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file or its directory cannot be created, opened or read.
    #[error("the index {path} cannot be opened: {reason}")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file was written by another version of this program.
    #[error("the index has layout version {found}, this program reads version {known}: {}", version_advice(*.found, *.known))]
    Version {
        /// In the file.
        found: u64,
        /// In this program.
        known: u64,
    },
    /// The file is damaged, or not an index.
    #[error("the index is damaged: {reason}: restore it from a copy, or remove it and watch the streams again")]
    Corrupt {
        /// What was found.
        reason: String,
    },
    /// The storage failed; nothing more is written until the process starts again.
    #[error("the storage of the index failed: {reason}")]
    Storage {
        /// What the system said.
        reason: String,
    },
    /// The index was closed.
    #[error("the index is closed")]
    Closed,
    /// Another file, or another kind of source, under a known stream id.
    #[error(
        "stream {stream} was indexed from {stored}, not from {found}: give the new source another stream id, or remove the index"
    )]
    Identity {
        /// The stream.
        stream: StreamId,
        /// What it was.
        stored: String,
        /// What it is now.
        found: String,
    },
    /// The stream was never registered.
    #[error("stream {stream} is not in the index")]
    UnknownStream {
        /// The stream.
        stream: StreamId,
    },
    /// Moments of a stream are stored in the order of time, each time once.
    #[error("stream {stream} has a moment at {last} already, so none at {at} can follow")]
    NotLater {
        /// The stream.
        stream: StreamId,
        /// The time refused.
        at: StreamTime,
        /// The time of the last moment.
        last: StreamTime,
    },
    /// The stored vectors are of another embedder, so nothing can be compared with them.
    #[error(
        "the index holds vectors of embedder {stored}, not of {found}: go back to that embedder, or remove the index and watch the streams again"
    )]
    Embedder {
        /// Whose vectors are stored.
        stored: Fingerprint,
        /// Whose vectors were to be used.
        found: Fingerprint,
    },
    /// A caption, a vector or a name too large for its row.
    #[error("a moment of stream {stream} does not fit: {reason}")]
    TooLarge {
        /// The stream.
        stream: StreamId,
        /// What is too large, and the limit.
        reason: String,
    },
}

impl IndexError {
    /// Whether the index can take nothing more, so that the process should end with this reason.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Storage { .. } | Self::Corrupt { .. } | Self::Closed)
    }

    pub(super) fn corrupt(reason: impl Into<String>) -> Self {
        Self::Corrupt { reason: reason.into() }
    }
}

fn version_advice(found: u64, known: u64) -> &'static str {
    if found > known { "use a newer program" } else { "use the older program, or remove the index" }
}

/// How a source is called in [`IndexError::Identity`].
pub(super) fn describe(kind: StreamKind, identity: Option<&str>) -> String {
    match (kind, identity) {
        (StreamKind::Live, _) => "a live source".to_owned(),
        (StreamKind::File, Some(identity)) => format!("the file {identity}"),
        (StreamKind::File, None) => "a file".to_owned(),
    }
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for IndexError {
            fn from(error: $error) -> Self {
                redb::Error::from(error).into()
            }
        })*
    };
}

from_redb!(redb::StorageError, redb::TransactionError, redb::TableError, redb::CommitError, redb::SetDurabilityError);

impl From<redb::Error> for IndexError {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Corrupted(reason) => Self::Corrupt { reason },
            redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableDoesNotExist(_)
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. } => Self::corrupt(error.to_string()),
            redb::Error::DatabaseClosed => Self::Closed,
            other => Self::Storage { reason: other.to_string() },
        }
    }
}

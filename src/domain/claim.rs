//! One factual statement and where it is said to be seen.

use serde::{Deserialize, Serialize};

use super::{StreamId, StreamTime};

/// A place in a stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Citation {
    /// The stream.
    pub stream: StreamId,
    /// The stream time of the cited frame.
    pub at: StreamTime,
}

/// One factual statement with the frame it cites.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claim {
    /// A full sentence.
    pub text: String,
    /// The frame that is said to show it.
    pub citation: Citation,
}

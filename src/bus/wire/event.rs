//! What is told without being asked. A verdict event is [`super::Verdict`]; an evidence event is a JPEG with headers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::V1;
use super::schema::{Rfc3339, Seconds, Token};
use crate::domain::{Fingerprint, StreamId, StreamState, StreamTime, WallTime};

/// `caption.<stream>`: a moment was committed to the memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "caption event")]
pub struct CaptionEvent {
    /// Version of this message.
    pub v: V1,
    /// Place in the memory, growing over all streams.
    pub moment_id: u64,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// Seconds into the stream.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
    /// Last second for which the caption is known to hold.
    #[schemars(with = "Seconds")]
    pub until: StreamTime,
    /// Time of day of the frame.
    #[schemars(with = "Rfc3339")]
    pub wall: WallTime,
    /// What the captioner said.
    pub caption: String,
    /// Which captioner.
    pub captioner: Fingerprint,
    /// Which embedder.
    pub embedder: Fingerprint,
}

/// `state.<stream>`: a stream came up, went down, or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "state event")]
pub struct StateEvent {
    /// Version of this message.
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// How it fares now.
    pub state: StreamState,
    /// Why; empty if the state says all.
    pub detail: String,
    /// Since when.
    #[schemars(with = "Rfc3339")]
    pub wall: WallTime,
}

//! What kind of source a stream is, and how it fares.

use serde::{Deserialize, Serialize};

/// How a stream behaves when its consumer is slow, and what its end means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Has an end, can be re-read, waits for its consumer.
    File,
    /// Has no end, cannot wait: frames are dropped and counted.
    Live,
}

/// How a stream fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamState {
    /// Being opened.
    Connecting,
    /// Frames arrive.
    Up,
    /// No frames; will be opened again.
    Down,
    /// A file that was read to its end.
    Ended,
    /// Cannot be opened until somebody changes the configuration or the file.
    Failed,
}

impl StreamState {
    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Up => "up",
            Self::Down => "down",
            Self::Ended => "ended",
            Self::Failed => "failed",
        }
    }
}

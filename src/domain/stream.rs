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
    /// Being opened for the first time since the daemon, or its configuration, started it.
    Connecting,
    /// Frames arrive.
    Up,
    /// The source is there and sends nothing; will be opened again.
    Stalled,
    /// Broken off or not to be reached; will be opened again.
    Down,
    /// User name or password refused; will be tried again, but seldom.
    AuthFailed,
    /// A file that was read to its end.
    Ended,
    /// Cannot be opened until somebody changes the configuration or the file.
    Failed,
    /// Not watched any more; what was seen can still be asked about.
    Removed,
}

impl StreamState {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::Connecting,
        Self::Up,
        Self::Stalled,
        Self::Down,
        Self::AuthFailed,
        Self::Ended,
        Self::Failed,
        Self::Removed,
    ];

    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Up => "up",
            Self::Stalled => "stalled",
            Self::Down => "down",
            Self::AuthFailed => "auth_failed",
            Self::Ended => "ended",
            Self::Failed => "failed",
            Self::Removed => "removed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_serde_writes() {
        for state in StreamState::ALL {
            assert_eq!(serde_json::to_string(&state).expect("serialises"), format!("\"{}\"", state.as_str()));
        }
    }
}

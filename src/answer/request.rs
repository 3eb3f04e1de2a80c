//! What can be asked besides a question, and what comes back. Values only.

use std::sync::Arc;

use crate::domain::{Frame, Sha256, StreamId, Window};

/// A search for moments.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// What to look for, in plain language.
    pub text: String,
    /// The stream to search; all streams if absent.
    pub stream: Option<StreamId>,
    /// The part of the stream to search.
    pub window: Window,
    /// How many moments, best first.
    pub k: usize,
}

/// A freshly extracted frame.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameReply {
    /// The frame, with its own time.
    pub frame: Frame,
    /// The picture as JPEG, below the configured size.
    pub jpeg: Arc<[u8]>,
    /// Digest of `jpeg`.
    pub sha256: Sha256,
}

//! The frame that was looked at for a claim.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Caption, Citation, Clock, WallTime};

/// A SHA-256 digest in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sha256(String);

impl Sha256 {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(format!("{:x}", sha2::Sha256::digest(bytes)))
    }

    /// 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A frame re-extracted for a claim, with what a captioner that knew nothing of the claim said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The frame's own place, which may be a neighbour of the cited one.
    pub citation: Citation,
    /// The frame's time of day.
    pub wall: WallTime,
    /// Whose time of day that is.
    pub clock: Clock,
    /// How far off the frame's times may be, to either side.
    pub precision: Duration,
    /// How many samples away from the cited frame: -1, 0 or 1.
    pub neighbour: i8,
    /// The blind caption.
    pub caption: Caption,
    /// The picture as JPEG.
    pub jpeg: Arc<[u8]>,
    /// Digest of `jpeg`.
    pub sha256: Sha256,
}

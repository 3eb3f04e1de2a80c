//! Section `[archive]`, and what it becomes.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::config::Span;

/// Section `[archive]`: live streams are recorded as they come, so that their frames can be shown again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether live streams are recorded at all.
    pub enabled: bool,
    /// Where segments are kept, a directory a stream; created if missing.
    pub dir: PathBuf,
    /// Length of a segment; it ends at the first key frame after that.
    pub segment: Span,
    /// Segments older than this are deleted.
    pub max_age: Span,
    /// A stream that holds more than this loses its oldest segments.
    pub max_bytes: u64,
    /// The disk is left this much; the oldest segments go first, and without any recording pauses.
    pub min_free: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            dir: PathBuf::from("archive"),
            segment: Span(Duration::from_mins(1)),
            max_age: Span(Duration::from_hours(7 * 24)),
            max_bytes: 32 << 30,
            min_free: 2 << 30,
        }
    }
}

/// How much is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) max_age: Duration,
    /// Of one stream.
    pub(super) max_bytes: u64,
    /// Of the disk.
    pub(super) min_free: u64,
}

impl Config {
    pub(super) fn limits(&self) -> Limits {
        Limits { max_age: self.max_age.0, max_bytes: self.max_bytes, min_free: self.min_free }
    }
}

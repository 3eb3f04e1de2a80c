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

/// A segment shorter than this is all head and no pictures.
const SHORTEST_SEGMENT: Duration = Duration::from_secs(1);

impl Config {
    /// Refuses what would keep nothing, with the key.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !self.enabled {
            return Ok(());
        }
        if self.dir.as_os_str().is_empty() {
            return Err(("dir", "is empty: write where recordings are kept, or set enabled = false".to_owned()));
        }
        if self.dir.exists() && !self.dir.is_dir() {
            return Err(("dir", format!("{} is there and is no directory", self.dir.display())));
        }
        if self.segment.0 < SHORTEST_SEGMENT {
            return Err(("segment", format!("must be at least {}", Span(SHORTEST_SEGMENT))));
        }
        if self.max_age < self.segment {
            return Err(("max_age", format!("must be at least {}, the length of a segment", self.segment)));
        }
        if self.max_bytes == 0 {
            return Err(("max_bytes", "is zero: write how much a stream may hold, or set enabled = false".to_owned()));
        }
        Ok(())
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { max_age: self.max_age.0, max_bytes: self.max_bytes, min_free: self.min_free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_keep_nothing_is_refused() {
        let refused =
            |text: &str| toml::from_str::<Config>(text).expect("is a section").check().map_err(|(key, _)| key);
        let table = [
            ("", Ok(())),
            ("segment = \"10m\"\nmax_age = \"10m\"", Ok(())),
            ("dir = \"\"", Err("dir")),
            ("dir = \"/dev/null\"", Err("dir")),
            ("segment = \"0s\"", Err("segment")),
            ("segment = \"10m\"\nmax_age = \"5m\"", Err("max_age")),
            ("max_bytes = 0", Err("max_bytes")),
            ("max_bytes = 0\nenabled = false", Ok(())),
        ];
        for (text, due) in table {
            assert_eq!(refused(text), due, "{text}");
        }
    }
}

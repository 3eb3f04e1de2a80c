//! The memory: every moment of every stream, committed before it is announced, searched exactly.
//!
//! redb lives here and only here. One OS thread owns all writing and commits in groups; reading happens in short
//! snapshots on the blocking pool. An [`Index`] is the cheap handle to both.
//!
//! This module stores and finds; it must not know how a caption or a vector is made.
//!
//! # Contract
//! - What [`Index::append`] has acknowledged survives kill -9 and a power cut (`Durability::Immediate`, two-phase).
//! - The moments of a stream are appended in the order of time, each time once: anything else is refused. So are
//!   extensions of its last moment, and stretches in which nothing was seen: what is stored of a stream only grows at its
//!   end, and spans never overlap.
//! - After an error of the storage nothing more is written: [`Index::ended`] tells why, and the process should end.
//! - All vectors are of one embedder: another one is refused by name.
//! - A foreign file, and a damaged one up to [`Config::check_bytes`], is an error at opening; a file in use elsewhere is
//!   [`IndexError::Locked`]. Damage in a larger one can make redb panic,
//!   which ends the process.
//!
//! # Layout
//! `moments` holds captions, keyed by a sequence number that only grows; (stream, time) leads to that number through a
//! small second table. Vectors are f16 (at most 0.002 off in cosine, half the reading) and lie packed by stream in
//! blocks of one 32 KiB page, keyed by (stream, time): a search reads the blocks of its streams and window and nothing
//! else, and captions only of what it found. `added_streams` keeps what streams were added with while the daemon ran; this
//! module does not read it.
//!
//! A moment holds for `at ..= until`: a scope means every moment whose span touches its window. Stretches in which
//! nothing was seen have a table of their own, keyed by (stream, begin), so that they can be removed by age as moments
//! can.
//!
//! # Decisions
//! - 2026-11-30: an extension rewrites the moment's row and the stream's record and no vector, in the same group commit
//!   as everything else: cheaper than an append, and as safe.
//! - 2026-11-30: no vector index. A scan of 100,000 moments takes tens of milliseconds and is exact under every filter;
//!   a graph index is slower than the scan as soon as a time window is narrow.
//! - 2026-11-30: vectors in blocks instead of one a row: a scan of 100,000 rows spent nine tenths of its time on pages
//!   and row look-ups (`benches/index.rs`). The price is that each append writes the stream's last block again.
//! - 2026-11-30: files are checked at opening up to a size. redb trusts its pages; over damaged ones it panics, and once
//!   more while it unwinds, which no `catch_unwind` survives.
//! - 2026-11-30: readers hold no state of their own: names and fingerprints are read in the same snapshot as the rows.
//! - 2026-11-30: a changed embedder is an error that says what to do. Embedding stored captions anew needs only the rows
//!   here ([`Index::moments`] holds every caption), so it can be added without a new layout.

mod block;
mod codec;
mod error;
mod handle;
mod schema;
mod snapshot;
mod spans;
mod store;
mod top;
mod writer;

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use prometheus::{IntGauge, Registry};
use serde::Deserialize;

use crate::config::Span;
use crate::domain::{BlindSpan, StreamId, StreamKind, StreamTime, WallTime, Window};
use crate::telemetry::{Queues, Stages};

pub use error::IndexError;
pub use handle::Index;

/// Where the memory lies and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The database file; its directory is created if missing.
    pub path: PathBuf,
    /// Memory for cached pages.
    pub cache_bytes: usize,
    /// Most operations in one commit.
    pub commit_rows: usize,
    /// How long a commit waits for company. Whatever arrives during one commit shares the next one anyway.
    pub commit_wait: Span,
    /// Operations that may wait for the writer.
    pub queue: usize,
    /// A file up to this size is checked whole when it is opened (about a second for 256 MiB), so that damage done from
    /// outside is an error then. A larger one is trusted: opening it takes milliseconds.
    pub check_bytes: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            path: PathBuf::from("groundedvqa.redb"),
            cache_bytes: 64 << 20,
            commit_rows: 256,
            commit_wait: Span(Duration::ZERO),
            queue: 256,
            check_bytes: 256 << 20,
        }
    }
}

/// What the index measures.
#[derive(Debug, Clone)]
pub struct Metrics {
    pub(super) stages: Stages,
    pub(super) queues: Queues,
    pub(super) store_bytes: IntGauge,
}

impl Metrics {
    /// Registers the size of the store; durations (commit, search) and the queue `index` go to the shared families.
    pub fn register(registry: &Registry, stages: Stages, queues: Queues) -> prometheus::Result<Self> {
        let store_bytes = IntGauge::new("gvqa_store_bytes", "Size of the database file, in bytes.")?;
        registry.register(Box::new(store_bytes.clone()))?;
        Ok(Self { stages, queues, store_bytes })
    }
}

/// What is kept of a stream beside its moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRecord {
    /// Time of day at stream time zero; fixed when the stream was first seen.
    pub epoch: WallTime,
    /// Whether it has an end.
    pub kind: StreamKind,
    /// Which file it is; absent for a live stream.
    pub identity: Option<String>,
    /// Stream time of the last picture dealt with: the end of the last moment, or of the last stretch without sight.
    pub last: Option<StreamTime>,
    /// Whether the file was read to its end.
    pub ended: bool,
    /// How many moments are stored.
    pub moments: u64,
}

/// Which moments are meant: those of any of these streams whose span touches the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The streams; an unknown one holds no moments.
    pub streams: Vec<StreamId>,
    /// The window of stream time.
    pub window: Window,
}

/// The stretch without sight that began last before a time, and what came after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Darkness {
    /// The stretch. It may have ended before the time.
    pub span: BlindSpan,
    /// When something was seen again: the first moment that began after it.
    pub seen: Option<StreamTime>,
    /// The last picture dealt with, of whatever kind.
    pub last: StreamTime,
}

/// The moments of one stream nearest to a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbours {
    /// Where the span of the one before it ends; nothing while inside a span.
    pub before: Option<StreamTime>,
    /// The one exactly there.
    pub at: Option<StreamTime>,
    /// Where the span that holds it ends.
    pub until: Option<StreamTime>,
    /// The first one after it.
    pub after: Option<StreamTime>,
}

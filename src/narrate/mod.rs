//! Frames in, moments stored.
//!
//! Each stream has an OS thread that pulls its source, and a task that turns one frame after another into a moment:
//! caption, embed, append, announce. Between them lies a queue of one frame, so that the next frame is decoded while
//! this one is captioned. A file waits for the task; a live frame takes the place of one that still waits, which is
//! dropped and counted, and one that the captioner has not begun with after two sampling intervals is dropped as `old`.
//!
//! The thread owns the source and the back-off, the task owns the way into the index. Neither knows what kind of source
//! or model it is. Nothing here decides which frames are sampled (`video`) or what a caption says (`models`).
//!
//! # Contract
//! - A moment is announced after it was committed, and so is that it lasts longer.
//! - A frame that shows nothing is noted in the index and not captioned; one that shows what the last captioned one
//!   showed makes that moment longer (`sight` decides both).
//! - A frame that is not later than the last stored moment is never captioned: a restart re-captions nothing.
//! - When the end is asked for, the frame at hand is finished first.
//! - A file is marked as ended after its last frame was stored, and is not read again.
//! - Frames are only lost with a count, by [`DropReason`].
//!
//! # When a model fails over a frame
//! | error | file | live |
//! |---|---|---|
//! | this input is refused | skipped, counted as `refused`: trying again cannot help | the same |
//! | the model failed | tried again with back-off; after five tries the stream is failed *before* that frame, so that a restart begins with it | dropped, counted as `model` |
//! | the model is behind an endpoint that is away | tried again with back-off, at least once a minute, until it is back; where somebody waits for the end ([`Outage::Fail`]) the stream is failed | dropped, counted as `model` |
//! | the captioner was busy for two sampling intervals | does not happen | dropped, counted as `old` |
//! | the engine has stopped | the stream is failed | the stream is failed |
//!
//! An error of the index fails the stream, except that a moment too large for a row is skipped like a refused input.
//!
//! # How a stream fares
//! `connecting` until the first life of its source has begun or failed; `up` with each first frame; after a broken life
//! `stalled` (the source is there and sends nothing), `auth_failed` (it refuses the credentials) or `down` (everything
//! else), with the reason, through all further attempts. A file ends as `ended`; what cannot get better by itself is
//! `failed`. A stream that is watched no longer is `removed`: what was seen of it can still be asked about.
//!
//! # Decisions
//! - 2026-11-30: the lag is measured by this machine's steady clock from the arrival of the frame, not from its time of
//!   day: a file's frames were taken long ago, and a camera's clock may be wrong.

mod backoff;
mod board;
mod eye;
mod metrics;
mod puller;
mod sightings;
mod teller;
mod watch;
mod writer;

#[cfg(test)]
mod fakes;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod sight_tests;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::sync::mpsc;

use crate::domain::{Event, StreamKind};
use crate::engine::Engine;
use crate::index::Index;
use crate::sight;
use crate::stop::Stop;

pub use backoff::{Reconnect, ReconnectError, Waits};
pub use board::{Board, DropReason, StreamStatus};
pub use metrics::Metrics;
pub use watch::{NarratorDied, Watching, refuse, remember, retire, watch};

/// What a narrator works with; shared by all streams.
#[derive(Debug, Clone)]
pub struct Deps {
    /// Captions and embeds.
    pub engine: Engine,
    /// Where moments go.
    pub index: Index,
    /// Where the stream's status is shown.
    pub board: Board,
    /// Where moments and states are announced. The receiver must be drained: captions wait for it.
    pub events: mpsc::Sender<Event>,
    /// What is measured.
    pub metrics: Metrics,
    /// Asked for, the narrator ends.
    pub stop: Stop,
}

/// How one stream is treated.
#[derive(Debug, Clone)]
pub struct StreamPolicy {
    /// Whether the source waits (file) or not (live).
    pub kind: StreamKind,
    /// Which file it is; see [`Index::register`].
    pub identity: Option<String>,
    /// One frame for each such stretch of stream time.
    pub sample_every: Duration,
    /// How pictures are looked at before they are captioned.
    pub sight: sight::Settings,
    /// When a source that broke off is opened again.
    pub reconnect: Waits,
    /// What becomes of a file while a model behind an endpoint is away.
    pub outage: Outage,
}

/// What a file does while a model behind an endpoint is away. A live stream goes on without captions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// It waits until the model is back: a daemon.
    Wait,
    /// It is failed: somebody waits for the command to end.
    Fail,
}

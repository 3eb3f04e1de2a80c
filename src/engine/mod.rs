//! The only bridge between async code and models: one OS thread owns those that compute here, behind two bounded lanes.
//!
//! An [`Engine`] is the handle: cloneable, async, and blind to what kind of models lie behind it. The thread owns the
//! models; nobody else touches them. Work in the interactive lane (questions) always overtakes work in the background
//! lane (captions of watched streams), but never interrupts a batch that has started. A draft takes seconds and pauses
//! between tokens: captions, embeddings and judgements of other questions are computed in the pauses. Background captions
//! and embeddings of several streams are merged into one batch; so are the pictures of several questions where the model
//! takes no longer for them (`is_parallel` of its seam).
//!
//! A model that computes elsewhere (`clients` of its seam) has lanes and threads of its own, one thread a call under way:
//! a distant machine that is slow or silent keeps nothing here waiting. What one caller wants of it shares one place in
//! the lane and is worked on by all its threads.
//!
//! This module must not know what is captioned or why, and must not name a model runtime.
//!
//! # Contract
//! - Interactive lane full: [`EngineError::Busy`] at once. Background lane full: the caller waits.
//! - A job that was not begun by the time that its caller set is answered with [`ModelError::Late`] when it is taken.
//! - A job whose caller left is skipped when it is taken from its lane.
//! - A merged batch that fails is run again job by job, so that one bad picture spoils nobody else's.
//! - A panic in a model ends every thread: the callers get [`ModelError::Stopped`], [`EngineThread::ended`] the reason.
//! - Dropping the last handle ends the threads; a call that is under way elsewhere is finished first.
//!
//! # Decisions
//! - 2026-11-30: two deques under one lock instead of two channels: a thread has to wait for both at once, and to merge
//!   jobs that do not stand next to each other.
//! - 2026-11-30: a draft calls back between its tokens instead of being cut into resumable pieces: the drafter keeps its
//!   state on the stack, and no second draft can come between.

mod batch;
mod handle;
mod job;
mod lanes;
mod stations;
mod warmup;
mod worker;

#[cfg(test)]
pub(crate) mod fakes;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::seams::ModelError;
use crate::telemetry::{Queues, Stages};

pub use handle::{Engine, EngineThread};
pub use lanes::Lane;

/// How much may wait, and how much is computed at once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Jobs that may wait in the interactive lane; one more is refused.
    pub interactive_jobs: usize,
    /// Jobs that may wait in the background lane; one more waits outside.
    pub background_jobs: usize,
    /// Most pictures in one call of the captioner.
    pub max_pictures: usize,
    /// Most texts in one call of the embedder, and most pairs in one call of the judge.
    pub max_texts: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { interactive_jobs: 32, background_jobs: 64, max_pictures: 4, max_texts: 32 }
    }
}

/// Why the engine gave no result.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Too many questions wait already.
    #[error("the model engine is busy: ask again later")]
    Busy,
    /// The model failed, or the engine has stopped.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// What the engine measures: stage durations and queue depths, both shared with other modules.
#[derive(Debug, Clone)]
pub struct Metrics {
    /// Durations of caption, embed, draft and judge batches.
    pub stages: Stages,
    /// Depths of the lanes, as queues `engine_interactive` and `engine_background`.
    pub queues: Queues,
}

/// The engine's thread ended because a model panicked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model engine ended: a model panicked: {reason}")]
pub struct EngineDied {
    /// The panic's message.
    pub reason: String,
}

//! Which of many moments are taken for a question. Pure.
//!
//! ```text
//! cosine + words ─▶ beside the event ─▶ nearer to the edge ─▶ spread over time ─▶ k moments
//! ```
//!
//! Every moment of the window (of a long one, those nearest in meaning) gets a score: how similar its caption is to the
//! question, in meaning (cosine) and in words (BM25), both counted in standard deviations over the window. A question that
//! leans on an event ("after the man sits down") adds how similar the moments just before (after, at) are to the event: so
//! what is taken lies next to the event, wherever that is. "At the end" takes off for distance from the end. Then the best
//! is taken, those near it in time lose, the next best is taken, and so on: neighbours show the same, and the event asked
//! for may be somewhere else.
//!
//! # Decisions
//! - 2026-11-30: the constants were chosen on one half of the NExT-GQA dev videos (by a hash of the name) and are reported
//!   on the other; see `groundedvqa eval retrieval`. Smoothing scores over neighbours was tried and made it worse.

mod blend;
mod spread;
mod terms;

pub(super) use blend::{Candidate, Lean, Wish, scores};
pub(super) use spread::{Place, spread};

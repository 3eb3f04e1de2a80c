//! Watches video, remembers what it saw, and answers questions with claims that were checked against a fresh frame.
//!
//! Two sentences, with the capacity on every arrow:
//!
//! ```text
//! watching   source ─1─▶ video ─1─▶ narrate ─lane:background─▶ engine     narrate ─queue─▶ index
//! asking     bus ─permits─▶ answer ─lane:interactive─▶ engine             answer ─▶ verdict ─outbox─▶ bus
//! ```
//!
//! Three rules. Foreign worlds never meet: gstreamer only in [`video`], candle only in [`models`], models of other
//! machines only in [`remote`], redb only in [`index`], async_nats only in [`bus`], and tokio shares no file with candle. Seams are synchronous traits
//! ([`seams`]). Policy is pure: what decides is a function in a file of its own. `tests/architecture.rs` holds the
//! crate to them.
//!
//! Without the feature `video`, which is on by default, there is no [`video`], and so no [`app`] and no [`cli`]: what is
//! left needs no GStreamer, and is what `benches/vlm.rs` measures.

pub mod answer;
#[cfg(feature = "video")]
pub mod app;
pub mod bus;
#[cfg(feature = "video")]
pub mod cli;
pub mod config;
pub mod domain;
pub mod engine;
pub mod eval;
pub mod index;
pub mod models;
pub mod narrate;
pub mod panics;
pub mod remote;
pub mod seams;
pub mod secret;
pub mod sight;
pub mod stop;
pub mod telemetry;
#[cfg(feature = "video")]
pub mod video;

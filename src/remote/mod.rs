//! Models behind an OpenAI-compatible endpoint: vLLM, llama.cpp's server, Ollama, or a hosted service.
//!
//! [`Captioner`], [`Drafter`], [`Judge`] and [`VisualQa`] are the seams of the same names over chat completions: pictures
//! travel as JPEG data URLs, drafts and judgements come back under a JSON schema. Every role owns a [`client`] with its
//! own breaker and metrics; the key is read once, from a file. Blocking: a call holds the thread it is made on, so the
//! engine gives these models threads of their own, as many as calls may be under way at once (`clients` of the seams).
//!
//! It must not hand out anything that the endpoint said without checking it: a reply is hostile input. What cannot be
//! used is a [`ModelError`](crate::seams::ModelError), never a caption, a claim or an opinion. It knows no tensors:
//! candle's world is [`crate::models`].
//!
//! What is pure has files of its own: [`retry`] (whether and when to try again), [`breaker`] (when to stop asking),
//! [`label`] (probabilities out of a reply), [`reply`] (text out of a reply).
//!
//! # Decisions
//! - 2026-11-30: `ureq`, a blocking client: the seams block, and its TLS is the rustls and ring that the bus uses already.
//! - 2026-11-30: an endpoint that is away when the daemon starts does not keep it from starting: remote models are not
//!   warmed up.
//! - 2026-11-30: a key goes to https addresses and to this machine only.

mod breaker;
mod captioner;
mod chat;
mod client;
mod config;
mod drafter;
mod files;
mod judge;
mod label;
mod metrics;
mod picture;
mod reply;
mod retry;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod tests;
mod trouble;
mod visual_qa;

pub use captioner::Captioner;
pub(crate) use config::is_local;
pub use config::{Endpoint, EndpointError};
pub use drafter::Drafter;
pub(crate) use files::system_roots;
pub use judge::{ChatJudge, Judge};
pub use metrics::{Metrics, Role};
pub use visual_qa::VisualQa;

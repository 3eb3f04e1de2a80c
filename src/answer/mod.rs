//! A question in, an answer with verdicts out.
//!
//! ```text
//! admit ─▶ retrieve ─▶ draft ─▶ for each claim: evidence frame ─▶ blind caption ─▶ judge ─▶ weigh ─▶ verdict
//!                                                    ▲                                  │
//!                                                    └────── neighbouring frame ◀── not entailed
//! ```
//!
//! [`Answerer`] owns the permits and nothing else: what was seen belongs to the index, the models to the engine, the
//! past of a stream to its evidence source. Policy is in pure files: [`time`] (which part of the stream),
//! [`draft`] (which claims pass), [`hypothesis`] (what a claim says of one picture), [`nearby`] (which frames are
//! tried), [`rounds`] (when and where it is looked at again), [`relevant`] (whether a claim answers), [`observable`] (whether a picture shows anything), [`weigh`] (the verdict; what [`counts`] and
//! [`said`] forbid), [`text`] (the paragraph).
//!
//! It must not cache a frame or a caption from one request to the next: evidence is extracted afresh. It must not give
//! the captioner anything but pictures; [`crate::seams::Captioner`] would not take it.

mod config;
mod counts;
mod designs;
mod draft;
mod error;
mod evidence;
mod flow;
pub mod hypothesis;
mod metrics;
mod nearby;
mod numerals;
mod observable;
mod premise;
mod question;
mod rank;
pub mod relevant;
mod request;
mod retrieve;
mod rounds;
mod said;
mod scene;
mod stated;
mod streams;
mod survey;
mod text;
mod time;
mod timing;
mod verify;
pub mod weigh;
mod yes_or_no;

pub use config::{Config, ConfigError};
pub use error::{AnswerError, Kind, Refusal};
pub use flow::{Answerer, ToJpeg};
pub use metrics::{Metrics, Outcome};
pub use request::{FrameReply, SearchRequest};
pub use streams::{StreamEntry, Streams};

use time::clock;

//! Drafters: a question and retrieved moments become claims.
//!
//! [`SmolLm2`] lets a small language model write inside a grammar; [`Extractive`] quotes. Both cite only moments they
//! were given and are deterministic. What decides which claims survive is pure and has files of its own (`rank`,
//! `claims`); the network is [`super::net::llama`], named here for benches and parity tests.

mod chat_judge;
mod claims;
mod extractive;
mod grammar;
mod prompt;
mod rank;
mod smollm2;
mod tokenizer;

pub use self::chat_judge::SmolLm2Judge;
pub use self::extractive::Extractive;
pub use self::smollm2::SmolLm2;
pub use self::tokenizer::Tokenizer;
pub use super::net::gguf::{Gguf, GgufError};
pub use super::net::llama::{Llama, Memory, Shape, State};

//! Drafters: a question and retrieved moments become claims.
//!
//! [`LanguageModel`] lets a language model write inside a grammar; [`Extractive`] quotes. Both cite only moments they
//! were given and are deterministic. What decides which claims survive is pure and has files of its own (`rank`,
//! `claims`); the network is [`super::net::llama`], named here for benches and parity tests.

use std::path::PathBuf;

use serde::Deserialize;

mod chat_judge;
mod claims;
mod extractive;
mod grammar;
mod llm;
mod noise;
mod prompt;
mod rank;
mod template;
mod tokenizer;

pub use self::chat_judge::SmolLm2Judge;
pub use self::extractive::Extractive;
pub use self::llm::LanguageModel;
pub use self::noise::{Size, noise};
pub use self::tokenizer::Tokenizer;
pub use super::net::gguf::{Gguf, GgufError};
pub use super::net::llama::{Family, Llama, Memory, Shape, State};

/// A language model in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The GGUF file.
    pub path: PathBuf,
}

//! Vision-language networks: pictures and token ids in, logits out. No files but through a `VarBuilder`, no text.
//!
//! One decoder ([`decoder`]) serves every family; a family brings its own eyes ([`qwen3`], [`siglip`]) and its own way to
//! count positions. BLIP is candle's ([`blip`]). `models::vlm::parity` holds the numbers
//! to those of transformers, at all positions, in f32 and bf16.
//!
//! # Decisions
//! - 2026-11-30: our own networks. candle's Qwen3-VL (0.11.1) attends forwards in time, counts positions in one
//!   dimension, cannot forget what it saw, and reserves memory for the longest context; it has no SmolVLM.

mod cache;
mod decoder;
mod mask;
mod positions;
pub(in crate::models) mod qwen3;
mod rope;
pub(in crate::models) mod siglip;
mod tower;

pub(in crate::models) use cache::Cache;
pub(in crate::models) use decoder::{Decoder, Keep, Row, Shape};
#[cfg(test)]
pub(in crate::models) use positions::one_dimensional;
pub(in crate::models) use positions::{Grid, Position, with_images};
#[cfg(test)]
pub(in crate::models) use tower::Gelu;

/// What the eyes made of the pictures of one call, laid end to end: one row a token.
#[derive(Debug, Clone)]
pub(in crate::models) struct Features {
    /// `[tokens, width]`, put in the place of the image tokens.
    pub(in crate::models) embeddings: candle_core::Tensor,
    /// The same shape each; the n-th is added to the image tokens behind the decoder's n-th layer.
    pub(in crate::models) deep: Vec<candle_core::Tensor>,
}

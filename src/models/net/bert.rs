//! BERT (Devlin et al. 2019) as sentence-transformers publishes MiniLM: names without a prefix, no pooler used.

use candle_core::{Result, Tensor};

use super::Packed;
use super::encoder::{InputNorm, Layer, Shape};
use crate::models::weights::Weights;

/// all-MiniLM-L6-v2 (its config.json).
const SHAPE: Shape =
    Shape { width: 384, inner: 1536, epsilon: 1e-12, projections: ["query", "key", "value"], slim: true };
const LAYERS: usize = 6;
const HEAD: usize = 32;
const WORDS: usize = 30522;
const POSITIONS: usize = 512;
const SEGMENTS: usize = 2;

/// The encoder with its lookups.
pub(crate) struct Bert {
    words: Tensor,
    /// Position vectors plus the vector of the first segment: a single sentence has no other.
    positions: Tensor,
    norm: InputNorm,
    layers: Vec<Layer<HEAD>>,
}

impl Bert {
    /// Reads the network.
    pub(crate) fn load(weights: &Weights) -> Result<Self> {
        let positions = weights.get("embeddings.position_embeddings.weight", [POSITIONS, SHAPE.width])?;
        let segments = weights.get("embeddings.token_type_embeddings.weight", [SEGMENTS, SHAPE.width])?;
        let layer = |i| Layer::load(weights, &format!("encoder.layer.{i}"), &SHAPE, |_, _| Ok(None));
        Ok(Self {
            words: weights.get("embeddings.word_embeddings.weight", [WORDS, SHAPE.width])?,
            positions: positions.broadcast_add(&segments.narrow(0, 0, 1)?)?,
            norm: InputNorm::load(weights, "embeddings.LayerNorm", &SHAPE)?,
            layers: (0..LAYERS).map(layer).collect::<Result<_>>()?,
        })
    }

    /// Vectors of all tokens, `[tokens, 384]`.
    pub(crate) fn forward(&self, packed: &Packed) -> Result<Tensor> {
        let mut x = self.words.index_select(&packed.ids()?, 0)?;
        self.norm.apply(&x, &self.positions.index_select(&packed.positions()?, 0)?)?;
        for layer in &self.layers {
            x = layer.forward(&x, packed.lengths())?;
        }
        Ok(x)
    }
}

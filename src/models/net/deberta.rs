//! DeBERTa-v3 (He et al. 2021) for classification, extra small: relative positions in every layer, no absolute ones.

use candle_core::{DType, Result, Tensor};

use super::Packed;
use super::attention::Relative;
use super::encoder::{InputNorm, Layer, Linear, Shape};
use crate::models::weights::Weights;

/// microsoft/deberta-v3-xsmall (its config.json).
const SHAPE: Shape = Shape {
    width: 384,
    inner: 1536,
    epsilon: 1e-7,
    projections: ["query_proj", "key_proj", "value_proj"],
    slim: false,
};
const LAYERS: usize = 12;
const HEAD: usize = 64;
/// Distances up to half of this have a vector each; larger ones share, in steps that grow with the logarithm.
const BUCKETS: usize = 256;
/// Distance at which the logarithm ends.
const FURTHEST: usize = 512;
const CLASSES: usize = 2;

/// Longest sequence, the length the judge was trained on.
pub(crate) const LONGEST: usize = 160;

/// The network with its head.
pub(crate) struct Deberta {
    words: Words,
    norm: InputNorm,
    layers: Vec<Layer<HEAD>>,
    pooler: Linear,
    classifier: Linear,
}

/// What the network says about a batch.
pub(crate) struct Reading {
    /// `[sequences, 384]`: what the classifier sees.
    pub(crate) features: Tensor,
    /// `[sequences, 2]`.
    pub(crate) logits: Tensor,
}

impl Deberta {
    /// Reads the network.
    pub(crate) fn load(weights: &Weights) -> Result<Self> {
        let positions = positions(weights)?;
        let layer = |i| {
            let name = format!("deberta.encoder.layer.{i}");
            Layer::load(weights, &name, &SHAPE, |query, key| {
                let (keys, queries) = (key.forward(&positions)?, query.forward(&positions)?);
                Relative::new(&keys, &queries, LONGEST, position).map(Some)
            })
        };
        Ok(Self {
            words: Words::load(weights)?,
            norm: InputNorm::load(weights, "deberta.embeddings.LayerNorm", &SHAPE)?,
            layers: (0..LAYERS).map(layer).collect::<Result<_>>()?,
            pooler: Linear::load(weights, "pooler.dense", SHAPE.width, SHAPE.width)?,
            classifier: Linear::load(weights, "classifier", SHAPE.width, CLASSES)?,
        })
    }

    /// Reads every sequence of the batch; none may be longer than [`LONGEST`].
    pub(crate) fn forward(&self, packed: &Packed) -> Result<Reading> {
        let mut x = self.words.vectors(packed)?;
        self.norm.apply(&x, &x.zeros_like()?)?;
        for layer in &self.layers {
            x = layer.forward(&x, packed.lengths())?;
        }
        let features = self.pooler.forward_gelu(&packed.firsts(&x)?)?;
        let logits = self.classifier.forward(&features)?;
        Ok(Reading { features, logits })
    }
}

/// The vectors of the relative positions, `[2 * BUCKETS, width]`, normalised once for all layers.
fn positions(weights: &Weights) -> Result<Tensor> {
    let vectors = weights.get("deberta.encoder.rel_embeddings.weight", [2 * BUCKETS, SHAPE.width])?.copy()?;
    InputNorm::load(weights, "deberta.encoder.LayerNorm", &SHAPE)?.apply(&vectors, &vectors.zeros_like()?)?;
    Ok(vectors)
}

/// Row of the vector for a distance (query index minus key index): `make_log_bucket_position` of the original.
fn position(distance: isize) -> usize {
    const EXACT: usize = BUCKETS / 2;
    let magnitude = distance.unsigned_abs();
    let bucket = if magnitude <= EXACT {
        magnitude
    } else {
        let steps = (EXACT - 1) as f32;
        let growth = (magnitude as f32 / EXACT as f32).ln() / ((FURTHEST - 1) as f32 / EXACT as f32).ln();
        (growth * steps).ceil() as usize + EXACT
    };
    (BUCKETS as isize + distance.signum() * bucket as isize).clamp(0, 2 * BUCKETS as isize - 1) as usize
}

/// The table of word vectors, in f32 or in u8 with one scale and zero point.
struct Words {
    table: Tensor,
    quantised: Option<(f64, f64)>,
}

impl Words {
    fn load(weights: &Weights) -> Result<Self> {
        const NAME: &str = "deberta.embeddings.word_embeddings.weight";
        let table = weights.any(NAME)?.clone();
        if table.dims2()?.1 != SHAPE.width {
            candle_core::bail!("tensor {NAME} is {:?}: not {} wide", table.shape(), SHAPE.width);
        }
        let scalar = |part: &str| weights.get(&format!("{NAME}.{part}"), [])?.to_scalar::<f32>().map(f64::from);
        let quantised = match table.dtype() {
            DType::U8 => Some((scalar("scale")?, scalar("zero_point")?)),
            DType::F32 => None,
            other => candle_core::bail!("tensor {NAME} holds {other:?} instead of f32 or u8"),
        };
        Ok(Self { table, quantised })
    }

    /// `[tokens, width]`.
    fn vectors(&self, packed: &Packed) -> Result<Tensor> {
        let rows = self.table.index_select(&packed.ids()?, 0)?;
        match self.quantised {
            None => Ok(rows),
            // Two steps: the difference of two small integers is exact, so there is one rounding, as in the original.
            Some((scale, zero)) => rows.to_dtype(DType::F32)?.affine(1.0, -zero)?.affine(scale, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_share_vectors_only_far_away() {
        // From transformers' make_log_bucket_position(distance, 256, 512) + 256.
        for (distance, row) in [(0, 256), (1, 257), (-1, 255), (127, 383), (128, 384), (-128, 128), (129, 385)] {
            assert_eq!(position(distance), row, "{distance}");
        }
        let far: Vec<usize> = (130..160).map(position).collect();
        assert!(far.is_sorted() && far.windows(2).any(|pair| pair[0] == pair[1]), "{far:?}");
        assert_eq!(position(511), 511);
        assert_eq!(position(-100_000), 0);
    }
}

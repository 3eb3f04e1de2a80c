//! DeBERTa v2 and v3 (He et al. 2021) for classification, in every size that a [`Design`] can describe.
//!
//! One path for all: what is computed depends on the design and the weights alone. Must not know what the classes mean.

mod design;
mod position;

use candle_core::{DType, Result, Tensor};

pub(crate) use self::design::{Design, DesignError};
use self::design::{RelativeDesign, Terms};
use super::Packed;
use super::attention::Relative;
use super::encoder::{InputNorm, Layer, Linear, Shape};
use crate::models::weights::Weights;

/// Names of the matrices in the file.
const PROJECTIONS: [&str; 3] = ["query_proj", "key_proj", "value_proj"];

/// The network with its head.
pub(crate) struct Deberta {
    words: Words,
    absolute: Option<Tensor>,
    types: Option<Tensor>,
    norm: InputNorm,
    layers: Box<dyn Stack>,
    pooler: Linear,
    classifier: Linear,
}

/// What the network says about a batch.
pub(crate) struct Reading {
    /// `[sequences, width]`: what the classifier sees.
    pub(crate) features: Tensor,
    /// `[sequences, classes]`.
    pub(crate) logits: Tensor,
}

impl Deberta {
    /// Reads the network, whose classifier has so many `classes`.
    pub(crate) fn load(weights: &Weights, design: &Design, classes: usize) -> Result<Self> {
        let (width, epsilon) = (design.width, design.epsilon);
        let shape = Shape { width, inner: design.inner, epsilon, projections: PROJECTIONS, slim: false };
        let table = |part: &str, rows| weights.get(&format!("deberta.embeddings.{part}.weight"), [rows, width]);
        let layers = match design.head {
            16 => stack::<16>(weights, design, &shape),
            32 => stack::<32>(weights, design, &shape),
            64 => stack::<64>(weights, design, &shape),
            128 => stack::<128>(weights, design, &shape),
            other => candle_core::bail!("heads of {other} are not among {:?}", design::HEADS),
        };
        Ok(Self {
            words: Words::load(weights, design)?,
            absolute: design.absolute.map(|rows| table("position_embeddings", rows)).transpose()?,
            types: (design.types > 0).then(|| table("token_type_embeddings", design.types)).transpose()?,
            norm: InputNorm::load(weights, "deberta.embeddings.LayerNorm", &shape)?,
            layers: layers?,
            pooler: Linear::load(weights, "pooler.dense", width, width)?,
            classifier: Linear::load(weights, "classifier", width, classes)?,
        })
    }

    /// Reads every sequence of the batch; none may be longer than the design's reach.
    pub(crate) fn forward(&self, packed: &Packed) -> Result<Reading> {
        let x = self.words.vectors(packed)?;
        let mut beside = x.zeros_like()?;
        if let Some(table) = &self.absolute {
            beside = (beside + table.index_select(&packed.positions()?, 0)?)?;
        }
        if let Some(table) = &self.types {
            beside = (beside + table.index_select(&packed.types()?, 0)?)?;
        }
        self.norm.apply(&x, &beside)?;
        let x = self.layers.forward(x, packed.lengths())?;
        let features = self.pooler.forward_gelu(&packed.firsts(&x)?)?;
        let logits = self.classifier.forward(&features)?;
        Ok(Reading { features, logits })
    }
}

/// Layers one after the other, whatever the width of their heads.
trait Stack: Send + Sync {
    fn forward(&self, x: Tensor, lengths: &[usize]) -> Result<Tensor>;
}

impl<const D: usize> Stack for Vec<Layer<D>> {
    fn forward(&self, x: Tensor, lengths: &[usize]) -> Result<Tensor> {
        self.iter().try_fold(x, |x, layer| layer.forward(&x, lengths))
    }
}

fn stack<const D: usize>(weights: &Weights, design: &Design, shape: &Shape) -> Result<Box<dyn Stack>> {
    let positions = design.relative.map(|relative| positions(weights, relative, shape)).transpose()?;
    let layer = |i| {
        let name = format!("deberta.encoder.layer.{i}");
        Layer::<D>::load(weights, &name, shape, |query, key| {
            let Some((relative, positions)) = design.relative.zip(positions.as_ref()) else { return Ok(None) };
            let (keys, queries) = projections(weights, &name, relative, positions, query, key)?;
            let row = |distance| relative.buckets.row(distance);
            Relative::new(keys.as_ref(), queries.as_ref(), design.reach, row).map(Some)
        })
    };
    Ok(Box::new((0..design.layers).map(layer).collect::<Result<Vec<_>>>()?))
}

/// The vectors of the relative positions, `[rows, width]`, prepared once for all layers.
fn positions(weights: &Weights, relative: RelativeDesign, shape: &Shape) -> Result<Tensor> {
    let rows = relative.buckets.rows();
    let vectors = weights.get("deberta.encoder.rel_embeddings.weight", [rows, shape.width])?.copy()?;
    if relative.normed {
        InputNorm::load(weights, "deberta.encoder.LayerNorm", shape)?.apply(&vectors, &vectors.zeros_like()?)?;
    }
    Ok(vectors)
}

/// Key and query projections of the position vectors in the layer `name`, as far as the design uses them.
fn projections(
    weights: &Weights,
    name: &str,
    relative: RelativeDesign,
    positions: &Tensor,
    query: &Linear,
    key: &Linear,
) -> Result<(Option<Tensor>, Option<Tensor>)> {
    let width = positions.dim(1)?;
    let project = |used: bool, shared: &Linear, own: &str| match (used, relative.shared) {
        (false, _) => Ok(None),
        (true, true) => shared.forward(positions).map(Some),
        (true, false) => {
            let own = Linear::load(weights, &format!("{name}.attention.self.{own}"), width, width)?;
            own.forward(positions).map(Some)
        }
    };
    let keys = project(relative.terms != Terms::PositionToContent, key, "pos_key_proj")?;
    let queries = project(relative.terms != Terms::ContentToPosition, query, "pos_query_proj")?;
    Ok((keys, queries))
}

/// The table of word vectors, in f32 or in u8 with one scale and zero point.
struct Words {
    table: Tensor,
    quantised: Option<(f64, f64)>,
}

impl Words {
    fn load(weights: &Weights, design: &Design) -> Result<Self> {
        const NAME: &str = "deberta.embeddings.word_embeddings.weight";
        let table = weights.any(NAME)?;
        if table.dtype() != DType::U8 {
            return Ok(Self { table: weights.get(NAME, [design.words, design.width])?, quantised: None });
        }
        if table.dims() != [design.words, design.width] {
            candle_core::bail!("tensor {NAME} is {:?}: not {} by {}", table.shape(), design.words, design.width);
        }
        let scalar = |part: &str| weights.get(&format!("{NAME}.{part}"), [])?.to_scalar::<f32>().map(f64::from);
        Ok(Self { table: table.clone(), quantised: Some((scalar("scale")?, scalar("zero_point")?)) })
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

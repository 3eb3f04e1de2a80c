//! The transformer encoder that BERT and DeBERTa share: attention, sum, norm, feed-forward, sum, norm.

use candle_core::{Result, Tensor};

use super::attention::{Relative, attend};
use super::ops::{add_bias, bias_gelu, residual_norm};
use super::slim::{self, Panels};
use crate::models::weights::Weights;

/// What differs between the two families.
pub(super) struct Shape {
    /// Width of a token.
    pub(super) width: usize,
    /// Width inside the feed-forward part.
    pub(super) inner: usize,
    /// Added to the variance in every norm.
    pub(super) epsilon: f32,
    /// Names of the query, key and value matrices in the file.
    pub(super) projections: [&'static str; 3],
    /// Whether single short texts are common enough for a second copy of the matrices; see [`slim`].
    pub(super) slim: bool,
}

/// A matrix with its bias.
pub(super) struct Linear {
    /// `[in, out]`: in this order a product with few rows needs no rearranged copy of the matrix.
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    pub(super) fn load(weights: &Weights, name: &str, width_in: usize, width_out: usize) -> Result<Self> {
        let weight = weights.get(&format!("{name}.weight"), [width_out, width_in])?.t()?.contiguous()?;
        Ok(Self { weight, bias: weights.get(&format!("{name}.bias"), [width_out])? })
    }

    /// `x · weight + bias`, `[rows, in]` to `[rows, out]`.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let out = x.matmul(&self.weight)?;
        add_bias(&out, &self.bias)?;
        Ok(out)
    }

    /// `gelu(x · weight + bias)`.
    pub(super) fn forward_gelu(&self, x: &Tensor) -> Result<Tensor> {
        let out = x.matmul(&self.weight)?;
        bias_gelu(&out, &self.bias)?;
        Ok(out)
    }
}

/// A matrix of a layer, multiplied in the way that is the fastest for the number of rows.
struct Matrix {
    whole: Tensor,
    panels: Option<Panels>,
}

impl Matrix {
    fn new(whole: Tensor, slim: bool) -> Result<Self> {
        let panels = if slim { Some(Panels::new(&whole)?) } else { None };
        Ok(Self { whole, panels })
    }

    /// `x · self`, `[rows, in]` to `[rows, out]`.
    fn product(&self, x: &Tensor) -> Result<Tensor> {
        match &self.panels {
            Some(panels) if x.dim(0)? <= slim::ROWS => panels.product(x),
            _ => x.matmul(&self.whole),
        }
    }
}

/// A norm over a sum, with the bias of the matrix before it.
struct Norm {
    params: Tensor,
    epsilon: f32,
}

impl Norm {
    fn load(weights: &Weights, name: &str, bias: &Tensor, epsilon: f32) -> Result<Self> {
        let width = bias.dim(0)?;
        let gain = weights.get(&format!("{name}.weight"), [width])?;
        let shift = weights.get(&format!("{name}.bias"), [width])?;
        Ok(Self { params: Tensor::stack(&[bias, &gain, &shift], 0)?, epsilon })
    }

    /// `norm(x + bias + residual)`, in the place of `x`.
    fn apply(&self, x: &Tensor, residual: &Tensor) -> Result<()> {
        residual_norm(x, residual, &self.params, self.epsilon)
    }
}

/// A norm over what a lookup gave.
pub(super) struct InputNorm(Norm);

impl InputNorm {
    pub(super) fn load(weights: &Weights, name: &str, shape: &Shape) -> Result<Self> {
        let none = Tensor::zeros(shape.width, candle_core::DType::F32, &candle_core::Device::Cpu)?;
        Norm::load(weights, name, &none, shape.epsilon).map(Self)
    }

    /// `norm(x + other)`, in the place of `x`.
    pub(super) fn apply(&self, x: &Tensor, other: &Tensor) -> Result<()> {
        self.0.apply(x, other)
    }
}

/// One layer with heads `D` wide.
pub(super) struct Layer<const D: usize> {
    qkv: Matrix,
    qkv_bias: Vec<f32>,
    relative: Option<Relative>,
    attended: Matrix,
    attended_norm: Norm,
    inner: Matrix,
    inner_bias: Tensor,
    outer: Matrix,
    outer_norm: Norm,
}

impl<const D: usize> Layer<D> {
    /// Reads the layer `name`; `relative` makes its relative positions from its query and key matrices.
    pub(super) fn load(
        weights: &Weights,
        name: &str,
        shape: &Shape,
        relative: impl FnOnce(&Linear, &Linear) -> Result<Option<Relative>>,
    ) -> Result<Self> {
        let Shape { width, inner, epsilon, projections, slim } = *shape;
        let load = |part: &str, a, b| Linear::load(weights, &format!("{name}.{part}"), a, b);
        let [query, key, value] =
            projections.map(|projection| load(&format!("attention.self.{projection}"), width, width));
        let (query, key, value) = (query?, key?, value?);
        let attended = load("attention.output.dense", width, width)?;
        let (widened, outer) = (load("intermediate.dense", width, inner)?, load("output.dense", inner, width)?);
        let norm = |part: &str, bias| Norm::load(weights, &format!("{name}.{part}.LayerNorm"), bias, epsilon);
        Ok(Self {
            relative: relative(&query, &key)?,
            qkv: Matrix::new(Tensor::cat(&[&query.weight, &key.weight, &value.weight], 1)?, slim)?,
            qkv_bias: Tensor::cat(&[&query.bias, &key.bias, &value.bias], 0)?.to_vec1()?,
            attended_norm: norm("attention.output", &attended.bias)?,
            attended: Matrix::new(attended.weight, slim)?,
            inner: Matrix::new(widened.weight, slim)?,
            inner_bias: widened.bias,
            outer_norm: norm("output", &outer.bias)?,
            outer: Matrix::new(outer.weight, slim)?,
        })
    }

    /// `[tokens, width]` to `[tokens, width]`, sequence by sequence.
    pub(super) fn forward(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let qkv = self.qkv.product(x)?;
        let context = attend::<D>(&qkv, &self.qkv_bias, lengths, self.relative.as_ref())?;
        let attended = self.attended.product(&context)?;
        self.attended_norm.apply(&attended, x)?;
        let inner = self.inner.product(&attended)?;
        bias_gelu(&inner, &self.inner_bias)?;
        let out = self.outer.product(&inner)?;
        self.outer_norm.apply(&out, &attended)?;
        Ok(out)
    }
}

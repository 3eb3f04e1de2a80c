//! The weights of one layer, and of what stands before and after all of them.

use wide::f32x16;

use super::matrix::{Matrix, lanes};
use super::shape::{Family, Shape};
use crate::models::net::gguf::{Form, Gguf, GgufError};

/// One layer.
pub(super) struct Block {
    pub(super) attention_norm: Vec<f32x16>,
    /// Queries, keys and values below each other.
    pub(super) qkv: Matrix,
    pub(super) qkv_bias: Option<Vec<f32x16>>,
    /// For each head of queries, and of keys.
    pub(super) head_norms: Option<[Vec<f32x16>; 2]>,
    pub(super) output: Matrix,
    /// Behind attention, before the sum.
    pub(super) attended_norm: Option<Vec<f32x16>>,
    pub(super) mlp_norm: Vec<f32x16>,
    /// Gate above up.
    pub(super) gate_up: Matrix,
    pub(super) down: Matrix,
    /// Behind the feed-forward part, before the sum.
    pub(super) fed_norm: Option<Vec<f32x16>>,
}

impl Block {
    pub(super) fn load(gguf: &Gguf<'_>, layer: usize, shape: &Shape) -> Result<Self, GgufError> {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        let norm = |part: &str, len| vector(gguf, &name(part), len);
        let (width, query, kv, hidden) = (shape.width, shape.query_width(), shape.kv_width(), shape.hidden);
        let [q, k, v, gate, up] = ["attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"].map(name);
        let head_norms = || Ok([norm("attn_q_norm", shape.head)?, norm("attn_k_norm", shape.head)?]);
        let is = |families: &[Family]| families.contains(&shape.family);
        let behind = |part| is(&[Family::Gemma3]).then(|| norm(part, width)).transpose();
        Ok(Self {
            attention_norm: norm("attn_norm", width)?,
            qkv: Matrix::load(gguf, &[(&q, query), (&k, kv), (&v, kv)], width)?,
            qkv_bias: is(&[Family::Qwen2]).then(|| biases(gguf, layer, shape)).transpose()?,
            head_norms: is(&[Family::Qwen3, Family::Gemma3]).then(head_norms).transpose()?,
            output: Matrix::load(gguf, &[(&name("attn_output"), width)], query)?,
            attended_norm: behind("post_attention_norm")?,
            mlp_norm: norm("ffn_norm", width)?,
            gate_up: Matrix::load(gguf, &[(&gate, hidden), (&up, hidden)], width)?,
            down: Matrix::load(gguf, &[(&name("ffn_down"), width)], hidden)?,
            fed_norm: behind("post_ffw_norm")?,
        })
    }
}

fn biases(gguf: &Gguf<'_>, layer: usize, shape: &Shape) -> Result<Vec<f32x16>, GgufError> {
    let (query, kv) = (shape.query_width(), shape.kv_width());
    let parts = [("attn_q", query), ("attn_k", kv), ("attn_v", kv)];
    let read = parts.map(|(part, len)| vector(gguf, &format!("blk.{layer}.{part}.bias"), len));
    let all: Result<Vec<_>, _> = read.into_iter().collect();
    Ok(all?.concat())
}

/// Factors that the angles of each pair are divided by, if the file has some.
pub(super) fn rope_factors(gguf: &Gguf<'_>, shape: &Shape) -> Result<Option<Vec<f32>>, GgufError> {
    let name = "rope_freqs.weight";
    if !gguf.has(name) {
        return Ok(None);
    }
    floats(gguf, name, shape.head / 2).map(Some)
}

/// The f32 vector `name` of `len` numbers, a multiple of the lane count.
pub(super) fn vector(gguf: &Gguf<'_>, name: &str, len: usize) -> Result<Vec<f32x16>, GgufError> {
    floats(gguf, name, len).map(|floats| lanes(&floats))
}

fn floats(gguf: &Gguf<'_>, name: &str, len: usize) -> Result<Vec<f32>, GgufError> {
    let raw = gguf.tensor(name, 1, len)?;
    if raw.form != Form::F32 {
        return Err(GgufError::Tensor { name: name.to_owned(), problem: "is not in form F32".to_owned() });
    }
    Ok(raw.bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

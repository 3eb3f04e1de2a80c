//! Rotary positions, the memory of keys and values, and causal attention over it.
//!
//! Several query heads share one key head (grouped queries). The pairs that rotate together are neighbours
//! (2i, 2i+1) in llama, whose rows llama.cpp's converter reorders, and the two halves of a head in all others.

use std::ops::Range;

use candle_core::{D, Device, Tensor};
use rayon::prelude::*;
use wide::f32x16;

use super::kernel::{self, LANES};
use super::matrix::lanes;
use super::normalise;
use super::shape::{Family, Shape};

/// From how many new positions on candle multiplies whole score matrices.
const MANY: usize = 24;

/// Cosine and sine of every position's angles.
pub(super) struct Rotary {
    /// `positions` × `head / 2` pairs.
    table: Vec<(f32, f32)>,
    half: usize,
    neighbours: bool,
}

impl Rotary {
    /// `rotation` is the base of the angles and what positions are divided by; `factors` divide the angles of each pair.
    pub(super) fn new(shape: &Shape, rotation: (f64, f64), factors: Option<&[f32]>) -> Self {
        let half = shape.head / 2;
        let (base, divisor) = rotation;
        let angle = |position: usize, pair: usize| {
            let factor = factors.map_or(1.0, |factors| f64::from(factors[pair]));
            position as f64 / divisor * base.powf(-2.0 * pair as f64 / shape.head as f64) / factor
        };
        let pairs = (0..shape.context).flat_map(|position| (0..half).map(move |pair| (position, pair)));
        let table = pairs.map(|(position, pair)| angle(position, pair)).map(|a| (a.cos() as f32, a.sin() as f32));
        Self { table: table.collect(), half, neighbours: shape.family == Family::Llama }
    }

    /// Turns one head of the vector at `position`.
    fn turn(&self, head: &mut [f32], position: usize) {
        let turns = &self.table[position * self.half..(position + 1) * self.half];
        if self.neighbours {
            for (pair, (cos, sin)) in head.as_chunks_mut::<2>().0.iter_mut().zip(turns) {
                let [a, b] = *pair;
                *pair = [a * cos - b * sin, a * sin + b * cos];
            }
        } else {
            let (first, second) = head.split_at_mut(self.half);
            for ((a, b), (cos, sin)) in first.iter_mut().zip(second).zip(turns) {
                (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
            }
        }
    }
}

/// How one layer looks at positions.
pub(super) struct View<'a> {
    pub(super) rotary: &'a Rotary,
    /// Positions that are seen, its own included; all if absent.
    pub(super) window: Option<usize>,
    /// Norms of each query head and of each key head, before they turn.
    pub(super) norms: Option<&'a [Vec<f32x16>; 2]>,
}

impl View<'_> {
    /// The first position that the one after `seen - 1` others sees.
    fn first(&self, seen: usize) -> usize {
        self.window.map_or(0, |window| seen.saturating_sub(window))
    }

    /// Normalises and turns the `heads` of one position, queries before keys.
    fn prepare(&self, heads: &mut [f32x16], position: usize, shape: &Shape) {
        for (at, head) in heads.chunks_exact_mut(shape.head / LANES).enumerate() {
            if let Some(norms) = self.norms {
                normalise(head, &norms[usize::from(at >= shape.heads)], shape.epsilon);
            }
            self.rotary.turn(bytemuck::cast_slice_mut::<f32x16, f32>(head), position);
        }
    }
}

/// Keys and values of one layer: position after position, each with all its heads.
#[derive(Default, Clone)]
pub(super) struct Layer {
    keys: Vec<f32x16>,
    values: Vec<f32x16>,
}

impl Layer {
    pub(super) fn truncate(&mut self, positions: usize, shape: &Shape) {
        let len = positions * shape.kv_width() / LANES;
        self.keys.truncate(len);
        self.values.truncate(len);
    }

    /// Takes `n` positions of queries, keys and values (in this order within a position), the first at `start`;
    /// returns `n` positions of attended values, head after head.
    pub(super) fn attend(
        &mut self,
        mut qkv: Vec<f32x16>,
        start: usize,
        view: &View<'_>,
        shape: &Shape,
    ) -> candle_core::Result<Vec<f32x16>> {
        let width = (shape.query_width() + 2 * shape.kv_width()) / LANES;
        let (query, kv) = (shape.query_width() / LANES, shape.kv_width() / LANES);
        qkv.par_chunks_mut(width).enumerate().for_each(|(at, position)| {
            view.prepare(&mut position[..query + kv], start + at, shape);
        });
        for position in qkv.chunks_exact(width) {
            self.keys.extend_from_slice(&position[query..query + kv]);
            self.values.extend_from_slice(&position[query + kv..]);
        }
        let n = qkv.len() / width;
        if n < MANY {
            Ok(self.attend_few(&qkv, start, view, shape))
        } else {
            self.attend_many(&qkv, start, view, shape)
        }
    }

    fn attend_few(&self, qkv: &[f32x16], start: usize, view: &View<'_>, shape: &Shape) -> Vec<f32x16> {
        let width = (shape.query_width() + 2 * shape.kv_width()) / LANES;
        let head = shape.head / LANES;
        let mut out = vec![f32x16::ZERO; qkv.len() / width * shape.query_width() / LANES];
        out.par_chunks_mut(head).enumerate().for_each(|(task, out)| {
            let (at, query) = (task / shape.heads, task % shape.heads);
            let query_vector = &qkv[at * width + query * head..][..head];
            let seen = start + at + 1;
            self.attend_one(query_vector, query / shape.group(), view.first(seen)..seen, shape, out);
        });
        out
    }

    /// One query over the positions `seen` of key head `kv_head`.
    fn attend_one(&self, query: &[f32x16], kv_head: usize, seen: Range<usize>, shape: &Shape, out: &mut [f32x16]) {
        let (head, stride) = (shape.head / LANES, shape.kv_width() / LANES);
        let of = |all: &'_ [f32x16], t: usize| {
            t * stride + kv_head * head..(t * stride + kv_head * head + head).min(all.len())
        };
        let mut scores: Vec<f32> =
            seen.clone().map(|t| kernel::dot(query, &self.keys[of(&self.keys, t)]) * shape.scale()).collect();
        softmax(&mut scores);
        for (t, weight) in seen.zip(&scores) {
            let weight = f32x16::splat(*weight);
            for (out, value) in out.iter_mut().zip(&self.values[of(&self.values, t)]) {
                *out = weight.mul_add(*value, *out);
            }
        }
    }

    fn attend_many(
        &self,
        qkv: &[f32x16],
        start: usize,
        view: &View<'_>,
        shape: &Shape,
    ) -> candle_core::Result<Vec<f32x16>> {
        let (head, groups, group) = (shape.head, shape.kv_heads, shape.group());
        let width = shape.query_width() + 2 * shape.kv_width();
        let n = qkv.len() * LANES / width;
        let seen = start + n;
        let qkv = Tensor::from_slice(bytemuck::cast_slice::<f32x16, f32>(qkv), (n, width), &Device::Cpu)?;
        // One key head at a time serves the rows of all its queries.
        let queries = qkv.narrow(1, 0, shape.query_width())?.reshape((n, groups, group, head))?;
        let queries = (queries.permute((1, 2, 0, 3))?.contiguous()? * f64::from(shape.scale()))?;
        let queries = queries.reshape((groups, group * n, head))?;
        let of = |all: &[f32x16]| {
            let all = Tensor::from_slice(bytemuck::cast_slice::<f32x16, f32>(all), (seen, groups, head), &Device::Cpu)?;
            all.transpose(0, 1)?.contiguous()
        };
        let scores = queries.matmul(&of(&self.keys)?.transpose(D::Minus1, D::Minus2)?)?;
        let mut scores = scores.flatten_all()?.to_vec1::<f32>()?;
        scores.par_chunks_mut(seen).enumerate().for_each(|(row, scores)| {
            let seen = start + row % n + 1;
            let (visible, later) = scores.split_at_mut(seen);
            let (earlier, visible) = visible.split_at_mut(view.first(seen));
            softmax(visible);
            earlier.fill(0.0);
            later.fill(0.0);
        });
        let scores = Tensor::from_vec(scores, (groups, group * n, seen), &Device::Cpu)?;
        let out = scores.matmul(&of(&self.values)?)?.reshape((groups, group, n, head))?;
        let out = out.permute((2, 0, 1, 3))?.contiguous()?.flatten_all()?.to_vec1::<f32>()?;
        Ok(lanes(&out))
    }
}

/// In place; leaves an empty slice alone.
fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (whole, rest) = scores.as_chunks_mut::<LANES>();
    let mut total = f32x16::ZERO;
    for chunk in whole {
        let weights = (f32x16::new(*chunk) - f32x16::splat(most)).exp();
        total += weights;
        *chunk = weights.to_array();
    }
    let mut total = total.reduce_add();
    for score in rest {
        *score = (*score - most).exp();
        total += *score;
    }
    let scale = total.recip();
    for score in scores {
        *score *= scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_sums_to_one_and_keeps_order() {
        for len in [1, 15, 16, 40] {
            let mut scores: Vec<f32> = (0..len).map(|i| i as f32 * 0.3 - 80.0).collect();
            softmax(&mut scores);
            assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{len}");
            assert!(scores.is_sorted());
        }
        softmax(&mut []);
    }
}

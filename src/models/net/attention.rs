//! Self-attention of sequences laid end to end, with DeBERTa's relative positions or without.
//!
//! A relative position needs the sum over the head of three products, for query i and key j:
//! `q_i · k_j + q_i · key_of(i - j) + k_j · query_of(i - j)` (He et al. 2021, DeBERTa, eq. 4). What belongs to `i - j`
//! does not depend on the input, so [`Relative`] keeps it for every distance, transposed and in the order of `j`: the
//! three products become one loop over adjacent memory, without gathers.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::math::exp_negative;
use super::ops::floats;

/// Keys that are scored at once.
const LANES: usize = 16;

/// Projections of the relative positions of one layer. Row `(head, d)` holds component `d` at the distances
/// `reach - 1, reach - 2, …, 1 - reach` between query and key, then `LANES` zeros so that a block may reach past the end.
///
/// A network that uses only one of the two terms has zeros for the other.
pub(super) struct Relative {
    key_of: Vec<f32>,
    query_of: Vec<f32>,
    reach: usize,
    /// Products in a score.
    terms: usize,
}

impl Relative {
    /// From the projections of all position vectors through the key and the query matrix, both `[positions, width]`, at
    /// least one of them given; `position(distance)` is the row for query index minus key index. Sequences may be up to
    /// `reach` long.
    pub(super) fn new(
        keys: Option<&Tensor>,
        queries: Option<&Tensor>,
        reach: usize,
        position: impl Fn(isize) -> usize,
    ) -> Result<Self> {
        let Some(width) = keys.or(queries).map(|projection| projection.dim(1)).transpose()? else {
            candle_core::bail!("relative positions without a projection");
        };
        let spread = |projection: Option<&Tensor>| -> Result<Vec<f32>> {
            let Some(projection) = projection else { return Ok(vec![0.0; width * (2 * reach - 1 + LANES)]) };
            let rows = projection.to_vec2::<f32>()?;
            let line = |component: usize| {
                let distances = (0..2 * reach - 1).map(|column| reach as isize - 1 - column as isize);
                let values = distances.map(|distance| rows[position(distance)][component]);
                values.chain(std::iter::repeat_n(0.0, LANES)).collect::<Vec<_>>()
            };
            Ok((0..width).flat_map(line).collect())
        };
        let terms = 1 + usize::from(keys.is_some()) + usize::from(queries.is_some());
        Ok(Self { key_of: spread(keys)?, query_of: spread(queries)?, reach, terms })
    }

    /// Columns of a row.
    fn stride(&self) -> usize {
        2 * self.reach - 1 + LANES
    }
}

/// Attends within each sequence: `qkv` `[tokens, 3 * width]` without its bias `[3 * width]` becomes `[tokens, width]`.
/// `D` is the width of a head.
pub(super) fn attend<const D: usize>(
    qkv: &Tensor,
    bias: &[f32],
    lengths: &[usize],
    relative: Option<&Relative>,
) -> Result<Tensor> {
    let longest = lengths.iter().max().copied().unwrap_or(0);
    if let Some(relative) = relative.filter(|relative| longest > relative.reach) {
        candle_core::bail!(
            "a sequence of {longest} tokens is longer than the {} that this model reads",
            relative.reach
        );
    }
    qkv.apply_op1_no_bwd(&Attend::<D> { bias, lengths, relative })
}

struct Attend<'a, const D: usize> {
    bias: &'a [f32],
    lengths: &'a [usize],
    relative: Option<&'a Relative>,
}

impl<const D: usize> CustomOp1 for Attend<'_, D> {
    fn name(&self) -> &'static str {
        "attend"
    }

    fn cpu_fwd(&self, qkv: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let qkv = floats(qkv, layout)?;
        let width = self.bias.len() / 3;
        let mut out = vec![0.0; qkv.len() / 3];
        let (mut rest_in, mut rest_out, mut sequences) = (qkv, out.as_mut_slice(), Vec::new());
        for length in self.lengths {
            let (rows, after) = rest_in.split_at(length * 3 * width);
            let (target, after_out) = std::mem::take(&mut rest_out).split_at_mut(length * width);
            sequences.push((rows, target));
            (rest_in, rest_out) = (after, after_out);
        }
        sequences.into_par_iter().for_each(|(rows, target)| self.sequence(rows, target));
        Ok((CpuStorage::F32(out), (layout.dims()[0], width).into()))
    }
}

impl<const D: usize> Attend<'_, D> {
    /// All heads of one sequence: `rows` `[length, 3 * width]`, `target` `[length, width]`.
    fn sequence(&self, rows: &[f32], target: &mut [f32]) {
        let width = self.bias.len() / 3;
        let length = target.len() / width;
        let padded = length.next_multiple_of(LANES);
        let mut keys = vec![0.0; D * padded];
        let mut weights = vec![0.0; padded];
        for head in 0..width / D {
            self.transpose_keys(rows, head, padded, &mut keys);
            for i in 0..length {
                let query = self.biased(rows, i, head * D);
                self.score(&query, &keys, head, i, &mut weights);
                softmax(&mut weights[..length], ((self.terms() * D) as f32).sqrt().recip());
                let context = mix::<D>(&weights[..length], rows, 3 * width, 2 * width + head * D);
                let bias = &self.bias[2 * width + head * D..][..D];
                let out = &mut target[i * width + head * D..][..D];
                for ((out, context), bias) in out.iter_mut().zip(context).zip(bias) {
                    *out = context + bias;
                }
            }
        }
    }

    /// Products in a score; their sum is scaled down by the root of their number times `D`.
    fn terms(&self) -> usize {
        self.relative.map_or(1, |relative| relative.terms)
    }

    /// `D` components of row `i` from `column`, with their bias.
    fn biased(&self, rows: &[f32], i: usize, column: usize) -> [f32; D] {
        let row = &rows[i * self.bias.len() + column..][..D];
        let bias = &self.bias[column..][..D];
        std::array::from_fn(|d| row[d] + bias[d])
    }

    /// The keys of one head as `[D, padded]`; columns past the end are never read by the softmax.
    fn transpose_keys(&self, rows: &[f32], head: usize, padded: usize, keys: &mut [f32]) {
        let width = self.bias.len() / 3;
        for j in 0..rows.len() / (3 * width) {
            for (d, component) in self.biased(rows, j, width + head * D).into_iter().enumerate() {
                keys[d * padded + j] = component;
            }
        }
    }

    /// Unscaled scores of query `i` against every key.
    fn score(&self, query: &[f32; D], keys: &[f32], head: usize, i: usize, scores: &mut [f32]) {
        let padded = scores.len();
        let (blocks, _) = scores.as_chunks_mut::<LANES>();
        for (block, scores) in blocks.iter_mut().enumerate() {
            let keys = &keys[block * LANES..];
            *scores = match self.relative {
                None => content(query, keys, padded),
                Some(relative) => {
                    let stride = relative.stride();
                    // Column of distance i - j for the first j of the block.
                    let start = head * D * stride + relative.reach - 1 - i + block * LANES;
                    disentangled(query, keys, padded, &relative.key_of[start..], &relative.query_of[start..], stride)
                }
            };
        }
    }
}

/// The first sixteen of `values`.
fn lanes(values: &[f32]) -> &[f32; LANES] {
    values.first_chunk().expect("buffers are padded to whole blocks")
}

/// `q · k_j` for sixteen j. Two sums, because one chain of dependent additions would wait for itself.
fn content<const D: usize>(query: &[f32; D], keys: &[f32], stride: usize) -> [f32; LANES] {
    let mut sums = [[0.0_f32; LANES]; 2];
    for (d, q) in query.iter().enumerate() {
        let key = lanes(&keys[d * stride..]);
        let sum = &mut sums[d % 2];
        for lane in 0..LANES {
            sum[lane] = q.mul_add(key[lane], sum[lane]);
        }
    }
    std::array::from_fn(|lane| sums[0][lane] + sums[1][lane])
}

/// `q · (k_j + key_of(i - j)) + k_j · query_of(i - j)` for sixteen j.
fn disentangled<const D: usize>(
    query: &[f32; D],
    keys: &[f32],
    stride: usize,
    key_of: &[f32],
    query_of: &[f32],
    relative_stride: usize,
) -> [f32; LANES] {
    let mut from_query = [0.0_f32; LANES];
    let mut from_key = [0.0_f32; LANES];
    for (d, q) in query.iter().enumerate() {
        let key = lanes(&keys[d * stride..]);
        let key_of = lanes(&key_of[d * relative_stride..]);
        let query_of = lanes(&query_of[d * relative_stride..]);
        for lane in 0..LANES {
            from_query[lane] = q.mul_add(key[lane] + key_of[lane], from_query[lane]);
            from_key[lane] = key[lane].mul_add(query_of[lane], from_key[lane]);
        }
    }
    std::array::from_fn(|lane| from_query[lane] + from_key[lane])
}

/// Scores to weights that sum to 1.
fn softmax(scores: &mut [f32], scale: f32) {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = exp_negative((*score - highest) * scale);
    }
    for score in scores.iter() {
        sum += score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
}

/// The weighted sum of the `D` columns from `column` over all rows.
fn mix<const D: usize>(weights: &[f32], rows: &[f32], stride: usize, column: usize) -> [f32; D] {
    let mut sum = [0.0_f32; D];
    for (j, weight) in weights.iter().enumerate() {
        let value: &[f32; D] = rows[j * stride + column..].first_chunk().expect("a row holds its columns");
        for d in 0..D {
            sum[d] = weight.mul_add(value[d], sum[d]);
        }
    }
    sum
}

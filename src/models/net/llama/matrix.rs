//! A weight matrix in the form of its file, and its product with one, few or many positions.
//!
//! One position: the fused dot products of [`super::kernel`], bound by memory. A few: each row is expanded once and
//! used for all. Many: the whole matrix is expanded into a scratch that lives for one product, and candle multiplies.

use candle_core::{Device, Tensor};
use rayon::prelude::*;
use wide::f32x16;

use super::kernel::{self, LANES};
use super::part::Part;
use crate::models::net::gguf::{Gguf, GgufError};

/// From how many positions on the matrix is expanded as a whole.
const MANY: usize = 24;
/// Rows that one thread takes at a time.
const ROWS_PER_TASK: usize = 96;

/// `rows` × `cols` weights; neighbours of one form are one part.
pub(super) struct Matrix {
    rows: usize,
    cols: usize,
    parts: Vec<Part>,
}

impl Matrix {
    /// The named tensors below each other; all must have `cols` columns.
    pub(super) fn load(gguf: &Gguf<'_>, names: &[(&str, usize)], cols: usize) -> Result<Self, GgufError> {
        let mut parts: Vec<Part> = Vec::new();
        for (name, rows) in names {
            let part = Part::read(&gguf.tensor(name, *rows, cols)?, name)?;
            let left = match parts.last_mut() {
                Some(last) => last.append(part),
                None => Some(part),
            };
            parts.extend(left);
        }
        if parts.is_empty() {
            let problem = "was asked for without a name".to_owned();
            return Err(GgufError::Tensor { name: "(none)".to_owned(), problem });
        }
        Ok(Self { rows: parts.iter().map(|part| part.rows).sum(), cols, parts })
    }

    /// The part that holds the row, and which of its rows that is.
    fn part(&self, mut row: usize) -> (&Part, usize) {
        let (last, others) = self.parts.split_last().expect("a matrix has a tensor");
        for part in others {
            if row < part.rows {
                return (part, row);
            }
            row -= part.rows;
        }
        (last, row)
    }

    /// Row `row` as floats into `to`, which holds `cols` numbers.
    pub(super) fn expand(&self, row: usize, to: &mut [f32x16]) {
        let (part, row) = self.part(row);
        part.expand(row, to);
    }

    fn dot(&self, row: usize, x: &[f32x16], sums: &[f32x16]) -> f32 {
        let (part, row) = self.part(row);
        part.dot(row, x, sums)
    }

    /// The products of the chosen rows with one position `x`, in the order of `rows`.
    pub(super) fn pick(&self, rows: &[u32], x: &[f32x16]) -> Vec<f32> {
        let sums = kernel::sums(x);
        rows.par_iter().with_min_len(ROWS_PER_TASK).map(|row| self.dot(*row as usize, x, &sums)).collect()
    }

    /// `x` holds `n` positions of `cols` numbers; the result `n` positions of `rows` numbers.
    pub(super) fn apply(&self, x: &[f32x16], n: usize) -> candle_core::Result<Vec<f32x16>> {
        match n {
            1 => Ok(self.apply_one(x)),
            2..MANY => Ok(self.apply_few(x, n)),
            _ => self.apply_many(x, n),
        }
    }

    fn apply_one(&self, x: &[f32x16]) -> Vec<f32x16> {
        let sums = kernel::sums(x);
        let mut out = vec![f32x16::ZERO; self.rows / LANES];
        out.par_chunks_mut(ROWS_PER_TASK / LANES).enumerate().for_each(|(task, out)| {
            for (row, out) in bytemuck::cast_slice_mut::<f32x16, f32>(out).iter_mut().enumerate() {
                *out = self.dot(task * ROWS_PER_TASK + row, x, &sums);
            }
        });
        out
    }

    fn apply_few(&self, x: &[f32x16], n: usize) -> Vec<f32x16> {
        let positions: Vec<&[f32x16]> = x.chunks_exact(self.cols / LANES).collect();
        let mut by_row = vec![0f32; self.rows * n];
        by_row.par_chunks_mut(ROWS_PER_TASK * n).enumerate().for_each(|(task, out)| {
            let mut row = vec![f32x16::ZERO; self.cols / LANES];
            for (at, out) in out.chunks_exact_mut(n).enumerate() {
                self.expand(task * ROWS_PER_TASK + at, &mut row);
                dots_with_all(&row, &positions, out);
            }
        });
        let mut out = vec![f32x16::ZERO; self.rows / LANES * n];
        for (position, out) in bytemuck::cast_slice_mut::<f32x16, f32>(&mut out).chunks_exact_mut(self.rows).enumerate()
        {
            for (out, row) in out.iter_mut().zip(by_row.chunks_exact(n)) {
                *out = row[position];
            }
        }
        out
    }

    fn apply_many(&self, x: &[f32x16], n: usize) -> candle_core::Result<Vec<f32x16>> {
        let mut expanded = vec![0f32; self.rows * self.cols];
        expanded.par_chunks_mut(ROWS_PER_TASK * self.cols).enumerate().for_each(|(task, rows)| {
            let mut row = vec![f32x16::ZERO; self.cols / LANES];
            for (at, to) in rows.chunks_exact_mut(self.cols).enumerate() {
                self.expand(task * ROWS_PER_TASK + at, &mut row);
                to.copy_from_slice(bytemuck::cast_slice(&row));
            }
        });
        let weights = Tensor::from_vec(expanded, (self.rows, self.cols), &Device::Cpu)?;
        let x = Tensor::from_slice(bytemuck::cast_slice::<f32x16, f32>(x), (n, self.cols), &Device::Cpu)?;
        let out = x.matmul(&weights.t()?)?.flatten_all()?.to_vec1::<f32>()?;
        Ok(lanes(&out))
    }
}

/// Copies floats, a multiple of the lane count, into registers.
pub(super) fn lanes(floats: &[f32]) -> Vec<f32x16> {
    floats.as_chunks::<LANES>().0.iter().map(|chunk| f32x16::new(*chunk)).collect()
}

fn dots_with_all(row: &[f32x16], positions: &[&[f32x16]], out: &mut [f32]) {
    let (fours, rest) = positions.as_chunks::<4>();
    let (out_fours, out_rest) = out.as_chunks_mut::<4>();
    for (out, xs) in out_fours.iter_mut().zip(fours) {
        *out = kernel::dots(row, *xs);
    }
    for (out, x) in out_rest.iter_mut().zip(rest) {
        *out = kernel::dot(row, x);
    }
}

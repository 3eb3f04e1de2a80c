//! A weight matrix in the form of its file, and its product with one, few or many positions.
//!
//! One position: the fused dot products of [`super::kernel`], bound by memory. A few: each row is expanded once and
//! used for all. Many: the whole matrix is expanded into a scratch that lives for one product, and candle multiplies.

use candle_core::{Device, Tensor};
use rayon::prelude::*;
use wide::f32x16;

use super::kernel::{self, Bytes, Halves, LANES, MAX_BLOCKS, Nibbles};
use crate::models::net::gguf::{Form, Gguf, GgufError, RawTensor};

/// From how many positions on the matrix is expanded as a whole.
const MANY: usize = 24;
/// Rows that one thread takes at a time.
const ROWS_PER_TASK: usize = 96;

enum Quants {
    /// Scales of a row: all scales, then all minima.
    Q4_1(Vec<Nibbles>),
    Q8_0(Vec<Bytes>),
}

/// `rows` × `cols` weights.
pub(super) struct Matrix {
    rows: usize,
    cols: usize,
    quants: Quants,
    /// Padded to whole registers for each row.
    scales: Vec<Halves>,
}

impl Matrix {
    /// The named tensors below each other; all must have `cols` columns and one form.
    pub(super) fn load(gguf: &Gguf<'_>, parts: &[(&str, usize)], cols: usize) -> Result<Self, GgufError> {
        let mut matrix: Option<Self> = None;
        for (name, rows) in parts {
            let part = Self::read(&gguf.tensor(name, *rows, cols)?, name)?;
            match &mut matrix {
                None => matrix = Some(part),
                Some(matrix) => matrix.append(part, name)?,
            }
        }
        matrix.ok_or_else(|| wrong("(none)", "was asked for without a name"))
    }

    fn read(raw: &RawTensor<'_>, name: &str) -> Result<Self, GgufError> {
        if raw.cols.div_ceil(32) > MAX_BLOCKS {
            return Err(wrong(name, "has rows longer than 4096"));
        }
        let blocks = raw.cols / 32;
        let (quants, scales) = match raw.form {
            Form::F32 => return Err(wrong(name, "has form F32 instead of Q4_1 or Q8_0")),
            Form::Q4_1 => {
                let (all, _) = raw.bytes.as_chunks::<20>();
                let quants = all.iter().map(|block| std::array::from_fn(|i| block[4 + i])).collect();
                (Quants::Q4_1(quants), rows_of_scales(all, blocks, &[0, 2]))
            }
            Form::Q8_0 => {
                let (all, _) = raw.bytes.as_chunks::<34>();
                let half = |block: &[u8; 34], h: usize| -> [i8; LANES] {
                    std::array::from_fn(|i| block[2 + h * LANES + i].cast_signed())
                };
                let quants = all.iter().map(|block| [half(block, 0), half(block, 1)]).collect();
                (Quants::Q8_0(quants), rows_of_scales(all, blocks, &[0]))
            }
        };
        Ok(Self { rows: raw.rows, cols: raw.cols, quants, scales })
    }

    fn append(&mut self, other: Self, name: &str) -> Result<(), GgufError> {
        match (&mut self.quants, other.quants) {
            (Quants::Q4_1(to), Quants::Q4_1(from)) => to.extend(from),
            (Quants::Q8_0(to), Quants::Q8_0(from)) => to.extend(from),
            _ => return Err(wrong(name, "has another form than its neighbours")),
        }
        self.scales.extend(other.scales);
        self.rows += other.rows;
        Ok(())
    }

    fn blocks(&self) -> usize {
        self.cols / 32
    }

    fn scales(&self, row: usize) -> &[Halves] {
        let width = self.scales.len() / self.rows;
        &self.scales[row * width..(row + 1) * width]
    }

    /// Row `row` as floats into `to`, which holds `cols` numbers.
    pub(super) fn expand(&self, row: usize, to: &mut [f32x16]) {
        let blocks = row * self.blocks()..(row + 1) * self.blocks();
        match &self.quants {
            Quants::Q4_1(quants) => kernel::expand_q4_1(&quants[blocks], self.scales(row), to),
            Quants::Q8_0(quants) => kernel::expand_q8_0(&quants[blocks], self.scales(row), to),
        }
    }

    fn dot(&self, row: usize, x: &[f32x16], sums: &[f32x16]) -> f32 {
        let blocks = row * self.blocks()..(row + 1) * self.blocks();
        match &self.quants {
            Quants::Q4_1(quants) => kernel::dot_q4_1(&quants[blocks], self.scales(row), x, sums),
            Quants::Q8_0(quants) => kernel::dot_q8_0(&quants[blocks], self.scales(row), x),
        }
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

/// The f16 at each of `offsets` of every block, by row, all of one offset before those of the next.
fn rows_of_scales<const N: usize>(all: &[[u8; N]], blocks: usize, offsets: &[usize]) -> Vec<Halves> {
    let width = (blocks * offsets.len()).div_ceil(LANES);
    let mut scales = Vec::with_capacity(all.len() / blocks.max(1) * width);
    for row in all.chunks_exact(blocks.max(1)) {
        let mut padded = vec![[0u16; LANES]; width];
        let at = |offset: usize| row.iter().map(move |block| u16::from_le_bytes([block[offset], block[offset + 1]]));
        for (to, from) in padded.as_flattened_mut().iter_mut().zip(offsets.iter().copied().flat_map(at)) {
            *to = from;
        }
        scales.extend(padded);
    }
    scales
}

fn wrong(name: &str, problem: &str) -> GgufError {
    GgufError::Tensor { name: name.to_owned(), problem: problem.to_owned() }
}

//! Rows of weights in one form, as the file holds them or as a form that the kernels know.
//!
//! Q4_0 becomes Q4_1 without loss (the minimum is minus eight scales), BF16 becomes F32. The block scales of Q4_K and
//! Q6_K are products of two numbers and are rounded to f16 here, which moves a weight by 0.05 % at most.

use half::f16;
use wide::f32x16;

use super::kernel::{self, Bytes, Halves, LANES, MAX_BLOCKS, Nibbles};
use crate::models::net::gguf::{Form, GgufError, RawTensor};

enum Quants {
    F32(Vec<f32x16>),
    F16(Vec<Halves>),
    /// Scales of a row: all scales, then all minima.
    Q4_1(Vec<Nibbles>),
    Q8_0(Vec<Bytes>),
    /// Scales of a row: those of all first halves of a block, then those of all second halves.
    Halves(Vec<Bytes>),
}

/// Rows of one form.
pub(super) struct Part {
    pub(super) rows: usize,
    cols: usize,
    quants: Quants,
    /// Padded to whole registers for each row.
    scales: Vec<Halves>,
}

impl Part {
    pub(super) fn read(raw: &RawTensor<'_>, name: &str) -> Result<Self, GgufError> {
        let wrong = |problem: &str| GgufError::Tensor { name: name.to_owned(), problem: problem.to_owned() };
        if raw.cols.div_ceil(32) > MAX_BLOCKS {
            return Err(wrong("has rows longer than 16384"));
        }
        if !raw.cols.is_multiple_of(32) || !raw.rows.is_multiple_of(LANES) {
            return Err(wrong("has rows or columns that do not fill whole registers"));
        }
        let (quants, scales) = match raw.form {
            Form::F32 => (Quants::F32(floats(raw.bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)))), vec![]),
            Form::BF16 => {
                let wide = |b: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*b)) << 16);
                (Quants::F32(floats(raw.bytes.as_chunks().0.iter().map(wide))), vec![])
            }
            Form::F16 => {
                let half =
                    |chunk: &[u8; 32]| std::array::from_fn(|i| u16::from_le_bytes([chunk[2 * i], chunk[2 * i + 1]]));
                (Quants::F16(raw.bytes.as_chunks::<32>().0.iter().map(half).collect()), vec![])
            }
            Form::Q4_0 => q4_0(raw),
            Form::Q4_1 => q4_1(raw),
            Form::Q8_0 => q8_0(raw),
            Form::Q4K => q4_k(raw),
            Form::Q6K => q6_k(raw),
        };
        Ok(Self { rows: raw.rows, cols: raw.cols, quants, scales })
    }

    /// Takes the rows of `other` if they have the same form, or else gives them back.
    pub(super) fn append(&mut self, other: Self) -> Option<Self> {
        match (&mut self.quants, other.quants) {
            (Quants::F32(to), Quants::F32(from)) => to.extend(from),
            (Quants::F16(to), Quants::F16(from)) => to.extend(from),
            (Quants::Q4_1(to), Quants::Q4_1(from)) => to.extend(from),
            (Quants::Q8_0(to), Quants::Q8_0(from)) | (Quants::Halves(to), Quants::Halves(from)) => to.extend(from),
            (_, quants) => return Some(Self { quants, ..other }),
        }
        self.scales.extend(other.scales);
        self.rows += other.rows;
        None
    }

    fn scales(&self, row: usize) -> &[Halves] {
        let width = self.scales.len() / self.rows;
        &self.scales[row * width..(row + 1) * width]
    }

    /// Row `row` as floats into `to`, which holds `cols` numbers.
    pub(super) fn expand(&self, row: usize, to: &mut [f32x16]) {
        let (blocks, lanes) = (self.of(row, 32), self.of(row, LANES));
        match &self.quants {
            Quants::F32(quants) => to.copy_from_slice(&quants[lanes]),
            Quants::F16(quants) => to.iter_mut().zip(&quants[lanes]).for_each(|(to, half)| *to = kernel::expand(half)),
            Quants::Q4_1(quants) => kernel::expand_q4_1(&quants[blocks], self.scales(row), to),
            Quants::Q8_0(quants) => kernel::expand_q8_0(&quants[blocks], self.scales(row), to),
            Quants::Halves(quants) => kernel::expand_halves(&quants[blocks], self.scales(row), to),
        }
    }

    /// Row `row` times `x`; `sums` are those of `x`.
    pub(super) fn dot(&self, row: usize, x: &[f32x16], sums: &[f32x16]) -> f32 {
        let (blocks, lanes) = (self.of(row, 32), self.of(row, LANES));
        match &self.quants {
            Quants::F32(quants) => kernel::dot(&quants[lanes], x),
            Quants::F16(quants) => kernel::dot_f16(&quants[lanes], x),
            Quants::Q4_1(quants) => kernel::dot_q4_1(&quants[blocks], self.scales(row), x, sums),
            Quants::Q8_0(quants) => kernel::dot_q8_0(&quants[blocks], self.scales(row), x),
            Quants::Halves(quants) => kernel::dot_halves(&quants[blocks], self.scales(row), x),
        }
    }

    /// Row `row` in pieces of `size` numbers.
    fn of(&self, row: usize, size: usize) -> std::ops::Range<usize> {
        let pieces = self.cols / size;
        row * pieces..(row + 1) * pieces
    }
}

fn floats(values: impl Iterator<Item = f32>) -> Vec<f32x16> {
    let all: Vec<f32> = values.collect();
    all.as_chunks::<LANES>().0.iter().map(|chunk| f32x16::new(*chunk)).collect()
}

/// The first `per_row` numbers of each row, then the second, padded to whole registers: `firsts` and `seconds` hold one
/// number a block, row after row.
fn by_row(per_row: usize, firsts: &[u16], seconds: &[u16]) -> Vec<Halves> {
    let seconds = seconds.chunks(per_row.max(1)).chain(std::iter::repeat(&[] as &[u16]));
    let mut scales = Vec::new();
    for (first, second) in firsts.chunks(per_row.max(1)).zip(seconds) {
        let mut padded = vec![[0u16; LANES]; (first.len() + second.len()).div_ceil(LANES)];
        for (to, from) in padded.as_flattened_mut().iter_mut().zip(first.iter().chain(second)) {
            *to = *from;
        }
        scales.extend(padded);
    }
    scales
}

fn half_at(block: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([block[at], block[at + 1]])
}

fn q4_0(raw: &RawTensor<'_>) -> (Quants, Vec<Halves>) {
    let (all, _) = raw.bytes.as_chunks::<18>();
    let quants = all.iter().map(|block| std::array::from_fn(|i| block[2 + i])).collect();
    let scales: Vec<u16> = all.iter().map(|block| half_at(block, 0)).collect();
    let minimum = |scale: &u16| f16::from_f32(-8.0 * f16::from_bits(*scale).to_f32()).to_bits();
    let minima: Vec<u16> = scales.iter().map(minimum).collect();
    (Quants::Q4_1(quants), by_row(raw.cols / 32, &scales, &minima))
}

fn q4_1(raw: &RawTensor<'_>) -> (Quants, Vec<Halves>) {
    let (all, _) = raw.bytes.as_chunks::<20>();
    let quants = all.iter().map(|block| std::array::from_fn(|i| block[4 + i])).collect();
    let scales: Vec<u16> = all.iter().map(|block| half_at(block, 0)).collect();
    let minima: Vec<u16> = all.iter().map(|block| half_at(block, 2)).collect();
    (Quants::Q4_1(quants), by_row(raw.cols / 32, &scales, &minima))
}

fn q8_0(raw: &RawTensor<'_>) -> (Quants, Vec<Halves>) {
    let (all, _) = raw.bytes.as_chunks::<34>();
    let half =
        |block: &[u8; 34], h: usize| -> [i8; LANES] { std::array::from_fn(|i| block[2 + h * LANES + i].cast_signed()) };
    let quants = all.iter().map(|block| [half(block, 0), half(block, 1)]).collect();
    let scales: Vec<u16> = all.iter().map(|block| half_at(block, 0)).collect();
    (Quants::Q8_0(quants), by_row(raw.cols / 32, &scales, &[]))
}

fn q4_k(raw: &RawTensor<'_>) -> (Quants, Vec<Halves>) {
    let (all, _) = raw.bytes.as_chunks::<144>();
    let (mut quants, mut scales, mut minima) = (Vec::new(), Vec::new(), Vec::new());
    for block in all {
        let [d, least] = [0, 2].map(|at| f16::from_bits(half_at(block, at)).to_f32());
        let (packed, nibbles) = block[4..].split_at(12);
        for sub in 0..8 {
            let (scale, minimum) = six_bits(packed, sub);
            scales.push(f16::from_f32(d * f32::from(scale)).to_bits());
            minima.push(f16::from_f32(-least * f32::from(minimum)).to_bits());
            // Two neighbours share 32 bytes, the first in the low halves.
            let own = |i: usize| (nibbles[sub / 2 * 32 + i] >> (sub % 2 * 4)) & 15;
            quants.push(std::array::from_fn(|i| own(i) | (own(LANES + i) << 4)));
        }
    }
    (Quants::Q4_1(quants), by_row(raw.cols / 32, &scales, &minima))
}

/// Scale and minimum `at` of eight (`get_scale_min_k4` of ggml).
fn six_bits(packed: &[u8], at: usize) -> (u8, u8) {
    if at < 4 {
        (packed[at] & 63, packed[at + 4] & 63)
    } else {
        let (low, high) = (packed[at + 4] & 15, packed[at + 4] >> 4);
        (low | ((packed[at - 4] >> 6) << 4), high | ((packed[at] >> 6) << 4))
    }
}

fn q6_k(raw: &RawTensor<'_>) -> (Quants, Vec<Halves>) {
    let (all, _) = raw.bytes.as_chunks::<210>();
    let (mut quants, mut firsts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for block in all {
        let (low, rest) = block.split_at(128);
        let (high, rest) = rest.split_at(64);
        let d = f16::from_bits(half_at(rest, 16)).to_f32();
        let number = |i: usize| {
            // Each half of 128 has four groups of 32: two in the low nibbles of 64 bytes, two in the high ones.
            let (half, group, at) = (i / 128, i % 128 / 32, i % 32);
            let nibble = (low[64 * half + group % 2 * 32 + at] >> (group / 2 * 4)) & 15;
            let bits = (high[32 * half + at] >> (2 * group)) & 3;
            (nibble | (bits << 4)).cast_signed() - 32
        };
        let scale = |at: usize| f16::from_f32(d * f32::from(rest[at].cast_signed())).to_bits();
        for sub in 0..8 {
            quants.push([0, LANES].map(|half| std::array::from_fn(|i| number(32 * sub + half + i))));
            firsts.push(scale(2 * sub));
            seconds.push(scale(2 * sub + 1));
        }
    }
    (Quants::Halves(quants), by_row(raw.cols / 32, &firsts, &seconds))
}

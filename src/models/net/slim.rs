//! A product of few rows with a matrix. With so few rows every number of the matrix is used a few times only, so the
//! product is as fast as the matrix comes out of memory; gemm reads it in an order that memory does not like.
//!
//! # Decisions
//! - 2026-11-30: 16 rows by the 24 matrices of MiniLM, 2 threads: 7.4 to 8.2 ms, gemm 9.5 to 11.3 (in turns, machine
//!   under load). From the next tile of rows on gemm is the faster one. The price is a second copy of the matrix.

use candle_core::{Device, Result, Tensor};
use rayon::prelude::*;
use wide::f32x16;

use super::ops::floats;

/// Columns of one panel: what one vector holds.
const LANES: usize = 16;
/// Rows whose sums stay in registers: AVX-512 has 32 of them this wide, AVX2 half as many of half the width.
const TILE: usize = if cfg!(target_feature = "avx512f") { 16 } else { 6 };
/// The most rows for which this is the faster way.
pub(super) const ROWS: usize = 16;

/// A matrix `[rows, columns]` cut into panels of [`LANES`] columns, each contiguous, row after row.
pub(super) struct Panels {
    rows: usize,
    columns: usize,
    cells: Vec<f32x16>,
}

impl Panels {
    /// Copies `matrix`, whose columns must be a multiple of 16.
    pub(super) fn new(matrix: &Tensor) -> Result<Self> {
        let (rows, columns) = matrix.dims2()?;
        if columns % LANES != 0 {
            candle_core::bail!("{columns} columns cannot be cut into panels of {LANES}");
        }
        let values: Vec<f32> = matrix.flatten_all()?.to_vec1()?;
        let cell = |panel: usize, row: usize| f32x16::from(&values[row * columns + panel * LANES..][..LANES]);
        let panels = (0..columns / LANES).flat_map(|panel| (0..rows).map(move |row| (panel, row)));
        Ok(Self { rows, columns, cells: panels.map(|(panel, row)| cell(panel, row)).collect() })
    }

    /// `x · matrix`, `[n, rows]` to `[n, columns]`, for `n` up to [`ROWS`].
    pub(super) fn product(&self, x: &Tensor) -> Result<Tensor> {
        let (n, width) = x.dims2()?;
        if width != self.rows || n > ROWS {
            candle_core::bail!("a [{n}, {width}] matrix does not fit one with {} rows", self.rows);
        }
        let (storage, layout) = x.storage_and_layout();
        let candle_core::Storage::Cpu(storage) = &*storage else { candle_core::bail!("not on the CPU") };
        let values = self.multiply(floats(storage, layout)?, n);
        Tensor::from_vec(values, (n, self.columns), &Device::Cpu)
    }

    fn multiply(&self, x: &[f32], n: usize) -> Vec<f32> {
        let tiles: Vec<_> = x.chunks(TILE * self.rows).map(|rows| across(rows, self.rows)).collect();
        let share = (self.columns / LANES).div_ceil(rayon::current_num_threads());
        let sums = self.cells.par_chunks_exact(self.rows).with_min_len(share).map(|panel| {
            let of_tile = |tile: &Vec<Column>| sums(panel, tile);
            tiles.iter().flat_map(of_tile).collect::<Vec<_>>()
        });
        let mut out = vec![0.0; n * self.columns];
        for (panel, sums) in sums.collect::<Vec<_>>().iter().enumerate() {
            // The last tile may have more rows than x.
            for (row, sum) in out.chunks_exact_mut(self.columns).zip(sums) {
                row[panel * LANES..][..LANES].copy_from_slice(sum.as_array());
            }
        }
        out
    }
}

/// The same column of every row of a tile.
type Column = [f32; TILE];

/// Up to [`TILE`] rows of `width` numbers, column by column; rows that are not there are zero.
fn across(rows: &[f32], width: usize) -> Vec<Column> {
    let mut columns = vec![[0.0; TILE]; width];
    for (i, row) in rows.chunks_exact(width).enumerate() {
        for (column, value) in columns.iter_mut().zip(row) {
            column[i] = *value;
        }
    }
    columns
}

#[inline]
fn sums(panel: &[f32x16], tile: &[Column]) -> [f32x16; TILE] {
    let mut sums = [f32x16::ZERO; TILE];
    for (weights, values) in panel.iter().zip(tile) {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = weights.mul_add(f32x16::splat(*value), *sum);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slim_product_is_the_product() {
        let device = &Device::Cpu;
        let matrix = Tensor::randn(0.0_f32, 1.0, (40, 48), device).expect("a tensor");
        let panels = Panels::new(&matrix).expect("a multiple of 16");
        for n in 1..=ROWS {
            let x = Tensor::randn(0.0_f32, 1.0, (n, 40), device).expect("a tensor");
            let off = (panels.product(&x).expect("fits") - x.matmul(&matrix).expect("fits")).expect("one shape");
            let worst = off.abs().and_then(|off| off.flatten_all()?.max(0)?.to_scalar::<f32>()).expect("a number");
            assert!(worst < 1e-5, "{n} rows are {worst} off");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let zeros = |rows, columns| Tensor::zeros((rows, columns), candle_core::DType::F32, &Device::Cpu);
        assert!(zeros(40, 40).and_then(|matrix| Panels::new(&matrix)).is_err(), "half a panel");
        let panels = zeros(32, 16).and_then(|matrix| Panels::new(&matrix)).expect("a multiple of 16");
        assert!(zeros(ROWS + 1, 32).and_then(|x| panels.product(&x)).is_err(), "too many rows");
        assert!(zeros(2, 31).and_then(|x| panels.product(&x)).is_err(), "another width");
    }
}

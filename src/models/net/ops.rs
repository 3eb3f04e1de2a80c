//! What lies between two matrix products, one pass over memory each, on the CPU and in place.

use candle_core::{CpuStorage, InplaceOp2, InplaceOp3, Layout, Result, Tensor};
use rayon::prelude::*;

use super::math::gelu;

/// Rows below which a second thread costs more than it saves.
const ROWS_PER_TASK: usize = 16;

/// `x = gelu(x + bias)` for `x` `[rows, width]`, `bias` `[width]`.
pub(super) fn bias_gelu(x: &Tensor, bias: &Tensor) -> Result<()> {
    x.inplace_op2(bias, &BiasGelu)
}

/// `x = x + bias` for `x` `[rows, width]`, `bias` `[width]`.
pub(super) fn add_bias(x: &Tensor, bias: &Tensor) -> Result<()> {
    x.inplace_op2(bias, &AddBias)
}

/// `x = norm(x + bias + residual) * gain + shift`, row by row; `x` and `residual` `[rows, width]`, `params` `[3, width]`
/// holds bias, gain and shift.
pub(super) fn residual_norm(x: &Tensor, residual: &Tensor, params: &Tensor, epsilon: f32) -> Result<()> {
    x.inplace_op3(residual, params, &ResidualNorm { epsilon })
}

/// `row = norm(row) * gain + shift`.
#[inline]
fn normalise(row: &mut [f32], gain: &[f32], shift: &[f32], epsilon: f32) {
    let width = row.len() as f32;
    let mean = sum(row.iter().copied()) / width;
    let variance = sum(row.iter().map(|value| (value - mean) * (value - mean))) / width;
    let scale = 1.0 / (variance + epsilon).sqrt();
    for ((value, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
        *value = ((*value - mean) * scale).mul_add(*gain, *shift);
    }
}

/// A sum in sixteen lanes: the order that vector instructions need and floating point does not allow by itself.
#[inline]
fn sum(values: impl ExactSizeIterator<Item = f32>) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for (i, value) in values.enumerate() {
        lanes[i % 16] += value;
    }
    lanes.iter().sum()
}

/// The contiguous f32 behind a tensor.
pub(super) fn floats<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let (start, end) = contiguous(layout)?;
    Ok(&storage.as_slice::<f32>()?[start..end])
}

fn floats_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    let (start, end) = contiguous(layout)?;
    match storage {
        CpuStorage::F32(values) => Ok(&mut values[start..end]),
        _ => candle_core::bail!("a kernel for f32 was given another type"),
    }
}

fn contiguous(layout: &Layout) -> Result<(usize, usize)> {
    layout.contiguous_offsets().ok_or_else(|| candle_core::Error::Msg("a kernel was given a strided tensor".into()))
}

/// Applies `each` to the rows of `x`, in parallel where that pays.
fn rows(x: &mut [f32], width: usize, each: impl Fn(usize, &mut [f32]) + Sync + Send) {
    x.par_chunks_mut(width).with_min_len(ROWS_PER_TASK).enumerate().for_each(|(i, row)| each(i, row));
}

struct BiasGelu;

impl InplaceOp2 for BiasGelu {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, xl: &Layout, bias: &CpuStorage, bl: &Layout) -> Result<()> {
        let bias = floats(bias, bl)?;
        rows(floats_mut(x, xl)?, bias.len(), |_, row| {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value = gelu(*value + bias);
            }
        });
        Ok(())
    }
}

struct AddBias;

impl InplaceOp2 for AddBias {
    fn name(&self) -> &'static str {
        "add-bias"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, xl: &Layout, bias: &CpuStorage, bl: &Layout) -> Result<()> {
        let bias = floats(bias, bl)?;
        rows(floats_mut(x, xl)?, bias.len(), |_, row| {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value += bias;
            }
        });
        Ok(())
    }
}

struct ResidualNorm {
    epsilon: f32,
}

impl InplaceOp3 for ResidualNorm {
    fn name(&self) -> &'static str {
        "residual-norm"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        xl: &Layout,
        residual: &CpuStorage,
        rl: &Layout,
        params: &CpuStorage,
        pl: &Layout,
    ) -> Result<()> {
        let (residual, params) = (floats(residual, rl)?, floats(params, pl)?);
        let width = params.len() / 3;
        let (bias, rest) = params.split_at(width);
        let (gain, shift) = rest.split_at(width);
        rows(floats_mut(x, xl)?, width, |i, row| {
            let residual = &residual[i * width..(i + 1) * width];
            for ((value, bias), residual) in row.iter_mut().zip(bias).zip(residual) {
                *value += bias + residual;
            }
            normalise(row, gain, shift, self.epsilon);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn a_norm_over_a_sum_has_the_asked_mean_and_spread() {
        let device = &Device::Cpu;
        let x = Tensor::new(&[[1.0_f32, 2.0, 3.0, 4.0]], device).expect("a tensor");
        let residual = Tensor::new(&[[0.0_f32, 0.0, 0.0, 4.0]], device).expect("a tensor");
        let params = [[0.5_f32, 0.5, 0.5, -3.5], [1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 10.0]];
        let params = Tensor::new(&params, device).expect("a tensor");
        residual_norm(&x, &residual, &params, 0.0).expect("runs");
        // The sum is 1.5 2.5 3.5 4.5: mean 3, variance 1.25.
        let expected = [-1.5, -0.5, 0.5, 1.5].map(|v: f32| v / 1.25_f32.sqrt());
        let row = x.to_vec2::<f32>().expect("a matrix").remove(0);
        for (i, value) in row.iter().enumerate() {
            let wanted = if i == 3 { expected[i] * 2.0 + 10.0 } else { expected[i] };
            assert!((value - wanted).abs() < 1e-6, "{row:?}");
        }
    }

    #[test]
    fn strided_input_is_refused() {
        let device = &Device::Cpu;
        let x = Tensor::zeros((4, 3), candle_core::DType::F32, device).and_then(|x| x.t()).expect("a tensor");
        let bias = Tensor::zeros(4, candle_core::DType::F32, device).expect("a tensor");
        assert!(add_bias(&x, &bias).is_err());
    }
}

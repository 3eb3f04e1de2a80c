//! The vision transformer's block, the same in Qwen3-VL and SigLIP: norm, attention over the patches of one picture, sum,
//! norm, feed-forward, sum.
//!
//! Pictures of one call are laid end to end; each attends only to itself. Neighbours of one size are attended together.

use candle_core::{DType, Result, Tensor};
use candle_nn::VarBuilder;
use candle_nn::ops::layer_norm;
use candle_nn::rotary_emb::rope;

use super::decoder::{in_f32, softmax};

/// A matrix `[out, in]` with its bias.
#[derive(Debug)]
pub(super) struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    pub(super) fn new(weight: Tensor, bias: Tensor) -> Self {
        Self { weight, bias }
    }

    pub(super) fn load(at: &VarBuilder<'_>, width_in: usize, width_out: usize) -> Result<Self> {
        Ok(Self { weight: at.get((width_out, width_in), "weight")?, bias: at.get(width_out, "bias")? })
    }

    /// One matrix for what several make of the same input.
    fn joined(parts: &[Self]) -> Result<Self> {
        let weights: Vec<&Tensor> = parts.iter().map(|part| &part.weight).collect();
        let biases: Vec<&Tensor> = parts.iter().map(|part| &part.bias).collect();
        Ok(Self { weight: Tensor::cat(&weights, 0)?, bias: Tensor::cat(&biases, 0)? })
    }

    /// `[rows, in]` to `[rows, out]`.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let product = |x: &Tensor, weight: &Tensor, bias: &Tensor| x.matmul(&weight.t()?)?.broadcast_add(bias);
        if x.device().is_cpu() && x.dtype() != DType::F32 {
            // One rounding, as in the reference; only a GPU computes in bf16 outside of tests, and rounds twice.
            let (weight, bias) = (self.weight.to_dtype(DType::F32)?, self.bias.to_dtype(DType::F32)?);
            return in_f32(x, |x| product(x, &weight, &bias));
        }
        product(x, &self.weight, &self.bias)
    }
}

/// A norm with gain and shift.
#[derive(Debug)]
pub(super) struct Norm {
    gain: Tensor,
    shift: Tensor,
    epsilon: f32,
}

impl Norm {
    pub(super) fn load(at: &VarBuilder<'_>, width: usize, epsilon: f64) -> Result<Self> {
        Ok(Self { gain: at.get(width, "weight")?, shift: at.get(width, "bias")?, epsilon: epsilon as f32 })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let norm = |x: &Tensor, gain: &Tensor, shift: &Tensor| layer_norm(x, gain, shift, self.epsilon);
        if x.device().is_cpu() {
            // As for the softmax: candle's kernel for the CPU rounds inside.
            let (gain, shift) = (self.gain.to_dtype(DType::F32)?, self.shift.to_dtype(DType::F32)?);
            in_f32(x, |x| norm(x, &gain, &shift))
        } else {
            norm(x, &self.gain, &self.shift)
        }
    }
}

/// The two forms of GELU that checkpoints were trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::models) enum Gelu {
    /// Through erf.
    Exact,
    /// Through tanh.
    Tanh,
}

impl Gelu {
    pub(super) fn apply(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Exact => in_f32(x, Tensor::gelu_erf),
            Self::Tanh => in_f32(x, Tensor::gelu),
        }
    }
}

/// Widths of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widths {
    pub(super) width: usize,
    pub(super) inner: usize,
    pub(super) heads: usize,
    pub(super) epsilon: f64,
}

/// What a family calls the parts of a block.
pub(super) struct Names {
    pub(super) norms: [&'static str; 2],
    /// One name for a file that has queries, keys and values in one matrix, else one each.
    pub(super) attend: &'static [&'static str],
    pub(super) attended: &'static str,
    pub(super) mlp: [&'static str; 2],
}

/// How the patches of one call lie: runs of pictures with the same number of patches.
#[derive(Debug)]
pub(super) struct Runs(Vec<(usize, usize)>);

impl Runs {
    /// From the number of patches of each picture.
    pub(super) fn new(patches: impl IntoIterator<Item = usize>) -> Self {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for count in patches {
            match runs.last_mut() {
                Some((pictures, patches)) if *patches == count => *pictures += 1,
                _ => runs.push((1, count)),
            }
        }
        Self(runs)
    }
}

/// One block.
#[derive(Debug)]
pub(super) struct VisionBlock {
    norms: [Norm; 2],
    attend: Linear,
    attended: Linear,
    mlp: [Linear; 2],
    heads: usize,
}

impl VisionBlock {
    pub(super) fn load(at: &VarBuilder<'_>, names: &Names, widths: Widths) -> Result<Self> {
        let Widths { width, inner, heads, epsilon } = widths;
        let attend = match names.attend {
            [one] => Linear::load(&at.pp(one), width, 3 * width)?,
            parts => {
                let parts = parts.iter().map(|part| Linear::load(&at.pp(part), width, width));
                Linear::joined(&parts.collect::<Result<Vec<_>>>()?)?
            }
        };
        let [first, second] = names.norms.map(|name| Norm::load(&at.pp(name), width, epsilon));
        let [up, down] = names.mlp;
        Ok(Self {
            norms: [first?, second?],
            attend,
            attended: Linear::load(&at.pp(names.attended), width, width)?,
            mlp: [Linear::load(&at.pp(up), width, inner)?, Linear::load(&at.pp(down), inner, width)?],
            heads,
        })
    }

    /// `[patches, width]` to the same; `turn` is the cosine and sine of each patch, `[patches, head / 2]`, if it has any.
    pub(super) fn forward(&self, x: &Tensor, runs: &Runs, turn: Option<&(Tensor, Tensor)>) -> Result<Tensor> {
        let [before, after] = &self.norms;
        let x = (x + self.attention(&before.forward(x)?, runs, turn)?)?;
        let [up, down] = &self.mlp;
        let wide = Gelu::Tanh.apply(&up.forward(&after.forward(&x)?)?)?;
        x + down.forward(&wide)?
    }

    fn attention(&self, x: &Tensor, runs: &Runs, turn: Option<&(Tensor, Tensor)>) -> Result<Tensor> {
        let (patches, width) = x.dims2()?;
        let head = width / self.heads;
        let all = self.attend.forward(x)?;
        let heads = |index: usize| -> Result<Tensor> {
            let part = all.narrow(1, index * width, width)?.reshape((1, patches, self.heads, head))?;
            part.transpose(1, 2)?.contiguous()
        };
        let turned = |t: Tensor| match turn {
            // Angles are exact only in f32.
            Some((cos, sin)) => rope(&t.to_dtype(DType::F32)?, cos, sin)?.to_dtype(x.dtype()),
            None => Ok(t),
        };
        let (q, k, v) = (turned(heads(0)?)?, turned(heads(1)?)?, heads(2)?);
        let q = (q * (head as f64).powf(-0.5))?;
        let (mut start, mut seen) = (0, Vec::with_capacity(runs.0.len()));
        for (pictures, count) in &runs.0 {
            let of = |t: &Tensor| -> Result<Tensor> {
                let run = t.narrow(2, start, pictures * count)?.contiguous()?;
                run.reshape((self.heads, *pictures, *count, head))
            };
            let weights = softmax(&of(&q)?.matmul(&of(&k)?.t()?)?)?;
            seen.push(weights.matmul(&of(&v)?)?.reshape((self.heads, pictures * count, head))?);
            start += pictures * count;
        }
        let seen = Tensor::cat(&seen, 1)?.transpose(0, 1)?.reshape((patches, width))?;
        self.attended.forward(&seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_size_are_attended_together() {
        assert_eq!(Runs::new([4, 4, 6, 4]).0, [(2, 4), (1, 6), (1, 4)]);
    }
}

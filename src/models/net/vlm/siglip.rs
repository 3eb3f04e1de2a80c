//! The eyes of SmolVLM: a SigLIP tower over one square picture, whose patches are then folded into few tokens.
//!
//! Every picture has the same number of patches. Positions are learned, one a patch: the reference's fractional
//! coordinates come to the same for every whole picture (tried: 7, 8, 14, 24, 27 and 32 patches a side).

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarBuilder;

use super::tower::{Linear, Names, Norm, Runs, VisionBlock, Widths};
use super::{Features, Grid};

const NAMES: Names = Names {
    norms: ["layer_norm1", "layer_norm2"],
    attend: &["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
    attended: "self_attn.out_proj",
    mlp: ["mlp.fc1", "mlp.fc2"],
};

/// What the tower must be told to be read from a file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::models) struct Shape {
    /// Blocks.
    pub(in crate::models) depth: usize,
    /// Width of a patch inside.
    pub(in crate::models) width: usize,
    /// Width inside the feed-forward part.
    pub(in crate::models) inner: usize,
    /// Heads.
    pub(in crate::models) heads: usize,
    /// Patches a side.
    pub(in crate::models) side: usize,
    /// Pixels a side of a patch.
    pub(in crate::models) patch: usize,
    /// In every norm.
    pub(in crate::models) epsilon: f64,
    /// Patches a side of the square that becomes a token.
    pub(in crate::models) merge: usize,
    /// Width of a token of the decoder.
    pub(in crate::models) out: usize,
}

impl Shape {
    /// Tokens of a picture.
    pub(in crate::models) fn grid(&self) -> Grid {
        Grid { rows: self.side / self.merge, columns: self.side / self.merge }
    }
}

/// The weights.
#[derive(Debug)]
pub(in crate::models) struct Tower {
    patches: Linear,
    /// `[side * side, width]`, in the order of the patches.
    positions: Tensor,
    blocks: Vec<VisionBlock>,
    norm: Norm,
    /// `[out, width * merge * merge]`.
    fold: Tensor,
    shape: Shape,
    dtype: DType,
    device: Device,
}

impl Tower {
    /// Reads the tower from under `at`, and the fold from under `connector`.
    pub(in crate::models) fn load(at: &VarBuilder<'_>, connector: &VarBuilder<'_>, shape: Shape) -> Result<Self> {
        let Shape { width, inner, heads, side, patch, epsilon, merge, out, depth } = shape;
        let embeddings = at.pp("embeddings");
        let kernel = embeddings.get((width, 3, patch, patch), "patch_embedding.weight")?;
        let widths = Widths { width, inner, heads, epsilon };
        let block = |i: usize| VisionBlock::load(&at.pp(format!("encoder.layers.{i}")), &NAMES, widths);
        Ok(Self {
            patches: Linear::new(kernel.reshape((width, ()))?, embeddings.get(width, "patch_embedding.bias")?),
            positions: embeddings.get((side * side, width), "position_embedding.weight")?,
            blocks: (0..depth).map(block).collect::<Result<_>>()?,
            norm: Norm::load(&at.pp("post_layernorm"), width, epsilon)?,
            fold: connector.get((out, width * merge * merge), "modality_projection.proj.weight")?,
            shape,
            dtype: at.dtype(),
            device: at.device().clone(),
        })
    }

    /// Numbers of one patch.
    pub(in crate::models) fn patch(&self) -> usize {
        3 * self.shape.patch * self.shape.patch
    }

    /// Patches `[pictures * side * side, 3 * patch * patch]` in rows to tokens.
    pub(in crate::models) fn forward(&self, patches: &Tensor) -> Result<Features> {
        let Shape { side, width, merge, .. } = self.shape;
        let pictures = patches.dim(0)? / (side * side);
        if patches.dim(0)? != pictures * side * side || pictures == 0 {
            candle_core::bail!("{} patches are no whole number of pictures of {side} x {side}", patches.dim(0)?);
        }
        let x = self.patches.forward(&patches.to_device(&self.device)?.to_dtype(self.dtype)?)?;
        let mut x = (x + self.positions.repeat((pictures, 1))?)?;
        let runs = Runs::new(std::iter::repeat_n(side * side, pictures));
        for block in &self.blocks {
            x = block.forward(&x, &runs, None)?;
        }
        let x = self.norm.forward(&x)?.reshape((pictures, side / merge, merge, side / merge, merge * width))?;
        let x = x.transpose(2, 3)?.reshape(((), merge * merge * width))?;
        Ok(Features { embeddings: x.matmul(&self.fold.t()?)?, deep: Vec::new() })
    }
}

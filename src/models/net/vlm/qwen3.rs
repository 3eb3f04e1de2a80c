//! The eyes of Qwen3-VL: patches of any grid to tokens, a quarter as many, with features of earlier layers beside them
//! ("deepstack", arXiv 2511.21631, section 2).
//!
//! Patches come in blocks of 2 x 2 that will be merged, blocks in rows. It remembers positions of the grids it met, a few
//! of them; cameras keep their size.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarBuilder;

use super::rope::Rope;
use super::tower::{Gelu, Linear, Names, Norm, Runs, VisionBlock, Widths};
use super::{Features, Grid};

/// Of every norm in the tower.
const EPSILON: f64 = 1e-6;
/// Base of the rotary frequencies of rows and columns.
const THETA: f64 = 1e4;
/// Grids whose positions are remembered.
const GRIDS: usize = 16;

const NAMES: Names = Names {
    norms: ["norm1", "norm2"],
    attend: &["attn.qkv"],
    attended: "attn.proj",
    mlp: ["mlp.linear_fc1", "mlp.linear_fc2"],
};

/// What the tower must be told to be read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::models) struct Shape {
    /// Blocks.
    pub(in crate::models) depth: usize,
    /// Width of a patch inside.
    pub(in crate::models) width: usize,
    /// Width inside the feed-forward part.
    pub(in crate::models) inner: usize,
    /// Heads.
    pub(in crate::models) heads: usize,
    /// Pixels a side of a patch.
    pub(in crate::models) pixels: usize,
    /// Pictures in a patch of a video; one picture is repeated.
    pub(in crate::models) frames: usize,
    /// Patches a side of the square that becomes a token.
    pub(in crate::models) merge: usize,
    /// Width of a token of the decoder.
    pub(in crate::models) out: usize,
    /// Learned positions a side.
    pub(in crate::models) side: usize,
    /// Blocks behind which features are taken, from the first.
    pub(in crate::models) deep: Vec<usize>,
}

impl Shape {
    /// Numbers of one patch.
    pub(in crate::models) fn patch(&self) -> usize {
        3 * self.frames * self.pixels * self.pixels
    }
}

/// The weights.
#[derive(Debug)]
pub(in crate::models) struct Tower {
    patches: Linear,
    /// `[side * side, width]`, f32.
    positions: Tensor,
    blocks: Vec<VisionBlock>,
    pub(in crate::models) merger: Merger,
    deep: Vec<(usize, Merger)>,
    rope: Rope,
    shape: Shape,
    dtype: DType,
    device: Device,
    met: BTreeMap<Grid, Places>,
}

/// Learned positions and rotation of each patch of a grid.
#[derive(Debug, Clone)]
struct Places {
    learned: Tensor,
    cos: Tensor,
    sin: Tensor,
}

impl Tower {
    /// Reads it from under `at`.
    pub(in crate::models) fn load(at: &VarBuilder<'_>, shape: Shape) -> Result<Self> {
        let Shape { width, inner, heads, side, .. } = shape;
        let kernel = [width, 3, shape.frames, shape.pixels, shape.pixels];
        let weight = at.get(kernel.as_slice(), "patch_embed.proj.weight")?.reshape((width, shape.patch()))?;
        let widths = Widths { width, inner, heads, epsilon: EPSILON };
        let block = |i: usize| VisionBlock::load(&at.pp(format!("blocks.{i}")), &NAMES, widths);
        let deep = |(n, block): (usize, &usize)| {
            Ok((*block, Merger::load(&at.pp(format!("deepstack_merger_list.{n}")), &shape, true)?))
        };
        Ok(Self {
            patches: Linear::new(weight, at.get(width, "patch_embed.proj.bias")?),
            positions: at.get((side * side, width), "pos_embed.weight")?.to_dtype(DType::F32)?,
            blocks: (0..shape.depth).map(block).collect::<Result<_>>()?,
            merger: Merger::load(&at.pp("merger"), &shape, false)?,
            deep: shape.deep.iter().enumerate().map(deep).collect::<Result<_>>()?,
            rope: Rope::new(THETA, width / heads / 2, None),
            dtype: at.dtype(),
            device: at.device().clone(),
            met: BTreeMap::new(),
            shape,
        })
    }

    /// Numbers of one patch.
    pub(in crate::models) fn patch(&self) -> usize {
        self.shape.patch()
    }

    /// Patches `[patches, numbers]` of pictures end to end, whose sizes in tokens are `grids`, to tokens.
    pub(in crate::models) fn forward(&mut self, patches: &Tensor, grids: &[Grid]) -> Result<Features> {
        let merged = self.shape.merge * self.shape.merge;
        let due: usize = grids.iter().map(|grid| grid.tokens() * merged).sum();
        if patches.dim(0)? != due {
            candle_core::bail!("{} patches for grids of {due}", patches.dim(0)?);
        }
        let places = grids.iter().map(|grid| self.places(*grid)).collect::<Result<Vec<_>>>()?;
        let joined = |of: fn(&Places) -> &Tensor| Tensor::cat(&places.iter().map(of).collect::<Vec<_>>(), 0);
        let turn = (joined(|p| &p.cos)?, joined(|p| &p.sin)?);
        let x = self.patches.forward(&patches.to_device(&self.device)?.to_dtype(self.dtype)?)?;
        let mut x = (x + joined(|p| &p.learned)?)?;
        let runs = Runs::new(grids.iter().map(|grid| grid.tokens() * merged));
        let mut deep = Vec::with_capacity(self.deep.len());
        for (index, block) in self.blocks.iter().enumerate() {
            x = block.forward(&x, &runs, Some(&turn))?;
            if let Some((_, merger)) = self.deep.iter().find(|(at, _)| *at == index) {
                deep.push(merger.forward(&x)?);
            }
        }
        Ok(Features { embeddings: self.merger.forward(&x)?, deep })
    }

    fn places(&mut self, grid: Grid) -> Result<Places> {
        if let Some(places) = self.met.get(&grid) {
            return Ok(places.clone());
        }
        let places = self.compute_places(grid)?;
        if self.met.len() >= GRIDS {
            self.met.clear();
        }
        self.met.insert(grid, places.clone());
        Ok(places)
    }

    fn compute_places(&self, grid: Grid) -> Result<Places> {
        let merge = self.shape.merge;
        let at = patches_in_order(grid, merge);
        let (rows, columns) = (grid.rows * merge, grid.columns * merge);
        let taps: Vec<_> =
            at.iter().map(|[row, column]| bilinear(*row, *column, rows, columns, self.shape.side)).collect();
        let mut learned: Option<Tensor> = None;
        for tap in 0..4 {
            let indices: Vec<u32> = taps.iter().map(|taps| taps[tap].0).collect();
            let weights: Vec<f32> = taps.iter().map(|taps| taps[tap].1).collect();
            let rows = self.positions.index_select(&Tensor::new(indices, &self.device)?, 0)?;
            let part = rows.broadcast_mul(&Tensor::new(weights, &self.device)?.unsqueeze(1)?)?;
            learned = Some(learned.map_or_else(|| Ok(part.clone()), |sum| sum + &part)?);
        }
        let learned = learned.ok_or_else(|| candle_core::Error::Msg("a grid without patches".into()))?;
        let of = |axis: usize| -> Result<(Tensor, Tensor)> {
            let row = at.iter().map(|at| [at[axis] as u32; 3]).collect();
            let (cos, sin) = self.rope.tables(&[row], DType::F32, &self.device)?;
            Ok((cos.squeeze(0)?, sin.squeeze(0)?))
        };
        let (down, across) = (of(0)?, of(1)?);
        Ok(Places {
            learned: learned.to_dtype(self.dtype)?,
            cos: Tensor::cat(&[down.0, across.0], 1)?,
            sin: Tensor::cat(&[down.1, across.1], 1)?,
        })
    }
}

/// Row and column of each patch, in the order in which patches come.
fn patches_in_order(grid: Grid, merge: usize) -> Vec<[usize; 2]> {
    let mut out = Vec::with_capacity(grid.tokens() * merge * merge);
    for block in 0..grid.tokens() {
        let (top, left) = (block / grid.columns * merge, block % grid.columns * merge);
        out.extend((0..merge * merge).map(|i| [top + i / merge, left + i % merge]));
    }
    out
}

/// The four learned positions around a patch, of a square `side` wide that is stretched over `rows` x `columns`, and their
/// weights.
fn bilinear(row: usize, column: usize, rows: usize, columns: usize, side: usize) -> [(u32, f32); 4] {
    let along = |at: usize, count: usize| {
        let place = if count > 1 { at as f32 * (side - 1) as f32 / (count - 1) as f32 } else { 0.0 };
        let low = place.floor();
        (low as usize, (low as usize + 1).min(side - 1), place - low)
    };
    let (top, bottom, down) = along(row, rows);
    let (left, right, across) = along(column, columns);
    let at = |row: usize, column: usize| (row * side + column) as u32;
    [
        (at(top, left), (1.0 - down) * (1.0 - across)),
        (at(top, right), (1.0 - down) * across),
        (at(bottom, left), down * (1.0 - across)),
        (at(bottom, right), down * across),
    ]
}

/// Squares of patches to tokens.
#[derive(Debug)]
pub(in crate::models) struct Merger {
    norm: Norm,
    widen: Linear,
    out: Linear,
    width: usize,
    /// Whether the norm is taken over the square instead of each patch.
    late: bool,
    /// Through erf, unlike the blocks' own.
    pub(in crate::models) gelu: Gelu,
}

impl Merger {
    fn load(at: &VarBuilder<'_>, shape: &Shape, late: bool) -> Result<Self> {
        let width = shape.width * shape.merge * shape.merge;
        Ok(Self {
            norm: Norm::load(&at.pp("norm"), if late { width } else { shape.width }, EPSILON)?,
            widen: Linear::load(&at.pp("linear_fc1"), width, width)?,
            out: Linear::load(&at.pp("linear_fc2"), width, shape.out)?,
            width,
            late,
            gelu: Gelu::Exact,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = if self.late {
            self.norm.forward(&x.reshape(((), self.width))?)?
        } else {
            self.norm.forward(x)?.reshape(((), self.width))?
        };
        self.out.forward(&self.gelu.apply(&self.widen.forward(&x)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_come_in_squares() {
        let order = patches_in_order(Grid { rows: 1, columns: 2 }, 2);
        assert_eq!(order, [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [0, 3], [1, 2], [1, 3]]);
    }

    #[test]
    fn learned_positions_are_stretched_from_corner_to_corner() {
        let full = |taps: [(u32, f32); 4]| taps.into_iter().filter(|(_, weight)| *weight > 0.0).collect::<Vec<_>>();
        assert_eq!(full(bilinear(0, 0, 4, 8, 6)), [(0, 1.0)]);
        assert_eq!(full(bilinear(3, 7, 4, 8, 6)), [(35, 1.0)]);
        let weights: f32 = bilinear(1, 3, 4, 8, 6).iter().map(|(_, weight)| weight).sum();
        assert!((weights - 1.0).abs() < 1e-6);
        // A single row stands at the beginning, as linspace puts it.
        assert_eq!(full(bilinear(0, 0, 1, 1, 6)), [(0, 1.0)]);
    }
}

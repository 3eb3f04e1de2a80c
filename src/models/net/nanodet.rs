//! NanoDet-g 416: a CSP backbone, a path aggregation without convolutions, and one head a scale.
//!
//! The architecture is RangiLyu/nanodet `config/legacy_v0.x_configs/nanodet-g.yml` (Apache-2.0, COCO mAP 22.9) with
//! batch norms folded: 34 convolutions, LeakyReLU 0.1 after all 3x3 ones. A [`Nanodet`] owns the maps between its
//! layers, so that a call allocates next to nothing; it is therefore used by one caller at a time.

use super::conv::{Conv, Shape, ShapeError};
use super::map::{LANES, Map};

/// Side of the input picture in pixels.
pub(crate) const SIDE: usize = 416;
/// COCO classes: the first channels of an output, as logits.
pub(crate) const CLASSES: usize = 80;
/// Bins of one distance's distribution, as logits; after the classes come those of left, top, right and bottom.
pub(crate) const BINS: usize = 11;
/// Pixels from one cell to the next, by scale.
pub(crate) const STRIDES: [usize; 3] = [8, 16, 32];
/// Number of convolutions.
pub(crate) const CONVS: usize = 34;

/// Channels between backbone and heads.
const NECK: usize = 128;

/// One convolution as published: kernel in TensorFlow's order (row, column, input, output), and bias.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weights {
    pub(crate) kernel: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Why weights are not this network's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// Too few convolutions.
    #[error("convolution {0} of {CONVS} is missing")]
    Missing(usize),
    /// One of another shape.
    #[error("convolution {0}: {1}")]
    Shape(usize, #[source] ShapeError),
}

/// The network with its packed weights and working memory (15 MB and 25 MB).
#[derive(Debug)]
pub(crate) struct Nanodet {
    stem: Layer,
    pooled: Map,
    stages: [Stage; 4],
    laterals: [Layer; 3],
    heads: [(Layer, Layer); 3],
}

impl Nanodet {
    /// Builds the network from its convolutions in topological order.
    pub(crate) fn build(weights: impl IntoIterator<Item = Weights>) -> Result<Self, BuildError> {
        let mut builder = Builder { weights: weights.into_iter(), built: 0 };
        let stem =
            builder.layer(SIDE / 2, Shape { kernel: 3, stride: 2, planes: 1, width: 3, outputs: 32, active: true })?;
        let stages = [
            Stage::build(&mut builder, SIDE / 4, 1, 32, 1)?,
            Stage::build(&mut builder, SIDE / 8, 2, 64, 2)?,
            Stage::build(&mut builder, SIDE / 16, 2, 128, 2)?,
            Stage::build(&mut builder, SIDE / 32, 2, 256, 3)?,
        ];
        let mut lateral = |scale: usize| {
            let planes = 2 * (64 << scale) / LANES;
            let shape = Shape { kernel: 1, stride: 1, planes, width: LANES, outputs: NECK, active: false };
            builder.layer(SIDE / STRIDES[scale], shape)
        };
        let laterals = [lateral(0)?, lateral(1)?, lateral(2)?];
        let mut head = |scale: usize| {
            let side = SIDE / STRIDES[scale];
            let wide = Shape { kernel: 3, stride: 1, planes: NECK / LANES, width: LANES, outputs: NECK, active: true };
            let last = Shape { kernel: 1, outputs: CLASSES + 4 * BINS, active: false, ..wide };
            Ok::<_, BuildError>((builder.layer(side, wide)?, builder.layer(side, last)?))
        };
        let heads = [head(0)?, head(1)?, head(2)?];
        Ok(Self { stem, pooled: Map::new(SIDE / 4, 32), stages, laterals, heads })
    }

    /// Runs the network on a map of [`SIDE`] x [`SIDE`] normalised BGR pixels. Returns one map a scale, whose pixels
    /// are cells and whose channels are class logits and distance bins.
    pub(crate) fn run(&mut self, picture: &Map) -> [&Map; 3] {
        self.run_with(picture, Map::max_pool_into)
    }

    /// The same with another pooling behind the stem.
    pub(crate) fn run_with(&mut self, picture: &Map, pool: impl Fn(&Map, &mut Map)) -> [&Map; 3] {
        self.stem.run(&[picture]);
        pool(&self.stem.out, &mut self.pooled);
        let [first, second, third, fourth] = &mut self.stages;
        first.run(&[&self.pooled]);
        second.run(&first.out());
        third.run(&second.out());
        fourth.run(&third.out());
        let [fine, middle, coarse] = &mut self.laterals;
        fine.run(&second.out());
        middle.run(&third.out());
        coarse.run(&fourth.out());
        let [fine, middle, coarse] = [&mut fine.out, &mut middle.out, &mut coarse.out];
        middle.add_doubled(coarse);
        fine.add_doubled(middle);
        middle.add_halved(fine);
        coarse.add_halved(middle);
        let necks = self.laterals.iter().map(|lateral| &lateral.out);
        for ((wide, last), neck) in self.heads.iter_mut().zip(necks) {
            wide.run(&[neck]);
            last.run(&[&wide.out]);
        }
        self.heads.each_ref().map(|(_, last)| &last.out)
    }
}

/// A convolution and the map it writes.
#[derive(Debug)]
struct Layer {
    conv: Conv,
    out: Map,
}

impl Layer {
    fn run(&mut self, inputs: &[&Map]) {
        self.conv.run(inputs, &mut self.out);
    }
}

/// A cross-stage-partial block: `entry` x; per residual y = (b(a(y)), a(y)); out = (`exit`(y), x).
#[derive(Debug)]
struct Stage {
    entry: Layer,
    residuals: Vec<(Layer, Layer)>,
    exit: Layer,
}

impl Stage {
    /// A stage of `channels` in, half as many inside, twice as many out.
    fn build<I: Iterator<Item = Weights>>(
        builder: &mut Builder<I>,
        side: usize,
        stride: usize,
        channels: usize,
        residuals: usize,
    ) -> Result<Self, BuildError> {
        let half = channels / 2;
        let wide = Shape { kernel: 3, stride, planes: channels / LANES, width: LANES, outputs: channels, active: true };
        let entry = builder.layer(side, wide)?;
        let wide = Shape { stride: 1, ..wide };
        let inner = Shape { planes: half.div_ceil(LANES), width: half.min(LANES), outputs: half, ..wide };
        let both = Shape { planes: 2 * inner.planes, ..inner };
        let mut pairs = Vec::with_capacity(residuals);
        for residual in 0..residuals {
            let first = if residual == 0 { Shape { outputs: half, ..wide } } else { both };
            pairs.push((builder.layer(side, first)?, builder.layer(side, inner)?));
        }
        let exit = builder.layer(side, Shape { outputs: channels, ..both })?;
        Ok(Self { entry, residuals: pairs, exit })
    }

    fn run(&mut self, inputs: &[&Map]) {
        self.entry.run(inputs);
        for at in 0..self.residuals.len() {
            let (done, rest) = self.residuals.split_at_mut(at);
            let (a, b) = &mut rest[0];
            match done.last() {
                None => a.run(&[&self.entry.out]),
                Some((a_before, b_before)) => a.run(&[&b_before.out, &a_before.out]),
            }
            b.run(&[&a.out]);
        }
        if let Some((a, b)) = self.residuals.last() {
            self.exit.run(&[&b.out, &a.out]);
        }
    }

    fn out(&self) -> [&Map; 2] {
        [&self.exit.out, &self.entry.out]
    }
}

/// Hands out the published convolutions one after the other.
struct Builder<I> {
    weights: I,
    built: usize,
}

impl<I: Iterator<Item = Weights>> Builder<I> {
    fn layer(&mut self, side: usize, shape: Shape) -> Result<Layer, BuildError> {
        let weights = self.weights.next().ok_or(BuildError::Missing(self.built))?;
        let conv = Conv::pack(shape, &weights.kernel, &weights.bias).map_err(|e| BuildError::Shape(self.built, e))?;
        self.built += 1;
        Ok(Layer { conv, out: Map::new(side, shape.outputs) })
    }
}

//! Square convolution with bias and LeakyReLU in one pass, without im2col.
//!
//! The kernel keeps a tile of pixels by one output plane in registers and walks over planes, taps and channels once (an
//! implicit GEMM). Weights are packed at construction in the order of that walk. Every map of the detector is a
//! multiple of [`TILE`] pixels wide (416/32 = 13), and 13 x 2 AVX-512 accumulators with their operands fill the 32
//! registers, so nothing is ragged. Maps are laid out as [`super::map`] says. Sixteen lanes come from `wide`, which is
//! safe and uses what the build's target CPU has.

use wide::f32x16;

use super::map::{LANES, Map};

/// Pixels of a tile: divides the side of every output map.
pub(crate) const TILE: usize = 13;

/// Pixels whose accumulators fit the registers: 32 of 512 bits, or 16 of 256 bits.
const PIXELS: usize = if cfg!(target_feature = "avx512f") { TILE } else { 3 };

/// Negative slope of the activation.
const LEAK: f32 = 0.1;

/// Why a convolution cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kernel} weights and {bias} biases do not fit {shape:?}")]
pub(crate) struct ShapeError {
    shape: Shape,
    kernel: usize,
    bias: usize,
}

/// What a convolution looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Kernel side, 1 or 3; a 3x3 kernel is padded by one zero pixel.
    pub(crate) kernel: usize,
    /// 1 or 2.
    pub(crate) stride: usize,
    /// Input planes, over all input maps.
    pub(crate) planes: usize,
    /// Channels of an input plane: 3, 16 or 32.
    pub(crate) width: usize,
    /// Output channels: 16 or more.
    pub(crate) outputs: usize,
    /// Whether LeakyReLU follows.
    pub(crate) active: bool,
}

impl Shape {
    fn taps(self) -> usize {
        self.kernel * self.kernel
    }

    fn inputs(self) -> usize {
        self.planes * self.width
    }
}

/// One number for each channel of an output plane.
type Lanes = [f32x16; LANES / 16];

/// A convolution, packed.
#[derive(Debug)]
pub(crate) struct Conv {
    shape: Shape,
    /// By output plane, input plane, tap, channel.
    weights: Vec<Lanes>,
    /// By output plane.
    bias: Vec<Lanes>,
}

impl Conv {
    /// Packs a kernel in TensorFlow's order (row, column, input, output) and a bias; absent outputs of the last plane
    /// are zero.
    pub(crate) fn pack(shape: Shape, kernel: &[f32], bias: &[f32]) -> Result<Self, ShapeError> {
        let due = shape.taps() * shape.inputs() * shape.outputs;
        if kernel.len() != due || bias.len() != shape.outputs {
            return Err(ShapeError { shape, kernel: kernel.len(), bias: bias.len() });
        }
        let lanes = |row: &[f32], first: usize| {
            let mut lanes = [0.0; LANES];
            let present = &row[first..row.len().min(first + LANES)];
            lanes[..present.len()].copy_from_slice(present);
            std::array::from_fn::<_, 2, _>(|half| f32x16::from(&lanes[16 * half..16 * (half + 1)]))
        };
        let mut weights = Vec::with_capacity(due.div_ceil(LANES));
        for first in (0..shape.outputs).step_by(LANES) {
            for plane in 0..shape.planes {
                for tap in 0..shape.taps() {
                    let rows = kernel.chunks_exact(shape.outputs).skip(tap * shape.inputs() + plane * shape.width);
                    weights.extend(rows.take(shape.width).map(|row| lanes(row, first)));
                }
            }
        }
        let bias = (0..shape.outputs).step_by(LANES).map(|first| lanes(bias, first)).collect();
        Ok(Self { shape, weights, bias })
    }

    /// Convolves the concatenation of `inputs` into the interior of `out`, on all threads of the current pool.
    ///
    /// # Panics
    /// If the maps do not have the shape that this was built for.
    pub(crate) fn run(&self, inputs: &[&Map], out: &mut Map) {
        let Shape { stride, planes, width, outputs, .. } = self.shape;
        let row_len = inputs[0].row_len();
        assert!(inputs.iter().all(|map| map.width() == width && map.row_len() == row_len));
        assert!(inputs[0].side() == stride * out.side() && out.side().is_multiple_of(TILE));
        assert!(out.planes() == self.bias.len() && out.width() == outputs.min(LANES));
        let sources: Vec<&[f32]> = inputs.iter().flat_map(|map| map.iter()).collect();
        assert_eq!(sources.len(), planes);
        // Two bands a plane: enough for two threads even where there is one plane, few enough to reuse the weights.
        let rows = out.side().div_ceil(2);
        out.fill_bands(rows, |plane, y, out| {
            let band = Band { conv: self, sources: &sources, row_len, plane, y };
            match (width, stride, outputs.min(LANES)) {
                (3, 2, 32) => band.fill::<3, 6, 32, 2>(out),
                (16, 1, 16) => band.fill::<16, 16, 16, 1>(out),
                (16, 1, 32) => band.fill::<16, 16, 32, 2>(out),
                (32, 1, 16) => band.fill::<32, 32, 16, 1>(out),
                (32, 1, 32) => band.fill::<32, 32, 32, 2>(out),
                (32, 2, 32) => band.fill::<32, 64, 32, 2>(out),
                _ => unreachable!("no kernel for {:?}", self.shape),
            }
        });
    }
}

/// Some rows of one output plane, from row `y` on.
///
/// Its functions are generic over numbers of the shape, so that addresses become constant offsets and bounds are
/// checked once a window: `W` channels of an input plane, `STEP` numbers from one output pixel's input to the next
/// one's, `N` channels of an output plane, which are `V` vectors.
struct Band<'a> {
    conv: &'a Conv,
    sources: &'a [&'a [f32]],
    /// Numbers in one bordered row of a source.
    row_len: usize,
    plane: usize,
    y: usize,
}

impl Band<'_> {
    /// Fills bordered rows but for their borders.
    fn fill<const W: usize, const STEP: usize, const N: usize, const V: usize>(&self, rows: &mut [f32]) {
        let stride = STEP / W;
        let side = (self.row_len / W - 2) / stride;
        for (i, row) in rows.chunks_exact_mut((side + 2) * N).enumerate() {
            let pixels = &mut row.as_chunks_mut::<N>().0[1..=side];
            let top = (self.y + i) * stride * self.row_len;
            for (t, tile) in pixels.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
                let (parts, rest) = tile.as_chunks_mut::<PIXELS>();
                let mut first = top + t * TILE * STEP;
                for part in parts {
                    self.tile::<W, STEP, N, V, PIXELS>(first, part);
                    first += PIXELS * STEP;
                }
                for pixel in rest {
                    self.tile::<W, STEP, N, V, 1>(first, std::array::from_mut(pixel));
                    first += STEP;
                }
            }
        }
    }

    /// Fills `P` pixels, whose input windows begin at `first` of each source.
    #[allow(clippy::inline_always, reason = "the accumulators have to stay in registers of the caller's loop")]
    #[inline(always)]
    fn tile<const W: usize, const STEP: usize, const N: usize, const V: usize, const P: usize>(
        &self,
        first: usize,
        out: &mut [[f32; N]; P],
    ) {
        let Shape { kernel, planes, active, .. } = self.conv.shape;
        let taps = kernel * kernel;
        let mut acc = [*leading::<V>(&self.conv.bias[self.plane]); P];
        let mut weights = self.conv.weights[self.plane * planes * taps * W..].as_chunks::<W>().0.iter();
        for source in self.sources {
            for tap in 0..taps {
                let (down, right) = if kernel == 1 { (1, 1) } else { (tap / 3, tap % 3) };
                let window = &source[first + down * self.row_len + right * W..];
                let (Some(pixels), Some(weights)) = (window.as_chunks::<STEP>().0.first_chunk::<P>(), weights.next())
                else {
                    unreachable!("maps and weights have the shape checked in run");
                };
                for (channel, weights) in weights.iter().enumerate() {
                    let weights = leading::<V>(weights);
                    for (acc, pixel) in acc.iter_mut().zip(pixels) {
                        let x = f32x16::splat(pixel[channel]);
                        for (acc, weight) in acc.iter_mut().zip(weights) {
                            *acc = x.mul_add(*weight, *acc);
                        }
                    }
                }
            }
        }
        let leak = f32x16::splat(if active { LEAK } else { 1.0 });
        for (acc, out) in acc.iter().zip(out) {
            for (acc, out) in acc.iter().zip(out.as_chunks_mut::<16>().0) {
                *out = acc.fast_max(*acc * leak).to_array();
            }
        }
    }
}

/// The first `V` vectors.
#[inline]
fn leading<const V: usize>(lanes: &Lanes) -> &[f32x16; V] {
    lanes.first_chunk().expect("a plane has at most two vectors")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 + seed * 11 + i / 7) % 23) as f32 / 8.0 - 1.25).collect()
    }

    fn fill(side: usize, channels: usize, seed: usize) -> Map {
        let mut map = Map::new(side, channels);
        for plane in 0..map.planes() {
            for y in 0..side {
                let row = map.row_mut(plane, y);
                row.copy_from_slice(&numbers(row.len(), seed + 5 * plane + y));
            }
        }
        map
    }

    /// The definition of a convolution, one output at a time, in f64.
    fn defined(shape: Shape, inputs: &[&Map], kernel: &[f32], bias: f32, out: usize, y: usize, x: usize) -> f64 {
        let side = inputs[0].side() as isize;
        let pad = (shape.kernel / 2) as isize;
        let mut sum = f64::from(bias);
        for tap in 0..shape.taps() {
            let y = (y * shape.stride + tap / shape.kernel) as isize - pad;
            let x = (x * shape.stride + tap % shape.kernel) as isize - pad;
            if !(0..side).contains(&y) || !(0..side).contains(&x) {
                continue;
            }
            let channels = inputs
                .iter()
                .flat_map(|map| (0..map.planes()).flat_map(|plane| map.pixel(plane, y as usize, x as usize)));
            for (i, value) in channels.enumerate() {
                sum += f64::from(*value) * f64::from(kernel[(tap * shape.inputs() + i) * shape.outputs + out]);
            }
        }
        if shape.active { sum.max(0.1 * sum) } else { sum }
    }

    #[test]
    fn every_kernel_is_the_defined_convolution() {
        let shape =
            |kernel, stride, planes, width, outputs, active| Shape { kernel, stride, planes, width, outputs, active };
        let shapes = [
            (shape(3, 2, 1, 3, 32, true), 26, vec![3]),
            (shape(3, 1, 2, 16, 16, true), 13, vec![16, 16]),
            (shape(3, 1, 2, 16, 32, true), 26, vec![16, 16]),
            (shape(3, 1, 1, 32, 16, true), 13, vec![32]),
            (shape(3, 1, 3, 32, 64, true), 26, vec![64, 32]),
            (shape(3, 2, 2, 32, 64, true), 26, vec![32, 32]),
            (shape(1, 1, 4, 32, 124, false), 13, vec![128]),
        ];
        for (case, (shape, side, channels)) in shapes.into_iter().enumerate() {
            let maps: Vec<Map> = channels.iter().enumerate().map(|(i, n)| fill(side, *n, case + i)).collect();
            let inputs: Vec<&Map> = maps.iter().collect();
            let kernel = numbers(shape.taps() * shape.inputs() * shape.outputs, 3 * case);
            let bias = numbers(shape.outputs, case);
            let conv = Conv::pack(shape, &kernel, &bias).expect("the sizes fit");
            let mut out = Map::new(side / shape.stride, shape.outputs);
            conv.run(&inputs, &mut out);
            let last = out.side() - 1;
            for at in [(0, 0), (0, last), (last, 0), (last, last), (1, 5), (last / 2, 12)] {
                for (channel, bias) in bias.iter().enumerate() {
                    let due = defined(shape, &inputs, &kernel, *bias, channel, at.0, at.1);
                    let got = f64::from(out.pixel(channel / LANES, at.0, at.1)[channel % LANES]);
                    assert!((due - got).abs() < 1e-3, "{shape:?} channel {channel} at {at:?}: {got}, not {due}");
                }
            }
        }
    }

    #[test]
    fn a_kernel_of_another_size_is_refused() {
        let shape = Shape { kernel: 3, stride: 1, planes: 1, width: 32, outputs: 32, active: true };
        let pack = |weights, biases| Conv::pack(shape, &vec![0.0; weights], &vec![0.0; biases]);
        assert!(pack(9 * 32 * 32, 32).is_ok());
        assert!(pack(9 * 32 * 31, 32).is_err());
        assert!(pack(9 * 32 * 32, 31).is_err());
    }
}

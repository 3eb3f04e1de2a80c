//! A square feature map, laid out for the convolution kernel.
//!
//! Channels are split into *planes* of `width` channels (at most [`LANES`]); a plane holds its pixels row by row, the
//! channels of a pixel side by side (NCHWc). Every plane has a border of one zero pixel, so a 3x3 convolution never
//! looks outside, and concatenating maps is passing several of them. The border is written once, at construction:
//! everything that fills a map touches its interior only.

use rayon::prelude::*;

/// Channels of a full plane: two AVX-512 registers.
pub(crate) const LANES: usize = 32;

/// `planes * width` channels of `side * side` pixels.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    side: usize,
    width: usize,
    planes: usize,
    data: Vec<f32>,
}

impl Map {
    /// A map of zeros. `channels` is rounded up to whole planes.
    pub(crate) fn new(side: usize, channels: usize) -> Self {
        let width = channels.min(LANES);
        let planes = channels.div_ceil(width);
        let mut map = Self { side, width, planes, data: Vec::new() };
        map.data = vec![0.0; planes * map.plane_len()];
        map
    }

    /// Pixels a row, and rows.
    pub(crate) fn side(&self) -> usize {
        self.side
    }

    /// Channels a plane.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Number of planes.
    pub(crate) fn planes(&self) -> usize {
        self.planes
    }

    /// Numbers in one row of a plane, border included.
    pub(crate) fn row_len(&self) -> usize {
        (self.side + 2) * self.width
    }

    /// Numbers in one plane: the bordered rows and one more pixel, because a stride-2 window is cut in steps of two
    /// pixels and its last step ends one pixel past the map.
    fn plane_len(&self) -> usize {
        (self.side + 2) * self.row_len() + self.width
    }

    /// Each plane with its border.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.data.chunks_exact(self.plane_len())
    }

    /// The channels of one pixel of one plane.
    pub(crate) fn pixel(&self, plane: usize, y: usize, x: usize) -> &[f32] {
        let start = plane * self.plane_len() + (y + 1) * self.row_len() + (x + 1) * self.width;
        &self.data[start..start + self.width]
    }

    /// The inside of one row of one plane, without its border.
    pub(crate) fn row_mut(&mut self, plane: usize, y: usize) -> &mut [f32] {
        let start = plane * self.plane_len() + (y + 1) * self.row_len() + self.width;
        let len = self.side * self.width;
        &mut self.data[start..start + len]
    }

    /// Runs `fill(plane, y, rows)` over bands of at most `rows` bordered interior rows, in parallel.
    pub(crate) fn fill_bands(&mut self, rows: usize, fill: impl Fn(usize, usize, &mut [f32]) + Sync) {
        let (plane_len, row_len, side) = (self.plane_len(), self.row_len(), self.side);
        self.data.par_chunks_exact_mut(plane_len).enumerate().for_each(|(plane, data)| {
            let interior = &mut data[row_len..row_len * (side + 1)];
            let bands = interior.par_chunks_mut(rows * row_len).enumerate();
            bands.for_each(|(band, data)| fill(plane, band * rows, data));
        });
    }

    /// 3x3 maximum with stride 2; pixels outside the map do not count (as in the original; counting them as zero is
    /// wrong because activations may be negative).
    pub(crate) fn max_pool_into(&self, out: &mut Self) {
        let last = self.side - 1;
        out.fill_bands(8, |plane, y, rows| {
            for (i, row) in rows.chunks_exact_mut((last / 2 + 3) * self.width).enumerate() {
                let centre = 2 * (y + i);
                let pixels = row.chunks_exact_mut(self.width).skip(1).take(last / 2 + 1);
                for (x, best) in pixels.enumerate() {
                    best.copy_from_slice(self.pixel(plane, centre, 2 * x));
                    for near in centre.saturating_sub(1)..=(centre + 1).min(last) {
                        for beside in (2 * x).saturating_sub(1)..=(2 * x + 1).min(last) {
                            zip_with(best, self.pixel(plane, near, beside), f32::max);
                        }
                    }
                }
            }
        });
    }

    /// Adds `small`, doubled by bilinear interpolation between pixel centres (edges repeat).
    pub(crate) fn add_doubled(&mut self, small: &Self) {
        let last = small.side - 1;
        for plane in 0..self.planes {
            for y in 0..self.side {
                let (near_y, far_y) = neighbours(y, last);
                for (x, sum) in self.row_mut(plane, y).chunks_exact_mut(small.width).enumerate() {
                    let (near_x, far_x) = neighbours(x, last);
                    let corners = [
                        (9.0 / 16.0, near_y, near_x),
                        (3.0 / 16.0, near_y, far_x),
                        (3.0 / 16.0, far_y, near_x),
                        (1.0 / 16.0, far_y, far_x),
                    ];
                    for (weight, y, x) in corners {
                        zip_with(sum, small.pixel(plane, y, x), |a, b| a + weight * b);
                    }
                }
            }
        }
    }

    /// Adds `large`, halved: the mean of each 2x2 pixels, which is what bilinear interpolation by 0.5 amounts to.
    pub(crate) fn add_halved(&mut self, large: &Self) {
        for plane in 0..self.planes {
            for y in 0..self.side {
                for (x, sum) in self.row_mut(plane, y).chunks_exact_mut(large.width).enumerate() {
                    for (dy, dx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        zip_with(sum, large.pixel(plane, 2 * y + dy, 2 * x + dx), |a, b| a + 0.25 * b);
                    }
                }
            }
        }
    }
}

/// The nearer and the farther source pixel of pixel `at` of a doubled row.
fn neighbours(at: usize, last: usize) -> (usize, usize) {
    let near = at / 2;
    let far = if at.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(last) };
    (near, far)
}

fn zip_with(to: &mut [f32], from: &[f32], f: impl Fn(f32, f32) -> f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = f(*to, *from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(side: usize, values: &[f32]) -> Map {
        let mut map = Map::new(side, 1);
        for (y, row) in values.chunks(side).enumerate() {
            map.row_mut(0, y).copy_from_slice(row);
        }
        map
    }

    fn values(map: &Map) -> Vec<f32> {
        (0..map.side * map.side).map(|i| map.pixel(0, i / map.side, i % map.side)[0]).collect()
    }

    #[test]
    fn pooling_ignores_what_is_outside() {
        let from = map(4, &[-9., -8., -7., -6., -5., -4., -3., -2., -9., -8., -7., -6., -1., -2., -3., -4.]);
        let mut to = map(2, &[0.0; 4]);
        from.max_pool_into(&mut to);
        assert_eq!(values(&to), [-4., -2., -1., -2.]);
    }

    #[test]
    fn doubling_repeats_edges_and_blends_inside() {
        let mut to = map(4, &[1.0; 16]);
        to.add_doubled(&map(2, &[0., 4., 0., 4.]));
        assert_eq!(values(&to)[..4], [1., 2., 4., 5.]);
        to.add_doubled(&map(2, &[0., 0., 16., 16.]));
        assert_eq!(values(&to)[4..8], [5., 6., 8., 9.]);
    }

    #[test]
    fn halving_is_a_mean() {
        let mut to = map(1, &[1.0]);
        to.add_halved(&map(2, &[1., 2., 3., 6.]));
        assert_eq!(values(&to), [4.0]);
    }

    #[test]
    fn borders_stay_zero() {
        let mut map = Map::new(2, 40);
        map.fill_bands(1, |_, _, rows| rows[LANES..3 * LANES].fill(1.0));
        assert_eq!(map.planes(), 2);
        let sums = map.iter().map(|plane| plane.iter().sum::<f32>());
        assert_eq!(sums.collect::<Vec<_>>(), [128.0, 128.0]);
    }
}

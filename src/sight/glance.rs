//! A picture looked at cheaply: brightness at fixed points, averaged in cells.

use crate::domain::Picture;

/// Cells side by side and above one another. At 768 pixels a row a cell is 16 pixels wide: a walking person, as small
/// as the captioner can name one, covers three or more.
pub(super) const COLUMNS: usize = 48;
pub(super) const ROWS: usize = 36;
pub(super) const CELLS: usize = COLUMNS * ROWS;
/// Points along each side of a cell. Sixteen points make a quarter of a pixel's noise.
const SIDE: usize = 4;
const PER_CELL: usize = SIDE * SIDE;

/// Brightness (0 to 255) of a picture at `CELLS` × 16 points, spread evenly whatever its size; some 30 kB. The cost
/// does not grow with the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    /// Cell after cell, row by row.
    points: Box<[u8]>,
    /// Mean of each cell.
    cells: Box<[f32]>,
    mean: f32,
    deviation: f32,
}

impl Glance {
    /// Looks at an RGB picture, by Rec. 601.
    pub fn of(picture: &Picture) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let rgb = picture.rgb();
        Self::of_luma(width, height, |x, y| {
            let at = 3 * (y * width + x);
            let [r, g, b] = [0, 1, 2].map(|i| u32::from(rgb[at + i]));
            ((77 * r + 150 * g + 29 * b) >> 8) as u8
        })
    }

    /// Looks at any picture of at least one pixel whose brightness `luma(x, y)` is known.
    pub fn of_luma(width: usize, height: usize, luma: impl Fn(usize, usize) -> u8) -> Self {
        let place = |i: usize, count: usize, length: usize| ((2 * i + 1) * length / (2 * count)).min(length - 1);
        let xs: Vec<usize> = (0..COLUMNS * SIDE).map(|i| place(i, COLUMNS * SIDE, width)).collect();
        let ys: Vec<usize> = (0..ROWS * SIDE).map(|i| place(i, ROWS * SIDE, height)).collect();
        let mut points = Vec::with_capacity(CELLS * PER_CELL);
        for cell in 0..CELLS {
            let (row, column) = (cell / COLUMNS, cell % COLUMNS);
            for &y in &ys[row * SIDE..(row + 1) * SIDE] {
                points.extend(xs[column * SIDE..(column + 1) * SIDE].iter().map(|&x| luma(x, y)));
            }
        }
        Self::from_points(points)
    }

    fn from_points(points: Vec<u8>) -> Self {
        let sums = points.chunks_exact(PER_CELL).map(|cell| cell.iter().map(|&point| u32::from(point)).sum::<u32>());
        let cells: Box<[f32]> = sums.map(|sum| sum as f32 / PER_CELL as f32).collect();
        let count = points.len() as f64;
        let sum: u64 = points.iter().map(|&point| u64::from(point)).sum();
        let squares: u64 = points.iter().map(|&point| u64::from(point).pow(2)).sum();
        let mean = sum as f64 / count;
        let variance = (squares as f64 / count - mean * mean).max(0.0);
        Self { points: points.into(), cells, mean: mean as f32, deviation: variance.sqrt() as f32 }
    }

    /// Mean brightness.
    pub(super) fn mean(&self) -> f32 {
        self.mean
    }

    /// Standard deviation of the points, noise included.
    pub(super) fn deviation(&self) -> f32 {
        self.deviation
    }

    pub(super) fn cells(&self) -> &[f32] {
        &self.cells
    }

    /// Brightness by the place from left (0) to right (1), for tests of whoever makes glances.
    #[cfg(test)]
    pub(crate) fn columns(&self) -> impl Iterator<Item = (f32, f32)> {
        self.cells.iter().enumerate().map(|(cell, &luma)| ((cell % COLUMNS) as f32 / COLUMNS as f32, luma))
    }

    /// The share of points that are not the same to the last level.
    pub(super) fn differing(&self, other: &Self) -> f32 {
        let differing = self.points.iter().zip(&*other.points).filter(|(a, b)| a != b).count();
        differing as f32 / self.points.len() as f32
    }
}

/// Pictures for the tests of this module.
#[cfg(test)]
pub(super) mod drawn {
    use super::*;

    pub(in crate::sight) const WIDTH: usize = 768;
    pub(in crate::sight) const HEIGHT: usize = 576;

    /// Something that covers part of the street.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::sight) struct Thing {
        pub(in crate::sight) x: usize,
        pub(in crate::sight) y: usize,
        pub(in crate::sight) width: usize,
        pub(in crate::sight) height: usize,
        pub(in crate::sight) luma: u8,
    }

    /// A street of blocks of every brightness, with noise of a deviation of `noise` levels, under a light of
    /// `gain` and `offset`, and with things on it.
    pub(in crate::sight) fn street(seed: u64, noise: f32, gain: f32, offset: f32, things: &[Thing]) -> Glance {
        let random = std::cell::RefCell::new(fastrand::Rng::with_seed(seed));
        Glance::of_luma(WIDTH, HEIGHT, |x, y| {
            let block = (x / 60 * 31 + y / 45 * 57) % 170;
            let on = |thing: &&Thing| {
                (thing.x..thing.x + thing.width).contains(&x) && (thing.y..thing.y + thing.height).contains(&y)
            };
            let scene = things.iter().find(on).map_or(40.0 + block as f32, |thing| f32::from(thing.luma));
            // The sum of three uniform numbers has a deviation of a half.
            let mut random = random.borrow_mut();
            let bell: f32 = (0..3).map(|_| random.f32() - 0.5).sum();
            (scene * gain + offset + 2.0 * noise * bell).round().clamp(0.0, 255.0) as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_knows_brightness_and_does_not_grow() {
        let stripes = Glance::of_luma(400, 300, |x, _| if x < 200 { 10 } else { 50 });
        assert_eq!((stripes.mean(), stripes.deviation()), (30.0, 20.0));
        assert_eq!((stripes.cells()[0], stripes.cells()[CELLS - 1]), (10.0, 50.0));
        for (width, height) in [(1, 1), (3, 1), (17, 500), (4096, 2160)] {
            let glance = Glance::of_luma(width, height, |x, y| {
                assert!(x < width && y < height);
                9
            });
            assert_eq!((glance.points.len(), glance.mean()), (CELLS * PER_CELL, 9.0));
        }
    }

    #[test]
    fn red_green_and_blue_are_weighted_as_the_eye_does() {
        for (rgb, due) in [([255, 255, 255], 255.0), ([255, 0, 0], 76.0), ([0, 255, 0], 149.0), ([0, 0, 255], 28.0)] {
            let picture = Picture::new(1, 1, rgb.to_vec()).expect("one pixel");
            assert_eq!(Glance::of(&picture).mean(), due, "{rgb:?}");
        }
    }

    #[test]
    fn differing_points_are_counted() {
        let plain = Glance::of_luma(192, 144, |_, _| 7);
        let half = Glance::of_luma(192, 144, |x, _| if x < 96 { 7 } else { 8 });
        assert_eq!((plain.differing(&plain), plain.differing(&half)), (0.0, 0.5));
    }
}

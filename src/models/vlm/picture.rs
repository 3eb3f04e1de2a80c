//! From a picture to what the eyes take: resized as in training, normalised, cut into patches.
//!
//! Resizing goes through `fast_image_resize`, in the order and with the filters of the reference (Pillow), antialiased.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::F32x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use serde::Deserialize;

use crate::domain::Picture;
use crate::models::net::vlm::Grid;

/// Longer pictures are refused by the reference, too.
const MOST_SLENDER: f64 = 200.0;

/// Why a picture cannot be prepared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PictureError {
    /// A strip.
    #[error("{width}x{height} is more than 200 times as long as it is wide")]
    Slender {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// What the resizer says.
    #[error("cannot be resized: {0}")]
    Resize(String),
}

/// `preprocessor_config.json`, as far as we follow it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Processor {
    pub(super) image_mean: Option<[f32; 3]>,
    pub(super) image_std: Option<[f32; 3]>,
    size: Option<Size>,
    min_pixels: Option<u64>,
    max_image_size: Option<Size>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Size {
    longest_edge: Option<u64>,
    shortest_edge: Option<u64>,
}

impl Processor {
    /// What is wrong with the numbers that every value of a picture is scaled by, if anything is.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        let mean = self.image_mean.unwrap_or_default();
        let deviation = self.image_std.unwrap_or([1.0; 3]);
        if !mean.iter().all(|value| value.is_finite()) {
            Some("image_mean must be three finite numbers")
        } else if !deviation.iter().all(|value| value.is_finite() && *value > 0.0) {
            Some("image_std must be three numbers above zero")
        } else {
            None
        }
    }

    /// Fewest pixels of a Qwen3-VL picture; a picture is enlarged to as many.
    pub(super) fn fewest_pixels(&self) -> u64 {
        self.min_pixels.or(self.size.and_then(|size| size.shortest_edge)).unwrap_or(65_536)
    }

    /// To what length SmolVLM's pictures are first brought.
    pub(super) fn longest_edge(&self) -> u64 {
        self.size.and_then(|size| size.longest_edge).unwrap_or(2048).clamp(1, 4096)
    }

    /// Side of SmolVLM's square, if the file names it.
    pub(super) fn square(&self) -> Option<u64> {
        self.max_image_size.and_then(|size| size.longest_edge)
    }
}

/// From bytes to numbers around zero.
#[derive(Debug, Clone)]
pub(super) struct Normal([[f32; 256]; 3]);

impl Normal {
    pub(super) fn new(mean: [f32; 3], deviation: [f32; 3]) -> Self {
        let of = |channel: usize, value: usize| (value as f32 / 255.0 - mean[channel]) / deviation[channel];
        Self(std::array::from_fn(|channel| std::array::from_fn(|value| of(channel, value))))
    }

    /// All of red, then green, then blue.
    pub(super) fn planes(&self, rgb: &[u8]) -> Vec<f32> {
        let plane =
            |channel: usize| rgb[channel..].iter().step_by(3).map(move |value| self.0[channel][*value as usize]);
        (0..3).flat_map(plane).collect()
    }
}

/// A picture of another size: first of another width, then of another height, with bytes in between, as in Pillow and
/// torchvision; the other order differs by three grey levels and more in noise. (Pillow 13 turns it round for some sizes
/// that are taller than wide.) Computed in f32: the resizer's own arithmetic for bytes is off by a level, and two resizes by
/// two.
pub(super) fn resize(
    rgb: &[u8],
    size: (u32, u32),
    (new_width, new_height): (u32, u32),
    filter: FilterType,
) -> Result<Vec<u8>, PictureError> {
    let wide = resize_along(rgb, size, (new_width, size.1), filter)?;
    resize_along(&wide, (new_width, size.1), (new_width, new_height), filter)
}

/// One of the two sides stays.
fn resize_along(
    rgb: &[u8],
    (width, height): (u32, u32),
    (new_width, new_height): (u32, u32),
    filter: FilterType,
) -> Result<Vec<u8>, PictureError> {
    if (width, height) == (new_width, new_height) {
        return Ok(rgb.to_vec());
    }
    let failed = |error: &dyn std::fmt::Display| PictureError::Resize(error.to_string());
    let pixels: Vec<F32x3> = rgb.as_chunks().0.iter().map(|pixel: &[u8; 3]| F32x3::new(pixel.map(f32::from))).collect();
    let source = TypedImageRef::new(width, height, &pixels).map_err(|e| failed(&e))?;
    let mut target = vec![F32x3::new([0.0; 3]); new_width as usize * new_height as usize];
    let mut image = TypedImage::from_pixels_slice(new_width, new_height, &mut target).map_err(|e| failed(&e))?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
    Resizer::new().resize_typed(&source, &mut image, &options).map_err(|e| failed(&e))?;
    Ok(target.iter().flat_map(|pixel| pixel.0.map(|value| (value + 0.5).clamp(0.0, 255.0) as u8)).collect())
}

/// The size at which Qwen3-VL looks at a picture: multiples of `factor`, close to its shape, between `fewest` and `most`
/// pixels. Rounds halves to even, as Python does.
pub(super) fn smart_size(
    (width, height): (u32, u32),
    factor: u32,
    fewest: u64,
    most: u64,
) -> Result<(u32, u32), PictureError> {
    let (w, h, step) = (f64::from(width), f64::from(height), f64::from(factor));
    if w.max(h) / w.min(h) > MOST_SLENDER {
        return Err(PictureError::Slender { width, height });
    }
    let near = |side: f64| (side / step).round_ties_even() * step;
    let (mut wide, mut high) = (near(w), near(h));
    if wide * high > most as f64 {
        let shrink = (h * w / most as f64).sqrt();
        let fit = |side: f64| ((side / shrink / step).floor() * step).max(step);
        (wide, high) = (fit(w), fit(h));
    } else if wide * high < fewest as f64 {
        let grow = (fewest as f64 / (h * w)).sqrt();
        let fit = |side: f64| (side * grow / step).ceil() * step;
        (wide, high) = (fit(w), fit(h));
    }
    Ok((wide as u32, high as u32))
}

/// The size of SmolVLM's first resize: the longer side becomes `longest`, the other follows, and is made even.
pub(super) fn longest_size((width, height): (u32, u32), longest: u32) -> (u32, u32) {
    let ratio = f64::from(width) / f64::from(height);
    let even = |side: f64| (side as u32).next_multiple_of(2).max(1);
    if width >= height {
        (longest, even(f64::from(longest) / ratio))
    } else {
        (even(f64::from(longest) * ratio), longest)
    }
}

/// How a picture is cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Pixels a side of a patch.
    pub(super) patch: usize,
    /// Patches a side of the square that becomes a token; 1 keeps them in rows.
    pub(super) merge: usize,
    /// How often a patch is repeated for a network that was made for videos.
    pub(super) frames: usize,
}

impl Cut {
    /// Patches of normalised planes, `3 * frames * patch * patch` numbers each: squares of `merge` x `merge` in rows, in
    /// each square its patches in rows.
    pub(super) fn patches(self, planes: &[f32], width: usize, height: usize) -> Vec<f32> {
        let Self { patch, merge, frames } = self;
        let (columns, squares) = (width / patch / merge, (width / patch / merge) * (height / patch / merge));
        let mut out = Vec::with_capacity(planes.len() * frames);
        for square in 0..squares {
            for inside in 0..merge * merge {
                let top = (square / columns * merge + inside / merge) * patch;
                let left = (square % columns * merge + inside % merge) * patch;
                for channel in 0..3 {
                    let rows = (top..top + patch).map(|row| (channel * height + row) * width + left);
                    let start = out.len();
                    rows.for_each(|at| out.extend_from_slice(&planes[at..at + patch]));
                    for _ in 1..frames {
                        out.extend_from_within(start..start + patch * patch);
                    }
                }
            }
        }
        out
    }

    /// Tokens of a picture of this size.
    pub(super) fn grid(self, width: usize, height: usize) -> Grid {
        let side = self.patch * self.merge;
        Grid { rows: height / side, columns: width / side }
    }
}

/// A picture made square by force, with the reference's filter.
pub(super) fn squared(picture: &Picture, side: u32, filter: FilterType) -> Result<Vec<u8>, PictureError> {
    resize(picture.rgb(), (picture.width(), picture.height()), (side, side), filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_reference() {
        // From `smart_resize` of transformers 5.24.
        for (size, factor, fewest, most, due) in [
            ((1920, 1080), 32, 65_536, 245_760, (640, 352)),
            ((640, 360), 32, 65_536, 245_760, (640, 352)),
            ((768, 576), 32, 65_536, 245_760, (544, 416)),
            ((100, 70), 32, 65_536, 245_760, (320, 224)),
            ((90, 70), 16, 1024, 4096, (64, 48)),
            ((60, 100), 16, 1024, 4096, (48, 80)),
            ((48, 80), 32, 1024, 1 << 20, (64, 64)),
            ((8, 8), 32, 1, 1 << 20, (32, 32)),
        ] {
            assert_eq!(smart_size(size, factor, fewest, most), Ok(due), "{size:?}");
        }
        assert!(smart_size((4000, 10), 32, 1, 1 << 20).is_err());
    }

    #[test]
    fn the_longest_side_leads() {
        assert_eq!(longest_size((640, 360), 2048), (2048, 1152));
        assert_eq!(longest_size((90, 70), 128), (128, 100));
        assert_eq!(longest_size((60, 100), 128), (76, 128));
    }

    #[test]
    fn patches_lie_in_squares() {
        // One plane counts its pixels, so that a patch of one pixel names its place.
        let planes: Vec<f32> = (0..3 * 8).map(|i| i as f32).collect();
        let cut = Cut { patch: 1, merge: 2, frames: 2 };
        let patches = cut.patches(&planes, 4, 2);
        assert_eq!(patches[..6], [0.0, 0.0, 8.0, 8.0, 16.0, 16.0]);
        let reds: Vec<f32> = patches.chunks(6).map(|patch| patch[0]).collect();
        assert_eq!(reds, [0.0, 1.0, 4.0, 5.0, 2.0, 3.0, 6.0, 7.0]);
        let rows = Cut { patch: 1, merge: 1, frames: 1 }.patches(&planes, 4, 2);
        assert_eq!(
            rows.chunks(3).map(|patch| patch[0]).collect::<Vec<_>>(),
            (0..8).map(|i| i as f32).collect::<Vec<_>>()
        );
    }
}

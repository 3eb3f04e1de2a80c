//! From a picture to the detector's input: scaled to fit, centred on black, BGR, normalised as in training.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use super::detect::Area;
use crate::domain::Picture;
use crate::models::net::map::Map;
use crate::models::net::nanodet::SIDE;

/// Mean and standard deviation of blue, green and red in 0..=255, from the training configuration.
pub(super) const MEAN: [f32; 3] = [103.53, 116.28, 123.675];
pub(super) const DEVIATION: [f32; 3] = [57.375, 57.12, 58.395];

/// Where a picture lies in the detector's square, in its pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Fit {
    /// The largest centred rectangle of the picture's shape; at least one pixel each way.
    pub(super) fn of(width: u32, height: u32) -> Self {
        let longer = f64::from(width.max(height));
        let scaled = |side: u32| ((f64::from(side) * SIDE as f64 / longer).round() as usize).clamp(1, SIDE);
        let (width, height) = (scaled(width), scaled(height));
        Self { left: (SIDE - width) / 2, top: (SIDE - height) / 2, width, height }
    }

    /// From pixels of the square to parts of the picture, clipped to it.
    pub(super) fn to_picture(self, left: f32, top: f32, right: f32, bottom: f32) -> Area {
        let across = |x: f32| ((x - self.left as f32) / self.width as f32).clamp(0.0, 1.0);
        let down = |y: f32| ((y - self.top as f32) / self.height as f32).clamp(0.0, 1.0);
        Area { left: across(left), top: down(top), right: across(right), bottom: down(bottom) }
    }
}

/// Reusable buffers.
#[derive(Debug)]
pub(super) struct Letterbox {
    resizer: Resizer,
    small: Vec<U8x3>,
    /// Normalised value of each byte, by channel in BGR order.
    normal: [[f32; 256]; 3],
    input: Map,
}

impl Letterbox {
    pub(super) fn new() -> Self {
        let normal =
            |channel: usize| std::array::from_fn(|value: usize| (value as f32 - MEAN[channel]) / DEVIATION[channel]);
        Self {
            resizer: Resizer::new(),
            small: vec![U8x3::new([0; 3]); SIDE * SIDE],
            normal: std::array::from_fn(normal),
            input: Map::new(SIDE, 3),
        }
    }

    /// The detector's input, and where the picture is in it.
    pub(super) fn fit(&mut self, picture: &Picture) -> Result<(&Map, Fit), String> {
        let fit = Fit::of(picture.width(), picture.height());
        let from = TypedImageRef::<U8x3>::from_buffer(picture.width(), picture.height(), picture.rgb());
        let small = &mut self.small[..fit.width * fit.height];
        let to = TypedImage::from_pixels_slice(fit.width as u32, fit.height as u32, small);
        let (from, mut to) = (from.map_err(|e| e.to_string())?, to.map_err(|e| e.to_string())?);
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
        self.resizer.resize_typed(&from, &mut to, &options).map_err(|e| e.to_string())?;
        let [blue, green, red] = &self.normal;
        let black = [blue[0], green[0], red[0]];
        for y in 0..SIDE {
            let row = self.input.row_mut(0, y).as_chunks_mut().0;
            row.fill(black);
            let Some(from) = y.checked_sub(fit.top).filter(|y| *y < fit.height) else { continue };
            let from = &self.small[from * fit.width..][..fit.width];
            for (to, pixel) in row[fit.left..].iter_mut().zip(from) {
                let [r, g, b] = pixel.0.map(usize::from);
                *to = [blue[b], green[g], red[r]];
            }
        }
        Ok((&self.input, fit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_shape() {
        let cases = [
            ((768, 576), (0, 52, 416, 312)),
            ((576, 768), (52, 0, 312, 416)),
            ((416, 416), (0, 0, 416, 416)),
            ((1, 1), (0, 0, 416, 416)),
            ((641, 273), (0, 119, 416, 177)),
            ((1, 4000), (207, 0, 1, 416)),
        ];
        for ((width, height), (left, top, w, h)) in cases {
            assert_eq!(Fit::of(width, height), Fit { left, top, width: w, height: h }, "{width}x{height}");
        }
    }

    #[test]
    fn boxes_come_back_in_parts_of_the_picture() {
        let area = Fit::of(768, 576).to_picture(104.0, 52.0, 500.0, 208.0);
        assert_eq!(area, Area { left: 0.25, top: 0.0, right: 1.0, bottom: 0.5 });
    }

    #[test]
    fn channels_are_bgr_and_bars_are_black() {
        let picture = Picture::new(2, 1, vec![10, 20, 30, 10, 20, 30]).expect("six bytes");
        let mut letterbox = Letterbox::new();
        let (map, _) = letterbox.fit(&picture).expect("fits");
        let value = |value: f32, channel: usize| (value - MEAN[channel]) / DEVIATION[channel];
        assert_eq!(map.pixel(0, 208, 208), [value(30.0, 0), value(20.0, 1), value(10.0, 2)]);
        assert_eq!(map.pixel(0, 0, 0), [value(0.0, 0), value(0.0, 1), value(0.0, 2)]);
    }
}

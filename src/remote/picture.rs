//! Pictures as endpoints take them. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fast_image_resize::images::Image;
use fast_image_resize::{PixelType, ResizeOptions, Resizer};
use jpeg_encoder::{ColorType, Encoder};

use crate::domain::Picture;

const QUALITY: u8 = 90;

/// `data:image/jpeg;base64,…` of `picture`, made smaller until no side is longer than `max_side`.
pub(super) fn data_url(picture: &Picture, max_side: u32) -> Result<String, String> {
    let (width, height) = fit(picture.width(), picture.height(), max_side);
    let mut jpeg = Vec::new();
    let mut encode = |rgb: &[u8]| {
        let encoder = Encoder::new(&mut jpeg, QUALITY);
        encoder.encode(rgb, width as u16, height as u16, ColorType::Rgb).map_err(|error| error.to_string())
    };
    if (width, height) == (picture.width(), picture.height()) {
        encode(picture.rgb())?;
    } else {
        encode(&scaled(picture, width, height)?)?;
    }
    Ok(format!("data:image/jpeg;base64,{}", STANDARD.encode(jpeg)))
}

/// Both sides in the same proportion, none longer than `max_side`, none shorter than a pixel.
fn fit(width: u32, height: u32, max_side: u32) -> (u32, u32) {
    // JPEG counts sides in 16 bits; the configuration allows fewer.
    let max_side = max_side.min(u32::from(u16::MAX));
    let longest = width.max(height);
    if longest <= max_side {
        return (width, height);
    }
    let scale = |side: u32| ((u64::from(side) * u64::from(max_side) / u64::from(longest)) as u32).max(1);
    (scale(width), scale(height))
}

fn scaled(picture: &Picture, width: u32, height: u32) -> Result<Vec<u8>, String> {
    let says = |error: &dyn std::fmt::Display| error.to_string();
    let from = Image::from_vec_u8(picture.width(), picture.height(), picture.rgb().to_vec(), PixelType::U8x3);
    let (from, mut to) = (from.map_err(|error| says(&error))?, Image::new(width, height, PixelType::U8x3));
    Resizer::new().resize(&from, &mut to, &ResizeOptions::new()).map_err(|error| says(&error))?;
    Ok(to.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_shrink_in_proportion() {
        let table = [
            ((640, 480), 1280, (640, 480)),
            ((1920, 1080), 1280, (1280, 720)),
            ((1080, 1920), 1280, (720, 1280)),
            ((70_000, 1), 128, (128, 1)),
        ];
        for ((width, height), max_side, due) in table {
            assert_eq!(fit(width, height, max_side), due);
        }
    }

    #[test]
    fn a_picture_travels_as_jpeg() {
        let picture = Picture::new(200, 100, vec![200; 60_000]).expect("the size fits");
        for (max_side, due) in [(256, (200, 100)), (100, (100, 50))] {
            let url = data_url(&picture, max_side).expect("encodes");
            let jpeg =
                STANDARD.decode(url.strip_prefix("data:image/jpeg;base64,").expect("a data URL")).expect("base64");
            let frame = jpeg.windows(2).position(|two| two == [0xff, 0xc0]).expect("a frame header");
            let side = |at: usize| u32::from(jpeg[frame + at]) << 8 | u32::from(jpeg[frame + at + 1]);
            assert_eq!((side(7), side(5)), due);
        }
    }
}

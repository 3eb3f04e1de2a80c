//! Pictures to JPEG under a size limit. Pure.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{PixelType, Resizer};
use jpeg_encoder::{ColorType, Encoder};

use crate::domain::Picture;

/// Tried in order before the picture is made smaller.
const QUALITIES: [u8; 4] = [90, 80, 65, 50];
/// Each further try has three quarters of the width and height.
const SHRINK: (u32, u32) = (3, 4);
/// A picture with a smaller side than this is no evidence any more.
const SMALLEST_SIDE: u32 = 16;

/// Why there is no JPEG.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JpegError {
    /// Not even the smallest acceptable picture fits.
    #[error("a {width}x{height} picture does not fit into {max_bytes} bytes of JPEG: raise the limit")]
    TooLarge {
        /// Pixels a row of the given picture.
        width: u32,
        /// Rows of the given picture.
        height: u32,
        /// The limit.
        max_bytes: usize,
    },
    /// The encoder or the scaler refuses the picture.
    #[error("the picture cannot be encoded as JPEG: {0}")]
    Encode(String),
}

/// Encodes `picture` into at most `max_bytes`, giving up quality first and then size.
pub fn to_jpeg(picture: &Picture, max_bytes: usize) -> Result<Vec<u8>, JpegError> {
    let too_large = JpegError::TooLarge { width: picture.width(), height: picture.height(), max_bytes };
    let mut scaled = fit_encoder(picture)?;
    loop {
        let picture = scaled.as_ref().unwrap_or(picture);
        for quality in QUALITIES {
            let jpeg = encode(picture, quality)?;
            if jpeg.len() <= max_bytes {
                return Ok(jpeg);
            }
        }
        let (width, height) = (shrunk(picture.width()), shrunk(picture.height()));
        if width.min(height) < SMALLEST_SIDE {
            return Err(too_large);
        }
        scaled = Some(resize(picture, width, height)?);
    }
}

fn shrunk(side: u32) -> u32 {
    side * SHRINK.0 / SHRINK.1
}

/// JPEG counts sides in 16 bits.
fn fit_encoder(picture: &Picture) -> Result<Option<Picture>, JpegError> {
    let longest = picture.width().max(picture.height());
    if longest <= u32::from(u16::MAX) {
        return Ok(None);
    }
    let scale = |side: u32| (u64::from(side) * u64::from(u16::MAX) / u64::from(longest)).max(1) as u32;
    resize(picture, scale(picture.width()), scale(picture.height())).map(Some)
}

fn encode(picture: &Picture, quality: u8) -> Result<Vec<u8>, JpegError> {
    let side = |n: u32| u16::try_from(n).map_err(|_| JpegError::Encode(format!("a side of {n} pixels")));
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, quality)
        .encode(picture.rgb(), width, height, ColorType::Rgb)
        .map_err(|error| JpegError::Encode(error.to_string()))?;
    Ok(jpeg)
}

fn resize(picture: &Picture, width: u32, height: u32) -> Result<Picture, JpegError> {
    let failed = |error: &dyn std::fmt::Display| JpegError::Encode(error.to_string());
    let source = ImageRef::new(picture.width(), picture.height(), picture.rgb(), PixelType::U8x3)
        .map_err(|error| failed(&error))?;
    let mut target = Image::new(width, height, PixelType::U8x3);
    Resizer::new().resize(&source, &mut target, None).map_err(|error| failed(&error))?;
    Picture::new(width, height, target.into_vec()).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise is what JPEG compresses worst.
    fn noise(width: u32, height: u32) -> Picture {
        let mut rng = fastrand::Rng::with_seed(7);
        let rgb: Vec<u8> = (0..3 * width * height).map(|_| rng.u8(..)).collect();
        Picture::new(width, height, rgb).expect("the size fits")
    }

    /// Width and height as the start-of-frame marker tells them.
    fn size_of(jpeg: &[u8]) -> (u32, u32) {
        let at = jpeg.windows(2).position(|two| two[0] == 0xff && (0xc0..=0xc2).contains(&two[1])).expect("a frame");
        let number = |n: usize| u32::from(jpeg[n]) << 8 | u32::from(jpeg[n + 1]);
        (number(at + 7), number(at + 5))
    }

    #[test]
    fn quality_goes_before_size() {
        let picture = noise(320, 200);
        let best = to_jpeg(&picture, usize::MAX).expect("fits");
        assert_eq!(size_of(&best), (320, 200));
        let worse = to_jpeg(&picture, best.len() - 1).expect("fits");
        assert!(worse.len() < best.len());
        assert_eq!(size_of(&worse), (320, 200), "a lower quality was enough");
        let smaller = to_jpeg(&picture, best.len() / 10).expect("fits");
        assert!(smaller.len() <= best.len() / 10);
        assert!(size_of(&smaller).0 < 320);
    }

    #[test]
    fn what_cannot_fit_is_refused() {
        let error = to_jpeg(&noise(64, 48), 100).expect_err("100 bytes hold no JPEG");
        assert_eq!(error, JpegError::TooLarge { width: 64, height: 48, max_bytes: 100 });
    }

    #[test]
    fn odd_and_extreme_shapes_are_encoded() {
        for (width, height) in [(1, 1), (641, 273), (3, 500)] {
            assert_eq!(size_of(&to_jpeg(&noise(width, height), usize::MAX).expect("fits")), (width, height));
        }
        let wide = Picture::new(70_000, 2, vec![9; 420_000]).expect("the size fits");
        assert_eq!(size_of(&to_jpeg(&wide, usize::MAX).expect("fits")), (65_535, 1));
    }
}

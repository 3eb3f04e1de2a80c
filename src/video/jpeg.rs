//! Pictures to JPEG under a size limit. Pure.

use jpeg_encoder::{ColorType, Encoder};

use crate::domain::Picture;

/// Tried in order before the picture is made smaller.
const QUALITIES: [u8; 4] = [90, 80, 65, 50];
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
    /// The encoder refuses the picture.
    #[error("the picture cannot be encoded as JPEG: {0}")]
    Encode(String),
}

/// Encodes `picture` into at most `max_bytes`, giving up quality first and then, by halves, size.
pub fn to_jpeg(picture: &Picture, max_bytes: usize) -> Result<Vec<u8>, JpegError> {
    let mut smaller = None;
    loop {
        let picture = smaller.as_ref().unwrap_or(picture);
        if let Some(jpeg) = encode_within(picture, max_bytes)? {
            return Ok(jpeg);
        }
        if picture.width().min(picture.height()) / 2 < SMALLEST_SIDE && fits_encoder(picture) {
            break;
        }
        smaller = Some(halve(picture)?);
    }
    Err(JpegError::TooLarge { width: picture.width(), height: picture.height(), max_bytes })
}

/// The best quality that stays within the limit.
fn encode_within(picture: &Picture, max_bytes: usize) -> Result<Option<Vec<u8>>, JpegError> {
    if !fits_encoder(picture) {
        return Ok(None);
    }
    for quality in QUALITIES {
        let jpeg = encode(picture, quality)?;
        if jpeg.len() <= max_bytes {
            return Ok(Some(jpeg));
        }
    }
    Ok(None)
}

/// JPEG counts sides in 16 bits.
fn fits_encoder(picture: &Picture) -> bool {
    u16::try_from(picture.width().max(picture.height())).is_ok()
}

fn encode(picture: &Picture, quality: u8) -> Result<Vec<u8>, JpegError> {
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, quality)
        .encode(picture.rgb(), picture.width() as u16, picture.height() as u16, ColorType::Rgb)
        .map_err(|error| JpegError::Encode(error.to_string()))?;
    Ok(jpeg)
}

/// The mean of each two by two pixels; an odd last row or column is left out, a single one kept.
fn halve(picture: &Picture) -> Result<Picture, JpegError> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let (half_width, half_height) = ((width / 2).max(1), (height / 2).max(1));
    let rgb = picture.rgb();
    let sample = |x: usize, y: usize, c: usize| u16::from(rgb[3 * (y.min(height - 1) * width + x.min(width - 1)) + c]);
    let mut half = Vec::with_capacity(3 * half_width * half_height);
    for (y, x) in (0..half_height).flat_map(|y| (0..half_width).map(move |x| (2 * y, 2 * x))) {
        for c in 0..3 {
            let sum = sample(x, y, c) + sample(x + 1, y, c) + sample(x, y + 1, c) + sample(x + 1, y + 1, c);
            half.push(((sum + 2) / 4) as u8);
        }
    }
    Picture::new(half_width as u32, half_height as u32, half).map_err(|error| JpegError::Encode(error.to_string()))
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
    fn halving_takes_the_mean() {
        let picture = Picture::new(3, 2, vec![0, 10, 20, 4, 10, 21, 99, 99, 99, 0, 10, 20, 4, 10, 22, 99, 99, 99]);
        let half = halve(&picture.expect("the size fits")).expect("halves");
        assert_eq!((half.width(), half.height(), half.rgb()), (1, 1, &[2, 10, 21][..]));
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
        assert_eq!(size_of(&to_jpeg(&wide, usize::MAX).expect("fits")), (35_000, 1));
    }
}

//! Width and height from the header of a JPEG.

/// Reads the first frame header (ITU-T T.81, B.2.2); `None` if there is none.
pub(in crate::cli) fn size(jpeg: &[u8]) -> Option<(u16, u16)> {
    let mut rest = jpeg.strip_prefix(&[0xff, 0xd8])?;
    loop {
        let (marker, segment) = match rest {
            [0xff, 0xff, ..] => {
                rest = &rest[1..];
                continue;
            }
            [0xff, marker, segment @ ..] => (*marker, segment),
            _ => return None,
        };
        let length = u16::from_be_bytes([*segment.first()?, *segment.get(1)?]) as usize;
        // All frame headers but the three that share their range: Huffman tables, arithmetic coding, reserved.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let number = |at: usize| Some(u16::from_be_bytes([*segment.get(at)?, *segment.get(at + 1)?]));
            return Some((number(5)?, number(3)?));
        }
        rest = segment.get(length.max(2)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_real_picture_is_read() {
        let mut jpeg = Vec::new();
        let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 80);
        encoder.encode(&[127; 3 * 31 * 17], 31, 17, jpeg_encoder::ColorType::Rgb).expect("encodes");
        assert_eq!(size(&jpeg), Some((31, 17)));
        for cut in 0..jpeg.len().min(200) {
            assert!(matches!(size(&jpeg[..cut]), None | Some((31, 17))), "cut at {cut}");
        }
        assert_eq!(size(b"\xff\xd8\xff\xe0\x00\x00"), None);
        assert_eq!(size(b"GIF89a"), None);
    }
}

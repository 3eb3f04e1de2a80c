//! Which pictures are coded by themselves. Pure.
//!
//! GStreamer's parser calls a picture a key picture also where decoding may merely *begin*: cameras with intra refresh
//! code a column of each picture by itself, and mark where the next round of columns starts. Such a picture alone is
//! nearly all holes; only a round later everything has been seen.

use super::archive::Coding;

const SLICE: u8 = 1;
const SLICE_OF_REFRESH: u8 = 5;
/// Length of the number before each unit; what GStreamer's parsers write.
const LENGTH: usize = 4;

/// Whether a picture that is called a key picture needs no other one. `data` is an access unit with lengths. What cannot
/// be read is believed.
pub(super) fn is_whole(coding: Coding, data: &[u8]) -> bool {
    coding != Coding::H264 || slices(data).all(|slice| is_intra(slice).unwrap_or(true))
}

/// The slices of an access unit of H.264, without their lengths: ISO 14496-15, 5.3.
fn slices(mut data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let units = std::iter::from_fn(move || {
        let (length, rest) = data.split_first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (unit, rest) = rest.split_at_checked(length)?;
        data = rest;
        Some(unit)
    });
    units.filter(|unit| unit.first().is_some_and(|header| matches!(header & 31, SLICE | SLICE_OF_REFRESH)))
}

/// Whether a slice leans on no other picture: ITU H.264, 7.3.3, `slice_type`. `None` if its header is cut short.
fn is_intra(slice: &[u8]) -> Option<bool> {
    let (header, body) = slice.split_first()?;
    if header & 31 == SLICE_OF_REFRESH {
        return Some(true);
    }
    let mut bits = body.iter().flat_map(|byte| (0..8).rev().map(move |n| byte >> n & 1));
    let _first_macroblock = golomb(&mut bits)?;
    // 2 and 7 are I, 4 and 9 are SI.
    Some(matches!(golomb(&mut bits)? % 5, 2 | 4))
}

/// An unsigned Exp-Golomb number: ITU H.264, 9.1.
fn golomb(bits: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut zeros = 0;
    while bits.next()? == 0 {
        zeros += 1;
    }
    let mut number: u32 = 1;
    for _ in 0..zeros {
        number = number.checked_mul(2)?.checked_add(u32::from(bits.next()?))?;
    }
    Some(number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(units: &[&[u8]]) -> Vec<u8> {
        units.iter().flat_map(|unit| [&(unit.len() as u32).to_be_bytes(), *unit].concat()).collect()
    }

    #[test]
    fn only_slices_that_lean_on_nothing_make_a_whole_picture() {
        // The bits after the header: first macroblock 0 is "1", then the slice type as Exp-Golomb.
        let (p, i, i_alone, p_alone) = (0b1100_0000, 0b1011_0000, 0b1000_1000, 0b1001_1000);
        let refresh: [&[u8]; 2] = [&[6, 6, 1, 0xc4], &[0x41, p, 0]];
        let table: [(&str, Vec<u8>, bool); 9] = [
            ("an instantaneous refresh", unit(&[&[9, 16], &[0x65, i_alone, 0]]), true),
            ("an I picture of an open group", unit(&[&[6, 6, 1, 0xc4], &[0x61, i, 0]]), true),
            ("all slices are I", unit(&[&[0x61, i_alone, 0]]), true),
            ("a recovery point of intra refresh", unit(&refresh), false),
            ("all slices are P", unit(&[&[0x41, p_alone, 0]]), false),
            ("one slice of two leans on others", unit(&[&[0x61, i, 0], &[0x41, p, 0]]), false),
            ("a header that is cut short", unit(&[&[0x41]]), true),
            ("a length beyond the end", vec![0, 0, 1, 0, 0x41, p], true),
            ("nothing", vec![], true),
        ];
        for (name, data, due) in table {
            assert_eq!(is_whole(Coding::H264, &data), due, "{name}");
        }
        assert!(is_whole(Coding::H265, &unit(&refresh)) && is_whole(Coding::Jpeg, &[0xff, 0xd8]));
    }
}

//! Whether a picture shows anything at all. Pure.
//!
//! Brightness is read on a grid of at most 64 × 64 pixels. A picture whose brightness hardly varies is black, covered
//! or a solid colour: a captioner would say "nothing is visible", which is true of the picture and false of the place.

use crate::domain::Picture;

/// Standard deviation of brightness (0 to 255) below which a picture shows nothing. Sensor noise of a covered camera
/// stays below 3; a foggy street is above 8.
const FLAT: f64 = 4.0;
/// Mean brightness up to which a flat picture is called black.
const BLACK: f64 = 24.0;
const GRID: usize = 64;

/// Why `picture` shows nothing; `None` if there is something to see.
pub(super) fn unobservable(picture: &Picture) -> Option<&'static str> {
    let (mean, deviation) = brightness(picture);
    match deviation < FLAT {
        true if mean <= BLACK => Some("the picture is black"),
        true => Some("the picture is one flat colour"),
        false => None,
    }
}

/// Mean and standard deviation of Rec. 601 luma over the grid.
fn brightness(picture: &Picture) -> (f64, f64) {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let (step_x, step_y) = (width.div_ceil(GRID), height.div_ceil(GRID));
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for y in (0..height).step_by(step_y) {
        for x in (0..width).step_by(step_x) {
            let at = 3 * (y * width + x);
            let [r, g, b] = [0, 1, 2].map(|i| f64::from(picture.rgb()[at + i]));
            let luma = 0.299 * r + 0.587 * g + 0.114 * b;
            count += 1.0;
            sum += luma;
            squares += luma * luma;
        }
    }
    let mean: f64 = sum / count;
    let variance: f64 = squares / count - mean * mean;
    (mean, variance.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(pixel: impl Fn(usize, usize) -> [u8; 3]) -> Picture {
        let (width, height) = (97_usize, 41_usize);
        let rgb: Vec<u8> = (0..width * height).flat_map(|i| pixel(i % width, i / width)).collect();
        Picture::new(width as u32, height as u32, rgb).expect("sizes agree")
    }

    #[test]
    fn flat_pictures_show_nothing() {
        let noise = |x: usize, y: usize| ((x * 7 + y * 13) % 5) as u8;
        let table: [(Picture, Option<&str>); 6] = [
            (picture(|_, _| [0, 0, 0]), Some("the picture is black")),
            (picture(|x, y| [noise(x, y); 3]), Some("the picture is black")),
            (picture(|_, _| [0, 160, 0]), Some("the picture is one flat colour")),
            (picture(|x, y| [128 + noise(x, y); 3]), Some("the picture is one flat colour")),
            (picture(|x, _| [x as u8; 3]), None),
            (picture(|x, y| if (x / 8 + y / 8) % 2 == 0 { [20; 3] } else { [60; 3] }), None),
        ];
        for (i, (picture, due)) in table.iter().enumerate() {
            assert_eq!(unobservable(picture), *due, "row {i}");
        }
    }

    #[test]
    fn the_smallest_picture_is_flat() {
        let dot = Picture::new(1, 1, vec![200; 3]).expect("sizes agree");
        assert!(unobservable(&dot).is_some());
    }
}

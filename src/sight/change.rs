//! How much of a picture shows something else than before.
//!
//! Three things differ between two pictures of the same scene and mean nothing: noise, the light as a whole (a cloud,
//! the camera's exposure), and single cells (a lamp, a leaf). The light is taken out as a gain and an offset, fitted to
//! the cells that follow it; the limit for a cell grows with the noise that the fit leaves; and a cell only counts
//! beside another one.

use super::glance::{CELLS, COLUMNS, Glance};

/// Cells that differ less than this from the rest by the median are the ones that the light is fitted to.
const FOLLOWS: f32 = 14.0;
/// The light of the whole picture may change by so many levels, and by such a factor; more is a change by itself.
const LIGHT: f32 = 30.0;
const GAIN: std::ops::RangeInclusive<f32> = 0.75..=1.35;
/// A cell has changed by at least so many levels …
const LEAST: f32 = 5.0;
/// … or by so many deviations of the noise …
const DEVIATIONS: f32 = 5.0;
/// … but never needs more than so many.
const MOST: f32 = 14.0;

/// How many cells show something else, 0 to [`CELLS`]. The order of the two does not matter much: what came and what
/// went both count.
pub(super) fn cells(before: &Glance, now: &Glance) -> usize {
    let Some(mut residuals) = without_light(before.cells(), now.cells()) else { return CELLS };
    let noise = 1.4826 * median(&mut residuals.iter().map(|r| r.abs()).collect::<Vec<_>>());
    let limit = (DEVIATIONS * noise).clamp(LEAST, MOST);
    for residual in &mut residuals {
        *residual = residual.abs() - limit;
    }
    let has = |cell: usize| residuals[cell] > 0.0;
    (0..CELLS).filter(|&cell| has(cell) && beside(cell).any(has)).count()
}

/// The cells left, right, above and below.
fn beside(cell: usize) -> impl Iterator<Item = usize> {
    let column = cell % COLUMNS;
    let sides = [
        (column > 0).then(|| cell - 1),
        (column + 1 < COLUMNS).then_some(cell + 1),
        cell.checked_sub(COLUMNS),
        Some(cell + COLUMNS).filter(|&below| below < CELLS),
    ];
    sides.into_iter().flatten()
}

/// What is left of each cell's difference when the change of light is taken out; `None` if no change of light explains
/// most of the picture.
fn without_light(before: &[f32], now: &[f32]) -> Option<Vec<f32>> {
    let mut differences: Vec<f32> = now.iter().zip(before).map(|(now, before)| now - before).collect();
    let middle = median(&mut differences);
    if middle.abs() > LIGHT {
        return None;
    }
    let follows = |(before, now): &(f32, f32)| (now - before - middle).abs() <= FOLLOWS;
    let pairs: Vec<(f32, f32)> = before.iter().copied().zip(now.iter().copied()).filter(follows).collect();
    if pairs.len() < CELLS / 2 {
        return None;
    }
    let (gain, offset) = line(&pairs);
    if !GAIN.contains(&gain) {
        return None;
    }
    Some(before.iter().zip(now).map(|(before, now)| now - gain * before - offset).collect())
}

/// Least squares. Cells of one brightness have no gain to tell.
fn line(pairs: &[(f32, f32)]) -> (f32, f32) {
    let count = pairs.len() as f32;
    let mean = |of: fn(&(f32, f32)) -> f32| pairs.iter().map(of).sum::<f32>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let spread: f32 = pairs.iter().map(|pair| (pair.0 - x).powi(2)).sum();
    let common: f32 = pairs.iter().map(|pair| (pair.0 - x) * (pair.1 - y)).sum();
    let gain = if spread > count { common / spread } else { 1.0 };
    (gain, y - gain * x)
}

/// Reorders `values`, of which there is at least one.
fn median(values: &mut [f32]) -> f32 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::super::glance::drawn::{Thing, street};
    use super::*;

    const PERSON: Thing = Thing { x: 301, y: 203, width: 26, height: 62, luma: 15 };
    const FAR_PERSON: Thing = Thing { width: 16, height: 44, ..PERSON };
    const SPECK: Thing = Thing { x: 305, y: 209, width: 12, height: 12, luma: 250 };
    const CAR: Thing = Thing { x: 100, y: 300, width: 130, height: 70, luma: 230 };
    /// Changed cells that make a change; see `gate`.
    const CHANGE: usize = super::super::gate::CHANGED;

    #[test]
    fn noise_and_light_are_no_change() {
        let table: [(&str, Glance); 8] = [
            ("the same", street(1, 0.0, 1.0, 0.0, &[])),
            ("noise", street(2, 3.0, 1.0, 0.0, &[])),
            ("much noise", street(3, 9.0, 1.0, 0.0, &[])),
            ("darker", street(4, 3.0, 1.0, -12.0, &[])),
            ("a longer exposure", street(5, 3.0, 1.12, 0.0, &[])),
            ("a cloud", street(6, 3.0, 0.85, 3.0, &[])),
            ("a speck", street(7, 3.0, 1.0, 0.0, &[SPECK])),
            ("a speck under a cloud", street(8, 3.0, 0.9, 0.0, &[SPECK])),
        ];
        let before = street(0, 3.0, 1.0, 0.0, &[]);
        for (name, now) in table {
            let changed = cells(&before, &now);
            assert!(changed < CHANGE, "{name}: {changed} cells");
        }
    }

    #[test]
    fn what_can_be_named_is_a_change() {
        let empty = || street(0, 3.0, 1.0, 0.0, &[]);
        let moved = Thing { x: PERSON.x + 40, ..PERSON };
        let table: [(&str, Glance, Glance); 9] = [
            ("a person comes", empty(), street(1, 3.0, 1.0, 0.0, &[PERSON])),
            ("a person goes", street(1, 3.0, 1.0, 0.0, &[PERSON]), empty()),
            ("a person far away", empty(), street(2, 3.0, 1.0, 0.0, &[FAR_PERSON])),
            ("a person moves", street(1, 3.0, 1.0, 0.0, &[PERSON]), street(2, 3.0, 1.0, 0.0, &[moved])),
            ("a person in noise", empty(), street(3, 6.0, 1.0, 0.0, &[PERSON])),
            ("a person and a cloud", empty(), street(4, 3.0, 0.9, 4.0, &[PERSON])),
            ("a car", empty(), street(5, 3.0, 1.0, 0.0, &[CAR])),
            ("the light goes out", empty(), street(6, 3.0, 0.2, 0.0, &[])),
            ("another place", empty(), Glance::of_luma(768, 576, |x, y| ((x * y) / 700 % 256) as u8)),
        ];
        for (name, before, now) in table {
            let changed = cells(&before, &now);
            assert!(changed >= CHANGE, "{name}: {changed} cells");
        }
    }

    #[test]
    fn a_cell_alone_does_not_count() {
        let cell = |wanted: &'static [usize]| {
            let place = move |x: usize, y: usize| wanted.contains(&(y / 4 * COLUMNS + x / 4));
            Glance::of_luma(
                4 * COLUMNS,
                CELLS / COLUMNS * 4,
                move |x, y| if place(x, y) { 200 } else { 90 + (x % 40) as u8 },
            )
        };
        let plain = cell(&[]);
        // The last of one row and the first of the next are not beside one another.
        for (changed, due) in [(&[0][..], 0), (&[0, 2], 0), (&[47, 48], 0), (&[0, 1], 2), (&[0, 48, 96, 1727], 3)] {
            assert_eq!(cells(&plain, &cell(changed)), due, "{changed:?}");
        }
    }
}

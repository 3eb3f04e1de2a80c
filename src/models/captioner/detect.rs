//! From the detector's outputs to scored boxes: distances as expectations, then non-maximum suppression.

use super::coco::Class;
use super::letterbox::Fit;
use crate::models::net::map::{LANES, Map};
use crate::models::net::nanodet::{BINS, CLASSES, STRIDES};

/// Scores below this are noise: pictures without a person or a vehicle stay below 0.2.
pub(super) const FLOOR: f32 = 0.25;
/// Boxes of one class that overlap more are one object (the value upstream uses).
const SAME: f32 = 0.6;
/// Candidates kept before suppression, the best ones (the value upstream uses).
const MOST: usize = 1000;

/// A rectangle in parts of the picture: `0.0` is its left or upper edge, `1.0` its right or lower one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f32,
    /// Upper edge.
    pub top: f32,
    /// Right edge.
    pub right: f32,
    /// Lower edge.
    pub bottom: f32,
}

impl Area {
    /// Width in parts of the picture's.
    pub fn width(&self) -> f32 {
        (self.right - self.left).max(0.0)
    }

    /// Height in parts of the picture's.
    pub fn height(&self) -> f32 {
        (self.bottom - self.top).max(0.0)
    }

    /// Part of the picture that it covers.
    pub fn size(&self) -> f32 {
        self.width() * self.height()
    }

    /// Part of the picture that both cover.
    pub fn common(&self, other: &Self) -> f32 {
        let overlap = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        overlap.size()
    }

    /// Intersection over union; 0 if both are empty.
    pub fn overlap(&self, other: &Self) -> f32 {
        let common = self.common(other);
        let union = self.size() + other.size() - common;
        if union > 0.0 { common / union } else { 0.0 }
    }
}

/// A box with its best guess.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// What it would be.
    pub class: Class,
    /// The detector's confidence, 0 to 1.
    pub score: f32,
    /// Where.
    pub area: Area,
}

/// Everything found with at least [`FLOOR`], best first, one box an object and class.
pub(super) fn decode(outputs: [&Map; 3], fit: Fit) -> Vec<Detection> {
    let mut candidates = Vec::new();
    for (output, stride) in outputs.into_iter().zip(STRIDES) {
        collect(output, stride as f32, fit, &mut candidates);
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates.truncate(MOST);
    suppress(candidates)
}

fn collect(output: &Map, stride: f32, fit: Fit, into: &mut Vec<Detection>) {
    let floor = (FLOOR / (1.0 - FLOOR)).ln();
    for y in 0..output.side() {
        for x in 0..output.side() {
            let logit = |channel: usize| output.pixel(channel / LANES, y, x)[channel % LANES];
            let mut area = None;
            for class in 0..CLASSES {
                let score = logit(class);
                if score < floor {
                    continue;
                }
                let area = *area.get_or_insert_with(|| {
                    let distance = |side: usize| {
                        stride * expectation(std::array::from_fn(|bin| logit(CLASSES + side * BINS + bin)))
                    };
                    let (x, y) = ((x as f32 + 0.5) * stride, (y as f32 + 0.5) * stride);
                    fit.to_picture(x - distance(0), y - distance(1), x + distance(2), y + distance(3))
                });
                into.push(Detection { class: Class::at(class), score: sigmoid(score), area });
            }
        }
    }
}

/// Mean of 0, 1, 2 … under the softmax of `logits`.
fn expectation(logits: [f32; BINS]) -> f32 {
    let highest = logits.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let weights = logits.map(|logit| (logit - highest).exp());
    let total: f32 = weights.iter().sum();
    weights.iter().enumerate().map(|(bin, weight)| bin as f32 * weight).sum::<f32>() / total
}

pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// Keeps, of boxes of one class that overlap by more than [`SAME`], the first.
fn suppress(candidates: Vec<Detection>) -> Vec<Detection> {
    let mut kept: Vec<Detection> = Vec::new();
    for candidate in candidates {
        let known = |other: &Detection| other.class == candidate.class && other.area.overlap(&candidate.area) > SAME;
        if !kept.iter().any(known) {
            kept.push(candidate);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detection(class: usize, score: f32, left: f32, right: f32) -> Detection {
        Detection { class: Class::at(class), score, area: Area { left, top: 0.0, right, bottom: 1.0 } }
    }

    #[test]
    fn a_distance_is_the_mean_of_its_bins() {
        assert!((expectation([0.0; BINS]) - 5.0).abs() < 1e-6);
        let mut sharp = [-1e30; BINS];
        sharp[7] = 1e30;
        assert_eq!(expectation(sharp), 7.0);
    }

    #[test]
    fn a_cell_becomes_a_box_around_its_centre() {
        let maps = STRIDES.map(|stride| {
            let mut map = Map::new(416 / stride, CLASSES + 4 * BINS);
            for plane in 0..map.planes() {
                for y in 0..map.side() {
                    map.row_mut(plane, y).fill(-20.0);
                }
            }
            map
        });
        let [fine, middle, mut coarse] = maps;
        let mut set = |channel: usize, value| coarse.row_mut(channel / LANES, 6)[3 * LANES + channel % LANES] = value;
        set(2, 1.5);
        for (side, bin) in [1, 2, 3, 4].into_iter().enumerate() {
            set(CLASSES + side * BINS + bin, 40.0);
        }
        let found = decode([&fine, &middle, &coarse], Fit::of(416, 416));
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((only.class.name(), (only.score * 1000.0).round()), ("car", 818.0));
        let Area { left, top, right, bottom } = only.area;
        assert_eq!([left, top, right, bottom].map(|side| (side * 416.0).round()), [80.0, 144.0, 208.0, 336.0]);
    }

    #[test]
    fn one_box_an_object_and_class() {
        let candidates = vec![
            detection(0, 0.9, 0.0, 0.5),
            detection(0, 0.8, 0.05, 0.5),
            detection(2, 0.7, 0.0, 0.5),
            detection(0, 0.6, 0.3, 0.8),
        ];
        let scores: Vec<f32> = suppress(candidates).iter().map(|kept| kept.score).collect();
        assert_eq!(scores, [0.9, 0.7, 0.6]);
    }

    #[test]
    fn empty_boxes_do_not_overlap() {
        let area = Area { left: 0.5, top: 0.5, right: 0.5, bottom: 0.5 };
        assert_eq!(area.overlap(&area), 0.0);
    }
}

//! From scored boxes to objects that may be asserted: one name each, and none where the detector is often wrong.
//!
//! Thresholds and rules were chosen on twenty video frames and checked on others (`tests/models_captioner.rs`); they
//! favour precision, so counts are lower bounds.

use super::coco::{Class, Group};
use super::detect::{Area, Detection};

/// Score from which people, vehicles and cycles are believed; on surveillance footage false boxes end below 0.45.
const BELIEVED: f32 = 0.45;
/// The same for all else, of which training saw less.
const OTHERS_BELIEVED: f32 = 0.55;
/// Smaller boxes (part of the picture) are specks.
const SMALLEST: f32 = 2e-4;
/// Overlap from which two boxes are one object.
const SAME: f32 = 0.55;
/// Part of the smaller box inside the larger one from which it is a part of that object …
const INSIDE: f32 = 0.8;
/// … unless the smaller is so much smaller (part of the larger box) that it stands before or behind it.
const COMPARABLE: f32 = 0.2;
/// A second name of the same group scoring this much of the first leaves the name open.
const RIVAL: f32 = 0.6;

/// What an object is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// By its class.
    Class(Class),
    /// Car or truck: mostly a van, for which COCO has no class.
    VanOrTruck,
    /// Car, bus or truck.
    Vehicle,
    /// Bicycle or motorcycle.
    Cycle,
    /// Some animal.
    Animal,
}

impl Kind {
    /// English, singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Class(class) => class.name(),
            Self::VanOrTruck => "van or truck",
            Self::Vehicle => "vehicle",
            Self::Cycle => "bicycle or motorcycle",
            Self::Animal => "animal",
        }
    }

    /// English, plural.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Class(class) => class.plural(),
            Self::VanOrTruck => "vans or trucks",
            Self::Vehicle => "vehicles",
            Self::Cycle => "bicycles or motorcycles",
            Self::Animal => "animals",
        }
    }

    pub(super) fn group(self) -> Group {
        match self {
            Self::Class(class) => class.group(),
            Self::VanOrTruck | Self::Vehicle => Group::Vehicle,
            Self::Cycle => Group::Cycle,
            Self::Animal => Group::Animal,
        }
    }

    /// Typical height in metres.
    pub(super) fn height(self) -> Option<f32> {
        match self {
            Self::Class(class) => class.height(),
            Self::VanOrTruck => Some(2.2),
            Self::Vehicle => Some(2.0),
            Self::Cycle => Some(1.1),
            Self::Animal => None,
        }
    }

    /// The name for a class that another one of its group comes close to.
    fn between(class: Class, rival: Class) -> Self {
        match class.group() {
            Group::Vehicle if class.name() != "bus" && rival.name() != "bus" => Self::VanOrTruck,
            Group::Vehicle => Self::Vehicle,
            Group::Cycle => Self::Cycle,
            Group::Animal => Self::Animal,
            Group::Person | Group::Other => Self::Class(class),
        }
    }
}

/// Every name there is.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let wider = [Kind::VanOrTruck, Kind::Vehicle, Kind::Cycle, Kind::Animal];
    Class::all().filter(|class| class.is_sure()).map(Class::name).chain(wider.map(Kind::name))
}

/// Something that may be asserted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Object {
    /// Its name.
    pub kind: Kind,
    /// The detector's confidence.
    pub score: f32,
    /// Where it is.
    pub area: Area,
}

/// Chooses and names. Detections come best first, and so do the objects.
pub(super) fn name(detections: &[Detection]) -> Vec<Object> {
    let mut chosen: Vec<Detection> = Vec::new();
    for candidate in detections.iter().filter(|candidate| is_believed(candidate)) {
        if !chosen.iter().any(|other| is_same_object(other, candidate)) {
            chosen.push(*candidate);
        }
    }
    chosen
        .iter()
        .map(|object| Object { kind: kind(object, detections), score: object.score, area: object.area })
        .collect()
}

/// Whether not even a doubtful person, vehicle or cycle was found, so that their absence may be asserted. A picture
/// whose best box just misses the threshold is one of something too large, too blurred or too hidden.
pub(super) fn are_absent(detections: &[Detection]) -> bool {
    !detections.iter().any(|detection| matches!(detection.class.group(), Group::Person | Group::Vehicle | Group::Cycle))
}

fn is_believed(detection: &Detection) -> bool {
    let threshold = match detection.class.group() {
        Group::Person | Group::Vehicle | Group::Cycle => BELIEVED,
        Group::Animal | Group::Other => OTHERS_BELIEVED,
    };
    detection.class.is_sure() && detection.score >= threshold && detection.area.size() >= SMALLEST
}

fn are_confusable(a: Class, b: Class) -> bool {
    a == b || a.group() == b.group() && a.group() != Group::Other
}

fn is_same_object(better: &Detection, candidate: &Detection) -> bool {
    let (a, b) = (better.area, candidate.area);
    let (small, large) = (a.size().min(b.size()), a.size().max(b.size()));
    let is_part = a.common(&b) > INSIDE * small && small > COMPARABLE * large;
    are_confusable(better.class, candidate.class) && (a.overlap(&b) > SAME || is_part)
}

fn kind(object: &Detection, detections: &[Detection]) -> Kind {
    let is_rival = |other: &&Detection| {
        other.class != object.class
            && are_confusable(other.class, object.class)
            && other.score > RIVAL * object.score
            && other.area.overlap(&object.area) > SAME
    };
    let rival = detections.iter().find(is_rival);
    rival.map_or(Kind::Class(object.class), |rival| Kind::between(object.class, rival.class))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: usize = 0;
    const BICYCLE: usize = 1;
    const CAR: usize = 2;
    const MOTORCYCLE: usize = 3;
    const BUS: usize = 5;
    const TRUCK: usize = 7;
    const CAT: usize = 15;
    const DOG: usize = 16;
    const BALL: usize = 32;
    const TV: usize = 62;

    fn seen(class: usize, score: f32, left: f32, right: f32) -> Detection {
        Detection { class: Class::at(class), score, area: Area { left, top: 0.2, right, bottom: 0.6 } }
    }

    #[test]
    fn one_name_an_object() {
        let cases = [
            ("sure", vec![seen(CAR, 0.8, 0.1, 0.3)], vec!["car"]),
            ("below", vec![seen(CAR, 0.44, 0.1, 0.3)], vec![]),
            ("other classes need more", vec![seen(TV, 0.56, 0.1, 0.3), seen(DOG, 0.54, 0.5, 0.7)], vec!["tv"]),
            ("speck", vec![seen(PERSON, 0.9, 0.1, 0.1004)], vec![]),
            ("never said", vec![seen(BALL, 0.9, 0.1, 0.3)], vec![]),
            ("weak rival", vec![seen(CAR, 0.8, 0.1, 0.3), seen(TRUCK, 0.47, 0.1, 0.3)], vec!["car"]),
            ("van", vec![seen(TRUCK, 0.6, 0.1, 0.3), seen(CAR, 0.4, 0.1, 0.31)], vec!["van or truck"]),
            ("bus", vec![seen(BUS, 0.6, 0.1, 0.3), seen(TRUCK, 0.5, 0.1, 0.3)], vec!["vehicle"]),
            (
                "cycle",
                vec![seen(MOTORCYCLE, 0.5, 0.1, 0.3), seen(BICYCLE, 0.5, 0.1, 0.3)],
                vec!["bicycle or motorcycle"],
            ),
            ("animal", vec![seen(CAT, 0.6, 0.1, 0.3), seen(DOG, 0.47, 0.1, 0.3)], vec!["animal"]),
            ("two of a class", vec![seen(PERSON, 0.9, 0.1, 0.3), seen(PERSON, 0.6, 0.2, 0.4)], vec!["person"; 2]),
            ("a part", vec![seen(PERSON, 0.9, 0.1, 0.5), seen(PERSON, 0.6, 0.12, 0.3)], vec!["person"]),
            ("before it", vec![seen(PERSON, 0.9, 0.1, 0.9), seen(PERSON, 0.6, 0.12, 0.2)], vec!["person"; 2]),
            ("different things", vec![seen(PERSON, 0.9, 0.1, 0.3), seen(CAR, 0.6, 0.1, 0.3)], vec!["person", "car"]),
        ];
        for (case, detections, names) in cases {
            let found: Vec<_> = name(&detections).iter().map(|object| object.kind.name()).collect();
            assert_eq!(found, names, "{case}");
        }
    }

    #[test]
    fn a_doubtful_person_is_not_an_absent_one() {
        assert!(are_absent(&[]));
        assert!(are_absent(&[seen(CAT, 0.5, 0.1, 0.3)]));
        assert!(!are_absent(&[seen(PERSON, 0.28, 0.1, 0.3)]));
        assert!(!are_absent(&[seen(BICYCLE, 0.28, 0.1, 0.3)]));
    }
}

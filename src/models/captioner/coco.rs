//! The 80 classes that the detector tells apart, and what is known of them besides.

use std::fmt;

use Group::{Animal, Cycle, Other, Person, Vehicle};

/// Classes that the detector takes for one another. Naming one of a group is only done where no other one of it
/// scores nearly as high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Person,
    Vehicle,
    Cycle,
    Animal,
    Other,
}

/// A COCO class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(u8);

struct Row {
    name: &'static str,
    plural: &'static str,
    group: Group,
    /// Typical height in metres, where position in depth is worth a guess.
    height: Option<f32>,
    /// Whether the detector is right often enough to say it. Specks, stones and lamps pass for the rest.
    sure: bool,
}

impl Class {
    /// The class at an index of the detector's outputs.
    ///
    /// # Panics
    /// From 80 on.
    pub(super) fn at(index: usize) -> Self {
        assert!(index < ROWS.len());
        Self(index as u8)
    }

    /// Every class.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..ROWS.len()).map(Self::at)
    }

    /// Its English name, singular.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub(super) fn plural(self) -> &'static str {
        self.row().plural
    }

    pub(super) fn group(self) -> Group {
        self.row().group
    }

    pub(super) fn height(self) -> Option<f32> {
        self.row().height
    }

    pub(super) fn is_sure(self) -> bool {
        self.row().sure
    }

    fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const fn known(name: &'static str, plural: &'static str, group: Group, height: f32) -> Row {
    Row { name, plural, group, height: Some(height), sure: true }
}

const fn thing(name: &'static str, plural: &'static str) -> Row {
    Row { name, plural, group: Other, height: None, sure: true }
}

const fn doubtful(name: &'static str, plural: &'static str) -> Row {
    Row { sure: false, ..thing(name, plural) }
}

static ROWS: [Row; 80] = [
    known("person", "people", Person, 1.7),
    known("bicycle", "bicycles", Cycle, 1.1),
    known("car", "cars", Vehicle, 1.5),
    known("motorcycle", "motorcycles", Cycle, 1.2),
    thing("airplane", "airplanes"),
    known("bus", "buses", Vehicle, 3.0),
    thing("train", "trains"),
    known("truck", "trucks", Vehicle, 3.0),
    thing("boat", "boats"),
    thing("traffic light", "traffic lights"),
    doubtful("fire hydrant", "fire hydrants"),
    thing("stop sign", "stop signs"),
    doubtful("parking meter", "parking meters"),
    thing("bench", "benches"),
    Row { group: Animal, ..thing("bird", "birds") },
    known("cat", "cats", Animal, 0.3),
    known("dog", "dogs", Animal, 0.6),
    known("horse", "horses", Animal, 1.6),
    known("sheep", "sheep", Animal, 0.9),
    known("cow", "cows", Animal, 1.5),
    known("elephant", "elephants", Animal, 3.0),
    known("bear", "bears", Animal, 1.2),
    known("zebra", "zebras", Animal, 1.4),
    known("giraffe", "giraffes", Animal, 4.5),
    thing("backpack", "backpacks"),
    thing("umbrella", "umbrellas"),
    doubtful("handbag", "handbags"),
    doubtful("tie", "ties"),
    thing("suitcase", "suitcases"),
    doubtful("frisbee", "frisbees"),
    doubtful("skis", "skis"),
    doubtful("snowboard", "snowboards"),
    doubtful("sports ball", "sports balls"),
    doubtful("kite", "kites"),
    doubtful("baseball bat", "baseball bats"),
    doubtful("baseball glove", "baseball gloves"),
    thing("skateboard", "skateboards"),
    thing("surfboard", "surfboards"),
    doubtful("tennis racket", "tennis rackets"),
    thing("bottle", "bottles"),
    thing("wine glass", "wine glasses"),
    thing("cup", "cups"),
    doubtful("fork", "forks"),
    doubtful("knife", "knives"),
    doubtful("spoon", "spoons"),
    doubtful("bowl", "bowls"),
    doubtful("banana", "bananas"),
    doubtful("apple", "apples"),
    doubtful("sandwich", "sandwiches"),
    doubtful("orange", "oranges"),
    doubtful("broccoli", "broccoli"),
    doubtful("carrot", "carrots"),
    doubtful("hot dog", "hot dogs"),
    thing("pizza", "pizzas"),
    doubtful("donut", "donuts"),
    thing("cake", "cakes"),
    thing("chair", "chairs"),
    thing("couch", "couches"),
    thing("potted plant", "potted plants"),
    thing("bed", "beds"),
    thing("dining table", "dining tables"),
    thing("toilet", "toilets"),
    thing("tv", "tvs"),
    thing("laptop", "laptops"),
    doubtful("mouse", "mice"),
    doubtful("remote", "remotes"),
    thing("keyboard", "keyboards"),
    doubtful("cell phone", "cell phones"),
    thing("microwave", "microwaves"),
    thing("oven", "ovens"),
    doubtful("toaster", "toasters"),
    thing("sink", "sinks"),
    thing("refrigerator", "refrigerators"),
    thing("book", "books"),
    thing("clock", "clocks"),
    doubtful("vase", "vases"),
    doubtful("scissors", "scissors"),
    thing("teddy bear", "teddy bears"),
    doubtful("hair drier", "hair driers"),
    doubtful("toothbrush", "toothbrushes"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_coco() {
        let names =
            [(0, "person"), (2, "car"), (7, "truck"), (16, "dog"), (39, "bottle"), (62, "tv"), (79, "toothbrush")];
        for (index, name) in names {
            assert_eq!(Class::at(index).name(), name);
        }
    }
}

//! The captioner with its real weights: what it says of real frames, how often that is true, and bad input.

mod common;

use std::fs;
use std::path::Path;

use groundedvqa::domain::{Picture, StreamId, StreamTime, WallTime};
use groundedvqa::models::captioner::{Area, SceneDescriber};
use groundedvqa::seams::{Captioner as _, EvidenceSource, ModelError};
use groundedvqa::video;
use safetensors::SafeTensors;
use serde::Deserialize;

/// Overlap from which a box is on a label.
const ON: f32 = 0.4;

fn describer() -> SceneDescriber {
    SceneDescriber::load(&common::models_dir().join("captioner")).expect("the captioner is installed")
}

fn clip(path: &Path) -> Box<dyn EvidenceSource> {
    video::init().expect("GStreamer starts");
    let config = toml::from_str(&format!("url = {:?}", path.display().to_string())).expect("a path is a stream");
    let stream = StreamId::new("clip").expect("a valid id");
    video::evidence(&stream, &config, WallTime::from_nanos(0).expect("1970 is a time"))
}

/// The frame of this number, at a constant rate: the one on display in the middle of its interval.
fn frame(clip: &dyn EvidenceSource, number: u32, rate: f64) -> Picture {
    let at = StreamTime::from_seconds((f64::from(number) + 0.5) / rate).expect("a frame has a time");
    clip.frame_at(at).expect("the clip has the frame").picture
}

fn fixture(name: &str) -> Picture {
    let path = common::root().join("tests/fixtures/captioner/frames.safetensors");
    let bytes = fs::read(path).expect("the fixture is there");
    let frames = SafeTensors::deserialize(&bytes).expect("the fixture is whole");
    let tensor = frames.tensor(name).expect("the fixture has the frame");
    let [rows, columns, 3] = tensor.shape() else { panic!("{name} has the shape {:?}", tensor.shape()) };
    Picture::new(*columns as u32, *rows as u32, tensor.data()).expect("the shape is that of a picture")
}

fn caption(describer: &mut SceneDescriber, picture: &Picture) -> String {
    let captions = describer.caption(std::slice::from_ref(picture)).expect("every picture has a caption");
    let [caption] = captions.as_slice() else { panic!("one picture has {} captions", captions.len()) };
    caption.as_str().to_owned()
}

#[test]
fn frames_are_told_as_before() {
    let mut describer = describer();
    let street = "There are about seven people, a car and a van or truck. \
                  Two people are on the left, three are in the centre and two are on the right. \
                  Three people wear black. The car is on the right in the background. \
                  The van or truck is white. The van or truck is on the right in the background.";
    let cyclist = "There is a person. The person is on the right.";
    for (name, due) in [("vtest_278", street), ("bikes_104", cyclist)] {
        assert_eq!(caption(&mut describer, &fixture(name)), due, "{name}");
    }
    let bunny = clip(&common::clips::bigbuckbunny());
    let meadow = frame(bunny.as_ref(), 33, 25.0);
    assert_eq!(caption(&mut describer, &meadow), "No people or vehicles are clearly visible.");
    let carphone = frame(clip(&common::clips::carphone()).as_ref(), 30, 30.0);
    assert_eq!(caption(&mut describer, &carphone), "There is a person. The person is in the foreground.");
}

#[test]
fn captions_come_in_the_order_of_their_pictures() {
    let mut describer = describer();
    let pictures = [fixture("vtest_278"), fixture("bikes_104"), fixture("vtest_278")];
    let together = describer.caption(&pictures).expect("every picture has a caption");
    let [first, second, third] = together.as_slice() else { panic!("{} captions", together.len()) };
    assert_eq!((first, second.as_str()), (third, "There is a person. The person is on the right."));
    assert!(describer.caption(&[]).expect("no picture has no caption").is_empty());
}

#[test]
fn pictures_of_every_shape_are_described() {
    let mut describer = describer();
    for (width, height) in [(1, 1), (1, 4000), (4000, 1), (641, 273), (7, 3), (1920, 1080)] {
        for level in [0u8, 128, 255] {
            let picture = Picture::new(width, height, vec![level; 3 * (width * height) as usize]).expect("it fits");
            let told = caption(&mut describer, &picture);
            assert!(told.ends_with('.'), "{width}x{height} at {level}: {told:?}");
            assert_eq!(told.contains("dark"), level == 0, "{width}x{height} at {level}: {told:?}");
        }
    }
}

/// Labelled frames.
#[derive(Deserialize)]
struct Labels {
    frames: Vec<Labelled>,
}

#[derive(Deserialize)]
struct Labelled {
    clip: String,
    frame: u32,
    people: Vec<[f32; 4]>,
    vehicles: Option<Vec<[f32; 4]>>,
}

/// Right boxes, wrong boxes, and things without a box.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Count {
    /// Gives each box, best first, the best label that is left.
    fn add(&mut self, found: &[Area], labels: &[[f32; 4]]) {
        let mut left: Vec<Area> =
            labels.iter().map(|&[left, top, right, bottom]| Area { left, top, right, bottom }).collect();
        for area in found {
            let best = (0..left.len()).max_by(|a, b| left[*a].overlap(area).total_cmp(&left[*b].overlap(area)));
            match best.filter(|best| left[*best].overlap(area) >= ON) {
                Some(best) => {
                    left.swap_remove(best);
                    self.right += 1;
                }
                None => self.wrong += 1,
            }
        }
        self.missed += left.len();
    }

    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed) as f64
    }
}

#[test]
fn what_is_asserted_is_there() {
    let bytes = fs::read(common::root().join("tests/fixtures/captioner/labels.json")).expect("the labels are there");
    let labels: Labels = serde_json::from_slice(&bytes).expect("the labels can be read");
    let (vtest, bikes) = (clip(&common::clips::vtest()), clip(&common::clips::bikes()));
    let mut describer = describer();
    let (mut people, mut vehicles, mut exact) = (Count::default(), Count::default(), 0);
    for labelled in &labels.frames {
        let picture = match labelled.clip.as_str() {
            "vtest.avi" => frame(vtest.as_ref(), labelled.frame, 10.0),
            "bikes.mp4" => frame(bikes.as_ref(), labelled.frame, 25.0),
            other => panic!("{other} is not a clip of these tests"),
        };
        let objects = describer.objects(&picture).expect("every picture can be looked at");
        let of = |names: &[&str]| -> Vec<Area> {
            objects.iter().filter(|object| names.contains(&object.kind.name())).map(|object| object.area).collect()
        };
        let found = of(&["person"]);
        exact += usize::from(found.len() == labelled.people.len());
        people.add(&found, &labelled.people);
        if let Some(labels) = &labelled.vehicles {
            vehicles.add(&of(&["car", "bus", "truck", "van or truck", "vehicle"]), labels);
        }
    }
    println!("people {people:?}, precision {:.3}, recall {:.3}", people.precision(), people.recall());
    println!("vehicles {vehicles:?}, precision {:.3}, recall {:.3}", vehicles.precision(), vehicles.recall());
    println!("people counted exactly in {exact} of {} frames", labels.frames.len());
    assert!(people.precision() >= 0.97 && people.recall() >= 0.80, "{people:?}");
    assert!(vehicles.precision() >= 0.95 && vehicles.recall() >= 0.90, "{vehicles:?}");
}

#[test]
fn a_wrong_box_and_a_missed_one_count() {
    let area = |left| Area { left, top: 0.0, right: left + 0.2, bottom: 1.0 };
    let mut count = Count::default();
    count.add(&[area(0.0), area(0.02), area(0.5)], &[[0.0, 0.0, 0.2, 1.0], [0.8, 0.0, 1.0, 1.0]]);
    assert_eq!(count, Count { right: 1, wrong: 2, missed: 1 });
}

/// A copy of the installed files with one of them changed.
fn load_with(file: &str, change: impl FnOnce(&mut Vec<u8>)) -> ModelError {
    let folder = common::temp_dir();
    for name in ["nanodet.json", "nanodet.bin"] {
        fs::copy(common::models_dir().join("captioner").join(name), folder.path().join(name))
            .expect("it can be copied");
    }
    let path = folder.path().join(file);
    let mut bytes = fs::read(&path).expect("it was copied");
    change(&mut bytes);
    fs::write(&path, bytes).expect("it can be written");
    SceneDescriber::load(folder.path()).expect_err("broken files are refused")
}

#[test]
fn broken_files_say_what_to_do() {
    let missing = common::temp_dir();
    let cases = [
        ("missing", SceneDescriber::load(missing.path()).expect_err("nothing is there"), "nanodet.json"),
        ("truncated", load_with("nanodet.bin", |bytes| bytes.truncate(1 << 20)), "has 1048576 bytes"),
        ("empty", load_with("nanodet.bin", Vec::clear), "has 0 bytes"),
        ("longer", load_with("nanodet.bin", |bytes| bytes.push(0)), "describes 7574558"),
        ("nonsense", load_with("nanodet.json", |bytes| bytes.fill(b'x')), "not a TensorFlow.js graph model"),
        ("cut json", load_with("nanodet.json", |bytes| bytes.truncate(1000)), "not a TensorFlow.js graph model"),
        ("another network", load_with("nanodet.json", rename_a_kernel), "no tensor PartitionedCall/split_7"),
        ("not a number", load_with("nanodet.bin", |bytes| bytes.fill(0xff)), "not finite"),
    ];
    for (case, error, part) in cases {
        let ModelError::Load { model, .. } = &error else { panic!("{case}: {error:?}") };
        assert_eq!(model, "captioner", "{case}");
        let told = error.to_string();
        assert!(told.contains(part) && told.contains("groundedvqa models fetch"), "{case}: {told}");
    }
}

fn rename_a_kernel(json: &mut Vec<u8>) {
    let text = String::from_utf8(json.clone()).expect("the manifest is text");
    *json = text.replace("\"PartitionedCall/split_7\"", "\"PartitionedCall/other\"").into_bytes();
}

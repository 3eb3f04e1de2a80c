//! Our network against the original runtime, TensorFlow.js, on real frames; and proof that the comparison notices the
//! mistakes that are easily made here.
//!
//! The numbers come from `tests/fixtures/captioner/reference.mjs`. Every fifth cell is compared number by number, all
//! others through the mean of each channel.

use std::fs;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;

use super::SceneDescriber;
use super::detect::sigmoid;
use crate::domain::Picture;
use crate::models::net::map::{LANES, Map};
use crate::models::net::nanodet::{BINS, CLASSES, SIDE};
use crate::seams::Captioner as _;

/// Largest difference of a class probability and of a distance logit.
const TOLERANCE: Difference = Difference { class: 1e-5, distance: 1e-4 };
const CHANNELS: usize = CLASSES + 4 * BINS;
const EVERY: usize = 5;
const FRAMES: [&str; 2] = ["vtest_278", "bikes_104"];

#[derive(Debug, Clone, Copy)]
struct Difference {
    class: f32,
    distance: f32,
}

impl Difference {
    fn is_within(self, limit: Self) -> bool {
        self.class <= limit.class && self.distance <= limit.distance
    }

    fn note(&mut self, channel: usize, difference: f32) {
        let largest = if channel < CLASSES { &mut self.class } else { &mut self.distance };
        *largest = largest.max(difference.abs());
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captioner").join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn describer() -> SceneDescriber {
    let models = std::env::var_os("GVQA_MODELS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), PathBuf::from);
    SceneDescriber::load(&models.join("captioner")).expect("the models are installed (`make setup`)")
}

fn picture(frame: &str) -> Picture {
    let bytes = fixture("frames.safetensors");
    let frames = SafeTensors::deserialize(&bytes).expect("the fixture is whole");
    let tensor = frames.tensor(frame).expect("the fixture has the frame");
    let [rows, columns, 3] = tensor.shape() else { panic!("{frame} has the shape {:?}", tensor.shape()) };
    Picture::new(*columns as u32, *rows as u32, tensor.data()).expect("the shape is that of a picture")
}

/// What the network made of a picture, against the reference.
fn difference(frame: &str, outputs: [&Map; 3]) -> Difference {
    let bytes = fixture("reference.safetensors");
    let reference = SafeTensors::deserialize(&bytes).expect("the fixture is whole");
    let mut worst = Difference { class: 0.0, distance: 0.0 };
    for (scale, output) in outputs.into_iter().enumerate() {
        let numbers = |what: &str| -> Vec<f32> {
            let tensor = reference.tensor(&format!("{frame}.{scale}.{what}")).expect("the fixture has the tensor");
            tensor.data().as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
        };
        let cells = output.side() * output.side();
        let value = |cell: usize, channel: usize| {
            let raw = output.pixel(channel / LANES, cell / output.side(), cell % output.side())[channel % LANES];
            if channel < CLASSES { sigmoid(raw) } else { raw }
        };
        let due = numbers("cells");
        assert_eq!(due.len(), cells.div_ceil(EVERY) * CHANNELS);
        for (i, due) in due.into_iter().enumerate() {
            worst.note(i % CHANNELS, value(i / CHANNELS * EVERY, i % CHANNELS) - due);
        }
        for (channel, due) in numbers("means").into_iter().enumerate() {
            let sum: f64 = (0..cells).map(|cell| f64::from(value(cell, channel))).sum();
            worst.note(channel, (sum / cells as f64) as f32 - due);
        }
    }
    worst
}

#[test]
fn outputs_are_those_of_the_original_runtime() {
    let SceneDescriber { mut letterbox, mut network, .. } = describer();
    for frame in FRAMES {
        let (input, _) = letterbox.fit(&picture(frame)).expect("the frame fits");
        let found = difference(frame, network.run(input));
        println!("{frame}: {found:?}");
        assert!(found.is_within(TOLERANCE), "{frame}: {found:?} is more than {TOLERANCE:?}");
    }
}

/// Runs all frames through `run`, which is wrong, and demands that each is far off.
fn assert_noticed(mistake: &str, mut run: impl FnMut(&mut SceneDescriber, &str) -> Difference) {
    let mut describer = describer();
    let ten_times = Difference { class: 10.0 * TOLERANCE.class, distance: 10.0 * TOLERANCE.distance };
    for frame in FRAMES {
        let found = run(&mut describer, frame);
        println!("{mistake}, {frame}: {found:?}");
        assert!(!found.is_within(ten_times), "{mistake} passes for right on {frame}: {found:?}");
    }
}

#[test]
fn swapped_channels_are_noticed() {
    assert_noticed("RGB for BGR", |describer, frame| {
        let right = picture(frame);
        let swapped: Vec<u8> = right.rgb().as_chunks().0.iter().flat_map(|[r, g, b]| [*b, *g, *r]).collect();
        let wrong = Picture::new(right.width(), right.height(), swapped).expect("the size is the same");
        let (input, _) = describer.letterbox.fit(&wrong).expect("the frame fits");
        difference(frame, describer.network.run(input))
    });
}

#[test]
fn grey_bars_are_noticed() {
    assert_noticed("grey for black bars", |describer, frame| {
        let picture = picture(frame);
        let (input, _) = describer.letterbox.fit(&picture).expect("the frame fits");
        let mut wrong = input.clone();
        let bar = (SIDE - picture.height() as usize) / 2;
        for y in (0..bar).chain(bar + picture.height() as usize..SIDE) {
            wrong.row_mut(0, y).fill(0.0);
        }
        difference(frame, describer.network.run(&wrong))
    });
}

#[test]
fn zero_padding_in_the_pooling_is_noticed() {
    let zero_padded = |from: &Map, to: &mut Map| {
        from.max_pool_into(to);
        for y in 0..to.side() {
            let row = to.row_mut(0, y);
            let touched = if y == 0 { row.len() } else { LANES };
            row[..touched].iter_mut().for_each(|value| *value = value.max(0.0));
        }
    };
    assert_noticed("zero padding", |describer, frame| {
        let (input, _) = describer.letterbox.fit(&picture(frame)).expect("the frame fits");
        difference(frame, describer.network.run_with(input, zero_padded))
    });
}

#[test]
fn the_same_scene_in_more_pixels_has_the_same_objects_and_places() {
    let mut describer = describer();
    let small = picture("vtest_278");
    let doubled: Vec<u8> = (0..4 * small.width() * small.height())
        .flat_map(|i| {
            let (x, y) = (i % (2 * small.width()) / 2, i / (2 * small.width()) / 2);
            let at = 3 * (y * small.width() + x) as usize;
            small.rgb()[at..at + 3].to_vec()
        })
        .collect();
    let large = Picture::new(2 * small.width(), 2 * small.height(), doubled).expect("four times the pixels");
    let captions = describer.caption(&[small, large]).expect("both can be described");
    // Colours are only read from enough pixels.
    let told = |at: usize| captions[at].sentences().filter(|text| !text.contains("wear")).collect::<Vec<_>>();
    assert_eq!(told(0), told(1));
}

#[test]
fn the_fingerprint_is_of_the_published_weights() {
    assert_eq!(describer().fingerprint.as_str(), "scene-describer-1+nanodet-g-416@5d0e4f8c4ede");
}

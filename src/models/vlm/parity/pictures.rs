//! Pictures as the reference prepares them, and BLIP, whose network is candle's.

use super::*;
use crate::models::vlm::net::Lens;
use crate::models::vlm::picture::Processor;
use crate::models::vlm::{Config, blip};

/// One grey level, normalised with a deviation of a half.
const LEVEL: f32 = 2.0 / 255.0 + 1e-6;

fn off(ours: &[f32], due: &Tensor) -> f32 {
    let due: Vec<f32> = due.flatten_all().and_then(|t| t.to_vec1()).expect("floats");
    assert_eq!(ours.len(), due.len());
    ours.iter().zip(due).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn processor(model: &str) -> Processor {
    let text = std::fs::read_to_string(folder(model).join("preprocessor_config.json")).expect("the fixture");
    serde_json::from_str(&text).expect("parses")
}

#[test]
fn pictures_are_within_one_grey_level() {
    let Family::Qwen3(shape) = parsed("qwen3-tied", "config.json") else { panic!("another family") };
    let lens = Lens::qwen3(&shape, &processor("qwen3-tied"), 4096);
    let io = Io::of("qwen3-tied");
    for name in ["a", "b"] {
        let ours = lens.prepare(&io.picture(&format!("picture_{name}"))).expect("prepares");
        let off = off(&ours.patches, io.get(&format!("pixels_{name}")));
        assert!(off <= LEVEL, "Qwen3-VL, {name}: off by {off}");
    }
    let Family::Smol(shape) = parsed("smolvlm", "config.json") else { panic!("another family") };
    let lens = Lens::smol(&shape, &processor("smolvlm"));
    let io = Io::of("smolvlm");
    for name in ["a", "b"] {
        let ours = lens.prepare(&io.picture(&format!("picture_{name}"))).expect("prepares");
        let due = Tensor::new(seen("smolvlm", &io, usize::from(name == "b")).patches, &Device::Cpu).expect("floats");
        let off = off(&ours.patches, &due);
        assert!(off <= LEVEL, "SmolVLM, {name}: off by {off}");
    }
}

#[test]
fn another_filter_is_noticed() {
    let io = Io::of("qwen3-tied");
    let picture = io.picture("picture_a");
    let size = (picture.width(), picture.height());
    let of = |filter| super::super::picture::resize(picture.rgb(), size, (64, 48), filter).expect("resizes");
    let (right, wrong) = (of(fast_image_resize::FilterType::CatmullRom), of(fast_image_resize::FilterType::Bilinear));
    let off = right.iter().zip(&wrong).map(|(a, b)| a.abs_diff(*b)).max().expect("pixels");
    assert!(off > 2, "the picture is too smooth to tell filters apart: {off}");
}

fn loaded() -> blip::Blip {
    let folder = folder("blip");
    let text = std::fs::read_to_string(folder.join("config.json")).expect("a configuration");
    let store = super::super::store::Store::open("blip", &folder).expect("opens");
    let config = Config { caption_tokens: 12, ..Config::default() };
    blip::load(&folder, &text, store, &config, &Device::Cpu).expect("loads")
}

#[test]
fn blip_agrees() {
    let (io, mut blip) = (Io::of("blip"), loaded());
    let pixels = io.get("pixels_a");
    let seen = candle_core::Module::forward(blip.net.vision_model(), pixels).expect("looks");
    assert!(difference(&seen.squeeze(0).expect("one picture"), io.get("features")) < 1e-5);
    let ids = [vec![3], io.rows("new_ids").remove(0)].concat();
    let ids = Tensor::new(&ids[..], &Device::Cpu).and_then(|t| t.unsqueeze(0)).expect("ids");
    let ours = blip.net.text_decoder().forward(&ids, &seen).and_then(|t| t.squeeze(0)).expect("computes");
    let off = difference(&ours, io.get("logits"));
    assert!(off < LOGITS, "off by {off}");
    for use_number in 1..=2 {
        let (ids, is_cut) = blip.write(pixels).expect("writes");
        assert_eq!((ids, is_cut), (io.rows("new_ids").remove(0), true), "use {use_number}");
    }
}

#[test]
fn blips_pictures_are_within_one_grey_level() {
    let (io, blip) = (Io::of("blip"), loaded());
    let ours = blip.prepare(&io.picture("picture_a")).expect("prepares");
    let off = difference(&ours, io.get("pixels_a"));
    assert!(off <= 1.0 / 255.0 / 0.26 + 1e-5, "off by {off}");
}

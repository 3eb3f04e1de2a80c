//! Qwen3-VL, tied and untied.

use super::*;
use crate::models::net::vlm::{Gelu, one_dimensional};
use crate::models::vlm::net::Eyes;

const MODELS: [&str; 2] = ["qwen3-tied", "qwen3-untied"];

fn grid(io: &Io, index: usize) -> Grid {
    let patches = &io.rows("grids")[index];
    Grid { rows: patches[1] as usize / 2, columns: patches[2] as usize / 2 }
}

/// The prompt with the first picture, and what the eyes made of it.
fn single(net: &mut Net, io: &Io) -> (Vec<Row>, Vec<u32>, Features) {
    let seen = [io.prepared("pixels_a", grid(io, 0))];
    let (rows, next) = rows(net, &io.rows("ids"), &seen);
    (rows, next, net.look(&seen).expect("looks"))
}

#[test]
fn every_part_agrees_in_both_spellings() {
    for (model, config) in MODELS.iter().flat_map(|model| ["config.json", "config-hub.json"].map(|c| (*model, c))) {
        let (io, mut net) = (Io::of(model), net(model, config, DType::F32));
        let (rows, next, features) = single(&mut net, &io);
        let positions: Vec<Vec<u32>> = io.rows("positions");
        let ours: Vec<Vec<u32>> = (0..3).map(|axis| rows[0].positions.iter().map(|at| at[axis]).collect()).collect();
        assert_eq!(ours, positions, "{model}");
        let off = difference(&features.embeddings, io.get("features"));
        assert!(off < FEATURES, "{model}: off by {off}");
        let deep = Tensor::stack(&features.deep, 0).expect("stacks");
        let off = difference(&deep, io.get("deepstack"));
        assert!(off < FEATURES, "{model}: deepstack off by {off}");
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
        let off = difference(&ours, io.get("logits"));
        assert!(off < LOGITS, "{model} {config}: off by {off}");
        assert_eq!(greedy(&net, &rows, next, &features, &mut Cache::default()), io.rows("new_ids"), "{model} {config}");
    }
}

#[test]
fn every_step_of_writing_agrees() {
    for model in MODELS {
        let (io, mut net) = (Io::of(model), net(model, "config.json", DType::F32));
        let (rows, next, features) = single(&mut net, &io);
        let mut cache = Cache::default();
        let mut next = next[0];
        let mut last = net.decoder.forward(&rows, Some(&features), &mut cache, Keep::Last).expect("computes");
        for (step, id) in io.rows("new_ids")[0].iter().enumerate() {
            let due = io.get("step_logits").narrow(0, step, 1).expect("a step");
            let off = difference(&last, &due);
            assert!(off < LOGITS, "{model}, step {step}: off by {off}");
            let (row, after) = net.row(vec![*id], None, 0, next);
            next = after;
            last = net.decoder.forward(&[row], None, &mut cache, Keep::Last).expect("computes");
        }
    }
}

#[test]
fn a_batch_of_unequal_pictures_and_prompts_agrees() {
    for model in MODELS {
        let (io, mut net) = (Io::of(model), net(model, "config.json", DType::F32));
        let seen = [io.prepared("pixels_a", grid(&io, 0)), io.prepared("pixels_b", grid(&io, 1))];
        assert_ne!(seen[0].grid, seen[1].grid);
        let ids = io.unpadded("batch_ids", "batch_mask");
        assert_ne!(ids[0].len(), ids[1].len());
        let (rows, next) = rows(&net, &ids, &seen);
        let features = net.look(&seen).expect("looks");
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default());
        for (row, ids) in ids.iter().enumerate() {
            let padding = ours.dim(1).expect("positions") - ids.len();
            let part = |t: &Tensor| t.narrow(0, row, 1).and_then(|t| t.narrow(1, padding, ids.len())).expect("a row");
            let off = difference(&part(&ours), &part(io.get("batch_logits")));
            assert!(off < LOGITS, "{model}, row {row}: off by {off}");
        }
        assert_eq!(greedy(&net, &rows, next, &features, &mut Cache::default()), io.rows("batch_new_ids"), "{model}");
    }
}

/// What candle's own module gets wrong, one by one. Each must be noticed.
#[test]
fn wrong_networks_do_not_pass() {
    let (io, reference) = (Io::of("qwen3-tied"), Io::of("qwen3-tied").get("logits").clone());
    let off = |change: fn(&mut Net, &mut Vec<Row>)| {
        let mut net = net("qwen3-tied", "config.json", DType::F32);
        let (mut rows, _, _) = single(&mut net, &io);
        change(&mut net, &mut rows);
        let features = net.look(&[io.prepared("pixels_a", grid(&io, 0))]).expect("looks");
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
        difference(&ours, &reference)
    };
    assert!(off(|_, _| ()) < LOGITS);
    let wrong: [(&str, fn(&mut Net, &mut Vec<Row>), f32); 4] = [
        ("positions of one dimension", |_, rows| rows[0].positions = one_dimensional(0, rows[0].ids.len()), 1.0),
        ("no causal mask", |net, _| net.decoder.causal = false, 1.0),
        ("GELU through tanh in the merger", |net, _| set_gelu(net, Gelu::Tanh), 2.0 * LOGITS),
        ("no picture", |_, rows| rows[0].features.fill(None), 1.0),
    ];
    for (name, change, least) in wrong {
        let off = off(change);
        assert!(off > least, "{name} passes: off by {off} only");
    }
}

fn set_gelu(net: &mut Net, gelu: Gelu) {
    let Eyes::Qwen3(tower) = &mut net.eyes else { panic!("another tower") };
    tower.merger.gelu = gelu;
}

/// Of the reference that computes in bf16; one and a half times, as a matrix and its bias are rounded one by one here.
#[test]
fn bf16_stays_within_the_references_own_noise() {
    for model in MODELS {
        let (io, mut net) = (Io::of(model), net(model, "config.json", DType::BF16));
        let (rows, _, features) = single(&mut net, &io);
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
        let noise = distance(io.get("bf16_logits"), io.get("logits"));
        let off = distance(&ours, io.get("logits"));
        assert!(off < 1.5 * noise, "{model}: off by {off}, the reference by {noise}");
    }
}

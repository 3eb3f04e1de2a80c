//! The networks of every family: each part, each step, batches, and what must not pass.

use super::*;
use crate::models::net::vlm::{Gelu, one_dimensional};
use crate::models::vlm::net::Eyes;

/// The first two pictures, as the reference prepared them.
fn both(model: &str, io: &Io) -> [Prepared; 2] {
    [seen(model, io, 0), seen(model, io, 1)]
}

/// The prompt with the first picture, and what the eyes made of it.
fn single(net: &mut Net, model: &str, io: &Io) -> (Vec<Row>, Vec<u32>, Features) {
    let seen = [seen(model, io, 0)];
    let (rows, next) = rows(net, &io.rows("ids"), &seen);
    (rows, next, net.look(&seen).expect("looks"))
}

#[test]
fn every_part_agrees_in_both_spellings() {
    for (model, config) in MODELS.iter().flat_map(|model| ["config.json", "config-hub.json"].map(|c| (*model, c))) {
        let (io, mut net) = (Io::of(model), net(model, config, DType::F32));
        let (rows, next, features) = single(&mut net, model, &io);
        let off = difference(&features.embeddings, io.get("features"));
        assert!(off < bound(FEATURES), "{model}: off by {off}");
        if io.has("deepstack") {
            let ours: Vec<Vec<u32>> =
                (0..3).map(|axis| rows[0].positions.iter().map(|at| at[axis]).collect()).collect();
            assert_eq!(ours, io.rows("positions"), "{model}");
            let off = difference(&Tensor::stack(&features.deep, 0).expect("stacks"), io.get("deepstack"));
            assert!(off < bound(FEATURES), "{model}: deepstack off by {off}");
        }
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
        let off = difference(&ours, io.get("logits"));
        assert!(off < bound(LOGITS), "{model} {config}: off by {off}");
        assert_eq!(greedy(&net, &rows, next, &features, &mut Cache::default()), io.rows("new_ids"), "{model} {config}");
    }
}

#[test]
fn every_step_of_writing_agrees() {
    for model in MODELS {
        let (io, mut net) = (Io::of(model), net(model, "config.json", DType::F32));
        let (rows, next, features) = single(&mut net, model, &io);
        let mut cache = Cache::default();
        let mut next = next[0];
        let mut last = net.decoder.forward(&rows, Some(&features), &mut cache, Keep::Last).expect("computes");
        for (step, id) in io.rows("new_ids")[0].iter().enumerate() {
            let due = io.get("step_logits").narrow(0, step, 1).expect("a step");
            let off = difference(&last, &due);
            assert!(off < bound(LOGITS), "{model}, step {step}: off by {off}");
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
        let seen = both(model, &io);
        // Every picture of SmolVLM is a square of one size.
        assert_eq!(seen[0].grid != seen[1].grid, model.starts_with("qwen3"));
        let ids = io.unpadded("batch_ids", "batch_mask");
        assert_ne!(ids[0].len(), ids[1].len());
        let (rows, next) = rows(&net, &ids, &seen);
        let features = net.look(&seen).expect("looks");
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default());
        for (row, ids) in ids.iter().enumerate() {
            let padding = ours.dim(1).expect("positions") - ids.len();
            let part = |t: &Tensor| t.narrow(0, row, 1).and_then(|t| t.narrow(1, padding, ids.len())).expect("a row");
            let off = difference(&part(&ours), &part(io.get("batch_logits")));
            assert!(off < bound(LOGITS), "{model}, row {row}: off by {off}");
        }
        assert_eq!(greedy(&net, &rows, next, &features, &mut Cache::default()), io.rows("batch_new_ids"), "{model}");
    }
}

/// What candle's own module gets wrong, one by one, and a picture whose tokens stand in another order. Each must be
/// noticed.
#[test]
fn wrong_networks_do_not_pass() {
    let off = |model: &str, change: fn(&mut Net, &mut Vec<Row>)| {
        let (io, mut net) = (Io::of(model), net(model, "config.json", DType::F32));
        let (mut rows, _, _) = single(&mut net, model, &io);
        change(&mut net, &mut rows);
        let features = net.look(&[seen(model, &io, 0)]).expect("looks");
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
        difference(&ours, io.get("logits"))
    };
    let wrong: [(&str, &[&str], fn(&mut Net, &mut Vec<Row>), f32); 5] = [
        (
            "positions of one dimension",
            &MODELS[..1],
            |_, rows| rows[0].positions = one_dimensional(0, rows[0].ids.len()),
            1.0,
        ),
        ("no causal mask", &MODELS, |net, _| net.decoder.causal = false, 1.0),
        ("GELU through tanh in the merger", &MODELS[..1], |net, _| set_gelu(net, Gelu::Tanh), 2.0 * LOGITS),
        ("no picture", &MODELS, |_, rows| rows[0].features.fill(None), 0.1),
        ("a mirrored picture", &MODELS, |_, rows| mirror(&mut rows[0]), 0.1),
    ];
    for (name, models, change, least) in wrong {
        for model in models {
            let off = off(model, change);
            assert!(off > least, "{model}: {name} passes: off by {off} only");
        }
    }
}

fn set_gelu(net: &mut Net, gelu: Gelu) {
    let Eyes::Qwen3(tower) = &mut net.eyes else { panic!("another tower") };
    tower.merger.gelu = gelu;
}

fn mirror(row: &mut Row) {
    let last = row.features.iter().flatten().max().copied().expect("a picture");
    row.features.iter_mut().flatten().for_each(|place| *place = last - *place);
}

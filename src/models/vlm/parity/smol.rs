//! SmolVLM.

use super::*;
use crate::models::vlm::picture::Cut;

const MODEL: &str = "smolvlm";
const GRID: Grid = Grid { rows: 4, columns: 4 };

/// The reference gives whole planes; the net takes patches.
fn prepared(io: &Io, name: &str) -> Prepared {
    let planes: Vec<f32> = io.get(name).flatten_all().and_then(|t| t.to_vec1()).expect("floats");
    Prepared { patches: Cut { patch: 8, merge: 1, frames: 1 }.patches(&planes, 64, 64), grid: GRID }
}

#[test]
fn every_part_agrees_in_both_spellings() {
    for config in ["config.json", "config-hub.json"] {
        let (io, mut net) = (Io::of(MODEL), net(MODEL, config, DType::F32));
        let seen = [prepared(&io, "pixels_a")];
        let (rows, next) = rows(&net, &io.rows("ids"), &seen);
        let features = net.look(&seen).expect("looks");
        let off = difference(&features.embeddings, io.get("features"));
        assert!(off < FEATURES, "off by {off}");
        let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
        let off = difference(&ours, io.get("logits"));
        assert!(off < LOGITS, "{config}: off by {off}");
        assert_eq!(greedy(&net, &rows, next, &features, &mut Cache::default()), io.rows("new_ids"), "{config}");
    }
}

#[test]
fn a_batch_agrees() {
    let (io, mut net) = (Io::of(MODEL), net(MODEL, "config.json", DType::F32));
    let seen = [prepared(&io, "pixels_a"), prepared(&io, "pixels_b")];
    let ids = io.unpadded("batch_ids", "batch_mask");
    assert_ne!(ids[0].len(), ids[1].len());
    let (rows, next) = rows(&net, &ids, &seen);
    let features = net.look(&seen).expect("looks");
    let ours = logits(&net, &rows, Some(&features), &mut Cache::default());
    for (row, ids) in ids.iter().enumerate() {
        let padding = ours.dim(1).expect("positions") - ids.len();
        let part = |t: &Tensor| t.narrow(0, row, 1).and_then(|t| t.narrow(1, padding, ids.len())).expect("a row");
        let off = difference(&part(&ours), &part(io.get("batch_logits")));
        assert!(off < LOGITS, "row {row}: off by {off}");
    }
    assert_eq!(greedy(&net, &rows, next, &features, &mut Cache::default()), io.rows("batch_new_ids"));
}

#[test]
fn wrong_networks_do_not_pass() {
    let (io, mut net) = (Io::of(MODEL), net(MODEL, "config.json", DType::F32));
    let seen = [prepared(&io, "pixels_a")];
    let features = net.look(&seen).expect("looks");
    let (mut rows, _) = rows(&net, &io.rows("ids"), &seen);
    net.decoder.causal = false;
    let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
    assert!(difference(&ours, io.get("logits")) > 1.0, "no mask passes");
    net.decoder.causal = true;
    // The tokens of a picture in another order.
    rows[0].features.iter_mut().flatten().for_each(|place| *place = 15 - *place);
    let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
    assert!(difference(&ours, io.get("logits")) > 0.1, "a mirrored picture passes");
}

#[test]
fn bf16_stays_within_the_references_own_noise() {
    let (io, mut net) = (Io::of(MODEL), net(MODEL, "config.json", DType::BF16));
    let seen = [prepared(&io, "pixels_a")];
    let (rows, _) = rows(&net, &io.rows("ids"), &seen);
    let features = net.look(&seen).expect("looks");
    let ours = logits(&net, &rows, Some(&features), &mut Cache::default()).squeeze(0).expect("one row");
    let (noise, off) = (distance(io.get("bf16_logits"), io.get("logits")), distance(&ours, io.get("logits")));
    assert!(off < 1.5 * noise, "off by {off}, the reference by {noise}");
}

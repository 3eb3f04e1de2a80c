//! What bf16 costs: no more than it costs the reference.

use serde::Deserialize;

use super::*;

/// Sixteen prompts leave that much to chance: the two attentions of the reference itself are 14 % apart there.
const CHANCE: f64 = 1.05;
/// The same where a matrix and its bias are rounded one by one, as on a GPU: in the reference itself that changes the
/// distance by -8 to 15 %, from one set of prompts to another (`tests/fixtures/vlm/noise.py`).
const APART: f64 = 1.25;

/// Prompts about the first and the second picture, and how far the reference in bf16 is from itself in f32 for each.
#[derive(Deserialize)]
struct Noise {
    ids: [Vec<Vec<u32>>; 2],
    eager: [Vec<f64>; 2],
}

/// Root of the mean square.
fn pooled(distances: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = distances.fold((0.0, 0), |(sum, count), it| (sum + it * it, count + 1));
    (sum / f64::from(count)).sqrt()
}

/// Our own f32 stands for the reference's, from which it is a hundred times nearer than bf16 is.
#[test]
fn bf16_stays_within_the_references_own_noise() {
    for model in MODELS {
        let text = std::fs::read_to_string(folder(model).join("noise.json")).expect("the fixture");
        let noise: Noise = serde_json::from_str(&text).expect("as it was made");
        let io = Io::of(model);
        let (mut whole, mut half) = (net(model, "config.json", DType::F32), net(model, "config.json", DType::BF16));
        let mut ours = Vec::new();
        for (picture, prompts) in noise.ids.iter().enumerate() {
            let seen = [seen(model, &io, picture)];
            for ids in prompts {
                let of = |net: &mut Net| {
                    let (rows, _) = rows(net, std::slice::from_ref(ids), &seen);
                    let features = net.look(&seen).expect("looks");
                    logits(net, &rows, Some(&features), &mut Cache::default())
                };
                ours.push(f64::from(distance(&of(&mut half), &of(&mut whole))));
            }
        }
        let (off, due) = (pooled(ours.into_iter()), pooled(noise.eager.concat().into_iter()));
        println!("{model}: bf16 is off by {off:.4}, the reference by {due:.4}");
        let most = if device().is_cpu() { CHANCE * due } else { APART * due };
        assert!(off <= most, "{model}: off by {off}, the reference by {due}");
    }
}

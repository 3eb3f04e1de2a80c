//! Prompt and decoding speed of the drafter's network: one JSON line per round on standard output.
//!
//! `cargo bench --bench draft -- [model.gguf] [rounds]`; `benches/draft.sh` interleaves it with llama.cpp.
//! Decoding is plain greedy over the whole vocabulary, without grammar or cached prefix, as llama.cpp is measured.

use std::time::Instant;

use anyhow::Context;
use groundedvqa::models::drafter::{Gguf, Llama, Shape, Tokenizer};

const PROMPT: &str = include_str!("draft_prompt.txt");
const DECODED: usize = 64;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let path = args.next().unwrap_or_else(|| "models/drafter/model.gguf".to_owned());
    let rounds: usize = args.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let bytes = std::fs::read(&path).with_context(|| format!("{path}: run `groundedvqa models fetch`"))?;
    let gguf = Gguf::parse(&bytes)?;
    let network = Llama::load(&gguf, Shape::read(&gguf, 2048)?)?;
    let tokens = Tokenizer::from_gguf(&gguf).map_err(anyhow::Error::msg)?.encode(PROMPT);
    let all: Vec<u32> = (0..network.shape().vocabulary as u32).collect();
    for round in 0..=rounds {
        let mut memory = network.memory();
        let started = Instant::now();
        let mut state = network.feed(&mut memory, &tokens)?.context("the prompt fits")?;
        let prompt = started.elapsed();
        let started = Instant::now();
        for _ in 0..DECODED {
            let logits = network.logits(&state, &all);
            let best = (0..).zip(&logits).max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(id, _)| id);
            state = network.feed(&mut memory, &[best])?.context("the answer fits")?;
        }
        let decode = started.elapsed();
        // The first round warms caches up.
        if round > 0 {
            let report = serde_json::json!({
                "engine": "groundedvqa", "prompt_tokens": tokens.len(), "decode_tokens": DECODED,
                "prompt_tok_s": tokens.len() as f64 / prompt.as_secs_f64(),
                "decode_tok_s": DECODED as f64 / decode.as_secs_f64(),
            });
            println!("{report}");
        }
    }
    Ok(())
}

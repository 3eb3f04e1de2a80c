//! Captions and answers of vision-language models of true shapes with random weights: what a machine can do, without any
//! weights. `cargo bench --bench vlm -- [smolvlm-256m|smolvlm-500m|qwen3-vl-2b|qwen3-vl-4b|qwen3-vl-8b] [batches] [rounds]`
//!
//! Each round captions a batch of 640x360 pictures with 32 tokens a caption, then asks three questions about one picture.
//! Random weights never stop by themselves, so every caption has all its tokens.

use std::time::{Duration, Instant};

use candle_core::{DType, Device};
use groundedvqa::domain::Picture;
use groundedvqa::models::vlm::{self, Config, Loaded};
use groundedvqa::seams::Inquiry;
use tokenizers::Tokenizer;

const TOKENS: usize = 32;
const ANSWER_TOKENS: usize = 8;
/// Small tokenizers with the families' marks.
const QWEN3: &[u8] = include_bytes!("../tests/fixtures/vlm/qwen3-tied/tokenizer.json");
const SMOL: &[u8] = include_bytes!("../tests/fixtures/vlm/smolvlm/tokenizer.json");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let name = args.next().unwrap_or_else(|| "smolvlm-256m".to_owned());
    let batches = args.next().unwrap_or_else(|| "1,2,4".to_owned());
    let rounds: usize = args.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let device = device()?;
    let dtype = if device.is_cpu() { DType::F32 } else { DType::BF16 };
    let (shape, tokenizer) = shape(&name).ok_or("no such model")?;
    let config = Config { caption_tokens: TOKENS, answer_tokens: ANSWER_TOKENS, ..Config::default() };
    let tokenizer = Tokenizer::from_bytes(tokenizer).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let mut model = vlm::random(&shape.to_string(), tokenizer, &config, &device, dtype)?;
    println!("{name}, {dtype:?} on {device:?}: made in {:.1} s", start.elapsed().as_secs_f64());
    model.captioner.caption(&[picture(0)])?;
    println!("| batch | one call, s (median of {rounds}) | captions/s | tokens/s |");
    println!("|---|---|---|---|");
    for batch in batches.split(',').map(str::parse::<usize>) {
        captions(&mut model, batch?, rounds)?;
    }
    questions(&mut model, rounds)
}

fn captions(model: &mut Loaded, batch: usize, rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut took = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let pictures: Vec<Picture> = (0..batch).map(|i| picture(round * batch + i)).collect();
        let start = Instant::now();
        model.captioner.caption(&pictures)?;
        took.push(start.elapsed());
    }
    let seconds = median(&mut took);
    let per_second = batch as f64 / seconds;
    println!("| {batch} | {seconds:.2} | {per_second:.2} | {:.1} |", per_second * TOKENS as f64);
    Ok(())
}

/// The first question about a picture, and two more about the same one.
fn questions(model: &mut Loaded, rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    let Some(qa) = &mut model.visual_qa else { return Ok(()) };
    let (mut first, mut more) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let picture = picture(1000 + round);
        let of = |question: &str| Inquiry { picture: picture.clone(), question: question.to_owned() };
        let start = Instant::now();
        qa.ask(&[of("Is there a red car?")])?;
        first.push(start.elapsed());
        let start = Instant::now();
        qa.ask(&[of("Is somebody walking?"), of("Is it raining?")])?;
        more.push(start.elapsed() / 2);
    }
    println!(
        "a question about a new picture: {:.2} s; another about the same: {:.2} s ({ANSWER_TOKENS} tokens each)",
        median(&mut first),
        median(&mut more)
    );
    Ok(())
}

fn median(took: &mut [Duration]) -> f64 {
    took.sort();
    took[took.len() / 2].as_secs_f64()
}

fn device() -> candle_core::Result<Device> {
    if candle_core::utils::cuda_is_available() { Device::new_cuda(0) } else { Ok(Device::Cpu) }
}

fn picture(seed: usize) -> Picture {
    let bytes: Vec<u8> = (0..3 * 640 * 360).map(|i| ((i * 31 + seed * 7919) % 251) as u8).collect();
    Picture::new(640, 360, bytes).expect("the bytes belong to the size")
}

/// The published `config.json`, as far as it decides the shape, with the image token of the small tokenizer; and which
/// tokenizer.
fn shape(name: &str) -> Option<(serde_json::Value, &'static [u8])> {
    let smol = |width: usize, inner: usize, heads: usize, kv_heads: usize, layers: usize| {
        serde_json::json!({
            "model_type": "smolvlm", "image_token_id": 500, "scale_factor": 4,
            "vision_config": {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
                "num_attention_heads": 12, "image_size": 512, "patch_size": 16},
            "text_config": {"vocab_size": 49280, "hidden_size": width, "intermediate_size": inner,
                "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv_heads,
                "head_dim": 64, "rope_theta": 100_000.0, "rms_norm_eps": 1e-5},
        })
    };
    let qwen3 = |width: usize, inner: usize, heads: usize, layers: usize, vision: [usize; 3], deep: [usize; 3]| {
        serde_json::json!({
            "model_type": "qwen3_vl", "image_token_id": 500,
            "vision_config": {"depth": vision[0], "hidden_size": vision[1], "intermediate_size": vision[2],
                "num_heads": 16, "patch_size": 16, "temporal_patch_size": 2, "spatial_merge_size": 2,
                "out_hidden_size": width, "num_position_embeddings": 2304, "deepstack_visual_indexes": deep},
            "text_config": {"vocab_size": 151_936, "hidden_size": width, "intermediate_size": inner,
                "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": 8,
                "head_dim": 128, "rope_theta": 5_000_000.0, "rms_norm_eps": 1e-6,
                "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"}},
        })
    };
    Some(match name {
        "smolvlm-256m" => (smol(576, 1536, 9, 3, 30), SMOL),
        "smolvlm-500m" => (smol(960, 2560, 15, 5, 32), SMOL),
        "qwen3-vl-2b" => (qwen3(2048, 6144, 16, 28, [24, 1024, 4096], [5, 11, 17]), QWEN3),
        "qwen3-vl-4b" => (qwen3(2560, 9728, 32, 36, [24, 1024, 4096], [5, 11, 17]), QWEN3),
        "qwen3-vl-8b" => (qwen3(4096, 12288, 32, 36, [27, 1152, 4304], [8, 16, 24]), QWEN3),
        _ => return None,
    })
}

//! Captions, claims and answers with vision-language models of true shapes with random weights: what a machine can do,
//! without any weights.
//!
//! `cargo bench --bench vlm -- [smolvlm-256m|smolvlm-500m|qwen3-vl-2b|qwen3-vl-4b|qwen3-vl-8b] [batches] [rounds] [--layers N]
//! [--dtype f32|bf16] [--fits]`
//!
//! It needs no GStreamer: `cargo bench --no-default-features --bench vlm`. `scripts/gpu.sh` runs it on an NVIDIA GPU.
//! A caption is 32 tokens about a picture of 640x384 pixels; random weights never stop by themselves, so every caption has
//! all its tokens. What the last rows contain is printed below the table. `--layers` keeps the first layers of the decoder
//! only, for models that do not fit. `--fits` measures nothing: it builds the model, captions one picture in four tokens, and says
//! how long each took.

use std::time::{Duration, Instant};

use candle_core::{DType, Device};
use groundedvqa::domain::Picture;
use groundedvqa::models::drafter::LanguageModel;
use groundedvqa::models::judge::NliJudge;
use groundedvqa::models::vlm::{self, Config, Loaded};
use groundedvqa::seams::{Inquiry, ModelError};
use tokenizers::Tokenizer;

#[path = "vlm/answers.rs"]
mod answers;
#[path = "vlm/shapes.rs"]
mod shapes;
#[path = "vlm/small.rs"]
mod small;
#[path = "vlm/table.rs"]
mod table;

use answers::House;
use table::{Table, timed};

const TOKENS: usize = 32;
const ANSWER_TOKENS: usize = 8;
const NOTES: &str = "
Weights are noise of the true shapes. \"Verifies\" is the daemon's own flow for a claim: a frame that is there already is
encoded as JPEG and captioned blind, the judge reads the claim against two sentences, the rules weigh. \"Answers\" is that
flow for a question: exact search over 60 moments, a draft under the grammar, five such claims, whose pictures are captioned
together. Not in it: extracting the frame, the embedder (milliseconds), neighbouring frames and further rounds. What noise
writes is replaced by fixed sentences after it has been written.";

fn main() -> anyhow::Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let layers = option(&mut args, "--layers").map(|layers| layers.parse()).transpose()?;
    let dtype = option(&mut args, "--dtype");
    let fits = flag(&mut args, "--fits");
    let mut args = args.into_iter();
    let name = args.next().unwrap_or_else(|| "smolvlm-256m".to_owned());
    let batches = args.next().unwrap_or_else(|| "1,2,4".to_owned());
    let rounds: usize = args.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let device = if candle_core::utils::cuda_is_available() { Device::new_cuda(0)? } else { Device::Cpu };
    let dtype = match dtype.as_deref() {
        Some("f32") => DType::F32,
        Some("bf16") => DType::BF16,
        Some(other) => anyhow::bail!("a dtype is f32 or bf16, not {other:?}"),
        None if device.is_cpu() => DType::F32,
        None => DType::BF16,
    };
    if fits {
        return does_fit(&name, layers, &device, dtype);
    }
    let (mut model, label) = made(&name, layers, TOKENS, &device, dtype)?;
    println!("{name}, {dtype:?} on {device:?}, {} cores\n", std::thread::available_parallelism()?);
    let table = Table::begin(rounds.max(1));
    for batch in batches.split(',').map(str::parse::<usize>) {
        captions(&table, &label, &mut model, batch?)?;
    }
    questions(&table, &label, &mut model)?;
    let folder = tempfile::tempdir()?;
    let (drafter, judge) = small::write(folder.path())?;
    small::measure(&table, &drafter, &judge)?;
    let house = House::new(model.captioner, LanguageModel::open(&drafter)?, NliJudge::load(&judge)?)?;
    house.measure(&table, &format!("{label} + both"))?;
    println!("{NOTES}");
    Ok(())
}

/// Takes `name` and the word behind it out of `args`.
fn option(args: &mut Vec<String>, name: &str) -> Option<String> {
    let at = args.iter().position(|arg| arg == name)?;
    Some(args.drain(at..(at + 2).min(args.len())).nth(1).unwrap_or_default())
}

/// Takes `name` out of `args`, if it is there.
fn flag(args: &mut Vec<String>, name: &str) -> bool {
    let at = args.iter().position(|arg| arg == name);
    at.map(|at| args.remove(at)).is_some()
}

/// Whether a model loads and runs here at all.
fn does_fit(name: &str, layers: Option<u64>, device: &Device, dtype: DType) -> anyhow::Result<()> {
    let start = Instant::now();
    let (mut model, label) = made(name, layers, 4, device, dtype)?;
    let built = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let said = model.captioner.caption(&[picture(0)])?;
    let took = start.elapsed().as_secs_f64();
    anyhow::ensure!(said.len() == 1, "one picture has one caption, not {}", said.len());
    println!("{label}, {dtype:?} on {device:?}: made in {built:.0} s, a caption of 4 tokens took {took:.0} s");
    Ok(())
}

fn made(
    name: &str,
    layers: Option<u64>,
    caption_tokens: usize,
    device: &Device,
    dtype: DType,
) -> anyhow::Result<(Loaded, String)> {
    let (mut shape, tokenizer) = shapes::shape(name).ok_or_else(|| anyhow::anyhow!("{name} is no known model"))?;
    let mut label = name.to_owned();
    if let Some(layers) = layers {
        shapes::shallow(&mut shape, layers);
        label = format!("{name}, {} layers", shape["text_config"]["num_hidden_layers"]);
    }
    let config = Config { caption_tokens, answer_tokens: ANSWER_TOKENS, ..Config::default() };
    let tokenizer = Tokenizer::from_bytes(tokenizer).map_err(anyhow::Error::from_boxed)?;
    Ok((vlm::random(&shape.to_string(), tokenizer, &config, device, dtype)?, label))
}

fn captions(table: &Table, label: &str, model: &mut Loaded, batch: usize) -> Result<(), ModelError> {
    table.row((label, "caption of 32 tokens"), batch, (batch, "captions"), |round| {
        let pictures: Vec<Picture> = (0..batch).map(|i| picture(round * batch + i)).collect();
        timed(|| model.captioner.caption(&pictures))
    })
}

/// The first question about a picture, and two more about the same one.
fn questions(table: &Table, label: &str, model: &mut Loaded) -> Result<(), ModelError> {
    let Some(qa) = &mut model.visual_qa else { return Ok(()) };
    let of = |round: usize, question: &str| Inquiry { picture: picture(1000 + round), question: question.to_owned() };
    table.row((label, "answer of 8 tokens about a new picture"), 1, (1, "answers"), |round| {
        timed(|| qa.ask(&[of(round, "Is there a red car?")]))
    })?;
    table.row((label, "two more about the same picture"), 2, (2, "answers"), |round| -> Result<Duration, ModelError> {
        qa.ask(&[of(round, "Is there a red car?")])?;
        timed(|| qa.ask(&[of(round, "Is somebody walking?"), of(round, "Is it raining?")]))
    })
}

/// Stripes and noise, so that it shows something.
pub(crate) fn picture(seed: usize) -> Picture {
    let bytes: Vec<u8> = (0..3 * 640 * 384).map(|i| ((i * 31 + seed * 7919) % 251) as u8).collect();
    Picture::new(640, 384, bytes).expect("the bytes belong to the size")
}

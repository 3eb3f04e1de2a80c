//! DeBERTa v2 and v3, trained on entailment: does a claim follow from one sentence of a caption?
//!
//! Two kinds of weights, one network. The built-in judge's two logits have no usual meaning (see [`calibration`]): a
//! fitted head over what its classifier sees gives the three probabilities. A checkpoint in a folder with a
//! `config.json` says itself what its classes mean ([`labels`]) and needs no fit. Owns its tokenizer and weights; keeps
//! nothing between calls.
//!
//! # Decisions
//! - 2026-11-30: sequences are cut at 256 tokens whatever a checkpoint could read: it is asked sentence by sentence.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokenizers::utils::truncation::TruncationParams;
use tokenizers::{Encoding, Tokenizer};

use super::device;
use super::net::{Deberta, Design, DesignError, Packed, runs};
use super::shards;
use super::weights::{self, Weights, Whose, not_this};
use crate::domain::{Entailment, Fingerprint};
use crate::seams::{Judge, ModelError, Pair};

pub mod calibration;
pub mod labels;

use calibration::Calibration;
use labels::Labels;

const NAME: &str = "deberta-v3-xsmall-nli";
/// Longest sequence of the built-in judge, the length it was trained on.
const LONGEST: usize = 160;
/// Tokens of one pass: bounds memory, and a pass stays in the cache.
const TOKENS_AT_ONCE: usize = 2048;

/// A judge in a folder of its own, as a hub publishes it: `config.json`, `tokenizer.json`, and `model.safetensors` or its
/// shards.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The folder.
    pub dir: PathBuf,
    /// Probability of entailment from which a claim is grounded: nobody calibrated it here.
    #[serde(default)]
    pub threshold: Threshold,
}

/// A probability from a half to below one: at less than a half a claim could be entailed and not be the most probable
/// reading.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f32")]
pub struct Threshold(f32);

/// No threshold is NaN.
impl Eq for Threshold {}

impl Default for Threshold {
    fn default() -> Self {
        Self(0.5)
    }
}

impl TryFrom<f32> for Threshold {
    type Error = &'static str;

    fn try_from(value: f32) -> Result<Self, Self::Error> {
        if (0.5..1.0).contains(&value) { Ok(Self(value)) } else { Err("a threshold is at least 0.5 and below 1") }
    }
}

/// A judge that runs here.
pub struct NliJudge {
    name: String,
    tokenizer: Tokenizer,
    net: Deberta,
    head: Head,
    fingerprint: Fingerprint,
}

/// From what the network says to probabilities.
enum Head {
    Calibrated(Calibration),
    Labelled { labels: Labels, threshold: f32 },
}

/// What the network itself says of a pair, before any calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Output of the classifier, one a class.
    pub logits: Vec<f32>,
    /// Input of the classifier.
    pub features: Vec<f32>,
}

/// Why the `config.json` of a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
enum CheckpointError {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Labels(#[from] labels::LabelError),
}

impl NliJudge {
    /// Reads `model.safetensors` and `tokenizer.json` from the folder `dir`, and `config.json` if there is one: without
    /// it the weights must be those that the built-in calibration belongs to.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        if dir.join("config.json").exists() {
            Self::checkpoint(&Checkpoint { dir: dir.to_owned(), threshold: Threshold::default() })
        } else {
            Self::built_in(dir)
        }
    }

    /// Reads a checkpoint that says itself what its classes mean.
    pub fn checkpoint(checkpoint: &Checkpoint) -> Result<Self, ModelError> {
        let Checkpoint { dir, threshold: Threshold(threshold) } = checkpoint;
        let name = name(dir);
        let path = dir.join("config.json");
        let text = weights::read(Whose::Theirs, &name, &path)?;
        let (design, labels) =
            described(&String::from_utf8_lossy(&text)).map_err(|error| not_this(&name, &path, error))?;
        let tokenizer = checkpoint_tokenizer(&name, dir, &design)?;
        let files = shards::files(&name, dir)?;
        device::announce(&name, needed(&design, &files))?;
        let weights = Weights::join(Whose::Theirs, &name, &files)?;
        let at = if let [single] = &files[..] { single } else { dir };
        let net = Deberta::load(&weights, &design, labels.len()).map_err(|error| not_this(&name, at, error))?;
        weights.settle(is_for_training).map_err(|error| not_this(&name, at, error))?;
        let fingerprint = Fingerprint::new(format!("{}/labels-{labels}-{threshold}", weights.fingerprint()));
        Ok(Self { name, tokenizer, net, head: Head::Labelled { labels, threshold: *threshold }, fingerprint })
    }

    /// The judge of the profile `edge`. Its calibration is part of the program and belongs to one file of weights:
    /// others are refused.
    fn built_in(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("model.safetensors");
        let design = Design::xsmall(LONGEST);
        device::announce(NAME, needed(&design, std::slice::from_ref(&path)))?;
        let weights = Weights::read(Whose::Ours, NAME, &path)?;
        let tokenizer = weights::tokenizer(Whose::Ours, NAME, &dir.join("tokenizer.json"))?;
        let fits = tokenizer.get_truncation().is_some_and(|truncation| truncation.max_length <= LONGEST);
        if !fits {
            return Err(weights::unusable(NAME, &dir.join("tokenizer.json"), "it does not cut at the model's length"));
        }
        let net = Deberta::load(&weights, &design, 2);
        let net = net.map_err(|error| weights::unusable(NAME, &path, error))?;
        let calibration = Calibration::built_in();
        if weights.fingerprint() != calibration.weights() {
            let why = format!("{} is not {}, which was calibrated", weights.fingerprint(), calibration.weights());
            return Err(weights::unusable(NAME, &path, why));
        }
        let fingerprint = Fingerprint::new(format!("{}/{}", weights.fingerprint(), calibration.version()));
        Ok(Self { name: NAME.to_owned(), tokenizer, net, head: Head::Calibrated(calibration), fingerprint })
    }

    /// What the network says of each pair, in order.
    pub fn read(&self, pairs: &[Pair]) -> Result<Vec<Reading>, ModelError> {
        let texts: Vec<(&str, &str)> = pairs.iter().map(|pair| (&*pair.premise, &*pair.hypothesis)).collect();
        let failed = |error: &dyn std::fmt::Display| weights::failed(&self.name, error);
        let encodings = self.tokenizer.encode_batch_fast(texts, true).map_err(|error| failed(&error))?;
        let lengths: Vec<usize> = encodings.iter().map(|encoding| encoding.get_ids().len()).collect();
        let mut out = Vec::with_capacity(pairs.len());
        for end in runs(&lengths, TOKENS_AT_ONCE) {
            let own = &encodings[out.len()..end];
            let packed = Packed::new(own.iter().map(Encoding::get_ids));
            let packed = packed.with_types(own.iter().map(Encoding::get_type_ids));
            out.extend(self.pass(&packed).map_err(|error| failed(&error))?);
        }
        Ok(out)
    }

    fn pass(&self, packed: &Packed) -> candle_core::Result<Vec<Reading>> {
        let output = self.net.forward(packed)?;
        let rows = output.logits.to_vec2()?.into_iter().zip(output.features.to_vec2()?);
        Ok(rows.map(|(logits, features)| Reading { logits, features }).collect())
    }
}

impl Judge for NliJudge {
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
        let readings = self.read(pairs)?;
        let entailment = |reading: &Reading| match &self.head {
            Head::Calibrated(calibration) => calibration.entailment(&reading.features),
            Head::Labelled { labels, .. } => labels.entailment(&reading.logits),
        };
        let found: Vec<Entailment> = readings.iter().map(entailment).collect();
        let sum = |odds: &Entailment| odds.entailment + odds.neutral + odds.contradiction;
        // Not a relation between two texts, and so nothing that a verdict may rest on.
        if found.iter().any(|odds| !sum(odds).is_finite()) {
            let reason = "it gives no numbers: its weights are broken".to_owned();
            return Err(ModelError::Run { model: "judge".to_owned(), reason });
        }
        Ok(found)
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn threshold(&self) -> f32 {
        match &self.head {
            Head::Calibrated(calibration) => calibration.threshold(),
            Head::Labelled { threshold, .. } => *threshold,
        }
    }
}

fn described(json: &str) -> Result<(Design, Labels), CheckpointError> {
    Ok((Design::parse(json)?, Labels::parse(json)?))
}

/// Tensors that a classifier never reads: the heads that the network was trained with before it was one, and, as in
/// transformers, a table of absolute positions that `position_biased_input` turns off.
fn is_for_training(tensor: &str) -> bool {
    ["lm_predictions.", "mask_predictions.", "cls.predictions.", "deberta.embeddings.position_embeddings."]
        .iter()
        .any(|begin| tensor.starts_with(begin))
}

/// Bytes while it is loaded: the files, and what is made of them.
fn needed(design: &Design, weights: &[PathBuf]) -> u64 {
    design.bytes() + weights.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|file| file.len()).sum::<u64>()
}

/// What the folder is called, in the characters of a fingerprint.
fn name(dir: &Path) -> String {
    let last = dir.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    if last.is_empty() { "judge".to_owned() } else { last.chars().map(plain).collect() }
}

/// The tokenizer of a checkpoint, cutting the longer text of a pair first.
fn checkpoint_tokenizer(name: &str, dir: &Path, design: &Design) -> Result<Tokenizer, ModelError> {
    let path = dir.join("tokenizer.json");
    if !path.exists() && dir.join("spm.model").exists() {
        return Err(not_this(name, &path, "is missing: spm.model alone cannot be read, save the fast tokenizer"));
    }
    let mut tokenizer = weights::tokenizer(Whose::Theirs, name, &path)?;
    let cut = TruncationParams { max_length: design.reach, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(cut)).map_err(|error| not_this(name, &path, error))?;
    if tokenizer.get_vocab_size(true) > design.words {
        let sizes = format!("it knows {} tokens, the network {}", tokenizer.get_vocab_size(true), design.words);
        return Err(not_this(name, &path, sizes));
    }
    // One token before, between and after the two texts, or the network reads something it was never shown.
    let count = |special| tokenizer.encode(("a", "a"), special).map(|encoding| encoding.get_ids().len());
    match (count(true), count(false)) {
        (Ok(with), Ok(without)) if with > without + 1 => Ok(tokenizer),
        _ => Err(not_this(name, &path, "it does not put special tokens around and between the texts of a pair")),
    }
}

//! DeBERTa-v3-xsmall, trained on entailment: does a claim follow from one sentence of a caption?
//!
//! The network's own two logits have no usual meaning (see [`calibration`]); a fitted head over what its classifier
//! sees gives the three probabilities. Owns its tokenizer and weights; keeps nothing between calls.

use std::path::Path;

use tokenizers::Tokenizer;

use super::net::{Deberta, LONGEST, Packed, runs};
use super::weights::{self, Weights};
use crate::domain::{Entailment, Fingerprint};
use crate::seams::{Judge, ModelError, Pair};

pub mod calibration;

use calibration::Calibration;

const NAME: &str = "deberta-v3-xsmall-nli";
/// Tokens of one pass: bounds memory, and a pass stays in the cache.
const TOKENS_AT_ONCE: usize = 2048;

/// The judge of the profile `edge`.
pub struct NliJudge {
    tokenizer: Tokenizer,
    net: Deberta,
    calibration: Calibration,
    fingerprint: Fingerprint,
}

/// What the network itself says of a pair, before any calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Output of the classifier.
    pub logits: [f32; 2],
    /// Input of the classifier, 384 components.
    pub features: Vec<f32>,
}

impl NliJudge {
    /// Reads `model.safetensors` and `tokenizer.json` from the folder `dir`. The calibration is part of the program and
    /// belongs to one file of weights: others are refused.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("model.safetensors");
        let weights = Weights::read(NAME, &path)?;
        let tokenizer = weights::tokenizer(NAME, &dir.join("tokenizer.json"))?;
        let fits = tokenizer.get_truncation().is_some_and(|truncation| truncation.max_length <= LONGEST);
        if !fits {
            return Err(weights::unusable(NAME, &dir.join("tokenizer.json"), "it does not cut at the model's length"));
        }
        let net = Deberta::load(&weights).map_err(|error| weights::unusable(NAME, &path, error))?;
        let calibration = Calibration::built_in();
        if weights.fingerprint() != calibration.weights() {
            let why = format!("{} is not {}, which was calibrated", weights.fingerprint(), calibration.weights());
            return Err(weights::unusable(NAME, &path, why));
        }
        let fingerprint = Fingerprint::new(format!("{}/{}", weights.fingerprint(), calibration.version()));
        Ok(Self { tokenizer, net, calibration, fingerprint })
    }

    /// What the network says of each pair, in order.
    pub fn read(&self, pairs: &[Pair]) -> Result<Vec<Reading>, ModelError> {
        let texts: Vec<(&str, &str)> = pairs.iter().map(|pair| (&*pair.premise, &*pair.hypothesis)).collect();
        let encodings = self.tokenizer.encode_batch_fast(texts, true).map_err(|error| weights::failed(NAME, error))?;
        let lengths: Vec<usize> = encodings.iter().map(|encoding| encoding.get_ids().len()).collect();
        let mut out = Vec::with_capacity(pairs.len());
        for end in runs(&lengths, TOKENS_AT_ONCE) {
            let packed = Packed::new(encodings[out.len()..end].iter().map(tokenizers::Encoding::get_ids));
            out.extend(self.pass(&packed).map_err(|error| weights::failed(NAME, error))?);
        }
        Ok(out)
    }

    fn pass(&self, packed: &Packed) -> candle_core::Result<Vec<Reading>> {
        let output = self.net.forward(packed)?;
        let rows = output.logits.to_vec2::<f32>()?.into_iter().zip(output.features.to_vec2()?);
        Ok(rows.map(|(logits, features)| Reading { logits: [logits[0], logits[1]], features }).collect())
    }
}

impl Judge for NliJudge {
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
        let readings = self.read(pairs)?;
        Ok(readings.iter().map(|reading| self.calibration.entailment(&reading.features)).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn threshold(&self) -> f32 {
        self.calibration.threshold()
    }
}

//! all-MiniLM-L6-v2: sentences to unit vectors of 384 components, as sentence-transformers makes them: mean of the token
//! vectors, then unit length. Owns its tokenizer and weights; keeps nothing between calls.

use std::path::Path;

use candle_core::IndexOp;
use tokenizers::Tokenizer;
use tokenizers::utils::truncation::TruncationParams;

use super::device;
use super::net::{Bert, Packed, runs};
use super::weights::{self, Weights, Whose};
use crate::domain::{Embedding, Fingerprint};
use crate::seams::{Embedder, ModelError};

const NAME: &str = "all-minilm-l6-v2";
/// Longer texts are cut (sentence_bert_config.json).
const LONGEST: usize = 256;
/// Tokens of one pass: bounds memory, and a pass stays in the cache.
const TOKENS_AT_ONCE: usize = 2048;

/// The embedder of every profile.
pub struct MiniLm {
    tokenizer: Tokenizer,
    net: Bert,
    fingerprint: Fingerprint,
}

impl MiniLm {
    /// Reads `model.safetensors` and `tokenizer.json` from the folder `dir`.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("model.safetensors");
        // The file, its tensors, and a second copy of the matrices.
        device::announce(NAME, 3 * std::fs::metadata(&path).map_or(0, |file| file.len()))?;
        let weights = Weights::read(Whose::Ours, NAME, &path)?;
        let mut tokenizer = weights::tokenizer(Whose::Ours, NAME, &dir.join("tokenizer.json"))?;
        tokenizer
            .with_truncation(Some(TruncationParams { max_length: LONGEST, ..TruncationParams::default() }))
            .map_err(|error| weights::unusable(NAME, &path, error))?;
        let net = Bert::load(&weights).map_err(|error| weights::unusable(NAME, &path, error))?;
        // The mean of the tokens is the embedding: nothing is pooled.
        let left = weights.settle(|tensor| tensor.starts_with("pooler.dense."));
        left.map_err(|error| weights::unusable(NAME, &path, error))?;
        Ok(Self { tokenizer, net, fingerprint: weights.fingerprint().clone() })
    }

    /// Mean over the tokens of each sequence.
    fn means(&self, packed: &Packed) -> candle_core::Result<Vec<Embedding>> {
        let tokens = self.net.forward(packed)?;
        let sequences = packed.starts().zip(packed.lengths());
        let mean = |(start, length): (usize, &usize)| tokens.i(start..start + length)?.mean(0)?.to_vec1();
        sequences.map(|sequence| mean(sequence).map(Embedding::new)).collect()
    }
}

impl Embedder for MiniLm {
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Embedding>, ModelError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encodings = self.tokenizer.encode_batch_fast(texts, true).map_err(|error| weights::failed(NAME, error))?;
        let mut out = Vec::with_capacity(encodings.len());
        let lengths: Vec<usize> = encodings.iter().map(|encoding| encoding.get_ids().len()).collect();
        for end in runs(&lengths, TOKENS_AT_ONCE) {
            let packed = Packed::new(encodings[out.len()..end].iter().map(tokenizers::Encoding::get_ids));
            out.extend(self.means(&packed).map_err(|error| weights::failed(NAME, error))?);
        }
        Ok(out)
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

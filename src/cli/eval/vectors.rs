//! An embedder that keeps the vectors of texts in a file.
//!
//! The file is a run of entries: the SHA-256 of embedder and text in hexadecimal, then the components, f32, little-endian.
//! All vectors have one length. A file of another length of entries is refused.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::input::InputError;
use crate::domain::{Embedding, Fingerprint, Sha256};
use crate::seams::{Embedder, ModelError};

/// Hexadecimal digits of a key.
const KEY: usize = 64;

/// An embedder with a memory.
pub(super) struct Vectors {
    embedder: Box<dyn Embedder>,
    path: Option<PathBuf>,
    known: HashMap<String, Embedding>,
    fingerprint: Fingerprint,
}

impl Vectors {
    /// Reads what is kept; without a path nothing is kept.
    pub(super) fn open(embedder: Box<dyn Embedder>, path: Option<&Path>) -> anyhow::Result<Self> {
        let fingerprint = embedder.fingerprint().clone();
        let mut vectors = Self { embedder, path: path.map(Path::to_owned), known: HashMap::new(), fingerprint };
        let Some(path) = path else { return Ok(vectors) };
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vectors),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let probe = vectors.embedder.embed(&["A probe.".to_owned()])?;
        let length = KEY + 4 * probe.first().map_or(0, |vector| vector.as_slice().len());
        if !bytes.len().is_multiple_of(length) {
            return Err(InputError::unusable(path, "it was not written by this embedder: name another file").into());
        }
        for entry in bytes.chunks_exact(length) {
            let (key, numbers) = entry.split_at(KEY);
            let (numbers, _) = numbers.as_chunks::<4>();
            let vector = Embedding::new(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect());
            vectors.known.insert(String::from_utf8_lossy(key).into_owned(), vector);
        }
        Ok(vectors)
    }

    /// Writes down what is known.
    pub(super) fn save(&self) -> anyhow::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut bytes = Vec::new();
        for (key, vector) in &self.known {
            bytes.extend(key.as_bytes());
            bytes.extend(vector.as_slice().iter().flat_map(|number| number.to_le_bytes()));
        }
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    fn key(&self, text: &str) -> String {
        Sha256::of(format!("{}\n{text}", self.fingerprint).as_bytes()).as_str().to_owned()
    }
}

impl Embedder for Vectors {
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Embedding>, ModelError> {
        let keys: Vec<String> = texts.iter().map(|text| self.key(text)).collect();
        let new = keys.iter().zip(texts).filter(|(key, _)| !self.known.contains_key(*key));
        let (new_keys, new_texts): (Vec<String>, Vec<String>) =
            new.map(|(key, text)| (key.clone(), text.clone())).unzip();
        if !new_texts.is_empty() {
            self.known.extend(new_keys.into_iter().zip(self.embedder.embed(&new_texts)?));
        }
        Ok(keys.iter().filter_map(|key| self.known.get(key).cloned()).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

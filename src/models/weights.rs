//! Files of weights: reading, naming what is wrong with them, and their fingerprints.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;

use super::unread::{Ledger, Unread};
use crate::domain::Fingerprint;
use crate::seams::ModelError;

/// Whose a file is, which decides what brings it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Of a built-in model, in a folder named after its role.
    Ours,
    /// Of a model that the site chose, wherever it has it from.
    Theirs,
}

impl Whose {
    fn refuse(self, model: &str, path: &Path, why: impl Display) -> ModelError {
        match self {
            Self::Ours => unusable(model, path, why),
            Self::Theirs => not_this(model, path, why),
        }
    }
}

/// A file of a built-in model that cannot be used: fetching mends it.
pub(super) fn unusable(model: &str, path: &Path, why: impl Display) -> ModelError {
    let roles = ["captioner", "embedder", "drafter", "judge"];
    let named = |path: &&Path| path.file_name().is_some_and(|name| roles.iter().any(|role| name == *role));
    let dir = path.ancestors().find(named).and_then(Path::parent).filter(|dir| !dir.as_os_str().is_empty());
    let into = dir.map(|dir| format!(" --dir {}", dir.display())).unwrap_or_default();
    let reason = format!("{}: {why}; run `groundedvqa models fetch{into}`", path.display());
    ModelError::Load { model: model.to_owned(), reason }
}

/// A file of a model that the site chose and that cannot be used: fetching would bring the same one again.
pub(super) fn not_this(model: &str, path: &Path, why: impl Display) -> ModelError {
    ModelError::Load { model: model.to_owned(), reason: format!("{}: {why}", path.display()) }
}

/// A computation that failed.
pub(super) fn failed(model: &str, why: impl Display) -> ModelError {
    super::device::failed(model, &why.to_string())
}

/// A file of a model that the site chose and that is not there.
pub(super) fn missing(model: &str, path: &Path) -> ModelError {
    let why = "is missing: put the model's files there, or install one of those that `groundedvqa models list --profile gpu` \
        shows, by its name";
    ModelError::Load { model: model.to_owned(), reason: format!("{} {why}", path.display()) }
}

/// The whole of a file.
pub(super) fn read(whose: Whose, model: &str, path: &Path) -> Result<Vec<u8>, ModelError> {
    let bytes = fs::read(path).map_err(|error| match (whose, error.kind()) {
        (Whose::Theirs, std::io::ErrorKind::NotFound) => missing(model, path),
        _ => whose.refuse(model, path, error),
    })?;
    match pointer(&bytes) {
        Some(why) => Err(whose.refuse(model, path, why)),
        None => Ok(bytes),
    }
}

/// What to do if a file that begins so only names another one: a clone of a hub's repository without Git LFS has such.
pub(super) fn pointer(beginning: &[u8]) -> Option<&'static str> {
    const WHY: &str = "is a Git LFS pointer and not the file itself: run `git lfs pull` where it was cloned";
    beginning.starts_with(b"version ").then_some(WHY)
}

/// `name@` and the first twelve hexadecimal digits of the SHA-256 of `weights`.
pub(super) fn fingerprint(name: &str, weights: &[u8]) -> Fingerprint {
    named(name, Sha256::new_with_prefix(weights))
}

fn named(name: &str, weights: Sha256) -> Fingerprint {
    let hex = format!("{:x}", weights.finalize());
    Fingerprint::new(format!("{name}@{}", &hex[..12]))
}

/// The tokenizer beside the weights, without the padding and truncation it was saved with: callers never pad, and
/// truncate to what their model was trained on.
pub(super) fn tokenizer(whose: Whose, model: &str, path: &Path) -> Result<Tokenizer, ModelError> {
    let bytes = read(whose, model, path)?;
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| whose.refuse(model, path, error))?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

/// Named tensors of a safetensors file, or of several.
pub(super) struct Weights {
    tensors: HashMap<String, Tensor>,
    read: Ledger,
    fingerprint: Fingerprint,
}

impl Weights {
    /// Reads the file at `path`, the weights of `model`.
    pub(super) fn read(whose: Whose, model: &str, path: &Path) -> Result<Self, ModelError> {
        Self::join(whose, model, &[path.to_owned()])
    }

    /// Reads `files`, the weights of `model` in parts.
    pub(super) fn join(whose: Whose, model: &str, files: &[PathBuf]) -> Result<Self, ModelError> {
        let (mut tensors, mut hasher) = (HashMap::new(), Sha256::new());
        for path in files {
            let bytes = read(whose, model, path)?;
            hasher.update(&bytes);
            let part = candle_core::safetensors::load_buffer(&bytes, &Device::Cpu)
                .map_err(|error| whose.refuse(model, path, format!("not a safetensors file: {error}")))?;
            for (name, tensor) in part {
                if tensors.contains_key(&name) {
                    return Err(whose.refuse(model, path, format!("tensor {name} is in another file as well")));
                }
                tensors.insert(name, tensor);
            }
        }
        Ok(Self { tensors, read: Ledger::default(), fingerprint: named(model, hasher) })
    }

    /// Which weights these are.
    pub(super) fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The tensor `name` in f32; it must have the shape `dims` and hold f32, or a shorter float that is widened.
    pub(super) fn get<const N: usize>(&self, name: &str, dims: [usize; N]) -> candle_core::Result<Tensor> {
        let tensor = self.any(name)?;
        if tensor.dims() != dims || !tensor.dtype().is_float() {
            candle_core::bail!(
                "tensor {name} is {:?} of {:?} instead of {dims:?} of floats",
                tensor.shape(),
                tensor.dtype()
            );
        }
        tensor.to_dtype(DType::F32)
    }

    /// The tensor `name`, whatever its shape and type.
    pub(super) fn any(&self, name: &str) -> candle_core::Result<&Tensor> {
        self.read.note(name);
        self.tensors.get(name).ok_or_else(|| candle_core::Error::Msg(format!("no tensor {name}")))
    }

    /// Refuses tensors that nothing asked for, but for the `harmless` ones.
    pub(super) fn settle(&self, harmless: impl Fn(&str) -> bool) -> Result<(), Unread> {
        self.read.settle(self.tensors.keys().map(String::as_str), harmless)
    }
}

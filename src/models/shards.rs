//! Which files hold the weights of a folder as a hub publishes it: one, or the shards that an index names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::weights::{Whose, not_this, read};
use crate::seams::ModelError;

/// All weights in one file.
pub(super) const SINGLE: &str = "model.safetensors";
/// Which shard holds which tensor.
pub(super) const INDEX: &str = "model.safetensors.index.json";

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The files of weights in `folder`, in the order of their names; none of them lies outside.
pub(super) fn files(model: &str, folder: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let index = folder.join(INDEX);
    if !index.exists() {
        return Ok(vec![folder.join(SINGLE)]);
    }
    let text = read(Whose::Theirs, model, &index)?;
    let map: Index = serde_json::from_slice(&text).map_err(|error| not_this(model, &index, error))?;
    let names: BTreeSet<String> = map.weight_map.into_values().collect();
    let plain = |name: &String| Path::new(name).components().all(|c| matches!(c, Component::Normal(_)));
    if names.is_empty() || !names.iter().all(plain) {
        return Err(not_this(model, &index, "it names no files, or files outside the folder"));
    }
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

//! Reads the detector as published: a TensorFlow.js graph model, of which only the weights are used.
//!
//! `nanodet.json` lists the tensors in the order in which `nanodet.bin` holds them; 69 are f32 stored as f16, the rest
//! are int32 shape constants of the graph. Batch norms are folded, so a convolution is a kernel and a bias. The names
//! were chosen by the converter and are the only link to the layers.

use std::collections::HashMap;

use half::f16;
use half::slice::HalfFloatSliceExt;
use serde::Deserialize;

use crate::models::net::nanodet::{CONVS, Weights};

/// The list of tensors.
pub(super) const MANIFEST: &str = "nanodet.json";
/// Their numbers, little-endian, one after the other.
pub(super) const NUMBERS: &str = "nanodet.bin";

/// Why the files are not the detector.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublishedError {
    #[error("{MANIFEST} is not a TensorFlow.js graph model: {0}")]
    Manifest(#[source] serde_path_to_error::Error<serde_json::Error>),
    #[error("{MANIFEST}: tensor {0} has more numbers than memory can hold")]
    Size(String),
    #[error("{MANIFEST}: tensor {name} is stored as {dtype}, which is none of float16, float32 and int32")]
    Type { name: String, dtype: String },
    #[error("{NUMBERS} has {found} bytes, and {MANIFEST} describes {due}")]
    Length { due: usize, found: usize },
    #[error("{MANIFEST} has no tensor {0}")]
    Missing(String),
    #[error("tensor {0} holds numbers that are not finite")]
    NotFinite(String),
}

/// The convolutions in topological order.
pub(super) fn convolutions(manifest: &[u8], numbers: &[u8]) -> Result<Vec<Weights>, PublishedError> {
    let mut tensors = tensors(manifest, numbers)?;
    let mut take = |name: String| match tensors.remove(&name) {
        None => Err(PublishedError::Missing(name)),
        // The graph holds an infinite padding value, but no weight is.
        Some(values) if values.iter().any(|value| !value.is_finite()) => Err(PublishedError::NotFinite(name)),
        Some(values) => Ok(values),
    };
    (0..CONVS).map(|at| Ok(Weights { kernel: take(kernel_name(at))?, bias: take(bias_name(at))? })).collect()
}

fn kernel_name(conv: usize) -> String {
    if conv == 0 { "PartitionedCall/split".to_owned() } else { format!("PartitionedCall/split_{conv}") }
}

fn bias_name(conv: usize) -> String {
    let number = match conv {
        // Between the kernels of the heads the converter numbered shape constants.
        28 => 60,
        29 => 62,
        30 => 66,
        31 => 68,
        32 => 70,
        33 => 72,
        _ => 2 * conv,
    };
    format!("unknown_{number}")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    weights_manifest: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    weights: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    shape: Vec<usize>,
    dtype: String,
    quantization: Option<Quantization>,
}

#[derive(Deserialize)]
struct Quantization {
    dtype: String,
}

impl Entry {
    /// Number of bytes in the file.
    fn bytes(&self) -> Result<usize, PublishedError> {
        let size = match self.stored() {
            "float16" => 2,
            "float32" | "int32" => 4,
            other => return Err(PublishedError::Type { name: self.name.clone(), dtype: other.to_owned() }),
        };
        let bytes = self.shape.iter().try_fold(size, |product: usize, side| product.checked_mul(*side));
        bytes.ok_or_else(|| PublishedError::Size(self.name.clone()))
    }

    fn stored(&self) -> &str {
        self.quantization.as_ref().map_or(&self.dtype, |quantization| &quantization.dtype)
    }

    fn decode(&self, bytes: &[u8]) -> Vec<f32> {
        if self.stored() == "float16" {
            let halves: Vec<f16> = bytes.as_chunks().0.iter().map(|two| f16::from_le_bytes(*two)).collect();
            halves.to_f32_vec()
        } else {
            bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
        }
    }
}

/// The f32 tensors by name.
fn tensors(manifest: &[u8], numbers: &[u8]) -> Result<HashMap<String, Vec<f32>>, PublishedError> {
    let mut json = serde_json::Deserializer::from_slice(manifest);
    let model: Model = serde_path_to_error::deserialize(&mut json).map_err(PublishedError::Manifest)?;
    let entries: Vec<Entry> = model.weights_manifest.into_iter().flat_map(|group| group.weights).collect();
    let sizes = entries.iter().map(Entry::bytes).collect::<Result<Vec<_>, _>>()?;
    let due = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size)).unwrap_or(usize::MAX);
    if due != numbers.len() {
        return Err(PublishedError::Length { due, found: numbers.len() });
    }
    let mut rest = numbers;
    let mut tensors = HashMap::new();
    for (entry, size) in entries.into_iter().zip(sizes) {
        let (bytes, tail) = rest.split_at(size);
        rest = tail;
        if entry.dtype == "float32" {
            let values = entry.decode(bytes);
            tensors.insert(entry.name, values);
        }
    }
    Ok(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(entries: &str) -> Vec<u8> {
        format!(r#"{{"format":"graph-model","weightsManifest":[{{"paths":["nanodet.bin"],"weights":[{entries}]}}]}}"#)
            .into()
    }

    #[test]
    fn integers_are_counted_and_skipped() {
        let json = manifest(
            r#"{"name":"shape","shape":[2],"dtype":"int32"},
               {"name":"k","shape":[1,2],"dtype":"float32","quantization":{"dtype":"float16","original_dtype":"float32"}},
               {"name":"b","shape":[],"dtype":"float32"}"#,
        );
        let mut numbers = vec![7; 8];
        numbers.extend(f16::from_f32(1.5).to_le_bytes());
        numbers.extend(f16::from_f32(-2.0).to_le_bytes());
        numbers.extend(0.25f32.to_le_bytes());
        let tensors = tensors(&json, &numbers).expect("the files agree");
        assert_eq!(tensors, HashMap::from([("k".to_owned(), vec![1.5, -2.0]), ("b".to_owned(), vec![0.25])]));
    }

    #[test]
    fn broken_files_are_told_apart() {
        let half = r#"{"name":"k","shape":[2],"dtype":"float32","quantization":{"dtype":"float16"}}"#;
        let first = half.replace(r#""k""#, r#""PartitionedCall/split""#);
        let cases: [(Vec<u8>, &[u8], &str); 9] = [
            (b"".to_vec(), &[], "not a TensorFlow.js graph model"),
            (b"<html>".to_vec(), &[], "not a TensorFlow.js graph model"),
            (b"{}".to_vec(), &[], "weightsManifest"),
            (manifest(r#"{"name":"k","shape":[-1],"dtype":"int32"}"#), &[], "weights[0].shape[0]"),
            (manifest(half), &[0; 3], "has 3 bytes, and nanodet.json describes 4"),
            (manifest(half), &[0; 5], "has 5 bytes, and nanodet.json describes 4"),
            (manifest(&first), &[0, 0, 0, 0x7c], "split holds numbers that are not finite"),
            (
                manifest(r#"{"name":"k","shape":[4294967296,4294967296,9],"dtype":"float32"}"#),
                &[],
                "k has more numbers",
            ),
            (manifest(r#"{"name":"k","shape":[1],"dtype":"complex64"}"#), &[], "stored as complex64"),
        ];
        for (json, numbers, part) in cases {
            let error = convolutions(&json, numbers).expect_err("broken").to_string();
            assert!(error.contains(part), "{error:?} does not say {part:?}");
        }
        let error = convolutions(&manifest(half), &[0; 4]).expect_err("incomplete").to_string();
        assert_eq!(error, "nanodet.json has no tensor PartitionedCall/split");
    }
}

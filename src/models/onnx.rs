//! Weights out of an ONNX file that was quantised dynamically to int8, into safetensors under the names that the
//! training framework gave them. Reads weights only; the graph is used for nothing but their names.
//!
//! A matrix that the graph also holds unquantised (it is shared with an operator that stayed f32) is taken as it is;
//! the others become `(q - zero_point) * scale` in f32. The table of word vectors stays u8, with its scale and zero
//! point in tensors beside it: it is three quarters of all weights and only a few rows are read a call. The result
//! depends on the input alone, so its SHA-256 can be checked.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use prost::Message;
use safetensors::tensor::{Dtype, TensorView};

/// Why an ONNX file could not be converted.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// A file cannot be read or written.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Not protobuf.
    #[error("not an onnx file")]
    Decode(#[from] prost::DecodeError),
    /// Protobuf, and not what this converter understands.
    #[error("unexpected content in the onnx file: {0}")]
    Content(String),
    /// The result cannot be written as safetensors.
    #[error("cannot write safetensors")]
    Safetensors(#[from] safetensors::SafeTensorError),
}

/// Reads the weights of the ONNX file `onnx` and writes them as safetensors to `out`, which appears complete or not
/// at all.
pub fn to_safetensors(onnx: &Path, out: &Path) -> Result<(), OnnxError> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |source| OnnxError::File { path, source }
    };
    let bytes = fs::read(onnx).map_err(file(onnx))?;
    let model = Model::decode(bytes.as_slice())?;
    drop(bytes);
    let tensors = model.graph.ok_or_else(|| OnnxError::Content("no graph".into()))?.weights()?;

    let views = tensors
        .iter()
        .map(|(name, tensor)| Ok((name.as_str(), TensorView::new(tensor.dtype, tensor.dims.clone(), &tensor.bytes)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    let bytes = safetensors::serialize(views, None)?;
    replace(out, &bytes).map_err(file(out))
}

/// Puts `bytes` at `path`, all of them or none.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Readable by the daemon's user, like the files that were fetched.
    let mode = Permissions::from_mode(0o644);
    let mut part = tempfile::Builder::new().prefix("weights.").suffix(".part").permissions(mode).tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.as_file().sync_all()?;
    part.persist(path)?;
    Ok(())
}

/// One tensor of the result, little-endian.
struct Tensor {
    dtype: Dtype,
    dims: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn f32(dims: Vec<usize>, values: &[f32]) -> Self {
        Self { dtype: Dtype::F32, dims, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }
}

/// `ModelProto` of onnx.proto, as far as it is needed; unknown fields are skipped.
#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

/// `GraphProto`.
#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    nodes: Vec<Node>,
    #[prost(message, repeated, tag = "5")]
    initializers: Vec<Initializer>,
}

/// `NodeProto`.
#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    inputs: Vec<String>,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    operator: String,
}

/// `TensorProto`.
#[derive(Clone, PartialEq, Message)]
struct Initializer {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(float, repeated, tag = "4")]
    floats: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    ints: Vec<i32>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw: Vec<u8>,
}

/// `TensorProto.DataType`.
const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT8: i32 = 3;

const QUANTISED: &str = "_quantized";
const SCALE: &str = "_scale";
const ZERO_POINT: &str = "_zero_point";
/// What the exporter put before every name.
const ROOT: &str = "m.";

impl Graph {
    /// Every weight under the name that the training framework gave it, matrices as `[out, in]`.
    fn weights(&self) -> Result<BTreeMap<String, Tensor>, OnnxError> {
        let given: HashMap<&str, &Initializer> = self.initializers.iter().map(|i| (i.name.as_str(), i)).collect();
        let mut out = BTreeMap::new();
        for initializer in self.initializers.iter().filter(|i| i.name.starts_with(ROOT) && i.data_type == FLOAT) {
            if !initializer.name.ends_with(SCALE) {
                out.insert(plain(&initializer.name), Tensor::f32(initializer.dims()?, &initializer.f32()?));
            }
        }
        for node in self.nodes.iter().filter(|node| node.operator == "MatMulInteger") {
            let Some(quantised) = node.inputs.get(1).and_then(|input| given.get(input.as_str())) else {
                return Err(OnnxError::Content(format!("node {} has no weights", node.name)));
            };
            out.insert(node.weight_name()?, matrix(quantised, &given)?);
        }
        for table in self.initializers.iter().filter(|i| i.data_type == UINT8 && i.name.ends_with(QUANTISED)) {
            let name = plain(table.base());
            let (scale, zero_point) = quantisation(table, &given)?;
            out.insert(format!("{name}.scale"), Tensor::f32(vec![], &[scale]));
            out.insert(format!("{name}.zero_point"), Tensor::f32(vec![], &[zero_point]));
            out.insert(name, Tensor { dtype: Dtype::U8, dims: table.dims()?, bytes: table.raw.clone() });
        }
        if out.is_empty() { Err(OnnxError::Content("no weights".into())) } else { Ok(out) }
    }
}

/// The name without the exporter's root.
fn plain(name: &str) -> String {
    name.strip_prefix(ROOT).unwrap_or(name).to_owned()
}

/// A weight matrix `[in, out]` of the graph as `[out, in]`, the unquantised original where the graph still holds it.
fn matrix(quantised: &Initializer, given: &HashMap<&str, &Initializer>) -> Result<Tensor, OnnxError> {
    let dims = quantised.dims()?;
    let [rows, columns] = dims[..] else {
        return Err(OnnxError::Content(format!("{} is no matrix", quantised.name)));
    };
    let values = if let Some(original) = given.get(quantised.base()).filter(|original| original.data_type == FLOAT) {
        original.f32()?
    } else {
        let (scale, zero_point) = quantisation(quantised, given)?;
        quantised.raw.iter().map(|byte| (f32::from(byte.cast_signed()) - zero_point) * scale).collect()
    };
    if quantised.data_type != INT8 || values.len() != rows * columns {
        return Err(OnnxError::Content(format!("{} is not {rows} by {columns} of int8", quantised.name)));
    }
    let transposed: Vec<f32> =
        (0..columns).flat_map(|column| values.iter().skip(column).step_by(columns).copied()).collect();
    Ok(Tensor::f32(vec![columns, rows], &transposed))
}

/// Scale and zero point of a tensor quantised as a whole.
fn quantisation(tensor: &Initializer, given: &HashMap<&str, &Initializer>) -> Result<(f32, f32), OnnxError> {
    let find = |suffix: &str| {
        let name = format!("{}{suffix}", tensor.base());
        let found = given.get(name.as_str()).and_then(|i| i.scalar());
        found.ok_or_else(|| OnnxError::Content(format!("{name} is missing or not one number")))
    };
    Ok((find(SCALE)?, find(ZERO_POINT)?))
}

impl Node {
    /// `/m/deberta/encoder/layer.0/output/dense/MatMul_quant` holds `deberta.encoder.layer.0.output.dense.weight`.
    fn weight_name(&self) -> Result<String, OnnxError> {
        let (module, _) =
            self.name.rsplit_once('/').ok_or_else(|| OnnxError::Content(format!("node {} has no path", self.name)))?;
        Ok(plain(&format!("{}.weight", module.trim_start_matches('/').replace('/', "."))))
    }
}

impl Initializer {
    /// The name before it was quantised.
    fn base(&self) -> &str {
        self.name.strip_suffix(QUANTISED).unwrap_or(&self.name)
    }

    fn dims(&self) -> Result<Vec<usize>, OnnxError> {
        let dims: Option<Vec<usize>> = self.dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
        dims.ok_or_else(|| OnnxError::Content(format!("{} has a negative dimension", self.name)))
    }

    fn f32(&self) -> Result<Vec<f32>, OnnxError> {
        if self.data_type != FLOAT {
            return Err(OnnxError::Content(format!("{} does not hold f32", self.name)));
        }
        if self.raw.is_empty() {
            return Ok(self.floats.clone());
        }
        let (values, rest) = self.raw.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(OnnxError::Content(format!("{} ends within a number", self.name)));
        }
        Ok(values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// The only number in it; ONNX keeps small integers in `int32_data` or in raw bytes.
    fn scalar(&self) -> Option<f32> {
        match (self.data_type, self.floats.as_slice(), self.ints.as_slice(), self.raw.as_slice()) {
            (FLOAT, [value], [], []) => Some(*value),
            (FLOAT, [], [], raw) => raw.try_into().ok().map(f32::from_le_bytes),
            (UINT8 | INT8, [], [value], []) => Some(*value as f32),
            (UINT8, [], [], [byte]) => Some(f32::from(*byte)),
            (INT8, [], [], [byte]) => Some(f32::from(byte.cast_signed())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initializer(name: &str, dims: &[i64], data_type: i32) -> Initializer {
        Initializer { name: name.into(), dims: dims.into(), data_type, ..Initializer::default() }
    }

    fn node(name: &str, weights: &str) -> Node {
        Node { name: name.into(), operator: "MatMulInteger".into(), inputs: vec!["x".into(), weights.into()] }
    }

    /// One dequantised matrix, one that is there unquantised too, one bias, one table.
    fn graph() -> Graph {
        Graph {
            nodes: vec![
                node("/m/enc/layer.0/dense/MatMul_quant", "W1_quantized"),
                node("/m/q/MatMul_quant", "W2_quantized"),
            ],
            initializers: vec![
                Initializer { raw: vec![1, 2, 3, 0xFF, 5, 6], ..initializer("W1_quantized", &[2, 3], INT8) },
                Initializer { floats: vec![0.5], ..initializer("W1_scale", &[], FLOAT) },
                Initializer { ints: vec![1], ..initializer("W1_zero_point", &[], INT8) },
                Initializer { raw: vec![9], ..initializer("W2_quantized", &[1, 1], INT8) },
                Initializer { raw: 7.25_f32.to_le_bytes().into(), ..initializer("W2", &[1, 1], FLOAT) },
                Initializer {
                    raw: 1.5_f32.to_le_bytes().into(),
                    ..initializer("m.enc.layer.0.dense.bias", &[1], FLOAT)
                },
                Initializer { raw: vec![0, 255], ..initializer("m.words.weight_quantized", &[2, 1], UINT8) },
                Initializer { floats: vec![0.1], ..initializer("m.words.weight_scale", &[], FLOAT) },
                Initializer { raw: vec![200], ..initializer("m.words.weight_zero_point", &[], UINT8) },
            ],
        }
    }

    fn convert(graph: Graph) -> Result<Vec<u8>, OnnxError> {
        let folder = tempfile::tempdir().expect("a folder");
        let (onnx, out) = (folder.path().join("m.onnx"), folder.path().join("m.safetensors"));
        fs::write(&onnx, Model { graph: Some(graph) }.encode_to_vec()).expect("written");
        let result = to_safetensors(&onnx, &out);
        assert_eq!(out.exists(), result.is_ok());
        assert_eq!(
            fs::read_dir(folder.path()).expect("listed").count(),
            1 + usize::from(result.is_ok()),
            "a part was left"
        );
        result.map(|()| fs::read(out).expect("read"))
    }

    #[test]
    fn weights_get_their_names_back_and_are_transposed() {
        let bytes = convert(graph()).expect("converts");
        let file = safetensors::SafeTensors::deserialize(&bytes).expect("reads");
        let floats = |name: &str| -> Vec<f32> {
            let (values, _) = file.tensor(name).expect("is there").data().as_chunks::<4>();
            values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        assert_eq!(file.tensor("enc.layer.0.dense.weight").expect("is there").shape(), [3, 2]);
        assert_eq!(floats("enc.layer.0.dense.weight"), [0.0, -1.0, 0.5, 2.0, 1.0, 2.5]);
        assert_eq!(floats("q.weight"), [7.25]);
        assert_eq!(floats("enc.layer.0.dense.bias"), [1.5]);
        assert_eq!(floats("words.weight.scale"), [0.1]);
        assert_eq!(floats("words.weight.zero_point"), [200.0]);
        assert_eq!(file.tensor("words.weight").expect("is there").data(), [0, 255]);
        assert_eq!(file.len(), 6);
        assert_eq!(bytes, convert(graph()).expect("converts"), "two conversions differ");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let spoil: [(&str, fn(&mut Graph)); 6] = [
            ("node /m/q/MatMul_quant has no weights", |g| g.nodes[1].inputs.truncate(1)),
            ("W1_scale is missing", |g| g.initializers.retain(|i| i.name != "W1_scale")),
            ("W1_quantized is not 2 by 3 of int8", |g| {
                g.initializers[0].raw.pop();
            }),
            ("W1_quantized has a negative dimension", |g| g.initializers[0].dims[0] = -2),
            ("ends within a number", |g| {
                g.initializers[5].raw.pop();
            }),
            ("no weights", |g| *g = Graph::default()),
        ];
        for (message, change) in spoil {
            let mut graph = graph();
            change(&mut graph);
            let error = convert(graph).expect_err(message).to_string();
            assert!(error.contains(message), "{error:?} instead of {message:?}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error =
            to_safetensors(Path::new("/nowhere/m.onnx"), Path::new("/nowhere/m.safetensors")).expect_err("refused");
        assert!(error.to_string().contains("/nowhere/m.onnx"));
    }
}

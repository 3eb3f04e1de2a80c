//! A folder as published on the hub: which files it has, how large they are, and their tensors one by one.
//!
//! Weights are one `model.safetensors` or the shards that `model.safetensors.index.json` names. Tensors are read one at a
//! time, straight to their type and device, so that loading needs the memory of the model and of one tensor. Nothing is
//! mapped into memory: a file that shrinks under a running daemon must not kill it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use candle_core::{DType, Device, Result, Shape, Tensor};
use candle_nn::VarBuilder;
use candle_nn::var_builder::SimpleBackend;
use safetensors::tensor::Metadata;
use sha2::{Digest as _, Sha256};

use crate::domain::Fingerprint;
use crate::models::shards;
use crate::models::unread::{Ledger, Unread};
use crate::models::weights::{missing, not_this, pointer};
use crate::seams::ModelError;

/// The weights of a folder.
pub(super) struct Store {
    model: String,
    folder: PathBuf,
    files: Vec<PathBuf>,
    tensors: BTreeMap<String, Entry>,
    /// Names that stand for other tensors.
    aliases: BTreeMap<&'static str, &'static str>,
    read: Ledger,
}

/// The tensors of a folder, to be held against what a network read of them.
pub(super) struct Account {
    names: Vec<String>,
    read: Ledger,
}

impl Account {
    /// Refuses tensors that nothing asked for, but for the `harmless` ones.
    pub(super) fn settle(&self, harmless: impl Fn(&str) -> bool) -> std::result::Result<(), Unread> {
        self.read.settle(self.names.iter().map(String::as_str), harmless)
    }
}

struct Entry {
    file: usize,
    offset: u64,
    bytes: usize,
    dtype: DType,
    shape: Vec<usize>,
}

impl Store {
    /// Reads the names, types and places of all tensors in `folder`.
    pub(super) fn open(model: &str, folder: &Path) -> std::result::Result<Self, ModelError> {
        let files = shards::files(model, folder)?;
        let mut tensors = BTreeMap::new();
        for (index, path) in files.iter().enumerate() {
            if !path.exists() {
                return Err(missing(model, path));
            }
            read_names(index, path, &mut tensors).map_err(|why| not_this(model, path, why))?;
        }
        let (model, folder) = (model.to_owned(), folder.to_owned());
        Ok(Self { model, folder, files, tensors, aliases: BTreeMap::new(), read: Ledger::default() })
    }

    /// Lets `name` stand for `target` if the file lacks `name`.
    pub(super) fn alias(&mut self, name: &'static str, target: &'static str) {
        if !self.tensors.contains_key(name) {
            self.aliases.insert(name, target);
        }
    }

    /// Bytes that the tensors take once loaded as `dtype`.
    pub(super) fn bytes_as(&self, dtype: DType) -> u64 {
        let elements = |entry: &Entry| entry.shape.iter().map(|n| *n as u64).product::<u64>();
        self.tensors.values().map(elements).sum::<u64>() * dtype.size_in_bytes() as u64
    }

    /// `name@` and the beginning of the SHA-256 of all weights and of `beside`, other files of the folder.
    pub(super) fn fingerprint(&self, name: &str, beside: &[&str]) -> std::result::Result<Fingerprint, ModelError> {
        let others = beside.iter().map(|name| self.folder.join(name)).filter(|path| path.exists());
        let mut hasher = Sha256::new();
        for path in self.files.iter().cloned().chain(others) {
            let hashed = File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut hasher));
            hashed.map_err(|error| not_this(&self.model, &path, error))?;
        }
        let hex = format!("{:x}", hasher.finalize());
        Ok(Fingerprint::new(format!("{name}@{}", &hex[..12])))
    }

    /// What tells, once a network was built, what it left.
    pub(super) fn account(&self) -> Account {
        Account { names: self.tensors.keys().cloned().collect(), read: self.read.clone() }
    }

    /// The tensors, for a network that computes in `dtype` on `device`.
    pub(super) fn into_builder(self, dtype: DType, device: &Device) -> VarBuilder<'static> {
        let open = Mutex::new(BTreeMap::new());
        VarBuilder::from_backend(Box::new(Reader { store: self, open }), dtype, device.clone())
    }
}

fn read_names(index: usize, path: &Path, tensors: &mut BTreeMap<String, Entry>) -> std::result::Result<(), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    let (start, metadata) = header(&mut file, size)?;
    for (name, info) in metadata.tensors() {
        let dtype = DType::try_from(info.dtype).map_err(|error| format!("tensor {name}: {error}"))?;
        let (from, to) = info.data_offsets;
        if start + to as u64 > size {
            return Err(format!("it ends before tensor {name} does: it was not copied whole"));
        }
        let (offset, bytes, shape) = (start + from as u64, to - from, info.shape.clone());
        if tensors.insert(name.clone(), Entry { file: index, offset, bytes, dtype, shape }).is_some() {
            return Err(format!("tensor {name} is in two files"));
        }
    }
    Ok(())
}

/// Where the numbers begin, and what they are.
fn header(file: &mut File, size: u64) -> std::result::Result<(u64, Metadata), String> {
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| "not a safetensors file".to_owned())?;
    if let Some(why) = pointer(&length) {
        return Err(why.to_owned());
    }
    let length = u64::from_le_bytes(length);
    if length > size {
        return Err("not a safetensors file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let metadata = serde_json::from_slice(&bytes).map_err(|error| format!("not a safetensors file: {error}"))?;
    Ok((8 + length, metadata))
}

/// Reads tensors on demand.
struct Reader {
    store: Store,
    open: Mutex<BTreeMap<usize, File>>,
}

impl Reader {
    fn entry(&self, name: &str) -> Option<&Entry> {
        let tensors = &self.store.tensors;
        tensors.get(name).or_else(|| tensors.get(*self.store.aliases.get(name)?))
    }

    fn bytes(&self, entry: &Entry) -> Result<Vec<u8>> {
        let mut open = self.open.lock().map_err(|_| candle_core::Error::Msg("a reader panicked".into()))?;
        let file = match open.entry(entry.file) {
            std::collections::btree_map::Entry::Occupied(file) => file.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(File::open(&self.store.files[entry.file])?)
            }
        };
        file.seek(SeekFrom::Start(entry.offset))?;
        let mut bytes = vec![0; entry.bytes];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl SimpleBackend for Reader {
    fn get(&self, shape: Shape, name: &str, _: candle_nn::Init, dtype: DType, device: &Device) -> Result<Tensor> {
        let tensor = self.get_unchecked(name, dtype, device)?;
        if tensor.shape() != &shape {
            candle_core::bail!("tensor {name} is {:?} instead of {shape:?}", tensor.shape());
        }
        Ok(tensor)
    }

    fn get_unchecked(&self, name: &str, dtype: DType, device: &Device) -> Result<Tensor> {
        let entry = self.entry(name).ok_or_else(|| candle_core::Error::Msg(format!("no tensor {name}")))?;
        self.store.read.note(name);
        let bytes = self.bytes(entry)?;
        Tensor::from_raw_buffer(&bytes, entry.dtype, &entry.shape, &Device::Cpu)?.to_dtype(dtype)?.to_device(device)
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::models::shards::{INDEX, SINGLE};

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/vlm").join(name)
    }

    fn refused(folder: &Path) -> String {
        match Store::open("vlm", folder) {
            Err(error @ ModelError::Load { .. }) => error.to_string(),
            Err(error) => panic!("{error:?}"),
            Ok(_) => panic!("{} was accepted", folder.display()),
        }
    }

    #[test]
    fn one_file_and_shards_are_read() {
        for (name, shards) in [("qwen3-tied", false), ("qwen3-untied", true)] {
            let store = Store::open("vlm", &fixture(name)).expect(name);
            assert_eq!(store.files.len() > 1, shards, "{name}");
            let weights: u64 = store.files.iter().map(|path| fs::metadata(path).expect("there").len()).sum();
            let bytes = store.bytes_as(DType::BF16);
            assert!(bytes < weights && bytes > weights / 2, "{bytes} of {weights}");
            assert_eq!(store.bytes_as(DType::F32), 2 * bytes);
            let builder = store.into_builder(DType::F32, &Device::Cpu);
            assert_eq!(builder.contains_tensor("lm_head.weight"), shards, "only the untied model has a head");
            let embeddings = builder.get((512, 32), "model.language_model.embed_tokens.weight").expect("embeddings");
            assert_eq!(embeddings.dtype(), DType::F32);
            let wrong = builder.get((1, 32), "model.language_model.embed_tokens.weight").expect_err("another shape");
            assert!(wrong.to_string().contains("embed_tokens"), "{wrong}");
        }
    }

    #[test]
    fn damaged_folders_are_refused_by_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(SINGLE);
        assert!(refused(folder.path()).contains(SINGLE));
        let whole = fs::read(fixture("qwen3-tied").join(SINGLE)).expect("the fixture");
        for (bytes, said) in [
            (b"short".to_vec(), "not a safetensors file"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n".to_vec(), "git lfs pull"),
            (vec![255; 64], "not a safetensors file"),
            (whole[..whole.len() / 2].to_vec(), "not copied whole"),
        ] {
            fs::write(&path, bytes).expect("written");
            let error = refused(folder.path());
            assert!(error.contains(said) && error.contains(SINGLE), "{error}");
        }
        for index in ["{", r#"{"weight_map":{}}"#, r#"{"weight_map":{"a":"../../etc/passwd"}}"#] {
            fs::write(folder.path().join(INDEX), index).expect("written");
            assert!(refused(folder.path()).contains(INDEX), "{index}");
        }
        fs::write(folder.path().join(INDEX), r#"{"weight_map":{"a":"gone.safetensors"}}"#).expect("written");
        assert!(refused(folder.path()).contains("gone.safetensors"));
    }

    #[test]
    fn a_fingerprint_covers_every_file() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [SINGLE, "tokenizer.json"] {
            fs::copy(fixture("qwen3-tied").join(name), folder.path().join(name)).expect("copied");
        }
        let of = || {
            let store = Store::open("vlm", folder.path()).expect("opens");
            store.fingerprint("vlm", &["tokenizer.json", "absent.json"]).expect("read").as_str().to_owned()
        };
        let first = of();
        assert!(first.starts_with("vlm@") && first.len() == 16, "{first}");
        fs::write(folder.path().join("tokenizer.json"), "{}").expect("written");
        assert_ne!(of(), first);
    }
}

//! Our networks against what transformers computed with the same weights (`tests/fixtures/vlm/make.py`): all positions,
//! greedy tokens, batches, both spellings of the configuration, pictures, bf16; and what must not pass.
//!
//! They run on the CPU, or where `GVQA_TEST_DEVICE` says, such as `cuda:0`: `scripts/gpu.sh` sets it.

mod halves;
mod networks;
mod pictures;
mod reuse;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use candle_core::{DType, Device, Tensor};

use super::config::{self, Family};
use super::net::{Net, Prepared};
use super::picture::Cut;
use crate::models::device;
use crate::models::net::vlm::{Cache, Features, Grid, Keep, Row};

/// Absolute, on logits that reach 5 to 10. Seen: 2e-5.
const LOGITS: f32 = 1e-4;
/// Absolute, on what the eyes give.
const FEATURES: f32 = 5e-5;
/// How much further a GPU may be off: it sums in another order. Greedy tokens must be the same there too.
const ELSEWHERE: f32 = 10.0;

/// The fixtures of the families that answer.
const MODELS: [&str; 3] = ["qwen3-tied", "qwen3-untied", "smolvlm"];

fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let named = std::env::var_os("GVQA_TEST_DEVICE").map(|name| name.to_string_lossy().parse());
        let choice = named.unwrap_or(Ok(device::Choice::Cpu)).expect("GVQA_TEST_DEVICE names a device");
        device::open(choice).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// `on_the_cpu`, and more where the tests run elsewhere.
fn bound(on_the_cpu: f32) -> f32 {
    if device().is_cpu() { on_the_cpu } else { ELSEWHERE * on_the_cpu }
}

fn folder(model: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A program that was carried to another machine runs where the repository is there.
    let root = if built.exists() { built } else { Path::new(".") };
    root.join("tests/fixtures/vlm").join(model)
}

/// What the reference was given, and what it computed.
struct Io(HashMap<String, Tensor>);

impl Io {
    fn of(model: &str) -> Self {
        Self(candle_core::safetensors::load(folder(model).join("io.safetensors"), &Device::Cpu).expect("the fixture"))
    }

    fn get(&self, name: &str) -> &Tensor {
        self.0.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn rows(&self, name: &str) -> Vec<Vec<u32>> {
        self.get(name).to_vec2().expect("rows of ids")
    }

    /// Rows of `name` without their padding.
    fn unpadded(&self, name: &str, mask: &str) -> Vec<Vec<u32>> {
        let rows = self.rows(name).into_iter().zip(self.rows(mask));
        rows.map(|(ids, mask)| ids.into_iter().zip(mask).filter(|(_, m)| *m == 1).map(|(id, _)| id).collect()).collect()
    }

    fn picture(&self, name: &str) -> crate::domain::Picture {
        let tensor = self.get(name);
        let (height, width, _) = tensor.dims3().expect("a picture");
        let bytes: Vec<u8> = tensor.flatten_all().and_then(|t| t.to_vec1()).expect("bytes");
        crate::domain::Picture::new(width as u32, height as u32, bytes).expect("fits")
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        self.get(name).flatten_all().and_then(|t| t.to_vec1()).expect("floats")
    }
}

/// The reference's first or second picture as the net takes it.
fn seen(model: &str, io: &Io, index: usize) -> Prepared {
    let numbers = io.floats(["pixels_a", "pixels_b"][index]);
    if model == "smolvlm" {
        // The reference gives whole planes; the net takes patches.
        let patches = Cut { patch: 8, merge: 1, frames: 1 }.patches(&numbers, 64, 64);
        return Prepared { patches, grid: Grid { rows: 4, columns: 4 } };
    }
    let patches = &io.rows("grids")[index];
    Prepared { patches: numbers, grid: Grid { rows: patches[1] as usize / 2, columns: patches[2] as usize / 2 } }
}

fn parsed(model: &str, config: &str) -> Family {
    config::parse(&std::fs::read_to_string(folder(model).join(config)).expect("a configuration")).expect("parses")
}

fn net(model: &str, config: &str, dtype: DType) -> Net {
    let store = super::store::Store::open("vlm", &folder(model)).expect("opens");
    let at = store.into_builder(dtype, device());
    match parsed(model, config) {
        Family::Qwen3(shape) => Net::qwen3(&at, &shape),
        Family::Smol(shape) => Net::smol(&at, &shape),
        Family::Blip => panic!("BLIP is another kind"),
    }
    .expect("loads")
}

/// Rows of whole prompts with their pictures, and the positions behind them.
fn rows(net: &Net, ids: &[Vec<u32>], seen: &[Prepared]) -> (Vec<Row>, Vec<u32>) {
    let mut first = 0;
    let row = |(ids, seen): (&Vec<u32>, &Prepared)| {
        let row = net.row(ids.clone(), Some(seen.grid), first, 0);
        first += seen.grid.tokens() as u32;
        row
    };
    ids.iter().zip(seen).map(row).unzip()
}

fn logits(net: &Net, rows: &[Row], features: Option<&Features>, cache: &mut Cache) -> Tensor {
    net.decoder.forward(rows, features, cache, Keep::All).expect("computes")
}

fn difference(a: &Tensor, b: &Tensor) -> f32 {
    assert_eq!(a.dims(), b.dims());
    let here = |t: &Tensor| t.to_dtype(DType::F32).and_then(|t| t.to_device(&Device::Cpu)).expect("floats");
    let off = (here(a) - here(b))
        .and_then(|d| d.abs())
        .and_then(|d| d.flatten_all())
        .and_then(|d| d.max(0))
        .expect("a number");
    off.to_scalar().expect("one number")
}

/// Root of the mean square.
fn distance(a: &Tensor, b: &Tensor) -> f32 {
    let here = |t: &Tensor| t.to_dtype(DType::F32).and_then(|t| t.to_device(&Device::Cpu)).expect("floats");
    let square = (here(a) - here(b)).and_then(|d| d.sqr()).and_then(|d| d.mean_all()).expect("a number");
    square.to_scalar::<f32>().expect("one number").sqrt()
}

fn greedy(net: &Net, rows: &[Row], next: Vec<u32>, features: &Features, cache: &mut Cache) -> Vec<Vec<u32>> {
    let said = super::greedy(net, rows, next, Some(features), cache, 12, |_| false).expect("generates");
    said.into_iter().map(|said| said.ids).collect()
}

//! From a folder to a model, and what may be wrong with a folder.

use std::fs;
use std::path::Path;

use candle_core::{DType, Device};
use serde_json::Value;

use super::config::{self, Family, Qwen3, Smol};
use super::net::{Lens, Net};
use super::picture::Processor;
use super::prompt::{self, Prompt, Style, Template};
use super::store::Store;
use super::{Config, Shared, Vlm, blip};
use crate::models::device;
use crate::models::net::vlm::Shape;
use crate::models::weights::{Whose, not_this, read, tokenizer};
use crate::seams::{Captioner, ModelError, VisualQa};

/// The role in messages until the family is known.
const ROLE: &str = "captioner";
/// Files that change what is said, beside the weights.
const BESIDE: [&str; 7] = [
    "config.json",
    "tokenizer.json",
    "preprocessor_config.json",
    "generation_config.json",
    "chat_template.jinja",
    "chat_template.json",
    "tokenizer_config.json",
];

/// What a folder gave: a captioner, and the same model as one that answers questions, if it can.
pub struct Loaded {
    /// Pictures to captions.
    pub captioner: Box<dyn Captioner>,
    /// Pictures and questions to answers.
    pub visual_qa: Option<Box<dyn VisualQa>>,
}

/// Loads the model of `config`, whose folder is below `dir` if it is relative, onto `device`, computing in `dtype` (BLIP
/// always in f32). Tells how much memory that takes before it takes it.
pub fn load(dir: &Path, config: &Config, device: &Device, dtype: DType) -> Result<Loaded, ModelError> {
    let wrong = |(key, why)| ModelError::Load { model: ROLE.to_owned(), reason: format!("{key} {why}") };
    config.check().map_err(wrong)?;
    let folder = &dir.join(&config.folder);
    let text = text(folder, "config.json")?;
    let family = config::parse(&text).map_err(|why| not_this(ROLE, &folder.join("config.json"), why))?;
    let store = Store::open(ROLE, folder)?;
    let builder = Builder { folder, config, device, dtype };
    match family {
        Family::Qwen3(shape) => builder.qwen3(store, &shape).map(Shared::new).map(Loaded::both),
        Family::Smol(shape) => builder.smol(store, &shape).map(Shared::new).map(Loaded::both),
        Family::Blip => {
            let captioner = blip::load(folder, &text, store, config, device)?;
            Ok(Loaded { captioner: Box::new(captioner), visual_qa: None })
        }
    }
}

impl Loaded {
    pub(super) fn both(shared: Shared) -> Self {
        Self { captioner: Box::new(shared.clone()), visual_qa: Some(Box::new(shared)) }
    }
}

struct Builder<'a> {
    folder: &'a Path,
    config: &'a Config,
    device: &'a Device,
    dtype: DType,
}

impl Builder<'_> {
    fn qwen3(&self, store: Store, shape: &Qwen3) -> Result<Vlm, ModelError> {
        let lens = Lens::qwen3(shape, &self.processor()?, self.config.max_pixels);
        let prompt = self.prompt(Style::QWEN3, shape.image_token)?;
        let side = (shape.vision.pixels * shape.vision.merge) as u64;
        let tokens = self.config.max_pixels / (side * side);
        let name = format!("qwen3-vl/{}px", self.config.max_pixels);
        self.finish("qwen3-vl", &name, store, &shape.text, tokens, (lens, prompt), |at| Net::qwen3(at, shape))
    }

    fn smol(&self, store: Store, shape: &Smol) -> Result<Vlm, ModelError> {
        let processor = self.processor()?;
        let side = (shape.vision.side * shape.vision.patch) as u64;
        if let Some(square) = processor.square().filter(|square| *square != side) {
            let why = format!("max_image_size is {square}, and the tower takes pictures of {side} pixels a side");
            return Err(not_this("smolvlm", &self.folder.join("preprocessor_config.json"), why));
        }
        let lens = Lens::smol(shape, &processor);
        let prompt = self.prompt(Style::SMOL, shape.image_token)?;
        let tokens = shape.vision.grid().tokens() as u64;
        self.finish("smolvlm", "smolvlm", store, &shape.text, tokens, (lens, prompt), |at| Net::smol(at, shape))
    }

    #[expect(clippy::too_many_arguments, reason = "the last step of two builders, called nowhere else")]
    fn finish(
        &self,
        name: &'static str,
        described: &str,
        store: Store,
        shape: &Shape,
        picture_tokens: u64,
        (lens, prompt): (Lens, Prompt),
        build: impl FnOnce(&candle_nn::VarBuilder<'_>) -> candle_core::Result<Net>,
    ) -> Result<Vlm, ModelError> {
        tell_memory(name, &store, shape, (self.device, self.dtype), picture_tokens)?;
        let type_name = self.dtype.as_str();
        let described = format!("{described}/p{}/{}t/{type_name}", prompt::VERSION, self.config.caption_tokens);
        let fingerprint = store.fingerprint(&described, &BESIDE)?;
        let account = store.account();
        let net = build(&store.into_builder(self.dtype, self.device)).map_err(|e| load_error(name, self.folder, &e))?;
        account.settle(|_| false).map_err(|left| not_this(name, self.folder, left))?;
        Ok(Vlm { name, net, lens, prompt, config: self.config.clone(), fingerprint, last: None })
    }

    fn processor(&self) -> Result<Processor, ModelError> {
        let path = self.folder.join("preprocessor_config.json");
        if !path.exists() {
            return Ok(Processor::default());
        }
        let text = text(self.folder, "preprocessor_config.json")?;
        let processor: Processor = serde_json::from_str(&text).map_err(|why| not_this(ROLE, &path, why))?;
        processor.flaw().map_or(Ok(processor), |why| Err(not_this(ROLE, &path, why)))
    }

    fn prompt(&self, style: Style, image: u32) -> Result<Prompt, ModelError> {
        let template = self.template(style)?;
        let path = self.folder.join("tokenizer.json");
        let tokenizer = tokenizer(Whose::Theirs, ROLE, &path)?;
        Prompt::new(tokenizer, &template, image, &self.stops()?).map_err(|why| not_this(ROLE, &path, why))
    }

    /// Tokens that end an answer according to `generation_config.json`, if it is there.
    fn stops(&self) -> Result<Vec<u32>, ModelError> {
        let json = self.json("generation_config.json")?;
        let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        Ok(match &json["eos_token_id"] {
            Value::Array(ids) => ids.iter().filter_map(id).collect(),
            one => id(one).into_iter().collect(),
        })
    }

    /// The folder's own template, or its family's.
    fn template(&self, style: Style) -> Result<Template, ModelError> {
        let settings = self.json("tokenizer_config.json")?;
        let token = |key: &str| {
            let token = &settings[key];
            token.as_str().or_else(|| token["content"].as_str()).unwrap_or_default().to_owned()
        };
        let plain = fs::read_to_string(self.folder.join("chat_template.jinja")).ok();
        let of = |json: &Value| written(&json["chat_template"]);
        let sources = [
            ("chat_template.jinja", plain),
            ("chat_template.json", of(&self.json("chat_template.json")?)),
            ("tokenizer_config.json", of(&settings)),
        ];
        let Some((name, source)) = sources.into_iter().find_map(|(name, source)| Some((name, source?))) else {
            return Ok(Template::of(style));
        };
        let made = Template::rendered(style, &source, &token("bos_token"), &token("eos_token"));
        made.map_err(|why| not_this(ROLE, &self.folder.join(name), why))
    }

    /// A file of the folder that may be missing.
    fn json(&self, name: &str) -> Result<Value, ModelError> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text(self.folder, name)?).map_err(|why| not_this(ROLE, &path, why))
    }
}

/// A template, or of several the one that is called default.
fn written(value: &Value) -> Option<String> {
    let default = |all: &Vec<Value>| all.iter().find(|one| one["name"] == "default").map(|one| one["template"].clone());
    value.as_array().and_then(default).as_ref().unwrap_or(value).as_str().map(str::to_owned)
}

fn text(folder: &Path, name: &str) -> Result<String, ModelError> {
    let path = folder.join(name);
    let bytes = read(Whose::Theirs, ROLE, &path)?;
    String::from_utf8(bytes).map_err(|error| not_this(ROLE, &path, error))
}

/// Bytes of what a decoder remembers of `tokens` tokens.
fn cache_bytes(shape: &Shape, dtype: DType, tokens: u64) -> u64 {
    2 * (shape.layers * shape.kv_heads * shape.head * dtype.size_in_bytes()) as u64 * tokens
}

/// Says what is needed before it is taken; on the CPU it is refused if it is not there.
fn tell_memory(
    name: &str,
    store: &Store,
    shape: &Shape,
    (device, dtype): (&Device, DType),
    picture_tokens: u64,
) -> Result<(), ModelError> {
    const TEXT_TOKENS: u64 = 160;
    let (weights, cache) = (store.bytes_as(dtype), cache_bytes(shape, dtype, picture_tokens + TEXT_TOKENS));
    let megabytes = |bytes: u64| bytes / 1_000_000;
    tracing::info!(
        model = name,
        device = device::name(device),
        dtype = dtype.as_str(),
        weights_mb = megabytes(weights),
        cache_mb_per_picture = megabytes(cache),
        "the weights stay, what is remembered of the pictures of a call lasts as long as it"
    );
    if device.is_cpu() { device::announce(name, weights + cache) } else { Ok(()) }
}

/// A folder whose tensors do not fit its configuration, or a device without room for them.
pub(super) fn load_error(name: &str, folder: &Path, error: &candle_core::Error) -> ModelError {
    match device::failed(name, &error.to_string()) {
        ModelError::Run { .. } => not_this(name, folder, error),
        memory => memory,
    }
}

/// A computation that failed.
pub(super) fn run_error(name: &str, error: &candle_core::Error) -> ModelError {
    device::failed(name, &error.to_string())
}

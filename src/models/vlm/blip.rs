//! BLIP, the light captioner, through candle's module: captions only, one picture at a time, in f32, as that module allows
//! no more.

use std::path::Path;

use candle_core::{D, DType, Device, IndexOp, Module as _, Tensor};
use candle_transformers::models::blip::{BlipForConditionalGeneration, Config as Shape};
use fast_image_resize::FilterType;
use serde_json::Value;
use tokenizers::Tokenizer;

use super::load::{load_error, run_error};
use super::picture::{Normal, squared};
use super::store::Store;
use super::{Config, tell};
use crate::domain::{Caption, Fingerprint, Picture};
use crate::models::device;
use crate::models::weights::{Whose, failed, not_this, tokenizer};
use crate::seams::{Captioner, ModelError};

const NAME: &str = "blip";
/// Of CLIP, with which BLIP was trained.
const MEAN: [f32; 3] = [0.48145466, 0.4578275, 0.40821073];
const DEVIATION: [f32; 3] = [0.26862954, 0.261_302_6, 0.275_777_1];

/// The decoder's matrix of output words, and the words that it is if the file leaves it out (as transformers 5 does).
const HEAD: [&str; 2] =
    ["text_decoder.cls.predictions.decoder.weight", "text_decoder.bert.embeddings.word_embeddings.weight"];
/// The same for its bias.
const HEAD_BIAS: [&str; 2] = ["text_decoder.cls.predictions.decoder.bias", "text_decoder.cls.predictions.bias"];

/// A picture in a sentence.
pub(super) struct Blip {
    pub(super) net: BlipForConditionalGeneration,
    tokenizer: Tokenizer,
    normal: Normal,
    side: u32,
    begin: u32,
    end: u32,
    limit: usize,
    device: Device,
    fingerprint: Fingerprint,
}

/// Loads the model in `folder`, whose `config.json` is `text`.
pub(super) fn load(
    folder: &Path,
    text: &str,
    mut store: Store,
    config: &Config,
    on: &Device,
) -> Result<Blip, ModelError> {
    let broken = |why: serde_json::Error| not_this(NAME, &folder.join("config.json"), why);
    let mut json: Value = serde_json::from_str(text).map_err(broken)?;
    let shape = shape(&mut json).map_err(broken)?;
    if let Some(wrong) = impossible(&json) {
        return Err(not_this(NAME, &folder.join("config.json"), wrong));
    }
    let id = |key: &str, otherwise: u64| json["text_config"][key].as_u64().unwrap_or(otherwise) as u32;
    let (begin, end) = (id("bos_token_id", 30522), id("sep_token_id", 102));
    store.alias(HEAD[0], HEAD[1]);
    store.alias(HEAD_BIAS[0], HEAD_BIAS[1]);
    if on.is_cpu() {
        device::announce(NAME, store.bytes_as(DType::F32))?;
    }
    let fingerprint =
        store.fingerprint(&format!("blip/{}t", config.caption_tokens), &["config.json", "tokenizer.json"])?;
    let tokenizer = tokenizer(Whose::Theirs, NAME, &folder.join("tokenizer.json"))?;
    let side = shape.vision_config.image_size as u32;
    let account = store.account();
    let net = BlipForConditionalGeneration::new(&shape, store.into_builder(DType::F32, on))
        .map_err(|error| load_error(NAME, folder, &error))?;
    account.settle(is_beside_captions).map_err(|left| not_this(NAME, folder, left))?;
    // It counts positions from zero, and has so many.
    let limit = config.caption_tokens.min(shape.text_config.max_position_embeddings);
    let (normal, device) = (Normal::new(MEAN, DEVIATION), on.clone());
    Ok(Blip { net, tokenizer, normal, side, begin, end, limit, device, fingerprint })
}

/// Heads of BLIP that compare pictures with texts, and the head's bias, which files hold twice. A text encoder is none of
/// them: with one, the decoder was trained to answer what the encoder read, and not to describe.
fn is_beside_captions(tensor: &str) -> bool {
    tensor == HEAD_BIAS[0]
        || tensor == "logit_scale"
        || ["itm_head.", "vision_proj.", "text_proj.", "visual_projection.", "text_projection."]
            .iter()
            .any(|begin| tensor.starts_with(begin))
}

/// The shape with what published files leave to transformers' defaults.
fn shape(json: &mut Value) -> serde_json::Result<Shape> {
    let vision_width = json["vision_config"]["hidden_size"].clone();
    let defaults = [
        ("text_config", "vocab_size", 30524.into()),
        ("text_config", "hidden_size", 768.into()),
        ("text_config", "intermediate_size", 3072.into()),
        ("text_config", "num_hidden_layers", 12.into()),
        ("text_config", "num_attention_heads", 8.into()),
        ("text_config", "max_position_embeddings", 512.into()),
        ("text_config", "hidden_act", "gelu".into()),
        ("text_config", "layer_norm_eps", 1e-12.into()),
        ("text_config", "is_decoder", true.into()),
        ("text_config", "projection_dim", 768.into()),
        ("vision_config", "hidden_size", 768.into()),
        ("vision_config", "intermediate_size", 3072.into()),
        ("vision_config", "num_hidden_layers", 12.into()),
        ("vision_config", "num_attention_heads", 12.into()),
        ("vision_config", "image_size", 384.into()),
        ("vision_config", "patch_size", 16.into()),
        ("vision_config", "hidden_act", "gelu".into()),
        ("vision_config", "layer_norm_eps", 1e-5.into()),
        ("vision_config", "projection_dim", 512.into()),
    ];
    for (section, key, value) in defaults {
        if let Some(section) = json[section].as_object_mut() {
            section.entry(key).or_insert(value);
        }
    }
    // The cross attention reads what the eyes give, whatever the file says.
    json["text_config"]["encoder_hidden_size"] = if vision_width.is_null() { 768.into() } else { vision_width };
    for (key, value) in [("projection_dim", 512), ("image_text_hidden_size", 256)] {
        if json[key].is_null() {
            json[key] = value.into();
        }
    }
    serde_json::from_value(json.clone())
}

/// A number that a network cannot have, in words; candle divides by it without a look.
fn impossible(json: &Value) -> Option<String> {
    let number = |section: &str, key: &str| json[section][key].as_u64().unwrap_or(0);
    let numbers = [
        ("text_config", "hidden_size"),
        ("text_config", "num_attention_heads"),
        ("vision_config", "hidden_size"),
        ("vision_config", "num_attention_heads"),
        ("vision_config", "image_size"),
        ("vision_config", "patch_size"),
    ];
    let zero = numbers.iter().find(|(section, key)| number(section, key) == 0);
    if let Some((section, key)) = zero {
        return Some(format!("{section}.{key} is not a number above zero"));
    }
    let divides = |section: &str| number(section, "hidden_size").is_multiple_of(number(section, "num_attention_heads"));
    let section = ["text_config", "vision_config"].into_iter().find(|section| !divides(section))?;
    Some(format!("{section}: num_attention_heads does not divide hidden_size"))
}

impl Blip {
    /// Normalised planes, `[1, 3, side, side]`.
    pub(super) fn prepare(&self, picture: &Picture) -> Result<Tensor, ModelError> {
        let refused =
            |error: super::picture::PictureError| ModelError::Input { model: NAME.into(), reason: error.to_string() };
        let rgb = squared(picture, self.side, FilterType::CatmullRom).map_err(refused)?;
        let side = self.side as usize;
        let planes = Tensor::from_vec(self.normal.planes(&rgb), (1, 3, side, side), &self.device);
        planes.map_err(|error| run_error(NAME, &error))
    }

    /// Token ids of a caption of `pixels`, without the end.
    pub(super) fn write(&mut self, pixels: &Tensor) -> candle_core::Result<(Vec<u32>, bool)> {
        let seen = self.net.vision_model().forward(pixels)?;
        self.net.reset_kv_cache();
        let (mut last, mut ids) = (self.begin, Vec::new());
        while ids.len() < self.limit {
            let input = Tensor::new(&[[last]], &self.device)?;
            let logits = self.net.text_decoder().forward(&input, &seen)?;
            last = logits.i((0, logits.dim(1)? - 1))?.argmax(D::Minus1)?.to_scalar()?;
            if last == self.end {
                return Ok((ids, false));
            }
            ids.push(last);
        }
        Ok((ids, true))
    }

    fn one(&mut self, picture: &Picture) -> Result<Caption, ModelError> {
        let pixels = self.prepare(picture)?;
        let (ids, is_cut) = self.write(&pixels).map_err(|error| run_error(NAME, &error))?;
        let text = self.tokenizer.decode(&ids, true).map_err(|error| failed(NAME, error))?;
        Ok(Caption::new(capitalised(&tell::sentences(&text, is_cut))))
    }
}

impl Captioner for Blip {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        pictures.iter().map(|picture| self.one(picture)).collect()
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// BLIP writes small letters only.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

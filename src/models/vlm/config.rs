//! `config.json` of a vision-language model, in the spelling of transformers 4.x (as on the hub) and of 5.x, to the shapes
//! of our networks. Pure.
//!
//! What our networks cannot compute is refused here by name instead of being computed wrongly: scaled rotary positions,
//! biases of the attention, other activations.

use serde::Deserialize;
use serde_json::Value;

use crate::models::net::vlm::{Shape, qwen3, siglip};

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConfigError {
    /// Not JSON, or a key is missing or of the wrong type.
    #[error("{key}: {reason}")]
    Parse {
        /// Where.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// Another architecture.
    #[error("model_type is {0:?}: qwen3_vl, smolvlm, idefics3 and blip are known")]
    Family(String),
    /// The architecture has a variant that is not implemented.
    #[error("{key} is {found}, and only {known} is implemented")]
    Unsupported {
        /// The key.
        key: &'static str,
        /// Its value.
        found: String,
        /// What would do.
        known: &'static str,
    },
    /// Numbers that do not fit each other.
    #[error("{0}")]
    Shape(&'static str),
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Family {
    /// Qwen3-VL.
    Qwen3(Qwen3),
    /// SmolVLM, SmolVLM2 and Idefics3.
    Smol(Smol),
    /// BLIP for captions.
    Blip,
}

/// Shapes of a Qwen3-VL model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Qwen3 {
    pub(super) text: Shape,
    pub(super) vision: qwen3::Shape,
    pub(super) image_token: u32,
}

/// Shapes of a SmolVLM model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Smol {
    pub(super) text: Shape,
    pub(super) vision: siglip::Shape,
    pub(super) image_token: u32,
}

#[derive(Deserialize)]
struct Text {
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    rms_norm_eps: Option<f64>,
    rope_theta: Option<f64>,
    rope_scaling: Option<Rope>,
    rope_parameters: Option<Rope>,
    hidden_act: Option<String>,
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
}

#[derive(Default, Deserialize)]
struct Rope {
    #[serde(rename = "rope_theta")]
    theta: Option<f64>,
    #[serde(rename = "rope_type", alias = "type")]
    kind: Option<String>,
    #[serde(rename = "mrope_section")]
    sections: Option<[usize; 3]>,
    #[serde(rename = "mrope_interleaved")]
    interleaved: Option<bool>,
}

#[derive(Deserialize)]
struct Qwen3Vision {
    depth: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_heads: usize,
    in_channels: Option<usize>,
    patch_size: usize,
    temporal_patch_size: usize,
    spatial_merge_size: usize,
    out_hidden_size: usize,
    num_position_embeddings: usize,
    deepstack_visual_indexes: Vec<usize>,
    hidden_act: Option<String>,
}

/// Absent keys are those of transformers' `SmolVLMVisionConfig`; published files leave some out.
#[derive(Deserialize)]
#[serde(default)]
struct SmolVision {
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_channels: usize,
    image_size: usize,
    patch_size: usize,
    hidden_act: String,
    layer_norm_eps: f64,
}

impl Default for SmolVision {
    fn default() -> Self {
        Self {
            hidden_size: 1152,
            intermediate_size: 3072,
            num_hidden_layers: 12,
            num_attention_heads: 16,
            num_channels: 3,
            image_size: 224,
            patch_size: 32,
            hidden_act: "gelu_pytorch_tanh".to_owned(),
            layer_norm_eps: 1e-6,
        }
    }
}

/// Reads the text of `config.json`.
pub(super) fn parse(text: &str) -> Result<Family, ConfigError> {
    let json: Value = serde_json::from_str(text).map_err(|e| broken("config.json", &e))?;
    match json["model_type"].as_str().unwrap_or_default() {
        "qwen3_vl" => qwen3(&json).map(Family::Qwen3),
        "smolvlm" | "idefics3" => smol(&json).map(Family::Smol),
        "blip" => Ok(Family::Blip),
        other => Err(ConfigError::Family(other.to_owned())),
    }
}

fn qwen3(json: &Value) -> Result<Qwen3, ConfigError> {
    let vision: Qwen3Vision = section(json, "vision_config")?;
    only("vision_config.hidden_act", vision.hidden_act.as_deref(), "gelu_pytorch_tanh")?;
    let text = text(section(json, "text_config")?, true)?;
    let side = vision.num_position_embeddings.isqrt();
    check(
        side * side == vision.num_position_embeddings && side > 0,
        "vision_config.num_position_embeddings is no square",
    )?;
    check(vision.out_hidden_size == text.width, "vision_config.out_hidden_size is not text_config.hidden_size")?;
    check(vision.deepstack_visual_indexes.len() <= text.layers, "more deepstack features than decoder layers")?;
    let deep = &vision.deepstack_visual_indexes;
    check(deep.iter().all(|at| *at < vision.depth), "vision_config.deepstack_visual_indexes lie beyond its depth")?;
    heads(vision.hidden_size, vision.num_heads, 4)?;
    let numbers = [vision.depth, vision.patch_size, vision.temporal_patch_size, vision.spatial_merge_size];
    within(&numbers)?;
    check(vision.in_channels.is_none_or(|n| n == 3), "vision_config.in_channels is not 3")?;
    Ok(Qwen3 {
        vision: qwen3::Shape {
            depth: vision.depth,
            width: vision.hidden_size,
            inner: vision.intermediate_size,
            heads: vision.num_heads,
            pixels: vision.patch_size,
            frames: vision.temporal_patch_size,
            merge: vision.spatial_merge_size,
            out: vision.out_hidden_size,
            side,
            deep: vision.deepstack_visual_indexes,
        },
        text,
        image_token: token(json)?,
    })
}

fn smol(json: &Value) -> Result<Smol, ConfigError> {
    let vision: SmolVision = section(json, "vision_config")?;
    only("vision_config.hidden_act", Some(&vision.hidden_act), "gelu_pytorch_tanh")?;
    let text = text(section(json, "text_config")?, false)?;
    let factor = json["scale_factor"].as_u64().unwrap_or(2) as usize;
    within(&[vision.patch_size, vision.num_hidden_layers, factor])?;
    heads(vision.hidden_size, vision.num_attention_heads, 1)?;
    check(vision.num_channels == 3, "vision_config.num_channels is not 3")?;
    let side = vision.image_size / vision.patch_size;
    check(side > 0 && side.is_multiple_of(factor), "scale_factor does not divide the patches of a side")?;
    Ok(Smol {
        vision: siglip::Shape {
            depth: vision.num_hidden_layers,
            width: vision.hidden_size,
            inner: vision.intermediate_size,
            heads: vision.num_attention_heads,
            side,
            patch: vision.patch_size,
            epsilon: vision.layer_norm_eps,
            merge: factor,
            out: text.width,
        },
        text,
        image_token: token(json)?,
    })
}

/// `normed` families norm queries and keys, and count positions in three dimensions.
fn text(text: Text, normed: bool) -> Result<Shape, ConfigError> {
    only("text_config.hidden_act", text.hidden_act.as_deref(), "silu")?;
    for (key, value) in [("text_config.attention_bias", text.attention_bias), ("text_config.mlp_bias", text.mlp_bias)] {
        only(key, value.map(|bias| if bias { "true" } else { "false" }), "false")?;
    }
    let rope = text.rope_parameters.or(text.rope_scaling).unwrap_or_default();
    only("text_config.rope_type", rope.kind.as_deref(), "default")?;
    only("text_config.mrope_interleaved", rope.interleaved.map(|i| if i { "true" } else { "false" }), "true")?;
    let kv_heads = text.num_key_value_heads.unwrap_or(text.num_attention_heads);
    let numbers = [text.vocab_size, text.hidden_size, text.num_hidden_layers, text.num_attention_heads, kv_heads];
    within(&numbers)?;
    let head = text.head_dim.unwrap_or(text.hidden_size / text.num_attention_heads);
    check(text.num_attention_heads.is_multiple_of(kv_heads), "text_config: key heads do not divide query heads")?;
    check(head >= 2 && head.is_multiple_of(2) && head <= LARGEST, "text_config.head_dim is not an even number")?;
    // Qwen3-VL's own default, for a file that names none.
    let sections = normed.then(|| rope.sections.unwrap_or([24, 20, 20]));
    check(
        sections.is_none_or(|s| s.iter().sum::<usize>() <= head / 2),
        "text_config.mrope_section has more frequencies than a head",
    )?;
    Ok(Shape {
        vocabulary: text.vocab_size,
        width: text.hidden_size,
        inner: text.intermediate_size,
        layers: text.num_hidden_layers,
        heads: text.num_attention_heads,
        kv_heads,
        head,
        epsilon: text.rms_norm_eps.unwrap_or(1e-6),
        theta: rope.theta.or(text.rope_theta).unwrap_or(1e4),
        sections,
        normed_heads: normed,
    })
}

/// No dimension of a model that anybody has published is larger.
const LARGEST: usize = 1 << 20;

fn within(numbers: &[usize]) -> Result<(), ConfigError> {
    check(numbers.iter().all(|n| (1..=LARGEST).contains(n)), "a size is zero or absurdly large")
}

fn heads(width: usize, heads: usize, multiple: usize) -> Result<(), ConfigError> {
    within(&[width, heads])?;
    let fits = width.is_multiple_of(heads) && (width / heads).is_multiple_of(multiple);
    check(fits, "vision_config: the heads do not divide the width")
}

fn check(holds: bool, otherwise: &'static str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Shape(otherwise)) }
}

fn only(key: &'static str, found: Option<&str>, known: &'static str) -> Result<(), ConfigError> {
    match found {
        Some(found) if found != known => Err(ConfigError::Unsupported { key, found: found.to_owned(), known }),
        _ => Ok(()),
    }
}

fn token(json: &Value) -> Result<u32, ConfigError> {
    let id = json["image_token_id"].as_u64().and_then(|id| u32::try_from(id).ok());
    id.ok_or_else(|| ConfigError::Parse { key: "image_token_id".to_owned(), reason: "it is missing".to_owned() })
}

fn section<'a, T: Deserialize<'a>>(json: &'a Value, key: &str) -> Result<T, ConfigError> {
    if json[key].is_null() {
        return Err(ConfigError::Parse { key: key.to_owned(), reason: "it is missing".to_owned() });
    }
    T::deserialize(&json[key]).map_err(|error| broken(key, &error))
}

fn broken(key: &str, error: &serde_json::Error) -> ConfigError {
    ConfigError::Parse { key: key.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> Value {
        let path = format!("{}/tests/fixtures/vlm/{name}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect("JSON")
    }

    fn parsed(json: &Value) -> Result<Family, ConfigError> {
        parse(&json.to_string())
    }

    #[test]
    fn both_spellings_mean_the_same() {
        for model in ["qwen3-tied", "qwen3-untied", "smolvlm"] {
            let [new, old] = ["config.json", "config-hub.json"].map(|name| fixture(&format!("{model}/{name}")));
            assert_ne!(new["text_config"], old["text_config"], "{model}: one spelling only");
            assert_eq!(parsed(&new).expect("5.x"), parsed(&old).expect("4.x"), "{model}");
        }
    }

    #[test]
    fn what_is_not_implemented_is_refused_by_name() {
        let model = fixture("qwen3-tied/config.json");
        for (pointer, value, named) in [
            ("/model_type", "llava".into(), "llava"),
            ("/text_config/hidden_act", "relu".into(), "relu"),
            ("/text_config/attention_bias", true.into(), "attention_bias"),
            ("/text_config/rope_parameters/rope_type", "yarn".into(), "yarn"),
            ("/text_config/rope_parameters/mrope_interleaved", false.into(), "mrope_interleaved"),
            ("/text_config/rope_parameters/mrope_section", serde_json::json!([9, 2, 2]), "mrope_section"),
            ("/text_config/hidden_size", Value::Null, "text_config"),
            ("/text_config/num_attention_heads", 0.into(), "zero"),
            ("/text_config/num_key_value_heads", 3.into(), "divide"),
            ("/vision_config/num_heads", 0.into(), "zero"),
            ("/vision_config/patch_size", u64::MAX.into(), "large"),
            ("/vision_config/deepstack_visual_indexes", serde_json::json!([7]), "depth"),
            ("/vision_config", Value::Null, "vision_config"),
            ("/image_token_id", Value::Null, "image_token_id"),
        ] {
            let mut broken = model.clone();
            *broken.pointer_mut(pointer).expect(pointer) = value;
            let error = parsed(&broken).expect_err(pointer).to_string();
            assert!(error.contains(named), "{pointer}: {error}");
        }
        assert!(parse("{").is_err());
        assert!(parse("[]").is_err());
    }
}

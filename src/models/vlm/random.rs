//! Models of true shapes whose weights are noise: they say nothing, as fast as a trained one would. For measurements, on
//! machines that have no weights.

use candle_core::{DType, Device, Result, Shape, Tensor};
use candle_nn::VarBuilder;
use candle_nn::var_builder::SimpleBackend;
use tokenizers::Tokenizer;

use super::config::{self, Family};
use super::net::{Lens, Net};
use super::picture::Processor;
use super::prompt::{Prompt, Style, Template};
use super::{Config, Shared, Vlm};
use crate::domain::Fingerprint;
use crate::models::weights::not_this;
use crate::seams::ModelError;

use super::load::{Loaded, load_error};

/// A model as `config_json` describes it, with noise for weights; `tokenizer` must have the marks of the family.
pub fn random(
    config_json: &str,
    tokenizer: Tokenizer,
    config: &Config,
    device: &Device,
    dtype: DType,
) -> std::result::Result<Loaded, ModelError> {
    let beside = std::path::Path::new("config.json");
    let family = config::parse(config_json).map_err(|why| not_this("random", beside, why))?;
    let at = VarBuilder::from_backend(Box::new(Noise), dtype, device.clone());
    let processor = Processor::default();
    let (name, net, lens, style, image) = match &family {
        Family::Qwen3(shape) => {
            let lens = Lens::qwen3(shape, &processor, config.max_pixels);
            ("qwen3-vl", Net::qwen3(&at, shape), lens, Style::QWEN3, shape.image_token)
        }
        Family::Smol(shape) => {
            ("smolvlm", Net::smol(&at, shape), Lens::smol(shape, &processor), Style::SMOL, shape.image_token)
        }
        Family::Blip => return Err(not_this("random", beside, "BLIP is not measured")),
    };
    let net = net.map_err(|error| load_error(name, beside, &error))?;
    let prompt = Prompt::new(tokenizer, &Template::of(style), image, &[]).map_err(|why| not_this(name, beside, why))?;
    let fingerprint = Fingerprint::new(format!("{name}@random"));
    let model = Vlm { name, net, lens, prompt, config: config.clone(), fingerprint, last: None };
    Ok(Loaded::both(Shared::new(model)))
}

/// Small numbers of any shape, the same matrix everywhere.
struct Noise;

impl SimpleBackend for Noise {
    fn get(&self, shape: Shape, name: &str, _: candle_nn::Init, dtype: DType, device: &Device) -> Result<Tensor> {
        // A norm of noise would drown what it norms.
        if name.contains("norm") && name.ends_with("weight") {
            return Tensor::ones(shape, dtype, device);
        }
        let fan_in = shape.dims().last().copied().unwrap_or(1).max(1);
        Tensor::randn(0.0_f32, (fan_in as f32).powf(-0.5), shape, device)?.to_dtype(dtype)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> Result<Tensor> {
        candle_core::bail!("the shape of {name} is not known")
    }

    fn contains_tensor(&self, _: &str) -> bool {
        false
    }
}

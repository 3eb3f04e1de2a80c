//! candle lives here and only here: one module a role, `net` for the networks, `weights` for files. Which model serves
//! a role is chosen here too, also if it computes elsewhere ([`crate::remote`]).
//!
//! Everything blocks and belongs to one thread, the engine's. Nothing here knows of streams, questions or the bus.

use std::path::{Path, PathBuf};

use candle_core::DType;
use serde::Deserialize;

use crate::config::choice;
use crate::domain::Need;
use crate::remote::{self, Endpoint};
use crate::seams::{self, ModelError};

mod absent;
pub mod captioner;
mod chat;
pub mod device;
pub mod drafter;
pub mod embedder;
pub mod fetch;
pub mod judge;
pub mod manifest;
mod net;
pub mod onnx;
mod shards;
mod unread;
pub mod vlm;
mod weights;

/// Who describes pictures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Captioner {
    /// The COCO scene describer of the profile `edge`.
    Scene {},
    /// A vision-language model from a folder: Qwen3-VL and SmolVLM, which also answer questions about pictures, or BLIP.
    Vlm(vlm::Config),
    /// A vision-language model behind an endpoint; it also answers questions about pictures.
    Remote(Endpoint),
}

/// Which language model, if any, turns a question and moments into claims.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Drafter {
    /// SmolLM2-135M-Instruct, held to a grammar.
    Smollm2 {},
    /// Sentences of the retrieved captions, no language model.
    Extractive {},
    /// Any model in a GGUF file of llama, qwen2, qwen3 or gemma3, held to the same grammar.
    Gguf(drafter::File),
    /// A chat model behind an endpoint.
    Remote(Endpoint),
}

/// Who says whether a sentence of a caption entails a claim.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Judge {
    /// The entailment classifier of the profile `edge`, with its fitted head.
    Nli {},
    /// A DeBERTa checkpoint that names its classes itself.
    Checkpoint(judge::Checkpoint),
    /// A chat model behind an endpoint.
    Remote(Endpoint),
}

/// Which chat model, if any, reads a whole caption and a claim (design `caption-llm-judge`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ChatJudge {
    /// None: the design is refused.
    None {},
    /// The drafter's SmolLM2-135M-Instruct, loaded once more: for the paper's ablation, far too small to be believed.
    Smollm2 {},
    /// A chat model behind an endpoint.
    Remote(Endpoint),
}

/// Where the models are and how they run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The folder that `groundedvqa models fetch` fills.
    pub dir: PathBuf,
    /// Who describes pictures.
    #[serde(deserialize_with = "choice")]
    pub captioner: Captioner,
    /// Who drafts.
    #[serde(deserialize_with = "choice")]
    pub drafter: Drafter,
    /// Who judges.
    #[serde(deserialize_with = "choice")]
    pub judge: Judge,
    /// Who judges in the design `caption-llm-judge`.
    #[serde(deserialize_with = "choice")]
    pub chat_judge: ChatJudge,
    /// What vision-language models run on; the other models run on the CPU.
    pub device: device::Choice,
    /// Threads for the models' arithmetic; 0 is one a core.
    pub threads: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dir: PathBuf::from("models"),
            captioner: Captioner::Scene {},
            drafter: Drafter::Smollm2 {},
            judge: Judge::Nli {},
            chat_judge: ChatJudge::None {},
            device: device::Choice::default(),
            threads: 0,
        }
    }
}

impl Config {
    /// Refuses endpoints, with the files that they name, and sizes that could not work: the key, and what is wrong with it.
    pub fn check(&self) -> Result<(), (String, String)> {
        if let Captioner::Vlm(vlm) = &self.captioner {
            vlm.check().map_err(|(key, problem)| (format!("captioner.{key}"), problem.to_owned()))?;
            device::built(self.device).map_err(|error| ("device".to_owned(), error.to_string()))?;
        } else if !matches!(self.device, device::Choice::Auto | device::Choice::Cpu) {
            // Else everything would run on the CPU without a word.
            let idle = "names a device on which nothing would run: only vision-language models do ([models.captioner] kind = \"vlm\")";
            return Err(("device".to_owned(), idle.to_owned()));
        }
        self.endpoints().try_for_each(|(role, endpoint)| {
            endpoint.check().map_err(|error| (format!("{role}.{}", error.key), error.problem.to_owned()))?;
            endpoint.check_files().map_err(|(key, problem)| (format!("{role}.{key}"), problem))
        })
    }

    /// Every endpoint, with the key of its role.
    pub fn endpoints(&self) -> impl Iterator<Item = (&'static str, &Endpoint)> {
        let captioner = if let Captioner::Remote(it) = &self.captioner { Some(("captioner", it)) } else { None };
        let drafter = if let Drafter::Remote(it) = &self.drafter { Some(("drafter", it)) } else { None };
        let judge = if let Judge::Remote(it) = &self.judge { Some(("judge", it)) } else { None };
        let chat_judge = if let ChatJudge::Remote(it) = &self.chat_judge { Some(("chat_judge", it)) } else { None };
        [captioner, drafter, judge, chat_judge].into_iter().flatten()
    }

    /// Whether a design that needs this model can be used.
    pub fn has(&self, need: Need) -> bool {
        match need {
            Need::VisualQa => match &self.captioner {
                Captioner::Remote(_) => true,
                Captioner::Vlm(vlm) => vlm.answers(&self.dir),
                Captioner::Scene {} => false,
            },
            Need::ChatJudge => self.chat_judge != ChatJudge::None {},
        }
    }

    /// Whether a file of this role is loaded.
    fn uses(&self, role: manifest::Role) -> bool {
        match role {
            manifest::Role::Captioner => self.captioner == Captioner::Scene {},
            manifest::Role::Embedder => true,
            manifest::Role::Drafter => self.drafter == Drafter::Smollm2 {} || self.chat_judge == ChatJudge::Smollm2 {},
            manifest::Role::Judge => self.judge == Judge::Nli {},
        }
    }
}

/// Loads one model a role from `config.dir`. A file that is missing or not what it should be is a
/// [`ModelError::Load`] that says what to do.
pub fn load(config: &Config, metrics: &remote::Metrics) -> Result<seams::Models, ModelError> {
    net::set_threads(config.threads);
    check_files(config)?;
    let (captioner, visual_qa) = eyes(config, metrics)?;
    Ok(seams::Models {
        captioner,
        embedder: embedder(config)?,
        drafter: drafter(config, metrics)?,
        judge: judge(config, metrics)?,
        visual_qa,
        chat_judge: chat_judge(config, metrics)?,
    })
}

/// A damaged matrix still multiplies, and says something else: so every byte is compared with the manifest first.
fn check_files(config: &Config) -> Result<(), ModelError> {
    for file in manifest::Manifest::edge().loaded().filter(|file| config.uses(file.role)) {
        let refused = |error| ModelError::Load { model: file.role.to_string(), reason: chain(&error) };
        file.verify(&config.dir).map_err(|error: manifest::FileError| refused(error))?;
    }
    if let Captioner::Vlm(vlm) = &config.captioner {
        check_locked(&config.dir, &config.dir.join(&vlm.folder), manifest::Role::Captioner)?;
    }
    if let Drafter::Gguf(drafter::File { path }) = &config.drafter {
        check_locked(&config.dir, path, manifest::Role::Drafter)?;
    }
    if let Judge::Checkpoint(judge::Checkpoint { dir, .. }) = &config.judge {
        check_locked(&config.dir, dir, manifest::Role::Judge)?;
    }
    Ok(())
}

/// What a hub once delivered into `folder`, or as that file, must still be that; the rest is nobody's but the site's.
fn check_locked(dir: &Path, folder: &Path, role: manifest::Role) -> Result<(), ModelError> {
    let refused = |error: &dyn std::error::Error| ModelError::Load { model: role.to_string(), reason: chain(error) };
    let lock = manifest::Lock::read(dir).map_err(|error| refused(&error))?;
    lock.among(dir, folder, role).iter().try_for_each(|file| file.verify(dir)).map_err(|error| refused(&error))
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The judge of the folder `dir` and nothing else.
pub fn judge_alone(dir: &Path) -> Result<Box<dyn seams::Judge>, ModelError> {
    Ok(Box::new(judge::NliJudge::load(&dir.join("judge"))?))
}

/// The embedder of the folder `dir` and nothing else.
pub fn embedder_alone(dir: &Path) -> Result<Box<dyn seams::Embedder>, ModelError> {
    embedder(&Config { dir: dir.to_owned(), ..Config::default() })
}

/// The captioner, and the same model as one that answers questions about pictures, if it can.
type Eyes = (Box<dyn seams::Captioner>, Option<Box<dyn seams::VisualQa>>);

fn eyes(config: &Config, metrics: &remote::Metrics) -> Result<Eyes, ModelError> {
    Ok(match &config.captioner {
        Captioner::Scene {} => (Box::new(captioner::SceneDescriber::load(&config.dir.join("captioner"))?), None),
        Captioner::Vlm(vlm) => {
            let device = device::open(config.device).map_err(|error| ModelError::Load {
                model: manifest::Role::Captioner.to_string(),
                reason: error.to_string(),
            })?;
            let dtype = if device.is_cpu() { DType::F32 } else { DType::BF16 };
            let vlm::Loaded { captioner, visual_qa } = vlm::load(&config.dir, vlm, &device, dtype)?;
            (captioner, visual_qa)
        }
        Captioner::Remote(endpoint) => (
            Box::new(remote::Captioner::new(endpoint, metrics.clone())?),
            Some(Box::new(remote::VisualQa::new(endpoint, metrics.clone())?)),
        ),
    })
}

fn embedder(config: &Config) -> Result<Box<dyn seams::Embedder>, ModelError> {
    Ok(Box::new(embedder::MiniLm::load(&config.dir.join("embedder"))?))
}

fn drafter(config: &Config, metrics: &remote::Metrics) -> Result<Box<dyn seams::Drafter>, ModelError> {
    Ok(match &config.drafter {
        Drafter::Smollm2 {} => Box::new(drafter::LanguageModel::smollm2(&config.dir.join("drafter"))?),
        Drafter::Extractive {} => Box::new(drafter::Extractive::new()),
        Drafter::Gguf(file) => Box::new(drafter::LanguageModel::open(&file.path)?),
        Drafter::Remote(endpoint) => Box::new(remote::Drafter::new(endpoint, metrics.clone())?),
    })
}

fn judge(config: &Config, metrics: &remote::Metrics) -> Result<Box<dyn seams::Judge>, ModelError> {
    Ok(match &config.judge {
        Judge::Nli {} => judge_alone(&config.dir)?,
        Judge::Checkpoint(checkpoint) => Box::new(judge::NliJudge::checkpoint(checkpoint)?),
        Judge::Remote(endpoint) => Box::new(remote::Judge::new(endpoint, metrics.clone())?),
    })
}

fn chat_judge(config: &Config, metrics: &remote::Metrics) -> Result<Option<Box<dyn seams::ChatJudge>>, ModelError> {
    Ok(match &config.chat_judge {
        ChatJudge::None {} => None,
        ChatJudge::Smollm2 {} => Some(Box::new(drafter::SmolLm2Judge::load(&config.dir.join("drafter"))?)),
        ChatJudge::Remote(endpoint) => Some(Box::new(remote::ChatJudge::new(endpoint, metrics.clone())?)),
    })
}

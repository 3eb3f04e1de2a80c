//! candle lives here and only here: one module a role, `net` for the networks, `weights` for files.
//!
//! Everything blocks and belongs to one thread, the engine's. Nothing here knows of streams, questions or the bus.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::seams::{self, ModelError};

pub mod captioner;
pub mod drafter;
pub mod embedder;
pub mod fetch;
pub mod judge;
pub mod manifest;
mod net;
pub mod onnx;
mod weights;

/// Which language model, if any, turns a question and moments into claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Drafter {
    /// SmolLM2-135M-Instruct, held to a grammar.
    #[default]
    Smollm2,
    /// Sentences of the retrieved captions, no language model.
    Extractive,
}

/// Where the models are and how they run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The folder that `groundedvqa models fetch` fills.
    pub dir: PathBuf,
    /// Who drafts.
    pub drafter: Drafter,
    /// Threads for the models' arithmetic; 0 is one a core.
    pub threads: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { dir: PathBuf::from("models"), drafter: Drafter::default(), threads: 0 }
    }
}

/// Loads one model a role from `config.dir`. A file that is missing or not what it should be is a
/// [`ModelError::Load`] that says what to do.
pub fn load(config: &Config) -> Result<seams::Models, ModelError> {
    net::set_threads(config.threads);
    check_files(config)?;
    Ok(seams::Models {
        captioner: captioner(config)?,
        embedder: embedder(config)?,
        drafter: drafter(config)?,
        judge: judge(config)?,
        visual_qa: None,
    })
}

/// A damaged matrix still multiplies, and says something else: so every byte is compared with the manifest first.
fn check_files(config: &Config) -> Result<(), ModelError> {
    let unused = |role| role == manifest::Role::Drafter && config.drafter == Drafter::Extractive;
    for file in manifest::Manifest::edge().loaded().filter(|file| !unused(file.role)) {
        let refused = |error| ModelError::Load { model: file.role.to_string(), reason: chain(&error) };
        file.verify(&config.dir).map_err(|error: manifest::FileError| refused(error))?;
    }
    Ok(())
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The judge of the folder `dir` and nothing else.
pub fn judge_alone(dir: &Path) -> Result<Box<dyn seams::Judge>, ModelError> {
    judge(&Config { dir: dir.to_owned(), ..Config::default() })
}

/// The embedder of the folder `dir` and nothing else.
pub fn embedder_alone(dir: &Path) -> Result<Box<dyn seams::Embedder>, ModelError> {
    embedder(&Config { dir: dir.to_owned(), ..Config::default() })
}

fn captioner(config: &Config) -> Result<Box<dyn seams::Captioner>, ModelError> {
    Ok(Box::new(captioner::SceneDescriber::load(&config.dir.join("captioner"))?))
}

fn embedder(config: &Config) -> Result<Box<dyn seams::Embedder>, ModelError> {
    Ok(Box::new(embedder::MiniLm::load(&config.dir.join("embedder"))?))
}

fn drafter(config: &Config) -> Result<Box<dyn seams::Drafter>, ModelError> {
    Ok(match config.drafter {
        Drafter::Smollm2 => Box::new(drafter::SmolLm2::load(&config.dir.join("drafter"))?),
        Drafter::Extractive => Box::new(drafter::Extractive::new()),
    })
}

fn judge(config: &Config) -> Result<Box<dyn seams::Judge>, ModelError> {
    Ok(Box::new(judge::NliJudge::load(&config.dir.join("judge"))?))
}

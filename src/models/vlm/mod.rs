//! Vision-language models from a folder as published on the hub: captions, and answers about pictures.
//!
//! `config` (which family, which shapes) → `store` (weights) → `net` (pictures and tokens to logits) → `prompt`, `generate`,
//! `tell` (text to tokens to text). A caption is made from a picture and one fixed request; questions go through
//! [`VisualQa`] only, so a blind caption stays blind. Both share one set of weights.
//!
//! # Decisions
//! - 2026-11-30: captions and answers keep no state from call to call but the last picture's prefix, for further questions
//!   about the very same pixels.
//! - 2026-11-30: one tile a picture for SmolVLM (`do_image_splitting = false`): 64 tokens instead of over a thousand.

mod blip;
mod config;
mod generate;
mod load;
mod net;
#[cfg(test)]
mod parity;
mod picture;
mod prompt;
mod random;
mod store;
mod tell;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

pub use load::{Loaded, load};
pub use random::random;

use crate::domain::{Caption, Fingerprint, Picture};
use crate::models::net::vlm::{Cache, Grid, Row};
use crate::models::weights::failed;
use crate::seams::{Captioner, Inquiry, ModelError, VisualQa};
use generate::{Said, greedy};
use net::{Lens, Net, Prepared};
use prompt::Prompt;

/// Where a vision-language model is, how it looks and how much it writes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Its folder, as published on the hub; below `models.dir` if it is relative. Which family it is says its
    /// `config.json`.
    pub folder: PathBuf,
    /// Most pixels of a picture that Qwen3-VL looks at; larger ones are made smaller. A thousand are about a token.
    pub max_pixels: u64,
    /// Most tokens of a caption.
    pub caption_tokens: usize,
    /// Most tokens of an answer to a question about a picture.
    pub answer_tokens: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { folder: PathBuf::from("vlm"), max_pixels: 640 * 384, caption_tokens: 64, answer_tokens: 24 }
    }
}

impl Config {
    /// Refuses numbers that would take all memory or leave nothing: the key, and what is wrong with it.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if !(4096..=1 << 24).contains(&self.max_pixels) {
            return Err(("max_pixels", "must be between 4096 and 16777216"));
        }
        for (key, tokens) in [("caption_tokens", self.caption_tokens), ("answer_tokens", self.answer_tokens)] {
            if !(1..=2048).contains(&tokens) {
                return Err((key, "must be between 1 and 2048"));
            }
        }
        Ok(())
    }

    /// Whether the model in the folder, which is below `dir` if it is relative, answers questions about pictures. A folder
    /// that cannot be read might hold one that does: what is wrong with it is said when it is loaded.
    pub fn answers(&self, dir: &Path) -> bool {
        let text = std::fs::read_to_string(dir.join(&self.folder).join("config.json")).unwrap_or_default();
        !matches!(config::parse(&text), Ok(config::Family::Blip))
    }
}

/// A model with its tokenizer.
struct Vlm {
    name: &'static str,
    net: Net,
    lens: Lens,
    prompt: Prompt,
    config: Config,
    fingerprint: Fingerprint,
    last: Option<Prefix>,
}

/// What was read of a picture, before any question.
struct Prefix {
    picture: Picture,
    cache: Cache,
    next: u32,
}

impl Vlm {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        let asked: Vec<(&Picture, &str)> = pictures.iter().map(|picture| (picture, prompt::CAPTION)).collect();
        let said = self.read_together(&asked, self.config.caption_tokens)?;
        said.iter().map(|said| self.text(said).map(Caption::new)).collect()
    }

    /// Questions about one picture share what is read of it; single questions about several pictures are read together.
    fn ask(&mut self, inquiries: &[Inquiry]) -> Result<Vec<String>, ModelError> {
        let groups: Vec<&[Inquiry]> = inquiries.chunk_by(|a, b| a.picture == b.picture).collect();
        let is_known = |picture: &Picture| self.last.as_ref().is_some_and(|last| last.picture == *picture);
        let limit = self.config.answer_tokens;
        let said = if groups.len() > 1 && groups.iter().all(|group| group.len() == 1 && !is_known(&group[0].picture)) {
            let asked: Vec<_> = inquiries.iter().map(|inquiry| (&inquiry.picture, &*inquiry.question)).collect();
            self.read_together(&asked, limit)?
        } else {
            let mut said = Vec::with_capacity(inquiries.len());
            for group in groups {
                let questions: Vec<&str> = group.iter().map(|inquiry| &*inquiry.question).collect();
                said.extend(self.read_behind(&group[0].picture, &questions, limit)?);
            }
            said
        };
        said.iter().map(|said| self.text(said)).collect()
    }

    /// Each picture with its question, all in one pass.
    fn read_together(&mut self, asked: &[(&Picture, &str)], limit: usize) -> Result<Vec<Said>, ModelError> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let prepared = asked.iter().map(|(picture, _)| self.prepare(picture)).collect::<Result<Vec<_>, _>>()?;
        let (mut rows, mut next, mut first) = (Vec::new(), Vec::new(), 0);
        for ((_, question), seen) in asked.iter().zip(&prepared) {
            let ids = [self.prompt.picture(seen.grid.tokens()), self.question(question)?].concat();
            let (row, after) = self.net.row(ids, Some(seen.grid), first, 0);
            first += seen.grid.tokens() as u32;
            rows.push(row);
            next.push(after);
        }
        let longest = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let features = self.net.look(&prepared).map_err(|error| self.failed(&error))?;
        let mut cache = Cache::with_room_for(longest + limit);
        let is_stop = |id| self.prompt.is_stop(id);
        greedy(&self.net, &rows, next, Some(&features), &mut cache, limit, is_stop).map_err(|error| self.failed(&error))
    }

    /// Questions about one picture, whose tokens are read once: before the first of them, in whatever call.
    fn read_behind(&mut self, picture: &Picture, questions: &[&str], limit: usize) -> Result<Vec<Said>, ModelError> {
        if self.last.as_ref().is_none_or(|last| last.picture != *picture) {
            self.last = None;
            self.last = Some(self.read_prefix(picture)?);
        }
        let questions = questions.iter().map(|text| self.question(text)).collect::<Result<Vec<_>, _>>()?;
        let Some(prefix) = &mut self.last else { return Ok(Vec::new()) };
        let (net, next, known) = (&self.net, prefix.next, prefix.cache.len());
        let (rows, next): (Vec<Row>, Vec<u32>) = questions.into_iter().map(|ids| net.row(ids, None, 0, next)).unzip();
        let is_stop = |id| self.prompt.is_stop(id);
        let said = if rows.len() == 1 {
            let said = greedy(net, &rows, next, None, &mut prefix.cache, limit, is_stop);
            prefix.cache.truncate(known);
            said
        } else {
            let longest = rows.iter().map(|row| row.ids.len()).max().unwrap_or(0);
            let copies = prefix.cache.repeated(rows.len(), known + longest + limit);
            copies.and_then(|mut copies| greedy(net, &rows, next, None, &mut copies, limit, is_stop))
        };
        said.map_err(|error| self.failed(&error))
    }

    fn read_prefix(&mut self, picture: &Picture) -> Result<Prefix, ModelError> {
        let prepared = self.prepare(picture)?;
        let grid: Grid = prepared.grid;
        let (row, next) = self.net.row(self.prompt.picture(grid.tokens()), Some(grid), 0, 0);
        let read = |net: &mut Net| -> candle_core::Result<Cache> {
            let features = net.look(&[prepared])?;
            let mut cache = Cache::with_room_for(row.ids.len());
            net.decoder.read(&[row], Some(&features), &mut cache)?;
            Ok(cache)
        };
        let cache = read(&mut self.net).map_err(|error| self.failed(&error))?;
        Ok(Prefix { picture: picture.clone(), cache, next })
    }

    fn prepare(&self, picture: &Picture) -> Result<Prepared, ModelError> {
        let refused = |error: picture::PictureError| self.refused(&error);
        self.lens.prepare(picture).map_err(refused)
    }

    fn question(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.prompt.question(text).map_err(|error| self.refused(&error))
    }

    fn text(&self, said: &Said) -> Result<String, ModelError> {
        let written = self.prompt.text(&said.ids).map_err(|error| failed(self.name, error))?;
        Ok(tell::sentences(&written, said.is_cut))
    }

    fn refused(&self, error: &dyn std::fmt::Display) -> ModelError {
        ModelError::Input { model: self.name.to_owned(), reason: error.to_string() }
    }

    fn failed(&self, error: &candle_core::Error) -> ModelError {
        load::run_error(self.name, error)
    }
}

/// One model for both seams. Both belong to the engine's thread, so nobody ever waits for the lock.
#[derive(Clone)]
struct Shared {
    model: Arc<Mutex<Vlm>>,
    fingerprint: Fingerprint,
    is_parallel: bool,
}

impl Shared {
    fn new(model: Vlm) -> Self {
        let is_parallel = !model.net.decoder.device().is_cpu();
        Self { fingerprint: model.fingerprint.clone(), is_parallel, model: Arc::new(Mutex::new(model)) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vlm) -> T) -> T {
        // A panic in between has left nothing half done but the last prefix, which is replaced as a whole.
        work(&mut self.model.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Captioner for Shared {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        self.with(|model| model.caption(pictures))
    }

    fn is_parallel(&self) -> bool {
        self.is_parallel
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

impl VisualQa for Shared {
    fn ask(&mut self, inquiries: &[Inquiry]) -> Result<Vec<String>, ModelError> {
        self.with(|model| model.ask(inquiries))
    }

    fn is_parallel(&self) -> bool {
        self.is_parallel
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

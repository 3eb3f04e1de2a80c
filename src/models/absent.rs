//! Files that the configured models need and that are not there: a look, without reading them.
//!
//! What is in a file is found out when it is loaded. Owns nothing.

use std::path::{Path, PathBuf};

use super::{Captioner, Config, Drafter, Judge, manifest};

impl Config {
    /// One line for every model that could not be loaded as things are: what is missing, and what to do about it.
    pub fn absent(&self) -> Vec<String> {
        let theirs = self.chosen().into_iter().filter(|(_, path)| !path.exists()).map(|(role, path)| {
            format!(
                "models.{role}: {} is missing: put the model's files there, or choose another model",
                path.display()
            )
        });
        self.ours().into_iter().chain(theirs).collect()
    }

    /// The first missing file of the built-in models in use stands for all.
    fn ours(&self) -> Option<String> {
        let edge = manifest::Manifest::edge();
        let mut files = edge.loaded().filter(|file| self.uses(file.role)).map(|file| self.dir.join(file.install));
        let missing = files.find(|path| !path.exists())?;
        let dir = self.dir.display();
        Some(format!("{} is missing: run `groundedvqa models fetch --dir {dir}`", missing.display()))
    }

    /// A file that each model chosen by the site cannot do without.
    fn chosen(&self) -> Vec<(&'static str, PathBuf)> {
        let described = |folder: &Path| folder.join("config.json");
        let captioner = match &self.captioner {
            Captioner::Vlm(vlm) => Some(("captioner", described(&self.dir.join(&vlm.folder)))),
            Captioner::Scene {} | Captioner::Remote(_) => None,
        };
        let drafter = match &self.drafter {
            Drafter::Gguf(file) => Some(("drafter", file.path.clone())),
            Drafter::Smollm2 {} | Drafter::Extractive {} | Drafter::Remote(_) => None,
        };
        let judge = match &self.judge {
            Judge::Checkpoint(checkpoint) => Some(("judge", described(&checkpoint.dir))),
            Judge::Nli {} | Judge::Remote(_) => None,
        };
        [captioner, drafter, judge].into_iter().flatten().collect()
    }
}

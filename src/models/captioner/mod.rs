//! Describes a picture in sentences from what an object detector finds in it (profile `edge`).
//!
//! picture → `letterbox` → NanoDet (`net::nanodet`) → `detect` → `objects` (what may be asserted) → `look` (colour,
//! place, depth) → `sentences`. It sees one picture and nothing else. What it says is meant to be true;
//! what it does not say may still be there. It owns its network's working memory, so it is used by one thread, and
//! spreads each picture's work over the current rayon pool.
//!
//! # Decisions
//! - 2026-11-30: the network runs in kernels of its own (`net::conv`), not in candle, whose convolutions take 240 ms a
//!   picture where onnxruntime takes 20.
//! - 2026-11-30: the pictures of a batch go one after the other. The threads share each picture's rows; holding the
//!   maps of several pictures at once would only take memory.

mod coco;
mod detect;
mod letterbox;
mod look;
mod objects;
#[cfg(test)]
mod parity;
mod published;
mod sentences;

use std::path::Path;

pub use coco::Class;
pub use detect::{Area, Detection};
pub use objects::{Kind, Object};

use crate::domain::{Caption, Fingerprint, Picture};
use crate::models::device;
use crate::models::net::nanodet::Nanodet;
use crate::models::weights::{self, Whose};
use crate::seams::{Captioner, ModelError};
use letterbox::Letterbox;

/// The role in error messages.
const ROLE: &str = "captioner";
/// Changes whenever rules or wording change what a picture is told as.
const RULES: u32 = 1;

/// The COCO scene describer.
#[derive(Debug)]
pub struct SceneDescriber {
    letterbox: Letterbox,
    network: Nanodet,
    fingerprint: Fingerprint,
}

impl SceneDescriber {
    /// Loads `nanodet.json` and `nanodet.bin` from a folder and packs the weights.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        let [manifest, numbers] = [published::MANIFEST, published::NUMBERS].map(|name| dir.join(name));
        // The numbers as read, as floats and packed, and the maps between the layers.
        device::announce(ROLE, (64 << 20) + 3 * std::fs::metadata(&numbers).map_or(0, |file| file.len()))?;
        let (manifest, numbers) =
            (weights::read(Whose::Ours, ROLE, &manifest)?, weights::read(Whose::Ours, ROLE, &numbers)?);
        let convolutions = published::convolutions(&manifest, &numbers).map_err(|e| weights::unusable(ROLE, dir, e))?;
        let network = Nanodet::build(convolutions).map_err(|e| weights::unusable(ROLE, dir, e))?;
        let fingerprint = weights::fingerprint(&format!("scene-describer-{RULES}+nanodet-g-416"), &numbers);
        Ok(Self { letterbox: Letterbox::new(), network, fingerprint })
    }

    /// What may be asserted of a picture, best first.
    pub fn objects(&mut self, picture: &Picture) -> Result<Vec<Object>, ModelError> {
        Ok(objects::name(&self.detect(picture)?))
    }

    fn detect(&mut self, picture: &Picture) -> Result<Vec<Detection>, ModelError> {
        let refused = |reason| ModelError::Input { model: ROLE.to_owned(), reason };
        let (input, fit) = self.letterbox.fit(picture).map_err(refused)?;
        Ok(detect::decode(self.network.run(input), fit))
    }
}

impl Captioner for SceneDescriber {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        let describe = |picture| {
            let detections = self.detect(picture)?;
            let scene = look::look(picture, &objects::name(&detections), objects::are_absent(&detections));
            Ok(Caption::new(sentences::write(&scene)))
        };
        pictures.iter().map(describe).collect()
    }

    fn vocabulary(&self) -> Option<Vec<String>> {
        Some(objects::names().map(str::to_owned).collect())
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

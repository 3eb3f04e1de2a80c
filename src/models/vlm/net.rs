//! Eyes and decoder of one family, from pictures and token ids to logits.

use candle_core::{Device, Result, Tensor};
use candle_nn::VarBuilder;
use fast_image_resize::FilterType;

use super::config::{Qwen3, Smol};
use super::picture::{Cut, Normal, PictureError, Processor, longest_size, resize, smart_size};
use crate::domain::Picture;
use crate::models::net::vlm::{Decoder, Features, Grid, Position, Row, qwen3, siglip, with_images};

/// A picture as the eyes take it.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// One patch behind the other.
    pub(super) patches: Vec<f32>,
    /// Its tokens.
    pub(super) grid: Grid,
}

/// How pictures are prepared.
#[derive(Debug)]
pub(super) enum Lens {
    /// At a size of its own, with so many pixels at most.
    Smart { cut: Cut, fewest: u64, most: u64, normal: Normal },
    /// As a square of that many pixels a side, by way of a picture whose longer side has `longest`.
    Square { cut: Cut, side: u32, longest: u32, normal: Normal, grid: Grid },
}

impl Lens {
    /// Of a Qwen3-VL model that looks at `most` pixels.
    pub(super) fn qwen3(shape: &Qwen3, processor: &Processor, most: u64) -> Self {
        let vision = &shape.vision;
        let cut = Cut { patch: vision.pixels, merge: vision.merge, frames: vision.frames };
        // A site that asks for small pictures means it.
        let fewest = processor.fewest_pixels().min(most);
        Self::Smart { cut, fewest, most, normal: normal(processor) }
    }

    /// Of a SmolVLM model.
    pub(super) fn smol(shape: &Smol, processor: &Processor) -> Self {
        let vision = &shape.vision;
        let cut = Cut { patch: vision.patch, merge: 1, frames: 1 };
        let side = (vision.side * vision.patch) as u32;
        let longest = processor.longest_edge() as u32;
        Self::Square { cut, side, longest, normal: normal(processor), grid: vision.grid() }
    }

    /// Resizes, normalises and cuts.
    pub(super) fn prepare(&self, picture: &Picture) -> std::result::Result<Prepared, PictureError> {
        let size = (picture.width(), picture.height());
        match self {
            Self::Smart { cut, fewest, most, normal } => {
                let new = smart_size(size, (cut.patch * cut.merge) as u32, *fewest, *most)?;
                let rgb = resize(picture.rgb(), size, new, FilterType::CatmullRom)?;
                let (width, height) = (new.0 as usize, new.1 as usize);
                let patches = cut.patches(&normal.planes(&rgb), width, height);
                Ok(Prepared { patches, grid: cut.grid(width, height) })
            }
            Self::Square { cut, side, longest, normal, grid } => {
                let first = longest_size(size, *longest);
                let long = resize(picture.rgb(), size, first, FilterType::Lanczos3)?;
                let rgb = resize(&long, first, (*side, *side), FilterType::Lanczos3)?;
                let patches = cut.patches(&normal.planes(&rgb), *side as usize, *side as usize);
                Ok(Prepared { patches, grid: *grid })
            }
        }
    }
}

fn normal(processor: &Processor) -> Normal {
    Normal::new(processor.image_mean.unwrap_or([0.5; 3]), processor.image_std.unwrap_or([0.5; 3]))
}

#[derive(Debug)]
pub(super) enum Eyes {
    Qwen3(qwen3::Tower),
    Smol(siglip::Tower),
}

/// The whole network.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) eyes: Eyes,
    pub(super) decoder: Decoder,
    image_token: u32,
}

impl Net {
    pub(super) fn qwen3(at: &VarBuilder<'_>, shape: &Qwen3) -> Result<Self> {
        let eyes = Eyes::Qwen3(qwen3::Tower::load(&at.pp("model.visual"), shape.vision.clone())?);
        let decoder = decoder(at, "model.language_model", &shape.text)?;
        Ok(Self { eyes, decoder, image_token: shape.image_token })
    }

    pub(super) fn smol(at: &VarBuilder<'_>, shape: &Smol) -> Result<Self> {
        let tower = siglip::Tower::load(&at.pp("model.vision_model"), &at.pp("model.connector"), shape.vision.clone())?;
        let decoder = decoder(at, "model.text_model", &shape.text)?;
        Ok(Self { eyes: Eyes::Smol(tower), decoder, image_token: shape.image_token })
    }

    /// Looks at pictures, together.
    pub(super) fn look(&mut self, pictures: &[Prepared]) -> Result<Features> {
        let numbers: usize = pictures.iter().map(|picture| picture.patches.len()).sum();
        let grids: Vec<Grid> = pictures.iter().map(|picture| picture.grid).collect();
        let all: Vec<f32> = pictures.iter().flat_map(|picture| &picture.patches).copied().collect();
        let width = match &self.eyes {
            Eyes::Qwen3(tower) => tower.patch(),
            Eyes::Smol(tower) => tower.patch(),
        };
        let patches = Tensor::from_vec(all, (numbers / width, width), &Device::Cpu)?;
        match &mut self.eyes {
            Eyes::Qwen3(tower) => tower.forward(&patches, &grids),
            Eyes::Smol(tower) => tower.forward(&patches),
        }
    }

    /// A row of `ids` that begins at position `from`, with the features from `first` on for its image tokens, which are one
    /// picture of `grid`; and the position behind it.
    pub(super) fn row(&self, ids: Vec<u32>, grid: Option<Grid>, first: u32, from: u32) -> (Row, u32) {
        let grids: Vec<Grid> = match &self.eyes {
            Eyes::Qwen3(_) => grid.into_iter().collect(),
            Eyes::Smol(_) => Vec::new(),
        };
        let (positions, next): (Vec<Position>, u32) = with_images(&ids, self.image_token, &grids, from);
        let mut feature = first;
        let mut place = |id: &u32| {
            (grid.is_some() && *id == self.image_token).then(|| {
                feature += 1;
                feature - 1
            })
        };
        let features = ids.iter().map(&mut place).collect();
        (Row { ids, positions, features }, next)
    }
}

/// A file with a head of its own is untied, whatever its configuration says.
fn decoder(at: &VarBuilder<'_>, body: &str, shape: &crate::models::net::vlm::Shape) -> Result<Decoder> {
    let head = at.contains_tensor("lm_head.weight").then(|| at.pp("lm_head"));
    Decoder::load(&at.pp(body), shape, head.as_ref())
}

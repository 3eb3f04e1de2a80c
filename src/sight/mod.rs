//! What can be told of a picture without a model: whether it shows anything, whether it shows something new, and
//! whether it is still the same picture.
//!
//! Everything here is pure: pictures and times in, decisions out. `narrate` asks a [`Gate`] about each sampled picture
//! before it is captioned, `video` asks [`Extra`] about pictures between two samples, and `answer` asks [`blind`] about
//! a frame of evidence. Nothing here reads a clock, stores, or tells anybody.
//!
//! # Decisions
//! - 2026-11-30: brightness on a grid, no optical flow and no background model. What the captioner can name covers
//!   several cells; what moves without covering any (rain, grain, a flickering lamp) is not worth a caption.
//! - 2026-11-30: a picture is compared with the last *captioned* one, not with the one before, so that many small steps
//!   cannot add up to a change that nobody captioned.
//! - 2026-11-30: frozen is decided by equality of points, not by the absence of change. A quiet street does not change
//!   either; but the sensor's noise and the encoder's choices differ from one picture to the next as long as the camera
//!   looks. Files and drawn patterns hold still for good reasons, so there it is only looked for where it is asked for.
//! - 2026-11-30: unchanged pictures of a file are captioned all the same unless asked otherwise: a file is read once,
//!   and nobody waits for the next frame.

mod change;
mod extra;
mod freeze;
mod gate;
mod glance;

use std::time::Duration;

use serde::Deserialize;

use crate::config::Span;
use crate::domain::{Blindness, Picture, StreamKind};

pub use extra::Extra;
pub use gate::{Gate, View};
pub use glance::Glance;

/// Standard deviation of brightness (0 to 255) below which a picture shows nothing. Sensor noise of a covered camera
/// stays below 3; a foggy street is above 8.
const FLAT: f32 = 4.0;
/// A picture that showed nothing shows something again from here on, so that noise around the limit does not flap.
const NOT_FLAT: f32 = 5.0;
/// Mean brightness up to which a flat picture is called black.
const BLACK: f32 = 24.0;

/// Why the picture by itself shows nothing; `None` if there is something to see. A frozen one cannot be told alone.
pub fn blind(picture: &Picture) -> Option<Blindness> {
    flat(&Glance::of(picture), false)
}

/// The same for a glance; `before` says whether the picture before showed nothing.
fn flat(glance: &Glance, before: bool) -> Option<Blindness> {
    let limit = if before { NOT_FLAT } else { FLAT };
    let is_flat = glance.deviation() < limit;
    is_flat.then(|| if glance.mean() <= BLACK { Blindness::Black } else { Blindness::Covered })
}

/// A stream's `sight` section. What is left out depends on what the stream is: see [`Config::settings`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether a picture that shows what the last captioned one showed extends its moment instead of being captioned.
    pub extend_unchanged: Option<bool>,
    /// However little changes, a caption is made this often.
    pub caption_at_least: Option<Span>,
    /// Identical pictures for so long mean that the camera is frozen; zero: never.
    pub frozen_after: Option<Span>,
    /// A sudden change between two samples is captioned, at most one in so much stream time; zero: never.
    pub extra_every: Option<Span>,
}

/// What is in force for one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether unchanged pictures extend the last moment.
    pub extend_unchanged: bool,
    /// The longest span of a moment.
    pub caption_at_least: Duration,
    /// How long identical pictures are believed; `None`: for ever.
    pub frozen_after: Option<Duration>,
    /// The shortest time between two extra captions; `None`: there are none.
    pub extra_every: Option<Duration>,
}

const CAPTION_AT_LEAST: Duration = Duration::from_mins(10);
const FROZEN_AFTER: Duration = Duration::from_mins(1);
const EXTRA_EVERY: Duration = Duration::from_secs(5);

impl Config {
    /// What is in force. Live streams extend what is unchanged and take extra captions; only a camera can freeze.
    pub fn settings(&self, kind: StreamKind, is_camera: bool) -> Settings {
        let is_live = kind == StreamKind::Live;
        let nonzero = |span: Option<Span>, default: Option<Duration>| match span {
            Some(Span(Duration::ZERO)) => None,
            Some(span) => Some(span.0),
            None => default,
        };
        Settings {
            extend_unchanged: self.extend_unchanged.unwrap_or(is_live),
            caption_at_least: self.caption_at_least.map_or(CAPTION_AT_LEAST, |span| span.0),
            frozen_after: nonzero(self.frozen_after, is_camera.then_some(FROZEN_AFTER)),
            extra_every: nonzero(self.extra_every, is_live.then_some(EXTRA_EVERY)),
        }
    }
}

impl Settings {
    /// Every picture is captioned that shows anything.
    pub fn plain() -> Self {
        Config::default().settings(StreamKind::File, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(pixel: impl Fn(usize, usize) -> [u8; 3]) -> Picture {
        let (width, height) = (97_usize, 41_usize);
        let rgb: Vec<u8> = (0..width * height).flat_map(|i| pixel(i % width, i / width)).collect();
        Picture::new(width as u32, height as u32, rgb).expect("sizes agree")
    }

    #[test]
    fn flat_pictures_show_nothing() {
        let noise = |x: usize, y: usize| ((x * 7 + y * 13) % 5) as u8;
        let table: [(Picture, Option<Blindness>); 7] = [
            (picture(|_, _| [0, 0, 0]), Some(Blindness::Black)),
            (picture(|x, y| [noise(x, y); 3]), Some(Blindness::Black)),
            (picture(|_, _| [0, 160, 0]), Some(Blindness::Covered)),
            (picture(|x, y| [128 + noise(x, y); 3]), Some(Blindness::Covered)),
            (picture(|x, _| [x as u8; 3]), None),
            (picture(|x, y| if (x / 8 + y / 8) % 2 == 0 { [20; 3] } else { [60; 3] }), None),
            (picture(|x, y| if (x + y) % 2 == 0 { [20; 3] } else { [60; 3] }), None),
        ];
        for (i, (picture, due)) in table.iter().enumerate() {
            assert_eq!(blind(picture), *due, "row {i}");
        }
        let dot = Picture::new(1, 1, vec![200; 3]).expect("sizes agree");
        assert_eq!(blind(&dot), Some(Blindness::Covered), "the smallest picture is flat");
    }

    #[test]
    fn what_is_left_out_depends_on_the_stream() {
        let minute = Some(Duration::from_mins(1));
        let seconds = |s| Some(Duration::from_secs(s));
        let table = [
            ("a camera", "", StreamKind::Live, true, (true, 600, minute, seconds(5))),
            ("a live pattern", "", StreamKind::Live, false, (true, 600, None, seconds(5))),
            ("a file", "", StreamKind::File, false, (false, 600, None, None)),
            (
                "a file, all asked for",
                "extend_unchanged = true\nfrozen_after = '9s'\nextra_every = '2s'",
                StreamKind::File,
                false,
                (true, 600, seconds(9), seconds(2)),
            ),
            (
                "a camera, all refused",
                "extend_unchanged = false\nfrozen_after = '0s'\nextra_every = '0s'\ncaption_at_least = '1m'",
                StreamKind::Live,
                true,
                (false, 60, None, None),
            ),
        ];
        for (name, text, kind, is_camera, (extend_unchanged, at_least, frozen_after, extra_every)) in table {
            let config: Config = toml::from_str(text).expect(name);
            let caption_at_least = Duration::from_secs(at_least);
            let due = Settings { extend_unchanged, caption_at_least, frozen_after, extra_every };
            assert_eq!(config.settings(kind, is_camera), due, "{name}");
        }
        assert!(toml::from_str::<Config>("frozen = '1m'").is_err(), "unknown keys are refused");
    }
}

//! TOML and environment to validated sections; each module owns its own `Config` type.
//!
//! The only place that reads the environment. Order: built-in defaults, then the file, then variables of the form
//! `GVQA__SECTION__KEY` (as `GVQA__BUS__URL`). Unknown keys are refused wherever they come from, and every refusal
//! names the file or variable, the key and the reason.
//!
//! # Decisions
//! - 2026-11: plain `toml` and `serde_path_to_error` instead of a configuration framework: three layers need sixty
//!   lines, and the frameworks lose either the key or its origin in their errors.

mod choice;
#[cfg(feature = "video")]
mod environment;
mod error;
#[cfg(feature = "video")]
mod load;
mod secret_file;
mod span;

#[cfg(feature = "video")]
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

pub use choice::choice;
pub use error::ConfigError;
#[cfg(feature = "video")]
pub use load::{load, parse};
pub use secret_file::SecretFile;
pub use span::{Span, SpanError};

#[cfg(feature = "video")]
use crate::domain::StreamId;
use crate::domain::Zone;
#[cfg(feature = "video")]
use crate::{answer, bus, engine, index, models, narrate, telemetry, video};

/// Everything the daemon is told. Destructured once, in `app`.
#[cfg(feature = "video")]
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The process itself.
    pub daemon: Daemon,
    /// What is watched, by stream id.
    pub streams: BTreeMap<StreamId, video::StreamConfig>,
    /// What is recorded of live streams, and for how long.
    pub archive: video::ArchiveConfig,
    /// When a source that broke off is opened again.
    pub reconnect: narrate::Reconnect,
    /// Which models, and where their files are.
    pub models: models::Config,
    /// Queues and batches in front of the models.
    pub engine: engine::Config,
    /// The memory.
    pub index: index::Config,
    /// How questions are answered and claims verified.
    pub answer: answer::Config,
    /// NATS.
    pub bus: bus::Config,
    /// Logs, metrics, health.
    pub telemetry: telemetry::Config,
}

/// The process itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Daemon {
    /// Stream time between two sampled frames, unless a stream says otherwise.
    pub sample_every: Span,
    /// The zone of a stream's clock on the wall, unless the stream says otherwise.
    pub zone: Zone,
    /// How long an ordered stop may take; what is unfinished then is left as a kill -9 would leave it.
    pub grace: Span,
}

impl Default for Daemon {
    fn default() -> Self {
        let seconds = |seconds| Span(std::time::Duration::from_secs(seconds));
        Self { sample_every: seconds(5), zone: Zone::local(), grace: seconds(20) }
    }
}

/// Where the configuration is looked for if no path is given.
pub fn default_path() -> PathBuf {
    PathBuf::from("/etc/groundedvqa/groundedvqa.toml")
}

//! Tracing subscriber, /metrics /livez /readyz, sd_notify: what an operator sees of the process.
//!
//! Nothing here knows what the parts do. They register their own metrics, set their own readiness checks and move
//! their own heartbeats; this module shows them. Its state is the values behind [`Readiness`] and [`Pulse`].

use std::net::SocketAddr;

use serde::Deserialize;

mod build;
mod http;
mod pulse;
mod queues;
mod readiness;
mod stages;
pub mod systemd;
mod tracing_setup;

pub use build::register_process;
pub use http::{Server, serve};
pub use pulse::{Heartbeat, Pulse, Working};
pub use queues::{QueueGauge, Queues};
pub use readiness::{Check, Readiness};
pub use stages::{BUCKETS, Stage, Stages};
pub use tracing_setup::{check_level, init_notes, init_tracing};

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The address is taken or not ours.
    #[error("cannot listen on {listen}: choose another telemetry.listen")]
    Listen {
        /// The address asked for.
        listen: SocketAddr,
        /// Why it was refused.
        #[source]
        source: std::io::Error,
    },
    /// The level is no filter.
    #[error(
        "telemetry.log_level {level:?} is not a level (error, warn, info, debug, trace) or a list of target=level: {reason}"
    )]
    LogLevel {
        /// As configured.
        level: String,
        /// What the parser said.
        reason: String,
    },
    /// There is a subscriber already.
    #[error("logging was set up twice")]
    Twice,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Section `[telemetry]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Address of /metrics, /livez and /readyz; port 0 lets the system choose. Nothing there is protected.
    pub listen: SocketAddr,
    /// How log lines look.
    pub log_format: LogFormat,
    /// A level, or a list of `target=level`.
    pub log_level: String,
    /// The checks without which /readyz answers 503; the others are only shown.
    pub ready_requires: Vec<Check>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 9464)),
            log_format: LogFormat::default(),
            log_level: "info".to_owned(),
            ready_requires: vec![Check::Models, Check::Index, Check::Nats],
        }
    }
}

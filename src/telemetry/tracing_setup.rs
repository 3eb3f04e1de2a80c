//! The process-wide tracing subscriber: log lines on stderr.

use std::io::{IsTerminal, stderr};

use tracing::{Level, Metadata};
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::{Config, LogFormat, TelemetryError};

/// Sends log lines to stderr from now on. Once a process.
pub fn init_tracing(config: &Config) -> Result<(), TelemetryError> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(&config.log_level)?).with_writer(stderr);
    let done = match config.log_format {
        LogFormat::Text => builder.with_ansi(stderr().is_terminal()).finish().with(filter_fn(may_show)).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().with(filter_fn(may_show)).try_init(),
    };
    done.map_err(|_| TelemetryError::Twice)
}

/// Sends the notes of these modules, and nothing else, to stderr from now on: for commands that say the rest themselves.
/// Once a process.
pub fn init_notes(modules: &[&str]) -> Result<(), TelemetryError> {
    tracing_subscriber::registry().with(notes(modules, stderr)).try_init().map_err(|_| TelemetryError::Twice)
}

fn notes<W>(modules: &[&str], writer: W) -> impl Layer<Registry> + use<W>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let wanted: Targets = modules.iter().map(|module| ((*module).to_owned(), LevelFilter::INFO)).collect();
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false).with_target(false);
    lines.with_level(false).without_time().with_filter(wanted)
}

/// Libraries that log at the level `trace` whatever goes over the wire: messages of the bus, of which a refused one may
/// hold a password, and the headers of requests with their keys.
const TELLTALES: [&str; 5] = ["async_nats", "ureq", "rustls", "hyper", "h2"];

/// Whether an event may be logged at all, whatever the configured level.
fn may_show(what: &Metadata<'_>) -> bool {
    *what.level() != Level::TRACE || !is_telltale(what.target())
}

/// `ureq_proto::util` and the like are parts of `ureq`.
fn is_telltale(target: &str) -> bool {
    TELLTALES.iter().any(|name| target.starts_with(name))
}

/// Says what is wrong with a level before anything is logged.
pub fn check_level(level: &str) -> Result<(), TelemetryError> {
    filter(level).map(drop)
}

fn filter(level: &str) -> Result<EnvFilter, TelemetryError> {
    let refused = |reason: String| TelemetryError::LogLevel { level: level.to_owned(), reason };
    // The library takes a lone word that is no level for the name of a module, and then logs nothing else.
    if let Some(word) = level.split(',').find(|part| !part.contains('=') && part.trim().parse::<LevelFilter>().is_err())
    {
        return Err(refused(format!("{word:?} is no level")));
    }
    EnvFilter::try_new(level).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_over_the_wire_is_never_logged() {
        for target in ["async_nats::connection", "ureq::run", "ureq_proto::util", "rustls::client::hs"] {
            assert!(is_telltale(target), "{target}");
        }
        assert!(!is_telltale("groundedvqa::bus") && !is_telltale("groundedvqa::remote::client"));
    }

    #[test]
    fn notes_are_those_of_the_modules_that_were_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let writer = std::sync::Mutex::new(file.reopen().expect("opened again"));
        let subscriber = tracing_subscriber::registry().with(notes(&["groundedvqa::models::device"], writer));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "groundedvqa::models::device", model = "tiny", needed_mb = 3, "loading a model");
            tracing::debug!(target: "groundedvqa::models::device", "not considered");
            tracing::error!(target: "groundedvqa::index", "broken");
        });
        let told = std::fs::read_to_string(file.path()).expect("text");
        assert_eq!(told, "loading a model model=\"tiny\" needed_mb=3\n");
    }

    #[test]
    fn levels_and_target_lists_are_accepted_and_nonsense_is_refused() {
        for good in ["info", "warn,groundedvqa::bus=debug", "off"] {
            filter(good).expect(good);
        }
        for bad in ["groundedvqa=loud", "loud", "info,loud"] {
            let error = filter(bad).expect_err("no such level").to_string();
            assert!(error.contains("telemetry.log_level") && error.contains("loud"), "{error}");
        }
    }
}

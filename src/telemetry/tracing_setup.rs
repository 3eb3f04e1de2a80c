//! The process-wide tracing subscriber: log lines on stderr.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use super::{Config, LogFormat, TelemetryError};

/// Sends log lines to stderr from now on. Once a process.
pub fn init_tracing(config: &Config) -> Result<(), TelemetryError> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(&config.log_level)?).with_writer(stderr);
    let done = match config.log_format {
        LogFormat::Text => builder.with_ansi(stderr().is_terminal()).finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    done.map_err(|_| TelemetryError::Twice)
}

fn filter(level: &str) -> Result<EnvFilter, TelemetryError> {
    EnvFilter::try_new(level).map_err(|e| TelemetryError::LogLevel { level: level.to_owned(), reason: e.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_target_lists_are_accepted_and_nonsense_is_refused() {
        for good in ["info", "warn,groundedvqa::bus=debug", "off"] {
            filter(good).expect(good);
        }
        let error = filter("groundedvqa=loud").expect_err("no such level").to_string();
        assert!(error.contains("telemetry.log_level") && error.contains("loud"), "{error}");
    }
}

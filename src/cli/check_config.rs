//! `groundedvqa check-config`: everything that can be known about a configuration without running it.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use crate::config::{self, Span};

/// Loads and checks; prints one line a stream and where things are kept. Secrets are read, never shown.
pub(super) fn run(path: &Path) -> anyhow::Result<ExitCode> {
    let config = config::load(path)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}: valid", path.display())?;
    for (stream, settings) in &config.streams {
        let every = Span(settings.sample_every().unwrap_or(config.daemon.sample_every.0));
        writeln!(out, "  stream {stream}: {:?}, one frame every {every}", settings.kind())?;
        // Not a refusal: the service may be given what this user may not read.
        if let Err(reason) = settings.check_password() {
            writeln!(out, "    as things are, it could not log in: {reason}")?;
        }
    }
    for beginning in &config.bus.manage_allow {
        writeln!(out, "  streams may be added over the bus: {beginning}…")?;
    }
    writeln!(out, "  models in {}", config.models.dir.display())?;
    // Nor is this: they may be fetched later.
    for reason in config.models.absent() {
        writeln!(out, "    as things are, it would not start: {reason}")?;
    }
    for (role, endpoint) in config.models.endpoints() {
        writeln!(out, "  {role} behind {}: {}", endpoint.url, endpoint.model)?;
        if let Some(Err(reason)) = endpoint.key_file.as_ref().map(config::SecretFile::read) {
            writeln!(out, "    as things are, it would have no key: {reason}")?;
        }
    }
    writeln!(out, "  index at {}", config.index.path.display())?;
    if config.archive.enabled {
        writeln!(out, "  archive in {}", config.archive.dir.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

//! One video file in one process, without a bus: what `ask --file` and `verify --file` work over.
//!
//! The same parts as the daemon's, with an index in a folder that is removed at the end.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use prometheus::Registry;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::app::{Core, EVENT_QUEUE};
use crate::config::{self, Config, Span};
use crate::domain::{Event, StreamId, StreamState};
use crate::engine::EngineThread;
use crate::stop::Stop;
use crate::telemetry::Pulse;

use super::eval::InputError;

/// What the file is called inside.
const STREAM: &str = "file";

/// A file with everything that answers about it.
pub(super) struct OneFile {
    pub(super) core: Core,
    pub(super) stream: StreamId,
    _engine: EngineThread,
    progress: JoinHandle<()>,
    _folder: TempDir,
}

impl OneFile {
    /// Loads the models for `file`, of which one frame per `every` is a sample; nothing is watched yet.
    pub(super) async fn open(file: &Path, every: Span, models: &Path) -> anyhow::Result<Self> {
        // Loading the models takes seconds: what can be refused before is.
        let file = &path_of(file);
        std::fs::metadata(file).map_err(|source| InputError::Unreadable { path: file.clone(), source })?;
        let folder = tempfile::tempdir().context("cannot make a temporary folder for the index")?;
        let config = settings(file, every, models, folder.path())?;
        let (events, told) = mpsc::channel(EVENT_QUEUE);
        let progress = tokio::spawn(show_progress(told));
        let (core, engine) = Core::build(config, &Registry::new(), &Pulse::new(), events).await?;
        Ok(Self { core, stream: StreamId::new(STREAM)?, _engine: engine, progress, _folder: folder })
    }

    /// Watches the file to its end. Progress goes to stderr.
    pub(super) async fn watch(&self) -> anyhow::Result<()> {
        for stream in self.core.watch(&Stop::new()) {
            stream.ended().await?;
        }
        for status in self.core.board.snapshot() {
            if status.state == StreamState::Failed {
                bail!("{}", status.detail);
            }
        }
        Ok(())
    }

    /// Closes the index, so that its folder can go.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        let Self { core, progress, .. } = self;
        core.index.clone().close().await?;
        drop(core);
        Ok(progress.await?)
    }
}

/// `file:///a/b.mp4` is taken as the path that it names.
fn path_of(file: &Path) -> PathBuf {
    file.to_str().and_then(|text| text.strip_prefix("file://")).map_or_else(|| file.to_owned(), PathBuf::from)
}

fn settings(file: &Path, every: Span, models: &Path, folder: &Path) -> anyhow::Result<Config> {
    let text = |path: &Path| path.to_str().map(|text| toml::Value::String(text.to_owned()));
    let quoted = |path: &Path| text(path).with_context(|| format!("{} is not UTF-8: rename it", path.display()));
    // A path that looks like an address is still a path.
    let file = std::path::absolute(file)?;
    let document = format!(
        "[daemon]\nsample_every = \"{every}\"\n[streams.{STREAM}]\nurl = {}\n[models]\ndir = {}\n[index]\npath = {}\n\
         [archive]\nenabled = false\n",
        quoted(&file)?,
        quoted(models)?,
        quoted(&folder.join("index.redb"))?,
    );
    Ok(config::parse(&document, Path::new("command line"), std::env::vars())?)
}

/// One line that counts up where a person watches, nothing in a pipe.
async fn show_progress(mut told: mpsc::Receiver<Event>) {
    let (mut err, mut moments) = (std::io::stderr(), 0);
    let is_watched = err.is_terminal();
    while let Some(event) = told.recv().await {
        if let (Event::Caption(moment), true) = (&event, is_watched) {
            moments += 1;
            // A closed stderr is no reason to stop.
            let _ = write!(err, "\rwatching: {moments} moments, up to {} ", moment.at);
        }
    }
    if moments > 0 {
        let _ = writeln!(err);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_file_is_its_path() {
        for (given, path) in [("file:///a/b.mp4", "/a/b.mp4"), ("/a/b.mp4", "/a/b.mp4"), ("b.mp4", "b.mp4")] {
            assert_eq!(path_of(Path::new(given)), Path::new(path));
        }
    }
}

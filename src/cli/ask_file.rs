//! `groundedvqa ask --file`: the whole job in one process, over one video file, without a bus.
//!
//! The same parts as the daemon's, with an index in a folder that is removed at the end.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use prometheus::Registry;
use tokio::sync::mpsc;

use crate::app::{Core, EVENT_QUEUE};
use crate::bus::wire::AnswerReply;
use crate::bus::{self, Picture};
use crate::config::{self, Config, Span};
use crate::domain::{Answer, Design, Event, Question, QuestionId, StreamId, StreamState};
use crate::stop::Stop;
use crate::telemetry::Pulse;

use super::eval::InputError;

/// What the file is called inside.
const STREAM: &str = "file";

/// A question from the command line.
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) k: Option<u32>,
    pub(super) design: Option<Design>,
}

/// Watches `file` to its end, then answers. Progress goes to stderr.
pub(super) async fn ask(
    file: &Path,
    every: Span,
    models: &Path,
    asked: Asked<'_>,
) -> anyhow::Result<(AnswerReply, Vec<Picture>)> {
    // Loading the models takes seconds: what can be refused before is.
    ensure!(!asked.text.trim().is_empty(), "the question is empty");
    let file = &path_of(file);
    std::fs::metadata(file).map_err(|source| InputError::Unreadable { path: file.clone(), source })?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder for the index")?;
    let config = settings(file, every, models, folder.path())?;
    let (events, told) = mpsc::channel(EVENT_QUEUE);
    let progress = tokio::spawn(show_progress(told));
    let (core, _thread) = Core::build(config, &Registry::new(), &Pulse::new(), events).await?;
    watch(&core).await?;
    let answer = core.answerer.answer(question(&core, &asked)?).await?;
    core.index.clone().close().await?;
    drop(core);
    progress.await?;
    Ok((bus::answer_message(&answer), pictures(&answer)))
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

async fn watch(core: &Core) -> anyhow::Result<()> {
    for stream in core.watch(&Stop::new()) {
        stream.ended().await?;
    }
    for status in core.board.snapshot() {
        if status.state == StreamState::Failed {
            bail!("{}", status.detail);
        }
    }
    Ok(())
}

fn question(core: &Core, asked: &Asked<'_>) -> anyhow::Result<Question> {
    let config = core.answerer.config();
    Ok(Question {
        id: QuestionId::generate(),
        text: asked.text.to_owned(),
        stream: Some(StreamId::new(STREAM)?),
        design: asked.design.unwrap_or(config.design),
        k: asked.k.map_or(config.k, |k| k as usize),
    })
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

fn pictures(answer: &Answer) -> Vec<Picture> {
    let trials = answer.verdicts.iter().flat_map(|verdict| verdict.trials.iter().map(move |trial| (verdict, trial)));
    let pictures = trials.filter_map(|(verdict, trial)| {
        let evidence = trial.evidence.as_ref()?;
        Some(Picture {
            stream: evidence.citation.stream.clone(),
            at: evidence.citation.at,
            sha256: evidence.sha256.clone(),
            verdict: Some(verdict.id.to_string()),
            jpeg: evidence.jpeg.to_vec().into(),
        })
    });
    pictures.collect()
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

    #[tokio::test]
    async fn what_needs_no_model_is_refused_before_one_is_loaded() {
        let no_models = Path::new("/nowhere/models");
        let ask = async |file: &str, text| {
            let asked = Asked { text, k: None, design: None };
            ask(Path::new(file), Span(std::time::Duration::from_secs(5)), no_models, asked).await
        };
        assert_eq!(ask("Cargo.toml", " ").await.expect_err("no question").to_string(), "the question is empty");
        let missing = ask("/nowhere/a.mp4", "Who is there?").await.expect_err("no file");
        assert_eq!(missing.to_string(), "cannot read /nowhere/a.mp4");
        assert_eq!(missing.downcast_ref::<InputError>().map(InputError::exit_code), Some(66), "as for eval");
    }
}

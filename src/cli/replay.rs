//! `groundedvqa verify --replay`: stored verdicts checked again, without a bus.
//!
//! The same check as the daemon's, over the same source: the frames are extracted and captioned afresh, the caption is
//! judged again, and what differs is told. Of a live stream the frames come from what was recorded of it; the memory that
//! its times count from is told by the verdict's own times. Every verdict has a memory of its own that knows the frames
//! that were looked at, so that the same neighbours are tried, and of a file also those that should have been. What
//! cannot be checked is told.
//!
//! # Decisions
//! - 2026-12-01: no memory is shared. Claims of one answer may lie a second apart, and each was checked when the memory
//!   held other frames: the frames of one would be neighbours of the other.

mod change;
mod compare;
mod epoch;
mod memory;
mod probe;
mod unchecked;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use prometheus::Registry;
use serde::Serialize;
use tokio::sync::mpsc;

use self::change::Change;
use self::memory::Memories;
use self::probe::Source;
use super::eval::InputError;
use crate::app::{Core, EVENT_QUEUE};
use crate::bus;
use crate::bus::wire::Verdict;
use crate::config::{self, Config};
use crate::domain::{Citation, Claim, Design, StreamId, StreamKind, StreamTime};
use crate::telemetry::Pulse;

/// `EX_DATAERR`: the file holds no verdict.
const NO_VERDICT: u8 = 65;
/// `EX_NOINPUT`: the source of a verdict is not there; the same if the file with the verdicts is not.
const NO_SOURCE: u8 = 66;

/// What is replayed, and over what.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ReplayArgs {
    /// Check the stored verdicts of this file again, offline: a verdict as published, a reply, or one of them a line.
    /// Ends with 0 if nothing changed, 1 if something did, 65 if the file holds no verdict, 66 if it or a source is missing,
    /// 69 if the models cannot be loaded.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stream", "claims", "design"])]
    pub(super) replay: Option<PathBuf>,
    /// The video file that the claims, or with --replay the verdicts, are about. Without it, verdicts are checked over the
    /// sources that --config names.
    #[arg(long, value_name = "VIDEO", conflicts_with_all = ["user", "password_file", "token_file", "creds_file", "nkey_seed_file", "tls_ca", "timeout"])]
    pub(super) file: Option<PathBuf>,
    /// With --replay: the configuration of the daemon that made the verdicts.
    #[arg(long, value_name = "FILE", requires = "replay", conflicts_with = "file")]
    config: Option<PathBuf>,
    /// With --file: where `groundedvqa models fetch` put the models.
    #[arg(long, default_value = "models", env = "GVQA_MODELS")]
    pub(super) models: PathBuf,
}

/// One verdict, replayed.
#[derive(Serialize)]
struct Replayed {
    verdict_id: String,
    claim: String,
    outcome: &'static str,
    changes: Vec<Change>,
    /// Parts of the verdict that nothing was held against.
    not_checked: Vec<&'static str>,
}

/// Checks again, prints, says how it went.
pub(super) async fn run(args: &ReplayArgs, path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let text = fs::read_to_string(path).map_err(|error| InputError::unreadable(path, error))?;
    let verdicts = match read(&text) {
        Ok(verdicts) => verdicts,
        Err(error) => {
            eprintln!("groundedvqa: {} cannot be replayed: {error:#}", path.display());
            return Ok(ExitCode::from(NO_VERDICT));
        }
    };
    let mut replayed = Vec::new();
    for (stream, verdicts) in by_stream(verdicts) {
        let folder = tempfile::tempdir().context("cannot make a temporary folder for the index")?;
        let (config, source) = match settings(args, &stream, &verdicts, folder.path())? {
            Ok(found) => found,
            Err(missing) => {
                eprintln!("groundedvqa: {missing}");
                return Ok(ExitCode::from(NO_SOURCE));
            }
        };
        replayed.extend(replay(config, &source, &stream, &verdicts).await?);
    }
    let changed = replayed.iter().any(|one| !one.changes.is_empty());
    if json {
        println!("{}", serde_json::to_string(&replayed)?);
    } else {
        replayed.iter().for_each(tell);
    }
    Ok(ExitCode::from(u8::from(changed)))
}

fn tell(one: &Replayed) {
    println!("{}: {}", one.outcome, one.claim);
    for change in &one.changes {
        println!("    {change}");
    }
    println!("    not checked: {}", one.not_checked.join(", "));
}

/// A verdict, a reply with verdicts, or one of them a line.
fn read(text: &str) -> anyhow::Result<Vec<Verdict>> {
    let documents = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(whole) => vec![whole],
        Err(_) => {
            text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect::<Result<_, _>>()?
        }
    };
    let mut verdicts = Vec::new();
    for (at, document) in documents.into_iter().enumerate() {
        let read = match document.get("claims").cloned() {
            Some(claims) => serde_json::from_value::<Vec<Verdict>>(claims),
            None => serde_json::from_value(document).map(|verdict| vec![verdict]),
        };
        verdicts.extend(read.with_context(|| format!("document {}", at + 1))?);
    }
    if verdicts.is_empty() {
        bail!("it is empty");
    }
    match verdicts.iter().find(|verdict| verdict.design == Design::None) {
        Some(unchecked) => bail!("{:?} was never checked", unchecked.claim),
        None => Ok(verdicts),
    }
}

fn by_stream(verdicts: Vec<Verdict>) -> BTreeMap<StreamId, Vec<Verdict>> {
    verdicts.into_iter().fold(BTreeMap::new(), |mut streams, verdict| {
        streams.entry(verdict.stream.clone()).or_default().push(verdict);
        streams
    })
}

/// A configuration with this stream alone and its memory in `folder`, and what is known of the source; the inner error
/// says what is not there.
fn settings(
    args: &ReplayArgs,
    stream: &StreamId,
    verdicts: &[Verdict],
    folder: &Path,
) -> anyhow::Result<Result<(Config, Source), String>> {
    let text = |path: &Path| path.to_str().map(toml::Value::from).with_context(|| format!("{path:?} is not UTF-8"));
    let index = text(&folder.join("index.redb"))?;
    let mut config = match (&args.file, &args.config) {
        (Some(file), _) if !file.is_file() => return Ok(Err(format!("{} is no file", file.display()))),
        (Some(file), _) => {
            let (url, models) = (text(&std::path::absolute(file)?)?, text(&args.models)?);
            let document =
                format!("[streams.{stream}]\nurl = {url}\n[models]\ndir = {models}\n[index]\npath = {index}\n");
            config::parse(&document, Path::new("command line"), std::env::vars())?
        }
        (None, path) => {
            let mut config = config::load(path.as_deref().unwrap_or(&config::default_path()))?;
            config.index.path = folder.join("index.redb");
            config
        }
    };
    config.streams.retain(|name, _| name == stream);
    let Some(settings) = config.streams.get(stream) else {
        return Ok(Err(format!("the configuration names no stream {stream}: give its source with --file")));
    };
    let source = Source {
        kind: settings.kind(),
        prefix: args.file.is_none().then(|| config.bus.prefix.clone()),
        every: settings.sample_every().unwrap_or(config.daemon.sample_every.0),
    };
    let every = verdicts.iter().flat_map(|verdict| reach(verdict, &source)).max().unwrap_or_default();
    config.daemon.sample_every = config::Span(every.max(Duration::from_secs(1)));
    Ok(Ok((config, source)))
}

/// How far the frames of a verdict lie from the cited time.
fn reach(verdict: &Verdict, source: &Source) -> impl Iterator<Item = Duration> {
    times(verdict, source).into_iter().map(|at| at.distance(verdict.timestamp))
}

/// The frames that were looked at, and those that should have been; the cited time stands for the cited frame.
fn times(verdict: &Verdict, source: &Source) -> Vec<StreamTime> {
    let evidence = verdict.trials.iter().filter_map(|trial| trial.evidence.as_ref());
    let neighbours = evidence.filter(|evidence| evidence.neighbour != 0).map(|evidence| evidence.timestamp);
    neighbours.chain([verdict.timestamp]).chain(probe::missing(verdict, source)).collect()
}

async fn replay(
    config: Config,
    source: &Source,
    stream: &StreamId,
    verdicts: &[Verdict],
) -> anyhow::Result<Vec<Replayed>> {
    let (events, mut told) = mpsc::channel(EVENT_QUEUE);
    let listener = tokio::spawn(async move { while told.recv().await.is_some() {} });
    let (core, _thread) = Core::build(config, &Registry::new(), &Pulse::new(), events).await?;
    if core.index.record(stream).await?.is_some_and(|record| record.kind == StreamKind::Live)
        && let Some(epoch) = epoch::of(&core.epochs(stream), verdicts)
    {
        core.recall_from(stream, epoch);
    }
    let memories = Memories::of(&core, stream).await?;
    let mut replayed = Vec::new();
    for verdict in verdicts {
        let memory = memories.with(times(verdict, source)).await?;
        let citation = Citation { stream: stream.clone(), at: verdict.timestamp };
        let claim = Claim { text: verdict.claim.clone(), citation };
        let again = core.answerer.over(memory).verify(vec![claim], verdict.design).await?;
        let again = again.first().context("no verdict came back")?;
        let changes = compare::changes(verdict, &bus::verdict_message(again), source);
        replayed.push(Replayed {
            verdict_id: verdict.verdict_id.to_string(),
            claim: verdict.claim.clone(),
            outcome: if changes.is_empty() { "same" } else { "changed" },
            changes,
            not_checked: unchecked::of(verdict, source),
        });
    }
    core.index.clone().close().await?;
    drop(core);
    listener.await?;
    Ok(replayed)
}

#[cfg(test)]
mod tests;

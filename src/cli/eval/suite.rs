//! `groundedvqa eval SUITE`: watches the clips of a suite, drafts its questions once, and has every design check the
//! same claims, one at a time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail};
use prometheus::Registry;
use tokio::sync::mpsc;

use super::input::{self, InputError};
use super::progress::Progress;
use super::{Common, audit};
use crate::app::{Core, EVENT_QUEUE};
use crate::config::{self, Config};
use crate::domain::{Claim, Design, Question, QuestionId, StreamState};
use crate::eval::looks::Looked;
use crate::eval::record::{Answered, Finding, Run};
use crate::eval::suite::{Asked, Clip, Item, Known, Suite};
use crate::eval::table;
use crate::stop::Stop;
use crate::telemetry::Pulse;

/// Where clips are looked for when no folder is named: where `make setup` and Debian's opencv-doc put them.
const CLIPS: [&str; 2] = [".cache/clips", "/usr/share/doc/opencv-doc/examples/data"];

/// What a suite needs.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The suite, a TOML document such as config/suites/paper.toml.
    #[arg(required = true)]
    suite: Option<PathBuf>,
    /// Folder with the suite's clips; may be repeated, the first that has a clip counts.
    #[arg(long = "clips", value_name = "DIR", default_values = CLIPS)]
    clips: Vec<PathBuf>,
    /// Run only these designs, separated by commas; may be repeated. If none is named, all whose models are configured.
    #[arg(long = "designs", alias = "design", value_delimiter = ',', value_parser = super::super::ask::design)]
    designs: Vec<Design>,
    #[command(flatten)]
    common: Common,
}

/// Runs the suite; ends with 0 when it was measured, whatever the figures are.
pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let path = args.suite.context("no suite was named")?;
    let suite = Suite::parse(&input::text(&path)?).map_err(|error| InputError::unusable(&path, error))?;
    // A run takes minutes to hours: what cannot be kept is not begun.
    writable(&args.common.out)?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder for the index")?;
    let config = settings(&suite, &args.clips, &args.common.models, folder.path())?;
    let (events, mut told) = mpsc::channel(EVENT_QUEUE);
    let listener = tokio::spawn(async move { while told.recv().await.is_some() {} });
    let (core, _thread) = Core::build(config, &Registry::new(), &Pulse::new(), events).await?;
    let designs = designs(&core, args.designs)?;
    watch(&core).await?;
    let run = measure(&core, &suite, designs).await?;
    core.index.clone().close().await?;
    drop(core);
    listener.await?;
    write(&run, &args.common.out)?;
    print!("{}", table::report(&run));
    Ok(ExitCode::SUCCESS)
}

/// The designs asked for, or all that can be used; says which cannot.
fn designs(core: &Core, asked: Vec<Design>) -> anyhow::Result<Vec<Design>> {
    if !asked.is_empty() {
        let asked = distinct(asked);
        asked.iter().try_for_each(|design| core.answerer.available(*design))?;
        return Ok(asked);
    }
    let usable = |design: &Design| match core.answerer.available(*design) {
        Ok(()) => true,
        Err(why) => {
            eprintln!("groundedvqa: left out: {why}");
            false
        }
    };
    Ok(Design::ALL.into_iter().filter(usable).collect())
}

/// Each once, in the order in which they were named first: a design named twice would count every claim twice.
fn distinct(asked: Vec<Design>) -> Vec<Design> {
    asked.into_iter().fold(Vec::new(), |mut designs, design| {
        if !designs.contains(&design) {
            designs.push(design);
        }
        designs
    })
}

/// The configuration of a daemon with the clips as its streams and its memory in `folder`.
fn settings(suite: &Suite, clips: &[PathBuf], models: &Path, folder: &Path) -> anyhow::Result<Config> {
    let text = |path: &Path| path.to_str().map(toml::Value::from).with_context(|| format!("{path:?} is not UTF-8"));
    let mut document =
        format!("[models]\ndir = {}\n[index]\npath = {}\n", text(models)?, text(&folder.join("index.redb"))?);
    for (stream, Clip { file, every }) in &suite.clips {
        let found = clips.iter().map(|folder| folder.join(file)).find(|path| path.is_file());
        let found = found.ok_or_else(|| InputError::NoClip { file: file.clone(), folders: clips.to_vec() })?;
        let url = text(&found.canonicalize()?)?;
        let _ = writeln!(document, "[streams.{stream}]\nurl = {url}\nsample_every = \"{every}\"");
    }
    Ok(config::parse(&document, Path::new("suite"), std::env::vars())?)
}

async fn watch(core: &Core) -> anyhow::Result<()> {
    for stream in core.watch(&Stop::new()) {
        stream.ended().await?;
    }
    match core.board.snapshot().into_iter().find(|status| status.state == StreamState::Failed) {
        Some(failed) => bail!("{}: {}", failed.stream, failed.detail),
        None => Ok(()),
    }
}

async fn measure(core: &Core, suite: &Suite, designs: Vec<Design>) -> anyhow::Result<Run> {
    let (mut questions, mut items) = (Vec::new(), Vec::new());
    for (index, asked) in suite.questions.iter().enumerate() {
        let (answered, drafted) = draft(core, asked).await?;
        questions.push(answered);
        items.extend(asked.items(index, drafted, &suite.facts));
    }
    items.extend(suite.claims.iter().map(Known::item));
    let mut findings = Vec::with_capacity(items.len() * designs.len());
    let mut progress = Progress::on_stderr(format!("{} designs: checked", designs.len()), items.len() * designs.len());
    for (index, item) in items.iter().enumerate() {
        for design in &designs {
            findings.push(check(core, index, item, *design).await?);
            progress.done(findings.len());
        }
    }
    let mut looked = Vec::new();
    if designs.contains(&Design::CaptionNli) {
        for asked in &suite.questions {
            looked.push(ask(core, asked).await?);
        }
    }
    let models = findings.last().map(|finding: &Finding| finding.verdict.models.clone());
    let (suite, about) = (suite.name.clone(), suite.about.clone());
    Ok(Run { suite, about, models, questions, looked, items, designs, findings })
}

fn question(core: &Core, asked: &Asked, design: Design) -> Question {
    let (text, stream, k) = (asked.text.clone(), Some(asked.stream.clone()), core.answerer.config().k);
    Question { id: QuestionId::generate(), text, stream, design, k }
}

/// Asks as a client would, with all that is looked at again.
async fn ask(core: &Core, asked: &Asked) -> anyhow::Result<Looked> {
    let start = Instant::now();
    let answer = core.answerer.answer(question(core, asked, Design::CaptionNli)).await?;
    Ok(Looked::of(&answer, start.elapsed()))
}

/// Asks without checking: the drafted claims are the same for every design.
async fn draft(core: &Core, asked: &Asked) -> anyhow::Result<(Answered, Vec<Claim>)> {
    let question = question(core, asked, Design::None);
    let start = Instant::now();
    let answer = core.answerer.answer(question).await.with_context(|| format!("{:?} has no answer", asked.text))?;
    let last = core.index.record(&asked.stream).await?.and_then(|record| record.last).unwrap_or_default();
    let answered = Answered {
        kind: asked.kind.clone(),
        stream: asked.stream.clone(),
        text: asked.text.clone(),
        moments: answer.moments.iter().map(|hit| hit.moment.at).collect(),
        window: [answer.window.from().seconds(), answer.window.to().min(last).seconds()],
        right_window: asked.is_right(answer.window, last),
        took: start.elapsed(),
    };
    Ok((answered, answer.verdicts.into_iter().map(|verdict| verdict.claim).collect()))
}

async fn check(core: &Core, index: usize, item: &Item, design: Design) -> anyhow::Result<Finding> {
    let start = Instant::now();
    let verdicts = core.answerer.verify(vec![item.claim.clone()], design).await;
    let took = start.elapsed();
    let verdicts = verdicts.with_context(|| format!("{:?} cannot be checked", item.claim.text))?;
    let verdict = verdicts.into_iter().next().context("no verdict came back")?;
    Ok(Finding { item: index, design, verdict, took })
}

/// Makes sure that results can be written to `out`.
fn writable(out: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    tempfile::tempfile_in(out).with_context(|| format!("cannot write into the folder {}", out.display()))?;
    Ok(())
}

fn write(run: &Run, out: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let files = BTreeMap::from([
        ("results.json", run.results()?),
        ("latency.json", serde_json::to_string_pretty(&run.latency())?),
        ("report.md", table::report(run)),
        ("audit.html", audit::render(run)),
    ]);
    for (name, text) in files {
        let path = out.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_is_run_once() {
        use Design::{CaptionNli, None};
        let table: [(&[Design], &[Design]); 4] = [
            (&[], &[]),
            (&[None, None], &[None]),
            (&[CaptionNli, None, CaptionNli], &[CaptionNli, None]),
            (&[None, CaptionNli], &[None, CaptionNli]),
        ];
        for (asked, due) in table {
            assert_eq!(distinct(asked.to_vec()), due, "{asked:?}");
        }
    }
}

//! `groundedvqa eval text CAPTIONS`: the judge alone, on thousands of claims made from captions of videos.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde::Serialize;

use super::Common;
use super::input::{InputError, Which, json_lines};
use super::memo::Memo;
use super::progress::Progress;
use crate::eval::record::Group;
use crate::eval::table;
use crate::eval::tally::Summary;
use crate::eval::text::make::Spread;
use crate::eval::text::run::{self, Outcome};
use crate::eval::text::{Half, TextClaim, Video, make};
use crate::eval::thresholds;
use crate::models;
use crate::seams::Judge;

/// A moment every five seconds, as the daemon samples by default.
const EVERY: usize = 5;
/// Words of a sentence of another time that must occur nowhere near the cited one.
const STRANGE: usize = 2;

/// What the judge is measured on.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Captions at one per second, one video a line, plain or gzipped: `{"video": …, "captions_1fps": [text, …]}`.
    captions: PathBuf,
    /// Which half of the videos, by a hash of their names; nothing is tuned on the reporting half.
    #[arg(long, value_enum, default_value = "reporting")]
    half: Which,
    /// About how many moments of each video claims are made; about five claims a moment.
    #[arg(long, default_value_t = 3)]
    moments: usize,
    /// Only write the claims, as JSON lines, and judge nothing.
    #[arg(long)]
    claims_only: bool,
    /// A file that remembers what the judge said of each pair, so that a second run only weighs again.
    #[arg(long, value_name = "FILE")]
    memo: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    claim: &'a TextClaim,
    #[serde(flatten)]
    outcome: Option<&'a Outcome>,
}

/// Judges and writes; ends with 0 when it was measured, whatever the figures are.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let videos: Vec<Video> = json_lines(&args.captions)?;
    let wanted = |half: Half| args.half.holds(half);
    let spread = Spread { every: EVERY, moments: args.moments, strange: STRANGE };
    let claims: Vec<TextClaim> = make::claims(&videos, spread).into_iter().filter(|claim| wanted(claim.half)).collect();
    if claims.is_empty() {
        let reason = format!("no claim can be made from its captions (half: {:?})", args.half);
        return Err(InputError::unusable(&args.captions, reason).into());
    }
    fs::create_dir_all(&args.common.out).with_context(|| format!("cannot make {}", args.common.out.display()))?;
    let path = args.common.out.join("claims.jsonl");
    if args.claims_only {
        write(&path, claims.iter().map(|claim| Line { claim, outcome: None }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let judge = models::judge_alone(&args.common.models)?;
    let (fingerprint, threshold) = (judge.fingerprint().clone(), judge.threshold());
    let outcomes = judge_all(judge, &claims, args.memo.as_deref())?;
    write(&path, claims.iter().zip(&outcomes).map(|(claim, outcome)| Line { claim, outcome: Some(outcome) }))?;
    let judged = run::judged(&claims, &outcomes);
    let summary = Summary::of(&judged);
    let report = format!(
        "# Judge alone, {:?} half\n\n{} claims from captions of {} videos, judge `{}`.\n\n{}{}{}{}{}",
        args.half,
        claims.len(),
        videos.iter().filter(|video| wanted(Half::of(&video.video))).count(),
        fingerprint,
        table::groups(&[(Group::All, summary.clone())]),
        table::kinds(&summary),
        table::labels(&summary),
        table::reasons(&summary),
        thresholds::table(&judged, threshold)
    );
    let results = serde_json::json!({"judge": fingerprint, "figures": summary});
    let out = &args.common.out;
    fs::write(out.join("results.json"), serde_json::to_string_pretty(&results)?)?;
    fs::write(args.common.out.join("report.md"), &report)?;
    print!("{report}");
    Ok(ExitCode::SUCCESS)
}

fn judge_all(mut judge: Box<dyn Judge>, claims: &[TextClaim], memo: Option<&Path>) -> anyhow::Result<Vec<Outcome>> {
    let mut shown = Progress::on_stderr("judged", claims.len());
    let progress = |done| shown.done(done);
    let Some(path) = memo else { return Ok(run::run(&mut *judge, claims, progress)?) };
    let mut memo = Memo::open(judge, path)?;
    let outcomes = run::run(&mut memo, claims, progress)?;
    memo.close()?;
    Ok(outcomes)
}

fn write<'a>(path: &Path, lines: impl Iterator<Item = Line<'a>>) -> anyhow::Result<()> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(&line)?;
        text.push('\n');
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

//! `groundedvqa eval site`: how much of what is false do these cameras with these models catch?
//!
//! Claims are made from the site's own stored captions: sentences at their own time, sentences of another time, and
//! sentences with one word swapped. Each is checked as the daemon checks: frame extracted again, captioned blind,
//! judged. It says nothing about what the captioner gets wrong in the first place, since truth is what was captioned; the
//! report says so beside its figures.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::builder::{RangedU64ValueParser, TypedValueParser};
use prometheus::Registry;
use tokio::sync::mpsc;

use super::input::InputError;
use super::progress::Progress;
use crate::app::{Core, EVENT_QUEUE};
use crate::config;
use crate::domain::{Citation, Claim, Design, Moment, Reason, StreamId, Window};
use crate::eval::table;
use crate::eval::tally::{Judged, Summary, is_flagged, score};
use crate::eval::text::make::{self, Spread};
use crate::eval::text::{TextClaim, Video};
use crate::index::Scope;
use crate::telemetry::Pulse;

/// Which site.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The site's configuration. The daemon must not run: its index is opened here.
    #[arg(long, short, default_value_os_t = config::default_path(), env = "GVQA_CONFIG")]
    config: PathBuf,
    /// Only this stream; all, if none is named.
    #[arg(long, value_parser = super::super::ask::stream_id)]
    stream: Option<StreamId>,
    /// How many of a stream's last moments claims are made from.
    #[arg(long, default_value_t = 500, value_parser = some())]
    moments: usize,
    /// About how many of these moments claims are made.
    #[arg(long, default_value_t = 20, value_parser = some())]
    cited: usize,
    /// The folder that the results are written into.
    #[arg(long, default_value = "eval-out")]
    out: PathBuf,
}

/// A stream that the configuration does not name is a wrong argument.
const USAGE: u8 = 2;

/// What the figures are of.
const ABOUT: &str = "Claims made from stored captions and checked against frames extracted again. Truth is what the \
captioner said: the claims are made of its own words, so that they hold nothing that it has no words for (the scene \
captioner: no actions), and what it overlooks or names wrongly is not found out. 100 % caught says that what it did not \
say is told from what it said, and no more. Shares with their 95 % Wilson intervals.";

/// At least one: of none nothing can be said.
fn some() -> impl TypedValueParser<Value = usize> {
    RangedU64ValueParser::<usize>::new().range(1..)
}

/// What became of the claims about one stream.
struct Checked {
    stream: StreamId,
    moments: usize,
    judged: Vec<Judged>,
    /// Claims whose frame is not there any more, or never was.
    without_frame: usize,
}

/// Measures, writes, prints; ends with 1 if no stream has enough moments to make claims from.
pub(super) async fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = config::load(&args.config)?;
    let names: Vec<StreamId> =
        config.streams.keys().filter(|name| args.stream.as_ref().is_none_or(|only| only == *name)).cloned().collect();
    if names.is_empty() {
        let Some(stream) = &args.stream else { bail!("the configuration names no stream") };
        eprintln!("groundedvqa: the configuration names no such stream as {stream}");
        return Ok(ExitCode::from(USAGE));
    }
    // Opening it would make an empty one at a wrong path.
    let index = &config.index.path;
    File::open(index).map_err(|error| InputError::unreadable(index, error))?;
    let (events, mut told) = mpsc::channel(EVENT_QUEUE);
    let listener = tokio::spawn(async move { while told.recv().await.is_some() {} });
    let (core, _thread) = Core::build(config, &Registry::new(), &Pulse::new(), events).await?;
    let mut checked = Vec::new();
    for stream in names {
        checked.push(check(&core, stream, args).await?);
    }
    core.index.clone().close().await?;
    drop(core);
    listener.await?;
    let report = report(&checked);
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    fs::write(args.out.join("site.md"), &report)?;
    fs::write(args.out.join("site.json"), serde_json::to_string_pretty(&results(&checked))?)?;
    print!("{report}");
    let any = checked.iter().any(|stream| !stream.judged.is_empty());
    Ok(ExitCode::from(u8::from(!any)))
}

async fn check(core: &Core, stream: StreamId, args: &Args) -> anyhow::Result<Checked> {
    let scope = Scope { streams: vec![stream.clone()], window: Window::ALL };
    let mut moments = core.index.moments(scope, args.moments, true).await?;
    moments.sort_by_key(|moment| moment.at);
    let captions = moments.iter().map(|moment| moment.caption.as_str().to_owned()).collect();
    let video = Video { video: stream.to_string(), captions };
    let claims = make::claims(&[video], Spread { every: 1, moments: args.cited, strange: 1 });
    let (mut judged, mut without_frame) = (Vec::new(), 0);
    let mut progress = Progress::on_stderr(format!("{stream}: checked"), claims.len());
    for (done, claim) in claims.into_iter().enumerate() {
        match check_one(core, &moments[claim.at], claim).await? {
            Some(claim) => judged.push(claim),
            None => without_frame += 1,
        }
        progress.done(done + 1);
    }
    Ok(Checked { stream, moments: moments.len(), judged, without_frame })
}

/// `None` if there is no frame that it could be checked against.
async fn check_one(core: &Core, cited: &Moment, made: TextClaim) -> anyhow::Result<Option<Judged>> {
    let design = Design::CaptionNli;
    let citation = Citation { stream: cited.stream.clone(), at: cited.at };
    let verdicts = core.answerer.verify(vec![Claim { text: made.text, citation }], design).await?;
    let verdict = verdicts.first().context("no verdict came back")?;
    if matches!(verdict.reason, Reason::NoFrame | Reason::Expired | Reason::DecodeError) {
        return Ok(None);
    }
    Ok(Some(Judged {
        kind: made.kind.to_owned(),
        truth: made.truth,
        flagged: is_flagged(design, verdict),
        score: score(design, verdict),
        reason: verdict.reason,
        without_frame: false,
    }))
}

/// The claims about all streams.
fn all(checked: &[Checked]) -> Summary {
    let every: Vec<Judged> = checked.iter().flat_map(|stream| stream.judged.clone()).collect();
    Summary::of(&every)
}

/// `site.json`: the figures of the report.
fn results(checked: &[Checked]) -> serde_json::Value {
    let of = |stream: &Checked| {
        serde_json::json!({
            "stream": stream.stream,
            "moments": stream.moments,
            "claims": stream.judged.len(),
            "without_frame": stream.without_frame,
            "figures": Summary::of(&stream.judged),
        })
    };
    let streams: Vec<serde_json::Value> = checked.iter().map(of).collect();
    serde_json::json!({"about": ABOUT, "streams": streams, "all": all(checked)})
}

fn report(checked: &[Checked]) -> String {
    let mut out = format!("# Per-site check\n\n{ABOUT}\n\n");
    for Checked { stream, moments, judged, without_frame } in checked {
        let _ = writeln!(
            out,
            "## {stream}\n\n{} claims about {moments} moments; {without_frame} more have no frame to be checked against.\n",
            judged.len()
        );
        out.push_str(&table::kinds(&Summary::of(judged)));
    }
    let all = all(checked);
    let _ = writeln!(
        out,
        "## All streams\n\nFabricated and caught: {}. True and flagged: {}.",
        table::share(all.all.caught),
        table::share(all.all.flagged)
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_its_figures_are_of() {
        let judged = Judged {
            kind: "wrong time".into(),
            truth: false,
            flagged: true,
            score: 0.0,
            reason: Reason::Neutral,
            without_frame: false,
        };
        let stream = StreamId::new("walk").expect("a token");
        let checked = [Checked { stream, moments: 12, judged: vec![judged; 3], without_frame: 2 }];
        let report = report(&checked);
        for due in [
            "of its own words",
            "no actions",
            "Fabricated and caught: 100.0 % (3 of 3;",
            "3 claims about 12 moments; 2",
        ] {
            assert!(report.contains(due), "{due} is missing: {report}");
        }
        let results = results(&checked);
        let stream = &results["streams"][0];
        assert_eq!((&stream["stream"], &stream["moments"], &stream["claims"]), (&"walk".into(), &12.into(), &3.into()));
        assert_eq!((&stream["without_frame"], &results["all"]["all"]["caught"]["of"]), (&2.into(), &3.into()));
        assert!(results["about"].as_str().is_some_and(|about| about.contains("no actions")), "{results:#}");
    }
}

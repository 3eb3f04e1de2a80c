//! `groundedvqa eval relevance SUITE…`: are claims that do not answer told from those that do?
//!
//! Pure rules over words, and the embedder; nothing is judged, because a claim may be relevant and false.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::input::{self, InputError, NextGqa};
use super::vectors::Vectors;
use crate::answer::relevant;
use crate::eval::relevance::{self, Judged, Labelled, Pair, Sentences};
use crate::eval::stats::{Share, auroc};
use crate::eval::suite::Suite;
use crate::eval::table;
use crate::models;
use crate::seams::Embedder as _;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites whose claims say whether they answer; needed unless --data names a folder.
    #[arg(required_unless_present = "data")]
    suites: Vec<PathBuf>,
    #[command(flatten)]
    data: NextGqa,
}

/// Measures and writes; ends with 0 when it was measured, whatever the figures are.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let NextGqa { data, half, cache, common } = &args.data;
    let suites = args.suites.iter().map(|path| labelled(path)).collect::<Result<Vec<_>, _>>()?;
    let read = data.as_deref().map(|folder| args.data.read(folder)).transpose()?;
    let mut vectors = Vectors::open(models::embedder_alone(&common.models)?, cache.as_deref())?;
    let mut report = "# Relevance\n\nShares with their 95 % Wilson intervals.\n\n".to_owned();
    let mut results = serde_json::Map::new();
    for (name, pairs) in suites {
        let judged = judge(&mut vectors, pairs)?;
        let figures = Labelled::of(&judged);
        let _ = write!(report, "## Suite {}\n\n{}", table::plain(&name), figures.table(&judged));
        results.insert(name, serde_json::to_value(&figures)?);
    }
    if let Some((videos, questions)) = read {
        let (told, figures) = others(&mut vectors, &relevance::sentences(&questions, &videos))?;
        let _ = write!(report, "## Captions, {half:?} half\n\n{told}");
        results.insert("captions".to_owned(), figures);
    }
    vectors.save()?;
    fs::create_dir_all(&common.out).with_context(|| format!("cannot make {}", common.out.display()))?;
    fs::write(common.out.join("relevance.json"), serde_json::to_string_pretty(&results)?)?;
    fs::write(common.out.join("relevance.md"), &report)?;
    print!("{report}");
    Ok(ExitCode::SUCCESS)
}

/// The name of a suite and its labelled pairs.
fn labelled(path: &Path) -> Result<(String, Vec<Pair>), InputError> {
    let suite = Suite::parse(&input::text(path)?).map_err(|error| InputError::unusable(path, error))?;
    let pairs = relevance::pairs(&suite);
    if pairs.is_empty() {
        return Err(InputError::unusable(path, "none of its claims says whether it answers"));
    }
    Ok((suite.name, pairs))
}

/// Cosines between a question and what is said.
fn cosines(vectors: &mut Vectors, question: &str, said: &[String]) -> anyhow::Result<Vec<f32>> {
    let topic = relevant::topic(question);
    let texts: Vec<String> = std::iter::once(topic).chain(said.iter().cloned()).collect();
    let embedded = vectors.embed(&texts)?;
    let (asked, said) = embedded.split_first().context("no vector came back")?;
    Ok(said.iter().map(|vector| asked.cosine(vector)).collect())
}

fn judge(vectors: &mut Vectors, pairs: Vec<Pair>) -> anyhow::Result<Vec<Judged>> {
    let mut judged = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let cosine = cosines(vectors, &pair.question, std::slice::from_ref(&pair.claim))?;
        let relevance = cosine.first().copied().unwrap_or_default();
        let taken = relevant::answers(&pair.question, &pair.claim, relevance);
        judged.push(Judged { pair, relevance, taken });
    }
    Ok(judged)
}

/// How often something that is said about the evidence counts as an answer, for the own question and for another.
fn others(vectors: &mut Vectors, all: &[Sentences]) -> anyhow::Result<(String, serde_json::Value)> {
    let mut any: BTreeMap<bool, Share> = BTreeMap::new();
    let mut each: BTreeMap<bool, Share> = BTreeMap::new();
    let mut scored = Vec::new();
    for Sentences { question, said, own } in all {
        let similar = cosines(vectors, question, said)?;
        let taken: Vec<bool> =
            said.iter().zip(&similar).map(|(said, cosine)| relevant::answers(question, said, *cosine)).collect();
        let questions = any.entry(*own).or_default();
        *questions = questions.with(taken.contains(&true));
        let sentences = each.entry(*own).or_default();
        *sentences = taken.into_iter().fold(*sentences, Share::with);
        scored.push((similar.into_iter().fold(-1.0, f32::max), *own));
    }
    let of = |shares: &BTreeMap<bool, Share>, own| shares.get(&own).copied().unwrap_or_default();
    let area = auroc(&scored);
    let mut told = String::from(
        "| sentences about the evidence of | taken for answers | questions with at least one |\n|---|---|---|\n",
    );
    for (own, name) in [(true, "the question itself"), (false, "a question about another video")] {
        let _ = writeln!(told, "| {name} | {} | {} |", table::share(of(&each, own)), table::share(of(&any, own)));
    }
    let _ = writeln!(told, "\nAUROC of the greatest similarity alone: {:.3}.\n", area.unwrap_or(f64::NAN));
    let figures = serde_json::json!({
        "own": {"sentences": of(&each, true), "questions": of(&any, true)},
        "other": {"sentences": of(&each, false), "questions": of(&any, false)},
        "auroc": area,
    });
    Ok((told, figures))
}

//! A run of a suite, and how it is written down. Pure.
//!
//! `results.json` holds nothing that differs between two runs of the same program on the same models and clips: no
//! identities, no times of day, no durations. Those that matter are in `latency.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use super::looks::Looked;
use super::stats::{Share, quantile};
use super::suite::{Item, Truth};
use super::tally::{Judged, Summary, is_flagged, score};
use crate::domain::{Design, Entailment, ModelSet, Reason, StreamId, StreamTime, Trial, Verdict};

/// What one design made of one claim.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Index of the claim in [`Run::items`].
    pub item: usize,
    /// The design.
    pub design: Design,
    /// What it found.
    pub verdict: Verdict,
    /// How long it took, alone.
    pub took: Duration,
}

/// A question as it was answered.
#[derive(Debug, Clone, Serialize)]
pub struct Answered {
    /// What kind of question it is.
    pub kind: String,
    /// The stream asked about.
    pub stream: StreamId,
    /// The question.
    pub text: String,
    /// The retrieved moments, best first.
    pub moments: Vec<StreamTime>,
    /// The window of stream time that was searched, in seconds.
    pub window: [f64; 2],
    /// Whether that is the labelled one; absent without a label.
    pub right_window: Option<bool>,
    /// How long retrieving and drafting took.
    #[serde(skip)]
    pub took: Duration,
}

/// Everything that came out of a suite.
#[derive(Debug, Clone)]
pub struct Run {
    /// The suite's name.
    pub suite: String,
    /// The suite's own words about itself.
    pub about: String,
    /// The models.
    pub models: Option<ModelSet>,
    /// Questions, in order.
    pub questions: Vec<Answered>,
    /// The same questions, asked as a client would.
    pub looked: Vec<Looked>,
    /// All claims: those of questions first.
    pub items: Vec<Item>,
    /// Designs in the order they were run.
    pub designs: Vec<Design>,
    /// One for each claim and design.
    pub findings: Vec<Finding>,
}

/// Claims that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// All of known truth.
    All,
    /// What the drafter said.
    Drafted,
    /// What a person wrote.
    Written,
    /// About what the captioner has words for.
    Sayable,
    /// About something else.
    Beyond,
}

impl Group {
    /// In the order of the tables.
    pub const ALL: [Self; 5] = [Self::All, Self::Drafted, Self::Written, Self::Sayable, Self::Beyond];

    /// For a reader.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all claims",
            Self::Drafted => "drafted claims",
            Self::Written => "written claims",
            Self::Sayable => "what the captioner has words for",
            Self::Beyond => "what it has no words for",
        }
    }

    fn holds(self, item: &Item) -> bool {
        match self {
            Self::All => true,
            Self::Drafted => item.drafted,
            Self::Written => !item.drafted,
            Self::Sayable => !item.beyond,
            Self::Beyond => item.beyond,
        }
    }
}

/// How long one step took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// The first one after the models were loaded, in seconds.
    pub cold_s: Option<f64>,
    /// How many others.
    pub steady: usize,
    /// Half of the others took no longer.
    pub p50_s: Option<f64>,
    /// 95 % of the others took no longer; absent of fewer than [`ENOUGH`], which cannot tell.
    pub p95_s: Option<f64>,
    /// None of the others took longer.
    pub most_s: Option<f64>,
}

/// Runs of which the slowest twentieth is at least one.
const ENOUGH: usize = 20;

impl Latency {
    /// The first of `took` is cold.
    pub fn of(took: &[Duration]) -> Self {
        let seconds: Vec<f64> = took.iter().map(Duration::as_secs_f64).collect();
        let steady = seconds.get(1..).unwrap_or_default();
        let p95_s = quantile(steady, 0.95).filter(|_| steady.len() >= ENOUGH);
        let (p50_s, most_s) = (quantile(steady, 0.5), quantile(steady, 1.0));
        Self { cold_s: seconds.first().copied(), steady: steady.len(), p50_s, p95_s, most_s }
    }
}

impl Run {
    /// The claims of a group whose truth is known, as one design judged them.
    pub fn judged(&self, design: Design, group: Group) -> Vec<Judged> {
        let of_design = self.findings.iter().filter(|finding| finding.design == design);
        let without_frame = self.without_frame();
        let judged = of_design.filter_map(|Finding { item: index, verdict, .. }| {
            let item = &self.items[*index];
            let truth = item.truth.and_then(Truth::known).filter(|_| group.holds(item))?;
            Some(Judged {
                kind: item.kind.clone(),
                truth,
                flagged: is_flagged(design, verdict),
                score: score(design, verdict),
                reason: verdict.reason,
                without_frame: without_frame.contains(index),
            })
        });
        judged.collect()
    }

    /// The claims for which some design found no frame.
    fn without_frame(&self) -> BTreeSet<usize> {
        let missed = self.findings.iter().filter(|finding| finding.verdict.reason == Reason::NoFrame);
        missed.map(|finding| finding.item).collect()
    }

    /// All figures of a design, for every group that is neither empty nor everything.
    pub fn summaries(&self, design: Design) -> Vec<(Group, Summary)> {
        let all = self.judged(design, Group::All).len();
        let worth = |group: &Group, count: usize| *group == Group::All || count > 0 && count < all;
        let groups = Group::ALL.into_iter().map(|group| (group, self.judged(design, group)));
        groups.filter(|(group, claims)| worth(group, claims.len())).map(|(g, c)| (g, Summary::of(&c))).collect()
    }

    /// Claims that nobody has labelled, and those whose truth is unclear.
    pub fn uncounted(&self) -> (usize, usize) {
        let of = |truth: Option<Truth>| self.items.iter().filter(|item| item.truth == truth).count();
        (of(None), of(Some(Truth::Unclear)))
    }

    /// The models behind a design's verdicts.
    pub fn models_of(&self, design: Design) -> Option<&ModelSet> {
        let of_design = self.findings.iter().find(|finding| finding.design == design);
        of_design.map(|finding| &finding.verdict.models)
    }

    /// By kind of question, and of all: how many of the labelled windows were found.
    pub fn windows(&self) -> BTreeMap<&str, Share> {
        let mut windows: BTreeMap<&str, Share> = BTreeMap::new();
        for question in &self.questions {
            let Some(right) = question.right_window else { continue };
            for kind in ["all", &question.kind] {
                let share = windows.entry(kind).or_default();
                *share = share.with(right);
            }
        }
        windows
    }

    /// By step: drafting, and checking one claim by each design.
    pub fn latency(&self) -> BTreeMap<&'static str, Latency> {
        let drafting: Vec<Duration> = self.questions.iter().map(|question| question.took).collect();
        let mut steps = BTreeMap::new();
        if !drafting.is_empty() {
            steps.insert("draft", Latency::of(&drafting));
        }
        for design in self.designs.iter().filter(|design| **design != Design::None) {
            let of_design = self.findings.iter().filter(|finding| finding.design == *design);
            let took: Vec<Duration> = of_design.map(|finding| finding.took).collect();
            steps.insert(design.as_str(), Latency::of(&took));
        }
        steps
    }

    /// `results.json`.
    pub fn results(&self) -> serde_json::Result<String> {
        let findings = |index: usize| self.findings.iter().filter(move |finding| finding.item == index);
        let claims = self.items.iter().enumerate().map(|(i, item)| WrittenItem::of(item, findings(i)));
        let figures = self.designs.iter().map(|design| WrittenDesign::of(self, *design));
        let written = Written {
            suite: &self.suite,
            about: &self.about,
            models: self.models.as_ref(),
            figures: figures.collect(),
            windows: self.windows(),
            questions: &self.questions,
            looked: &self.looked,
            claims: claims.collect(),
        };
        serde_json::to_string_pretty(&written)
    }
}

#[derive(Serialize)]
struct Written<'a> {
    suite: &'a str,
    about: &'a str,
    models: Option<&'a ModelSet>,
    figures: Vec<WrittenDesign<'a>>,
    windows: BTreeMap<&'a str, Share>,
    questions: &'a [Answered],
    looked: &'a [Looked],
    claims: Vec<WrittenItem<'a>>,
}

#[derive(Serialize)]
struct WrittenDesign<'a> {
    design: Design,
    models: Option<&'a ModelSet>,
    groups: Vec<WrittenGroup>,
}

#[derive(Serialize)]
struct WrittenGroup {
    group: Group,
    #[serde(flatten)]
    summary: Summary,
}

impl<'a> WrittenDesign<'a> {
    fn of(run: &'a Run, design: Design) -> Self {
        let groups = run.summaries(design).into_iter().map(|(group, summary)| WrittenGroup { group, summary });
        Self { design, models: run.models_of(design), groups: groups.collect() }
    }
}

#[derive(Serialize)]
struct WrittenItem<'a> {
    claim: &'a str,
    stream: &'a StreamId,
    timestamp: StreamTime,
    kind: &'a str,
    question: Option<usize>,
    drafted: bool,
    beyond: bool,
    truth: Option<Truth>,
    findings: Vec<WrittenFinding<'a>>,
}

impl<'a> WrittenItem<'a> {
    fn of(item: &'a Item, findings: impl Iterator<Item = &'a Finding>) -> Self {
        Self {
            claim: &item.claim.text,
            stream: &item.claim.citation.stream,
            timestamp: item.claim.citation.at,
            kind: &item.kind,
            question: item.question,
            drafted: item.drafted,
            beyond: item.beyond,
            truth: item.truth,
            findings: findings.map(WrittenFinding::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct WrittenFinding<'a> {
    design: Design,
    verdict: &'static str,
    reason: Reason,
    score: f32,
    trials: Vec<WrittenTrial<'a>>,
}

impl<'a> WrittenFinding<'a> {
    fn of(finding: &'a Finding) -> Self {
        let Finding { design, verdict, .. } = finding;
        Self {
            design: *design,
            verdict: verdict.label().as_str(),
            reason: verdict.reason,
            score: score(*design, verdict),
            trials: verdict.trials.iter().map(WrittenTrial::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct WrittenTrial<'a> {
    reason: Reason,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    timestamp: Option<StreamTime>,
    sha256: Option<&'a str>,
    caption: Option<&'a str>,
    premise: Option<&'a str>,
    probabilities: Option<Entailment>,
}

impl<'a> WrittenTrial<'a> {
    fn of(trial: &'a Trial) -> Self {
        let evidence = trial.evidence.as_ref();
        Self {
            reason: trial.reason,
            detail: &trial.detail,
            timestamp: evidence.map(|evidence| evidence.citation.at),
            sha256: evidence.map(|evidence| evidence.sha256.as_str()),
            caption: evidence.map(|evidence| evidence.caption.as_str()),
            premise: trial.premise.as_deref(),
            probabilities: trial.entailment,
        }
    }
}

#[cfg(test)]
mod tests;

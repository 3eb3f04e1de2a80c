//! A stored verdict beside the one that the same check gives now. Pure.
//!
//! # Decisions
//! - 2026-11-30: the head of a verdict repeats what its trials say, and must repeat it to the digit; only the judge's
//!   probabilities of then and now are given a tolerance. What nothing can be held against is told by `unchecked`.

use super::change::Change;
use super::probe::Source;
use crate::bus::wire::{Evidence, Trial, Verdict};
use crate::domain::{Clock, Entailment, Reason, StreamKind, StreamTime, WallTime};

/// Probabilities that differ by less are the same: another CPU rounds differently.
const SAME: f32 = 1e-3;
/// Times of day that differ by less are the same: seconds of a stream are written with fewer digits.
const SAME_NANOS: u64 = 1_000_000;

/// Everything that is not as it was; empty if the verdict holds.
pub(super) fn changes(was: &Verdict, is: &Verdict, source: &Source) -> Vec<Change> {
    let mut changes = torn(was);
    let roles =
        [("captioner", &was.models.captioner, &is.models.captioner), ("judge", &was.models.judge, &is.models.judge)];
    for (role, was, is) in roles.into_iter().filter(|(_, was, is)| was != is) {
        changes.push(Change::Model { role, was: was.clone(), is: is.clone() });
    }
    if was.threshold != is.threshold {
        changes.push(Change::Threshold { was: was.threshold, is: is.threshold });
    }
    for (trial, evidence) in shown(was) {
        changes.extend(subject(was, evidence, source));
        match shown(is).find(|(_, other)| other.timestamp == evidence.timestamp) {
            Some(found) => changes.extend(of_trial((trial, evidence), found)),
            None => changes.push(Change::Gone { at: evidence.timestamp }),
        }
    }
    changes.extend(frames(was, is));
    changes.extend(blind(was, is, source.kind));
    if was.reason != is.reason {
        changes.push(Change::Verdict { was: was.reason, is: is.reason });
    }
    changes
}

/// The trials that had a picture, in order.
fn shown(verdict: &Verdict) -> impl Iterator<Item = (&Trial, &Evidence)> {
    verdict.trials.iter().filter_map(|trial| Some((trial, trial.evidence.as_ref()?)))
}

/// What a verdict says at its head and does not say in its trials.
fn torn(verdict: &Verdict) -> Vec<Change> {
    let mut parts = Vec::new();
    if verdict.verdict != verdict.reason.label() {
        parts.push("label");
    }
    let entailed = verdict.trials.iter().find(|trial| trial.reason == Reason::Entailed);
    let deciding = entailed.or(verdict.trials.first());
    if deciding.is_some_and(|trial| trial.reason != verdict.reason) {
        parts.push("reason");
    }
    if verdict.evidence.as_ref() != deciding.and_then(|trial| trial.evidence.as_ref()) {
        parts.push("evidence");
    }
    if verdict.probabilities != deciding.and_then(|trial| trial.probabilities) {
        parts.push("probabilities");
    }
    if let Some((_, cited)) = shown(verdict).find(|(_, evidence)| evidence.neighbour == 0) {
        if verdict.clock != Some(cited.clock) {
            parts.push("clock");
        }
        if verdict.precision_s != Some(cited.precision_s) {
            parts.push("precision_s");
        }
    }
    // The times of day of a file count from one beginning.
    let beginnings: Vec<WallTime> = shown(verdict)
        .filter(|(_, evidence)| evidence.clock == Clock::Media)
        .map(|(_, evidence)| evidence.wall.minus(evidence.timestamp.saturating_since(StreamTime::ZERO)))
        .collect();
    if beginnings.iter().any(|beginning| !are_one_time(*beginning, beginnings[0])) {
        parts.push("time of day");
    }
    parts.into_iter().map(|part| Change::Torn { part }).collect()
}

/// Where the picture was published follows from the stream, and from the prefix where that is known.
fn subject(verdict: &Verdict, evidence: &Evidence, source: &Source) -> Option<Change> {
    let ending = format!(".evidence.{}", verdict.stream);
    let due = match &source.prefix {
        Some(prefix) => format!("{prefix}{ending}"),
        None if evidence.subject.ends_with(&ending) => return None,
        None => format!("PREFIX{ending}"),
    };
    field("subject", evidence.timestamp, &evidence.subject, &due)
}

fn of_trial((trial, evidence): (&Trial, &Evidence), (trial_now, evidence_now): (&Trial, &Evidence)) -> Vec<Change> {
    let at = evidence.timestamp;
    let mut changes = Vec::new();
    if evidence.sha256 != evidence_now.sha256 {
        let (was, is) = (evidence.sha256.to_string(), evidence_now.sha256.to_string());
        changes.push(Change::Frame { at, was, is });
    }
    if evidence.caption != evidence_now.caption {
        changes.push(Change::Caption { at, was: evidence.caption.clone(), is: evidence_now.caption.clone() });
    }
    if !are_near(trial.probabilities, trial_now.probabilities) {
        changes.push(Change::Probabilities { at, was: trial.probabilities, is: trial_now.probabilities });
    }
    if trial.reason != trial_now.reason {
        changes.push(Change::Weight { at, was: trial.reason, is: trial_now.reason });
    }
    let said = |premise: Option<&String>| premise.map_or_else(|| "none".to_owned(), |it| format!("{it:?}"));
    let [detail, detail_now] = [trial, trial_now].map(|trial| format!("{:?}", trial.detail));
    changes.extend(field("premise", at, &said(evidence.premise.as_ref()), &said(evidence_now.premise.as_ref())));
    // What an outage or a source says of itself has other words each time.
    if trial.probabilities.is_some() {
        changes.extend(field("detail", at, &detail, &detail_now));
    }
    changes.extend(field("neighbour", at, &evidence.neighbour.to_string(), &evidence_now.neighbour.to_string()));
    changes.extend(field("bytes", at, &evidence.bytes.to_string(), &evidence_now.bytes.to_string()));
    changes.extend(field("clock", at, evidence.clock.as_str(), evidence_now.clock.as_str()));
    changes.extend(field("precision_s", at, &evidence.precision_s.to_string(), &evidence_now.precision_s.to_string()));
    // When a file was watched is written nowhere else; what a camera recorded is stamped.
    if evidence_now.clock != Clock::Media && !are_one_time(evidence.wall, evidence_now.wall) {
        changes.extend(field("time of day", at, &evidence.wall.to_string(), &evidence_now.wall.to_string()));
    }
    changes
}

/// A change if both differ.
fn field(part: &'static str, at: StreamTime, was: &str, is: &str) -> Option<Change> {
    (was != is).then(|| Change::Field { part, at: Some(at), was: was.to_owned(), is: is.to_owned() })
}

/// Frames that are looked at now and are not held, and frames that are held twice or in another order.
fn frames(was: &Verdict, is: &Verdict) -> Vec<Change> {
    let times = |verdict| shown(verdict).map(|(_, evidence)| evidence.timestamp).collect::<Vec<StreamTime>>();
    let (held, looked_at) = (times(was), times(is));
    let unseen: Vec<Change> =
        looked_at.iter().filter(|at| !held.contains(at)).map(|at| Change::Unseen { at: *at }).collect();
    let is_known = held.iter().all(|at| looked_at.contains(at));
    if unseen.is_empty() && is_known && held != looked_at {
        let told = |times: &[StreamTime]| times.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (was, is) = (told(&held), told(&looked_at));
        return vec![Change::Field { part: "order of the frames", at: None, was, is }];
    }
    unseen
}

/// Trials without a picture. Those of a camera's neighbours depend on what was recorded by then. One more than was held
/// is none: beyond the end of a file no sample was.
fn blind(was: &Verdict, is: &Verdict, kind: StreamKind) -> Vec<Change> {
    let reasons = |trials: &[Trial]| {
        trials.iter().filter(|trial| trial.evidence.is_none()).map(|trial| trial.reason).collect::<Vec<Reason>>()
    };
    let (Some((cited, rest)), Some((cited_now, rest_now))) = (was.trials.split_first(), is.trials.split_first()) else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    let both_blind = cited.evidence.is_none() && cited_now.evidence.is_none();
    if both_blind && cited.reason != cited_now.reason {
        changes.push(Change::Weight { at: was.timestamp, was: cited.reason, is: cited_now.reason });
    }
    let mut left = reasons(rest_now);
    for reason in reasons(rest).into_iter().filter(|_| kind == StreamKind::File) {
        match left.iter().position(|other| *other == reason) {
            Some(place) => drop(left.remove(place)),
            None => changes.push(Change::Field {
                part: "trial without a frame",
                at: None,
                was: reason.as_str().to_owned(),
                is: "none".to_owned(),
            }),
        }
    }
    changes
}

fn are_one_time(one: WallTime, other: WallTime) -> bool {
    one.nanos().abs_diff(other.nanos()) < SAME_NANOS
}

fn are_near(was: Option<Entailment>, is: Option<Entailment>) -> bool {
    match (was, is) {
        (Some(a), Some(b)) => {
            let pairs = [(a.entailment, b.entailment), (a.neutral, b.neutral), (a.contradiction, b.contradiction)];
            pairs.into_iter().all(|(a, b)| (a - b).abs() < SAME)
        }
        (None, None) => true,
        _ => false,
    }
}

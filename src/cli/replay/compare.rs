//! A stored verdict beside the one that the same check gives now. Pure.

use std::fmt;

use serde::Serialize;

use crate::bus::wire::{Evidence, Trial, Verdict};
use crate::domain::{Entailment, Fingerprint, Reason, StreamTime};

/// Probabilities that differ by less are the same: another CPU rounds differently.
const SAME: f32 = 1e-3;

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub(super) enum Change {
    /// Another model, or the same with other weights or another calibration.
    Model {
        /// Its role.
        role: &'static str,
        /// Then.
        was: Fingerprint,
        /// Now.
        is: Fingerprint,
    },
    /// The threshold of entailment.
    Threshold {
        /// Then.
        was: f32,
        /// Now.
        is: f32,
    },
    /// The frame at this time has other bytes.
    Frame {
        /// When.
        at: StreamTime,
        /// SHA-256 then.
        was: String,
        /// SHA-256 now.
        is: String,
    },
    /// The captioner says something else of it.
    Caption {
        /// When.
        at: StreamTime,
        /// Then.
        was: String,
        /// Now.
        is: String,
    },
    /// The judge says something else.
    Probabilities {
        /// When.
        at: StreamTime,
        /// Then; absent if it did not come to judging.
        was: Option<Entailment>,
        /// Now.
        is: Option<Entailment>,
    },
    /// This frame alone would be weighed otherwise.
    Weight {
        /// When.
        at: StreamTime,
        /// Then.
        was: Reason,
        /// Now.
        is: Reason,
    },
    /// This frame is not looked at any more, or gives no picture.
    Gone {
        /// When.
        at: StreamTime,
    },
    /// This frame is looked at now, and the stored verdict does not hold it.
    Unseen {
        /// When.
        at: StreamTime,
    },
    /// The stored verdict contradicts itself: somebody changed it.
    Torn {
        /// What is not as its trials say.
        part: &'static str,
    },
    /// The verdict itself.
    Verdict {
        /// Then.
        was: Reason,
        /// Now.
        is: Reason,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let odds = |odds: &Option<Entailment>| match odds {
            Some(p) => format!("{:.3}/{:.3}/{:.3}", p.entailment, p.neutral, p.contradiction),
            None => "none".to_owned(),
        };
        match self {
            Self::Model { role, was, is } => write!(f, "the {role} was {was}, is {is}"),
            Self::Threshold { was, is } => write!(f, "the threshold was {was}, is {is}"),
            Self::Frame { at, was, is } => write!(f, "the frame at {at} was {was}, is {is}"),
            Self::Caption { at, was, is } => write!(f, "the caption at {at} was {was:?}, is {is:?}"),
            Self::Probabilities { at, was, is } => {
                write!(f, "the probabilities at {at} were {}, are {}", odds(was), odds(is))
            }
            Self::Weight { at, was, is } => {
                write!(f, "the frame at {at} alone was {}, is {}", was.as_str(), is.as_str())
            }
            Self::Gone { at } => write!(f, "the frame at {at} was looked at, and is not now"),
            Self::Unseen { at } => write!(f, "the frame at {at} is looked at, and is not among the stored ones"),
            Self::Torn { part } => {
                write!(f, "the stored verdict contradicts itself: its {part} is not that of its trials")
            }
            Self::Verdict { was, is } => write!(f, "the verdict was {}, is {}", was.as_str(), is.as_str()),
        }
    }
}

/// Everything that is not as it was; empty if the verdict holds.
pub(super) fn changes(was: &Verdict, is: &Verdict) -> Vec<Change> {
    let mut changes = torn(was);
    let roles =
        [("captioner", &was.models.captioner, &is.models.captioner), ("judge", &was.models.judge, &is.models.judge)];
    for (role, was, is) in roles.into_iter().filter(|(_, was, is)| was != is) {
        changes.push(Change::Model { role, was: was.clone(), is: is.clone() });
    }
    if was.threshold != is.threshold {
        changes.push(Change::Threshold { was: was.threshold, is: is.threshold });
    }
    for (trial, evidence) in was.trials.iter().filter_map(|trial| Some((trial, trial.evidence.as_ref()?))) {
        let found = is.trials.iter().find_map(|trial| {
            let other = trial.evidence.as_ref().filter(|other| other.timestamp == evidence.timestamp)?;
            Some((trial, other))
        });
        match found {
            Some(found) => changes.extend(of_trial((trial, evidence), found)),
            None => changes.push(Change::Gone { at: evidence.timestamp }),
        }
    }
    let known: Vec<StreamTime> = times(was).collect();
    changes.extend(times(is).filter(|at| !known.contains(at)).map(|at| Change::Unseen { at }));
    if was.reason != is.reason {
        changes.push(Change::Verdict { was: was.reason, is: is.reason });
    }
    changes
}

/// The times of the frames that a verdict holds.
fn times(verdict: &Verdict) -> impl Iterator<Item = StreamTime> + '_ {
    verdict.trials.iter().filter_map(|trial| Some(trial.evidence.as_ref()?.timestamp))
}

/// Whether both are of the same frame and say the same of it.
fn is_of(one: &Evidence, other: &Evidence) -> bool {
    (one.timestamp, &one.sha256, &one.caption, &one.premise)
        == (other.timestamp, &other.sha256, &other.caption, &other.premise)
}

/// What a verdict says at its head and does not say in its trials.
fn torn(verdict: &Verdict) -> Vec<Change> {
    let mut parts = Vec::new();
    if verdict.verdict != verdict.reason.label() {
        parts.push("label");
    }
    if let Some(head) = &verdict.evidence {
        let of_head = |trial: &&Trial| trial.evidence.as_ref().is_some_and(|evidence| is_of(evidence, head));
        match verdict.trials.iter().find(of_head) {
            None => parts.push("evidence"),
            Some(trial) if !are_near(trial.probabilities, verdict.probabilities) => parts.push("probabilities"),
            Some(_) => {}
        }
    } else if verdict.probabilities.is_some() {
        parts.push("probabilities");
    }
    parts.into_iter().map(|part| Change::Torn { part }).collect()
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
    changes
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::wire::{Models, V1};
    use crate::domain::{Clock, Design, Sha256, StreamId, VerdictId, WallTime};

    fn evidence(seconds: u64) -> Evidence {
        Evidence {
            subject: "gvqa.evidence.cam".into(),
            sha256: Sha256::of(b"jpeg"),
            bytes: 4,
            omitted: None,
            timestamp: StreamTime::from_nanos(seconds * 1_000_000_000),
            wall: WallTime::now(),
            clock: Clock::Media,
            precision_s: 0.02,
            neighbour: 0,
            caption: "There is a car.".into(),
            premise: Some("There is a car.".into()),
        }
    }

    fn verdict() -> Verdict {
        let odds = Entailment { entailment: 0.2, neutral: 0.7, contradiction: 0.1 };
        let trial = |seconds| Trial {
            reason: Reason::Neutral,
            detail: String::new(),
            probabilities: Some(odds),
            evidence: Some(evidence(seconds)),
        };
        let model = Fingerprint::new("m@1");
        Verdict {
            v: V1,
            verdict_id: VerdictId::generate(),
            question_id: None,
            stream: StreamId::new("cam").expect("a token"),
            claim: "There is a dog.".into(),
            repaired_from: None,
            timestamp: StreamTime::from_nanos(10_000_000_000),
            clock: Some(Clock::Media),
            precision_s: Some(0.02),
            verdict: Reason::Neutral.label(),
            reason: Reason::Neutral,
            design: Design::CaptionNli,
            probabilities: Some(odds),
            threshold: 0.5,
            models: Models { drafter: None, captioner: model.clone(), judge: model },
            evidence: Some(evidence(10)),
            trials: vec![trial(10), trial(5)],
        }
    }

    #[test]
    fn the_same_check_changes_nothing() {
        let mut again = verdict();
        again.trials[0].probabilities = Some(Entailment { entailment: 0.2004, neutral: 0.6996, contradiction: 0.1 });
        assert_eq!(changes(&verdict(), &again), []);
    }

    #[test]
    fn every_change_is_told() {
        let table: [(fn(&mut Verdict), &str); 8] = [
            (|v| v.models.judge = Fingerprint::new("m@2"), "the judge was m@1, is m@2"),
            (|v| v.threshold = 0.6, "the threshold was 0.5, is 0.6"),
            (
                |v| v.trials[1].evidence = Some(Evidence { sha256: Sha256::of(b"x"), ..evidence(5) }),
                "the frame at 5.000 s was",
            ),
            (|v| v.trials[0].evidence = Some(Evidence { caption: "A dog.".into(), ..evidence(10) }), "is \"A dog.\""),
            (|v| v.trials[0].probabilities = None, "were 0.200/0.700/0.100, are none"),
            (|v| v.trials[0].reason = Reason::Contradicted, "alone was neutral, is contradicted"),
            (|v| drop(v.trials.pop()), "the frame at 5.000 s was looked at, and is not now"),
            (|v| v.reason = Reason::Entailed, "the verdict was neutral, is entailed"),
        ];
        for (change, due) in table {
            let mut now = verdict();
            change(&mut now);
            let told: Vec<String> = changes(&verdict(), &now).iter().map(ToString::to_string).collect();
            assert!(told.len() == 1 && told[0].contains(due), "{told:?} instead of {due:?}");
        }
    }

    #[test]
    fn a_verdict_that_was_tampered_with_is_not_the_same() {
        let sure = Entailment { entailment: 0.99, neutral: 0.01, contradiction: 0.0 };
        let table: [(fn(&mut Verdict, Entailment), &[&str]); 6] = [
            (|v, _| v.verdict = Reason::Entailed.label(), &["its label"]),
            (|v, sure| v.probabilities = Some(sure), &["its probabilities"]),
            (|v, _| v.evidence = Some(Evidence { caption: "A dog.".into(), ..evidence(10) }), &["its evidence"]),
            (|v, _| v.evidence = Some(Evidence { premise: Some("A dog.".into()), ..evidence(10) }), &["its evidence"]),
            (|v, _| v.evidence = None, &["its probabilities"]),
            (
                |v, _| (v.trials, v.evidence, v.probabilities) = (Vec::new(), None, None),
                &["at 10.000 s is looked at, and is not", "at 5.000 s is looked at, and is not"],
            ),
        ];
        for (tamper, due) in table {
            let mut stored = verdict();
            tamper(&mut stored, sure);
            let told: Vec<String> = changes(&stored, &verdict()).iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), due.len(), "{told:?}");
            assert!(told.iter().zip(due).all(|(told, due)| told.contains(due)), "{told:?} instead of {due:?}");
        }
    }
}

//! What became of claims whose truth is known: the figures of the paper's tables. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::stats::{self, Point, Share};
use crate::domain::{Design, Label, Reason, Verdict};

/// One claim of known truth and what one design made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What kind of claim, or of question, it is.
    pub kind: String,
    /// Whether it is so.
    pub truth: bool,
    /// Whether a reader is told not to believe it.
    pub flagged: bool,
    /// The higher, the surer of the claim; see [`score`].
    pub score: f32,
    /// Why.
    pub reason: Reason,
    /// Whether some design of the run found no frame at the cited time: then none counts it, so that all count the same.
    pub without_frame: bool,
}

/// Whether a verdict tells its reader not to believe the claim. The design `none` tells nothing.
pub fn is_flagged(design: Design, verdict: &Verdict) -> bool {
    design != Design::None && verdict.label() == Label::Unverified
}

/// How sure a design is of a claim: the highest probability of entailment among the frames that were tried. What was
/// refused whatever its probability scores 0, what is not checked scores 1.
pub fn score(design: Design, verdict: &Verdict) -> f32 {
    if design == Design::None {
        return 1.0;
    }
    let of = |reason: Reason, entailment: Option<f32>| match entailment {
        Some(p) if reason == Reason::Entailed || p < verdict.threshold => p,
        _ => 0.0,
    };
    let tried = verdict.trials.iter().map(|trial| of(trial.reason, trial.entailment.map(|odds| odds.entailment)));
    let best = tried.fold(0.0, f32::max);
    if is_flagged(design, verdict) && best >= verdict.threshold { 0.0 } else { best }
}

/// The figures of one group of claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Of the false claims, those that are flagged.
    pub caught: Share,
    /// Of the true claims, those that are flagged all the same.
    pub flagged: Share,
}

impl Tally {
    /// Counts.
    pub fn of<'a>(claims: impl IntoIterator<Item = &'a Judged>) -> Self {
        claims.into_iter().fold(Self::default(), |mut tally, claim| {
            let share = if claim.truth { &mut tally.flagged } else { &mut tally.caught };
            *share = share.with(claim.flagged);
            tally
        })
    }

    /// The mean of "false claims caught" and "true claims let through"; `None` unless there are both.
    pub fn balanced(&self) -> Option<f64> {
        Some(f64::midpoint(self.caught.value()?, 1.0 - self.flagged.value()?))
    }
}

/// How often a reason was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Reasons {
    /// For true claims.
    pub of_true: usize,
    /// For false claims.
    pub of_false: usize,
}

/// How often which relation between evidence and claim decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Labels {
    /// The caption says so.
    pub entailed: usize,
    /// It does not tell.
    pub neutral: usize,
    /// It says otherwise.
    pub contradicted: usize,
    /// It did not come to judging.
    pub unjudged: usize,
}

impl Labels {
    fn add(&mut self, reason: Reason) {
        *match reason {
            Reason::Entailed => &mut self.entailed,
            Reason::Neutral => &mut self.neutral,
            Reason::Contradicted => &mut self.contradicted,
            _ => &mut self.unjudged,
        } += 1;
    }
}

/// All figures of one design on one set of claims.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// All claims of known truth.
    pub all: Tally,
    /// The same by kind.
    pub by_kind: BTreeMap<String, Tally>,
    /// The mean of "caught" and "let through".
    pub balanced_accuracy: Option<f64>,
    /// Area under the ROC curve of the score.
    pub auroc: Option<f64>,
    /// By kind and truth, which relation decided.
    pub labels: BTreeMap<String, Labels>,
    /// Verdicts by reason.
    pub reasons: BTreeMap<&'static str, Reasons>,
    /// Precision and recall over the threshold.
    pub curve: Vec<Point>,
    /// Claims that a model did not answer for: an outage catches nothing, so they count nowhere but under `reasons` and
    /// `labels`.
    pub unavailable: usize,
    /// Claims that cite a time of which there is no frame, such as one beyond the end of a clip: whoever wrote them is
    /// wrong about the clip, and no design has caught anything. They count nowhere but under `reasons` and `labels`.
    pub without_frame: usize,
}

impl Summary {
    /// Counts.
    pub fn of(claims: &[Judged]) -> Self {
        let answered: Vec<&Judged> = claims.iter().filter(|claim| is_counted(claim)).collect();
        let mut kinds: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        let mut reasons: BTreeMap<&'static str, Reasons> = BTreeMap::new();
        let mut labels: BTreeMap<String, Labels> = BTreeMap::new();
        for claim in claims {
            let truth = if claim.truth { "true" } else { "fabricated" };
            labels.entry(format!("{}, {truth}", claim.kind)).or_default().add(claim.reason);
            let reason = reasons.entry(claim.reason.as_str()).or_default();
            *(if claim.truth { &mut reason.of_true } else { &mut reason.of_false }) += 1;
        }
        for claim in &answered {
            kinds.entry(&claim.kind).or_default().push(claim);
        }
        let scored: Vec<(f32, bool)> = answered.iter().map(|claim| (claim.score, claim.truth)).collect();
        let all = Tally::of(answered.iter().copied());
        Self {
            all,
            by_kind: kinds.into_iter().map(|(kind, claims)| (kind.to_owned(), Tally::of(claims))).collect(),
            balanced_accuracy: all.balanced(),
            auroc: stats::auroc(&scored),
            labels,
            reasons,
            curve: stats::curve(&scored),
            unavailable: claims.iter().filter(|claim| is_unavailable(claim)).count(),
            without_frame: claims.iter().filter(|claim| claim.without_frame).count(),
        }
    }
}

/// Whether a model did not answer for it, although there was a frame.
fn is_unavailable(claim: &Judged) -> bool {
    claim.reason == Reason::ModelUnavailable && !claim.without_frame
}

/// Whether it says something about the design.
fn is_counted(claim: &Judged) -> bool {
    !claim.without_frame && !is_unavailable(claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Citation, Claim, Entailment, Fingerprint, ModelSet, StreamId, StreamTime, Trial, VerdictId};

    fn verdict(trials: &[(Reason, Option<f32>)], reason: Reason) -> Verdict {
        let trial = |(reason, entailment): &(Reason, Option<f32>)| Trial {
            reason: *reason,
            detail: String::new(),
            evidence: None,
            entailment: entailment.map(|entailment| Entailment { entailment, neutral: 0.0, contradiction: 0.0 }),
            premise: None,
        };
        let citation = Citation { stream: StreamId::new("cam").expect("a token"), at: StreamTime::ZERO };
        let model = Fingerprint::new("m");
        Verdict {
            id: VerdictId::generate(),
            question: None,
            claim: Claim { text: "A.".into(), citation },
            repaired_from: None,
            timing: None,
            design: Design::CaptionNli,
            reason,
            decided_by: None,
            trials: trials.iter().map(trial).collect(),
            threshold: 0.5,
            models: ModelSet { drafter: None, captioner: model.clone(), judge: model },
        }
    }

    #[test]
    fn the_score_follows_the_verdict() {
        use Reason::{Contradicted, Entailed, Neutral, NoFrame, Unchecked};
        let table: [(Design, &[(Reason, Option<f32>)], Reason, f32, bool); 7] = [
            (Design::None, &[], Unchecked, 1.0, false),
            (Design::CaptionNli, &[(Entailed, Some(0.9))], Entailed, 0.9, false),
            (Design::CaptionNli, &[(Neutral, Some(0.3)), (Entailed, Some(0.8))], Entailed, 0.8, false),
            (Design::CaptionNli, &[(Neutral, Some(0.3)), (Contradicted, Some(0.01))], Neutral, 0.3, true),
            (Design::CaptionNli, &[(NoFrame, None)], NoFrame, 0.0, true),
            // Refused although the judge was sure: by a rule, or because the cited frame forbids its neighbour.
            (Design::CaptionNli, &[(Neutral, Some(0.97))], Neutral, 0.0, true),
            (Design::CaptionNli, &[(Contradicted, Some(0.1)), (Entailed, Some(0.9))], Contradicted, 0.0, true),
        ];
        for (design, trials, reason, due, flagged) in table {
            let verdict = verdict(trials, reason);
            assert_eq!((score(design, &verdict), is_flagged(design, &verdict)), (due, flagged), "{trials:?}");
        }
    }

    #[test]
    fn claims_are_counted_by_truth_and_kind() {
        let judged = |kind: &str, truth, flagged, score, reason| Judged {
            kind: kind.into(),
            truth,
            flagged,
            score,
            reason,
            without_frame: false,
        };
        let summary = Summary::of(&[
            judged("a", true, false, 0.9, Reason::Entailed),
            judged("a", true, true, 0.2, Reason::Neutral),
            judged("a", false, true, 0.1, Reason::Neutral),
            judged("b", false, false, 0.8, Reason::Entailed),
        ]);
        let share = |hits, of| Share { hits, of };
        assert_eq!(summary.all, Tally { caught: share(1, 2), flagged: share(1, 2) });
        assert_eq!(summary.by_kind["b"], Tally { caught: share(0, 1), flagged: share(0, 0) });
        assert_eq!((summary.balanced_accuracy, summary.auroc), (Some(0.5), Some(0.75)));
        assert_eq!(summary.reasons["neutral"], Reasons { of_true: 1, of_false: 1 });
        assert_eq!(summary.by_kind["b"].balanced(), None);
        let due = Labels { entailed: 1, neutral: 1, ..Labels::default() };
        assert_eq!((summary.labels["a, true"], summary.labels.len()), (due, 3));
    }

    #[test]
    fn an_outage_catches_nothing() {
        let judged =
            |truth, reason| Judged { kind: "a".into(), truth, flagged: true, score: 0.0, reason, without_frame: false };
        let summary = Summary::of(&[judged(false, Reason::ModelUnavailable), judged(true, Reason::Neutral)]);
        assert_eq!(summary.all, Tally { caught: Share { hits: 0, of: 0 }, flagged: Share { hits: 1, of: 1 } });
        assert_eq!((summary.unavailable, summary.reasons["model_unavailable"].of_false), (1, 1));
        assert_eq!(summary.labels["a, fabricated"].unjudged, 1);
    }
}

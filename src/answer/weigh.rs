//! From probabilities to a verdict. Pure.
//!
//! # Decisions
//! - *Sentence by sentence.* A caption is several statements about one picture; the judge sees one at a time and the
//!   strongest decides. Judged as one premise, small entailment models fail on most captions.
//! - *Entailment before contradiction, unless the contradiction is near certain.* Sentences of one caption describe
//!   different things ("Two people are on the left." "Five people are on the right."), and a judge calls a claim about
//!   the one contradicted by the other; so a sentence that entails outweighs others. But a part entails what the whole
//!   denies: "Six people wear black." entails "There are six people." beside "There are eight people, a car and a
//!   van.". There the judge is surest of the contradiction, so from `VETO` on it prevails. Measured on captions of two
//!   real clips (2026-11-30): of 35 wrong totals, 27 were entailed by a part, and all 27 were contradicted by another
//!   sentence with at least 0.97; of 215 true claims, none was with 0.95, one with 0.9.
//! - *Both thresholds, and the top class.* A relation counts only if its probability reaches the judge's fitted
//!   threshold and exceeds the two others. NaN counts as nothing.
//! - *Across frames.* The first frame that entails grounds the claim. If none does, the cited frame speaks: its reason
//!   is the verdict's reason even when a neighbour says more, because the claim is about the cited frame. So a claim
//!   that cites a gap stays `no_frame` unless a neighbour entails it.

use crate::domain::{Caption, Entailment, Reason, Trial};
use crate::seams::Pair;

/// More sentences than this are not judged: a caption that long is a model running on.
const MAX_SENTENCES: usize = 32;

/// Probability of contradiction from which one sentence outweighs another one that entails.
const VETO: f32 = 0.95;

/// One pair for each sentence of the caption.
pub(super) fn pairs(caption: &Caption, hypothesis: &str) -> Vec<Pair> {
    let pair = |sentence: &str| Pair { premise: sentence.to_owned(), hypothesis: hypothesis.to_owned() };
    caption.sentences().take(MAX_SENTENCES).map(pair).collect()
}

/// What one frame says: the reason, and the index of the sentence that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weighed {
    /// `Entailed`, `Contradicted` or `Neutral`.
    pub(super) reason: Reason,
    /// The deciding sentence; for `Neutral` the one nearest to entailment; `None` without sentences.
    pub(super) sentence: Option<usize>,
}

/// Weighs the judge's opinion of every sentence of one caption.
pub(super) fn frame(opinions: &[Entailment], threshold: f32) -> Weighed {
    let strongest = |of: fn(&Entailment) -> f32| {
        let ranked = opinions.iter().enumerate().filter(|(_, opinion)| of(opinion).is_finite());
        // The first of equals, so that the same numbers always point at the same sentence.
        ranked.rev().max_by(|(_, a), (_, b)| of(a).total_cmp(&of(b))).map(|(i, _)| i)
    };
    let counting = |holds: fn(&Entailment, f32) -> bool, of: fn(&Entailment) -> f32| {
        let ranked = opinions.iter().enumerate().filter(|(_, opinion)| holds(opinion, threshold));
        ranked.rev().max_by(|(_, a), (_, b)| of(a).total_cmp(&of(b))).map(|(i, _)| i)
    };
    let entailing = counting(entails, |opinion| opinion.entailment);
    let contradicting = counting(contradicts, |opinion| opinion.contradiction);
    let vetoed = contradicting.is_some_and(|i| opinions[i].contradiction >= VETO);
    match (entailing, contradicting) {
        (Some(i), _) if !vetoed => Weighed { reason: Reason::Entailed, sentence: Some(i) },
        (_, Some(i)) => Weighed { reason: Reason::Contradicted, sentence: Some(i) },
        _ => Weighed { reason: Reason::Neutral, sentence: strongest(|opinion| opinion.entailment) },
    }
}

/// The verdict over all frames that were tried, the cited one first: the reason, and the trial that decided.
pub(super) fn claim(trials: &[Trial]) -> (Reason, Option<usize>) {
    match trials.iter().position(|trial| trial.reason == Reason::Entailed) {
        Some(i) => (Reason::Entailed, Some(i)),
        None => trials.first().map_or((Reason::Unchecked, None), |cited| (cited.reason, Some(0))),
    }
}

/// Whether a neighbouring frame may still change the verdict. It cannot if the claim is grounded already, or if a
/// model failed: the neighbour would need the same model.
pub(super) fn wants_neighbour(trials: &[Trial]) -> bool {
    trials.iter().all(|trial| !matches!(trial.reason, Reason::Entailed | Reason::ModelUnavailable))
}

fn entails(opinion: &Entailment, threshold: f32) -> bool {
    let Entailment { entailment, neutral, contradiction } = *opinion;
    entailment >= threshold && entailment > neutral && entailment > contradiction
}

fn contradicts(opinion: &Entailment, threshold: f32) -> bool {
    let Entailment { entailment, neutral, contradiction } = *opinion;
    contradiction >= threshold && contradiction > neutral && contradiction > entailment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opinion(entailment: f32, neutral: f32, contradiction: f32) -> Entailment {
        Entailment { entailment, neutral, contradiction }
    }

    #[test]
    fn a_frame_entails_contradicts_or_does_not_tell() {
        let yes = opinion(0.9, 0.05, 0.05);
        let no = opinion(0.02, 0.08, 0.9);
        let open = opinion(0.2, 0.7, 0.1);
        let never = opinion(0.01, 0.02, 0.97);
        let table: [(&str, &[Entailment], Reason, Option<usize>); 16] = [
            ("no sentence", &[], Reason::Neutral, None),
            ("one entails", &[yes], Reason::Entailed, Some(0)),
            ("one contradicts", &[no], Reason::Contradicted, Some(0)),
            ("none tells", &[open], Reason::Neutral, Some(0)),
            ("the best of several", &[open, opinion(0.7, 0.2, 0.1), yes, no], Reason::Entailed, Some(2)),
            ("entailment outweighs contradiction", &[no, yes], Reason::Entailed, Some(1)),
            ("a near certain contradiction prevails", &[yes, never], Reason::Contradicted, Some(1)),
            ("even over certainty", &[never, opinion(1.0, 0.0, 0.0)], Reason::Contradicted, Some(0)),
            ("just below the veto", &[opinion(0.03, 0.03, 0.94), yes], Reason::Entailed, Some(1)),
            ("contradiction outweighs neutral", &[open, no], Reason::Contradicted, Some(1)),
            ("below the threshold", &[opinion(0.59, 0.21, 0.2)], Reason::Neutral, Some(0)),
            ("at the threshold", &[opinion(0.6, 0.2, 0.2)], Reason::Entailed, Some(0)),
            ("weak contradiction", &[opinion(0.2, 0.21, 0.59)], Reason::Neutral, Some(0)),
            ("the first of equals", &[yes, yes], Reason::Entailed, Some(0)),
            ("NaN is nothing", &[opinion(f32::NAN, f32::NAN, f32::NAN)], Reason::Neutral, None),
            ("NaN beside an opinion", &[opinion(0.9, f32::NAN, 0.1), open], Reason::Neutral, Some(0)),
        ];
        for (name, opinions, reason, sentence) in table {
            assert_eq!(frame(opinions, 0.6), Weighed { reason, sentence }, "{name}");
        }
    }

    #[test]
    fn a_low_threshold_still_needs_the_top_class() {
        assert_eq!(frame(&[opinion(0.4, 0.45, 0.15)], 0.3).reason, Reason::Neutral);
        assert_eq!(frame(&[opinion(0.4, 0.4, 0.2)], 0.3).reason, Reason::Neutral);
        assert_eq!(frame(&[opinion(0.4, 0.35, 0.25)], 0.3).reason, Reason::Entailed);
    }

    #[test]
    fn the_cited_frame_speaks_unless_one_entails() {
        use Reason::{Contradicted, DecodeError, Entailed, Expired, ModelUnavailable, Neutral, NoFrame, Unobservable};
        let table: [(&[Reason], Reason, usize); 9] = [
            (&[Entailed], Entailed, 0),
            (&[Neutral, Entailed], Entailed, 1),
            (&[Contradicted, Neutral, Entailed], Entailed, 2),
            (&[NoFrame, Contradicted, Neutral], NoFrame, 0),
            (&[Neutral, Contradicted], Neutral, 0),
            (&[Contradicted, Neutral], Contradicted, 0),
            (&[Unobservable, Neutral, DecodeError], Unobservable, 0),
            (&[Expired, NoFrame, NoFrame], Expired, 0),
            (&[ModelUnavailable], ModelUnavailable, 0),
        ];
        for (reasons, reason, decided_by) in table {
            assert_eq!(claim(&trials(reasons)), (reason, Some(decided_by)), "{reasons:?}");
        }
        assert_eq!(claim(&[]), (Reason::Unchecked, None));
    }

    #[test]
    fn a_neighbour_is_wanted_while_it_can_change_the_verdict() {
        for reason in Reason::ALL {
            let wanted = !matches!(reason, Reason::Entailed | Reason::ModelUnavailable);
            assert_eq!(wants_neighbour(&trials(&[reason])), wanted, "{reason:?}");
        }
    }

    fn trials(reasons: &[Reason]) -> Vec<Trial> {
        let trial = |reason: &Reason| Trial {
            reason: *reason,
            detail: String::new(),
            evidence: None,
            entailment: None,
            premise: None,
        };
        reasons.iter().map(trial).collect()
    }
}

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
//! - *Only a sentence about the same thing outweighs* (2026-11). "The van or truck is on the right." is read as a near
//!   certain contradiction of "A car is on the right." beside "The car is on the right.". The measured vetoes above were
//!   all by sentences that name the claim's subject.
//! - *Both thresholds, and the top class.* A relation counts only if its probability reaches the judge's fitted
//!   threshold and exceeds the two others. NaN counts as nothing.
//! - *What is stated must be said.* A sentence that lacks a number, colour, side, relation or denial of the claim cannot
//!   ground it ([`said`]); a caption that counts what the claim counts, and counts something else, rules it out for the
//!   neighbours too ([`counts`]). Both only ever refuse.
//! - *Silence says nothing* (2026-11). "Nothing is clear enough to be named." tells of the captioner, not of the place:
//!   it grounds no claim but the one that says the same, and it contradicts none.
//! - *Across frames.* The first frame that entails grounds the claim. If none does, the cited frame speaks: its reason
//!   is the verdict's reason even when a neighbour says more, because the claim is about the cited frame. A
//!   claim that cites a time without a frame, in a gap or past the end, stays `no_frame`: there is nothing that a
//!   neighbour could stand in for. Nor is there while nothing could be seen: what a frozen or covered camera shows before
//!   and after proves nothing about that time.

use super::counts::{self, Count};
use super::said;
use crate::domain::{Caption, Entailment, Reason, Trial, is_silent, says_the_same};
use crate::seams::Pair;

/// More sentences than this are not judged: a caption that long is a model running on.
const MAX_SENTENCES: usize = 32;

/// Probability of contradiction from which one sentence outweighs another one that entails.
const VETO: f32 = 0.95;

/// One pair for each sentence of the caption, and for each that follows from one by counting.
pub fn pairs(caption: &Caption, hypothesis: &str) -> Vec<Pair> {
    let mut premises: Vec<String> = caption.sentences().map(str::to_owned).collect();
    premises.extend(caption.sentences().flat_map(counts::spelt_out));
    let denied = caption.sentences().flat_map(|sentence| counts::denied(sentence, hypothesis));
    let restated = counts::restated(caption.sentences(), hypothesis);
    for made in denied.chain(restated) {
        if !premises.contains(&made) {
            premises.push(made);
        }
    }
    let pair = |premise: String| Pair { premise, hypothesis: hypothesis.to_owned() };
    premises.into_iter().take(MAX_SENTENCES).map(pair).collect()
}

/// What one frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// `Entailed`, `Contradicted` or `Neutral`.
    pub reason: Reason,
    /// The deciding sentence; for `Neutral` the one nearest to entailment; `None` without sentences.
    pub sentence: Option<usize>,
    /// Which rule decided; empty if the judge did.
    pub detail: String,
    /// No other frame may ground the claim: this one counts what it counts, and counts something else.
    pub is_firm: bool,
}

/// Weighs the judge's opinion of every sentence of `caption`. `pairs`: as [`pairs`] made them of it, one opinion each.
pub fn frame(caption: &Caption, pairs: &[Pair], opinions: &[Entailment], threshold: f32) -> Weighed {
    // What is spelt out is a part of what was said: "A person wears red." denies nothing of the others.
    let said = caption.sentences().count();
    let claim = pairs.first().map_or("", |pair| pair.hypothesis.as_str());
    let counted = counts::compare(caption.sentences(), claim);
    if let Some((Count::More(number) | Count::Fewer(number), at)) = counted {
        let is_more = matches!(counted, Some((Count::More(_), _)));
        let reason = if is_more { Reason::Contradicted } else { Reason::Neutral };
        return Weighed { reason, sentence: Some(at), detail: format!("the caption counts {number}"), is_firm: true };
    }
    let missing = |i: usize| said::missing(&pairs[i].premise, claim);
    let thing = counts::only_thing(claim);
    let may_entail = |i: usize| {
        let premise = &pairs[i].premise;
        missing(i).is_none()
            && (!is_silent(premise) || says_the_same(premise, claim))
            && !counts::is_in_parts(premise, claim)
            && thing.as_ref().is_none_or(|thing| said::names(premise, thing))
    };
    let entailing = strongest(opinions, |i, odds| entails(odds, threshold) && may_entail(i), entailment);
    let contradicting = strongest(
        opinions,
        |i, odds| i < said && !is_silent(&pairs[i].premise) && contradicts(odds, threshold),
        contradiction,
    );
    let is_counted = matches!(counted, Some((Count::Holds, _)));
    let subject = said::subject(claim);
    let is_about_it = |i: usize| {
        !is_silent(&pairs[i].premise) && subject.as_ref().is_none_or(|subject| said::names(&pairs[i].premise, subject))
    };
    let vetoes = |(i, odds): (usize, &Entailment)| i < said && odds.contradiction >= VETO && is_about_it(i);
    let vetoed = !is_counted && opinions.iter().enumerate().any(vetoes);
    let judged = |reason, sentence| Weighed { reason, sentence, detail: String::new(), is_firm: false };
    match (entailing, contradicting) {
        (Some(i), _) if !vetoed => judged(Reason::Entailed, Some(i)),
        (_, Some(i)) => judged(Reason::Contradicted, Some(i)),
        _ => {
            let nearest = strongest(opinions, |_, odds| odds.entailment.is_finite(), entailment);
            let refused = nearest.filter(|i| entails(&opinions[*i], threshold) && !may_entail(*i));
            let why = |i: usize| missing(i).map_or_else(|| "no sentence says so much".to_owned(), |it| it.to_string());
            let detail = refused.map(why).unwrap_or_default();
            Weighed { detail, ..judged(Reason::Neutral, nearest) }
        }
    }
}

/// The first of those that hold with the highest value, so that the same numbers always point at the same sentence.
fn strongest(
    opinions: &[Entailment],
    holds: impl Fn(usize, &Entailment) -> bool,
    of: fn(&Entailment) -> f32,
) -> Option<usize> {
    let holding = opinions.iter().enumerate().filter(|(i, odds)| holds(*i, odds));
    holding.rev().max_by(|(_, a), (_, b)| of(a).total_cmp(&of(b))).map(|(i, _)| i)
}

fn entailment(odds: &Entailment) -> f32 {
    odds.entailment
}

fn contradiction(odds: &Entailment) -> f32 {
    odds.contradiction
}

/// The verdict over all frames that were tried, the cited one first: the reason, and the trial that decided.
pub fn claim(trials: &[Trial]) -> (Reason, Option<usize>) {
    match trials.iter().position(|trial| trial.reason == Reason::Entailed) {
        Some(i) => (Reason::Entailed, Some(i)),
        None => trials.first().map_or((Reason::Unchecked, None), |cited| (cited.reason, Some(0))),
    }
}

/// Whether a neighbouring frame may still change the verdict. It cannot if the claim is grounded already, or if a
/// model failed: the neighbour would need the same model; or if nothing was recorded, or to be seen, at the cited time.
pub fn wants_neighbour(trials: &[Trial]) -> bool {
    let settled = |reason| matches!(reason, Reason::Entailed | Reason::ModelUnavailable);
    trials.first().is_some_and(|cited| !matches!(cited.reason, Reason::NoFrame | Reason::Unobservable))
        && trials.iter().all(|trial| !settled(trial.reason))
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

    /// Sentences without anything that can be looked for.
    fn weighed(opinions: &[Entailment], threshold: f32) -> Weighed {
        let pair = Pair { premise: "It rains.".into(), hypothesis: "It rains.".into() };
        let caption = Caption::new("It rains. ".repeat(opinions.len()));
        frame(&caption, &vec![pair; opinions.len()], opinions, threshold)
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
            let weighed = weighed(opinions, 0.6);
            assert_eq!((weighed.reason, weighed.sentence), (reason, sentence), "{name}");
        }
    }

    #[test]
    fn a_low_threshold_still_needs_the_top_class() {
        assert_eq!(weighed(&[opinion(0.4, 0.45, 0.15)], 0.3).reason, Reason::Neutral);
        assert_eq!(weighed(&[opinion(0.4, 0.4, 0.2)], 0.3).reason, Reason::Neutral);
        assert_eq!(weighed(&[opinion(0.4, 0.35, 0.25)], 0.3).reason, Reason::Entailed);
    }

    #[test]
    fn rules_refuse_what_the_judge_lets_pass() {
        let sure = opinion(0.99, 0.005, 0.005);
        let never = opinion(0.005, 0.005, 0.99);
        let street = Caption::new("There are about eight people and two cars. About six people wear black.");
        let table = [
            // The claim, what the judge says of the sentences, the verdict, the rule, whether neighbours may help.
            ("There are about six people.", [sure, sure], Reason::Contradicted, "the caption counts 8", true),
            ("There are about ten people.", [sure, sure], Reason::Neutral, "the caption counts 8", true),
            ("There are about eight people.", [sure, never], Reason::Entailed, "", false),
            ("There is a car.", [never, never], Reason::Entailed, "", false),
            ("The people are near the car.", [sure, sure], Reason::Neutral, "\"near\" is not said", false),
            ("There is one person.", [sure, sure], Reason::Contradicted, "the caption counts 8", true),
            ("There is an elephant.", [sure, sure], Reason::Neutral, "no sentence says so much", false),
            ("Six people wear red.", [sure, sure], Reason::Neutral, "the number 6 is not said", false),
            ("There is no car.", [sure, sure], Reason::Neutral, "no sentence denies it", false),
            ("The people are friends.", [sure, never], Reason::Contradicted, "", false),
        ];
        for (claim, [first, second], reason, detail, is_firm) in table {
            let pairs = pairs(&street, claim);
            assert_eq!(pairs.len(), 7, "{pairs:?}");
            // Those spelt out say what they say: "There is a car." entails itself.
            let opinions: Vec<Entailment> =
                pairs.iter().map(|pair| if pair.premise == claim { sure } else { second }).collect();
            let opinions: Vec<Entailment> = [first].into_iter().chain(opinions.into_iter().skip(1)).collect();
            let weighed = frame(&street, &pairs, &opinions, 0.6);
            assert_eq!((weighed.reason, &*weighed.detail, weighed.is_firm), (reason, detail, is_firm), "{claim}");
        }
    }

    #[test]
    fn silence_grounds_only_itself_and_contradicts_nothing() {
        let silent = Caption::new("Nothing is clear enough to be named.");
        let (sure, never) = (opinion(0.99, 0.005, 0.005), opinion(0.005, 0.005, 0.99));
        for (claim, said, reason) in [
            ("Nothing is clear enough to be named.", sure, Reason::Entailed),
            ("There is nothing.", sure, Reason::Neutral),
            ("There are no people.", sure, Reason::Neutral),
            ("There are people.", never, Reason::Neutral),
        ] {
            let pairs = pairs(&silent, claim);
            assert_eq!(frame(&silent, &pairs, &[said], 0.6).reason, reason, "{claim}");
        }
        let dark = Caption::new("The picture is dark.");
        assert_eq!(frame(&dark, &pairs(&dark, "It is dark."), &[sure], 0.6).reason, Reason::Entailed, "the control");
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
            let final_ones = [Reason::Entailed, Reason::ModelUnavailable, Reason::NoFrame, Reason::Unobservable];
            let wanted = !final_ones.contains(&reason);
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

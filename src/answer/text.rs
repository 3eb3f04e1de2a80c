//! The plain paragraph of an answer. Pure.
//!
//! Only grounded claims are told. What could not be checked or did not hold is never told as a fact.

use super::hypothesis::strip_times;
use super::survey::denies;
use crate::domain::{Citation, Design, Label, Reason, Verdict};

/// Why there was nothing to draft from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nothing {
    /// The streams asked about hold no moment at all.
    NoMoments,
    /// They do, but none in the window asked about.
    EmptyWindow,
    /// The time asked about has not come yet.
    Future,
    /// Several times are asked about that lie apart, or all but one.
    Apart,
    /// Moments were found, and no claim could be drafted from them.
    NoClaims,
    /// What was confirmed is beside the point.
    BesideThePoint,
}

/// One sentence instead of an answer.
pub(super) fn nothing(why: Nothing) -> String {
    match why {
        Nothing::NoMoments => "Nothing has been seen yet, so there is nothing to answer from.",
        Nothing::EmptyWindow => "Nothing was seen in the time asked about, so there is nothing to answer from.",
        Nothing::Future => "The time asked about lies in the future, so nothing has been seen of it yet.",
        Nothing::Apart => "The question asks about several times that lie apart; ask about one of them at a time.",
        Nothing::NoClaims => "What was seen says nothing about the question.",
        Nothing::BesideThePoint => "What was confirmed says nothing about the question.",
    }
    .to_owned()
}

/// What leads to claims that were seen at other times than asked about, where others were seen then …
const ALSO_ELSEWHERE: &str = "At other times than asked about: ";
/// … and where none was.
const ONLY_ELSEWHERE: &str = "Nothing that was seen in the time asked about proves an answer; at other times: ";

/// The grounded claims as one paragraph, or one sentence that says why there are none. What was seen outside the time
/// asked about (`is_asked`) comes last and is told as such.
pub(super) fn paragraph(verdicts: &[&Verdict], design: Design, is_asked: impl Fn(&Citation) -> bool) -> String {
    if design == Design::None {
        return format!("Not checked: {}", sentences(verdicts.iter().copied()).join(" "));
    }
    let grounded = verdicts.iter().copied().filter(|verdict| verdict.label() == Label::Grounded);
    let (within, elsewhere): (Vec<_>, Vec<_>) = grounded.partition(|verdict| is_asked(&verdict.claim.citation));
    let (within, mut elsewhere) = (sentences(within.into_iter()), sentences(elsewhere.into_iter()));
    elsewhere.retain(|sentence| !within.contains(sentence));
    let (within, elsewhere) = (within.join(" "), elsewhere.join(" "));
    match (within.is_empty(), elsewhere.is_empty()) {
        (false, true) => return within,
        (false, false) => return format!("{within} {ALSO_ELSEWHERE}{elsewhere}"),
        (true, false) => return format!("{ONLY_ELSEWHERE}{elsewhere}"),
        (true, true) => {}
    }
    let unchecked = verdicts.iter().all(|verdict| !matches!(verdict.reason, Reason::Contradicted | Reason::Neutral));
    if unchecked {
        "The evidence could not be checked, so nothing can be said for certain.".to_owned()
    } else {
        "Nothing that could be said about it was confirmed by the video.".to_owned()
    }
}

/// Sentences one after the other, none of them twice.
pub(super) fn each_once(sentences: impl Iterator<Item = String>) -> String {
    let mut told: Vec<String> = Vec::new();
    for sentence in sentences {
        if !told.contains(&sentence) {
            told.push(sentence);
        }
    }
    told.join(" ")
}

/// Distinct sentences in the order of the claims.
fn sentences<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for verdict in verdicts {
        let sentence = strip_times(&verdict.claim.text);
        // That something is not there was checked for one instant, so it is told with it.
        let sentence =
            if denies(&sentence) { format!("At {}: {sentence}", verdict.claim.citation.at) } else { sentence };
        if !sentence.is_empty() && !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Claim, Fingerprint, ModelSet, StreamId, StreamTime, VerdictId};

    fn verdict(text: &str, reason: Reason) -> Verdict {
        let citation = Citation { stream: StreamId::new("cam").expect("a token"), at: StreamTime::ZERO };
        let model = Fingerprint::new("fake");
        Verdict {
            id: VerdictId::generate(),
            question: None,
            claim: Claim { text: text.into(), citation },
            repaired_from: None,
            timing: None,
            design: Design::CaptionNli,
            reason,
            decided_by: None,
            trials: vec![],
            threshold: 0.5,
            models: ModelSet { drafter: None, captioner: model.clone(), judge: model },
        }
    }

    #[test]
    fn only_grounded_claims_are_told() {
        let verdicts = [
            verdict("At 5 s, there is a car.", Reason::Entailed),
            verdict("There is a dog.", Reason::Contradicted),
            verdict("There is a car.", Reason::Entailed),
            verdict("Two people stand.", Reason::Entailed),
        ];
        assert_eq!(
            paragraph(&verdicts.iter().collect::<Vec<_>>(), Design::CaptionNli, |_| true),
            "There is a car. Two people stand."
        );
    }

    #[test]
    fn what_was_seen_at_other_times_is_told_once_as_such() {
        let at = |text: &str, seconds: f64| {
            let mut verdict = verdict(text, Reason::Entailed);
            verdict.claim.citation.at = StreamTime::from_seconds(seconds).expect("a time");
            verdict
        };
        let told = |verdicts: &[Verdict]| {
            let asked = |place: &Citation| place.at.seconds() <= 10.0;
            paragraph(&verdicts.iter().collect::<Vec<_>>(), Design::CaptionNli, asked)
        };
        let (car, man, same, dog) = (
            at("There is a car.", 5.0),
            at("There is a man.", 15.0),
            at("There is a car.", 15.0),
            at("There is a dog.", 20.0),
        );
        assert_eq!(told(&[car.clone(), same.clone()]), "There is a car.");
        assert_eq!(
            told(&[man.clone(), car, same, dog]),
            "There is a car. At other times than asked about: There is a man. There is a dog."
        );
        assert_eq!(
            told(&[man]),
            "Nothing that was seen in the time asked about proves an answer; at other times: There is a man."
        );
    }

    #[test]
    fn what_was_not_confirmed_is_not_told() {
        for reason in Reason::ALL.into_iter().filter(|reason| *reason != Reason::Entailed) {
            let text = paragraph(&[&verdict("There is a dog.", reason)], Design::CaptionNli, |_| true);
            assert!(!text.contains("dog"), "{reason:?}: {text}");
            let checked = matches!(reason, Reason::Contradicted | Reason::Neutral);
            assert_eq!(text.contains("could not be checked"), !checked, "{reason:?}: {text}");
        }
    }

    #[test]
    fn unchecked_claims_are_called_so() {
        let text = paragraph(&[&verdict("There is a dog.", Reason::Unchecked)], Design::None, |_| false);
        assert_eq!(text, "Not checked: There is a dog.");
    }
}

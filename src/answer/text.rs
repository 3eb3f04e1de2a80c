//! The plain paragraph of an answer. Pure.
//!
//! Only grounded claims are told. What could not be checked or did not hold is never told as a fact.

use super::hypothesis::strip_times;
use super::survey::denies;
use crate::domain::{Design, Label, Reason, Verdict};

/// Why there was nothing to draft from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nothing {
    /// The streams asked about hold no moment at all.
    NoMoments,
    /// They do, but none in the window asked about.
    EmptyWindow,
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
        Nothing::NoClaims => "What was seen says nothing about the question.",
        Nothing::BesideThePoint => "What was confirmed says nothing about the question.",
    }
    .to_owned()
}

/// The grounded claims as one paragraph, or one sentence that says why there are none.
pub(super) fn paragraph(verdicts: &[&Verdict], design: Design) -> String {
    if design == Design::None {
        return join("Not checked: ", verdicts.iter().copied());
    }
    let mut grounded = verdicts.iter().copied().filter(|verdict| verdict.label() == Label::Grounded).peekable();
    if grounded.peek().is_some() {
        return join("", grounded);
    }
    let unchecked = verdicts.iter().all(|verdict| !matches!(verdict.reason, Reason::Contradicted | Reason::Neutral));
    if unchecked {
        "The evidence could not be checked, so nothing can be said for certain.".to_owned()
    } else {
        "Nothing that could be said about it was confirmed by the video.".to_owned()
    }
}

/// Distinct sentences in the order of the claims.
fn join<'a>(prefix: &str, verdicts: impl Iterator<Item = &'a Verdict>) -> String {
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
    format!("{prefix}{}", sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Citation, Claim, Fingerprint, ModelSet, StreamId, StreamTime, VerdictId};

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
            paragraph(&verdicts.iter().collect::<Vec<_>>(), Design::CaptionNli),
            "There is a car. Two people stand."
        );
    }

    #[test]
    fn what_was_not_confirmed_is_not_told() {
        for reason in Reason::ALL.into_iter().filter(|reason| *reason != Reason::Entailed) {
            let text = paragraph(&[&verdict("There is a dog.", reason)], Design::CaptionNli);
            assert!(!text.contains("dog"), "{reason:?}: {text}");
            let checked = matches!(reason, Reason::Contradicted | Reason::Neutral);
            assert_eq!(text.contains("could not be checked"), !checked, "{reason:?}: {text}");
        }
    }

    #[test]
    fn unchecked_claims_are_called_so() {
        let text = paragraph(&[&verdict("There is a dog.", Reason::Unchecked)], Design::None);
        assert_eq!(text, "Not checked: There is a dog.");
    }
}

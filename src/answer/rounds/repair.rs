//! Unverified claims drafted again from what was seen, after Chain-of-Verification. Pure.
//!
//! What is independent, and what is not: a repair says what a blind caption said of the cited frame, so that picture can
//! prove nothing about it. It cites, and is checked on, another one, a step beside it, extracted afresh and captioned
//! blind like the frame of any claim; a picture of the same bytes is refused. The captioner is the same, so a mistake that
//! it makes in both pictures passes, as it does for every other claim.

use crate::answer::hypothesis::strip_times;
use crate::domain::{
    Caption, Citation, Evidence, Fingerprint, Hit, Label, Moment, MomentId, Reason, Repaired, Sha256, Timing, Verdict,
    is_silent, says_the_same,
};

/// A frame that was looked at in this request, as something that claims can be drafted from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    /// The frame and its blind caption in the form of a moment; it is in no memory.
    pub(super) hit: Hit,
    /// Its picture.
    pub(super) sha256: Sha256,
    /// The claim that failed on it.
    pub(super) instead_of: Option<Repaired>,
}

impl Seen {
    /// `captioner` is who captioned `evidence`.
    pub(super) fn new(evidence: &Evidence, captioner: &Fingerprint, instead_of: Option<Repaired>) -> Self {
        let Citation { stream, at } = evidence.citation.clone();
        let moment = Moment {
            id: MomentId(u64::MAX),
            stream,
            at,
            until: at,
            wall: evidence.wall,
            timing: Some(Timing { clock: evidence.clock, precision: evidence.precision }),
            caption: evidence.caption.clone(),
            captioner: captioner.clone(),
            // Nothing was embedded: it was not searched for.
            embedder: captioner.clone(),
        };
        Self { hit: Hit { moment, score: 0.0 }, sha256: evidence.sha256.clone(), instead_of }
    }

    /// The place.
    pub(super) fn place(&self) -> Citation {
        Citation { stream: self.hit.moment.stream.clone(), at: self.hit.moment.at }
    }
}

/// The frames that repairs can be drafted from: one for each cited frame on which a claim failed and of which the
/// captioner said something. Claims that were drafted again already are not drafted a third time.
pub(super) fn sources(verdicts: &[Verdict]) -> Vec<Seen> {
    let mut found: Vec<Seen> = Vec::new();
    for verdict in verdicts.iter().filter(|verdict| is_failed(verdict) && verdict.repaired_from.is_none()) {
        let Some(evidence) = verdict.trials.first().and_then(|cited| cited.evidence.as_ref()) else { continue };
        let is_known = found.iter().any(|seen| seen.sha256 == evidence.sha256);
        if tells(&evidence.caption) && !is_known {
            let (claim, read_at) = (verdict.claim.text.clone(), evidence.citation.clone());
            let instead_of = Repaired { verdict: verdict.id, claim, read_at };
            found.push(Seen::new(evidence, &verdict.models.captioner, Some(instead_of)));
        }
    }
    found
}

/// Whether a claim was checked and did not hold.
pub(super) fn is_failed(verdict: &Verdict) -> bool {
    matches!(verdict.reason, Reason::Contradicted | Reason::Neutral)
}

/// Whether a caption tells anything.
pub(super) fn tells(caption: &Caption) -> bool {
    caption.sentences().any(|sentence| !is_silent(sentence))
}

/// Whether `text` says nothing new beside the verdicts: it is grounded already, or failed at the same place.
pub(super) fn is_known(text: &str, place: &Citation, verdicts: &[Verdict]) -> bool {
    let said = strip_times(text);
    verdicts.iter().any(|verdict| {
        let is_same = says_the_same(&strip_times(&verdict.claim.text), &said);
        is_same && (verdict.label() == Label::Grounded || verdict.claim.citation == *place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Claim, Clock, Design, ModelSet, StreamId, StreamTime, Trial, VerdictId, WallTime};
    use std::time::Duration;

    fn at(seconds: f64) -> Citation {
        let stream = StreamId::new("cam").expect("a token");
        Citation { stream, at: StreamTime::from_seconds(seconds).expect("a time") }
    }

    /// A verdict on a claim about a frame with this caption; without a frame if there is none.
    fn verdict(text: &str, seconds: f64, caption: Option<&str>, reason: Reason) -> Verdict {
        let jpeg: std::sync::Arc<[u8]> = seconds.to_le_bytes().to_vec().into();
        let evidence = caption.map(|caption| Evidence {
            citation: at(seconds),
            wall: WallTime::now(),
            clock: Clock::Media,
            precision: Duration::ZERO,
            neighbour: 0,
            caption: Caption::new(caption),
            sha256: Sha256::of(&jpeg),
            jpeg,
        });
        let trial = Trial { reason, detail: String::new(), evidence, entailment: None, premise: None };
        let model = Fingerprint::new("m");
        Verdict {
            id: VerdictId::generate(),
            question: None,
            claim: Claim { text: text.into(), citation: at(seconds) },
            repaired_from: None,
            timing: None,
            design: Design::CaptionNli,
            reason,
            decided_by: Some(0),
            trials: vec![trial],
            threshold: 0.5,
            models: ModelSet { drafter: None, captioner: model.clone(), judge: model },
        }
    }

    #[test]
    fn only_what_failed_on_a_telling_frame_is_drafted_again() {
        let car = Some("There is a car.");
        let mut repaired = verdict("A.", 60.0, car, Reason::Neutral);
        repaired.repaired_from = Some(Repaired { verdict: repaired.id, claim: "B.".into(), read_at: at(59.0) });
        let verdicts = [
            verdict("There is a dog.", 0.0, car, Reason::Contradicted),
            verdict("There is a cat.", 0.0, car, Reason::Neutral),
            verdict("There is a car.", 5.0, car, Reason::Entailed),
            verdict("There is a dog.", 10.0, None, Reason::NoFrame),
            verdict("There is a dog.", 15.0, Some("Nothing is clear enough to be named."), Reason::Neutral),
            verdict("There is a dog.", 20.0, Some(""), Reason::Neutral),
            verdict("There is a dog.", 25.0, Some(""), Reason::Unobservable),
            verdict("There is a dog.", 30.0, car, Reason::ModelUnavailable),
            verdict("There is a dog.", 35.0, Some("There are two cars."), Reason::Neutral),
            repaired,
        ];
        let sources = sources(&verdicts);
        let found: Vec<_> = sources.iter().map(|seen| (seen.place(), seen.hit.moment.caption.as_str())).collect();
        assert_eq!(found, [(at(0.0), "There is a car."), (at(35.0), "There are two cars.")]);
        let first = sources[0].instead_of.as_ref().expect("a claim that failed");
        assert_eq!((first.verdict, first.claim.as_str()), (verdicts[0].id, "There is a dog."));
        assert_eq!(first.read_at, at(0.0));
    }

    #[test]
    fn what_is_known_is_not_claimed_again() {
        let verdicts = [
            verdict("At 5 s, there is a car.", 5.0, Some("x"), Reason::Entailed),
            verdict("There is a dog.", 10.0, Some("x"), Reason::Neutral),
        ];
        for (text, place, known) in [
            ("There is a car.", at(5.0), true),
            ("There is a car.", at(50.0), true),
            ("There is a dog.", at(10.0), true),
            ("There is a dog.", at(11.0), false),
            ("There is a bus.", at(5.0), false),
        ] {
            assert_eq!(is_known(text, &place, &verdicts), known, "{text} at {}", place.at);
        }
    }
}

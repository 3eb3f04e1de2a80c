//! Labels of what may be drafted about a clip, whoever drafts it and for whichever question. Pure.
//!
//! Which claims are drafted changes with retrieval, so a label that is bound to a question and an instant is soon the label
//! of nothing. A fact is bound to what a person saw: this statement, of these seconds of this clip. A drafted claim finds
//! it by its words (case, punctuation and white space apart) and its citation.

use serde::Deserialize;

use super::suite::Truth;
use crate::domain::{Citation, Claim, StreamId, StreamTime};

/// What a person says about a statement over a stretch of a clip.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The clip.
    pub stream: StreamId,
    /// The statement.
    pub text: String,
    /// Whether it is so, throughout.
    pub truth: Truth,
    /// From this second on; from the beginning, if absent.
    #[serde(default)]
    pub from: StreamTime,
    /// Up to this second; to the end, if absent.
    #[serde(default = "end")]
    pub to: StreamTime,
}

fn end() -> StreamTime {
    StreamTime::MAX
}

impl Fact {
    /// Whether this is the label of a claim.
    fn is_of(&self, claim: &Claim) -> bool {
        let Citation { stream, at } = &claim.citation;
        // Cited times are told to a thousandth of a second.
        let is_near = *at >= self.from && (*at <= self.to || at.distance(self.to).as_millis() < 1);
        self.stream == *stream && is_near && statement(&self.text) == statement(&claim.text)
    }

    /// Whether two labels are about the same statement at the same time.
    fn meets(&self, other: &Self) -> bool {
        let same = self.stream == other.stream && statement(&self.text) == statement(&other.text);
        same && self.from <= other.to && other.from <= self.to
    }
}

/// The label of a claim, if a person has labelled what it states.
pub fn truth(facts: &[Fact], claim: &Claim) -> Option<Truth> {
    facts.iter().find(|fact| fact.is_of(claim)).map(|fact| fact.truth)
}

/// A fact that says something else than another one about the same statement at the same time.
pub fn contradiction(facts: &[Fact]) -> Option<&Fact> {
    let clash =
        |index: usize, fact: &Fact| facts[..index].iter().any(|other| fact.meets(other) && fact.truth != other.truth);
    facts.iter().enumerate().find(|(index, fact)| clash(*index, fact)).map(|(_, fact)| fact)
}

/// The words of a statement, as two statements are compared.
pub(super) fn statement(text: &str) -> String {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let words = text.split_whitespace().map(bare).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    fn fact(text: &str, from: f64, to: f64, truth: Truth) -> Fact {
        Fact { stream: StreamId::new("vtest").expect("a token"), text: text.into(), truth, from: t(from), to: t(to) }
    }

    #[test]
    fn a_claim_finds_what_a_person_saw() {
        let facts =
            [fact("There is a car.", 0.0, 20.0, Truth::True), fact("There is a car.", 25.0, 79.5, Truth::False)];
        let claim = |stream: &str, text: &str, at| Claim {
            text: text.into(),
            citation: Citation { stream: StreamId::new(stream).expect("a token"), at: t(at) },
        };
        for (stream, text, at, due) in [
            ("vtest", "There is a car.", 0.0, Some(Truth::True)),
            ("vtest", " there is  a car", 20.0, Some(Truth::True)),
            ("vtest", "There is a car.", 20.000_5, Some(Truth::True)),
            ("vtest", "There is a car.", 22.0, None),
            ("vtest", "There is a car.", 25.0, Some(Truth::False)),
            ("vtest", "There is a cart.", 5.0, None),
            ("vtest", "There is no car.", 5.0, None),
            ("bikes", "There is a car.", 5.0, None),
        ] {
            assert_eq!(truth(&facts, &claim(stream, text, at)), due, "{stream} {text} {at}");
        }
    }

    #[test]
    fn facts_must_not_contradict_each_other() {
        let one = fact("There is a car.", 0.0, 20.0, Truth::True);
        let table = [
            (fact("there is a car", 20.0, 30.0, Truth::False), true),
            (fact("there is a car", 20.0, 30.0, Truth::True), false),
            (fact("There is a car.", 21.0, 30.0, Truth::False), false),
            (fact("There is a bus.", 0.0, 20.0, Truth::False), false),
        ];
        for (other, due) in table {
            let facts = [one.clone(), other.clone()];
            assert_eq!(contradiction(&facts), due.then_some(&facts[1]), "{other:?}");
        }
        assert_eq!(contradiction(&[]), None);
    }
}

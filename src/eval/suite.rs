//! What a suite is: questions and claims about clips, with what a person who looked at the frames says of them.
//!
//! A TOML document:
//!
//! ```toml
//! name = "street"
//! about = "Who labelled what, and how."
//!
//! [clips]                         # by stream: a file in a folder given by --clips, one moment per `every` of it
//! vtest = { file = "vtest.avi", every = "5s" }
//!
//! [[question]]                    # drafted once, then every claim is checked by every design
//! kind = "factual"                # any word; tables are by kind
//! stream = "vtest"
//! text = "What vehicles can be seen?"
//! window = [0.0, 79.5]            # optional: where the answer may lie; see `Asked::is_right`
//!
//! [[question.claim]]              # label of a claim that is drafted; `written = true` adds one that is not
//! at = 20.0
//! text = "There is a car."
//! truth = "true"                  # true, false, or unclear: checked and shown, counted nowhere
//! answers = true                  # whether it would answer the question, were it so; absent where one can argue
//!
//! [[claim]]                       # a claim without a question
//! kind = "presence"
//! stream = "vtest"
//! at = 20.0
//! text = "There is a dog."
//! truth = "false"
//! beyond = true                   # about something that the captioner of the profile `edge` has no words for
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Span;
use crate::domain::{Citation, Claim, StreamId, StreamTime, Window};

/// What a person says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// The cited frame shows it.
    True,
    /// The cited frame does not show it, nor do its neighbours.
    False,
    /// Not to be decided from the frame.
    Unclear,
}

impl Truth {
    /// For a reader.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unclear => "unclear",
        }
    }

    /// Whether the claim is true, if that is known.
    pub fn known(self) -> Option<bool> {
        match self {
            Self::True => Some(true),
            Self::False => Some(false),
            Self::Unclear => None,
        }
    }
}

/// A suite, as read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Who labelled what, and how.
    #[serde(default)]
    pub about: String,
    /// Clips by stream.
    pub clips: BTreeMap<StreamId, Clip>,
    /// Questions, in the order asked.
    #[serde(default, rename = "question")]
    pub questions: Vec<Asked>,
    /// Claims without a question.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Known>,
}

/// A clip of a suite.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// The name of its file.
    pub file: String,
    /// One moment per this much of it.
    #[serde(default = "five_seconds")]
    pub every: Span,
}

/// A question of a suite.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// What kind of question it is.
    pub kind: String,
    /// The stream asked about.
    pub stream: StreamId,
    /// The question.
    pub text: String,
    /// The seconds within which the answer must lie, as a person reads the question.
    #[serde(default)]
    pub window: Option<[StreamTime; 2]>,
    /// Labels of its claims.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Label>,
}

/// What a person says about a claim that belongs to a question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The claim.
    pub text: String,
    /// The cited second.
    pub at: StreamTime,
    /// Whether it is so.
    pub truth: Truth,
    /// Nothing drafts it: it is checked beside the drafted ones.
    #[serde(default)]
    pub written: bool,
    /// Whether it would answer the question, were it so; absent where that can be argued about.
    #[serde(default)]
    pub answers: Option<bool>,
}

/// A claim with known truth.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// What kind of claim it is.
    pub kind: String,
    /// The stream.
    pub stream: StreamId,
    /// The cited second.
    pub at: StreamTime,
    /// The claim.
    pub text: String,
    /// Whether it is so.
    pub truth: Truth,
    /// About something that the captioner of the profile `edge` has no words for.
    #[serde(default)]
    pub beyond: bool,
}

fn five_seconds() -> Span {
    Span(Duration::from_secs(5))
}

/// Why a document is no suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Not the TOML that is described above.
    #[error("not a suite: {0}")]
    Parse(String),
    /// A question or claim about a clip that is not listed.
    #[error("{text:?} is about the stream {stream}, which [clips] does not name")]
    Stream {
        /// The stream.
        stream: StreamId,
        /// The question or claim.
        text: String,
    },
    /// Nothing to check.
    #[error("the suite {0} has neither questions nor claims")]
    Empty(String),
}

impl Suite {
    /// Reads and checks a document.
    pub fn parse(document: &str) -> Result<Self, SuiteError> {
        let suite: Self = toml::from_str(document).map_err(|error| SuiteError::Parse(error.to_string()))?;
        let asked = suite.questions.iter().map(|asked| (&asked.stream, &asked.text));
        let claimed = suite.claims.iter().map(|known| (&known.stream, &known.text));
        if let Some((stream, text)) = asked.chain(claimed).find(|(stream, _)| !suite.clips.contains_key(*stream)) {
            return Err(SuiteError::Stream { stream: stream.clone(), text: text.clone() });
        }
        if suite.questions.is_empty() && suite.claims.is_empty() {
            return Err(SuiteError::Empty(suite.name));
        }
        Ok(suite)
    }
}

/// A claim that is to be checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Index of its question, if it has one.
    pub question: Option<usize>,
    /// Of the question, or of the claim.
    pub kind: String,
    /// The claim with its citation.
    pub claim: Claim,
    /// What a person says; `None` for a drafted claim that nobody has labelled.
    pub truth: Option<Truth>,
    /// Whether the drafter said it.
    pub drafted: bool,
    /// About something that the captioner has no words for.
    pub beyond: bool,
}

impl Known {
    /// The claim of a suite without a question.
    pub fn item(&self) -> Item {
        let claim = Claim { text: self.text.clone(), citation: Citation { stream: self.stream.clone(), at: self.at } };
        let (kind, truth) = (self.kind.clone(), Some(self.truth));
        Item { question: None, kind, claim, truth, drafted: false, beyond: self.beyond }
    }
}

impl Asked {
    /// Whether the window that was searched is the one that a person would search: it lies within the labelled one and
    /// is at least a third of it. `last`: the last second that was watched. `None` without a label.
    pub fn is_right(&self, searched: Window, last: StreamTime) -> Option<bool> {
        let [from, to] = self.window?;
        let end = searched.to().min(last);
        let length = |from: StreamTime, to: StreamTime| to.saturating_since(from).as_secs_f64();
        let is_within = from <= searched.from() && end <= to && searched.from() <= end;
        Some(is_within && length(searched.from(), end) * 3.0 >= length(from, to.min(last)))
    }

    /// The drafted claims with their labels, then the written ones. `index`: of the question in its suite.
    pub fn items(&self, index: usize, drafted: Vec<Claim>) -> Vec<Item> {
        let item = |claim, truth, drafted| Item {
            question: Some(index),
            kind: self.kind.clone(),
            claim,
            truth,
            drafted,
            beyond: false,
        };
        let label = |claim: &Claim| self.claims.iter().find(|label| label.is_of(claim)).map(|label| label.truth);
        let mut items: Vec<Item> = drafted.into_iter().map(|claim| item(claim.clone(), label(&claim), true)).collect();
        for label in self.claims.iter().filter(|label| label.written) {
            let citation = Citation { stream: self.stream.clone(), at: label.at };
            items.push(item(Claim { text: label.text.clone(), citation }, Some(label.truth), false));
        }
        items
    }
}

impl Label {
    /// Whether this is the label of `claim`: the same words about the same tenth of a second.
    fn is_of(&self, claim: &Claim) -> bool {
        let near = self.at.distance(claim.citation.at) < Duration::from_millis(100);
        near && self.text.eq_ignore_ascii_case(claim.text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
        name = "street"
        [clips]
        vtest = { file = "vtest.avi" }
        [[question]]
        kind = "factual"
        stream = "vtest"
        text = "What is there?"
        [[question.claim]]
        at = 20.0
        text = "There is a car."
        truth = "true"
        [[question.claim]]
        at = 20.0
        text = "There is a train."
        truth = "false"
        written = true
        [[claim]]
        kind = "presence"
        stream = "vtest"
        at = 5
        text = "A dog barks."
        truth = "false"
        beyond = true
    "#;

    #[test]
    fn labels_find_their_claims() {
        let suite = Suite::parse(SUITE).expect("a suite");
        assert_eq!(suite.clips.values().next().expect("a clip").every, five_seconds());
        let stream = StreamId::new("vtest").expect("a token");
        let drafted = |text: &str, at| {
            let at = StreamTime::from_seconds(at).expect("a time");
            Claim { text: text.into(), citation: Citation { stream: stream.clone(), at } }
        };
        let claims = vec![drafted("there is a car.", 20.04), drafted("There is a car.", 25.0)];
        let items = suite.questions[0].items(0, claims);
        let read: Vec<_> = items.iter().map(|item| (item.claim.text.as_str(), item.truth, item.drafted)).collect();
        let due = [
            ("there is a car.", Some(Truth::True), true),
            ("There is a car.", None, true),
            ("There is a train.", Some(Truth::False), false),
        ];
        assert_eq!(read, due);
        let known = suite.claims[0].item();
        assert_eq!((known.truth, known.beyond, known.claim.citation.at.seconds()), (Some(Truth::False), true, 5.0));
    }

    #[test]
    fn the_right_window_is_within_the_labelled_one_and_not_a_sliver_of_it() {
        let t = |seconds: f64| StreamTime::from_seconds(seconds).expect("a time");
        let suite = SUITE.replace("text = \"What is there?\"", "text = \"What is there?\"\nwindow = [50.0, 60.0]");
        let asked = &Suite::parse(&suite).expect("a suite").questions[0];
        let window = |from, to| Window::new(t(from), t(to)).expect("ordered");
        for (searched, due) in [
            (window(50.0, 60.0), true),
            (window(52.0, 56.0), true),
            (window(52.0, 54.0), false),
            (window(48.0, 58.0), false),
            (window(55.0, 61.0), false),
            (Window::ALL, false),
        ] {
            assert_eq!(asked.is_right(searched, t(79.0)), Some(due), "{searched:?}");
        }
        let open = Window::new(t(52.0), StreamTime::MAX).expect("ordered");
        assert_eq!(asked.is_right(open, t(58.0)), Some(true), "what was not watched does not count");
        assert_eq!(Suite::parse(SUITE).expect("a suite").questions[0].is_right(Window::ALL, t(79.0)), None);
    }

    #[test]
    fn what_is_no_suite_is_refused_with_the_reason() {
        let table = [
            (SUITE.replace("truth = \"true\"", "truth = \"maybe\""), "unknown variant `maybe`"),
            (SUITE.replace("beyond", "beyound"), "unknown field `beyound`"),
            (SUITE.replace("at = 5", "at = -5"), "not a number of seconds"),
            (SUITE.replace("stream = \"vtest\"\n        at = 5", "stream = \"door\"\n        at = 5"), "stream door"),
            ("name = \"x\"\n[clips]".to_owned(), "neither questions nor claims"),
            ("name = ".to_owned(), "not a suite"),
        ];
        for (document, due) in table {
            let refused = Suite::parse(&document).expect_err(due).to_string();
            assert!(refused.contains(due), "{refused:?} instead of {due:?}");
        }
    }
}

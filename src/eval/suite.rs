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
//! moment = 20.0                   # optional, for a question about a point in time: the second that must be looked at
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
//!
//! [[fact]]                        # label of a drafted claim, whichever question it is drafted for; see `facts`
//! stream = "vtest"
//! text = "There are three people."
//! from = 15.0                     # seconds for which it holds or does not; absent: from the beginning, to the end
//! to = 25.0
//! truth = "true"
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::facts::{self, Fact};
use crate::config::Span;
use crate::domain::{Citation, Claim, StreamId, StreamTime, Window};

/// The shortest sampling interval that a stream may have.
const LEAST_EVERY: Duration = Duration::from_millis(10);

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
    /// Labels of what may be drafted about the clips.
    #[serde(default, rename = "fact")]
    pub facts: Vec<Fact>,
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
    /// Of a question about a point in time: the second that must be looked at.
    #[serde(default)]
    pub moment: Option<StreamTime>,
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
    /// Two labels of one statement at one time.
    #[error("{stream}: {text:?} has two labels for the same seconds that differ")]
    Contradiction {
        /// The stream.
        stream: StreamId,
        /// The statement.
        text: String,
    },
    /// A stretch that ends before it begins, which nothing can match.
    #[error("{stream}: {text:?} has a stretch that ends before it begins")]
    Backwards {
        /// The stream.
        stream: StreamId,
        /// The question or statement.
        text: String,
    },
    /// A question, claim or statement without words.
    #[error("{stream}: a question, claim or fact has no words")]
    Wordless {
        /// The stream.
        stream: StreamId,
    },
    /// Frames that could not be told apart.
    #[error("{stream}: every = \"{every}\" is too short: one frame per 10ms is the most")]
    Interval {
        /// The stream.
        stream: StreamId,
        /// As written.
        every: Span,
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
        let known = suite.facts.iter().map(|fact| (&fact.stream, &fact.text));
        if let Some((stream, text)) =
            asked.chain(claimed).chain(known).find(|(stream, _)| !suite.clips.contains_key(*stream))
        {
            return Err(SuiteError::Stream { stream: stream.clone(), text: text.clone() });
        }
        if let Some((stream, clip)) = suite.clips.iter().find(|(_, clip)| clip.every.0 < LEAST_EVERY) {
            return Err(SuiteError::Interval { stream: stream.clone(), every: clip.every });
        }
        suite.check_words()?;
        suite.check_stretches()?;
        if let Some(Known { stream, text, .. }) = suite.contradicted() {
            return Err(SuiteError::Contradiction { stream: stream.clone(), text: text.clone() });
        }
        if let Some(Fact { stream, text, .. }) = facts::contradiction(&suite.facts) {
            return Err(SuiteError::Contradiction { stream: stream.clone(), text: text.clone() });
        }
        if suite.questions.is_empty() && suite.claims.is_empty() {
            return Err(SuiteError::Empty(suite.name));
        }
        Ok(suite)
    }

    fn check_words(&self) -> Result<(), SuiteError> {
        let asked = self.questions.iter().map(|asked| (&asked.stream, &asked.text));
        let labelled =
            self.questions.iter().flat_map(|asked| asked.claims.iter().map(|label| (&asked.stream, &label.text)));
        let claimed = self.claims.iter().map(|known| (&known.stream, &known.text));
        let known = self.facts.iter().map(|fact| (&fact.stream, &fact.text));
        match asked.chain(labelled).chain(claimed).chain(known).find(|(_, text)| text.trim().is_empty()) {
            Some((stream, _)) => Err(SuiteError::Wordless { stream: stream.clone() }),
            None => Ok(()),
        }
    }

    fn check_stretches(&self) -> Result<(), SuiteError> {
        let windows = self.questions.iter().filter_map(|asked| Some((&asked.stream, &asked.text, asked.window?)));
        let facts = self.facts.iter().map(|fact| (&fact.stream, &fact.text, [fact.from, fact.to]));
        match windows.chain(facts).find(|(_, _, [from, to])| from > to) {
            Some((stream, text, _)) => Err(SuiteError::Backwards { stream: stream.clone(), text: text.clone() }),
            None => Ok(()),
        }
    }

    /// A claim that is both true and false of one frame.
    fn contradicted(&self) -> Option<&Known> {
        let same = |a: &Known, b: &Known| a.stream == b.stream && a.at == b.at && a.text == b.text;
        let clash = |index: usize, known: &Known| {
            self.claims[..index].iter().any(|other| same(known, other) && known.truth != other.truth)
        };
        self.claims.iter().enumerate().find(|(index, known)| clash(*index, known)).map(|(_, known)| known)
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
    /// Whether the window that was searched is the one that a person would search: it lies within the labelled one, and
    /// either holds the labelled moment or, of a question about a stretch, is at least a third of the labelled one: so at
    /// most three times as much would have been looked at. `last`: the last second that was watched. `None` without a label.
    pub fn is_right(&self, searched: Window, last: StreamTime) -> Option<bool> {
        let [from, to] = self.window?;
        let end = searched.to().min(last);
        let length = |from: StreamTime, to: StreamTime| to.saturating_since(from).as_secs_f64();
        let is_within = from <= searched.from() && end <= to && searched.from() <= end;
        let is_enough = match self.moment {
            Some(moment) => (searched.from()..=end).contains(&moment.min(last)),
            None => length(searched.from(), end) * 3.0 >= length(from, to.min(last)),
        };
        Some(is_within && is_enough)
    }

    /// The drafted claims with their labels, then the written ones. `index`: of the question in its suite; `facts`: for
    /// drafted claims that the question itself does not label.
    pub fn items(&self, index: usize, drafted: Vec<Claim>, facts: &[Fact]) -> Vec<Item> {
        let item = |claim, truth, drafted| Item {
            question: Some(index),
            kind: self.kind.clone(),
            claim,
            truth,
            drafted,
            beyond: false,
        };
        let own = |claim: &Claim| self.claims.iter().find(|label| label.is_of(claim)).map(|label| label.truth);
        let label = |claim: &Claim| own(claim).or_else(|| facts::truth(facts, claim));
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
        near && facts::statement(&self.text) == facts::statement(&claim.text)
    }
}

#[cfg(test)]
mod tests;

//! Whether claims are told from claims that do not answer.
//!
//! Two sources of pairs. A suite says of its claims whether they would answer, were they so. And captions of NExT-GQA: the
//! sentences about the middle of a question's evidence, once with that question, once with the next one of another
//! video. Nobody has labelled those: some sentences beside the evidence do not answer, and some of another video do ("the
//! man"), so these are no error rates, only that the first must exceed the second. Pure.

use std::fmt::Write as _;

use serde::Serialize;

use super::retrieval::Asked;
use super::stats::{Share, auroc};
use super::suite::Suite;
use super::table;
use super::text::Video;

/// A question, what is said, and whether it answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The question.
    pub question: String,
    /// The claim.
    pub claim: String,
    /// Whether it answers.
    pub answers: bool,
}

/// A pair with what the product says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    #[serde(flatten)]
    pub pair: Pair,
    /// Cosine between question and claim.
    pub relevance: f32,
    /// Whether the product takes it for an answer.
    pub taken: bool,
}

/// A question with sentences that are its own, or those of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentences {
    /// The question.
    pub question: String,
    /// What is said.
    pub said: Vec<String>,
    /// Whether it was said about this question's evidence.
    pub own: bool,
}

/// The labelled pairs of a suite.
pub fn pairs(suite: &Suite) -> Vec<Pair> {
    let of =
        |question: &str, claim: &str, answers| Pair { question: question.to_owned(), claim: claim.to_owned(), answers };
    let asked = suite.questions.iter();
    asked.flat_map(|asked| asked.claims.iter().filter_map(|it| Some(of(&asked.text, &it.text, it.answers?)))).collect()
}

/// The sentences at the middle of each question's evidence, with their question and with the next of another video.
pub fn sentences(questions: &[Asked], videos: &[Video]) -> Vec<Sentences> {
    let mut out = Vec::new();
    for (index, asked) in questions.iter().enumerate() {
        let video = videos.iter().find(|video| video.video == asked.video);
        let (Some(video), Some((from, to))) = (video, asked.evidence.first()) else { continue };
        let middle = f64::midpoint(*from, *to).round() as usize;
        let Some(caption) = video.captions.get(middle.min(video.captions.len().saturating_sub(1))) else { continue };
        let mut others = questions[index + 1..].iter().chain(&questions[..index]);
        let Some(other) = others.find(|other| other.video != asked.video) else { continue };
        let said: Vec<String> = split(caption);
        out.push(Sentences { question: asked.question.clone(), said: said.clone(), own: true });
        out.push(Sentences { question: other.question.clone(), said, own: false });
    }
    out
}

fn split(caption: &str) -> Vec<String> {
    let sentences = caption.split_inclusive(". ").map(str::trim);
    sentences.filter(|sentence| !sentence.is_empty()).map(str::to_owned).collect()
}

/// The figures of labelled pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labelled {
    /// Of those that answer, the ones taken.
    pub told: Share,
    /// Of those that do not, the ones not taken.
    pub kept_back: Share,
    /// Of the similarity alone.
    pub auroc: Option<f64>,
}

impl Labelled {
    /// Counts.
    pub fn of(judged: &[Judged]) -> Self {
        let which = |answers| judged.iter().filter(move |it| it.pair.answers == answers);
        let scored: Vec<(f32, bool)> = judged.iter().map(|it| (it.relevance, it.pair.answers)).collect();
        Self {
            told: Share::count(which(true).map(|it| it.taken)),
            kept_back: Share::count(which(false).map(|it| !it.taken)),
            auroc: auroc(&scored),
        }
    }

    /// As Markdown; what went wrong follows.
    pub fn table(&self, judged: &[Judged]) -> String {
        let mut out = format!(
            "| answers and told | does not answer and kept back | AUROC of the similarity alone |\n|---|---|---|\n| {} | {} | {} |\n\n",
            table::share(self.told),
            table::share(self.kept_back),
            self.auroc.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
        );
        for Judged { pair, relevance, taken } in judged.iter().filter(|it| it.taken != it.pair.answers) {
            let wrong = if *taken { "told" } else { "kept back" };
            let (question, claim) = (table::plain(&pair.question), table::plain(&pair.claim));
            let _ = writeln!(out, "- {wrong} ({relevance:.2}): {question} — {claim}");
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted() {
        let judged = |answers, taken, relevance| Judged {
            pair: Pair { question: "Where?".into(), claim: "Here.".into(), answers },
            relevance,
            taken,
        };
        let all =
            [judged(true, true, 0.9), judged(true, false, 0.4), judged(false, true, 0.5), judged(false, false, 0.1)];
        let figures = Labelled::of(&all);
        assert_eq!((figures.told, figures.kept_back), (Share { hits: 1, of: 2 }, Share { hits: 1, of: 2 }));
        assert_eq!(figures.auroc, Some(0.75));
        let table = figures.table(&all);
        assert!(table.contains("- kept back (0.40)") && table.contains("- told (0.50)") && !table.contains("0.90"));
    }

    #[test]
    fn sentences_go_with_their_question_and_with_another() {
        let asked = |video: &str, question: &str| Asked {
            video: video.into(),
            kind: "CW".into(),
            question: question.into(),
            evidence: vec![(0.0, 2.2)],
        };
        let videos = ["a", "b"].map(|name| Video {
            video: name.into(),
            captions: vec!["One.".into(), format!("{name} is here. It is red.")],
        });
        let questions = [asked("a", "why a"), asked("a", "how a"), asked("b", "why b")];
        let read = sentences(&questions, &videos);
        assert_eq!(read.len(), 6);
        assert_eq!(read[0].said, ["a is here.", "It is red."]);
        assert_eq!((read[1].question.as_str(), read[1].own), ("why b", false));
        assert_eq!((read[5].question.as_str(), read[5].own), ("why a", false));
        assert!(sentences(&questions[..2], &videos).is_empty(), "there is no other video");
    }
}

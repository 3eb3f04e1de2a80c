//! What the first look at a question brought and what each further one added, asked as a client would. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::stats::quantile;
use super::table::plain;
use crate::domain::{Answer, Label, Verdict};

/// One look at one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Look {
    /// `first`, or how it was looked again.
    pub how: &'static str,
    /// Claims that it brought.
    pub claims: usize,
    /// Those of them that are grounded.
    pub grounded: Vec<String>,
    /// Pictures captioned for it; of the first look they are not counted.
    pub captioned: usize,
    /// How long it took.
    #[serde(skip)]
    pub took: Duration,
}

/// All looks at one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Looked {
    /// The question.
    pub question: String,
    /// In order.
    pub looks: Vec<Look>,
}

impl Looked {
    /// From an answer that took so long.
    pub fn of(answer: &Answer, took: Duration) -> Self {
        let is_grounded = |verdict: &&Verdict| verdict.label() == Label::Grounded;
        let told = |verdict: &Verdict| format!("{} @ {}", verdict.claim.text, verdict.claim.citation.at);
        let is_first = |verdict: &&Verdict| !answer.rounds.iter().any(|round| round.added.contains(&verdict.id));
        let first: Vec<&Verdict> = answer.verdicts.iter().filter(is_first).collect();
        let later: Duration = answer.rounds.iter().map(|round| round.took).sum();
        let mut looks = vec![Look {
            how: "first",
            claims: first.len(),
            grounded: first.into_iter().filter(|verdict| is_grounded(verdict)).map(told).collect(),
            captioned: 0,
            took: took.saturating_sub(later),
        }];
        for round in &answer.rounds {
            let added = answer.verdicts.iter().filter(|verdict| round.added.contains(&verdict.id));
            looks.push(Look {
                how: round.how.as_str(),
                claims: round.added.len(),
                grounded: added.filter(is_grounded).map(told).collect(),
                captioned: round.captioned,
                took: round.took,
            });
        }
        Self { question: answer.question.text.clone(), looks }
    }
}

/// What looks of one kind came to.
#[derive(Debug, Default)]
struct Sum {
    looks: usize,
    claims: usize,
    grounded: usize,
    captioned: usize,
    answers: usize,
    seconds: Vec<f64>,
}

/// One row a kind of look, then every claim that a further look grounded; nothing if nothing was asked.
pub fn table(asked: &[Looked]) -> String {
    if asked.is_empty() {
        return String::new();
    }
    let mut sums: BTreeMap<(usize, &str), Sum> = BTreeMap::new();
    let mut added = String::new();
    for Looked { question, looks } in asked {
        let mut is_answered = false;
        for (place, look) in looks.iter().enumerate() {
            let sum = sums.entry((place.min(1), look.how)).or_default();
            sum.looks += 1;
            sum.claims += look.claims;
            sum.grounded += look.grounded.len();
            sum.captioned += look.captioned;
            sum.answers += usize::from(!is_answered && !look.grounded.is_empty());
            sum.seconds.push(look.took.as_secs_f64());
            is_answered |= !look.grounded.is_empty();
            for claim in look.grounded.iter().filter(|_| place > 0) {
                let _ = writeln!(added, "- {:?}, {}: {}", plain(question), look.how, plain(claim));
            }
        }
    }
    let mut out = format!(
        "## Looking again\n\nThe {} questions asked as a client would. Answers: those that had nothing grounded before \
         that look.\n\n| look | times | claims | grounded | answers | pictures captioned | p50, s |\n|---|---|---|---|---|---|---|\n",
        asked.len()
    );
    for ((place, how), sum) in &sums {
        let Sum { looks, claims, grounded, captioned, answers, seconds } = sum;
        let captioned = if *place == 0 { "–".to_owned() } else { captioned.to_string() };
        let p50 = quantile(seconds, 0.5).unwrap_or_default();
        let _ = writeln!(out, "| {how} | {looks} | {claims} | {grounded} | {answers} | {captioned} | {p50:.2} |");
    }
    format!("{out}\n{added}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_for_the_look_that_grounded_it_first() {
        let look = |how, claims, grounded: &[&str], seconds| Look {
            how,
            claims,
            grounded: grounded.iter().map(|text| (*text).to_owned()).collect(),
            captioned: 2,
            took: Duration::from_secs(seconds),
        };
        let asked = |looks: Vec<Look>| Looked { question: "Who?".into(), looks };
        let told = table(&[
            asked(vec![look("first", 2, &["A. @ 1 s"], 3), look("repair", 1, &["B. @ 2 s"], 1)]),
            asked(vec![look("first", 1, &[], 5), look("repair", 1, &["<C>. @ 3 s"], 2)]),
            asked(vec![look("first", 1, &[], 4)]),
        ]);
        assert!(told.contains("| first | 3 | 4 | 1 | 1 | – | 4.00 |"), "{told}");
        assert!(told.contains("| repair | 2 | 2 | 2 | 1 | 4 | 1.00 |"), "{told}");
        assert!(told.contains("- \"Who?\", repair: &lt;C&gt;. @ 3 s\n") && !told.contains("first: A."), "{told}");
        assert_eq!(table(&[]), "");
    }
}

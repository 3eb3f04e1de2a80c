//! Whether the moments that are taken for questions lie where the answers are.
//!
//! The questions are those of NExT-GQA: about short videos, with the stretches of the video in which the answer is seen.
//! A question is hit at k if one of its first k moments lies inside one of them. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::stats::Share;
use super::table;
use super::text::Half;

/// A question with its evidence, as `questions.jsonl.gz` of the evaluation data holds it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Asked {
    /// The video.
    pub video: String,
    /// Its type: causal why and how (CW, CH), temporal current, next and previous (TC, TN, TP).
    #[serde(rename = "type")]
    pub kind: String,
    /// The question.
    pub question: String,
    /// Where the answer is seen: from and to, in seconds.
    pub evidence: Vec<(f64, f64)>,
}

impl Asked {
    /// Whether the answer is seen at `at` seconds.
    pub fn is_seen_at(&self, at: f64) -> bool {
        self.evidence.iter().any(|(from, to)| (*from..=*to).contains(&at))
    }

    /// Its half.
    pub fn half(&self) -> Half {
        Half::of(&self.video)
    }
}

/// How often the answer lay among the first moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Hits {
    /// Among the first one.
    pub at_1: Share,
    /// Among the first five.
    pub at_5: Share,
}

impl Hits {
    /// One more question; `taken`: the times that were taken for it, best first.
    fn add(&mut self, asked: &Asked, taken: &[f64]) {
        let hit = |k: usize| taken.iter().take(k).any(|at| asked.is_seen_at(*at));
        self.at_1 = self.at_1.with(hit(1));
        self.at_5 = self.at_5.with(hit(5));
    }
}

/// The figures of one sampling interval.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// Seconds between two moments.
    pub every: u64,
    /// By type of question, `all`, and `TN+TP` (before and after): cosine alone, ours, and the most that is possible.
    pub by_kind: BTreeMap<String, [Hits; 3]>,
}

impl Figures {
    /// Nothing counted yet.
    pub fn new(every: u64) -> Self {
        Self { every, by_kind: BTreeMap::new() }
    }

    /// One more question: the times taken by cosine alone, by the product, and all there are.
    pub fn add(&mut self, asked: &Asked, cosine: &[f64], ours: &[f64], all: &[f64]) {
        let mut best = all.to_vec();
        best.sort_by_key(|at| !asked.is_seen_at(*at));
        let both = matches!(asked.kind.as_str(), "TN" | "TP").then_some("TN+TP");
        for kind in ["all", asked.kind.as_str()].into_iter().chain(both) {
            let hits = self.by_kind.entry(kind.to_owned()).or_default();
            for (hits, taken) in hits.iter_mut().zip([cosine, ours, &best]) {
                hits.add(asked, taken);
            }
        }
    }

    /// As a Markdown table.
    pub fn table(&self) -> String {
        let mut out = format!(
            "## One moment every {} s\n\n| questions | cosine, hit@1 | ours, hit@1 | cosine, hit@5 | ours, hit@5 | ours to \
             cosine, hit@5 | possible |\n|---|---|---|---|---|---|---|\n",
            self.every
        );
        for (kind, [cosine, ours, possible]) in &self.by_kind {
            let ratio = ours.at_5.value().zip(cosine.at_5.value()).filter(|(_, cosine)| *cosine > 0.0);
            let ratio = ratio.map_or_else(|| "–".to_owned(), |(ours, cosine)| format!("{:.2}", ours / cosine));
            let possible =
                possible.at_5.value().map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", value * 100.0));
            let _ = writeln!(
                out,
                "| {kind} | {} | {} | {} | {} | {ratio} | {possible} |",
                table::share(cosine.at_1),
                table::share(ours.at_1),
                table::share(cosine.at_5),
                table::share(ours.at_5),
            );
        }
        out.push('\n');
        out
    }
}

/// One question a line.
pub fn read(lines: &str) -> serde_json::Result<Vec<Asked>> {
    lines.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_hit_inside_its_evidence() {
        let line = r#"{"video": "1", "type": "TN", "question": "what next", "choices": ["a"], "evidence": [[5.0, 7.5], [20, 21]]}"#;
        let [asked]: [Asked; 1] = read(line).expect("a question").try_into().expect("one");
        let mut figures = Figures::new(5);
        figures.add(&asked, &[0.0, 5.0], &[20.0], &[0.0, 5.0, 10.0]);
        figures.add(&asked, &[0.0], &[8.0, 10.0], &[0.0, 10.0]);
        let [cosine, ours, possible] = figures.by_kind["TN+TP"];
        let count = |share: Share| (share.hits, share.of);
        assert_eq!([count(cosine.at_1), count(cosine.at_5)], [(0, 2), (1, 2)]);
        assert_eq!([count(ours.at_1), count(ours.at_5)], [(1, 2), (1, 2)]);
        assert_eq!([count(possible.at_1), count(possible.at_5)], [(1, 2), (1, 2)]);
        assert_eq!(figures.by_kind.keys().collect::<Vec<_>>(), ["TN", "TN+TP", "all"]);
        assert!(figures.table().contains("| TN+TP | 0.0 % (0 of 2;") && figures.table().contains("| 1.00 | 50.0 % |"));
        assert!(read("{}").is_err());
    }
}

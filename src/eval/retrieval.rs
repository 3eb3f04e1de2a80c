//! Whether the moments that are taken for questions lie where the answers are.
//!
//! The questions are those of NExT-GQA: about short videos, with the stretches of the video in which the answer is seen.
//! A question is hit at k if one of its first k moments lies inside one of them. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::stats::{Share, quantile};
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

/// Ways of taking moments, beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Compared {
    /// By cosine similarity alone.
    pub cosine: Hits,
    /// Five at even distances, whatever is asked: what is gained by looking in several places alone.
    pub even: Hits,
    /// As the product does.
    pub ours: Hits,
    /// The most that is possible.
    pub possible: Hits,
}

/// Five of `all` at even distances, the one in the middle first.
fn even(all: &[f64]) -> Vec<f64> {
    let places = [5, 3, 7, 1, 9].map(|tenths| all.len() * tenths / 10);
    let mut taken: Vec<f64> = Vec::new();
    for at in places.into_iter().filter_map(|place| all.get(place)) {
        if !taken.contains(at) {
            taken.push(*at);
        }
    }
    taken
}

/// How many of a video's questions were hit at five, by cosine and by the product.
type Counts = [usize; 2];

/// Times that the videos are drawn afresh for an interval.
const DRAWS: usize = 2000;

/// The figures of one sampling interval.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// Seconds between two moments.
    pub every: u64,
    /// By type of question, `all`, and `TN+TP` (before and after).
    pub by_kind: BTreeMap<String, Compared>,
    /// Our hit@5 to that of cosine alone, with its 95 % interval.
    pub ratio: BTreeMap<String, Option<Ratio>>,
    #[serde(skip)]
    by_video: BTreeMap<String, BTreeMap<String, Counts>>,
}

/// One share to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Its 95 % interval by drawing the videos afresh (Efron's percentile bootstrap): questions of one video depend on
    /// each other.
    pub interval95: [f64; 2],
}

impl Ratio {
    /// The second count of all videos to the first; `None` without any hit by the first. The draws are the same each time.
    fn of(videos: &BTreeMap<String, Counts>) -> Option<Self> {
        let videos: Vec<Counts> = videos.values().copied().collect();
        let ratio = |drawn: &mut dyn Iterator<Item = Counts>| {
            let [cosine, ours] = drawn.fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
            (cosine > 0).then(|| ours as f64 / cosine as f64)
        };
        let value = ratio(&mut videos.iter().copied())?;
        let mut random = fastrand::Rng::with_seed(1);
        let mut draw = |_| ratio(&mut (0..videos.len()).map(|_| videos[random.usize(..videos.len())]));
        let draws: Vec<f64> = (0..DRAWS).filter_map(&mut draw).collect();
        let interval95 = [quantile(&draws, 0.025)?, quantile(&draws, 0.975)?];
        Some(Self { value, interval95 })
    }
}

impl Figures {
    /// Nothing counted yet.
    pub fn new(every: u64) -> Self {
        Self { every, ..Self::default() }
    }

    /// One more question: the times taken by cosine alone, by the product, and all there are.
    pub fn add(&mut self, asked: &Asked, cosine: &[f64], ours: &[f64], all: &[f64]) {
        let mut best = all.to_vec();
        best.sort_by_key(|at| !asked.is_seen_at(*at));
        let even = even(all);
        let both = matches!(asked.kind.as_str(), "TN" | "TP").then_some("TN+TP");
        for kind in ["all", asked.kind.as_str()].into_iter().chain(both) {
            let compared = self.by_kind.entry(kind.to_owned()).or_default();
            compared.cosine.add(asked, cosine);
            compared.even.add(asked, &even);
            compared.ours.add(asked, ours);
            compared.possible.add(asked, &best);
            let hit = |taken: &[f64]| usize::from(taken.iter().take(5).any(|at| asked.is_seen_at(*at)));
            let counts = self.by_video.entry(kind.to_owned()).or_default().entry(asked.video.clone()).or_default();
            *counts = [counts[0] + hit(cosine), counts[1] + hit(ours)];
        }
    }

    /// With the ratios of all that was added.
    #[must_use]
    pub fn compared(mut self) -> Self {
        self.ratio = self.by_video.iter().map(|(kind, videos)| (kind.clone(), Ratio::of(videos))).collect();
        self
    }

    /// As a Markdown table.
    pub fn table(&self) -> String {
        let mut out = format!(
            "## One moment every {} s\n\n| questions | cosine, hit@1 | ours, hit@1 | cosine, hit@5 | even, hit@5 | ours, \
             hit@5 | ours to cosine, hit@5 | possible |\n|---|---|---|---|---|---|---|---|\n",
            self.every
        );
        for (kind, Compared { cosine, even, ours, possible }) in &self.by_kind {
            let ratio = self.ratio.get(kind).copied().flatten().map_or_else(
                || "–".to_owned(),
                |Ratio { value, interval95: [low, high] }| format!("{value:.2} ({low:.2}–{high:.2})"),
            );
            let possible =
                possible.at_5.value().map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", value * 100.0));
            let _ = writeln!(
                out,
                "| {kind} | {} | {} | {} | {} | {} | {ratio} | {possible} |",
                table::share(cosine.at_1),
                table::share(ours.at_1),
                table::share(cosine.at_5),
                table::share(even.at_5),
                table::share(ours.at_5),
            );
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_hit_inside_its_evidence() {
        let line = r#"{"video": "1", "type": "TN", "question": "what next", "choices": ["a"], "evidence": [[5.0, 7.5], [20, 21]]}"#;
        let asked: Asked = serde_json::from_str(line).expect("a question");
        let mut figures = Figures::new(5);
        figures.add(&asked, &[0.0, 5.0], &[20.0], &[0.0, 5.0, 10.0]);
        figures.add(&asked, &[0.0], &[8.0, 10.0], &[0.0, 10.0]);
        let Compared { cosine, even, ours, possible } = figures.by_kind["TN+TP"];
        let count = |share: Share| (share.hits, share.of);
        assert_eq!([count(cosine.at_1), count(cosine.at_5)], [(0, 2), (1, 2)]);
        assert_eq!([count(ours.at_1), count(ours.at_5)], [(1, 2), (1, 2)]);
        assert_eq!([count(possible.at_1), count(possible.at_5)], [(1, 2), (1, 2)]);
        assert_eq!(count(even.at_5), (1, 2));
        assert_eq!(figures.by_kind.keys().collect::<Vec<_>>(), ["TN", "TN+TP", "all"]);
        let figures = figures.compared();
        assert!(
            figures.table().contains("| TN+TP | 0.0 % (0 of 2;")
                && figures.table().contains("| 1.00 (1.00–1.00) | 50.0 % |")
        );
        assert!(serde_json::from_str::<Asked>("{}").is_err());
    }

    #[test]
    fn even_distances_need_no_question() {
        let all: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(even(&all), [10.0, 6.0, 14.0, 2.0, 18.0]);
        assert_eq!(even(&all[..3]), [1.0, 0.0, 2.0]);
        assert_eq!(even(&[]), Vec::<f64>::new());
    }

    #[test]
    fn a_ratio_has_an_interval_over_videos() {
        let videos = |counts: &[Counts]| counts.iter().enumerate().map(|(at, it)| (at.to_string(), *it)).collect();
        let even = Ratio::of(&videos(&[[2, 3]; 20])).expect("a ratio");
        assert_eq!((even.value, even.interval95), (1.5, [1.5, 1.5]));
        let odd = Ratio::of(&videos(&[[1, 3], [3, 3], [2, 1], [4, 5], [1, 0], [2, 4]])).expect("a ratio");
        assert!(odd.interval95[0] < odd.value && odd.value < odd.interval95[1], "{odd:?}");
        assert_eq!(Ratio::of(&videos(&[[0, 3]])), None);
        assert_eq!(Ratio::of(&BTreeMap::new()), None);
    }
}

//! One score a moment from similarity in meaning, in words, to an event beside it, and from its place. Pure.

use super::terms;
use crate::domain::Side;

/// What common words weigh beside meaning.
const WORDS: f32 = 0.25;
/// The moments just beyond an event begin so many seconds from it …
const BEYOND: f64 = 2.0;
/// … and end so many seconds, or one and a half sampling intervals, later.
const REACH: f64 = 6.0;
/// What a moment loses that has no moment where the event should be.
const NO_EVENT: f32 = -1.0;
/// What a moment loses at the far end of the window of an edge; at the edge itself it loses nothing.
const EDGE: f64 = 2.0;

/// A moment that may be taken.
#[derive(Debug, Clone)]
pub(in crate::answer) struct Candidate {
    /// Its time, in seconds on one clock for all streams.
    pub(in crate::answer) at: f64,
    /// Its stream, as a number.
    pub(in crate::answer) stream: usize,
    /// The stems of its caption.
    pub(in crate::answer) stems: Vec<String>,
    /// Cosine similarity of its caption to the question.
    pub(in crate::answer) topic: f32,
    /// The same to the event that the question leans on.
    pub(in crate::answer) event: f32,
}

/// Where in time moments are preferred.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::answer) struct Lean {
    /// The best time, on the clock of the candidates.
    pub(in crate::answer) towards: f64,
    /// How many seconds away from it the window ends.
    pub(in crate::answer) within: f64,
}

/// What is wished for.
#[derive(Debug, Clone, Default)]
pub(in crate::answer) struct Wish {
    /// Stems of the question.
    pub(in crate::answer) topic: Vec<String>,
    /// Stems of the event, and where to look from there.
    pub(in crate::answer) event: Option<(Side, Vec<String>)>,
    /// Where in time, one entry a stream.
    pub(in crate::answer) lean: Vec<Option<Lean>>,
    /// Seconds between two samples.
    pub(in crate::answer) every: f64,
}

/// The score of every candidate; higher is better, and only the order means anything.
pub(in crate::answer) fn scores(candidates: &[Candidate], wish: &Wish) -> Vec<f32> {
    let documents: Vec<&[String]> = candidates.iter().map(|candidate| candidate.stems.as_slice()).collect();
    let similar = |stems: &[String], cosine: fn(&Candidate) -> f32| -> Vec<f32> {
        let meaning = standard(candidates.iter().map(cosine).collect());
        let words = standard(terms::weights(stems, &documents));
        meaning.into_iter().zip(words).map(|(meaning, words)| meaning + WORDS * words).collect()
    };
    let mut scores = similar(&wish.topic, |candidate| candidate.topic);
    if let Some((side, stems)) = &wish.event {
        let event = similar(stems, |candidate| candidate.event);
        let beside = beside(candidates, &event, *side, wish.every);
        scores.iter_mut().zip(beside).for_each(|(score, beside)| *score += beside);
    }
    for (score, candidate) in scores.iter_mut().zip(candidates) {
        if let Some(Some(lean)) = wish.lean.get(candidate.stream)
            && lean.within > 0.0
        {
            *score -= (EDGE * (candidate.at - lean.towards).abs() / lean.within) as f32;
        }
    }
    scores
}

/// For every candidate, how much the best moment at the place of the event resembles it. Candidates may stand in any
/// order.
fn beside(candidates: &[Candidate], event: &[f32], side: Side, every: f64) -> Vec<f32> {
    if side == Side::During {
        return event.to_vec();
    }
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|a, b| candidates[*a].at.total_cmp(&candidates[*b].at));
    let reach = BEYOND + REACH.max(1.5 * every);
    let best = |at: f64| {
        let (from, to) = match side {
            Side::After => (at - reach, at - BEYOND),
            _ => (at + BEYOND, at + reach),
        };
        let begin = order.partition_point(|index| candidates[*index].at < from);
        let there = order[begin..].iter().take_while(|index| candidates[**index].at <= to);
        there.map(|index| event[*index]).fold(f32::NEG_INFINITY, f32::max)
    };
    let found = candidates.iter().map(|candidate| best(candidate.at));
    found.map(|best| if best == f32::NEG_INFINITY { NO_EVENT } else { best }).collect()
}

/// In standard deviations from the mean; all zero if they do not differ.
fn standard(values: Vec<f32>) -> Vec<f32> {
    let count = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count).sqrt();
    let scale = if deviation > 1e-6 { deviation.recip() } else { 0.0 };
    values.into_iter().map(|value| (value - mean) * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words::content;

    fn candidates(captions: &[(f64, &str, f32, f32)]) -> Vec<Candidate> {
        let candidate = |(at, caption, topic, event): &(f64, &str, f32, f32)| Candidate {
            at: *at,
            stream: 0,
            stems: content(caption),
            topic: *topic,
            event: *event,
        };
        captions.iter().map(candidate).collect()
    }

    fn best(candidates: &[Candidate], wish: &Wish) -> f64 {
        let scores = scores(candidates, wish);
        let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).expect("some");
        candidates[best].at
    }

    #[test]
    fn words_decide_between_equals() {
        let candidates = candidates(&[(0.0, "a car", 0.5, 0.0), (5.0, "a dog", 0.5, 0.0), (10.0, "a bus", 0.5, 0.0)]);
        let wish = Wish { topic: content("Where is the dog?"), every: 5.0, ..Wish::default() };
        assert_eq!(best(&candidates, &wish), 5.0);
    }

    #[test]
    fn what_lies_beside_the_event_is_taken() {
        let at = [0.0, 5.0, 10.0, 15.0, 20.0, 25.0];
        let captions = at.map(|at| (at, "a man", 0.5, if at == 10.0 { 0.9 } else { 0.1 }));
        let candidates = candidates(&captions);
        let wish = |side| Wish { event: Some((side, content("he sits down"))), every: 5.0, ..Wish::default() };
        let of = |side| scores(&candidates, &wish(side));
        let high = |scores: Vec<f32>| -> Vec<f64> {
            let best = scores.iter().copied().fold(f32::MIN, f32::max);
            at.iter().zip(scores).filter(|(_, score)| *score > best - 0.01).map(|(at, _)| *at).collect()
        };
        assert_eq!(high(of(Side::After)), [15.0]);
        assert_eq!(high(of(Side::Before)), [5.0]);
        assert_eq!(high(of(Side::During)), [10.0]);
    }

    #[test]
    fn an_edge_draws_and_similarity_can_outweigh_it() {
        let plain = candidates(&[(0.0, "", 0.5, 0.0), (5.0, "", 0.5, 0.0), (10.0, "", 0.5, 0.0)]);
        let lean = |towards| Wish { lean: vec![Some(Lean { towards, within: 10.0 })], every: 5.0, ..Wish::default() };
        assert_eq!([best(&plain, &lean(0.0)), best(&plain, &lean(10.0))], [0.0, 10.0]);
        let similar = candidates(&[(0.0, "", 0.1, 0.0), (5.0, "", 0.9, 0.0), (10.0, "", 0.1, 0.0)]);
        assert_eq!(best(&similar, &lean(0.0)), 5.0);
    }

    #[test]
    fn nothing_and_one_are_scored() {
        assert_eq!(scores(&[], &Wish::default()), Vec::<f32>::new());
        assert_eq!(scores(&candidates(&[(0.0, "", 0.3, 0.2)]), &Wish::default()), [0.0]);
        let wish = Wish { event: Some((Side::After, vec![])), ..Wish::default() };
        assert_eq!(scores(&candidates(&[(0.0, "", f32::NAN, 0.2)]), &wish).len(), 1);
    }
}

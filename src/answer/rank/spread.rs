//! The moments that together cover most of where the answer may be. Pure.
//!
//! An answer is seen for some seconds, so a moment stands for what is beside it in time too, the less the farther away.
//! Every moment weighs as its score says; the one that covers most weight is taken, what it covers weighs less, and so
//! on. That is the greedy choice for a submodular sum (Nemhauser, Wolsey and Fisher 1978): never worse than 63 % of the
//! best choice. One look at an event is followed by a look elsewhere, and a moment whose neighbours agree comes before
//! one that stands alone.

use std::ops::Range;

use super::Candidate;

/// A moment that is two standard deviations better weighs e times more.
const SHARPNESS: f32 = 0.5;
/// Seconds after which a moment covers a third.
const NEAR: f64 = 3.0;
/// Seconds after which it covers nothing worth counting.
const FAR: f64 = 5.0 * NEAR;

/// A place in time: the number of the stream, and seconds.
pub(in crate::answer) type Place = (usize, f64);

/// At most `k` candidates, in the order taken; what lies beside `seen` counts as covered. Deterministic: of equals the
/// first.
pub(in crate::answer) fn spread(candidates: &[Candidate], scores: &[f32], seen: &[Place], k: usize) -> Vec<usize> {
    let mut field = Field::new(candidates, scores);
    for place in seen {
        field.cover(*place);
    }
    let mut taken = Vec::new();
    while taken.len() < k.min(candidates.len()) {
        let left = (0..candidates.len()).filter(|index| !taken.contains(index));
        let worth = left.map(|index| (index, field.worth(field.place(index))));
        let Some((best, _)) = worth.rev().max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        taken.push(best);
        field.cover(field.place(best));
    }
    taken
}

/// What is still to be covered.
struct Field<'a> {
    candidates: &'a [Candidate],
    /// The candidates by stream and time.
    order: Vec<usize>,
    /// What each of them still weighs.
    left: Vec<f32>,
}

impl<'a> Field<'a> {
    fn new(candidates: &'a [Candidate], scores: &[f32]) -> Self {
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |score: &f32| if score.is_nan() { 0.0 } else { (SHARPNESS * (score - best)).exp() };
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        let key = |index: &usize| (candidates[*index].stream, candidates[*index].at);
        order.sort_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
        Self { candidates, order, left: scores.iter().map(weight).collect() }
    }

    fn place(&self, index: usize) -> Place {
        (self.candidates[index].stream, self.candidates[index].at)
    }

    /// Where in the order those near a place are.
    fn around(&self, (stream, at): Place) -> Range<usize> {
        let before = |index: &usize| {
            let other = self.place(*index);
            other.0 < stream || (other.0 == stream && other.1 < at - FAR)
        };
        let from = self.order.partition_point(before);
        let near = |index: &&usize| self.place(**index).0 == stream && self.place(**index).1 <= at + FAR;
        from..from + self.order[from..].iter().take_while(near).count()
    }

    /// How much of another moment one at `at` covers.
    fn covers(&self, at: f64, index: usize) -> f32 {
        (-(self.candidates[index].at - at).abs() / NEAR).exp() as f32
    }

    fn worth(&self, place: Place) -> f32 {
        let near = self.order[self.around(place)].iter();
        near.map(|index| self.covers(place.1, *index) * self.left[*index]).sum()
    }

    fn cover(&mut self, place: Place) {
        for position in self.around(place) {
            let index = self.order[position];
            self.left[index] *= 1.0 - self.covers(place.1, index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[Place]) -> Vec<Candidate> {
        let candidate =
            |(stream, at): &Place| Candidate { at: *at, stream: *stream, stems: vec![], topic: 0.0, event: 0.0 };
        times.iter().map(candidate).collect()
    }

    #[test]
    fn the_best_is_taken_and_its_neighbours_wait() {
        let candidates = at(&[(0, 0.0), (0, 1.0), (0, 2.0), (0, 20.0), (1, 1.0)]);
        let scores = [1.0, 1.1, 1.0, 0.2, 0.1];
        assert_eq!(spread(&candidates, &scores, &[], 3), [1, 3, 4], "another stream is no neighbour");
        assert_eq!(spread(&candidates, &scores, &[], 1), [1]);
        assert_eq!(spread(&candidates, &scores, &[], 9).len(), 5);
        assert_eq!(spread(&[], &[], &[(0, 0.0)], 3), Vec::<usize>::new());
        assert_eq!(spread(&at(&[(0, 0.0), (0, 60.0)]), &[f32::NAN, 0.5], &[], 2), [1, 0]);
        assert_eq!(spread(&at(&[(0, 60.0), (0, 0.0)]), &[0.5, 0.5], &[], 2), [0, 1]);
    }

    #[test]
    fn what_was_seen_is_not_looked_at_again() {
        let candidates = at(&[(0, 0.0), (0, 5.0), (0, 40.0), (1, 5.0)]);
        let scores = [0.0, 2.0, 0.5, 0.4];
        assert_eq!(spread(&candidates, &scores, &[], 1), [1]);
        assert_eq!(spread(&candidates, &scores, &[(0, 5.0)], 2), [2, 3]);
    }

    #[test]
    fn neighbours_that_agree_come_before_one_that_stands_alone() {
        let candidates = at(&[(0, 0.0), (0, 1.0), (0, 2.0), (0, 60.0)]);
        assert_eq!(spread(&candidates, &[1.0, 1.0, 1.0, 1.1], &[], 1), [1]);
        assert_eq!(spread(&candidates, &[1.0, 1.0, 1.0, 3.0], &[], 1), [3], "unless it is much better");
    }
}

//! The k best of a run of scores.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Keeps the `k` highest scores; of equal scores the lower number wins.
#[derive(Debug)]
pub(super) struct Top {
    k: usize,
    /// The worst of the kept ones is on top.
    kept: BinaryHeap<Reverse<Scored>>,
}

/// A moment's number with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    pub(super) score: f32,
    pub(super) id: u64,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

impl Top {
    pub(super) fn new(k: usize) -> Self {
        Self { k, kept: BinaryHeap::new() }
    }

    pub(super) fn offer(&mut self, id: u64, score: f32) {
        let offered = Scored { score, id };
        if self.kept.len() < self.k {
            self.kept.push(Reverse(offered));
        } else if self.kept.peek().is_some_and(|worst| offered > worst.0) {
            self.kept.pop();
            self.kept.push(Reverse(offered));
        }
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<Scored> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(scored)| scored).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_sorting_everything(scores in proptest::collection::vec(-1.0f32..1.0, 0..60), k in 0usize..12) {
            let mut top = Top::new(k);
            for (id, &score) in scores.iter().enumerate() {
                top.offer(id as u64, (score * 4.0).round());
            }
            let mut all: Vec<_> = scores.iter().map(|score| (score * 4.0).round()).enumerate().collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let best: Vec<_> = all.into_iter().take(k).map(|(id, _)| id as u64).collect();
            prop_assert_eq!(top.into_sorted().into_iter().map(|scored| scored.id).collect::<Vec<_>>(), best);
        }
    }
}

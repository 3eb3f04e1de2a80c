//! The best moments, spread over time (maximal marginal relevance, Carbonell and Goldstein 1998, with nearness in time for
//! similarity). Pure.

use super::Candidate;

/// What a moment loses beside one that was taken.
const CROWDED: f32 = 4.0;
/// Seconds after which that has shrunk to a third.
const NEAR: f64 = 4.0;

/// At most `k` candidates, in the order taken. Deterministic: of equals the first.
pub(in crate::answer) fn spread(candidates: &[Candidate], scores: &[f32], k: usize) -> Vec<usize> {
    let mut loss = vec![0.0_f32; candidates.len()];
    let mut taken: Vec<usize> = Vec::new();
    let mut is_taken = vec![false; candidates.len()];
    while taken.len() < k.min(candidates.len()) {
        let left = (0..candidates.len()).filter(|index| !is_taken[*index]);
        let worth = |index: usize| scores[index] - CROWDED * loss[index];
        let Some(best) = left.rev().max_by(|a, b| worth(*a).total_cmp(&worth(*b))) else { break };
        is_taken[best] = true;
        taken.push(best);
        for (loss, candidate) in loss.iter_mut().zip(candidates) {
            if candidate.stream == candidates[best].stream {
                let near = (-(candidate.at - candidates[best].at).abs() / NEAR).exp();
                *loss = loss.max(near as f32);
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[(usize, f64)]) -> Vec<Candidate> {
        let candidate =
            |(stream, at): &(usize, f64)| Candidate { at: *at, stream: *stream, stems: vec![], topic: 0.0, event: 0.0 };
        times.iter().map(candidate).collect()
    }

    #[test]
    fn the_best_is_taken_and_its_neighbours_wait() {
        let candidates = at(&[(0, 0.0), (0, 1.0), (0, 2.0), (0, 20.0), (1, 1.0)]);
        let scores = [1.0, 1.1, 1.0, 0.2, 0.1];
        assert_eq!(spread(&candidates, &scores, 3), [1, 3, 4], "another stream is no neighbour");
        assert_eq!(spread(&candidates, &scores, 1), [1]);
        assert_eq!(spread(&candidates, &scores, 9).len(), 5);
        assert_eq!(spread(&[], &[], 3), Vec::<usize>::new());
        assert_eq!(spread(&at(&[(0, 0.0), (0, 60.0)]), &[f32::NAN, 0.5], 2).len(), 2);
        assert_eq!(spread(&at(&[(0, 0.0), (0, 60.0)]), &[0.5, 0.5], 2), [0, 1]);
    }
}

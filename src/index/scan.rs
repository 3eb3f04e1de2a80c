//! The arithmetic of a search: one query against stored vectors, and which way through the tables is shorter.
//!
//! Pure; the loops are written so that the compiler vectorises them.

use half::f16;
use half::slice::HalfFloatSliceExt as _;

use super::codec::Vector;

/// Independent sums, so that the additions need not wait for each other.
const LANES: usize = 16;

/// A unit-length query with room to unpack one stored vector.
#[derive(Debug)]
pub(super) struct Query {
    components: Vec<f32>,
    packed: Vec<f16>,
    unpacked: Vec<f32>,
}

impl Query {
    pub(super) fn new(components: &[f32]) -> Self {
        let length = components.len();
        Self { components: components.to_vec(), packed: vec![f16::ZERO; length], unpacked: vec![0.0; length] }
    }

    /// Cosine similarity to a stored vector; `None` if it has another number of components, which means that another
    /// embedder made it.
    pub(super) fn cosine(&mut self, stored: Vector<'_>) -> Option<f32> {
        if stored.len() != self.components.len() {
            return None;
        }
        stored.copy_to(&mut self.packed);
        self.packed.convert_to_f32_slice(&mut self.unpacked);
        Some(dot(&self.components, &self.unpacked))
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// How to reach the rows that a window selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Fetch each one by its number.
    Fetch,
    /// Walk all rows between the first and the last one and skip those of other streams.
    Walk,
}

/// Fetching a row by number costs about this many steps of a walk (measured by `benches/index.rs`).
const FETCH_COST: u64 = 3;

/// The shorter way to `selected` rows that lie among `between` rows.
pub(super) fn way(selected: u64, between: u64) -> Way {
    if selected.saturating_mul(FETCH_COST) >= between { Way::Walk } else { Way::Fetch }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Embedding;
    use crate::index::codec;

    proptest! {
        #[test]
        fn a_stored_cosine_is_the_cosine(
            a in proptest::collection::vec(-1.0f32..1.0, 1..100), seed in proptest::collection::vec(-1.0f32..1.0, 100),
        ) {
            let (a, b) = (Embedding::new(a.clone()), Embedding::new(seed[..a.len()].to_vec()));
            let stored = codec::encode_vector(b.as_slice());
            let cosine = Query::new(a.as_slice()).cosine(codec::vector(&stored)).expect("the same length");
            prop_assert!((cosine - a.cosine(&b)).abs() < 0.002, "{cosine} is not {}", a.cosine(&b));
        }
    }

    #[test]
    fn vectors_of_another_length_are_not_compared() {
        let stored = codec::encode_vector(&[1.0, 0.0]);
        assert_eq!(Query::new(&[1.0]).cosine(codec::vector(&stored)), None);
    }

    #[test]
    fn few_rows_are_fetched_and_many_are_walked_to() {
        for (selected, between, expected) in [
            (0, 1, Way::Fetch),
            (1, 1, Way::Walk),
            (10, 1_000, Way::Fetch),
            (400, 1_000, Way::Walk),
            (u64::MAX, u64::MAX, Way::Walk),
        ] {
            assert_eq!(way(selected, between), expected, "{selected} of {between}");
        }
    }
}

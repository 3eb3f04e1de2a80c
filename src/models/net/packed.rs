//! Token sequences of unequal lengths, laid end to end.

use candle_core::{Device, Tensor};

/// Sequences end to end: row `i` of every tensor made from them belongs to token `i`.
pub(crate) struct Packed {
    ids: Vec<u32>,
    /// Which sentence of a pair each token belongs to; empty if nobody asks.
    types: Vec<u32>,
    lengths: Vec<usize>,
}

impl Packed {
    /// Lays the sequences end to end. None may be empty; a tokenizer that adds special tokens makes none.
    pub(crate) fn new<'a>(sequences: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut packed = Self { ids: Vec::new(), types: Vec::new(), lengths: Vec::new() };
        for sequence in sequences {
            debug_assert!(!sequence.is_empty());
            packed.ids.extend_from_slice(sequence);
            packed.lengths.push(sequence.len());
        }
        packed
    }

    /// The same with the type of every token, in the same order.
    pub(crate) fn with_types<'a>(mut self, types: impl IntoIterator<Item = &'a [u32]>) -> Self {
        self.types = types.into_iter().flatten().copied().collect();
        debug_assert_eq!(self.types.len(), self.ids.len());
        self
    }

    /// Tokens of each sequence.
    pub(crate) fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Where each sequence starts.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        self.lengths.iter().scan(0, |next, length| {
            let start = *next;
            *next += length;
            Some(start)
        })
    }

    /// Token ids `[tokens]`.
    pub(super) fn ids(&self) -> candle_core::Result<Tensor> {
        Tensor::new(self.ids.as_slice(), &Device::Cpu)
    }

    /// Type of each token `[tokens]`.
    pub(super) fn types(&self) -> candle_core::Result<Tensor> {
        Tensor::new(self.types.as_slice(), &Device::Cpu)
    }

    /// Place of each token in its sequence `[tokens]`.
    pub(super) fn positions(&self) -> candle_core::Result<Tensor> {
        let positions: Vec<u32> = self.lengths.iter().flat_map(|length| 0..*length as u32).collect();
        Tensor::new(positions, &Device::Cpu)
    }

    /// The first row of each sequence of `rows` `[tokens, width]`: `[sequences, width]`.
    pub(super) fn firsts(&self, rows: &Tensor) -> candle_core::Result<Tensor> {
        let starts: Vec<u32> = self.starts().map(|start| start as u32).collect();
        rows.index_select(&Tensor::new(starts, &Device::Cpu)?, 0)
    }
}

/// Cuts `lengths` into runs of at most `tokens` tokens (at least one sequence each), so that memory stays bounded
/// whatever the batch: the ends of the runs.
pub(crate) fn runs(lengths: &[usize], tokens: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut sum = 0;
    for (i, length) in lengths.iter().enumerate() {
        if sum > 0 && sum + length > tokens {
            ends.push(i);
            sum = 0;
        }
        sum += length;
    }
    if !lengths.is_empty() {
        ends.push(lengths.len());
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_lie_end_to_end() {
        let packed = Packed::new([[7, 8].as_slice(), &[9], &[1, 2, 3]]);
        assert_eq!(packed.lengths(), [2, 1, 3]);
        assert_eq!(packed.starts().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(packed.positions().and_then(|p| p.to_vec1::<u32>()).expect("a vector"), [0, 1, 0, 0, 1, 2]);
        let ids = packed.ids().and_then(|ids| ids.reshape((6, 1))).expect("a column");
        assert_eq!(packed.firsts(&ids).and_then(|f| f.to_vec2::<u32>()).expect("a matrix"), [[7], [9], [1]]);
    }

    #[test]
    fn runs_hold_at_least_one_sequence_and_otherwise_no_more_than_asked() {
        assert_eq!(runs(&[], 10), [0; 0]);
        assert_eq!(runs(&[4, 4, 4], 8), [2, 3]);
        assert_eq!(runs(&[20, 1, 1], 8), [1, 3]);
        assert_eq!(runs(&[1, 20], 8), [1, 2]);
    }
}

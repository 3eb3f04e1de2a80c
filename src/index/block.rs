//! Vectors of one stream, packed in the order of time, so that a search reads whole pages and little else.
//!
//! Pure, and as careful with bytes as `codec`. A block, version 1, little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 1 |
//! | 2 | components of each vector |
//! | then for each moment: | |
//! | 8 | its number |
//! | 8 | `at`: ns of stream time |
//! | 2 each | the vector, f16 |

use half::f16;
use half::slice::HalfFloatSliceExt as _;

use super::codec::{CodecError, Reader};
use crate::domain::StreamTime;

const BLOCK: u8 = 1;
const HEADER: usize = 3;
const NUMBER_AND_TIME: usize = 16;
/// A block that would grow beyond this is full: with its key it fills one page of 32 KiB.
const FULL: usize = 32_000;
/// Longest vector.
pub(super) const MAX_COMPONENTS: usize = 8192;
/// Independent sums, so that the additions need not wait for each other.
const LANES: usize = 16;

/// A block's bytes, checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    components: usize,
    entries: &'a [u8],
}

/// One moment in a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) id: u64,
    pub(super) at: StreamTime,
    /// f16, little-endian.
    vector: &'a [u8],
}

impl<'a> Block<'a> {
    /// Reads a block.
    pub(super) fn decode(bytes: &'a [u8]) -> Result<Self, CodecError> {
        let mut reader = Reader(bytes);
        reader.layout(BLOCK)?;
        let components = usize::from(u16::from_le_bytes(reader.array()?));
        let entries = reader.0;
        if entries.len().is_multiple_of(entry_bytes(components)) {
            Ok(Self { components, entries })
        } else {
            Err(CodecError::Short)
        }
    }

    /// Its moments in the order of time.
    pub(super) fn entries(self) -> impl Iterator<Item = Result<Entry<'a>, CodecError>> {
        self.entries.chunks_exact(entry_bytes(self.components)).map(|bytes| {
            let mut reader = Reader(bytes);
            Ok(Entry { id: reader.u64()?, at: reader.stream_time()?, vector: reader.0 })
        })
    }
}

fn entry_bytes(components: usize) -> usize {
    NUMBER_AND_TIME + 2 * components
}

/// The block `last` with one more moment; `None` if it is full or holds vectors of another length, so that a
/// [new](start) one is needed.
pub(super) fn grow(last: &[u8], id: u64, at: StreamTime, vector: &[f32]) -> Result<Option<Vec<u8>>, CodecError> {
    let block = Block::decode(last)?;
    if block.components != vector.len() || last.len() + entry_bytes(vector.len()) > FULL {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(last.len() + entry_bytes(vector.len()));
    bytes.extend(last);
    push(&mut bytes, id, at, vector);
    Ok(Some(bytes))
}

/// A block of one moment. The caller keeps the vector within [`MAX_COMPONENTS`].
pub(super) fn start(id: u64, at: StreamTime, vector: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + entry_bytes(vector.len()));
    bytes.push(BLOCK);
    bytes.extend((vector.len() as u16).to_le_bytes());
    push(&mut bytes, id, at, vector);
    bytes
}

fn push(bytes: &mut Vec<u8>, id: u64, at: StreamTime, vector: &[f32]) {
    bytes.extend(id.to_le_bytes());
    bytes.extend(at.nanos().to_le_bytes());
    bytes.extend(vector.iter().flat_map(|&component| f16::from_f32(component).to_le_bytes()));
}

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

    /// Cosine similarity to a stored vector; `None` if it has another number of components and so cannot be compared.
    pub(super) fn cosine(&mut self, entry: Entry<'_>) -> Option<f32> {
        let (stored, rest) = entry.vector.as_chunks::<2>();
        if stored.len() != self.components.len() || !rest.is_empty() {
            return None;
        }
        for (packed, bytes) in self.packed.iter_mut().zip(stored) {
            *packed = f16::from_le_bytes(*bytes);
        }
        self.packed.convert_to_f32_slice(&mut self.unpacked);
        Some(dot(&self.components, &self.unpacked))
    }
}

/// Written so that the compiler vectorises it.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Embedding;

    fn time(seconds: usize) -> StreamTime {
        StreamTime::from_nanos(seconds as u64 * 1_000_000_000)
    }

    proptest! {
        #[test]
        fn a_stored_cosine_is_the_cosine(
            a in proptest::collection::vec(-1.0f32..1.0, 1..100), seed in proptest::collection::vec(-1.0f32..1.0, 100),
        ) {
            let (a, b) = (Embedding::new(a.clone()), Embedding::new(seed[..a.len()].to_vec()));
            let bytes = start(7, time(5), b.as_slice());
            let entry = Block::decode(&bytes).expect("a block").entries().next().expect("one").expect("sound");
            prop_assert_eq!((entry.id, entry.at), (7, time(5)));
            let cosine = Query::new(a.as_slice()).cosine(entry).expect("the same length");
            prop_assert!((cosine - a.cosine(&b)).abs() < 0.002, "{} is not {}", cosine, a.cosine(&b));
        }

        #[test]
        fn any_bytes_are_a_block_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), components in 0u16..20) {
            let mut bytes = bytes;
            if let [layout, low, high, ..] = bytes.as_mut_slice() {
                (*layout, [*low, *high]) = (BLOCK, components.to_le_bytes());
            }
            let mut query = Query::new(&[0.6, 0.8]);
            if let Ok(block) = Block::decode(&bytes) {
                for entry in block.entries().flatten() {
                    prop_assert_eq!(query.cosine(entry).is_some(), components == 2);
                }
            }
            let _ = grow(&bytes, 1, StreamTime::ZERO, &[0.6, 0.8]);
        }

        #[test]
        fn a_block_grows_in_order_until_it_is_full(components in 1usize..600) {
            let vector = vec![0.5; components];
            let mut bytes = start(0, time(0), &vector);
            let mut count = 1;
            while let Some(grown) = grow(&bytes, count as u64, time(count), &vector).expect("a block") {
                bytes = grown;
                count += 1;
            }
            prop_assert!(bytes.len() <= FULL && bytes.len() + entry_bytes(components) > FULL);
            let entries: Vec<_> = Block::decode(&bytes).expect("a block").entries().map(|e| e.expect("sound")).collect();
            prop_assert_eq!(entries.len(), count);
            for (number, entry) in entries.into_iter().enumerate() {
                prop_assert_eq!((entry.id, entry.at, entry.vector.len()), (number as u64, time(number), 2 * components));
            }
        }
    }

    #[test]
    fn vectors_of_another_length_are_neither_mixed_nor_compared() {
        let bytes = start(1, time(1), &[0.6, 0.8]);
        assert_eq!(grow(&bytes, 2, time(2), &[1.0]), Ok(None));
        let entry = Block::decode(&bytes).expect("a block").entries().next().expect("one").expect("sound");
        assert_eq!(Query::new(&[1.0]).cosine(entry), None);
    }

    #[test]
    fn a_vector_larger_than_a_block_has_one_of_its_own() {
        let vector = vec![0.1; MAX_COMPONENTS];
        let bytes = start(1, time(1), &vector);
        assert_eq!(Block::decode(&bytes).expect("a block").entries().count(), 1);
        assert_eq!(grow(&bytes, 2, time(2), &vector), Ok(None));
    }
}

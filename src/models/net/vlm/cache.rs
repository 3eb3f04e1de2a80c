//! Keys and values of the tokens read so far, layer by layer.
//!
//! A cache belongs to one generation. It grows, can be cut back to a prefix, and a prefix read once can be copied for
//! several continuations. Slots that hold padding are remembered as such.

use candle_core::{Result, Tensor};

/// Slots that are reserved beyond what is needed at once.
const SPARE: usize = 64;

/// What one decoder remembers. `[rows, heads, slots, width]` a layer.
#[derive(Debug, Clone, Default)]
pub(in crate::models) struct Cache {
    layers: Vec<(Tensor, Tensor)>,
    /// For each row, whether each slot holds a token.
    held: Vec<Vec<bool>>,
    reserve: usize,
}

impl Cache {
    /// An empty one that will not move its contents before it holds `slots`.
    pub(in crate::models) fn with_room_for(slots: usize) -> Self {
        Self { reserve: slots, ..Self::default() }
    }

    /// Slots in use, padding included.
    pub(in crate::models) fn len(&self) -> usize {
        self.held.first().map_or(0, Vec::len)
    }

    /// For each row, whether each slot holds a token; `rows` empty ones if nothing was read.
    pub(super) fn held(&self, rows: usize) -> Vec<Vec<bool>> {
        if self.held.is_empty() { vec![Vec::new(); rows] } else { self.held.clone() }
    }

    /// Forgets everything.
    pub(in crate::models) fn clear(&mut self) {
        self.layers.clear();
        self.held.clear();
    }

    /// Forgets what came after the first `slots`.
    pub(in crate::models) fn truncate(&mut self, slots: usize) {
        self.held.iter_mut().for_each(|row| row.truncate(slots));
        if slots == 0 {
            self.clear();
        }
    }

    /// A copy of a cache of one row for `rows` continuations, with room for `slots`.
    pub(in crate::models) fn repeated(&self, rows: usize, slots: usize) -> Result<Self> {
        let len = self.len();
        let copy = |from: &Tensor| -> Result<Tensor> {
            let known = from.narrow(2, 0, len)?.repeat((rows, 1, 1, 1))?.contiguous()?;
            enlarged(&known, len, slots.max(len))
        };
        let layers = self.layers.iter().map(|(k, v)| Ok((copy(k)?, copy(v)?))).collect::<Result<_>>()?;
        Ok(Self { layers, held: vec![self.held.first().cloned().unwrap_or_default(); rows], reserve: slots })
    }

    /// Adds the keys and values of new tokens to layer `index` and returns all of them. [`Self::advance`] follows once
    /// all layers have theirs.
    pub(super) fn append(&mut self, index: usize, keys: &Tensor, values: &Tensor) -> Result<(Tensor, Tensor)> {
        let (known, new) = (self.len(), keys.dim(2)?);
        let wanted = known + new;
        if self.layers.len() == index {
            let room = self.reserve.max(wanted);
            self.layers.push((enlarged(keys, 0, room)?, enlarged(values, 0, room)?));
        }
        let Some((k, v)) = self.layers.get_mut(index) else {
            candle_core::bail!("layer {index} of the cache is filled before those below it")
        };
        if k.dim(2)? < wanted {
            (*k, *v) = (enlarged(k, known, wanted + SPARE)?, enlarged(v, known, wanted + SPARE)?);
        }
        k.slice_set(&keys.contiguous()?, 2, known)?;
        v.slice_set(&values.contiguous()?, 2, known)?;
        Ok((k.narrow(2, 0, wanted)?, v.narrow(2, 0, wanted)?))
    }

    /// Counts the new tokens, of which the first `padding` of each row are none.
    pub(super) fn advance(&mut self, padding: &[usize], new: usize) {
        self.held.resize(padding.len(), Vec::new());
        for (held, padding) in self.held.iter_mut().zip(padding) {
            held.extend((0..new).map(|slot| slot >= *padding));
        }
    }
}

/// Room for `slots`, of which the first `known` are those of `from`.
fn enlarged(from: &Tensor, known: usize, slots: usize) -> Result<Tensor> {
    let (rows, heads, _, width) = from.dims4()?;
    let room = Tensor::zeros((rows, heads, slots, width), from.dtype(), from.device())?;
    if known > 0 {
        room.slice_set(&from.narrow(2, 0, known)?.contiguous()?, 2, 0)?;
    }
    Ok(room)
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    fn column(values: &[f32]) -> Tensor {
        Tensor::from_slice(values, (1, 1, values.len(), 1), &Device::Cpu).expect("a tensor")
    }

    fn numbers(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten_all().and_then(|t| t.to_vec1()).expect("floats")
    }

    #[test]
    fn it_grows_and_is_cut_back() {
        let mut cache = Cache::with_room_for(2);
        for (start, len) in [(0, 2), (2, 3), (5, 90)] {
            let new: Vec<f32> = (start..start + len).map(|n| n as f32).collect();
            let (keys, values) = cache.append(0, &column(&new), &column(&new)).expect("appended");
            cache.advance(&[0], len);
            let all: Vec<f32> = (0..start + len).map(|n| n as f32).collect();
            assert_eq!((numbers(&keys), numbers(&values)), (all.clone(), all));
        }
        cache.truncate(3);
        let (keys, _) = cache.append(0, &column(&[7.0]), &column(&[7.0])).expect("appended");
        assert_eq!(numbers(&keys), [0.0, 1.0, 2.0, 7.0]);
        cache.clear();
        assert_eq!(cache.len(), 0);
    }

    #[test]
    fn a_copy_does_not_share_memory() {
        let mut one = Cache::default();
        one.append(0, &column(&[1.0, 2.0]), &column(&[1.0, 2.0])).expect("appended");
        one.advance(&[1], 2);
        let mut two = one.repeated(2, 3).expect("copied");
        let new = Tensor::from_slice(&[5.0_f32, 6.0], (2, 1, 1, 1), &Device::Cpu).expect("a tensor");
        let (keys, _) = two.append(0, &new, &new).expect("appended");
        assert_eq!(numbers(&keys), [1.0, 2.0, 5.0, 1.0, 2.0, 6.0]);
        assert_eq!(two.held(2), vec![vec![false, true]; 2]);
        let (keys, _) = one.append(0, &column(&[9.0]), &column(&[9.0])).expect("appended");
        assert_eq!(numbers(&keys), [1.0, 2.0, 9.0]);
    }
}

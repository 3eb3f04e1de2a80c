//! Cosines and sines of the rotary embedding, computed in f32 on the CPU whatever the network computes in: angles of a
//! long prompt do not fit sixteen bits.

use candle_core::{DType, Device, Result, Tensor};

use super::Position;

/// The frequencies of a head, and which of the three positions turns each of them.
#[derive(Debug, Clone)]
pub(super) struct Rope {
    frequencies: Vec<f32>,
    axes: Vec<usize>,
}

impl Rope {
    /// For heads `dim` wide. `sections` says how many frequencies belong to time, height and width; without it all belong
    /// to time. They are interleaved: frequency `i` turns with the height if `i % 3 == 1` and `i < 3 * sections[1]`, with
    /// the width if `i % 3 == 2` and `i < 3 * sections[2]`, else with time.
    pub(super) fn new(theta: f64, dim: usize, sections: Option<[usize; 3]>) -> Self {
        let frequency = |i: usize| (1.0 / theta.powf((2 * i) as f64 / dim as f64)) as f32;
        let axis = |i: usize| match sections {
            Some([_, height, _]) if i % 3 == 1 && i < 3 * height => 1,
            Some([_, _, width]) if i % 3 == 2 && i < 3 * width => 2,
            _ => 0,
        };
        Self { frequencies: (0..dim / 2).map(frequency).collect(), axes: (0..dim / 2).map(axis).collect() }
    }

    /// Cosines and sines, `[rows, positions, dim / 2]` each. All rows are of one length.
    pub(super) fn tables(&self, rows: &[Vec<Position>], dtype: DType, device: &Device) -> Result<(Tensor, Tensor)> {
        let angles: Vec<f32> = rows
            .iter()
            .flatten()
            .flat_map(|at| {
                self.frequencies.iter().zip(&self.axes).map(|(frequency, axis)| at[*axis] as f32 * frequency)
            })
            .collect();
        let shape = (rows.len(), rows.first().map_or(0, Vec::len), self.frequencies.len());
        let table = |function: fn(f32) -> f32| {
            let values: Vec<f32> = angles.iter().map(|angle| function(*angle)).collect();
            Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype)?.to_device(device)
        };
        Ok((table(f32::cos)?, table(f32::sin)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_interleaved() {
        // As mrope_section [4, 2, 2] of a head 16 wide.
        assert_eq!(Rope::new(1e4, 16, Some([4, 2, 2])).axes, [0, 1, 2, 0, 1, 2, 0, 0]);
        assert_eq!(Rope::new(1e4, 8, None).axes, [0; 4]);
    }

    #[test]
    fn each_axis_turns_its_own_frequencies() {
        let rope = Rope::new(1e4, 12, Some([2, 2, 2]));
        let (cos, _) = rope.tables(&[vec![[1, 0, 0]]], DType::F32, &Device::Cpu).expect("computes");
        let turned: Vec<bool> =
            cos.flatten_all().and_then(|t| t.to_vec1::<f32>()).expect("floats").iter().map(|c| *c < 1.0).collect();
        assert_eq!(turned, [true, false, false, true, false, false]);
    }
}

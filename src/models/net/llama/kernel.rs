//! The inner loops: dot products of quantised rows with float activations, sixteen lanes at a time.
//!
//! Weights are expanded to f32 in registers and activations stay f32, so nothing is rounded beyond what the file
//! holds. On the target's AVX-512 a block of 32 weights is nine instructions; on AVX2 twice that.

use wide::{f32x16, i8x16, i16x16, i32x16, u8x16};

/// Lanes of one vector register.
pub(super) const LANES: usize = 16;

/// 32 nibbles: the low half of each byte first, then the high half.
pub(super) type Nibbles = [u8; 16];
/// 32 signed bytes.
pub(super) type Bytes = [[i8; LANES]; 2];
/// Sixteen f16 numbers as bits.
pub(super) type Halves = [u16; LANES];

/// Most blocks of 32 in a row that the kernels take: rows of up to 16,384 numbers.
pub(super) const MAX_BLOCKS: usize = 512;
/// Most blocks of a short row, whose expanded scales stay in the nearest cache.
const SHORT: usize = 128;
/// Registers for the scales and minima of a short row, and of any row.
const FEW: usize = 2 * SHORT / LANES;
const ALL: usize = 2 * MAX_BLOCKS / LANES;

/// f16 to f32, exact for every finite number (subnormal ones included).
pub(super) fn expand(bits: &Halves) -> f32x16 {
    let bits = i32x16::from(i16x16::new(bits.map(|half| half as i16)));
    let sign = bits & i32x16::splat(i32::MIN);
    let magnitude: f32x16 = bytemuck::cast((bits & i32x16::splat(0x7fff)) << 13);
    // The exponent is biased by 15 in f16 and by 127 in f32: scale by 2^112.
    let magnitude = magnitude * f32x16::splat(f32::from_bits(0x7780_0000));
    bytemuck::cast(bytemuck::cast::<f32x16, i32x16>(magnitude) | sign)
}

fn expand_all<const N: usize>(scales: &[Halves]) -> [f32x16; N] {
    let mut expanded = [f32x16::ZERO; N];
    for (to, from) in expanded.iter_mut().zip(scales) {
        *to = expand(from);
    }
    expanded
}

fn nibbles(block: &Nibbles) -> [f32x16; 2] {
    let both = i32x16::from(i16x16::from(u8x16::new(*block)));
    [f32x16::from_i32x16(both & i32x16::splat(15)), f32x16::from_i32x16(both >> 4)]
}

fn bytes(block: &Bytes) -> [f32x16; 2] {
    block.map(|half| f32x16::from_i32x16(i32x16::from(i16x16::from(i8x16::new(half)))))
}

/// For each block of 32, its two registers added: what a minimum is multiplied with.
pub(super) fn sums(x: &[f32x16]) -> Vec<f32x16> {
    x.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect()
}

/// One row of Q4_1 times `x`. `scales`: all scales of the row, then all minima. `sums`: of `x`.
pub(super) fn dot_q4_1(quants: &[Nibbles], scales: &[Halves], x: &[f32x16], sums: &[f32x16]) -> f32 {
    if quants.len() <= SHORT {
        dot_nibbles::<FEW>(quants, scales, x, sums)
    } else {
        dot_nibbles::<ALL>(quants, scales, x, sums)
    }
}

fn dot_nibbles<const N: usize>(quants: &[Nibbles], scales: &[Halves], x: &[f32x16], sums: &[f32x16]) -> f32 {
    let expanded = expand_all::<N>(scales);
    let (scale, minimum) = bytemuck::cast_slice::<f32x16, f32>(&expanded).split_at(quants.len());
    let (mut scaled, mut shifted) = (f32x16::ZERO, f32x16::ZERO);
    for ((((block, x), sum), scale), minimum) in quants.iter().zip(x.chunks_exact(2)).zip(sums).zip(scale).zip(minimum)
    {
        let [low, high] = nibbles(block);
        shifted = f32x16::splat(*minimum).mul_add(*sum, shifted);
        scaled = f32x16::splat(*scale).mul_add(low.mul_add(x[0], high * x[1]), scaled);
    }
    (scaled + shifted).reduce_add()
}

/// One row of Q8_0 times `x`.
pub(super) fn dot_q8_0(quants: &[Bytes], scales: &[Halves], x: &[f32x16]) -> f32 {
    if quants.len() <= SHORT { dot_bytes::<FEW>(quants, scales, x) } else { dot_bytes::<ALL>(quants, scales, x) }
}

fn dot_bytes<const N: usize>(quants: &[Bytes], scales: &[Halves], x: &[f32x16]) -> f32 {
    let expanded = expand_all::<N>(scales);
    let mut sum = f32x16::ZERO;
    for ((block, x), scale) in quants.iter().zip(x.chunks_exact(2)).zip(bytemuck::cast_slice::<f32x16, f32>(&expanded))
    {
        let [low, high] = bytes(block);
        sum = f32x16::splat(*scale).mul_add(low.mul_add(x[0], high * x[1]), sum);
    }
    sum.reduce_add()
}

/// One row of bytes whose halves of a block have a scale each times `x`. `scales`: those of the first halves, then those
/// of the second.
pub(super) fn dot_halves(quants: &[Bytes], scales: &[Halves], x: &[f32x16]) -> f32 {
    let expanded = expand_all::<ALL>(scales);
    let (first, second) = bytemuck::cast_slice::<f32x16, f32>(&expanded).split_at(quants.len());
    let mut sum = f32x16::ZERO;
    for (((block, x), first), second) in quants.iter().zip(x.chunks_exact(2)).zip(first).zip(second) {
        let [low, high] = bytes(block);
        sum = f32x16::splat(*first).mul_add(low * x[0], sum);
        sum = f32x16::splat(*second).mul_add(high * x[1], sum);
    }
    sum.reduce_add()
}

/// One row of f16 times `x`.
pub(super) fn dot_f16(row: &[Halves], x: &[f32x16]) -> f32 {
    let products = row.iter().zip(x).fold(f32x16::ZERO, |sum, (half, x)| expand(half).mul_add(*x, sum));
    products.reduce_add()
}

/// One row of Q4_1 as floats.
pub(super) fn expand_q4_1(quants: &[Nibbles], scales: &[Halves], row: &mut [f32x16]) {
    let expanded = expand_all::<ALL>(scales);
    let (scale, minimum) = bytemuck::cast_slice::<f32x16, f32>(&expanded).split_at(quants.len());
    for (((block, to), scale), minimum) in quants.iter().zip(row.chunks_exact_mut(2)).zip(scale).zip(minimum) {
        let (scale, minimum) = (f32x16::splat(*scale), f32x16::splat(*minimum));
        let [low, high] = nibbles(block);
        to[0] = low.mul_add(scale, minimum);
        to[1] = high.mul_add(scale, minimum);
    }
}

/// One row of Q8_0 as floats.
pub(super) fn expand_q8_0(quants: &[Bytes], scales: &[Halves], row: &mut [f32x16]) {
    let expanded = expand_all::<ALL>(scales);
    for ((block, to), scale) in
        quants.iter().zip(row.chunks_exact_mut(2)).zip(bytemuck::cast_slice::<f32x16, f32>(&expanded))
    {
        let [low, high] = bytes(block);
        to[0] = low * f32x16::splat(*scale);
        to[1] = high * f32x16::splat(*scale);
    }
}

/// One row of bytes with two scales a block as floats.
pub(super) fn expand_halves(quants: &[Bytes], scales: &[Halves], row: &mut [f32x16]) {
    let expanded = expand_all::<ALL>(scales);
    let (first, second) = bytemuck::cast_slice::<f32x16, f32>(&expanded).split_at(quants.len());
    for (((block, to), first), second) in quants.iter().zip(row.chunks_exact_mut(2)).zip(first).zip(second) {
        let [low, high] = bytes(block);
        to[0] = low * f32x16::splat(*first);
        to[1] = high * f32x16::splat(*second);
    }
}

/// The dot products of `row` with `N` vectors.
pub(super) fn dots<const N: usize>(row: &[f32x16], xs: [&[f32x16]; N]) -> [f32; N] {
    let mut sums = [f32x16::ZERO; N];
    for (at, weight) in row.iter().enumerate() {
        for (sum, x) in sums.iter_mut().zip(&xs) {
            *sum = weight.mul_add(x[at], *sum);
        }
    }
    sums.map(f32x16::reduce_add)
}

/// The dot product of two vectors.
pub(super) fn dot(a: &[f32x16], b: &[f32x16]) -> f32 {
    dots(a, [b])[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(blocks: usize) -> Vec<f32x16> {
        (0..2 * blocks).map(|at| f32x16::new(std::array::from_fn(|i| ((at * 16 + i) as f32 * 0.37).sin()))).collect()
    }

    #[test]
    fn halves_are_exact() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00) {
            let expected = half::f16::from_bits(bits).to_f32();
            let got = expand(&[bits; LANES]).as_array()[3];
            assert_eq!(got.to_bits(), expected.to_bits(), "{bits:#x}");
        }
    }

    #[test]
    fn fused_products_equal_expanded_rows() {
        let blocks = 18;
        let x = row(blocks);
        let quants: Vec<Nibbles> =
            (0..blocks).map(|b| std::array::from_fn(|i| ((b * 37 + i * 11) % 256) as u8)).collect();
        let scales: Vec<Halves> = (0..3)
            .map(|c| std::array::from_fn(|i| half::f16::from_f32((c * 16 + i) as f32 * 0.01 - 0.2).to_bits()))
            .collect();
        let mut expanded = vec![f32x16::ZERO; 2 * blocks];
        expand_q4_1(&quants, &scales, &mut expanded);
        // The fifth weight of the second block, by hand: low nibble of byte 4, scale 1, minimum blocks + 1.
        let number = |at: usize| half::f16::from_bits(scales[at / 16][at % 16]).to_f32();
        let by_hand = f32::from(quants[1][4] & 15) * number(1) + number(blocks + 1);
        assert!((expanded[2].as_array()[4] - by_hand).abs() < 1e-6);
        let fused = dot_q4_1(&quants, &scales, &x, &sums(&x));
        assert!((fused - dot(&expanded, &x)).abs() < 1e-4, "{fused}");

        let quants: Vec<Bytes> =
            (0..blocks).map(|b| std::array::from_fn(|h| std::array::from_fn(|i| (b * 31 + h * 7 + i) as i8))).collect();
        expand_q8_0(&quants, &scales, &mut expanded);
        assert!((expanded[3].as_array()[2] - f32::from(quants[1][1][2]) * number(1)).abs() < 1e-6);
        let fused = dot_q8_0(&quants, &scales, &x);
        assert!((fused - dot(&expanded, &x)).abs() < 1e-3, "{fused}");

        expand_halves(&quants, &scales, &mut expanded);
        assert!((expanded[2].as_array()[2] - f32::from(quants[1][0][2]) * number(1)).abs() < 1e-6);
        assert!((expanded[3].as_array()[2] - f32::from(quants[1][1][2]) * number(blocks + 1)).abs() < 1e-6);
        let fused = dot_halves(&quants, &scales, &x);
        assert!((fused - dot(&expanded, &x)).abs() < 1e-3, "{fused}");
    }

    #[test]
    fn long_rows_have_room() {
        let x = row(MAX_BLOCKS);
        let quants: Vec<Nibbles> = (0..MAX_BLOCKS).map(|b| [(b % 251) as u8; 16]).collect();
        let one = half::f16::from_f32(1.0).to_bits();
        let scales = vec![[one; LANES]; 2 * MAX_BLOCKS / LANES];
        let mut expanded = vec![f32x16::ZERO; 2 * MAX_BLOCKS];
        expand_q4_1(&quants, &scales, &mut expanded);
        let fused = dot_q4_1(&quants, &scales, &x, &sums(&x));
        assert!((fused - dot(&expanded, &x)).abs() < 1e-2 * fused.abs().max(1.0), "{fused}");
    }
}

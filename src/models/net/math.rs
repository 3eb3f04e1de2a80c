//! Functions of one number, written so that a loop over them becomes vector instructions. Pure.

/// `exp(x)` for `x <= 0`, relative error below 3e-7; 0 from about -87 down.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call in the loop would keep it from being vectorised")]
pub(super) fn exp_negative(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first with few digits, so that subtracting a multiple of it is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.max(-87.3);
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    let mut poly = 1.0 / 720.0;
    for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        poly = r.mul_add(poly, coefficient);
    }
    let two_to_n = f32::from_bits((rounded.to_bits() << 23).wrapping_add(0x3F80_0000));
    poly * two_to_n
}

/// `x * Φ(x)`, the exact (erf) GELU, absolute error below 1e-6. The rational approximation of erf is Eigen's.
#[inline(always)]
#[allow(clippy::inline_always, reason = "a call in the loop would keep it from being vectorised")]
pub(super) fn gelu(x: f32) -> f32 {
    const ALPHA: [f32; 7] =
        [-2.726_142e-10, 2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906e-4, -2.954_6e-3, -1.609_603_3e-2];
    const BETA: [f32; 5] = [-1.456_607_2e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let t = (x * std::f32::consts::FRAC_1_SQRT_2).clamp(-4.0, 4.0);
    let t2 = t * t;
    let mut alpha = ALPHA[0];
    for coefficient in &ALPHA[1..] {
        alpha = t2.mul_add(alpha, *coefficient);
    }
    let mut beta = BETA[0];
    for coefficient in &BETA[1..] {
        beta = t2.mul_add(beta, *coefficient);
    }
    let half = 0.5 * x;
    half.mul_add(t * alpha / beta, half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_exp() {
        for i in 0..=8700 {
            let x = -i as f32 / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp_negative(x)) - exact).abs() / exact;
            assert!(error < 3e-7, "exp({x}) is off by {error}");
        }
        assert!(exp_negative(f32::NEG_INFINITY) < 1e-37);
        assert_eq!(exp_negative(0.0), 1.0);
    }

    #[test]
    fn gelu_is_the_erf_gelu_and_not_the_tanh_one() {
        let mut worst_tanh = 0.0_f64;
        for i in -1000..=1000 {
            let x = i as f32 / 100.0;
            let wide = f64::from(x);
            let exact = 0.5 * wide * (1.0 + candle_core::cpu::erf::erf_f64(wide / std::f64::consts::SQRT_2));
            let error = (f64::from(gelu(x)) - exact).abs();
            assert!(error < 1e-6 * wide.abs().max(1.0), "gelu({x}) is off by {error}");
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044_715 * wide.powi(3));
            worst_tanh = worst_tanh.max((0.5 * wide * (1.0 + inner.tanh()) - exact).abs());
        }
        assert!(worst_tanh > 1e-4, "the tolerance cannot tell the two apart");
    }
}

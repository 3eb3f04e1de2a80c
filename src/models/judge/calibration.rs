//! Features of the network to probabilities. Pure.
//!
//! The two logits (z0, z1) of the weights lie on a curve, contradiction near (-2.5, +1.6), entailment near
//! (+0.3, +0.4), neutral near (+1.9, -1.0): neither z0 > z1 nor a softmax over them is entailment. So the product
//! reads the 384 features under the classifier with a multinomial logistic regression, fitted by
//! `config/models/judge/fit.py` on pairs that lie beside it. Pairs of a held-out part of the premises were not used
//! for fitting; `tests/models_text.rs` measures on them.

use serde::Deserialize;

use crate::domain::{Entailment, Fingerprint};

/// Width of the features.
const FEATURES: usize = 384;

/// A fitted head.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    version: String,
    weights: Fingerprint,
    threshold: f32,
    /// Rows: contradiction, entailment, neutral.
    coefficients: [Vec<f32>; 3],
    intercepts: [f32; 3],
}

impl Calibration {
    /// The one this program was built with.
    pub fn built_in() -> Self {
        Self::parse(include_str!("../../../config/models/judge/calibration.json"))
            .expect("the built-in calibration is valid: a test reads it")
    }

    /// From the JSON that the fitting script writes.
    fn parse(json: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let complete = read.coefficients.iter().all(|row| row.len() == FEATURES);
        let finite = read.coefficients.iter().flatten().chain(&read.intercepts).all(|value| value.is_finite());
        if !complete || !finite {
            return Err(format!("coefficients are not three rows of {FEATURES} finite numbers"));
        }
        // At a half or less a claim could be entailed and not be the most probable reading.
        if !(0.5..1.0).contains(&read.threshold) {
            return Err(format!("threshold {} is not in [0.5, 1)", read.threshold));
        }
        Ok(read)
    }

    /// Changes with every fit.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The weights it was fitted to.
    pub fn weights(&self) -> &Fingerprint {
        &self.weights
    }

    /// Probability of entailment from which a claim counts as entailed.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Probabilities for one pair; `features` are what the network's classifier sees.
    pub fn entailment(&self, features: &[f32]) -> Entailment {
        let [contradiction, entailment, neutral] = softmax(std::array::from_fn(|class| {
            let products = self.coefficients[class].iter().zip(features).map(|(a, b)| a * b);
            // An infinite logit would make the softmax NaN.
            (products.sum::<f32>() + self.intercepts[class]).clamp(f32::MIN, f32::MAX)
        }));
        Entailment { entailment, neutral, contradiction }
    }
}

fn softmax(logits: [f32; 3]) -> [f32; 3] {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers = logits.map(|logit| (logit - highest).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(change: impl FnOnce(&mut serde_json::Value)) -> String {
        let mut value = serde_json::json!({
            "version": "1", "weights": "w@0", "threshold": 0.9,
            "coefficients": vec![vec![0.0; FEATURES]; 3], "intercepts": [0.0, 1.0, -1.0],
        });
        change(&mut value);
        value.to_string()
    }

    #[test]
    fn the_built_in_one_is_valid() {
        let built_in = Calibration::built_in();
        assert!(built_in.weights().as_str().contains('@') && !built_in.version().is_empty());
    }

    #[test]
    fn probabilities_sum_to_one_and_follow_the_features() {
        let read = Calibration::parse(&json(|v| v["coefficients"][0][7] = 3.0.into())).expect("valid");
        let mut features = vec![0.0; FEATURES];
        let flat = read.entailment(&features);
        assert!(flat.entailment > flat.contradiction && flat.contradiction > flat.neutral);
        features[7] = 2.0;
        let pushed = read.entailment(&features);
        assert!(pushed.contradiction > 0.95);
        for p in [flat, pushed] {
            assert!((p.entailment + p.neutral + p.contradiction - 1.0).abs() < 1e-6);
        }
        features[7] = f32::MAX;
        assert_eq!(read.entailment(&features).contradiction, 1.0, "large features must not overflow");
    }

    #[test]
    fn what_is_incomplete_is_refused() {
        let changes: [(&str, fn(&mut serde_json::Value)); 4] = [
            ("three rows of 384", |v| v["coefficients"][1] = serde_json::json!([1.0])),
            ("threshold 0.4", |v| v["threshold"] = 0.4.into()),
            ("unknown field `treshold`", |v| v["treshold"] = 0.9.into()),
            ("missing field `weights`", |v| {
                v.as_object_mut().expect("an object").remove("weights");
            }),
        ];
        for (message, change) in changes {
            let error = Calibration::parse(&json(change)).expect_err(message);
            assert!(error.contains(message), "{error:?} instead of {message:?}");
        }
    }
}

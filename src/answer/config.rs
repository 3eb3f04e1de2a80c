//! What may be tuned about answering. Owns no state.

use std::time::Duration;

use serde::Deserialize;

use crate::config::Span;
use crate::domain::Design;

/// Section `[answer]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Verifier design when a question names none.
    pub design: Design,
    /// Moments retrieved when a question names no number (the paper's k).
    pub k: usize,
    /// Most moments a request may ask for.
    pub max_k: usize,
    /// Most claims drafted for one question.
    pub max_claims: usize,
    /// Most claims in one verification request.
    pub max_verify: usize,
    /// Longest question, claim or search text, in characters.
    pub max_text: usize,
    /// How many sampled frames away from the cited one evidence may lie: 0 or 1.
    pub neighbours: u8,
    /// How often it is looked at the evidence again when claims come back unverified or the evidence is thin; 0: never.
    pub rounds: usize,
    /// Most pictures that are captioned for all these rounds of one question together.
    pub round_frames: usize,
    /// Part of a window, 0 to 1, that must have been seen before the absence of something is concluded.
    pub coverage_floor: f64,
    /// Requests worked on at once; one more is refused as busy.
    pub in_flight: usize,
    /// Evidence frames extracted at once.
    pub extractions: usize,
    /// Longest extraction of one evidence frame.
    pub extract_timeout: Span,
    /// Longest work on one request, however long its sender would wait.
    pub deadline: Span,
    /// Largest evidence JPEG, in bytes; must stay below the bus server's maximum payload.
    pub evidence_max_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            design: Design::CaptionNli,
            k: 5,
            max_k: 50,
            max_claims: 4,
            max_verify: 32,
            max_text: 2000,
            neighbours: 1,
            rounds: 2,
            round_frames: 24,
            coverage_floor: 0.9,
            in_flight: 16,
            extractions: 2,
            extract_timeout: Span(Duration::from_secs(10)),
            deadline: Span(Duration::from_mins(2)),
            evidence_max_bytes: 256 * 1024,
        }
    }
}

/// A value that cannot be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("answer.{key} {problem}")]
pub struct ConfigError {
    /// The key inside the section.
    pub key: &'static str,
    /// What to write instead.
    pub problem: &'static str,
}

impl Config {
    /// Refuses values that would make every request fail.
    pub fn check(&self) -> Result<(), ConfigError> {
        let rules = [
            ("k", self.k >= 1 && self.k <= self.max_k, "must be between 1 and max_k"),
            ("max_k", self.max_k <= 1000, "must be at most 1000"),
            ("max_claims", (1..=64).contains(&self.max_claims), "must be between 1 and 64"),
            ("max_verify", (1..=1000).contains(&self.max_verify), "must be between 1 and 1000"),
            ("max_text", self.max_text >= 1, "must be at least 1"),
            ("neighbours", self.neighbours <= 1, "must be 0 or 1"),
            ("rounds", self.rounds <= 4, "must be at most 4"),
            ("round_frames", (3..=1000).contains(&self.round_frames), "must be between 3 and 1000"),
            ("coverage_floor", (0.0..=1.0).contains(&self.coverage_floor), "must be between 0 and 1"),
            ("in_flight", (1..=10_000).contains(&self.in_flight), "must be between 1 and 10000"),
            ("extractions", (1..=64).contains(&self.extractions), "must be between 1 and 64"),
            ("extract_timeout", !self.extract_timeout.0.is_zero(), "must be longer than 0s"),
            ("deadline", !self.deadline.0.is_zero(), "must be longer than 0s"),
            ("evidence_max_bytes", self.evidence_max_bytes >= 4096, "must be at least 4096"),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((key, _, problem)) => Err(ConfigError { key, problem }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid_and_unknown_keys_are_not() {
        Config::default().check().expect("the default is valid");
        let refused = toml::from_str::<Config>("max_claim = 3").expect_err("misspelt");
        assert!(refused.to_string().contains("max_claim"), "{refused}");
    }

    #[test]
    fn impossible_values_are_named() {
        let zero_k = Config { k: 0, ..Config::default() };
        assert_eq!(zero_k.check().expect_err("refused").key, "k");
        let far = Config { neighbours: 2, ..Config::default() };
        assert_eq!(far.check().expect_err("refused").to_string(), "answer.neighbours must be 0 or 1");
    }
}

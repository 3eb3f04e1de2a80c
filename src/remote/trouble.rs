//! What can go wrong between a request and a reply that can be used.

use std::time::Duration;

use crate::seams::ModelError;

/// Why a call gave nothing. Holds no secret: what an endpoint said is quoted only after the key was taken out of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// No connection: name, route, refusal, TLS.
    #[error("the endpoint cannot be reached: {0}")]
    Unreachable(String),
    /// A try or the whole call took too long.
    #[error("the endpoint did not answer in time ({0})")]
    Timeout(&'static str),
    /// A status other than success.
    #[error("the endpoint answered with status {code}{}", quoted(said))]
    Status {
        /// The status.
        code: u16,
        /// How long it asks us to wait.
        retry_after: Option<Duration>,
        /// The beginning of what it said.
        said: String,
    },
    /// The connection broke off, or what came is not HTTP.
    #[error("the endpoint's reply broke off: {0}")]
    Broken(String),
    /// More bytes than any sound reply has.
    #[error("the endpoint's reply is longer than {0} bytes")]
    TooLarge(u64),
    /// A whole reply that is not what was asked for.
    #[error("the endpoint's reply cannot be used: {0}")]
    Unusable(String),
    /// Too many calls failed: this one was not made.
    #[error("the endpoint failed too often and is left alone for {} s", .0.as_secs_f32().ceil())]
    Open(Duration),
}

impl Trouble {
    /// A reply that is not what was asked for.
    pub(super) fn unusable(why: impl Into<String>) -> Self {
        Self::Unusable(why.into())
    }

    /// Whether the same request may succeed later: not after a refusal, and not after a reply that was whole.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Timeout(_) | Self::Broken(_) => true,
            Self::Status { code, .. } => *code == 429 || *code >= 500,
            Self::TooLarge(_) | Self::Unusable(_) | Self::Open(_) => false,
        }
    }

    /// As the rest of the program knows it: a reply that is of no use is about this input, everything else about the
    /// endpoint, which may be mended.
    pub(super) fn error(&self, model: String) -> ModelError {
        let reason = self.to_string();
        match self {
            Self::TooLarge(_) | Self::Unusable(_) => ModelError::Input { model, reason },
            Self::Unreachable(_) | Self::Timeout(_) | Self::Status { .. } | Self::Broken(_) | Self::Open(_) => {
                ModelError::Away { model, reason }
            }
        }
    }

    /// How long the endpoint asks us to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The label value in metrics.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Timeout(_) => "timeout",
            Self::Status { code: 429, .. } => "busy",
            Self::Status { code: 500.., .. } => "failed",
            Self::Status { .. } => "refused",
            Self::Broken(_) | Self::TooLarge(_) => "broken",
            Self::Unusable(_) => "unusable",
            Self::Open(_) => "open",
        }
    }
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::metrics::OUTCOMES;

    #[test]
    fn refusals_are_final_and_the_rest_may_pass() {
        let status = |code| Trouble::Status { code, retry_after: None, said: String::new() };
        let table = [
            (Trouble::Unreachable("refused".into()), true, "unreachable"),
            (Trouble::Timeout("body"), true, "timeout"),
            (status(500), true, "failed"),
            (status(503), true, "failed"),
            (status(429), true, "busy"),
            (status(400), false, "refused"),
            (status(401), false, "refused"),
            (status(302), false, "refused"),
            (Trouble::Broken("eof".into()), true, "broken"),
            (Trouble::TooLarge(9), false, "broken"),
            (Trouble::unusable("no JSON"), false, "unusable"),
            (Trouble::Open(Duration::from_secs(3)), false, "open"),
        ];
        for (trouble, is_transient, outcome) in table {
            assert_eq!((trouble.is_transient(), trouble.outcome()), (is_transient, outcome), "{trouble}");
            let is_about_the_input = matches!(trouble.error("judge".into()), ModelError::Input { .. });
            assert_eq!(is_about_the_input, matches!(trouble, Trouble::TooLarge(_) | Trouble::Unusable(_)), "{trouble}");
            assert!(OUTCOMES.contains(&outcome), "{outcome} has no series");
        }
        let said = Trouble::Status { code: 404, retry_after: None, said: "no such model".into() };
        assert_eq!(said.to_string(), "the endpoint answered with status 404: no such model");
        assert_eq!(status(500).to_string(), "the endpoint answered with status 500");
    }
}

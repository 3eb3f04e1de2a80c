//! What answering counts. Every series exists from the start, so that a rate never begins with a jump.

use std::time::Duration;

use prometheus::{IntCounterVec, Opts, Registry};

use super::error::{AnswerError, Kind};
use crate::domain::{Answer, Conclusion, How, Reason};
use crate::telemetry::{Stage, Stages};

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// At least one claim was drafted and checked as asked.
    Answered,
    /// Answered, without any claim.
    Empty,
    /// The stream is unknown.
    UnknownStream,
    /// Refused: too much at once.
    Busy,
    /// Refused: not a question that can be worked on.
    Refused,
    /// Took too long.
    Deadline,
    /// The memory, a model or a source failed.
    Failed,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 7] =
        [Self::Answered, Self::Empty, Self::UnknownStream, Self::Busy, Self::Refused, Self::Deadline, Self::Failed];

    /// The label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Empty => "empty",
            Self::UnknownStream => "unknown_stream",
            Self::Busy => "busy",
            Self::Refused => "refused",
            Self::Deadline => "deadline",
            Self::Failed => "failed",
        }
    }

    /// How this result counts.
    pub fn of(result: &Result<Answer, AnswerError>) -> Self {
        match result {
            Ok(answer) if answer.verdicts.is_empty() => Self::Empty,
            Ok(_) => Self::Answered,
            Err(error) => match error.kind() {
                Kind::UnknownStream => Self::UnknownStream,
                Kind::Busy => Self::Busy,
                Kind::Question | Kind::NotConfigured => Self::Refused,
                Kind::Deadline => Self::Deadline,
                Kind::Index | Kind::Model | Kind::Evidence => Self::Failed,
            },
        }
    }
}

/// Counters of the asking flow; cheap to clone.
#[derive(Debug, Clone)]
pub struct Metrics {
    claims: IntCounterVec,
    dropped: IntCounterVec,
    questions: IntCounterVec,
    surveys: IntCounterVec,
    rounds: IntCounterVec,
    stages: Stages,
}

impl Metrics {
    /// Registers every series.
    pub fn register(registry: &Registry, stages: Stages) -> prometheus::Result<Self> {
        let claims =
            counter(registry, "gvqa_claims_total", "Claims by what their check found.", &["verdict", "reason"])?;
        for reason in Reason::ALL {
            claims.with_label_values(&[reason.label().as_str(), reason.as_str()]);
        }
        let help =
            "Drafted claims that were dropped because they cite a moment that was not retrieved or repeat another.";
        let dropped = counter(registry, "gvqa_claims_dropped_total", help, &["reason"])?;
        for reason in super::draft::Dropped::ALL {
            dropped.with_label_values(&[reason.as_str()]);
        }
        let questions = counter(registry, "gvqa_questions_total", "Questions by how they ended.", &["outcome"])?;
        for outcome in Outcome::ALL {
            questions.with_label_values(&[outcome.as_str()]);
        }
        let help = "Questions that all moments of a window answered together, by what was concluded.";
        let surveys = counter(registry, "gvqa_surveys_total", help, &["conclusion"])?;
        for conclusion in [Conclusion::Seen, Conclusion::NotSeen, Conclusion::Undecided] {
            surveys.with_label_values(&[conclusion.as_str()]);
        }
        let help = "Further looks at the evidence of a question, by how and whether they grounded a claim.";
        let rounds = counter(registry, "gvqa_rounds_total", help, &["how", "added"])?;
        for how in How::ALL {
            for added in ["grounded", "nothing"] {
                rounds.with_label_values(&[how.as_str(), added]);
            }
        }
        Ok(Self { claims, dropped, questions, surveys, rounds, stages })
    }

    /// A claim was checked.
    pub(super) fn claim(&self, reason: Reason) {
        self.claims.with_label_values(&[reason.label().as_str(), reason.as_str()]).inc();
    }

    /// A drafted claim was dropped.
    pub(super) fn dropped(&self, reason: super::draft::Dropped) {
        self.dropped.with_label_values(&[reason.as_str()]).inc();
    }

    /// All moments of a window were read.
    pub(super) fn survey(&self, conclusion: Conclusion) {
        self.surveys.with_label_values(&[conclusion.as_str()]).inc();
    }

    /// It was looked at the evidence again.
    pub(super) fn round(&self, how: How, has_grounded: bool) {
        let added = if has_grounded { "grounded" } else { "nothing" };
        self.rounds.with_label_values(&[how.as_str(), added]).inc();
    }

    /// A question ended.
    pub(super) fn question(&self, outcome: Outcome) {
        self.questions.with_label_values(&[outcome.as_str()]).inc();
    }

    /// A stage ran.
    pub(super) fn took(&self, stage: Stage, took: Duration) {
        self.stages.observe(stage, took);
    }
}

fn counter(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
    let counter = IntCounterVec::new(Opts::new(name, help), labels)?;
    registry.register(Box::new(counter.clone()))?;
    Ok(counter)
}

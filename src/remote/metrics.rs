//! What is counted of remote calls. Every series exists from the start, also where no model is remote.

use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};

/// What a remote model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Pictures to captions.
    Captioner,
    /// Question and moments to claims.
    Drafter,
    /// Sentence and claim to entailment.
    Judge,
    /// Caption and claim to yes or no.
    ChatJudge,
    /// Picture and question to answer.
    VisualQa,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 5] = [Self::Captioner, Self::Drafter, Self::Judge, Self::ChatJudge, Self::VisualQa];

    /// The label value, and the name in errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Captioner => "captioner",
            Self::Drafter => "drafter",
            Self::Judge => "judge",
            Self::ChatJudge => "chat_judge",
            Self::VisualQa => "visual_qa",
        }
    }
}

/// How a call can end.
pub(super) const OUTCOMES: [&str; 9] =
    ["ok", "unreachable", "timeout", "busy", "failed", "refused", "broken", "unusable", "open"];

/// Counters of remote calls; cheap to clone.
#[derive(Debug, Clone)]
pub struct Metrics {
    calls: IntCounterVec,
    retries: IntCounterVec,
    open: IntGaugeVec,
}

impl Metrics {
    /// Registers every series.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let metrics = Self::unregistered()?;
        registry.register(Box::new(metrics.calls.clone()))?;
        registry.register(Box::new(metrics.retries.clone()))?;
        registry.register(Box::new(metrics.open.clone()))?;
        Ok(metrics)
    }

    fn unregistered() -> prometheus::Result<Self> {
        let calls = Opts::new("gvqa_remote_calls_total", "Calls of remote models by how they ended.");
        let retries = Opts::new("gvqa_remote_retries_total", "Tries of remote calls after the first one.");
        let open = Opts::new("gvqa_remote_open", "1 from when a remote model failed too often until a call succeeds.");
        let metrics = Self {
            calls: IntCounterVec::new(calls, &["role", "outcome"])?,
            retries: IntCounterVec::new(retries, &["role"])?,
            open: IntGaugeVec::new(open, &["role"])?,
        };
        for role in Role::ALL.map(Role::as_str) {
            for outcome in OUTCOMES {
                metrics.calls.with_label_values(&[role, outcome]);
            }
            metrics.retries.with_label_values(&[role]);
            metrics.open.with_label_values(&[role]);
        }
        Ok(metrics)
    }

    pub(super) fn called(&self, role: Role, outcome: &'static str) {
        self.calls.with_label_values(&[role.as_str(), outcome]).inc();
    }

    pub(super) fn retried(&self, role: Role) {
        self.retries.with_label_values(&[role.as_str()]).inc();
    }

    /// The roles whose model is left alone because it failed too often.
    pub fn left_alone(&self) -> Vec<Role> {
        Role::ALL.into_iter().filter(|role| self.open.with_label_values(&[role.as_str()]).get() > 0).collect()
    }

    pub(super) fn open(&self, role: Role, is_open: bool) {
        self.open.with_label_values(&[role.as_str()]).set(i64::from(is_open));
    }
}

//! Whether the daemon can do its work, check by check. The parts say; /readyz shows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// What can be ready or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Every model is loaded and warm.
    Models,
    /// The memory is open.
    Index,
    /// The bus is connected.
    Nats,
    /// At least one stream delivers, or has been indexed to its end.
    Streams,
}

impl Check {
    const ALL: [Self; 4] = [Self::Models, Self::Index, Self::Nats, Self::Streams];
}

#[derive(Debug, Clone)]
struct State {
    ok: bool,
    required: bool,
    detail: String,
}

/// The checks as last set; clones share them.
#[derive(Debug, Clone)]
pub struct Readiness(Arc<Mutex<BTreeMap<Check, State>>>);

/// /readyz in JSON.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) ready: bool,
    checks: BTreeMap<Check, ReportedCheck>,
}

#[derive(Debug, Serialize)]
struct ReportedCheck {
    ok: bool,
    required: bool,
    detail: String,
}

impl Readiness {
    /// Nothing is ready yet; `required` checks decide.
    pub fn new(required: &[Check]) -> Self {
        let start = |check| State { ok: false, required: required.contains(&check), detail: "starting".to_owned() };
        Self(Arc::new(Mutex::new(Check::ALL.into_iter().map(|check| (check, start(check))).collect())))
    }

    /// The check holds; `detail` is shown, never put secrets there.
    pub fn ready(&self, check: Check, detail: impl Into<String>) {
        self.set(check, true, detail.into());
    }

    /// The check does not hold, because of `detail`.
    pub fn unready(&self, check: Check, detail: impl Into<String>) {
        self.set(check, false, detail.into());
    }

    /// Whether every required check holds.
    pub fn is_ready(&self) -> bool {
        self.report().ready
    }

    pub(super) fn report(&self) -> Report {
        let states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = states.values().all(|state| state.ok || !state.required);
        let shown = |(check, state): (&Check, &State)| {
            (*check, ReportedCheck { ok: state.ok, required: state.required, detail: state.detail.clone() })
        };
        Report { ready, checks: states.iter().map(shown).collect() }
    }

    fn set(&self, check: Check, ok: bool, detail: String) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = states.get_mut(&check) {
            state.ok = ok;
            state.detail = detail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_required_checks_decide() {
        let readiness = Readiness::new(&[Check::Models, Check::Index]);
        assert!(!readiness.is_ready());
        readiness.ready(Check::Models, "4 models");
        readiness.ready(Check::Index, "open");
        assert!(readiness.is_ready(), "nats and streams are not required");
        readiness.unready(Check::Index, "disk full");
        let report = serde_json::to_value(readiness.report()).expect("serialises");
        assert_eq!(report["ready"], false);
        assert_eq!(report["checks"]["index"]["detail"], "disk full");
        assert_eq!(report["checks"]["nats"]["required"], false);
    }
}

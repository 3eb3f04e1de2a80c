//! Frames that a check would have looked at, and that a stored verdict does not hold. Pure.
//!
//! A verdict that is not grounded tried the samples before and after the cited one. Somebody may have taken out the
//! trial that spoke for the claim, so a replay over a file puts a sample where one is missing: if the file has a picture
//! there, the check looks at it, and it is told. Of a camera nothing is known beyond what the verdict holds.

use std::time::Duration;

use crate::bus::wire::Verdict;
use crate::domain::{Reason, StreamKind, StreamTime};

/// Where the frames come from, as far as it tells what a verdict must say.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Has an end or not.
    pub(super) kind: StreamKind,
    /// First tokens of every subject; unknown of a mere file.
    pub(super) prefix: Option<String>,
    /// The sampling interval, unless the verdict's own frames tell another one.
    pub(super) every: Duration,
}

/// The times at which a neighbour of the cited frame is missing.
pub(super) fn missing(verdict: &Verdict, source: &Source) -> Vec<StreamTime> {
    let is_seen = verdict.trials.first().is_some_and(|cited| cited.evidence.is_some());
    if source.kind != StreamKind::File || verdict.reason == Reason::Entailed || !is_seen {
        return Vec::new();
    }
    let cited = verdict.timestamp;
    let held = verdict.trials.iter().filter_map(|trial| trial.evidence.as_ref());
    let held: Vec<StreamTime> = held.map(|evidence| evidence.timestamp).filter(|at| *at != cited).collect();
    let every = held.iter().map(|at| at.distance(cited)).min().unwrap_or(source.every);
    let (before, after) = (cited - every, cited + every);
    let mut missing = Vec::new();
    if before < cited && !held.iter().any(|at| *at < cited) {
        missing.push(before);
    }
    if !held.iter().any(|at| *at > cited) {
        missing.push(after);
    }
    missing
}

//! What of a stored verdict a replay has nothing to hold against. Pure.

use super::probe::Source;
use crate::bus::wire::Verdict;
use crate::domain::{Clock, StreamKind};

/// Its parts, as they are called in the message.
pub(super) fn of(verdict: &Verdict, source: &Source) -> Vec<&'static str> {
    let evidence = || verdict.trials.iter().filter_map(|trial| trial.evidence.as_ref());
    let is_cited_seen = evidence().any(|evidence| evidence.neighbour == 0);
    let has_words = verdict.trials.iter().any(|trial| trial.probabilities.is_none() && !trial.detail.is_empty());
    let is_of_file = source.kind == StreamKind::File;
    let table = [
        ("verdict_id", true),
        ("question_id", true),
        ("repaired_from", true),
        ("models.drafter", true),
        ("omitted", evidence().next().is_some()),
        ("stream (its source was named)", source.prefix.is_none()),
        ("the subject's prefix", source.prefix.is_none() && evidence().next().is_some()),
        ("wall (when a file was watched)", evidence().any(|evidence| evidence.clock == Clock::Media)),
        ("clock and precision_s of a time without a frame", !is_cited_seen && verdict.clock.is_some()),
        ("detail of what was not judged", has_words),
        ("neighbours that are not held", !is_of_file),
    ];
    table.into_iter().filter(|(_, applies)| *applies).map(|(part, _)| part).collect()
}

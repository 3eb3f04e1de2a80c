//! What each threshold would catch and flag: to choose one for a judge that nobody calibrated. Pure.
//!
//! Thresholds below the one in force are not told: what was refused under it is not weighed again.

use std::fmt::Write as _;

use super::table::share;
use super::tally::{Judged, Tally};

const THRESHOLDS: [f32; 8] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99];

/// One row a threshold; `in_force` is the one that the claims were judged with.
pub fn table(claims: &[Judged], in_force: f32) -> String {
    let mut out = format!(
        "Thresholds, {in_force} in force:\n\n| threshold | fabricated and caught | true and flagged | balanced accuracy |\n\
         |---|---|---|---|\n"
    );
    for threshold in THRESHOLDS.into_iter().filter(|threshold| *threshold >= in_force) {
        let tally = at(claims, threshold);
        let balanced = tally.balanced().map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        let _ = writeln!(out, "| {threshold} | {} | {} | {balanced} |", share(tally.caught), share(tally.flagged));
    }
    out.push('\n');
    out
}

fn at(claims: &[Judged], threshold: f32) -> Tally {
    let claims: Vec<Judged> =
        claims.iter().map(|claim| Judged { flagged: claim.score < threshold, ..claim.clone() }).collect();
    Tally::of(&claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Reason;

    #[test]
    fn a_higher_threshold_flags_more() {
        let claim = |truth, score| Judged {
            kind: "presence".to_owned(),
            truth,
            flagged: score < 0.5,
            score,
            reason: Reason::Entailed,
            without_frame: false,
        };
        let claims = [claim(true, 0.97), claim(true, 0.85), claim(false, 0.75), claim(false, 0.1)];
        let table = table(&claims, 0.6);
        assert!(!table.contains("| 0.5 |"), "{table}");
        for due in [
            "| 0.6 | 50.0 % (1 of 2; 9.5–90.5 %) | 0.0 % (0 of 2; 0.0–65.8 %) | 0.750 |",
            "| 0.8 | 100.0 % (2 of 2; 34.2–100.0 %) | 0.0 % (0 of 2; 0.0–65.8 %) | 1.000 |",
            "| 0.98 | 100.0 % (2 of 2; 34.2–100.0 %) | 100.0 % (2 of 2; 34.2–100.0 %) | 0.500 |",
        ] {
            assert!(table.contains(due), "{due} is missing: {table}");
        }
    }
}

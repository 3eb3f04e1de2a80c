//! What may be concluded from counts. Pure.

use crate::domain::{Conclusion, Coverage, Doubt};

/// What all captions of a window said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts<'a> {
    pub(super) shown: u64,
    pub(super) unclear: u64,
    pub(super) coverage: &'a Coverage,
    /// Whether the captioner can name the thing at all.
    pub(super) can_name: bool,
}

/// One caption is enough for "seen". "Not seen" needs a captioner that can name the thing, no caption that leaves it
/// open, and enough of the window.
pub(super) fn conclude(counts: Counts<'_>, floor: f64) -> (Conclusion, Option<Doubt>) {
    let Counts { shown, unclear, coverage, can_name } = counts;
    let doubt = if unclear > 0 {
        Doubt::Unclear
    } else if !can_name {
        Doubt::Vocabulary
    } else if coverage.due == 0 || coverage.share() < floor {
        Doubt::Coverage
    } else {
        return (if shown > 0 { Conclusion::Seen } else { Conclusion::NotSeen }, None);
    };
    if shown > 0 { (Conclusion::Seen, None) } else { (Conclusion::Undecided, Some(doubt)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_needs_more_than_silence() {
        use Conclusion::{NotSeen, Seen, Undecided};
        let table = [
            ("all seen", (0, 0, 160, 160, true), NotSeen, None),
            ("nearly all seen", (0, 0, 158, 160, true), NotSeen, None),
            ("at the floor", (0, 0, 144, 160, true), NotSeen, None),
            ("below the floor", (0, 0, 143, 160, true), Undecided, Some(Doubt::Coverage)),
            ("nothing seen", (0, 0, 0, 160, true), Undecided, Some(Doubt::Coverage)),
            ("nothing due", (0, 0, 0, 0, true), Undecided, Some(Doubt::Coverage)),
            ("left open once", (0, 1, 160, 160, true), Undecided, Some(Doubt::Unclear)),
            ("cannot be named", (0, 0, 160, 160, false), Undecided, Some(Doubt::Vocabulary)),
            ("shown once", (1, 0, 160, 160, true), Seen, None),
            ("shown where little was seen", (1, 3, 10, 160, true), Seen, None),
        ];
        for (name, (shown, unclear, seen, due, can_name), conclusion, doubt) in table {
            let coverage = Coverage { due, seen, missing: due - seen, ..Coverage::default() };
            let counts = Counts { shown, unclear, coverage: &coverage, can_name };
            assert_eq!(conclude(counts, 0.9), (conclusion, doubt), "{name}");
        }
    }
}

//! Whether to look again, why, how, and with how much. Pure.
//!
//! # Decisions
//! - *A drafted claim that failed is drafted again before anything else is looked at* (2026-11): the evidence is there
//!   already, so that is the cheapest look, and it is the one about what was asked.
//! - *Each way once.* A second look of the same kind lies farther from the question than the first.
//! - *Something grounded ends it*, unless other claims failed or nothing that was retrieved resembles the question.

use std::time::Duration;

use crate::domain::{How, Why};

/// Cosine similarity of the best moment below which retrieval found nothing like the question; the same as for events
/// that a question leans on.
const LIKE: f32 = 0.2;
/// A round may take so many times as long as the longest step so far, and must fit into what is left of the time.
const SLOWER: u32 = 2;
/// Frames that the check of one claim may need: the cited one and two neighbours.
pub(super) const FRAMES_A_CLAIM: usize = 3;

/// What the claims so far came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    /// All claims.
    pub(super) claims: usize,
    /// Of which grounded.
    pub(super) grounded: usize,
    /// Of which grounded and about the question.
    pub(super) answering: usize,
    /// Of which contradicted, or neither that nor entailed.
    pub(super) unverified: usize,
    /// Of which a model did not answer for.
    pub(super) unavailable: usize,
    /// Similarity of the best moment to the question.
    pub(super) likeness: f32,
}

/// Which ways are open: not taken yet, and with something to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "one flag a way, each by itself")]
pub(super) struct Open {
    pub(super) repair: bool,
    pub(super) next: bool,
    pub(super) wider: bool,
    pub(super) finer: bool,
}

/// What may still be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    /// Rounds.
    pub(super) rounds: usize,
    /// Pictures that may be captioned.
    pub(super) frames: usize,
    /// Time until the answer is due.
    pub(super) time: Duration,
    /// The longest step so far.
    pub(super) slowest: Duration,
}

/// What one round may spend: claims times [`FRAMES_A_CLAIM`] and frames together stay within what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Claims that may be drafted.
    pub(super) claims: usize,
    /// Frames that may be captioned to draft from.
    pub(super) frames: usize,
}

/// The next look, if there is to be one.
pub(super) fn next(found: &Found, open: Open, left: Left) -> Option<(Why, How)> {
    let is_spent = left.rounds == 0 || left.frames < FRAMES_A_CLAIM || left.time < left.slowest * SLOWER;
    // Whoever does not answer now will not answer for other frames.
    let is_mute = found.unavailable > 0 && found.grounded + found.unverified == 0;
    if is_spent || is_mute {
        return None;
    }
    let why = why(found)?;
    let ways: &[How] = match why {
        Why::Unverified => &[How::Repair],
        Why::Ungrounded => &[How::Repair, How::Next, How::Wider, How::Finer],
        Why::Undrafted | Why::Unlike => &[How::Next, How::Wider, How::Finer],
    };
    ways.iter().find(|how| open.has(**how)).map(|how| (why, *how))
}

fn why(found: &Found) -> Option<Why> {
    match found {
        Found { claims: 0, .. } => Some(Why::Undrafted),
        Found { grounded: 0, .. } => Some(Why::Ungrounded),
        Found { answering: 0, .. } => Some(Why::Unlike),
        Found { unverified: 1.., .. } => Some(Why::Unverified),
        Found { likeness, .. } if *likeness < LIKE => Some(Why::Unlike),
        _ => None,
    }
}

/// What a round may spend of so many pictures, with at most `max_claims` claims. Fresh frames to draft from get half.
pub(super) fn allowance(how: How, frames: usize, max_claims: usize) -> Allowance {
    let fresh = if how == How::Finer { (frames / 2).min(frames.saturating_sub(FRAMES_A_CLAIM)) } else { 0 };
    Allowance { claims: ((frames - fresh) / FRAMES_A_CLAIM).min(max_claims), frames: fresh }
}

impl Open {
    /// Whether a way is open.
    pub(super) fn has(self, how: How) -> bool {
        match how {
            How::Repair => self.repair,
            How::Next => self.next,
            How::Wider => self.wider,
            How::Finer => self.finer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Open = Open { repair: true, next: true, wider: true, finer: true };
    const LEFT: Left = Left { rounds: 2, frames: 24, time: Duration::from_secs(10), slowest: Duration::from_secs(2) };

    fn found(claims: usize, grounded: usize, unverified: usize) -> Found {
        Found { claims, grounded, answering: grounded, unverified, unavailable: 0, likeness: 0.5 }
    }

    #[test]
    fn it_is_looked_again_for_a_reason_and_in_order() {
        use How::{Finer, Next, Repair, Wider};
        let only = |how: &[How]| Open {
            repair: how.contains(&Repair),
            next: how.contains(&Next),
            wider: how.contains(&Wider),
            finer: how.contains(&Finer),
        };
        let table = [
            ("all grounded", found(2, 2, 0), ALL, None),
            ("one of two", found(2, 1, 1), ALL, Some((Why::Unverified, Repair))),
            ("one of two, repaired already", found(3, 1, 1), only(&[Next, Finer]), None),
            ("one grounded, the other has no frame", found(2, 1, 0), ALL, None),
            ("none", found(2, 0, 2), ALL, Some((Why::Ungrounded, Repair))),
            ("none, after a repair", found(2, 0, 2), only(&[Next, Wider, Finer]), Some((Why::Ungrounded, Next))),
            ("none, nothing next", found(2, 0, 2), only(&[Wider, Finer]), Some((Why::Ungrounded, Wider))),
            ("none, only finer", found(2, 0, 2), only(&[Finer]), Some((Why::Ungrounded, Finer))),
            ("none, and nothing left to do", found(2, 0, 2), Open::default(), None),
            ("frames are gone", found(2, 0, 0), ALL, Some((Why::Ungrounded, Repair))),
            ("nothing drafted", found(0, 0, 0), ALL, Some((Why::Undrafted, Next))),
            ("nothing drafted, nothing next", found(0, 0, 0), only(&[Repair, Finer]), Some((Why::Undrafted, Finer))),
            ("nothing like it", Found { likeness: 0.1, ..found(1, 1, 0) }, ALL, Some((Why::Unlike, Next))),
            ("beside the point", Found { answering: 0, ..found(2, 2, 0) }, ALL, Some((Why::Unlike, Next))),
            ("the rest of it failed", Found { answering: 0, ..found(2, 1, 1) }, only(&[Repair]), None),
            ("just like it", Found { likeness: LIKE, ..found(1, 1, 0) }, ALL, None),
            ("models are down", Found { unavailable: 2, ..found(2, 0, 0) }, ALL, None),
            ("one is down", Found { unavailable: 1, ..found(2, 0, 1) }, ALL, Some((Why::Ungrounded, Repair))),
        ];
        for (name, found, open, due) in table {
            assert_eq!(next(&found, open, LEFT), due, "{name}");
        }
    }

    #[test]
    fn nothing_is_spent_beyond_its_bounds() {
        let seconds = Duration::from_secs;
        let table = [
            ("rounds", Left { rounds: 0, ..LEFT }, false),
            ("frames", Left { frames: 2, ..LEFT }, false),
            ("enough frames", Left { frames: 3, ..LEFT }, true),
            ("time", Left { time: seconds(3), ..LEFT }, false),
            ("enough time", Left { time: seconds(4), ..LEFT }, true),
        ];
        for (name, left, may) in table {
            assert_eq!(next(&found(1, 0, 1), ALL, left).is_some(), may, "{name}");
        }
        for how in How::ALL {
            for frames in 3..60 {
                let Allowance { claims, frames: fresh } = allowance(how, frames, 4);
                assert!((1..=4).contains(&claims) && claims * FRAMES_A_CLAIM + fresh <= frames, "{how:?} {frames}");
                assert_eq!(fresh > 0, how == How::Finer && frames > 3);
            }
        }
    }
}

//! Whether a camera shows the same picture again and again.
//!
//! A camera that looks at something never sends exactly the same picture for long: the sensor's noise differs, and so
//! do the encoder's choices. One that hangs repeats its last picture; encoded anew it comes out equal at nearly every
//! point. A clock drawn into the picture may go on ticking.

use std::time::Duration;

use super::glance::Glance;
use crate::domain::StreamTime;

/// Points that may differ in a repetition.
const DIFFERING: f32 = 0.02;
/// However long it takes, so many repetitions are needed.
const REPEATS: u32 = 3;

/// The run of equal pictures that the last one belongs to.
#[derive(Debug, Default)]
pub(super) struct Freeze {
    /// The first picture of the run, which was a true one.
    first: Option<(StreamTime, Glance)>,
    /// When it was repeated first.
    from: Option<StreamTime>,
    repeats: u32,
    /// It was frozen when it was last watched, by somebody who kept no picture.
    is_presumed: bool,
}

impl Freeze {
    /// A camera that was frozen when an earlier process stopped. Its first picture counts as one more repetition: whether
    /// it is one shows with the next, and a picture too many without a caption does less harm than a false one.
    pub(super) fn presumed() -> Self {
        Self { repeats: REPEATS, is_presumed: true, ..Self::default() }
    }

    /// Takes the next picture. Says since when nothing but repetitions came, once they have lasted `after`.
    pub(super) fn look(&mut self, at: StreamTime, glance: &Glance, after: Duration) -> Option<StreamTime> {
        let Some((began, _)) = self.first.as_ref().filter(|(_, first)| first.differing(glance) <= DIFFERING) else {
            let is_presumed = self.is_presumed && self.first.is_none();
            let (from, repeats) = if is_presumed { (Some(at), REPEATS) } else { (None, 0) };
            *self = Self { first: Some((at, glance.clone())), from, repeats, is_presumed };
            return from;
        };
        let lasted = at.saturating_since(*began);
        self.repeats = self.repeats.saturating_add(1);
        let from = *self.from.get_or_insert(at);
        (self.is_presumed || self.repeats >= REPEATS && lasted >= after).then_some(from)
    }

    /// Nothing was seen for a while. A camera that was frozen still is if it shows the same; but since when it has shown
    /// it is told anew, so that no span reaches over what nobody saw.
    pub(super) fn interrupt(&mut self) {
        if self.repeats < REPEATS {
            self.forget();
        }
        self.from = None;
    }

    /// What came before says nothing about what comes now.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::glance::drawn::{Thing, street};
    use super::*;

    fn t(seconds: u64) -> StreamTime {
        StreamTime::from_nanos(seconds * 1_000_000_000)
    }

    /// Since when each picture, one every 5 s, is called a repetition.
    fn run(after: u64, glances: &[Glance]) -> Vec<Option<u64>> {
        let mut freeze = Freeze::default();
        let look = |(n, glance): (usize, &Glance)| {
            let from = freeze.look(t(5 * n as u64), glance, Duration::from_secs(after));
            from.map(|from| from.nanos() / 1_000_000_000)
        };
        glances.iter().enumerate().map(look).collect()
    }

    #[test]
    fn repetitions_are_told_once_they_last() {
        let same = vec![street(0, 3.0, 1.0, 0.0, &[]); 6];
        assert_eq!(run(15, &same), [None, None, None, Some(5), Some(5), Some(5)]);
        assert_eq!(run(20, &same), [None, None, None, None, Some(5), Some(5)]);
        assert_eq!(run(0, &same), [None, None, None, Some(5), Some(5), Some(5)], "three are needed in any case");
    }

    #[test]
    fn a_quiet_scene_is_not_frozen() {
        let noisy: Vec<_> = (0..20).map(|seed| street(seed, 1.0, 1.0, 0.0, &[])).collect();
        assert_eq!(run(15, &noisy), vec![None; 20]);
        // So little that no point moves by more than a level.
        let hardly: Vec<_> = (0..20).map(|seed| street(seed, 0.3, 1.0, 0.0, &[])).collect();
        assert_eq!(run(15, &hardly), vec![None; 20]);
    }

    #[test]
    fn a_ticking_clock_does_not_hide_it_and_life_ends_it() {
        let clock = |n: u8| Thing { x: 10, y: 10, width: 100, height: 18, luma: 40 * n };
        let mut shown: Vec<_> = (0..5).map(|n| street(0, 3.0, 1.0, 0.0, &[clock(n)])).collect();
        shown.push(street(1, 3.0, 1.0, 0.0, &[]));
        shown.push(street(2, 3.0, 1.0, 0.0, &[]));
        assert_eq!(run(15, &shown), [None, None, None, Some(5), Some(5), None, None]);
    }
}

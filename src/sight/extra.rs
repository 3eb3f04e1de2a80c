//! Which pictures between two samples deserve a caption of their own.
//!
//! A sample every five seconds misses what passes in two. Between samples pictures are glanced at a few times a second
//! and compared with the last one taken. Taken is what differs from it clearly, twice in a row, and much more than is
//! usual on this stream: on an empty yard a single person is, in a busy street not even a bus.

use std::time::Duration;

use super::change;
use super::gate::CHANGED;
use super::glance::Glance;
use crate::domain::StreamTime;

/// Pictures closer together are not looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// So many times the usual number of changed cells is sudden.
const SUDDEN: f32 = 3.0;
/// What is usual forgets with this time constant, in seconds …
const MEMORY: f32 = 30.0;
/// … and is known after so long. Nothing is taken before.
const LEARNING: f32 = 8.0;

/// Remembers the last picture taken and what is usual. Times may only grow; one that does not is not looked at.
#[derive(Debug)]
pub struct Extra {
    every: Option<Duration>,
    taken: Option<Glance>,
    looked: Option<StreamTime>,
    /// When the last extra picture was taken.
    last: Option<StreamTime>,
    /// Changed cells at a look, on average.
    usual: f32,
    /// Seconds from which that is known.
    known: f32,
    /// Whether the last look was a sudden change.
    suspects: bool,
}

impl Extra {
    /// At most one extra picture in `every`; `None`: never any, and nothing is ever looked at.
    pub fn new(every: Option<Duration>) -> Self {
        Self { every, taken: None, looked: None, last: None, usual: 0.0, known: 0.0, suspects: false }
    }

    /// Whether to [look](Self::look) at the picture at `at`.
    pub fn wants(&self, at: StreamTime) -> bool {
        let is_time = self.looked.is_none_or(|looked| at >= looked + LOOK_EVERY);
        self.every.is_some() && self.taken.is_some() && is_time
    }

    /// Whether pictures that are taken are to be [shown](Self::taken).
    pub fn is_on(&self) -> bool {
        self.every.is_some()
    }

    /// Whether to take the picture at `at`. If so it counts as taken.
    pub fn look(&mut self, at: StreamTime, glance: Glance) -> bool {
        let (Some(every), Some(taken)) = (self.every, &self.taken) else { return false };
        let changed = change::cells(taken, &glance);
        let is_sudden = changed >= CHANGED && changed as f32 >= SUDDEN * self.usual;
        let since = self.looked.map_or(LOOK_EVERY, |looked| at.saturating_since(looked)).as_secs_f32();
        let is_learned = self.known >= LEARNING;
        self.known = (self.known + since).min(MEMORY);
        self.usual += (changed as f32 - self.usual) * (since / self.known).min(1.0);
        self.looked = Some(at);
        let is_confirmed = std::mem::replace(&mut self.suspects, is_sudden) && is_sudden;
        let is_allowed = is_learned && self.last.is_none_or(|last| at.saturating_since(last) >= every);
        if is_confirmed && is_allowed {
            self.last = Some(at);
            self.taken(at, glance);
        }
        is_confirmed && is_allowed
    }

    /// A picture was taken, be it as a sample.
    pub fn taken(&mut self, at: StreamTime, glance: Glance) {
        (self.taken, self.looked, self.suspects) = (Some(glance), Some(at), false);
    }
}

#[cfg(test)]
mod tests {
    use super::super::glance::drawn::{Thing, street};
    use super::*;

    fn person(x: usize) -> Thing {
        Thing { x, y: 203, width: 26, height: 62, luma: 15 }
    }

    /// Milliseconds at which pictures are taken extra, of ten a second with a sample every 5 s.
    fn extras(every: Option<u64>, until: u64, things: impl Fn(u64) -> Vec<Thing>) -> Vec<u64> {
        let mut extra = Extra::new(every.map(Duration::from_secs));
        let mut found = Vec::new();
        for ms in (0..until).step_by(100) {
            let at = StreamTime::from_nanos(ms * 1_000_000);
            let glance = || street(ms, 3.0, 1.0, 0.0, &things(ms));
            if ms % 5000 == 0 {
                extra.taken(at, glance());
            } else if extra.wants(at) && extra.look(at, glance()) {
                found.push(ms);
            }
        }
        found
    }

    #[test]
    fn who_passes_between_samples_is_seen() {
        let passes = |ms: u64| if (16_000..18_000).contains(&ms) { vec![person(ms as usize / 50)] } else { vec![] };
        assert_eq!(extras(Some(5), 25_000, passes), [16_200]);
        assert_eq!(extras(None, 25_000, passes), Vec::<u64>::new(), "not where it is switched off");
    }

    #[test]
    fn a_flash_a_quiet_scene_and_a_busy_one_are_not() {
        let flash = |ms: u64| if ms == 16_000 { vec![person(300)] } else { vec![] };
        assert_eq!(extras(Some(5), 20_000, flash), Vec::<u64>::new());
        assert_eq!(extras(Some(5), 20_000, |_| vec![]), Vec::<u64>::new());
        // Everybody walks all the time: after a while one more is nothing special.
        let busy = |ms: u64| (0..8).map(|n| person((n * 90 + ms as usize / 12) % 740)).collect::<Vec<_>>();
        let late: Vec<_> = extras(Some(5), 60_000, busy).into_iter().filter(|&ms| ms > 30_000).collect();
        assert_eq!(late, Vec::<u64>::new());
    }

    #[test]
    fn there_is_at_most_one_in_so_long() {
        // Somebody jumps every second.
        // Nobody is there for a while.
        let jumps = |ms: u64| match ms / 1000 {
            0..20 => vec![],
            second => vec![person(100 + (second % 5) as usize * 100)],
        };
        for every in [2, 7] {
            let found = extras(Some(every), 40_000, jumps);
            assert!(found.len() > 1, "every {every} s: {found:?}");
            assert!(found.windows(2).all(|pair| pair[1] - pair[0] >= every * 1000), "every {every} s: {found:?}");
        }
    }

    #[test]
    fn nothing_is_looked_at_before_the_first_sample_or_too_often() {
        let mut extra = Extra::new(Some(Duration::from_secs(5)));
        let at = |ms: u64| StreamTime::from_nanos(ms * 1_000_000);
        assert!(!extra.wants(at(0)));
        extra.taken(at(0), street(0, 3.0, 1.0, 0.0, &[]));
        assert_eq!([0, 100, 199, 200].map(|ms| extra.wants(at(ms))), [false, false, false, true]);
    }
}

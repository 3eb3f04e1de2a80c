//! What becomes of a sampled picture: a caption, a longer moment, or a note that nothing can be seen.

use std::time::Duration;

use super::freeze::Freeze;
use super::glance::Glance;
use super::{Settings, change, flat};
use crate::domain::{BlindSpan, Blindness, StreamTime};

/// Cells that make a change: the smallest thing that the captioner can name covers as many.
pub(super) const CHANGED: usize = 3;
/// Pictures further apart than so many sampling intervals have something between them that nobody saw.
const REACH: u32 = 2;

/// What a picture is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// It shows something that no caption tells yet.
    Changed,
    /// It shows what the last captioned one showed.
    Unchanged,
    /// Nothing can be seen, since `from`.
    Blind {
        /// Why.
        why: Blindness,
        /// The first picture that showed nothing.
        from: StreamTime,
    },
}

/// Remembers as much of one stream's pictures as it takes to judge the next one. Pictures are shown in the order of
/// time; whoever shows them says which one was captioned.
#[derive(Debug)]
pub struct Gate {
    settings: Settings,
    sample_every: Duration,
    /// The last picture that showed something.
    pending: Option<(StreamTime, Glance)>,
    captioned: Option<(StreamTime, Glance)>,
    last: Option<StreamTime>,
    blind: Option<(Blindness, StreamTime)>,
    freeze: Freeze,
}

impl Gate {
    /// For a stream that is sampled every `sample_every`.
    pub fn new(settings: Settings, sample_every: Duration) -> Self {
        let (pending, captioned, last, blind) = (None, None, None, None);
        Self { settings, sample_every, pending, captioned, last, blind, freeze: Freeze::default() }
    }

    /// Goes on where an earlier process stopped: `last` is the last picture it dealt with, `span` the last stretch in
    /// which it saw nothing. A camera that was frozen is taken for frozen until it shows two pictures that differ: none was kept
    /// that the first one could be compared with.
    pub fn resume(&mut self, last: Option<StreamTime>, span: Option<&BlindSpan>) {
        self.last = last;
        let may_freeze = self.settings.frozen_after.is_some();
        let is_open = |span: &&BlindSpan| Some(span.until) == last && (may_freeze || span.why != Blindness::Frozen);
        self.blind = span.filter(is_open).map(|span| (span.why, span.from));
        if matches!(self.blind, Some((Blindness::Frozen, _))) {
            self.freeze = Freeze::presumed();
        }
    }

    /// Why the last picture showed nothing.
    pub fn blind(&self) -> Option<Blindness> {
        self.blind.map(|(why, _)| why)
    }

    /// Judges the next picture.
    pub fn look(&mut self, at: StreamTime, glance: Glance) -> View {
        let gap = self.last.is_some_and(|last| at.saturating_since(last) > self.sample_every * REACH);
        self.last = Some(at);
        if gap {
            // What was there meanwhile is not known: no span may reach over it.
            self.captioned = None;
            self.freeze.interrupt();
        }
        let before = self.blind.filter(|_| !gap);
        if let Some((why, since)) = self.why_blind(at, &glance, before.is_some()) {
            let goes_on = before.filter(|(before, _)| *before == why);
            let from = goes_on.map_or(since, |(_, from)| from);
            self.blind = Some((why, from));
            // After the dark the scene is told anew.
            (self.captioned, self.pending) = (None, None);
            return View::Blind { why, from };
        }
        self.blind = None;
        let view = self.compare(at, &glance);
        self.pending = Some((at, glance));
        view
    }

    /// The last picture has a caption now, whatever was said of it.
    pub fn captioned(&mut self) {
        self.captioned = self.pending.take();
    }

    fn why_blind(&mut self, at: StreamTime, glance: &Glance, before: bool) -> Option<(Blindness, StreamTime)> {
        if let Some(why) = flat(glance, before) {
            self.freeze.forget();
            return Some((why, at));
        }
        let after = self.settings.frozen_after?;
        self.freeze.look(at, glance, after).map(|from| (Blindness::Frozen, from))
    }

    fn compare(&self, at: StreamTime, glance: &Glance) -> View {
        let Some((captioned_at, captioned)) = self.captioned.as_ref().filter(|_| self.settings.extend_unchanged) else {
            return View::Changed;
        };
        let is_old = at.saturating_since(*captioned_at) >= self.settings.caption_at_least;
        if is_old || change::cells(captioned, glance) >= CHANGED { View::Changed } else { View::Unchanged }
    }
}

#[cfg(test)]
mod tests {
    use super::super::glance::drawn::{Thing, street};
    use super::*;
    use crate::domain::{StreamId, WallTime};

    const EVERY: Duration = Duration::from_secs(5);
    const PERSON: Thing = Thing { x: 301, y: 203, width: 26, height: 62, luma: 15 };

    fn t(seconds: u64) -> StreamTime {
        StreamTime::from_nanos(seconds * 1_000_000_000)
    }

    fn live() -> Settings {
        Settings {
            extend_unchanged: true,
            caption_at_least: Duration::from_mins(10),
            frozen_after: Some(Duration::from_secs(15)),
            extra_every: None,
        }
    }

    fn black(at: u64) -> Glance {
        Glance::of_luma(64, 48, |x, y| ((x * 7 + y * 13 + at as usize) % 5) as u8)
    }

    fn grey() -> Glance {
        Glance::of_luma(64, 48, |_, _| 128)
    }

    /// What a stream's pictures come to, when every caption succeeds: `c`aption, `e`xtend, or blind with its beginning.
    fn judged(gate: &mut Gate, pictures: impl IntoIterator<Item = (u64, Glance)>) -> Vec<String> {
        let mut told = Vec::new();
        for (at, glance) in pictures {
            told.push(match gate.look(t(at), glance) {
                View::Changed => {
                    gate.captioned();
                    "c".to_owned()
                }
                View::Unchanged => "e".to_owned(),
                View::Blind { why, from } => format!("{} {}", why.as_str(), from.seconds()),
            });
        }
        told
    }

    fn told(settings: Settings, pictures: impl IntoIterator<Item = (u64, Glance)>) -> Vec<String> {
        judged(&mut Gate::new(settings, EVERY), pictures)
    }

    fn street_at(at: u64, things: &[Thing]) -> (u64, Glance) {
        (at, street(at, 3.0, 1.0, 0.0, things))
    }

    #[test]
    fn what_has_not_changed_is_captioned_once() {
        let scene = [
            street_at(0, &[]),
            street_at(5, &[]),
            street_at(10, &[PERSON]),
            street_at(15, &[PERSON]),
            street_at(20, &[]),
        ];
        assert_eq!(told(live(), scene.clone()), ["c", "e", "c", "e", "c"]);
        let every = Settings { extend_unchanged: false, ..live() };
        assert_eq!(told(every, scene), ["c"; 5]);
    }

    #[test]
    fn a_moment_does_not_last_for_ever_nor_over_a_gap() {
        let often = Settings { caption_at_least: Duration::from_secs(10), ..live() };
        assert_eq!(told(often, [0, 5, 10, 15].map(|at| street_at(at, &[]))), ["c", "e", "c", "e"]);
        assert_eq!(told(live(), [0, 9, 19, 30].map(|at| street_at(at, &[]))), ["c", "e", "e", "c"]);
    }

    #[test]
    fn small_steps_add_up() {
        // Each step is too little to see; together they are not.
        let lamp = |at: u64| {
            let glow = Thing { x: 300, y: 200, width: 60, height: 60, luma: 100 + 3 * at as u8 };
            (at, street(at, 1.0, 1.0, 0.0, &[glow]))
        };
        let told = told(live(), (0..8).map(|n| lamp(5 * n)));
        assert_eq!(told[0], "c");
        assert!(told[1..].contains(&"c".to_owned()), "{told:?}");
    }

    #[test]
    fn dark_pictures_are_noted_and_what_follows_is_captioned() {
        let scene =
            [street_at(0, &[]), (5, black(5)), (10, black(10)), (15, grey()), street_at(20, &[]), street_at(25, &[])];
        assert_eq!(told(live(), scene), ["c", "black 5", "black 5", "covered 15", "c", "e"]);
        // A gap ends the stretch.
        assert_eq!(told(live(), [(0, black(0)), (5, black(5)), (60, black(60))]), ["black 0", "black 0", "black 60"]);
    }

    #[test]
    fn a_frozen_camera_is_told_from_a_quiet_street() {
        let still = |at| (at, street(0, 3.0, 1.0, 0.0, &[]));
        let pictures = [0, 5, 10, 15, 20].map(still).into_iter().chain([street_at(25, &[]), street_at(30, &[])]);
        assert_eq!(told(live(), pictures.clone()), ["c", "e", "e", "frozen 5", "frozen 5", "c", "e"]);
        let file = Settings { frozen_after: None, ..live() };
        assert_eq!(told(file, pictures), ["c", "e", "e", "e", "e", "e", "e"], "a file may hold still");
        // Reconnected and still frozen: the outage is not part of it.
        assert_eq!(told(live(), [0, 5, 10, 15, 60].map(still)), ["c", "e", "e", "frozen 5", "frozen 60"]);
    }

    #[test]
    fn a_restart_goes_on_with_the_dark() {
        let span = |why| BlindSpan {
            stream: StreamId::new("cam").expect("valid"),
            from: t(5),
            until: t(20),
            wall: WallTime::from_nanos(0).expect("a time"),
            why,
        };
        let resumed = |settings, why, last: u64| {
            let mut gate = Gate::new(settings, EVERY);
            gate.resume(Some(t(last)), Some(&span(why)));
            gate
        };
        let after =
            |why, last: u64, at: u64, glance: Glance| judged(&mut resumed(live(), why, last), [(at, glance)]).remove(0);
        assert_eq!(after(Blindness::Black, 20, 25, black(25)), "black 5");
        assert_eq!(after(Blindness::Black, 20, 90, black(90)), "black 90", "nobody saw what was in between");
        assert_eq!(after(Blindness::Black, 22, 25, black(25)), "black 25", "something was seen after it");
        assert_eq!(after(Blindness::Covered, 20, 25, black(25)), "black 25");
        let still = |at| (at, street(0, 3.0, 1.0, 0.0, &[]));
        let frozen = || resumed(live(), Blindness::Frozen, 20);
        assert_eq!(frozen().blind(), Some(Blindness::Frozen));
        let goes_on = [still(25), still(30), street_at(35, &[]), street_at(40, &[])];
        assert_eq!(judged(&mut frozen(), goes_on), ["frozen 5", "frozen 5", "c", "e"]);
        let later = [still(90), still(95), street_at(100, &[])];
        assert_eq!(judged(&mut frozen(), later), ["frozen 90", "frozen 90", "c"], "the outage is not part of it");
        let alive = [street_at(25, &[]), street_at(30, &[]), street_at(35, &[])];
        assert_eq!(judged(&mut frozen(), alive), ["frozen 5", "c", "e"], "the second picture shows that it is not");
        assert_eq!(after(Blindness::Frozen, 22, 25, street_at(25, &[]).1), "c", "something was seen after it");
        let any = Settings { frozen_after: None, ..live() };
        assert_eq!(judged(&mut resumed(any, Blindness::Frozen, 20), [still(25)]), ["c"], "nobody asks for it any more");
    }
}

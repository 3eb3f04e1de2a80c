//! The narrator over pictures that show nothing, or nothing new.

use std::time::Duration;

use super::fakes::Step;
use super::tests::{World, obliging};
use super::*;
use crate::domain::{BlindSpan, Blindness, Moment, Picture, StreamState, StreamTime, Window};
use crate::engine::fakes::{Script, picture};
use crate::index::Scope;
use crate::seams::ModelError;
use crate::sight::Settings;

/// Unchanged pictures extend; the same picture for 15 s is frozen.
fn close() -> Settings {
    Settings { extend_unchanged: true, frozen_after: Some(Duration::from_secs(15)), ..Settings::plain() }
}

fn black() -> Picture {
    Picture::new(2, 1, vec![0; 6]).expect("two pixels")
}

/// A picture of its own noise, of a scene that the fake captioner calls by `red`.
fn scene(red: u8, seed: u64) -> Picture {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut rgb: Vec<u8> = (0..96 * 72).flat_map(|i| [(i / 12 % 2) as u8 * 140 + 40 + random.u8(..6); 3]).collect();
    if red == 2 {
        // Somebody stands in the middle.
        for (y, x) in (30..50).flat_map(|y| (40..50).map(move |x| (y, x))) {
            rgb[3 * (y * 96 + x)..][..3].copy_from_slice(&[230; 3]);
        }
    }
    rgb[0] = red;
    Picture::new(96, 72, rgb).expect("sizes agree")
}

fn shows(second: u8, picture: Picture) -> Step {
    Step::Shows(second, picture)
}

/// Notes which pictures are captioned, by their first byte.
fn noting() -> (Script, std::sync::mpsc::Receiver<u8>) {
    let (note, noted) = std::sync::mpsc::sync_channel(64);
    (Box::new(move |pictures| note.send(pictures[0].rgb()[0]).map_err(|_| ModelError::Stopped)), noted)
}

fn seconds(at: StreamTime) -> f64 {
    at.seconds()
}

impl World {
    async fn moments(&self) -> Vec<Moment> {
        let scope = Scope { streams: vec![self.stream.clone()], window: Window::ALL };
        self.deps.index.moments(scope, usize::MAX, false).await.expect("reads")
    }

    async fn spans(&self) -> Vec<(f64, f64)> {
        self.moments().await.iter().map(|moment| (seconds(moment.at), seconds(moment.until))).collect()
    }

    async fn dark(&self) -> Vec<BlindSpan> {
        self.deps.index.unobservable(&self.stream, Window::ALL).await.expect("reads")
    }

    /// Waits until everything up to `second` is stored.
    async fn reaches(&self, second: f64) {
        loop {
            let record = self.deps.index.record(&self.stream).await.expect("reads");
            if record.and_then(|record| record.last).is_some_and(|last| seconds(last) >= second) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn lengths(spans: &[BlindSpan]) -> Vec<(f64, f64, Blindness)> {
    spans.iter().map(|span| (seconds(span.from), seconds(span.until), span.why)).collect()
}

#[tokio::test]
async fn what_has_not_changed_is_not_captioned_again() {
    let (script, captioned) = noting();
    let mut world = World::new(script);
    let steps = [(0, 1), (5, 1), (10, 1), (15, 2), (20, 2), (25, 1)].map(|(at, red)| shows(at, scene(red, at.into())));
    let steps = steps.into_iter().chain([Step::End]).collect();
    let (watching, _) = world.watch_closely(StreamKind::File, vec![steps], close());
    watching.ended().await.expect("no panic");
    assert_eq!(captioned.try_iter().collect::<Vec<_>>(), [1, 2, 1]);
    assert_eq!(world.spans().await, [(0.0, 10.0), (15.0, 20.0), (25.0, 25.0)]);
    let due = [
        "connecting",
        "up",
        "caption 0",
        "caption 0 until 5",
        "caption 0 until 10",
        "caption 15",
        "caption 15 until 20",
        "caption 25",
        "ended",
    ];
    assert_eq!(world.told(), due);
    assert_eq!(world.status().moments, 3);
    assert_eq!(world.metric("gvqa_frames_unchanged_total{stream=\"s\"}"), "3");
    assert_eq!(world.metric("gvqa_moments_total{stream=\"s\"}"), "3");
}

#[tokio::test]
async fn a_restart_after_an_extension_captions_no_frame_again() {
    let (script, captioned) = noting();
    let world = World::new(script);
    let first = vec![shows(0, scene(1, 0)), shows(5, scene(1, 5)), shows(10, scene(1, 10))];
    let (watching, _) = world.watch_closely(StreamKind::File, vec![first], close());
    world.reaches(10.0).await;
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
    let deps = Deps { stop: Stop::new(), ..world.deps.clone() };
    let world = World { deps, ..world };
    // This source does not care where it shall begin.
    let again = [0, 5, 10, 15, 20].map(|at| shows(at, scene(1, at.into()))).into_iter().chain([Step::End]).collect();
    let (watching, origins) = world.watch_closely(StreamKind::File, vec![again], close());
    watching.ended().await.expect("no panic");
    assert_eq!(origins.lock().expect("not poisoned")[0].after.map(seconds), Some(10.0));
    assert_eq!(world.status().dropped[&DropReason::Late], 3);
    assert_eq!(captioned.try_iter().count(), 2, "one caption a life");
    assert_eq!(world.spans().await, [(0.0, 10.0), (15.0, 20.0)]);
}

#[tokio::test]
async fn dark_pictures_are_noted_told_counted_and_not_captioned() {
    let (script, captioned) = noting();
    let mut world = World::new(script);
    let steps = vec![
        shows(0, scene(1, 0)),
        shows(5, black()),
        shows(10, black()),
        shows(15, scene(1, 15)),
        shows(20, scene(1, 20)),
        Step::End,
    ];
    let (watching, _) = world.watch_closely(StreamKind::File, vec![steps], close());
    watching.ended().await.expect("no panic");
    assert_eq!(captioned.try_iter().collect::<Vec<_>>(), [1, 1], "what follows the dark is captioned anew");
    assert_eq!(world.spans().await, [(0.0, 0.0), (15.0, 20.0)]);
    let dark = world.dark().await;
    assert_eq!(lengths(&dark), [(5.0, 10.0, Blindness::Black)]);
    let epoch = world.deps.index.record(&world.stream).await.expect("reads").expect("known").epoch;
    assert_eq!(dark[0].wall, epoch.plus(Duration::from_secs(5)));
    let due = ["connecting", "up", "caption 0", "black", "recovered", "caption 15", "caption 15 until 20", "ended"];
    assert_eq!(world.told(), due);
    let status = world.status();
    assert_eq!((status.blind, status.unobservable), (None, Duration::from_secs(5)));
    assert!(status.dropped.values().all(|&count| count == 0), "{status:?}");
    assert_eq!(world.metric("gvqa_frames_unobservable_total{reason=\"black\",stream=\"s\"}"), "2");
    assert_eq!(world.metric("gvqa_stream_blind{reason=\"black\",stream=\"s\"}"), "0");
}

#[tokio::test]
async fn the_dark_goes_on_over_a_restart() {
    let mut world = World::new(obliging());
    let (watching, _) = world.watch(StreamKind::File, vec![vec![shows(0, black()), shows(5, black())]]);
    while world.status().unobservable < Duration::from_secs(5) {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.metric("gvqa_stream_blind{reason=\"black\",stream=\"s\"}"), "1");
    assert_eq!(world.status().blind, Some(Blindness::Black));
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
    assert_eq!(world.told(), ["connecting", "up", "black"]);
    let deps = Deps { stop: Stop::new(), board: Board::new(), ..world.deps.clone() };
    let mut world = World { deps, ..world };
    let (watching, _) = world.watch(
        StreamKind::File,
        vec![vec![shows(10, black()), shows(15, black()), shows(20, scene(1, 20)), Step::End]],
    );
    watching.ended().await.expect("no panic");
    assert_eq!(lengths(&world.dark().await), [(0.0, 15.0, Blindness::Black)]);
    assert_eq!(world.status().unobservable, Duration::from_secs(15));
    assert_eq!(world.told(), ["connecting", "up", "recovered", "caption 20", "ended"]);
    assert_eq!(world.status().state, StreamState::Ended);
}

#[tokio::test]
async fn a_frozen_camera_is_noted_from_its_first_repetition() {
    let (script, captioned) = noting();
    let mut world = World::new(script);
    let still = |at| shows(at, scene(1, 7));
    let steps = [still(0), still(5), still(10), still(15), still(20), shows(25, scene(1, 25)), Step::End];
    let (watching, _) = world.watch_closely(StreamKind::File, vec![steps.into()], close());
    watching.ended().await.expect("no panic");
    assert_eq!(captioned.try_iter().count(), 2);
    assert_eq!(lengths(&world.dark().await), [(5.0, 20.0, Blindness::Frozen)]);
    assert_eq!(world.spans().await, [(0.0, 4.999_999_999), (25.0, 25.0)]);
    let due = [
        "connecting",
        "up",
        "caption 0",
        "caption 0 until 5",
        "caption 0 until 10",
        "frozen",
        "recovered",
        "caption 25",
        "ended",
    ];
    assert_eq!(world.told(), due);
}

#[tokio::test]
async fn a_camera_that_is_still_frozen_after_a_restart_is_not_believed() {
    let (script, captioned) = noting();
    let world = World::new(script);
    let still = |at| shows(at, scene(1, 7));
    let (watching, _) =
        world.watch_closely(StreamKind::File, vec![[still(0), still(5), still(10), still(15)].into()], close());
    world.reaches(15.0).await;
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
    let deps = Deps { stop: Stop::new(), board: Board::new(), ..world.deps.clone() };
    let world = World { deps, ..world };
    let again = [still(40), still(45), shows(50, scene(1, 50)), Step::End];
    let (watching, _) = world.watch_closely(StreamKind::File, vec![again.into()], close());
    watching.ended().await.expect("no panic");
    assert_eq!(captioned.try_iter().count(), 2, "the first picture of all, and the one after the freeze");
    let due = [(5.0, 15.0, Blindness::Frozen), (40.0, 45.0, Blindness::Frozen)];
    assert_eq!(lengths(&world.dark().await), due, "the outage is not part of it");
}

#[tokio::test]
async fn frames_between_samples_are_counted() {
    let world = World::new(obliging());
    let steps = [0, 3, 5, 9, 14].map(|at| shows(at, picture(at))).into_iter().chain([Step::End]).collect();
    let (watching, _) = world.watch(StreamKind::File, vec![steps]);
    watching.ended().await.expect("no panic");
    assert_eq!(world.spans().await.len(), 5);
    assert_eq!(world.metric("gvqa_frames_extra_total{stream=\"s\"}"), "2");
}

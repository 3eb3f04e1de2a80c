//! The narrator over scripted sources and fake models: what is stored, told, dropped, tried again and given up.

use std::sync::mpsc::{SyncSender, sync_channel};

use prometheus::Registry;

use super::fakes::{Origins, Step, lives};
use super::watch::watch;
use super::*;
use crate::config::Span;
use crate::domain::{Blindness, StreamId, StreamState, StreamTime, Window};
use crate::engine::fakes::{Script, models};
use crate::index::Scope;
use crate::seams::{ModelError, SourceError};
use crate::telemetry::{Queues, Stages};

/// One stream `s` with everything around it.
pub(super) struct World {
    pub(super) deps: Deps,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) registry: Registry,
    pub(super) stream: StreamId,
}

impl World {
    pub(super) fn new(captioner: Script) -> Self {
        let registry = Registry::new();
        let stages = Stages::register(&registry).expect("registers");
        let queues = Queues::register(&registry).expect("registers");
        let index_metrics =
            crate::index::Metrics::register(&registry, stages.clone(), queues.clone()).expect("registers");
        let index = Index::in_memory(&crate::index::Config::default(), index_metrics).expect("opens");
        let engine_metrics = crate::engine::Metrics { stages, queues };
        let (engine, _) =
            Engine::start(models(captioner).0, &crate::engine::Config::default(), engine_metrics).expect("warms up");
        let metrics = Metrics::register(&registry).expect("registers");
        let (sender, events) = mpsc::channel(64);
        let deps = Deps { engine, index, board: Board::new(), events: sender, metrics, stop: Stop::new() };
        Self { deps, events, registry, stream: StreamId::new("s").expect("valid") }
    }

    pub(super) fn watch(&self, kind: StreamKind, steps: Vec<Vec<Step>>) -> (Watching, Origins) {
        self.watch_closely(kind, steps, sight::Settings::plain())
    }

    pub(super) fn watch_closely(
        &self,
        kind: StreamKind,
        steps: Vec<Vec<Step>>,
        sight: sight::Settings,
    ) -> (Watching, Origins) {
        self.watch_every(kind, steps, sight, Duration::from_secs(5))
    }

    fn watch_every(
        &self,
        kind: StreamKind,
        steps: Vec<Vec<Step>>,
        sight: sight::Settings,
        sample_every: Duration,
    ) -> (Watching, Origins) {
        let (open, origins) = lives(&self.stream, &self.deps.stop, steps);
        let identity = (kind == StreamKind::File).then(|| "clip".to_owned());
        let soon = Span(Duration::from_millis(1));
        let reconnect =
            Reconnect { shortest: soon, longest: soon, unauthorized_shortest: soon, ..Reconnect::default() };
        let reconnect = Reconnect { unauthorized_longest: soon, ..reconnect };
        let reconnect = Waits::new(reconnect);
        let policy = StreamPolicy { kind, identity, sample_every, sight, reconnect, outage: Outage::Wait };
        (watch(self.stream.clone(), open, self.deps.clone(), policy), origins)
    }

    /// The seconds of the stored moments.
    pub(super) async fn stored(&self) -> Vec<f64> {
        let scope = Scope { streams: vec![self.stream.clone()], window: Window::ALL };
        let moments = self.deps.index.moments(scope, usize::MAX, false).await.expect("reads");
        for moment in &moments {
            assert_eq!(moment.caption.as_str(), format!("Red is {}.", moment.at.seconds()), "a frame was relabelled");
        }
        moments.iter().map(|moment| moment.at.seconds()).collect()
    }

    pub(super) fn status(&self) -> StreamStatus {
        self.deps.board.status(&self.stream).expect("watched")
    }

    /// The events so far, in short.
    pub(super) fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(event) = self.events.try_recv() {
            told.push(short(&event));
        }
        told
    }

    pub(super) fn metric(&self, line: &str) -> String {
        let text = prometheus::TextEncoder::new().encode_to_string(&self.registry.gather()).expect("encodes");
        let value = text.lines().find_map(|found| found.strip_prefix(line)).map(str::trim);
        value.unwrap_or_else(|| panic!("no {line} in {text}")).to_owned()
    }
}

pub(super) fn short(event: &Event) -> String {
    match event {
        Event::Caption(moment) => format!("caption {}", moment.at.seconds()),
        Event::Extended(moment) => format!("caption {} until {}", moment.at.seconds(), moment.until.seconds()),
        Event::Sight { blind, .. } => blind.map_or("recovered", Blindness::as_str).to_owned(),
        Event::State { state, detail, .. } if detail.is_empty() => state.as_str().to_owned(),
        Event::State { state, detail, .. } => format!("{}: {detail}", state.as_str()),
        Event::Verdict(_) => "verdict".to_owned(),
    }
}

pub(super) fn obliging() -> Script {
    Box::new(|_| Ok(()))
}

/// A captioner that fails over the picture of `second`, `times` times.
fn failing(second: u8, times: usize, error: fn() -> ModelError) -> Script {
    let mut left = times;
    Box::new(move |pictures| {
        if left > 0 && pictures[0].rgb()[0] == second {
            left -= 1;
            return Err(error());
        }
        Ok(())
    })
}

fn broken() -> ModelError {
    ModelError::Run { model: "captioner".into(), reason: "no memory".into() }
}

pub(super) fn frames(seconds: &[u8], last: Option<Step>) -> Vec<Step> {
    seconds.iter().map(|&second| Step::Frame(second)).chain(last).collect()
}

pub(super) fn lost() -> Step {
    let stream = StreamId::new("s").expect("valid");
    Step::Break(SourceError::Lost { stream, reason: "reset by peer".into() })
}

#[tokio::test]
async fn a_file_is_stored_in_order_told_and_ended_once() {
    let mut world = World::new(obliging());
    let seconds: Vec<u8> = (0..20).collect();
    let (watching, origins) = world.watch(StreamKind::File, vec![frames(&seconds, Some(Step::End))]);
    watching.ended().await.expect("no panic");
    let due: Vec<f64> = seconds.iter().map(|&second| second.into()).collect();
    assert_eq!(world.stored().await, due);
    let mut told = vec!["connecting".to_owned(), "up".to_owned()];
    told.extend(seconds.iter().map(|second| format!("caption {second}")));
    told.push("ended".to_owned());
    assert_eq!(world.told(), told);
    let status = world.status();
    assert_eq!((status.state, status.moments), (StreamState::Ended, 20));
    assert_eq!(status.last_frame_at, Some(StreamTime::from_seconds(19.0).expect("a time")));
    assert!(status.dropped.values().all(|&count| count == 0) && status.lag_s.is_some(), "{status:?}");
    assert_eq!(world.metric("gvqa_moments_total{stream=\"s\"}"), "20");
    assert_eq!(world.metric("gvqa_stream_up{stream=\"s\"}"), "1");

    // Again: the source is not even opened.
    let (watching, again) = world.watch(StreamKind::File, vec![]);
    watching.ended().await.expect("no panic");
    assert_eq!((origins.lock().expect("not poisoned").len(), again.lock().expect("not poisoned").len()), (1, 0));
    assert_eq!((world.status().state, world.status().moments), (StreamState::Ended, 20));
}

#[tokio::test]
async fn a_restart_goes_on_after_the_last_moment_and_captions_none_twice() {
    let world = World::new(obliging());
    let (watching, _) = world.watch(StreamKind::File, vec![frames(&[0, 5], None)]);
    while world.status().moments < 2 {
        tokio::task::yield_now().await;
    }
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
    let epoch = world.deps.index.record(&world.stream).await.expect("reads").expect("known").epoch;

    let deps = Deps { stop: Stop::new(), ..world.deps.clone() };
    let world = World { deps, ..world };
    // This source does not care where it shall begin.
    let (watching, origins) = world.watch(StreamKind::File, vec![frames(&[0, 5, 10], Some(Step::End))]);
    watching.ended().await.expect("no panic");
    let after = Some(StreamTime::from_seconds(5.0).expect("a time"));
    let due = crate::seams::Origin { epoch, after, sample_every: Duration::from_secs(5) };
    assert_eq!(*origins.lock().expect("not poisoned"), [due]);
    assert_eq!(world.stored().await, [0.0, 5.0, 10.0]);
    assert_eq!(world.status().dropped[&DropReason::Late], 2);
    assert_eq!(world.metric("gvqa_moments_total{stream=\"s\"}"), "3");

    // Read to its end, it is not opened again, and the board of the next life still says how far it was seen.
    let deps = Deps { board: Board::new(), ..world.deps.clone() };
    let world = World { deps, ..world };
    let (watching, origins) = world.watch(StreamKind::File, vec![]);
    watching.ended().await.expect("no panic");
    assert!(origins.lock().expect("not poisoned").is_empty());
    let status = world.status();
    assert_eq!((status.state, status.moments), (StreamState::Ended, 3));
    assert_eq!(status.last_frame_at, StreamTime::from_seconds(10.0).ok());
    assert!(status.last_wall.is_some() && status.lag_s.is_none());
}

/// A captioner that says when it has started, and goes on when told.
fn gated() -> (Script, std::sync::mpsc::Receiver<()>, SyncSender<()>) {
    let (start, started) = sync_channel(64);
    let (open, opened) = sync_channel::<()>(64);
    let script: Script = Box::new(move |_| {
        // The source listens for the first one only.
        let _ = start.send(());
        opened.recv().expect("the test opens the gate");
        Ok(())
    });
    (script, started, open)
}

#[tokio::test]
async fn a_live_stream_drops_what_it_cannot_hold_and_counts_it() {
    let (script, started, open) = gated();
    let world = World::new(script);
    // The second frame waits until the first one is being captioned.
    let steps = [Step::Frame(0), Step::Await(started)].into_iter().chain(frames(&[5, 10, 15, 20], None)).collect();
    let (watching, _) = world.watch(StreamKind::Live, vec![steps]);
    while world.status().dropped[&DropReason::Full] < 3 {
        tokio::task::yield_now().await;
    }
    for moments in [1, 2] {
        open.send(()).expect("the captioner waits");
        while world.status().moments < moments {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(world.stored().await, [0.0, 20.0], "the newest is captioned, not the one that waited longest");
    assert_eq!(world.metric("gvqa_frames_dropped_total{reason=\"full\",stream=\"s\"}"), "3");
    assert_eq!(world.metric("gvqa_frames_total{stream=\"s\"}"), "5");
    drop(open);
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
}

#[tokio::test]
async fn a_live_frame_that_has_become_old_is_not_captioned() {
    // Two intervals of no length are over at once.
    for (kind, old, due) in [(StreamKind::Live, 1, vec![]), (StreamKind::File, 0, vec![0.0])] {
        let world = World::new(obliging());
        let steps = vec![frames(&[0], Some(Step::End))];
        let (watching, _) = world.watch_every(kind, steps, sight::Settings::plain(), Duration::ZERO);
        watching.ended().await.expect("no panic");
        assert_eq!((world.status().dropped[&DropReason::Old], world.stored().await), (old, due), "{kind:?}");
    }
}

#[tokio::test]
async fn the_end_waits_for_no_caption_and_a_restart_makes_it_anew() {
    let (script, started, open) = gated();
    let world = World::new(script);
    let (watching, _) = world.watch(StreamKind::File, vec![frames(&[0, 5, 10], Some(Step::End))]);
    open.send(()).expect("the captioner waits");
    let captioned = move || started.recv().and_then(|()| started.recv()).map(|()| started);
    let started = tokio::task::spawn_blocking(captioned).await.expect("no panic").expect("two frames are captioned");
    world.deps.stop.ask();
    // The captioner is still at the second frame, and will be until the gate opens.
    watching.ended().await.expect("no panic");
    assert_eq!(world.stored().await, [0.0]);
    open.send(()).expect("the captioner waits");
    drop(started);
}

#[tokio::test]
async fn what_cannot_get_better_is_not_tried_again() {
    let mut world = World::new(obliging());
    let stream = world.stream.clone();
    let unusable = Step::Break(SourceError::Unusable { stream, reason: "only audio".into() });
    let (watching, _) = world.watch(StreamKind::File, vec![vec![unusable]]);
    watching.ended().await.expect("no panic");
    assert_eq!(world.told(), ["connecting", "failed: stream s has no video that can be decoded: only audio"]);
    assert_eq!(world.status().state, StreamState::Failed);
    assert!(!world.deps.index.record(&world.stream).await.expect("reads").expect("known").ended);
}

#[tokio::test(start_paused = true)]
async fn a_file_waits_for_a_model_that_recovers() {
    let world = World::new(failing(5, 4, broken));
    let (watching, _) = world.watch(StreamKind::File, vec![frames(&[0, 5, 10], Some(Step::End))]);
    watching.ended().await.expect("no panic");
    assert_eq!(world.stored().await, [0.0, 5.0, 10.0]);
    assert_eq!(world.status().state, StreamState::Ended);
}

/// A model that fails is given up; one that is away, far more often than that, is waited for.
#[tokio::test(start_paused = true)]
async fn a_file_waits_for_a_model_that_is_away() {
    let away = || ModelError::Away { model: "captioner".into(), reason: "no route".into() };
    let world = World::new(failing(5, 40, away));
    let (watching, _) = world.watch(StreamKind::File, vec![frames(&[0, 5, 10], Some(Step::End))]);
    watching.ended().await.expect("no panic");
    assert_eq!(world.stored().await, [0.0, 5.0, 10.0]);
    assert_eq!(world.status().state, StreamState::Ended);
}

#[tokio::test(start_paused = true)]
async fn a_file_is_failed_before_the_frame_that_no_try_could_caption() {
    let world = World::new(failing(5, usize::MAX, broken));
    let (watching, _) = world.watch(StreamKind::File, vec![frames(&[0, 5, 10], Some(Step::End))]);
    watching.ended().await.expect("no panic");
    assert_eq!(world.stored().await, [0.0]);
    let status = world.status();
    assert_eq!((status.state, status.detail.as_str()), (StreamState::Failed, "model captioner failed: no memory"));
    let record = world.deps.index.record(&world.stream).await.expect("reads").expect("known");
    assert_eq!((record.ended, record.last), (false, Some(StreamTime::ZERO)));
}

#[tokio::test]
async fn a_refused_frame_is_skipped_and_counted() {
    let refuses = || ModelError::Input { model: "captioner".into(), reason: "too dark".into() };
    let world = World::new(failing(5, usize::MAX, refuses));
    let (watching, _) = world.watch(StreamKind::File, vec![frames(&[0, 5, 10], Some(Step::End))]);
    watching.ended().await.expect("no panic");
    assert_eq!(world.stored().await, [0.0, 10.0]);
    assert_eq!((world.status().state, world.status().dropped[&DropReason::Refused]), (StreamState::Ended, 1));
}

#[tokio::test]
async fn a_live_stream_goes_on_over_a_failing_model() {
    let world = World::new(failing(0, usize::MAX, broken));
    let (dropped, first_is_dropped) = sync_channel(1);
    let steps = vec![Step::Frame(0), Step::Await(first_is_dropped), Step::Frame(10)];
    let (watching, _) = world.watch(StreamKind::Live, vec![steps]);
    while world.status().dropped[&DropReason::Model] < 1 {
        tokio::task::yield_now().await;
    }
    dropped.send(()).expect("the source waits");
    while world.status().moments < 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.stored().await, [10.0]);
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
}

#[tokio::test]
async fn a_panic_in_a_source_is_reported() {
    let world = World::new(obliging());
    let (watching, _) = world.watch(StreamKind::Live, vec![frames(&[0], Some(Step::Panic))]);
    let died = watching.ended().await.expect_err("the source panics");
    assert_eq!(died.to_string(), "the narrator of stream s ended: the decoder exploded");
    assert_eq!((world.status().state, world.status().moments), (StreamState::Failed, 1));
}

#[tokio::test]
async fn another_file_under_a_known_id_fails_only_its_stream() {
    let world = World::new(obliging());
    let other = Some("another clip".to_owned());
    world.deps.index.register(&world.stream, StreamKind::File, other).await.expect("registers");
    let (watching, origins) = world.watch(StreamKind::File, vec![]);
    watching.ended().await.expect("no panic");
    assert!(origins.lock().expect("not poisoned").is_empty());
    let status = world.status();
    assert_eq!(status.state, StreamState::Failed);
    assert!(status.detail.starts_with("stream s was indexed from the file another clip, not from the file clip"));
}

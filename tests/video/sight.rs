//! What pictures show, from GStreamer through the narrator into the memory.

use std::time::Duration;

use groundedvqa::domain::{Blindness, Event, Frame, StreamKind, Window};
use groundedvqa::engine::{self, Engine};
use groundedvqa::index::{self, Index};
use groundedvqa::narrate::{self, Board, Deps, Outage, StreamPolicy, Waits};
use groundedvqa::seams::{FrameSource, Origin, SourceError};
use groundedvqa::sight::Settings;
use groundedvqa::stop::Stop;
use groundedvqa::telemetry::{Queues, Stages};
use groundedvqa::video::{self, StreamConfig};
use prometheus::Registry;
use tokio::sync::mpsc;

use crate::common::temp_dir;
use crate::fakes::models;
use crate::make::{clip, millis, sample, stream};

/// The lives of a camera: what it shows, and for how many frames.
const LIVES: [(&str, u32); 3] = [
    ("test://black?size=160x120&fps=20", 4),
    ("test://ball?size=160x120&fps=20", 6),
    ("test://checkers-8?size=160x120&fps=20", u32::MAX),
];
const EVERY: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_mins(1);

/// A source that is lost after some frames.
struct Cut {
    source: Box<dyn FrameSource>,
    left: u32,
}

impl FrameSource for Cut {
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            let reason = "the test cut it off".to_owned();
            SourceError::Lost { stream: stream(), reason }
        })?;
        self.source.next_frame()
    }
}

fn open(stop: &Stop) -> impl FnMut(Origin) -> Result<Box<dyn FrameSource>, SourceError> + Send + use<> {
    let (mut lives, stop) = (LIVES.into_iter(), stop.clone());
    move |origin| {
        let (url, left) = lives.next().expect("the last life does not end");
        let config = StreamConfig::new(url).expect("is an address");
        let source = video::open(&stream(), &config, origin, &stop)?;
        Ok(Box::new(Cut { source, left }))
    }
}

fn deps() -> (Deps, mpsc::Receiver<Event>) {
    let registry = Registry::new();
    let stages = Stages::register(&registry).expect("registers");
    let queues = Queues::register(&registry).expect("registers");
    let metrics = index::Metrics::register(&registry, stages.clone(), queues.clone()).expect("registers");
    let index = Index::in_memory(&index::Config::default(), metrics).expect("opens");
    let metrics = engine::Metrics { stages, queues };
    let (engine, _) = Engine::start(models(&[], &[]).0, &engine::Config::default(), metrics).expect("starts");
    let metrics = narrate::Metrics::register(&registry).expect("registers");
    let (events, told) = mpsc::channel(256);
    (Deps { engine, index, board: Board::new(), events, metrics, stop: Stop::new() }, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_camera_that_is_dark_recovers_and_then_freezes_is_told_and_remembered() {
    video::init().expect("GStreamer starts");
    let (deps, mut told) = deps();
    let sight = Settings { frozen_after: Some(Duration::from_millis(500)), ..Settings::plain() };
    let reconnect = Waits::default();
    let policy = StreamPolicy {
        kind: StreamKind::Live,
        identity: None,
        sample_every: EVERY,
        sight,
        reconnect,
        outage: Outage::Wait,
    };
    let watching = narrate::watch(stream(), open(&deps.stop), deps.clone(), policy);
    let mut shown = Vec::new();
    let watched = async {
        while shown.last() != Some(&Some(Blindness::Frozen)) {
            if let Event::Sight { blind, .. } = told.recv().await.expect("the narrator lives") {
                shown.push(blind);
            }
        }
    };
    tokio::time::timeout(PATIENCE, watched).await.expect("the camera freezes in time");
    assert_eq!(shown, [Some(Blindness::Black), None, Some(Blindness::Frozen)]);
    deps.stop.ask();
    watching.ended().await.expect("no panic");

    let spans = deps.index.unobservable(&stream(), Window::ALL).await.expect("reads");
    let [dark, frozen] = spans.as_slice() else { panic!("{spans:?}") };
    assert_eq!((dark.why, frozen.why), (Blindness::Black, Blindness::Frozen));
    assert!(dark.until > dark.from && frozen.until > frozen.from, "{spans:?}");
    let scope = index::Scope { streams: vec![stream()], window: Window::ALL };
    let moments = deps.index.moments(scope, usize::MAX, false).await.expect("reads");
    assert!(moments.iter().any(|moment| moment.at > dark.until && moment.at < frozen.from), "nothing was captioned");
    assert!(!moments.iter().any(|moment| dark.contains(moment.at)), "the dark was captioned");
    let status = deps.board.status(&stream()).expect("watched");
    assert_eq!(status.blind, Some(Blindness::Frozen));
    assert!(status.unobservable > Duration::ZERO);
}

#[test]
fn a_sudden_change_between_two_samples_is_taken_where_that_is_asked_for() {
    let dir = temp_dir();
    let part = |pattern: &str, frames: u32| {
        format!(
            "videotestsrc num-buffers={frames} pattern={pattern} \
             ! video/x-raw,format=I420,framerate=10/1,width=320,height=240 ! joined. "
        )
    };
    // Something else is seen from 13 s to 14.5 s.
    let parts = [part("checkers-8", 130), part("gradient", 15), part("checkers-8", 55)].concat();
    let path = clip(
        &dir.path().join("glimpse.mkv"),
        &format!("concat name=joined ! jpegenc ! matroskamux ! filesink location=OUT {parts}"),
    );
    let config = |extra: &str| -> StreamConfig {
        toml::from_str(&format!("url = {path:?}\n[sight]\nextra_every = {extra:?}")).expect("a stream")
    };
    let every = Duration::from_secs(5);
    assert_eq!(millis(&sample(&config("0s"), every, None)), [0, 5000, 10_000, 15_000]);
    let taken = millis(&sample(&config("5s"), every, None));
    let [0, 5000, 10_000, glimpse, 15_000] = taken.as_slice() else { panic!("{taken:?}") };
    assert!((13_000..14_500).contains(glimpse), "{glimpse}");
}

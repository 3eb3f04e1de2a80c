//! The child: two files narrated by deterministic models into a real index, with a log of what happens.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use groundedvqa::domain::{
    Caption, Clock, Event, Fingerprint, Frame, Picture, StreamId, StreamKind, StreamState, StreamTime,
};
use groundedvqa::engine::Engine;
use groundedvqa::index::Index;
use groundedvqa::narrate::{Board, Deps, Outage, StreamPolicy, Waits, watch};
use groundedvqa::seams::{Captioner, FrameSource, ModelError, Models, Origin, SourceError};
use groundedvqa::sight::Settings;
use groundedvqa::stop::Stop;
use groundedvqa::telemetry::{Queues, Stages};
use groundedvqa::video::{self, StreamConfig};
use prometheus::Registry;
use tokio::sync::mpsc;

use crate::idle;

/// Environment of the child: where it works, and on what.
pub(crate) const DIRECTORY: &str = "GVQA_CRASH_DIR";
pub(crate) const SOURCE: &str = "GVQA_CRASH_SOURCE";
/// Value of [`SOURCE`]: frames made on the spot. Anything else is the path of a clip.
pub(crate) const SYNTHETIC: &str = "synthetic";

/// One line a picture that reached the captioner, one line a moment that was announced.
pub(crate) const CAPTIONED_LOG: &str = "captioned.log";
pub(crate) const ANNOUNCED_LOG: &str = "announced.log";
/// Begins each line on standard output that stands for an announced moment.
pub(crate) const ANNOUNCED: &str = "announced ";

pub(crate) const STREAMS: [&str; 2] = ["a", "b"];
/// Frames of each synthetic stream; more than fifty lives get through.
const FRAMES: u64 = 400;
const EVERY: Duration = Duration::from_secs(5);
/// Sampling of a real clip: often enough that there is something left to do after each kill.
const EVERY_OF_CLIP: Duration = Duration::from_millis(500);

/// A frame of the job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) stream: String,
    pub(crate) nanos: u64,
}

/// The frames of a synthetic stream.
pub(crate) fn due(stream: &str) -> impl Iterator<Item = Place> {
    (0..FRAMES).map(move |n| Place { stream: stream.to_owned(), nanos: n * EVERY.as_nanos() as u64 })
}

/// The lines of a log; a kill cannot leave half a line, because each is one write.
pub(crate) fn places(log: &Path) -> Vec<Place> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let place = |line: &str| {
        let (stream, nanos) = line.split_once(' ').expect("a stream and a time");
        Place { stream: stream.to_owned(), nanos: nanos.parse().expect("a time") }
    };
    text.lines().map(place).collect()
}

pub(crate) fn stream(name: &str) -> StreamId {
    StreamId::new(name).expect("a token")
}

/// What the captioner says about a frame.
pub(crate) fn sentence(stream: &StreamId, at: StreamTime) -> String {
    format!("{stream} at {}.", at.nanos())
}

pub(crate) fn index_config(dir: &Path) -> groundedvqa::index::Config {
    groundedvqa::index::Config { path: dir.join("index.redb"), ..Default::default() }
}

pub(crate) fn index_metrics() -> groundedvqa::index::Metrics {
    let registry = Registry::new();
    let stages = Stages::register(&registry).expect("registers");
    let queues = Queues::register(&registry).expect("registers");
    groundedvqa::index::Metrics::register(&registry, stages, queues).expect("registers")
}

/// Narrates until both files have ended.
pub(crate) fn run(dir: &Path, source: &str) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(narrate(dir, source));
}

async fn narrate(dir: &Path, source: &str) {
    let registry = Registry::new();
    let stages = Stages::register(&registry).expect("registers");
    let queues = Queues::register(&registry).expect("registers");
    let metrics = groundedvqa::engine::Metrics { stages, queues };
    let (engine, _thread) =
        Engine::start(models(dir), &groundedvqa::engine::Config::default(), metrics).expect("the models warm up");
    let index = Index::open(&index_config(dir), index_metrics()).expect("opens");
    let (events, announced) = mpsc::channel(16);
    let deps = Deps {
        engine,
        index: index.clone(),
        board: Board::new(),
        events,
        metrics: groundedvqa::narrate::Metrics::register(&registry).expect("registers"),
        stop: Stop::new(),
    };
    let board = deps.board.clone();
    let witness = tokio::spawn(log_announcements(append_to(&dir.join(ANNOUNCED_LOG)), announced));
    let watching = STREAMS.map(|name| {
        let every = if source == SYNTHETIC { EVERY } else { EVERY_OF_CLIP };
        let (sight, reconnect) = (Settings::plain(), Waits::default());
        let policy = StreamPolicy {
            kind: StreamKind::File,
            identity: None,
            sample_every: every,
            sight,
            reconnect,
            outage: Outage::Wait,
        };
        let (source, stop) = (source.to_owned(), deps.stop.clone());
        watch(stream(name), move |origin| open(name, &source, origin, &stop), deps.clone(), policy)
    });
    drop(deps);
    for watching in watching {
        watching.ended().await.expect("no panic");
    }
    witness.await.expect("no panic");
    for status in board.snapshot() {
        assert_eq!(status.state, StreamState::Ended, "{}: {}", status.stream, status.detail);
    }
    index.close().await.expect("closes");
}

/// Notes each announced moment in the log first, then for the parent.
async fn log_announcements(mut log: File, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        if let Event::Caption(moment) = event {
            note(&mut log, moment.stream.as_str(), moment.at);
            println!("{ANNOUNCED}{} {}", moment.stream, moment.at.nanos());
        }
    }
}

fn append_to(path: &Path) -> File {
    OpenOptions::new().append(true).create(true).open(path).expect("a log")
}

fn note(log: &mut File, stream: &str, at: StreamTime) {
    log.write_all(format!("{stream} {}\n", at.nanos()).as_bytes()).expect("one line");
}

fn open(name: &'static str, source: &str, origin: Origin, stop: &Stop) -> Result<Box<dyn FrameSource>, SourceError> {
    if source == SYNTHETIC {
        return Ok(Box::new(Synthetic::open(name, origin)));
    }
    video::init().expect("the decoders are there");
    let config: StreamConfig = toml::from_str(&format!("url = {source:?}")).expect("a stream");
    Ok(Box::new(Tagged { name, clip: video::open(&stream(name), &config, origin, stop)? }))
}

/// A clip whose pictures are replaced by ones that carry their place, so that the captioner can tell them apart.
struct Tagged {
    name: &'static str,
    clip: Box<dyn FrameSource>,
}

impl FrameSource for Tagged {
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        let frame = self.clip.next_frame()?;
        Ok(frame.map(|frame| Frame { picture: tag(self.name, frame.at), ..frame }))
    }
}

/// A file whose pictures carry their own place: the stream's number and the time.
struct Synthetic {
    name: &'static str,
    origin: Origin,
    next: u64,
}

impl Synthetic {
    fn open(name: &'static str, origin: Origin) -> Self {
        let next = origin.after.map_or(0, |after| after.nanos() / EVERY.as_nanos() as u64 + 1);
        Self { name, origin, next }
    }
}

impl FrameSource for Synthetic {
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        if self.next == FRAMES {
            return Ok(None);
        }
        let into = EVERY * self.next as u32;
        self.next += 1;
        let at = StreamTime::ZERO + into;
        let picture = tag(self.name, at);
        Ok(Some(Frame {
            stream: stream(self.name),
            at,
            wall: self.origin.epoch.plus(into),
            clock: Clock::Media,
            precision: Duration::from_millis(20),
            picture,
        }))
    }
}

/// Three pixels that say which frame this is, and three that make it a picture of something.
fn tag(name: &str, at: StreamTime) -> Picture {
    let number = STREAMS.iter().position(|&other| other == name).expect("a stream of this job");
    let light = [[0; 3], [255; 3], [0; 3]].concat();
    let bytes: Vec<u8> = at.nanos().to_le_bytes().into_iter().chain([number as u8]).chain(light).collect();
    Picture::new(6, 1, bytes).expect("eighteen bytes")
}

fn untag(picture: &Picture) -> Option<(StreamId, StreamTime)> {
    let (nanos, number) = picture.rgb().split_first_chunk::<8>()?;
    let &[number, ..] = number else { return None };
    Some((stream(STREAMS.get(usize::from(number))?), StreamTime::from_nanos(u64::from_le_bytes(*nanos))))
}

fn models(dir: &Path) -> Models {
    let log = append_to(&dir.join(CAPTIONED_LOG));
    let captioner = Box::new(Reader { log, fingerprint: Fingerprint::new("reader@1") });
    Models { captioner, ..idle::models() }
}

/// Reads the place off a picture, and notes that it was asked.
struct Reader {
    log: File,
    fingerprint: Fingerprint,
}

impl Captioner for Reader {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError> {
        let mut captions = Vec::new();
        for picture in pictures {
            // The warm-up's picture has no place.
            let caption = untag(picture).map(|(stream, at)| {
                note(&mut self.log, stream.as_str(), at);
                sentence(&stream, at)
            });
            captions.push(Caption::new(caption.unwrap_or_default()));
        }
        Ok(captions)
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

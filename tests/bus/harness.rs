//! The bus over a real nats-server, a real answering flow, and fake models.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groundedvqa::answer::{self, Answerer, StreamEntry, Streams};
use groundedvqa::bus::wire::ErrorBody;
use groundedvqa::bus::{self, Bus, Client, ClientError, StreamOrder};
use groundedvqa::config::Span;
use groundedvqa::domain::{
    Caption, Citation, Claim, Clock, Event, Fingerprint, NewMoment, Picture, StreamKind, StreamTime, Timing, WallTime,
    Zone,
};
use groundedvqa::engine::{self, Engine};
use groundedvqa::index::{self, Index};
use groundedvqa::narrate::{self, Board};
use groundedvqa::secret::Secret;
use groundedvqa::stop::Stop;
use groundedvqa::telemetry::{Queues, Stages};
use prometheus::Registry;
use tokio::sync::mpsc;

use crate::fakes::{FakeEmbedder, FakeEvidence, Log, Past, Strings, at, models, picture, stream};
use crate::nats::NatsServer;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// Longer than anything here takes; only a failing test waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What the stream `cam` showed, by second; each caption is also what a captioner says of the frame again.
pub(crate) const SEEN: [(u8, f64, &str); 3] = [
    (1, 0.0, "There is a car. The car is on the left."),
    (2, 5.0, "There are two people."),
    (3, 10.0, "There is a bus."),
];
/// A second of the stream `slow` whose frame does not come until the test opens the gate.
pub(crate) const SLOW: f64 = 15.0;

/// The asking half of a daemon around one stream `cam`, on a bus.
pub(crate) struct Daemon {
    pub(crate) bus: Bus,
    pub(crate) strings: Strings,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) registry: Registry,
    /// The times whose frames were extracted.
    pub(crate) extracted: Log<StreamTime>,
    /// Lets the slow frame come.
    pub(crate) gate: Gate,
    /// What was ordered about streams; the test carries it out.
    pub(crate) ordered: mpsc::Receiver<StreamOrder>,
}

/// Opens when it is dropped, so that a failed test does not wait for the frame either.
pub(crate) struct Gate(Stop);

impl Gate {
    pub(crate) fn open(&self) {
        self.0.ask();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// The configuration for a server, with test-sized limits.
pub(crate) fn config(server: &NatsServer) -> bus::Config {
    bus::Config { url: Secret::new(server.url()), grace: Span(5 * SECOND), ..bus::Config::default() }
}

impl Daemon {
    pub(crate) async fn start(cfg: &bus::Config) -> Self {
        let registry = Registry::new();
        let stages = Stages::register(&registry).expect("registers");
        let queues = Queues::register(&registry).expect("registers");
        let index_metrics = index::Metrics::register(&registry, stages.clone(), queues.clone()).expect("registers");
        let index = Index::in_memory(&index::Config::default(), index_metrics).expect("opens");
        remember(&index).await;
        let says = SEEN.map(|(tag, _, caption)| (tag, caption));
        let (models, strings) = models(&says, &[("There are two people.", "There are nine people.")]);
        let engine_metrics = engine::Metrics { stages: stages.clone(), queues };
        let (engine, _) = Engine::start(models, &engine::Config::default(), engine_metrics).expect("starts");
        let (gate, extracted) = (Stop::new(), Log::default());
        let (events, told) = mpsc::channel(64);
        let metrics = answer::Metrics::register(&registry, stages).expect("registers");
        let limits = answer::Config {
            in_flight: 64,
            deadline: Span(60 * SECOND),
            extract_timeout: Span(60 * SECOND),
            extractions: 64,
            ..answer::Config::default()
        };
        let board = board_with_a_broken_stream(&engine, &index, &events, &registry);
        let answerer =
            Answerer::new(engine, index, streams(&gate, &extracted), events.clone(), to_jpeg, limits, metrics);
        let metrics = bus::Metrics::register(&registry).expect("registers");
        let (orders, ordered) = mpsc::channel(1);
        let desks = bus::Desks { answerer, board, orders };
        let bus = bus::start(cfg, desks, told, Stop::new(), metrics).await.expect("the bus starts");
        Self { bus, strings, events, registry, extracted, gate: Gate(gate), ordered }
    }

    /// Connected, with its subscriptions on the server.
    pub(crate) async fn ready(cfg: &bus::Config) -> (Self, Client) {
        let daemon = Self::start(cfg).await;
        let client = reach(cfg).await;
        (daemon, client)
    }

    /// What the drafter will claim.
    pub(crate) fn will_claim(&self, claims: &[Claim]) {
        *self.strings.script.lock().expect("not poisoned") = claims.to_vec();
    }

    /// The value of a counter or gauge.
    pub(crate) fn metric(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        metric(&self.registry, name, labels)
    }
}

/// The value of a counter or gauge.
pub(crate) fn metric(registry: &Registry, name: &str, labels: &[(&str, &str)]) -> f64 {
    let families = registry.gather();
    let family = families.iter().find(|family| family.name() == name).expect("the family is registered");
    let has = |metric: &&prometheus::proto::Metric| {
        labels
            .iter()
            .all(|(key, value)| metric.get_label().iter().any(|label| label.name() == *key && label.value() == *value))
    };
    let found = family.get_metric().iter().find(has).expect("the series exists");
    found.get_counter().get_value() + found.get_gauge().get_value()
}

/// A client of a daemon that answers already.
pub(crate) async fn reach(cfg: &bus::Config) -> Client {
    let client = Client::connect(cfg).await.expect("the server is there");
    eventually("the daemon answers", async || client.streams().await.is_ok()).await;
    client
}

/// Probes until `holds`, or fails the test.
pub(crate) async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let probe = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        while !holds().await {
            ticks.tick().await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, probe).await.is_ok(), "not within {PATIENCE:?}: {what}");
}

/// The result in time, or a failed test.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

pub(crate) fn claim(text: &str, seconds: f64) -> Claim {
    Claim { text: text.to_owned(), citation: Citation { stream: stream("cam"), at: at(seconds) } }
}

/// What the daemon refused with.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, ClientError>) -> ErrorBody {
    match result {
        Err(ClientError::Refused(body)) => body,
        other => panic!("not a refusal: {other:?}"),
    }
}

/// A board that shows one stream, `broken`, and a reason that nobody should read in full.
fn board_with_a_broken_stream(
    engine: &Engine,
    index: &Index,
    events: &mpsc::Sender<Event>,
    registry: &Registry,
) -> Board {
    let board = Board::new();
    let deps = narrate::Deps {
        engine: engine.clone(),
        index: index.clone(),
        board: board.clone(),
        events: events.clone(),
        metrics: narrate::Metrics::register(registry).expect("registers"),
        stop: Stop::new(),
    };
    let reason = "rtsp://me:hunter2@cam: no such host";
    drop(narrate::refuse(stream("broken"), StreamKind::Live, reason, deps));
    board
}

async fn remember(index: &Index) {
    for name in ["cam", "slow"] {
        index.register(&stream(name), StreamKind::File, Some(name.into())).await.expect("registers");
    }
    let cam = SEEN.map(|(_, seconds, caption)| ("cam", seconds, caption));
    for (name, seconds, caption) in cam.into_iter().chain([("slow", SLOW, "There is a bicycle.")]) {
        let moment = NewMoment {
            stream: stream(name),
            at: at(seconds),
            wall: WallTime::now(),
            timing: Some(Timing { clock: Clock::Arrival, precision: SECOND / 4 }),
            caption: Caption::new(caption),
            embedding: FakeEmbedder::vector(caption),
            captioner: Fingerprint::new("fake-captioner@0"),
            embedder: Fingerprint::new("fake-embedder@0"),
        };
        index.append(moment).await.expect("stores");
    }
}

fn streams(gate: &Stop, extracted: &Log<StreamTime>) -> Streams {
    let shown = SEEN.map(|(tag, seconds, _)| (at(seconds), Past::Shows(picture(tag))));
    let hangs = [(at(SLOW), Past::Hangs(gate.clone()))];
    let entry = |name: &str, past: BTreeMap<StreamTime, Past>| {
        let (kind, epoch, asked) = (StreamKind::File, WallTime::now(), extracted.clone());
        let evidence = Arc::new(FakeEvidence { stream: stream(name), kind, epoch, past, asked });
        (stream(name), StreamEntry { kind, sample_every: 5 * SECOND, zone: Zone::utc(), evidence })
    };
    [entry("cam", shown.into()), entry("slow", hangs.into())].into_iter().collect()
}

/// Bytes that stand for a JPEG: the bus only carries them.
#[allow(clippy::unnecessary_wraps, reason = "the signature of the real one")]
fn to_jpeg(picture: &Picture, _: usize) -> Result<Vec<u8>, String> {
    Ok(picture.rgb().to_vec())
}

//! Composition root: builds every edge, wires the two flows, starts and stops them in order.
//!
//! Start: endpoints, models, memory, bus, streams, ready. Stop, the same backwards, so that nothing is asked of a part
//! that has gone: watching ends (the frame in hand is still stored), open questions are answered and the bus drained,
//! the memory is closed, the endpoints go last. What has not ended within the grace period is left behind as a kill -9
//! would leave it, which loses nothing.

mod core;
mod streams;

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use prometheus::Registry;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use core::Core;

use crate::bus::{self, Bus};
use crate::config::Config;
use crate::domain::StreamState;
use crate::index::Index;
use crate::narrate::Board;
use crate::stop::Stop;
use crate::telemetry::{self, Check, Pulse, Readiness, systemd};

/// Events between their makers and the outbox, which takes them at once whatever NATS does. The bound only absorbs a
/// burst.
pub const EVENT_QUEUE: usize = 256;

/// How often readiness is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs the daemon until `stop` is asked for or a part breaks.
pub async fn run(config: Config, stop: Stop) -> anyhow::Result<()> {
    let grace = config.daemon.grace.0;
    let registry = Registry::new();
    telemetry::register_process(&registry, "edge")?;
    let readiness = Readiness::new(&config.telemetry.ready_requires);
    let (pulse, endpoints_stop) = (Pulse::new(), Stop::new());
    let endpoints =
        telemetry::serve(&config.telemetry, registry.clone(), readiness.clone(), pulse.clone(), endpoints_stop.clone())
            .await?;
    tokio::spawn(systemd::watchdog(pulse.clone(), stop.clone()));
    let mut daemon = tokio::select! {
        biased;
        () = stop.asked() => return Ok(()),
        started = Daemon::start(config, &registry, &pulse, readiness) => started?,
    };
    let outcome = daemon.live(&stop).await;
    systemd::stopping();
    let ended = tokio::time::timeout(grace, daemon.end()).await;
    endpoints_stop.ask();
    endpoints.ended().await;
    if ended.is_err() {
        tracing::error!(?grace, "the ordered stop took too long: ending without it");
    }
    outcome
}

/// The running parts, in the order in which they are stopped.
struct Daemon {
    watching: JoinSet<anyhow::Result<()>>,
    watch_stop: Stop,
    bus: Bus,
    index: Index,
    /// Parts that end only when something is wrong.
    vital: JoinSet<anyhow::Result<()>>,
    readiness: Readiness,
    board: Board,
}

impl Daemon {
    async fn start(config: Config, registry: &Registry, pulse: &Pulse, readiness: Readiness) -> anyhow::Result<Self> {
        systemd::status("loading models");
        let (events, told) = mpsc::channel(EVENT_QUEUE);
        let bus_config = config.bus.clone();
        let (core, thread) = Core::build(config, registry, pulse, events).await?;
        readiness.ready(Check::Models, core.engine.captioner().to_string());
        readiness.ready(Check::Index, "open");
        let mut vital = JoinSet::new();
        vital.spawn(async move { thread.ended().await.context("the models ended") });
        let index = core.index.clone();
        vital.spawn(async move { index.ended().await.context("the index ended") });
        let metrics = bus::Metrics::register(registry)?;
        let bus =
            bus::start(&bus_config, core.answerer.clone(), core.board.clone(), told, Stop::new(), metrics).await?;
        let bus_ended = bus.ended();
        vital.spawn(async move {
            bus_ended.await;
            Err(anyhow!("the bus broke"))
        });
        let watch_stop = Stop::new();
        let mut watching = JoinSet::new();
        for stream in core.watch(&watch_stop) {
            watching.spawn(async move { Ok(stream.ended().await?) });
        }
        let (index, board) = (core.index.clone(), core.board.clone());
        systemd::ready(&format!("watching {} streams", watching.len()));
        Ok(Self { watching, watch_stop, bus, index, vital, readiness, board })
    }

    /// Until the end is asked for, or a part that never ends has ended. Files end and streams fail without ending the
    /// daemon.
    async fn live(&mut self, stop: &Stop) -> anyhow::Result<()> {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                biased;
                () = stop.asked() => return Ok(()),
                Some(ended) = self.vital.join_next() => return ended?.and(Err(anyhow!("a vital part has ended"))),
                Some(ended) = self.watching.join_next() => ended??,
                _ = look.tick() => self.show_readiness(),
            }
        }
    }

    fn show_readiness(&self) {
        if self.bus.is_connected() {
            self.readiness.ready(Check::Nats, "connected");
        } else {
            self.readiness.unready(Check::Nats, "not connected: trying");
        }
        let streams = self.board.snapshot();
        let well = streams.iter().filter(|s| matches!(s.state, StreamState::Up | StreamState::Ended)).count();
        let detail = format!("{well} of {} up or read to the end", streams.len());
        if well > 0 {
            self.readiness.ready(Check::Streams, detail);
        } else {
            self.readiness.unready(Check::Streams, detail);
        }
    }

    async fn end(mut self) {
        self.watch_stop.ask();
        while let Some(ended) = self.watching.join_next().await {
            if let Err(error) = ended.map_err(anyhow::Error::from).and_then(|outcome| outcome) {
                tracing::error!("{error:#}");
            }
        }
        self.bus.drain().await;
        if let Err(error) = self.index.close().await {
            tracing::error!(%error, "the index was not closed cleanly: it will be repaired when opened");
        }
    }
}

//! Composition root: builds every edge, wires the two flows, starts and stops them in order.
//!
//! Start: endpoints, models, memory, bus, streams, ready. Stop, the same backwards, so that nothing is asked of a part
//! that has gone: watching ends (the frame in hand is still stored), open questions are answered and the bus drained,
//! the memory is closed, the endpoints go last. What has not ended within the grace period is left behind as a kill -9
//! would leave it, which loses nothing.

mod admission;
mod core;
mod plan;
mod roster;
mod streams;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use prometheus::Registry;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

pub use core::Core;
use roster::Roster;

use crate::bus::{self, Bus};
use crate::config::Config;
use crate::domain::StreamState;
use crate::index::Index;
use crate::narrate::Board;
use crate::remote;
use crate::stop::Stop;
use crate::telemetry::{self, Check, Pulse, Readiness, systemd};

/// Events between their makers and the outbox, which takes them at once whatever NATS does. The bound only absorbs a
/// burst.
pub const EVENT_QUEUE: usize = 256;

/// Orders about streams that may wait for the one at work.
const ORDER_QUEUE: usize = 8;

/// How often readiness is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs the daemon until `stop` is asked for or a part breaks. `config` was read from `path`, which is read again at each
/// of `hangups`.
pub async fn run(path: PathBuf, config: Config, hangups: mpsc::Receiver<()>, stop: Stop) -> anyhow::Result<()> {
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
        started = Daemon::start(path, config, hangups, &registry, &pulse, readiness) => started?,
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

/// The models as /readyz shows them.
struct Models {
    captioner: String,
    remote: remote::Metrics,
}

impl fmt::Display for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.captioner)?;
        let away = self.remote.left_alone();
        if away.is_empty() {
            return Ok(());
        }
        let roles: Vec<&str> = away.into_iter().map(remote::Role::as_str).collect();
        write!(f, "; left alone because it failed too often: {} (remote)", roles.join(", "))
    }
}

/// The running parts, in the order in which they are stopped.
struct Daemon {
    watching: JoinHandle<anyhow::Result<()>>,
    watch_stop: Stop,
    bus: Bus,
    index: Index,
    /// Parts that end only when something is wrong.
    vital: JoinSet<anyhow::Result<()>>,
    readiness: Readiness,
    board: Board,
    models: Models,
}

impl Daemon {
    async fn start(
        path: PathBuf,
        config: Config,
        hangups: mpsc::Receiver<()>,
        registry: &Registry,
        pulse: &Pulse,
        readiness: Readiness,
    ) -> anyhow::Result<Self> {
        systemd::status("loading models");
        let (events, told) = mpsc::channel(EVENT_QUEUE);
        let (core, thread) = Core::build(config.clone(), registry, pulse, events).await?;
        let models = Models { captioner: core.engine.captioner().to_string(), remote: core.remote.clone() };
        readiness.ready(Check::Models, models.to_string());
        readiness.ready(Check::Index, "open");
        let mut vital = JoinSet::new();
        vital.spawn(async move { thread.ended().await.context("the models ended") });
        let (index, board) = (core.index.clone(), core.board.clone());
        let index_ended = index.ended();
        vital.spawn(async move { index_ended.await.context("the index ended") });
        let (orders, ordered) = mpsc::channel(ORDER_QUEUE);
        let desks = bus::Desks { answerer: core.answerer.clone(), board: board.clone(), orders };
        let (bus_config, watch_stop) = (config.bus.clone(), Stop::new());
        // Before the bus, so that nobody is told that a configured stream is unknown.
        let roster = Roster::start(core, config, path, registry, watch_stop.clone()).await?;
        let bus = bus::start(&bus_config, desks, told, Stop::new(), bus::Metrics::register(registry)?).await?;
        let bus_ended = bus.ended();
        vital.spawn(async move {
            bus_ended.await;
            Err(anyhow!("the bus broke"))
        });
        systemd::ready(&format!("watching {} streams", roster.len()));
        let watching = tokio::spawn(roster.run(ordered, hangups));
        Ok(Self { watching, watch_stop, bus, index, vital, readiness, board, models })
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
                ended = &mut self.watching => return ended?.and(Err(anyhow!("nobody watches any more"))),
                _ = look.tick() => self.show_readiness(),
            }
        }
    }

    fn show_readiness(&self) {
        // Still ready: without such a model the daemon starts as well, and does what it can.
        self.readiness.ready(Check::Models, self.models.to_string());
        if self.bus.is_connected() {
            self.readiness.ready(Check::Nats, "connected");
        } else {
            self.readiness.unready(Check::Nats, "not connected: trying");
        }
        let mut streams = self.board.snapshot();
        streams.retain(|status| status.state != StreamState::Removed);
        let well = streams.iter().filter(|s| matches!(s.state, StreamState::Up | StreamState::Ended)).count();
        let detail = format!("{well} of {} up or read to the end", streams.len());
        if well > 0 {
            self.readiness.ready(Check::Streams, detail);
        } else {
            self.readiness.unready(Check::Streams, detail);
        }
    }

    async fn end(self) {
        self.watch_stop.ask();
        // It may be what ended the daemon, and has been told then.
        if !self.watching.is_finished()
            && let Err(error) = self.watching.await.map_err(anyhow::Error::from).and_then(|outcome| outcome)
        {
            tracing::error!("{error:#}");
        }
        self.bus.drain().await;
        if let Err(error) = self.index.close().await {
            tracing::error!(%error, "the index was not closed cleanly: it will be repaired when opened");
        }
    }
}

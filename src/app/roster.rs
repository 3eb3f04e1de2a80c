//! Who is watched: starts, changes and ends narrators while the others go on.
//!
//! One task owns the list. It is told by the configuration (at start, and again on SIGHUP) and by orders from the bus,
//! one after another, so that no two of them meet. What it does to one stream touches no other one. Streams that are
//! added over the bus are kept in the memory's file and watched again after a restart; the configuration file wins over
//! them, name by name.
//!
//! A stream that is watched no longer stays known to the answering flow as long as the memory holds moments of it.
//!
//! # Decisions
//! - 2026-11-30: a signal also tries again at once what does not get through: whoever sends it has often just mended a
//!   password or a file. Back-off and lock-outs are the sender's to think of.
//! - 2026-11-30: of a new configuration only the streams, their default interval, the pauses before a source is opened
//!   again and the rules for the bus come into force; for the rest the log names the sections that need a restart.

mod orders;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use prometheus::{IntGauge, Registry};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::admission::Rules;
use super::core::Core;
use super::plan::{Owner, Step, Terms, step};
use super::streams::{self, Obstacle, Prepared};
use crate::bus::StreamOrder;
use crate::bus::wire::StreamRequest;
use crate::config::{self, Config};
use crate::domain::{StreamId, StreamKind, StreamState};
use crate::index::IndexError;
use crate::narrate::{self, Outage};
use crate::stop::Stop;
use crate::telemetry::systemd;
use crate::video::StreamConfig;

/// How long a narrator may take to end before its successor no longer waits for it: a source that is being closed can
/// wait for a network.
const PATIENCE: Duration = Duration::from_mins(1);

/// A stream that is watched.
struct Watched {
    owner: Owner,
    kind: StreamKind,
    settings: Option<StreamConfig>,
    sample_every: Duration,
    stop: Stop,
    /// Closed when the narrator has ended.
    ended: oneshot::Receiver<()>,
}

/// The list, and what it takes to act on it.
pub(super) struct Roster {
    core: Core,
    rules: Rules,
    path: PathBuf,
    /// As in force; its streams are those of the file.
    config: Config,
    watched: BTreeMap<StreamId, Watched>,
    narrators: JoinSet<anyhow::Result<()>>,
    /// Whether the configuration was accepted when it was last read.
    accepted: IntGauge,
    stop: Stop,
}

/// How many streams a new configuration touched.
#[derive(Debug, Default)]
struct Touched {
    started: usize,
    changed: usize,
    tried_again: usize,
    removed: usize,
}

impl Roster {
    /// Begins to watch what the configuration names and what was added over the bus before, and makes known what the
    /// memory holds beside that.
    pub(super) async fn start(
        core: Core,
        config: Config,
        path: PathBuf,
        registry: &Registry,
        stop: Stop,
    ) -> anyhow::Result<Self> {
        let help = "1 if the configuration was accepted when it was last read, else 0.";
        let accepted = IntGauge::new("gvqa_config_accepted", help)?;
        registry.register(Box::new(accepted.clone()))?;
        accepted.set(1);
        let (rules, watched) = (Rules::of(&config.bus), BTreeMap::new());
        let mut roster =
            Self { core, rules, path, config: config.clone(), watched, narrators: JoinSet::new(), accepted, stop };
        roster.apply(config).await?;
        roster.remember().await?;
        Ok(roster)
    }

    /// How many streams are watched.
    pub(super) fn len(&self) -> usize {
        self.watched.len()
    }

    /// Acts on orders and signals until the end is asked for or a narrator dies; then ends every narrator.
    pub(super) async fn run(
        mut self,
        mut orders: mpsc::Receiver<StreamOrder>,
        mut hangups: mpsc::Receiver<()>,
    ) -> anyhow::Result<()> {
        let stop = self.stop.clone();
        let outcome = loop {
            tokio::select! {
                biased;
                () = stop.asked() => break Ok(()),
                Some(ended) = self.narrators.join_next() => {
                    if let Err(error) = ended.map_err(anyhow::Error::from).and_then(|outcome| outcome) {
                        break Err(error);
                    }
                }
                Some(()) = hangups.recv() => self.reload().await,
                Some(StreamOrder { order, reply }) = orders.recv() => {
                    // Whoever asked may have left.
                    let _ = reply.send(self.carry_out(order).await);
                }
            }
        };
        // What is still waiting is refused.
        drop(orders);
        for watched in self.watched.values() {
            watched.stop.ask();
        }
        while let Some(ended) = self.narrators.join_next().await {
            if let Err(error) = ended.map_err(anyhow::Error::from).and_then(|outcome| outcome) {
                tracing::error!("{error:#}");
            }
        }
        outcome
    }

    /// Reads the configuration again. A bad one changes nothing.
    async fn reload(&mut self) {
        systemd::reloading();
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || config::load(&path)).await;
        let applied = match read {
            Ok(Ok(fresh)) => self.apply(fresh).await.map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        self.accepted.set(i64::from(applied.is_ok()));
        match &applied {
            Ok(touched) => tracing::info!(
                started = touched.started,
                changed = touched.changed,
                tried_again = touched.tried_again,
                removed = touched.removed,
                "the configuration was read again"
            ),
            Err(reason) => tracing::error!(reason, "the new configuration is refused: the one in force stays"),
        }
        systemd::ready(&format!("watching {} streams", self.len()));
    }

    /// Makes the list what the file names and the bus has added.
    async fn apply(&mut self, fresh: Config) -> Result<Touched, IndexError> {
        self.warn_of_what_needs_a_restart(&fresh);
        self.rules = Rules::of(&fresh.bus);
        self.config.daemon.sample_every = fresh.daemon.sample_every;
        self.core.reconnect.set(fresh.reconnect);
        self.config.streams = fresh.streams;
        let mut touched = Touched::default();
        for stream in self.unwanted() {
            self.remove(&stream).await?;
            touched.removed += 1;
        }
        for (stream, settings) in self.config.streams.clone() {
            self.bring_to(&stream, Owner::File, Ok(settings), &mut touched).await?;
        }
        for (stream, bytes) in self.core.index.added().await? {
            if self.config.streams.contains_key(&stream) {
                tracing::warn!(%stream, "the configuration names a stream that was added over the bus: the latter is dropped");
                self.core.index.set_added(&stream, None).await?;
                continue;
            }
            let request = serde_json::from_slice::<StreamRequest>(&bytes).map_err(|error| error.to_string());
            let admitted = request.and_then(|request| self.rules.admit(&request).map_err(|error| error.to_string()));
            let demand = admitted.map_err(|reason| Obstacle::Policy(format!("it is not allowed any more: {reason}")));
            self.bring_to(&stream, Owner::Bus, demand, &mut touched).await?;
        }
        Ok(touched)
    }

    /// The streams of the file that it does not name any more.
    fn unwanted(&self) -> Vec<StreamId> {
        let gone = |(stream, watched): &(&StreamId, &Watched)| {
            watched.owner == Owner::File && !self.config.streams.contains_key(stream)
        };
        self.watched.iter().filter(gone).map(|(stream, _)| stream.clone()).collect()
    }

    /// Watches a stream as `demand` says, if it is not watched so already.
    async fn bring_to(
        &mut self,
        stream: &StreamId,
        owner: Owner,
        demand: Result<StreamConfig, Obstacle>,
        touched: &mut Touched,
    ) -> Result<(), IndexError> {
        let wanted = Terms { settings: demand.as_ref().ok(), sample_every: self.sample_every(demand.as_ref().ok()) };
        match step(self.terms(stream), wanted) {
            Step::Leave => {
                if let Some(watched) = self.watched.get_mut(stream) {
                    watched.owner = owner;
                }
                return Ok(());
            }
            Step::Start => touched.started += 1,
            Step::Change => touched.changed += 1,
            Step::TryAgain => touched.tried_again += 1,
        }
        let prepared = match demand {
            Ok(settings) => self.prepare(stream, settings).await?,
            Err(obstacle) => {
                let record = self.core.index.record(stream).await?;
                let kind = record.map_or(StreamKind::Live, |record| record.kind);
                Prepared::obstructed(kind, &self.config.daemon, obstacle)
            }
        };
        self.end(stream).await;
        self.begin(stream, owner, prepared);
        Ok(())
    }

    async fn prepare(&self, stream: &StreamId, settings: StreamConfig) -> Result<Prepared, IndexError> {
        streams::prepare(stream, settings, &self.config.daemon, &self.core.index).await
    }

    /// How a stream is watched, and how it fares.
    fn terms(&self, stream: &StreamId) -> Option<(Terms<'_>, StreamState)> {
        let watched = self.watched.get(stream)?;
        let terms = Terms { settings: watched.settings.as_ref(), sample_every: watched.sample_every };
        Some((terms, self.core.board.status(stream)?.state))
    }

    fn sample_every(&self, settings: Option<&StreamConfig>) -> Duration {
        settings.and_then(StreamConfig::sample_every).unwrap_or(self.config.daemon.sample_every.0)
    }

    fn begin(&mut self, stream: &StreamId, owner: Owner, prepared: Prepared) {
        let stop = Stop::new();
        let (tail, ended) = oneshot::channel::<()>();
        let watching = self.core.watch_prepared(stream, &prepared, Outage::Wait, &stop);
        self.narrators.spawn(async move {
            let outcome = watching.ended().await;
            drop(tail);
            Ok(outcome?)
        });
        let Prepared { kind, settings, sample_every, .. } = prepared;
        self.watched.insert(stream.clone(), Watched { owner, kind, settings, sample_every, stop, ended });
    }

    /// Ends the narrator of a stream, if it has one, and waits until it has ended.
    async fn end(&mut self, stream: &StreamId) -> Option<StreamKind> {
        let watched = self.watched.remove(stream)?;
        watched.stop.ask();
        tokio::select! {
            _ = watched.ended => {}
            () = self.stop.asked() => {}
            () = tokio::time::sleep(PATIENCE) => tracing::warn!(%stream, "its source does not end: going on without it"),
        }
        self.core.video.release(stream);
        Some(watched.kind)
    }

    /// Watches a stream no longer; returns what it was and how many moments of it stay.
    async fn remove(&mut self, stream: &StreamId) -> Result<Option<(StreamKind, u64)>, IndexError> {
        let Some(kind) = self.end(stream).await else { return Ok(None) };
        let moments = self.core.index.forget_unseen(stream).await?.map_or(0, |record| record.moments);
        narrate::retire(stream, kind, moments, &self.core.deps(&self.stop));
        self.core.video.forget(stream);
        if moments == 0 {
            self.core.known.forget(stream);
        }
        Ok(Some((kind, moments)))
    }

    /// Makes known what the memory holds of streams that nobody watches now.
    async fn remember(&self) -> Result<(), IndexError> {
        for (stream, record) in self.core.index.streams().await? {
            if record.moments > 0 && !self.watched.contains_key(&stream) {
                let entry =
                    streams::former(&stream, &record, &self.config.daemon, &self.core.index, &self.core.video).await?;
                self.core.known.set(stream.clone(), entry);
                narrate::remember(&stream, record.kind, record.moments, &self.core.board);
            }
        }
        Ok(())
    }

    /// Names the sections that differ from those in force and will go on doing so.
    fn warn_of_what_needs_a_restart(&mut self, fresh: &Config) {
        let old = &mut self.config;
        old.bus.manage_allow.clone_from(&fresh.bus.manage_allow);
        old.bus.manage_passwords.clone_from(&fresh.bus.manage_passwords);
        old.bus.manage_streams = fresh.bus.manage_streams;
        let sections = [
            ("daemon.zone", old.daemon.zone != fresh.daemon.zone),
            ("daemon.grace", old.daemon.grace != fresh.daemon.grace),
            ("archive", old.archive != fresh.archive),
            ("models", old.models != fresh.models),
            ("engine", old.engine != fresh.engine),
            ("index", old.index != fresh.index),
            ("answer", old.answer != fresh.answer),
            ("bus", old.bus != fresh.bus),
            ("telemetry", old.telemetry != fresh.telemetry),
        ];
        for (section, _) in sections.into_iter().filter(|(_, differs)| *differs) {
            tracing::warn!(section, "this part of the new configuration needs a restart to come into force");
        }
    }
}

//! Everything but the bus: models behind their engine, the memory, the streams, and the answering flow over them.

use std::collections::BTreeMap;

use anyhow::Context as _;
use prometheus::Registry;
use tokio::sync::mpsc;

use super::streams::{self, Prepared};
use crate::answer::{self, Answerer, Streams};
use crate::config::Config;
use crate::domain::{Event, Picture, StreamId, WallTime};
use crate::engine::{self, Engine, EngineThread};
use crate::index::{self, Index};
use crate::models;
use crate::narrate::{self, Board, Deps, Outage, StreamPolicy, Waits, Watching};
use crate::remote;
use crate::stop::Stop;
use crate::telemetry::{Pulse, Queues, Stages};
use crate::video::{self, Video};

/// The parts that the daemon and the one-process mode share. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    /// The models behind their queues.
    pub engine: Engine,
    /// The memory.
    pub index: Index,
    /// Questions to answers.
    pub answerer: Answerer,
    /// How every stream fares.
    pub board: Board,
    /// Which streams can be asked about; the answering flow sees every change.
    pub(super) known: Streams,
    /// The streams of the configuration that it was built with.
    configured: BTreeMap<StreamId, Prepared>,
    narrate: narrate::Metrics,
    /// How models behind an endpoint fare.
    pub(super) remote: remote::Metrics,
    /// When sources that broke off are opened again; may be changed while streams are watched.
    pub(super) reconnect: Waits,
    events: mpsc::Sender<Event>,
    /// What the streams share: the archive.
    pub(super) video: Video,
}

impl Core {
    /// Loads the models, opens the memory, and makes every configured stream known to both flows. The thread ends when
    /// the last handle of the engine is gone, or when a model panics.
    pub async fn build(
        config: Config,
        registry: &Registry,
        pulse: &Pulse,
        events: mpsc::Sender<Event>,
    ) -> anyhow::Result<(Self, EngineThread)> {
        let stages = Stages::register(registry)?.watched_by(pulse);
        let queues = Queues::register(registry)?;
        let video = Video::start(&config.archive, registry)?;
        let metrics = engine::Metrics { stages: stages.clone(), queues: queues.clone() };
        let remote = remote::Metrics::register(registry)?;
        let (engine, thread) = start_engine(config.models, config.engine, remote.clone(), metrics).await?;
        let metrics = index::Metrics::register(registry, stages.clone(), queues)?;
        let index = Index::open(&config.index, metrics)?;
        index.check_embedder(engine.embedder()).await?;
        let (board, mut configured) = (Board::new(), BTreeMap::new());
        let watched = board.clone();
        let known = Streams::default()
            .watched_by(move |stream| watched.status(stream).is_some_and(|status| status.blind.is_some()));
        for (stream, settings) in config.streams {
            let prepared = streams::prepare(&stream, settings, &config.daemon, &index).await?;
            known.set(stream.clone(), prepared.entry(&stream, &video));
            configured.insert(stream, prepared);
        }
        let metrics = answer::Metrics::register(registry, stages)?;
        let (e, i, k) = (engine.clone(), index.clone(), known.clone());
        let answerer = Answerer::new(e, i, k, events.clone(), to_jpeg, config.answer, metrics);
        let narrate = narrate::Metrics::register(registry)?;
        let reconnect = Waits::new(config.reconnect);
        let core =
            Self { engine, index, answerer, board, known, configured, narrate, remote, reconnect, events, video };
        Ok((core, thread))
    }

    /// The epochs from which the stream times of a stream's recordings count.
    pub fn epochs(&self, stream: &StreamId) -> Vec<WallTime> {
        self.video.epochs(stream)
    }

    /// Takes the evidence of a configured stream from the recordings that count from `epoch`, whatever the memory says.
    pub fn recall_from(&self, stream: &StreamId, epoch: WallTime) {
        if let Some(prepared) = self.configured.get(stream) {
            self.known.set(stream.clone(), prepared.clone().since(epoch).entry(stream, &self.video));
        }
    }

    /// Begins to watch every configured stream until `stop`, for somebody who waits for files to end.
    pub fn watch(&self, stop: &Stop) -> Vec<Watching> {
        let watch = |(stream, prepared)| self.watch_prepared(stream, prepared, Outage::Fail, stop);
        self.configured.iter().map(watch).collect()
    }

    /// Makes a stream known to the answering flow as it is now, and begins to watch it until `stop`.
    pub(super) fn watch_prepared(
        &self,
        stream: &StreamId,
        prepared: &Prepared,
        outage: Outage,
        stop: &Stop,
    ) -> Watching {
        self.known.set(stream.clone(), prepared.entry(stream, &self.video));
        let deps = self.deps(stop);
        match &prepared.source {
            Err(obstacle) => narrate::refuse(stream.clone(), prepared.kind, &obstacle.to_string(), deps),
            Ok(source) => {
                let policy = StreamPolicy {
                    kind: prepared.kind,
                    identity: source.identity.clone(),
                    sample_every: prepared.sample_every,
                    sight: source.settings.sight(),
                    reconnect: self.reconnect.clone(),
                    outage,
                };
                let (name, settings, stop) = (stream.clone(), source.settings.clone(), stop.clone());
                let video = self.video.clone();
                narrate::watch(stream.clone(), move |origin| video.open(&name, &settings, origin, &stop), deps, policy)
            }
        }
    }

    /// What a narrator works with until `stop`.
    pub(super) fn deps(&self, stop: &Stop) -> Deps {
        Deps {
            engine: self.engine.clone(),
            index: self.index.clone(),
            board: self.board.clone(),
            events: self.events.clone(),
            metrics: self.narrate.clone(),
            stop: stop.clone(),
        }
    }
}

async fn start_engine(
    config: models::Config,
    queues: engine::Config,
    remote: remote::Metrics,
    metrics: engine::Metrics,
) -> anyhow::Result<(Engine, EngineThread)> {
    let start = move || Engine::start(models::load(&config, &remote)?, &queues, metrics);
    tokio::task::spawn_blocking(start).await?.context("cannot start the models")
}

fn to_jpeg(picture: &Picture, max_bytes: usize) -> Result<Vec<u8>, String> {
    video::to_jpeg(picture, max_bytes).map_err(|error| error.to_string())
}

//! Everything but the bus: models behind their engine, the memory, the streams, and the answering flow over them.

use std::collections::BTreeMap;

use anyhow::Context as _;
use prometheus::Registry;
use tokio::sync::mpsc;

use super::streams::{self, Prepared};
use crate::answer::{self, Answerer};
use crate::config::Config;
use crate::domain::{Event, Picture, StreamId};
use crate::engine::{self, Engine, EngineThread};
use crate::index::{self, Index};
use crate::models;
use crate::narrate::{self, Board, Deps, StreamPolicy, Watching};
use crate::stop::Stop;
use crate::telemetry::{Pulse, Queues, Stages};
use crate::video;

/// The parts that the daemon and the one-process mode share.
pub struct Core {
    /// The models behind their queues.
    pub engine: Engine,
    /// The memory.
    pub index: Index,
    /// Questions to answers.
    pub answerer: Answerer,
    /// How every stream fares.
    pub board: Board,
    narrate: narrate::Metrics,
    events: mpsc::Sender<Event>,
    streams: BTreeMap<StreamId, Prepared>,
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
        video::init()?;
        let metrics = engine::Metrics { stages: stages.clone(), queues: queues.clone() };
        let (engine, thread) = start_engine(config.models, config.engine, metrics).await?;
        let metrics = index::Metrics::register(registry, stages.clone(), queues)?;
        let index = Index::open(&config.index, metrics)?;
        index.check_embedder(engine.embedder()).await?;
        let streams = streams::prepare(config.streams, config.daemon.sample_every.0, &index).await?;
        let entries = streams.iter().map(|(stream, prepared)| (stream.clone(), prepared.entry(stream))).collect();
        let metrics = answer::Metrics::register(registry, stages)?;
        let (e, i) = (engine.clone(), index.clone());
        let answerer = Answerer::new(e, i, entries, events.clone(), to_jpeg, config.answer, metrics);
        let narrate = narrate::Metrics::register(registry)?;
        Ok((Self { engine, index, answerer, board: Board::new(), narrate, events, streams }, thread))
    }

    /// Begins to watch every stream until `stop`.
    pub fn watch(&self, stop: &Stop) -> Vec<Watching> {
        self.streams.iter().map(|(stream, prepared)| self.watch_one(stream, prepared, stop)).collect()
    }

    fn watch_one(&self, stream: &StreamId, prepared: &Prepared, stop: &Stop) -> Watching {
        let settings = &prepared.settings;
        let deps = Deps {
            engine: self.engine.clone(),
            index: self.index.clone(),
            board: self.board.clone(),
            events: self.events.clone(),
            metrics: self.narrate.clone(),
            stop: stop.clone(),
        };
        match &prepared.source {
            Err(reason) => narrate::refuse(stream.clone(), settings.kind(), reason, deps),
            Ok(source) => {
                let identity = source.identity.clone();
                let (kind, sample_every) = (settings.kind(), prepared.sample_every);
                let policy = StreamPolicy { kind, identity, sample_every, sight: settings.sight() };
                let (name, settings, stop) = (stream.clone(), settings.clone(), stop.clone());
                narrate::watch(stream.clone(), move |origin| video::open(&name, &settings, origin, &stop), deps, policy)
            }
        }
    }
}

async fn start_engine(
    config: models::Config,
    queues: engine::Config,
    metrics: engine::Metrics,
) -> anyhow::Result<(Engine, EngineThread)> {
    let start = move || Engine::start(models::load(&config)?, &queues, metrics);
    tokio::task::spawn_blocking(start).await?.context("cannot start the models")
}

fn to_jpeg(picture: &Picture, max_bytes: usize) -> Result<Vec<u8>, String> {
    video::to_jpeg(picture, max_bytes).map_err(|error| error.to_string())
}

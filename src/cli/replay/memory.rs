//! Memories that hold the frames of one stored verdict and nothing else.
//!
//! The check asks the memory which samples lie beside the cited one; what was said about them does not matter to it.

use anyhow::Context as _;
use prometheus::Registry;

use crate::app::Core;
use crate::domain::{Caption, Embedding, NewMoment, StreamId, StreamTime};
use crate::engine::Lane;
use crate::index::{self, Index, StreamRecord};
use crate::telemetry::{Queues, Stages};

const TEXT: &str = "A frame that was looked at.";

/// Makes memories of one stream.
pub(super) struct Memories<'a> {
    core: &'a Core,
    stream: &'a StreamId,
    record: StreamRecord,
    embedding: Embedding,
    metrics: index::Metrics,
}

impl<'a> Memories<'a> {
    /// Of a stream that `core` knows.
    pub(super) async fn of(core: &'a Core, stream: &'a StreamId) -> anyhow::Result<Self> {
        let registry = Registry::new();
        let metrics = index::Metrics::register(&registry, Stages::register(&registry)?, Queues::register(&registry)?)?;
        let embeddings = core.engine.embed(Lane::Interactive, vec![TEXT.to_owned()]).await?;
        let embedding = embeddings.into_iter().next().context("no embedding came back")?;
        let record = core.index.record(stream).await?.context("the stream is not registered")?;
        Ok(Self { core, stream, record, embedding, metrics })
    }

    /// A memory with a moment at each of these times, in any order.
    pub(super) async fn with(&self, mut times: Vec<StreamTime>) -> anyhow::Result<Index> {
        times.sort_unstable();
        times.dedup();
        let memory = Index::in_memory(&index::Config::default(), self.metrics.clone())?;
        let record = memory.register(self.stream, self.record.kind, self.record.identity.clone()).await?;
        for at in times {
            let moment = NewMoment {
                stream: self.stream.clone(),
                at,
                wall: record.epoch.plus(at.saturating_since(StreamTime::ZERO)),
                timing: None,
                caption: Caption::new(TEXT),
                embedding: self.embedding.clone(),
                captioner: self.core.engine.captioner().clone(),
                embedder: self.core.engine.embedder().clone(),
            };
            memory.append(moment).await?;
        }
        Ok(memory)
    }
}

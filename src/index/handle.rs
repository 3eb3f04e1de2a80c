//! The async handle: sends what shall be written to the writer's thread, reads on the blocking pool.

use std::sync::Arc;
use std::thread::Builder;
use std::time::Instant;

use redb::StorageBackend;
use redb::backends::InMemoryBackend;
use tokio::sync::{mpsc, oneshot, watch};

use super::snapshot::Snapshot;
use super::store::Store;
use super::writer::{Operation, Outcome, Reply, Writer};
use super::{Config, Darkness, IndexError, Metrics, Neighbours, Scope, StreamRecord};
use crate::domain::{
    BlindSpan, Embedding, Fingerprint, Hit, Moment, MomentId, NewMoment, StreamId, StreamKind, StreamTime, Window,
};
use crate::panics;
use crate::telemetry::{QueueGauge, Stage};

/// The memory. Cheap to clone; the file is closed by [`close`](Self::close), or with the last clone.
#[derive(Debug, Clone)]
pub struct Index {
    store: Arc<Store>,
    writer: mpsc::Sender<Operation>,
    depth: QueueGauge,
    outcome: watch::Receiver<Outcome>,
    metrics: Metrics,
}

impl Index {
    /// Opens the file, creating it if missing, and starts the writer. Blocks; after a crash of the process for
    /// milliseconds, not for a scan of the file.
    pub fn open(config: &Config, metrics: Metrics) -> Result<Self, IndexError> {
        Self::start(Store::open(config)?, config, metrics)
    }

    /// An index that is gone when the process ends; `path` is not used.
    pub fn in_memory(config: &Config, metrics: Metrics) -> Result<Self, IndexError> {
        Self::over(InMemoryBackend::new(), config, metrics)
    }

    /// An index over any storage.
    pub(super) fn over(backend: impl StorageBackend, config: &Config, metrics: Metrics) -> Result<Self, IndexError> {
        Self::start(Store::with_backend(config, backend)?, config, metrics)
    }

    fn start(store: Store, config: &Config, metrics: Metrics) -> Result<Self, IndexError> {
        let store = Arc::new(store);
        let capacity = config.queue.max(1);
        let depth = metrics.queues.open("index", capacity);
        let (writer, queue) = mpsc::channel(capacity);
        let (outcome_sender, outcome) = watch::channel(None);
        let thread = Writer {
            store: store.clone(),
            queue,
            depth: depth.clone(),
            config: config.clone(),
            metrics: metrics.clone(),
            outcome: outcome_sender,
        };
        Builder::new()
            .name("index".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| IndexError::Storage { reason: format!("its thread cannot be started: {error}") })?;
        Ok(Self { store, writer, depth, outcome, metrics })
    }

    /// Makes a stream known, or finds it again. Its epoch is fixed at the first call. Another file, or another kind of
    /// source, under the same id is refused.
    pub async fn register(
        &self,
        stream: &StreamId,
        kind: StreamKind,
        identity: Option<String>,
    ) -> Result<StreamRecord, IndexError> {
        let stream = stream.clone();
        self.write(|reply| Operation::Register { stream, kind, identity, reply }).await
    }

    /// Stores a moment; returns after the commit. A caller that leaves early cannot know whether it was stored.
    pub async fn append(&self, moment: NewMoment) -> Result<Moment, IndexError> {
        self.write(|reply| Operation::Append { moment: Box::new(moment), reply }).await
    }

    /// Says that the last moment of its stream still holds at `until`; returns the longer moment after the commit, and
    /// `None` if that moment is not the last one any more, so that there is nothing to extend.
    pub async fn extend(
        &self,
        stream: &StreamId,
        moment: MomentId,
        until: StreamTime,
    ) -> Result<Option<Moment>, IndexError> {
        let stream = stream.clone();
        self.write(|reply| Operation::Extend { moment, stream, until, reply }).await
    }

    /// Notes a stretch in which nothing could be seen, or that the last one goes on: the one that begins at `span.from`
    /// is made longer, never told twice. A moment that reaches into it is cut off before it. Returns after the commit.
    pub async fn blind(&self, span: BlindSpan) -> Result<(), IndexError> {
        self.write(|reply| Operation::Blind { span, reply }).await
    }

    /// The stretches that touch the window in which nothing could be seen, by time. They do not overlap. What moments
    /// say about times inside them does not count.
    pub async fn unobservable(&self, stream: &StreamId, window: Window) -> Result<Vec<BlindSpan>, IndexError> {
        let stream = stream.clone();
        self.read(move |snapshot| snapshot.unobservable(&stream, window)).await
    }

    /// The stretch without sight that began last at a time or before it, and what came after; `None` if none did.
    pub async fn darkness(&self, stream: &StreamId, at: StreamTime) -> Result<Option<Darkness>, IndexError> {
        let stream = stream.clone();
        self.read(move |snapshot| snapshot.darkness(&stream, at)).await
    }

    /// Notes that a file was read to its end; returns after the commit.
    pub async fn mark_ended(&self, stream: &StreamId) -> Result<(), IndexError> {
        let stream = stream.clone();
        self.write(|reply| Operation::End { stream, reply }).await
    }

    /// What is kept of a stream; `None` if it was never registered.
    pub async fn record(&self, stream: &StreamId) -> Result<Option<StreamRecord>, IndexError> {
        let stream = stream.clone();
        self.read(move |snapshot| snapshot.record(&stream)).await
    }

    /// What is kept of every stream that was ever registered, in the order of the ids.
    pub async fn streams(&self) -> Result<Vec<(StreamId, StreamRecord)>, IndexError> {
        self.read(Snapshot::streams).await
    }

    /// Keeps what a stream was added with while the daemon ran, or forgets it; returns after the commit.
    pub async fn set_added(&self, stream: &StreamId, settings: Option<Vec<u8>>) -> Result<(), IndexError> {
        let stream = stream.clone();
        self.write(|reply| Operation::SetAdded { stream, settings, reply }).await
    }

    /// What each stream was added with, in the order of the ids.
    pub async fn added(&self) -> Result<Vec<(StreamId, Vec<u8>)>, IndexError> {
        self.read(Snapshot::added).await
    }

    /// Forgets a stream of which nothing was noted; one that has moments, or was blind, stays. Returns what is left of it.
    pub async fn forget_unseen(&self, stream: &StreamId) -> Result<Option<StreamRecord>, IndexError> {
        let stream = stream.clone();
        self.write(|reply| Operation::ForgetUnseen { stream, reply }).await
    }

    /// The `k` moments of the scope nearest to `query` by cosine, best first; of equal ones the older first.
    pub async fn search(&self, query: Embedding, scope: Scope, k: usize) -> Result<Vec<Hit>, IndexError> {
        let start = Instant::now();
        let hits = self.read(move |snapshot| snapshot.search(&query, &scope, k)).await;
        self.metrics.stages.observe(Stage::Search, start.elapsed());
        hits
    }

    /// At most `limit` moments whose span touches the scope, by time: stream time within one stream, time of day over several.
    pub async fn moments(&self, scope: Scope, limit: usize, newest_first: bool) -> Result<Vec<Moment>, IndexError> {
        self.read(move |snapshot| snapshot.moments(&scope, limit, newest_first)).await
    }

    /// The moments of a stream at and around a time.
    pub async fn neighbours(&self, stream: &StreamId, at: StreamTime) -> Result<Neighbours, IndexError> {
        let stream = stream.clone();
        self.read(move |snapshot| snapshot.neighbours(&stream, at)).await
    }

    /// Says at start, instead of at the first moment, whether vectors of this embedder can be compared with the stored
    /// ones.
    pub async fn check_embedder(&self, found: &Fingerprint) -> Result<(), IndexError> {
        match self.read(Snapshot::embedder).await? {
            Some(stored) if stored != *found => Err(IndexError::Embedder { stored, found: found.clone() }),
            _ => Ok(()),
        }
    }

    /// Writes what was asked for, then closes the file. Other clones get [`IndexError::Closed`] from then on.
    pub async fn close(self) -> Result<(), IndexError> {
        self.write(|reply| Operation::Close { reply }).await
    }

    /// Returns when the writer has ended: `Ok` after an orderly close, otherwise why nothing more can be stored.
    /// Whoever owns the process waits for this beside its other tasks. Does not keep the index open.
    pub fn ended(&self) -> impl Future<Output = Result<(), IndexError>> + Send + use<> {
        let mut outcome = self.outcome.clone();
        async move {
            match outcome.wait_for(Option::is_some).await {
                Ok(outcome) => (*outcome).clone().unwrap_or(Ok(())),
                Err(_) => Err(IndexError::Storage { reason: "the writer ended without a reason".to_owned() }),
            }
        }
    }

    async fn write<T>(&self, operation: impl FnOnce(Reply<T>) -> Operation) -> Result<T, IndexError> {
        let (reply, answer) = oneshot::channel();
        // A refused operation is dropped here together with its reply, so the wait below ends either way.
        drop(self.writer.send(operation(reply)).await);
        self.depth.set(self.writer.max_capacity() - self.writer.capacity());
        match answer.await {
            Ok(result) => result,
            // An unanswered operation means that the writer is ending or has ended.
            Err(_) => Err(self.ended().await.err().unwrap_or(IndexError::Closed)),
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Snapshot) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexError> {
        let store = self.store.clone();
        let task = tokio::task::spawn_blocking(move || read(&Snapshot::new(store.read()?)?));
        match task.await {
            Ok(result) => result,
            // redb trusts its pages; a file damaged from outside can make it panic.
            Err(error) => Err(error
                .try_into_panic()
                .map_or(IndexError::Closed, |panic| IndexError::corrupt(panics::message(panic.as_ref())))),
        }
    }
}

//! Starts and ends a narrator: registers the stream, spawns its thread and its task, waits for both.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Builder;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use super::backoff::Backoff;
use super::eye::Eye;
use super::puller::{Newest, Puller};
use super::teller::Teller;
use super::writer::{Log, Writer};
use super::{Board, Deps, StreamPolicy};
use crate::domain::{StreamId, StreamKind, StreamState, Window};
use crate::index::{IndexError, Scope, StreamRecord};
use crate::panics;
use crate::seams::{FrameSource, Origin, SourceError};

/// Frames that wait between thread and task: while one is captioned, the next one is decoded.
const QUEUE: usize = 1;

/// A live frame that the captioner has not begun with after so many sampling intervals is dropped.
const PATIENCE: u32 = 2;

/// A narrator at work.
#[derive(Debug)]
pub struct Watching {
    stream: StreamId,
    task: JoinHandle<Result<(), NarratorDied>>,
}

/// A narrator ended by a panic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the narrator of stream {stream} ended: {reason}")]
pub struct NarratorDied {
    /// The stream.
    pub stream: StreamId,
    /// The panic's message.
    pub reason: String,
}

impl Watching {
    /// Returns when the narrator has ended and its source is closed: because the end was asked for, the file has
    /// ended, or the stream is failed (the board says which). An error is a panic, and a reason to end the process.
    pub async fn ended(self) -> Result<(), NarratorDied> {
        match self.task.await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => Err(NarratorDied { stream: self.stream, reason: panics::message(panic.as_ref()) }),
                // The runtime is shutting down.
                Err(_) => Ok(()),
            },
        }
    }
}

/// Watches a stream until it ends or the end is asked for. `open` is called for each life of the source, on a thread
/// that may block. Must be called inside a tokio runtime.
pub fn watch(
    stream: StreamId,
    open: impl FnMut(Origin) -> Result<Box<dyn FrameSource>, SourceError> + Send + 'static,
    deps: Deps,
    policy: StreamPolicy,
) -> Watching {
    let teller = teller(stream.clone(), &deps);
    teller.begin(policy.kind);
    let span = tracing::info_span!("narrate", %stream);
    let task = tokio::spawn(live(open, deps, policy, teller).instrument(span));
    Watching { stream, task }
}

/// Shows a stream that cannot be watched at all, with the reason, until somebody changes the configuration or the file.
pub fn refuse(stream: StreamId, kind: StreamKind, reason: &str, deps: Deps) -> Watching {
    deps.board.add(&stream, kind);
    let teller = teller(stream.clone(), &deps);
    let reason = reason.to_owned();
    let task = tokio::spawn(async move {
        teller.state(StreamState::Failed, &reason);
        Ok(())
    });
    Watching { stream, task }
}

fn teller(stream: StreamId, deps: &Deps) -> Teller {
    Teller {
        metrics: deps.metrics.of(&stream),
        stream,
        board: deps.board.clone(),
        events: deps.events.clone(),
        stop: deps.stop.clone(),
    }
}

/// Tells that a stream is not watched any more, and shows it as removed if the memory holds `moments` of it, else not at
/// all. Its narrator must have ended: what it tells later would be shown again.
pub fn retire(stream: &StreamId, kind: StreamKind, moments: u64, deps: &Deps) {
    if deps.board.status(stream).is_none() {
        deps.board.add(stream, kind);
    }
    deps.board.set_moments(stream, moments);
    teller(stream.clone(), deps).state(StreamState::Removed, "");
    deps.metrics.forget(stream);
    if moments == 0 {
        deps.board.forget(stream);
    }
}

/// Shows a stream that the memory knows from an earlier life of the daemon and that nobody watches now.
pub fn remember(stream: &StreamId, kind: StreamKind, moments: u64, board: &Board) {
    board.keep(stream, kind, moments);
}

async fn live(
    open: impl FnMut(Origin) -> Result<Box<dyn FrameSource>, SourceError> + Send + 'static,
    deps: Deps,
    policy: StreamPolicy,
    teller: Teller,
) -> Result<(), NarratorDied> {
    let (record, eye) = match register(&deps, &policy, &teller).await {
        Ok(known) => known,
        Err(error) => {
            teller.state(StreamState::Failed, &error.to_string());
            return Ok(());
        }
    };
    if record.ended && policy.kind == StreamKind::File {
        teller.state(StreamState::Ended, "");
        return Ok(());
    }
    let (queue, items) = mpsc::channel(QUEUE);
    let newest = Newest::default();
    let origin = Origin { epoch: record.epoch, after: record.last, sample_every: policy.sample_every };
    let backoff = Backoff::new(policy.reconnect);
    let puller =
        Puller { open, origin, kind: policy.kind, queue, newest: newest.clone(), teller: teller.clone(), backoff };
    let thread = match start(puller) {
        Ok(thread) => thread,
        Err(error) => {
            teller.state(StreamState::Failed, &format!("its thread cannot be started: {error}"));
            return Ok(());
        }
    };
    let writer = Writer {
        engine: deps.engine,
        index: deps.index,
        kind: policy.kind,
        outage: policy.outage,
        teller: teller.clone(),
        eye,
        newest,
        patience: (policy.kind == StreamKind::Live).then_some(policy.sample_every * PATIENCE),
        log: Log::default(),
    };
    writer.run(items).await;
    // The queue is gone now, so the thread ends with its next frame or when the end is asked for.
    match thread.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(reason)) => Err(died(&teller, reason)),
        Err(_) => Err(died(&teller, "its thread left no reason".to_owned())),
    }
}

async fn register(deps: &Deps, policy: &StreamPolicy, teller: &Teller) -> Result<(StreamRecord, Eye), IndexError> {
    let record = deps.index.register(&teller.stream, policy.kind, policy.identity.clone()).await?;
    let spans = deps.index.unobservable(&teller.stream, Window::ALL).await?;
    let eye = Eye::new(policy, &record, &spans);
    teller.resume_sight(eye.blind(), eye.unobservable());
    let scope = Scope { streams: vec![teller.stream.clone()], window: Window::ALL };
    let last = deps.index.moments(scope, 1, true).await?.into_iter().next();
    deps.board.set_memory(&teller.stream, record.moments, last.map(|moment| (moment.at, moment.wall)));
    Ok((record, eye))
}

/// Runs the puller on a thread of its own; what comes back is how it ended.
fn start<O>(puller: Puller<O>) -> std::io::Result<oneshot::Receiver<Result<(), String>>>
where
    O: FnMut(Origin) -> Result<Box<dyn FrameSource>, SourceError> + Send + 'static,
{
    let (ended, outcome) = oneshot::channel();
    let span = tracing::Span::current();
    Builder::new().name(format!("watch-{}", puller.teller.stream)).spawn(move || {
        let _inside = span.enter();
        let life = catch_unwind(AssertUnwindSafe(|| puller.run()));
        // Nobody waits if the runtime is gone.
        let _ = ended.send(life.map_err(|panic| panics::message(panic.as_ref())));
    })?;
    Ok(outcome)
}

fn died(teller: &Teller, reason: String) -> NarratorDied {
    teller.state(StreamState::Failed, &reason);
    NarratorDied { stream: teller.stream.clone(), reason }
}

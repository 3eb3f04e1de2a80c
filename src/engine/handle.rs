//! The async handle of the engine, and the handle of its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tokio::sync::oneshot;
use tracing::Span;

use super::job::{Batch, Job, Reply, Work};
use super::lanes::{Lane, Lanes};
use super::worker::Worker;
use super::{Config, EngineDied, EngineError, Metrics, warmup};
use crate::domain::{Caption, Claim, Embedding, Entailment, Fingerprint, Picture};
use crate::panics;
use crate::seams::{DraftRequest, Inquiry, ModelError, Models, Pair};

/// Asks the models. Cheap to clone; the thread ends with the last clone.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Door>);

#[derive(Debug)]
struct Door {
    lanes: Arc<Lanes<Job>>,
    captioner: Fingerprint,
    vocabulary: Option<Vec<String>>,
    embedder: Fingerprint,
    drafter: Fingerprint,
    judge: Fingerprint,
    threshold: f32,
    visual_qa: Option<Fingerprint>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.lanes.close();
    }
}

/// The thread behind an [`Engine`].
#[derive(Debug)]
pub struct EngineThread {
    outcome: oneshot::Receiver<Result<(), EngineDied>>,
    thread: JoinHandle<()>,
}

impl EngineThread {
    /// Returns when the thread has ended: `Ok` after the last handle was dropped, the panic otherwise. Whoever owns the
    /// process waits for this beside its other tasks.
    pub async fn ended(self) -> Result<(), EngineDied> {
        let outcome = self.outcome.await.unwrap_or_else(|_| Err(EngineDied { reason: "no reason left".to_owned() }));
        // The outcome is the last thing the thread sends: joining it does not block.
        let _ = self.thread.join();
        outcome
    }
}

impl Engine {
    /// Moves the models onto a thread of their own and warms each of them up; blocks until that is done.
    pub fn start(models: Models, config: &Config, metrics: Metrics) -> Result<(Self, EngineThread), ModelError> {
        let lanes = Arc::new(Lanes::new(config, &metrics));
        let engine = Self(Arc::new(Door {
            lanes: lanes.clone(),
            captioner: models.captioner.fingerprint().clone(),
            vocabulary: models.captioner.vocabulary(),
            embedder: models.embedder.fingerprint().clone(),
            drafter: models.drafter.fingerprint().clone(),
            judge: models.judge.fingerprint().clone(),
            threshold: models.judge.threshold(),
            visual_qa: models.visual_qa.as_ref().map(|model| model.fingerprint().clone()),
        }));
        let worker = Worker { models, lanes, config: config.clone(), metrics };
        let (warm, warmed) = std::sync::mpsc::sync_channel(1);
        let (outcome_sender, outcome) = oneshot::channel();
        let thread = Builder::new()
            .name("engine".to_owned())
            .spawn(move || {
                // A receiver that is gone has nobody left to tell.
                let _ = outcome_sender.send(live(worker, &warm));
            })
            .map_err(|error| failure(format!("its thread cannot be started: {error}")))?;
        match warmed.recv() {
            Ok(Ok(())) => Ok((engine, EngineThread { outcome, thread })),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(failure("a model panicked during warm-up".to_owned())),
        }
    }

    /// One caption a picture.
    pub async fn caption(&self, lane: Lane, pictures: Vec<Picture>) -> Result<Vec<Caption>, EngineError> {
        if pictures.is_empty() {
            return Ok(Vec::new());
        }
        self.submit(lane, |reply| Work::Caption(Batch { inputs: pictures, reply })).await
    }

    /// One embedding a text.
    pub async fn embed(&self, lane: Lane, texts: Vec<String>) -> Result<Vec<Embedding>, EngineError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.submit(lane, |reply| Work::Embed(Batch { inputs: texts, reply })).await
    }

    /// Claims that cite the given moments.
    pub async fn draft(&self, lane: Lane, request: DraftRequest) -> Result<Vec<Claim>, EngineError> {
        self.submit(lane, |reply| Work::Draft { request: Box::new(request), reply }).await
    }

    /// One triple of probabilities a pair.
    pub async fn judge(&self, lane: Lane, pairs: Vec<Pair>) -> Result<Vec<Entailment>, EngineError> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        self.submit(lane, |reply| Work::Judge(Batch { inputs: pairs, reply })).await
    }

    /// One answer an inquiry. Fails if no model answers questions about pictures.
    pub async fn ask(&self, lane: Lane, inquiries: Vec<Inquiry>) -> Result<Vec<String>, EngineError> {
        if inquiries.is_empty() {
            return Ok(Vec::new());
        }
        self.submit(lane, |reply| Work::Ask(Batch { inputs: inquiries, reply })).await
    }

    /// Which model answers questions about pictures, if one does.
    pub fn visual_qa(&self) -> Option<&Fingerprint> {
        self.0.visual_qa.as_ref()
    }

    /// Which captioner runs.
    pub fn captioner(&self) -> &Fingerprint {
        &self.0.captioner
    }

    /// The only things that the captioner ever names; `None` if it may name anything.
    pub fn vocabulary(&self) -> Option<&[String]> {
        self.0.vocabulary.as_deref()
    }

    /// Which embedder runs.
    pub fn embedder(&self) -> &Fingerprint {
        &self.0.embedder
    }

    /// Which drafter runs.
    pub fn drafter(&self) -> &Fingerprint {
        &self.0.drafter
    }

    /// Which judge runs.
    pub fn judge_fingerprint(&self) -> &Fingerprint {
        &self.0.judge
    }

    /// Probability of entailment from which a claim counts as entailed.
    pub fn threshold(&self) -> f32 {
        self.0.threshold
    }

    async fn submit<T>(&self, lane: Lane, work: impl FnOnce(Reply<T>) -> Work) -> Result<T, EngineError> {
        let place = self.0.lanes.admit(lane).await?;
        let (reply, answer) = oneshot::channel();
        self.0.lanes.push(place, Job { work: work(reply), span: Span::current() });
        Ok(answer.await.map_err(|_| ModelError::Stopped)??)
    }
}

/// The whole life of the thread. However it ends, the lanes are closed, so nobody waits for it.
fn live(mut worker: Worker, warm: &std::sync::mpsc::SyncSender<Result<(), ModelError>>) -> Result<(), EngineDied> {
    let lanes = worker.lanes.clone();
    let life = catch_unwind(AssertUnwindSafe(|| {
        let warmed = warmup::run(&mut worker.models);
        let is_warm = warmed.is_ok();
        if warm.send(warmed).is_ok() && is_warm {
            worker.run();
        }
    }));
    lanes.close();
    life.map_err(|panic| EngineDied { reason: panics::message(panic.as_ref()) })
}

fn failure(reason: String) -> ModelError {
    ModelError::Run { model: "engine".to_owned(), reason }
}

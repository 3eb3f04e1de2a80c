//! The async handle of the engine, and the handle of its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tracing::Span;

use super::job::{Batch, Job, Reply, Work};
use super::lanes::{Lane, Lanes};
use super::stations::{Role, Stations};
use super::worker::Worker;
use super::{Config, EngineDied, EngineError, Metrics, warmup};
use crate::domain::{Caption, Claim, Embedding, Entailment, Fingerprint, Picture};
use crate::panics;
use crate::seams::{DraftRequest, Inquiry, ModelError, Models, Pair, Strictness};

/// Asks the models. Cheap to clone; the threads end with the last clone.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Door>);

#[derive(Debug)]
struct Door {
    stations: Arc<Stations>,
    captioner: Fingerprint,
    vocabulary: Option<Vec<String>>,
    embedder: Fingerprint,
    drafter: Fingerprint,
    judge: Fingerprint,
    threshold: f32,
    visual_qa: Option<Fingerprint>,
    chat_judge: Option<Fingerprint>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stations.close();
    }
}

/// The threads behind an [`Engine`].
#[derive(Debug)]
pub struct EngineThread {
    outcomes: mpsc::Receiver<Result<(), EngineDied>>,
    threads: Vec<JoinHandle<()>>,
}

impl EngineThread {
    /// Returns when the threads have ended: `Ok` after the last handle was dropped, the panic as soon as one panicked.
    /// Whoever owns the process waits for this beside its other tasks.
    pub async fn ended(mut self) -> Result<(), EngineDied> {
        for _ in 0..self.threads.len() {
            let lost = || Err(EngineDied { reason: "no reason left".to_owned() });
            self.outcomes.recv().await.unwrap_or_else(lost)?;
        }
        // The outcome is the last thing a thread sends: joining it does not block.
        for thread in self.threads {
            let _ = thread.join();
        }
        Ok(())
    }
}

impl Engine {
    /// Moves the models onto threads and warms those up that compute here; blocks until that is done.
    pub fn start(models: Models, config: &Config, metrics: Metrics) -> Result<(Self, EngineThread), ModelError> {
        let (stations, clients) = Stations::open(&models, config, &metrics);
        let stations = Arc::new(stations);
        let engine = Self(Arc::new(Door::new(&models, stations.clone())));
        let (outcome, outcomes) = mpsc::channel(clients.len() + 1);
        let (warm, warmed) = std::sync::mpsc::sync_channel(1);
        let (lanes, stages) = (stations.here().clone(), metrics.stages.clone());
        let mut worker = Worker { models, lanes, config: config.clone(), metrics };
        let own = stations.clone();
        let here = move || {
            let warmed = warmup::run(&mut worker.models, &own);
            let is_warm = warmed.is_ok();
            if warm.send(warmed).is_ok() && is_warm {
                worker.run();
            }
        };
        let mut threads = vec![spawn("engine", &stations, outcome.clone(), here)?];
        match warmed.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(failure("a model panicked during warm-up".to_owned())),
        }
        for (client, lanes) in clients {
            let stages = stages.clone();
            let elsewhere = move || client.run(&lanes, &stages);
            threads.push(spawn("remote-model", &stations, outcome.clone(), elsewhere)?);
        }
        Ok((engine, EngineThread { outcomes, threads }))
    }

    /// One caption a picture.
    pub async fn caption(&self, lane: Lane, pictures: Vec<Picture>) -> Result<Vec<Caption>, EngineError> {
        self.each(Role::Captioner, lane, None, pictures, Work::Caption).await
    }

    /// The same for whoever waits no longer than `until` for a model that is busy: [`ModelError::Late`] from then on.
    pub async fn caption_until(
        &self,
        lane: Lane,
        until: Option<Instant>,
        pictures: Vec<Picture>,
    ) -> Result<Vec<Caption>, EngineError> {
        self.each(Role::Captioner, lane, until, pictures, Work::Caption).await
    }

    /// One embedding a text.
    pub async fn embed(&self, lane: Lane, texts: Vec<String>) -> Result<Vec<Embedding>, EngineError> {
        self.each(Role::Embedder, lane, None, texts, Work::Embed).await
    }

    /// Claims that cite the given moments.
    pub async fn draft(&self, lane: Lane, request: DraftRequest) -> Result<Vec<Claim>, EngineError> {
        let lanes = self.0.stations.away(Role::Drafter).unwrap_or(self.0.stations.here());
        submit(lanes, lane, None, |reply| Work::Draft { request: Box::new(request), reply }).await
    }

    /// One triple of probabilities a pair.
    pub async fn judge(&self, lane: Lane, pairs: Vec<Pair>) -> Result<Vec<Entailment>, EngineError> {
        self.each(Role::Judge, lane, None, pairs, Work::Judge).await
    }

    /// One answer an inquiry. Fails if no model answers questions about pictures.
    pub async fn ask(&self, lane: Lane, inquiries: Vec<Inquiry>) -> Result<Vec<String>, EngineError> {
        self.each(Role::VisualQa, lane, None, inquiries, Work::Ask).await
    }

    /// One probability a pair that the caption supports the claim. Fails if no chat model judges.
    pub async fn supports(
        &self,
        lane: Lane,
        pairs: Vec<Pair>,
        strictness: Strictness,
    ) -> Result<Vec<f32>, EngineError> {
        self.each(Role::ChatJudge, lane, None, pairs, |batch| Work::Support { batch, strictness }).await
    }

    /// Which chat model judges claims, if one does.
    pub fn chat_judge(&self) -> Option<&Fingerprint> {
        self.0.chat_judge.as_ref()
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

    /// One output an input. Where the model computes elsewhere the inputs go there side by side, in one place of the
    /// lane; the first failure is everybody's, and what has not begun by then is not begun.
    async fn each<I, O>(
        &self,
        role: Role,
        lane: Lane,
        until: Option<Instant>,
        inputs: Vec<I>,
        work: impl Fn(Batch<I, O>) -> Work,
    ) -> Result<Vec<O>, EngineError> {
        if inputs.is_empty() {
            return Ok(Vec::new());
        }
        let Some(lanes) = self.0.stations.away(role) else {
            return submit(self.0.stations.here(), lane, until, |reply| work(Batch { inputs, reply })).await;
        };
        let place = Arc::new(lanes.admit(lane).await?);
        let send = |input| {
            let (reply, answer) = oneshot::channel();
            let work = work(Batch { inputs: vec![input], reply });
            lanes.push(place.clone(), Job { work, span: Span::current(), until });
            answer
        };
        let answers: Vec<_> = inputs.into_iter().map(send).collect();
        drop(place);
        let mut outputs = Vec::with_capacity(answers.len());
        for answer in answers {
            outputs.extend(answer.await.map_err(|_| ModelError::Stopped)??);
        }
        Ok(outputs)
    }
}

impl Door {
    fn new(models: &Models, stations: Arc<Stations>) -> Self {
        Self {
            stations,
            captioner: models.captioner.fingerprint().clone(),
            vocabulary: models.captioner.vocabulary(),
            embedder: models.embedder.fingerprint().clone(),
            drafter: models.drafter.fingerprint().clone(),
            judge: models.judge.fingerprint().clone(),
            threshold: models.judge.threshold(),
            visual_qa: models.visual_qa.as_ref().map(|model| model.fingerprint().clone()),
            chat_judge: models.chat_judge.as_ref().map(|model| model.fingerprint().clone()),
        }
    }
}

async fn submit<T>(
    lanes: &Lanes<Job>,
    lane: Lane,
    until: Option<Instant>,
    work: impl FnOnce(Reply<T>) -> Work,
) -> Result<T, EngineError> {
    let place = lanes.admit(lane).await?;
    let (reply, answer) = oneshot::channel();
    lanes.push(place, Job { work: work(reply), span: Span::current(), until });
    Ok(answer.await.map_err(|_| ModelError::Stopped)??)
}

/// Starts a thread that does `work`. However that ends, all lanes are closed, so nobody waits for it.
fn spawn(
    name: &str,
    stations: &Arc<Stations>,
    outcome: mpsc::Sender<Result<(), EngineDied>>,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, ModelError> {
    let stations = stations.clone();
    let life = move || {
        let life = catch_unwind(AssertUnwindSafe(work));
        stations.close();
        let ended = life.map_err(|panic| EngineDied { reason: panics::message(panic.as_ref()) });
        // There is room for every thread's outcome; a receiver that is gone has nobody left to tell.
        let _ = outcome.try_send(ended);
    };
    let thread = Builder::new().name(name.to_owned()).spawn(life);
    thread.map_err(|error| failure(format!("its thread cannot be started: {error}")))
}

fn failure(reason: String) -> ModelError {
    ModelError::Run { model: "engine".to_owned(), reason }
}

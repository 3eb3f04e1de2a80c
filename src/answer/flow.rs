//! The handle: admits requests, bounds their time, and runs the flow of each.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc};
use tracing::Instrument as _;

use super::config::Config;
use super::error::{AnswerError, Refusal};
use super::metrics::{Metrics, Outcome};
use super::request::{FrameReply, SearchRequest};
use super::streams::Streams;
use crate::domain::{Answer, Citation, Claim, Design, Event, Hit, Picture, Question, Verdict};
use crate::engine::Engine;
use crate::index::{Index, Scope};
use crate::telemetry::Stage;

/// A picture as JPEG of at most so many bytes, or why not.
pub type ToJpeg = fn(&Picture, usize) -> Result<Vec<u8>, String>;

/// How long an event may wait for room before it is given up: an answer does not depend on who listens.
const EVENT_PATIENCE: Duration = Duration::from_secs(1);

/// Answers questions and checks claims. Cheap to clone; every clone shares the permits.
#[derive(Clone)]
pub struct Answerer(Arc<Parts>);

/// What the flow works with.
pub(super) struct Parts {
    pub(super) engine: Engine,
    pub(super) index: Index,
    pub(super) streams: Streams,
    pub(super) to_jpeg: ToJpeg,
    pub(super) cfg: Config,
    pub(super) metrics: Metrics,
    /// Bounds extractions, also those whose request has given up.
    pub(super) extractions: Arc<Semaphore>,
    events: mpsc::Sender<Event>,
    in_flight: Semaphore,
}

impl Answerer {
    /// Wires the parts together; nothing runs until something is asked.
    pub fn new(
        engine: Engine,
        index: Index,
        streams: Streams,
        events: mpsc::Sender<Event>,
        to_jpeg: ToJpeg,
        cfg: Config,
        metrics: Metrics,
    ) -> Self {
        let extractions = Arc::new(Semaphore::new(cfg.extractions));
        let in_flight = Semaphore::new(cfg.in_flight);
        Self(Arc::new(Parts { engine, index, streams, to_jpeg, cfg, metrics, extractions, events, in_flight }))
    }

    /// The same flow over another memory.
    #[must_use]
    pub fn over(&self, index: Index) -> Self {
        let parts = &self.0;
        let (engine, streams, events) = (parts.engine.clone(), parts.streams.clone(), parts.events.clone());
        Self::new(engine, index, streams, events, parts.to_jpeg, parts.cfg.clone(), parts.metrics.clone())
    }

    /// The limits and defaults in force.
    pub fn config(&self) -> &Config {
        &self.0.cfg
    }

    /// Refuses a design whose model this site does not have.
    pub fn available(&self, design: Design) -> Result<(), AnswerError> {
        self.0.available(design)
    }

    /// Answers a question with a verdict for every claim.
    pub async fn answer(&self, question: Question) -> Result<Answer, AnswerError> {
        self.answer_within(question, self.0.cfg.deadline.0).await
    }

    /// The same for somebody who waits for `limit`: what may be left out is left out in time.
    pub async fn answer_within(&self, question: Question, limit: Duration) -> Result<Answer, AnswerError> {
        let limit = limit.min(self.0.cfg.deadline.0);
        let start = Instant::now();
        let stream = question.stream.as_ref().map(tracing::field::display);
        let span = tracing::info_span!("question", id = %question.id, stream);
        let result = self.0.admitted(self.0.answer(question, limit)).instrument(span.clone()).await;
        let (outcome, took) = (Outcome::of(&result), start.elapsed());
        self.0.metrics.question(outcome);
        self.0.metrics.took(Stage::Answer, took);
        let claims = result.as_ref().map_or(0, |answer| answer.verdicts.len());
        span.in_scope(|| tracing::info!(outcome = outcome.as_str(), claims, ms = took.as_millis(), "question ended"));
        result
    }

    /// Checks somebody else's claims, in order.
    pub async fn verify(&self, claims: Vec<Claim>, design: Design) -> Result<Vec<Verdict>, AnswerError> {
        self.0.available(design)?;
        let (max, got) = (self.0.cfg.max_verify, claims.len());
        if !(1..=max).contains(&got) {
            return Err(Refusal::BadCount { max, got }.into());
        }
        for claim in &claims {
            self.0.check_text(&claim.text)?;
            self.0.streams.find(&claim.citation.stream)?;
        }
        self.0.admitted(self.0.check(claims, design, None, None)).await
    }

    /// Finds moments, best first.
    pub async fn search(&self, request: SearchRequest) -> Result<Vec<Hit>, AnswerError> {
        self.0.check_text(&request.text)?;
        self.0.check_k(request.k)?;
        self.0.admitted(self.0.search(request)).await
    }

    /// The moments that an answer to this question would rest on, best first; nothing is drafted or checked.
    pub async fn recall(&self, question: &Question) -> Result<Vec<Hit>, AnswerError> {
        let work = async {
            let scene = self.0.scene(question).await?;
            self.0.retrieve(scene.lookup(question.k, &[])).await
        };
        self.0.admitted(work).await
    }

    /// Extracts a frame afresh.
    pub async fn frame(&self, citation: Citation) -> Result<FrameReply, AnswerError> {
        let work = async {
            let shot = self.0.extract(&citation).await?;
            Ok(FrameReply { frame: shot.frame, jpeg: shot.jpeg, sha256: shot.sha256 })
        };
        self.0.admitted(work).await
    }
}

impl Parts {
    /// Runs `work` if there is a permit, and for no longer than the deadline.
    async fn admitted<T>(&self, work: impl Future<Output = Result<T, AnswerError>>) -> Result<T, AnswerError> {
        let _permit = self.in_flight.try_acquire().map_err(|_| AnswerError::Busy)?;
        tokio::time::timeout(self.cfg.deadline.0, work).await.unwrap_or(Err(AnswerError::Deadline))
    }

    async fn search(&self, request: SearchRequest) -> Result<Vec<Hit>, AnswerError> {
        let streams = self.streams.scope(request.stream.as_ref())?;
        let query = self.embed(&request.text).await?;
        Ok(self.index.search(query, Scope { streams, window: request.window }, request.k).await?)
    }

    pub(super) fn check_text(&self, text: &str) -> Result<(), Refusal> {
        let (max, got) = (self.cfg.max_text, text.chars().count());
        if text.trim().is_empty() {
            return Err(Refusal::Empty);
        }
        if got > max { Err(Refusal::TooLong { max, got }) } else { Ok(()) }
    }

    pub(super) fn check_k(&self, k: usize) -> Result<(), Refusal> {
        let max = self.cfg.max_k;
        if (1..=max).contains(&k) { Ok(()) } else { Err(Refusal::BadK { max, got: k }) }
    }

    /// Announces an event; one that finds no room in time is given up and logged.
    pub(super) async fn tell(&self, event: Event) {
        if let Err(mpsc::error::SendTimeoutError::Timeout(_)) = self.events.send_timeout(event, EVENT_PATIENCE).await {
            tracing::warn!("a verdict was not announced: its queue is full");
        }
    }
}

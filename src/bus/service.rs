//! Requests in: decode, admit or refuse at the door, and only then spawn. Nothing waits here.
//!
//! One task an endpoint takes messages as fast as they come. What is malformed, too large or too much is replied to on
//! the spot; what is admitted carries its permit and its deadline with it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::domain::StreamId;
use crate::stop::Stop;

use super::decode::decode;
use super::desk::{Desk, Request};
use super::discovery::{Discovery, QUEUE};
use super::link::Link;
use super::orders::Order;
use super::refusal::Refusal;
use super::responder::{Endpoint, Reply, Responder};
use super::subjects::{Subjects, Verb};
use super::wire::{self, Checked, ErrorCode};
use super::{BusError, Config, Metrics};

/// Longest wait for what is left in a subscription at the end.
const PATIENCE: Duration = Duration::from_secs(2);

/// The running endpoints.
#[derive(Debug)]
pub(super) struct Service {
    /// Everything at work holds a sender; when all are gone, all is done.
    work: mpsc::Receiver<Infallible>,
    closing: Stop,
    endpoints: Vec<JoinHandle<()>>,
}

struct Door {
    desk: Desk,
    link: Link,
    subjects: Subjects,
    metrics: Metrics,
    cfg: Config,
    questions: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
    /// Nothing is admitted any more.
    stop: Stop,
    /// Nothing is listened to any more.
    closing: Stop,
}

/// A request on its way to the desk.
struct Job {
    request: Request,
    deadline: Duration,
    permit: Option<OwnedSemaphorePermit>,
}

impl Service {
    /// Subscribes every endpoint and starts answering.
    pub(super) async fn start(
        cfg: &Config,
        desk: Desk,
        link: Link,
        stop: Stop,
        broken: &Stop,
        metrics: Metrics,
    ) -> Result<Self, BusError> {
        let subjects = desk.subjects.clone();
        let endpoints = endpoints(&subjects);
        let metadata = BTreeMap::from([("prefix", subjects.prefix().to_owned()), ("messages", "1".to_owned())]);
        let discovery = Discovery::new(endpoints.clone(), metadata).listen(link.clone(), stop.clone()).await?;
        super::guard("discovery", broken.clone(), discovery);
        let closing = Stop::new();
        let door = Arc::new(Door {
            desk,
            link,
            subjects,
            metrics,
            cfg: cfg.clone(),
            questions: Arc::new(Semaphore::new(cfg.max_questions)),
            lookups: Arc::new(Semaphore::new(cfg.max_lookups)),
            stop,
            closing: closing.clone(),
        });
        let (present, work) = mpsc::channel(1);
        let mut tasks = Vec::new();
        for endpoint in endpoints {
            let requests =
                super::subscribe(door.link.client(), endpoint.subject.clone(), Some(QUEUE.to_owned())).await?;
            let name = endpoint.name;
            let serving = Arc::clone(&door).serve(endpoint, requests, present.clone());
            tasks.push(super::guard(name, broken.clone(), serving));
        }
        Ok(Self { work, closing, endpoints: tasks })
    }

    /// Waits until everything that was admitted is replied to; what comes meanwhile is refused. The end must have been
    /// asked for.
    pub(super) async fn finish(&mut self, grace: Duration) {
        if timeout(grace, self.work.recv()).await.is_err() {
            tracing::warn!("requests were left unanswered at the end");
        }
    }

    /// Stops listening.
    pub(super) async fn close(self) {
        self.closing.ask();
        for endpoint in self.endpoints {
            // A panic inside was already told.
            let _ = endpoint.await;
        }
    }
}

fn endpoints(subjects: &Subjects) -> Vec<Arc<Endpoint>> {
    let any = |verb, name| Arc::new(Endpoint::new(verb, name, subjects.any_stream(verb)));
    let whole = |verb, name| Arc::new(Endpoint::new(verb, name, subjects.request(verb, None)));
    vec![
        whole(Verb::Ask, "ask"),
        any(Verb::Ask, "ask-stream"),
        any(Verb::Verify, "verify"),
        any(Verb::Search, "search"),
        any(Verb::Frame, "frame"),
        whole(Verb::Streams, "streams"),
        whole(Verb::AddStream, "streams-add"),
        whole(Verb::ChangeStream, "streams-change"),
        whole(Verb::RemoveStream, "streams-remove"),
    ]
}

impl Door {
    async fn serve(
        self: Arc<Self>,
        endpoint: Arc<Endpoint>,
        mut requests: Subscriber,
        present: mpsc::Sender<Infallible>,
    ) {
        while let Some(message) = next_before(&mut requests, &self.stop).await {
            self.take(&endpoint, &message, &present).await;
        }
        drop(present);
        while let Some(message) = next_before(&mut requests, &self.closing).await {
            self.refuse(&endpoint, &message).await;
        }
        // What had arrived before the subscription ended is refused rather than forgotten.
        if self.link.is_up() && timeout(PATIENCE, requests.drain()).await.is_ok() {
            while let Ok(Some(message)) = timeout(PATIENCE, requests.next()).await {
                self.refuse(&endpoint, &message).await;
            }
        }
    }

    async fn take(self: &Arc<Self>, endpoint: &Arc<Endpoint>, message: &Message, present: &mpsc::Sender<Infallible>) {
        let Some(responder) = self.responder(message, endpoint) else { return };
        let job = match self.admit(endpoint.verb, message) {
            Ok(job) => job,
            Err(refusal) => return responder.send(Err(refusal)).await,
        };
        let (door, present) = (Arc::clone(self), present.clone());
        tokio::spawn(async move {
            let outcome = door.finish(job).await;
            responder.send(outcome).await;
            drop(present);
        });
    }

    /// The way back, unless there is none or it leads to our own subjects: a reply must not pass for an event.
    fn responder(&self, message: &Message, endpoint: &Arc<Endpoint>) -> Option<Responder> {
        let to = message.reply.clone().filter(|to| !self.subjects.holds(to))?;
        Some(Responder::new(to, Arc::clone(endpoint), self.link.clone(), self.metrics.clone()))
    }

    fn admit(&self, verb: Verb, message: &Message) -> Result<Job, Refusal> {
        let stream = self
            .subjects
            .stream_of(verb, &message.subject)
            .map_err(|message| Refusal::new(ErrorCode::BadSubject, message))?;
        let body = &message.payload;
        match verb {
            Verb::Ask => self.job(body, &self.questions, |request| Ok(Request::Ask(stream, request))),
            Verb::Verify => self.job(body, &self.questions, |request| Ok(Request::Verify(named(stream)?, request))),
            Verb::Search => self.job(body, &self.lookups, |request| Ok(Request::Search(named(stream)?, request))),
            Verb::Frame => self.job(body, &self.lookups, |request| Ok(Request::Frame(named(stream)?, request))),
            Verb::AddStream => self.job(body, &self.lookups, |request| Ok(Request::order(Order::Add(request)))),
            Verb::ChangeStream => self.job(body, &self.lookups, |request| Ok(Request::order(Order::Change(request)))),
            Verb::RemoveStream => self.job(body, &self.lookups, |request: wire::RemoveRequest| {
                Ok(Request::order(Order::Remove(request.stream)))
            }),
            Verb::Streams => {
                decode::<wire::StreamsRequest>(body, self.cfg.max_request_bytes)?;
                Ok(Job { request: Request::Streams, deadline: self.cfg.deadline.0, permit: None })
            }
        }
    }

    fn job<T: DeserializeOwned + Checked>(
        &self,
        body: &[u8],
        permits: &Arc<Semaphore>,
        request: impl FnOnce(T) -> Result<Request, Refusal>,
    ) -> Result<Job, Refusal> {
        let body: T = decode(body, self.cfg.max_request_bytes)?;
        let deadline = deadline(body.deadline_s(), &self.cfg)?;
        let request = request(body)?;
        let permit = Arc::clone(permits).try_acquire_owned().map_err(|_| Refusal::busy())?;
        Ok(Job { request, deadline, permit: Some(permit) })
    }

    async fn finish(&self, job: Job) -> Result<Reply, Refusal> {
        let Job { request, deadline, permit } = job;
        let outcome = timeout(deadline, self.desk.work(request, deadline)).await;
        // Free before the reply leaves: who asks one question after another must never find its own one in the way.
        drop(permit);
        outcome.unwrap_or_else(|_| {
            let message = format!("not finished within {} s", deadline.as_secs_f64());
            Err(Refusal::new(ErrorCode::Deadline, message))
        })
    }

    async fn refuse(&self, endpoint: &Arc<Endpoint>, message: &Message) {
        if let Some(responder) = self.responder(message, endpoint) {
            responder.send(Err(Refusal::new(ErrorCode::Stopping, "the daemon is ending"))).await;
        }
    }
}

/// The next message, unless the end was asked for: that comes first.
async fn next_before(requests: &mut Subscriber, end: &Stop) -> Option<Message> {
    tokio::select! {
        biased;
        () = end.asked() => None,
        message = requests.next() => message,
    }
}

fn named(stream: Option<StreamId>) -> Result<StreamId, Refusal> {
    stream.ok_or_else(|| Refusal::new(ErrorCode::BadSubject, "the subject names no stream"))
}

fn deadline(wanted: Option<f64>, cfg: &Config) -> Result<Duration, Refusal> {
    let Some(seconds) = wanted else { return Ok(cfg.deadline.0) };
    let most = cfg.max_deadline.0;
    match Duration::try_from_secs_f64(seconds) {
        Ok(span) if !span.is_zero() && span <= most => Ok(span),
        _ => {
            let message = format!("deadline_s: {seconds} is not more than 0 and at most {}", most.as_secs_f64());
            Err(Refusal::new(ErrorCode::BadRequest, message))
        }
    }
}

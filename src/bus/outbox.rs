//! Events on their way out: taken from the daemon at once, published when the server is there.
//!
//! Two tasks around one bounded [`Backlog`]. The intake always takes, so that nobody who tells an event waits for a
//! network. The sender publishes in batches and then waits for a message to itself to come back: NATS keeps the order
//! of one connection, so all of the batch has reached the server by then. A batch whose connection broke in between
//! is published again (its `Nats-Msg-Id` stays the same): at least once while the process lives.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::{HeaderMap, PublishErrorKind, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::domain::{Blindness, Event, StreamId, Verdict, WallTime};
use crate::stop::Stop;

use super::backlog::{Backlog, Limits};
use super::convert::{self, Context, HEADROOM};
use super::link::Link;
use super::quiet::Quiet;
use super::subjects::{Subjects, Topic};
use super::wire::{self, V1, header};
use super::{Config, Metrics};

const BATCH: usize = 64;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Longest wait for one batch to leave, and again to be confirmed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A message ready to leave.
#[derive(Debug, Clone)]
pub(super) struct Parcel {
    pub(super) topic: Topic,
    pub(super) subject: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) payload: Bytes,
}

impl Parcel {
    /// Bytes it takes in memory and, nearly, on the wire.
    pub(super) fn size(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        self.payload.len() + self.subject.len() + headers
    }
}

/// The running tasks.
#[derive(Debug)]
pub(super) struct Outbox {
    finish: watch::Sender<Option<Instant>>,
    intake: JoinHandle<()>,
    sender: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    backlog: Mutex<Backlog>,
    filled: Notify,
    metrics: Metrics,
}

impl Shared {
    fn change<T>(&self, work: impl FnOnce(&mut Backlog) -> (T, Vec<Topic>)) -> T {
        let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        let (result, gone) = work(&mut backlog);
        for topic in gone {
            self.metrics.dropped(topic);
        }
        for topic in Topic::ALL {
            self.metrics.waiting(topic, backlog.waiting(topic));
        }
        result
    }
}

impl Outbox {
    /// Starts taking from `events` and publishing over `link`.
    pub(super) fn start(
        cfg: &Config,
        subjects: Subjects,
        link: Link,
        events: mpsc::Receiver<Event>,
        broken: &Stop,
        metrics: Metrics,
    ) -> Self {
        let limits = Limits { news: cfg.outbox_events, proof_bytes: cfg.outbox_verdict_bytes };
        let shared = Arc::new(Shared { backlog: Mutex::new(Backlog::new(limits)), filled: Notify::new(), metrics });
        let (finish, finishing) = watch::channel(None);
        let packer = Packer { subjects, link: link.clone(), max_evidence: cfg.max_evidence_bytes };
        let intake = take_in(events, packer, Arc::clone(&shared), finishing.clone());
        let intake = super::guard("intake", broken.clone(), intake);
        let sender = Sender { link, shared, loopback: None, echoed_in: None, mute_in: None, refused: Quiet::default() };
        let sender = super::guard("sender", broken.clone(), sender.run(finishing));
        Self { finish, intake, sender }
    }

    /// Takes what was already told, publishes it within `grace`, ends. What is left then is told in the log.
    pub(super) async fn drain(self, grace: Duration) {
        self.finish.send_replace(Some(Instant::now() + grace));
        for task in [self.intake, self.sender] {
            // A panic inside was already told.
            let _ = task.await;
        }
    }
}

async fn take_in(
    mut events: mpsc::Receiver<Event>,
    packer: Packer,
    shared: Arc<Shared>,
    mut finishing: watch::Receiver<Option<Instant>>,
) {
    loop {
        let event = tokio::select! {
            biased;
            _ = finishing.wait_for(Option::is_some) => break,
            event = events.recv() => event,
        };
        match event {
            Some(event) => store(&packer, &shared, &event),
            None => return,
        }
    }
    events.close();
    while let Some(event) = events.recv().await {
        store(&packer, &shared, &event);
    }
}

fn store(packer: &Packer, shared: &Shared, event: &Event) {
    for parcel in packer.pack(event) {
        shared.change(|backlog| ((), backlog.push(parcel)));
    }
    shared.filled.notify_one();
}

/// From events to parcels.
struct Packer {
    subjects: Subjects,
    link: Link,
    max_evidence: usize,
}

impl Packer {
    fn pack(&self, event: &Event) -> Vec<Parcel> {
        match event {
            Event::Caption(moment) => {
                let id = format!("caption-{}-{}", moment.stream, moment.id);
                vec![self.json(Topic::Caption, &moment.stream, id, &convert::caption(moment))]
            }
            Event::Extended(moment) => {
                // Each length is a message of its own.
                let id = format!("caption-{}-{}-{}", moment.stream, moment.id, moment.until.nanos());
                vec![self.json(Topic::Caption, &moment.stream, id, &convert::caption(moment))]
            }
            Event::Verdict(verdict) => self.proof(verdict),
            Event::State { stream, state, detail, wall } => {
                let detail = crate::secret::scrub(detail);
                self.state(stream, wire::EventState::Stream(*state), detail, *wall)
            }
            Event::Sight { stream, blind, wall } => {
                let detail = blind.map_or("", Blindness::sentence).to_owned();
                self.state(stream, wire::EventState::of_sight(*blind), detail, *wall)
            }
        }
    }

    fn state(&self, stream: &StreamId, state: wire::EventState, detail: String, wall: WallTime) -> Vec<Parcel> {
        let body = wire::StateEvent { v: V1, stream: stream.clone(), state, detail, wall };
        // What a stream does and what it shows may change at the same instant.
        let id = format!("state-{stream}-{}-{}", wall.nanos(), state.as_str());
        vec![self.json(Topic::State, stream, id, &body)]
    }

    /// The pictures first, so that who reads the verdict can already have them.
    fn proof(&self, verdict: &Verdict) -> Vec<Parcel> {
        let max_evidence = self.max_evidence.min(self.link.max_payload().saturating_sub(HEADROOM));
        let context = Context { subjects: &self.subjects, max_evidence };
        let mut parcels: Vec<Parcel> = Vec::new();
        for (trial, evidence) in verdict.trials.iter().enumerate().filter_map(|(i, t)| Some((i, t.evidence.as_ref()?)))
        {
            if context.omitted(evidence).is_none() {
                let stream = &evidence.citation.stream;
                let origin = convert::Origin {
                    stream,
                    at: evidence.citation.at,
                    wall: evidence.wall,
                    clock: evidence.clock,
                    precision: evidence.precision,
                };
                let mut headers = convert::picture_headers(&origin, &evidence.sha256);
                headers.push((header::VERDICT, verdict.id.to_string()));
                headers.push((header::TRIAL, trial.to_string()));
                headers.push((header::MSG_ID, format!("{}-{trial}", verdict.id)));
                parcels.push(Parcel {
                    topic: Topic::Evidence,
                    subject: self.subjects.event(Topic::Evidence, stream),
                    headers,
                    payload: Bytes::from_owner(Arc::clone(&evidence.jpeg)),
                });
            }
        }
        let stream = &verdict.claim.citation.stream;
        parcels.push(self.json(Topic::Verdict, stream, verdict.id.to_string(), &context.verdict(verdict)));
        parcels
    }

    fn json(&self, topic: Topic, stream: &StreamId, id: String, body: &impl serde::Serialize) -> Parcel {
        let payload = serde_json::to_vec(body).expect("messages are plain structs with text keys");
        Parcel {
            topic,
            subject: self.subjects.event(topic, stream),
            headers: vec![(header::CONTENT_TYPE, "application/json".to_owned()), (header::MSG_ID, id)],
            payload: payload.into(),
        }
    }
}

/// The task that publishes.
struct Sender {
    link: Link,
    shared: Arc<Shared>,
    /// Messages to oneself come back here.
    loopback: Option<(String, Subscriber)>,
    /// The life of the connection in which they did.
    echoed_in: Option<u64>,
    /// The life of the connection in which they never did.
    mute_in: Option<u64>,
    refused: Quiet,
}

/// How a batch fared.
enum Fate {
    /// On the server.
    Arrived,
    /// Perhaps not on the server.
    InDoubt,
}

impl Sender {
    /// Publishes until the end was asked for and nothing is left, or the time for that is over.
    async fn run(mut self, finishing: watch::Receiver<Option<Instant>>) {
        let shared = Arc::clone(&self.shared);
        tokio::select! {
            () = self.work(finishing.clone()) => {}
            () = overdue(finishing) => {
                let left = shared.change(|backlog| (backlog.len(), Vec::new()));
                tracing::warn!(left, "events were left unpublished at the end");
            }
        }
    }

    async fn work(&mut self, mut finishing: watch::Receiver<Option<Instant>>) {
        loop {
            if self.shared.change(|backlog| (backlog.len(), Vec::new())) == 0 {
                if finishing.borrow().is_some() {
                    return;
                }
                tokio::select! {
                    () = self.shared.filled.notified() => {}
                    _ = finishing.changed() => {}
                }
                continue;
            }
            // Taken only once it can leave: until then the oldest may still have to go.
            self.link.up().await;
            let batch = self.shared.change(|backlog| (backlog.take(BATCH, BATCH_BYTES), Vec::new()));
            if let Fate::InDoubt = self.deliver(&batch).await {
                self.shared.change(|backlog| ((), backlog.put_back(batch)));
            }
        }
    }

    async fn deliver(&mut self, batch: &[Parcel]) -> Fate {
        let life = self.link.lives();
        match timeout(PATIENCE, self.publish(batch)).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return Fate::InDoubt,
        }
        while self.mute_in != Some(life) {
            let confirmed = timeout(PATIENCE, self.confirm()).await.is_ok_and(|confirmed| confirmed);
            if self.link.lives() != life || !self.link.is_up() {
                // An echo of a later life says nothing about what was written before.
                self.loopback = None;
                return Fate::InDoubt;
            }
            if confirmed {
                self.echoed_in = Some(life);
                return Fate::Arrived;
            }
            if self.echoed_in != Some(life) {
                tracing::warn!("NATS does not return messages to oneself: events are published unconfirmed");
                (self.loopback, self.mute_in) = (None, Some(life));
            }
            // Otherwise the server is slow or frozen: until the connection is given up, nothing is lost by waiting.
        }
        Fate::Arrived
    }

    /// Whether the client took all of the batch that can be published at all.
    async fn publish(&self, batch: &[Parcel]) -> bool {
        for parcel in batch {
            let mut headers = HeaderMap::new();
            for (name, value) in &parcel.headers {
                headers.insert(*name, value.as_str());
            }
            let client = self.link.client();
            let sent = client.publish_with_headers(parcel.subject.clone(), headers, parcel.payload.clone()).await;
            match sent.map_err(|error| error.kind()) {
                Ok(()) => {}
                Err(PublishErrorKind::MaxPayloadExceeded | PublishErrorKind::InvalidSubject) => {
                    if let Some(swallowed) = self.refused.speak() {
                        let (subject, bytes) = (&parcel.subject, parcel.payload.len());
                        tracing::warn!(%subject, bytes, swallowed, "an event cannot be published");
                    }
                    self.shared.metrics.dropped(parcel.topic);
                }
                Err(PublishErrorKind::Send) => return false,
            }
        }
        true
    }

    /// Whether a message to oneself came back.
    async fn confirm(&mut self) -> bool {
        let client = self.link.client().clone();
        if self.loopback.is_none() {
            let inbox = client.new_inbox();
            let Ok(echo) = client.subscribe(inbox.clone()).await else { return false };
            self.loopback = Some((inbox, echo));
        }
        let Some((inbox, echo)) = &mut self.loopback else { return false };
        let mark = fastrand::u64(..).to_be_bytes();
        if client.publish(inbox.clone(), mark.to_vec().into()).await.is_err() {
            return false;
        }
        while let Some(message) = echo.next().await {
            if message.payload.as_ref() == mark {
                return true;
            }
        }
        false
    }
}

/// Returns when the time to finish is over.
async fn overdue(mut finishing: watch::Receiver<Option<Instant>>) {
    let until = match finishing.wait_for(Option::is_some).await {
        Ok(until) => until.unwrap_or_else(Instant::now),
        Err(_) => return,
    };
    sleep_until(until).await;
}

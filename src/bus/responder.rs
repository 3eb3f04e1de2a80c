//! One reply to one request, whatever happens.
//!
//! A responder that is dropped without a reply (a panic, a forgotten branch) replies `internal`, so that no sender
//! waits for its own timeout.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{HeaderMap, Subject};
use bytes::Bytes;
use tokio::time::timeout;

use super::Metrics;
use super::convert::HEADROOM;
use super::link::Link;
use super::refusal::Refusal;
use super::subjects::Verb;
use super::wire::{ErrorCode, header};

const ERROR_NAME: &str = "Nats-Service-Error";
const ERROR_NUMBER: &str = "Nats-Service-Error-Code";
/// Longest wait for a reply to leave.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is sent back when all went well.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) payload: Bytes,
}

impl Reply {
    /// A message as JSON.
    pub(super) fn json(body: &impl serde::Serialize) -> Result<Self, Refusal> {
        let payload = serde_json::to_vec(body).map_err(|error| Refusal::new(ErrorCode::Internal, error.to_string()))?;
        Ok(Self { headers: vec![(header::CONTENT_TYPE, "application/json".to_owned())], payload: payload.into() })
    }
}

/// A subject that is listened to, and what came of it; told by the service's STATS.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) verb: Verb,
    /// Unique within the service.
    pub(super) name: &'static str,
    pub(super) subject: String,
    stats: Mutex<Stats>,
}

/// Sums since the start.
#[derive(Debug, Clone, Default)]
pub(super) struct Stats {
    pub(super) requests: u64,
    pub(super) errors: u64,
    pub(super) last_error: String,
    pub(super) processing: Duration,
}

impl Endpoint {
    pub(super) fn new(verb: Verb, name: &'static str, subject: String) -> Self {
        Self { verb, name, subject, stats: Mutex::default() }
    }

    pub(super) fn stats(&self) -> Stats {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, took: Duration, error: Option<&Refusal>) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.requests += 1;
        stats.processing += took;
        if let Some(error) = error {
            stats.errors += 1;
            stats.last_error = format!("{}:{}", error.code.number(), error.code);
        }
    }
}

/// The way back to a sender.
#[derive(Debug)]
pub(super) struct Responder(Option<Pending>);

#[derive(Debug)]
struct Pending {
    to: Subject,
    since: Instant,
    endpoint: Arc<Endpoint>,
    link: Link,
    metrics: Metrics,
}

impl Responder {
    pub(super) fn new(to: Subject, endpoint: Arc<Endpoint>, link: Link, metrics: Metrics) -> Self {
        Self(Some(Pending { to, since: Instant::now(), endpoint, link, metrics }))
    }

    /// Sends the one reply.
    pub(super) async fn send(mut self, outcome: Result<Reply, Refusal>) {
        if let Some(pending) = self.0.take() {
            pending.send(outcome).await;
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let Some(pending) = self.0.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        tracing::error!(endpoint = pending.endpoint.name, "a request was dropped without a reply");
        let defect = Refusal::new(ErrorCode::Internal, "the request was dropped: this is a defect of the daemon");
        runtime.spawn(pending.send(Err(defect)));
    }
}

impl Pending {
    async fn send(self, outcome: Result<Reply, Refusal>) {
        let outcome = outcome.and_then(|reply| self.fitting(reply));
        let refusal = outcome.as_ref().err();
        self.metrics.replied(self.endpoint.verb, refusal.map(|refusal| refusal.code));
        self.endpoint.count(self.since.elapsed(), refusal);
        let (headers, payload) = match outcome {
            Ok(reply) => (reply.headers, reply.payload),
            Err(refusal) => (error_headers(&refusal), refusal.body().into()),
        };
        let mut map = HeaderMap::new();
        for (name, value) in &headers {
            map.insert(*name, value.as_str());
        }
        let sent = timeout(PATIENCE, self.link.client().publish_with_headers(self.to, map, payload)).await;
        if !matches!(sent, Ok(Ok(()))) {
            tracing::debug!(endpoint = self.endpoint.name, "a reply could not be sent");
        }
    }

    fn fitting(&self, reply: Reply) -> Result<Reply, Refusal> {
        let (size, limit) = (reply.payload.len(), self.link.max_payload().saturating_sub(HEADROOM));
        if size <= limit {
            return Ok(reply);
        }
        let message = format!("the reply has {size} bytes, the NATS server carries {limit}: ask for less");
        Err(Refusal::new(ErrorCode::TooLarge, message))
    }
}

fn error_headers(refusal: &Refusal) -> Vec<(&'static str, String)> {
    vec![
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (ERROR_NAME, refusal.code.name().to_owned()),
        (ERROR_NUMBER, refusal.code.number().to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;
    use crate::bus::nats::NatsServer;
    use crate::bus::wire::ErrorReply;
    use crate::bus::{Config, link};
    use crate::secret::Secret;

    /// A panic while a request is at work is a defect, and still a reply.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_dropped_request_is_replied_to() {
        let server = NatsServer::start();
        let cfg = Config { url: Secret::new(server.url()), ..Config::default() };
        let metrics = Metrics::register(&prometheus::Registry::new()).expect("registers");
        let link = Link::keep(&cfg, metrics.clone()).await.expect("starts");
        link.up().await;
        let asker = link::connect_once(&cfg).await.expect("connects");
        let mut replies = asker.subscribe("inbox").await.expect("subscribes");
        assert!(link::round_trip(&asker).await);

        let endpoint = Arc::new(Endpoint::new(Verb::Ask, "ask", "gvqa.ask".to_owned()));
        let responder = Responder::new("inbox".into(), Arc::clone(&endpoint), link.clone(), metrics);
        let work = tokio::spawn(async move {
            let _responder = responder;
            panic!("a defect");
        });
        assert!(work.await.is_err(), "the work panicked");
        let reply = timeout(Duration::from_secs(20), replies.next()).await.expect("in time").expect("connected");
        let body: ErrorReply = serde_json::from_slice(&reply.payload).expect("an error reply");
        assert_eq!((body.error.name, body.error.code), (ErrorCode::Internal, 500));
        assert_eq!((endpoint.stats().requests, endpoint.stats().errors), (1, 1));
    }
}

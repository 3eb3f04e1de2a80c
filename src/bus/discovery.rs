//! The micro-service protocol (ADR-32): PING, INFO and STATS, so that `nats micro` finds the daemon.
//!
//! # Decisions
//! Answered by own hand although the client library has a service type: its loop ends for good at the first reply that
//! cannot be sent, so one PING with a malformed reply subject would hide the daemon until its restart; and it counts
//! no errors for replies that have a body, which ours do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Message, Subscriber};
use futures::StreamExt;
use futures::stream::select_all;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::domain::WallTime;
use crate::stop::Stop;

use super::BusError;
use super::link::Link;
use super::responder::Endpoint;
use super::subjects::Verb;

/// The name that `nats micro list` shows.
pub(super) const SERVICE: &str = "groundedvqa";
/// Requests are shared among the daemons of one group.
pub(super) const QUEUE: &str = "q";
const PATIENCE: Duration = Duration::from_secs(5);

/// What is told about the service.
pub(super) struct Discovery {
    id: String,
    started: WallTime,
    metadata: BTreeMap<&'static str, String>,
    endpoints: Vec<Arc<Endpoint>>,
}

impl Discovery {
    pub(super) fn new(endpoints: Vec<Arc<Endpoint>>, metadata: BTreeMap<&'static str, String>) -> Self {
        Self { id: uuid::Uuid::now_v7().simple().to_string(), started: WallTime::now(), metadata, endpoints }
    }

    /// Subscribes to everything that asks for services; requests are answered until the end is asked for.
    pub(super) async fn listen(self, link: Link, stop: Stop) -> Result<impl Future<Output = ()>, BusError> {
        let mut questions = Vec::new();
        for verb in ["PING", "INFO", "STATS"] {
            for tail in [String::new(), format!(".{SERVICE}"), format!(".{SERVICE}.{}", self.id)] {
                questions.push(super::subscribe(link.client(), format!("$SRV.{verb}{tail}"), None).await?);
            }
        }
        Ok(self.answer(questions, link, stop))
    }

    async fn answer(self, questions: Vec<Subscriber>, link: Link, stop: Stop) {
        let mut questions = select_all(questions);
        let asked = stop.asked();
        tokio::pin!(asked);
        loop {
            let question = tokio::select! {
                biased;
                () = &mut asked => return,
                question = questions.next() => question,
            };
            match question {
                Some(question) => self.reply(&question, &link).await,
                None => return,
            }
        }
    }

    async fn reply(&self, question: &Message, link: &Link) {
        let Some(to) = question.reply.clone() else { return };
        let verb = question.subject.split('.').nth(1).unwrap_or_default();
        let body = match verb {
            "PING" => self.about("ping_response", [("metadata", json!(self.metadata))]),
            "INFO" => self.info(),
            _ => self.stats(),
        };
        let sent = timeout(PATIENCE, link.client().publish(to, body.to_string().into())).await;
        if !matches!(sent, Ok(Ok(()))) {
            tracing::debug!(verb, "a service reply could not be sent");
        }
    }

    fn about<const N: usize>(&self, kind: &str, more: [(&str, Value); N]) -> Value {
        let mut about = json!({
            "type": format!("io.nats.micro.v1.{kind}"),
            "name": SERVICE,
            "id": self.id,
            "version": env!("CARGO_PKG_VERSION"),
        });
        for (key, value) in more {
            about[key] = value;
        }
        about
    }

    fn info(&self) -> Value {
        let endpoints: Vec<Value> = self
            .endpoints
            .iter()
            .map(|endpoint| {
                // A frame is replied with as a picture.
                let reply = if endpoint.verb == Verb::Frame {
                    "image/jpeg".to_owned()
                } else {
                    format!("{}.reply.json", endpoint.verb.as_str())
                };
                let schemas = json!({
                    "request": format!("{}.request.json", endpoint.verb.as_str()),
                    "reply": reply,
                });
                json!({
                    "name": endpoint.name,
                    "subject": endpoint.subject,
                    "queue_group": QUEUE,
                    "metadata": schemas,
                })
            })
            .collect();
        let description = "answers questions about video and proves every claim against a freshly extracted frame";
        self.about(
            "info_response",
            [("description", json!(description)), ("metadata", json!(self.metadata)), ("endpoints", json!(endpoints))],
        )
    }

    fn stats(&self) -> Value {
        let endpoints: Vec<Value> = self
            .endpoints
            .iter()
            .map(|endpoint| {
                let stats = endpoint.stats();
                let total = u64::try_from(stats.processing.as_nanos()).unwrap_or(u64::MAX);
                json!({
                    "name": endpoint.name,
                    "subject": endpoint.subject,
                    "queue_group": QUEUE,
                    "num_requests": stats.requests,
                    "num_errors": stats.errors,
                    "last_error": stats.last_error,
                    "processing_time": total,
                    "average_processing_time": total.checked_div(stats.requests).unwrap_or(0),
                })
            })
            .collect();
        let started = json!(self.started);
        self.about(
            "stats_response",
            [("metadata", json!(self.metadata)), ("started", started), ("endpoints", json!(endpoints))],
        )
    }
}

//! async_nats lives here and only here: subjects, wire types, service, publish.
//!
//! Requests come in through [`service`], are decoded and admitted at once or refused at once, and are answered by the
//! answering flow. Events leave through [`outbox`], which takes them from the daemon without delay and keeps a bounded
//! backlog while the server is away. The CLI is a [`Client`] of the same subjects.
//!
//! The bus owns no state of the product: it may be away for any time without anybody else noticing.

mod address;
mod backlog;
mod client;
mod config;
mod convert;
mod decode;
mod desk;
mod discovery;
mod link;
mod metrics;
#[cfg(test)]
#[path = "../../tests/common/nats.rs"]
mod nats;
mod orders;
mod outbox;
mod quiet;
mod refusal;
mod responder;
mod service;
mod subjects;
pub mod wire;

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::answer::Answerer;
use crate::domain::{Answer, Event, Verdict};
use crate::narrate::Board;
use crate::stop::Stop;

pub use client::{Client, ClientError, Events, Picture};
pub use config::Config;
pub use metrics::Metrics;
pub use orders::{Order, OrderError, StreamOrder};
pub use subjects::{Subjects, Topic, Verb};

use desk::Desk;
use link::Link;
use outbox::Outbox;
use service::Service;

/// Why the bus cannot start or be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// The prefix is not made of subject tokens.
    #[error("bus.prefix {0:?} is not made of tokens A-Z a-z 0-9 _ - joined by dots, or starts with _")]
    Prefix(String),
    /// A key of the configuration cannot be used.
    #[error("bus.{key} {reason}")]
    Key {
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// No server was reached, or it refused.
    #[error("cannot connect to NATS: {0}")]
    Connect(String),
    /// The client has ended.
    #[error("cannot subscribe to {subject}: {reason}")]
    Subscribe {
        /// The subject.
        subject: String,
        /// What the client said.
        reason: String,
    },
}

/// An answer as it would be sent by a daemon with the default prefix, for use without a bus.
pub fn answer_message(answer: &Answer) -> wire::AnswerReply {
    let subjects = Subjects::new(&Config::default().prefix).expect("the default prefix is made of tokens");
    convert::Context { subjects: &subjects, max_evidence: usize::MAX }.answer(answer)
}

/// A verdict as it would be published by a daemon with the default prefix, for use without a bus.
pub fn verdict_message(verdict: &Verdict) -> wire::Verdict {
    let subjects = Subjects::new(&Config::default().prefix).expect("the default prefix is made of tokens");
    convert::Context { subjects: &subjects, max_evidence: usize::MAX }.verdict(verdict)
}

/// The running bus.
#[derive(Debug)]
pub struct Bus {
    link: Link,
    service: Service,
    outbox: Outbox,
    stop: Stop,
    /// Asked when a task has panicked.
    broken: Stop,
    grace: Duration,
}

/// What the bus carries between the world and the daemon.
#[derive(Clone)]
pub struct Desks {
    /// Questions to answers.
    pub answerer: Answerer,
    /// How every stream fares.
    pub board: Board,
    /// Where orders about streams go. They are refused as `stopping` if nobody takes them any more.
    pub orders: mpsc::Sender<StreamOrder>,
}

/// Starts listening and publishing. The server need not be there yet: the connection is made when it is.
pub async fn start(
    cfg: &Config,
    desks: Desks,
    events: mpsc::Receiver<Event>,
    stop: Stop,
    metrics: Metrics,
) -> Result<Bus, BusError> {
    cfg.check()?;
    let subjects = Subjects::new(&cfg.prefix)?;
    let link = Link::keep(cfg, metrics.clone()).await?;
    let broken = Stop::new();
    let Desks { answerer, board, orders } = desks;
    let (subjects_of_desk, max_evidence) = (subjects.clone(), cfg.max_evidence_bytes);
    let desk = Desk { answerer, board, orders, subjects: subjects_of_desk, link: link.clone(), max_evidence };
    let service = Service::start(cfg, desk, link.clone(), stop.clone(), &broken, metrics.clone()).await?;
    let outbox = Outbox::start(cfg, subjects, link.clone(), events, &broken, metrics);
    Ok(Bus { link, service, outbox, stop, broken, grace: cfg.grace.0 })
}

impl Bus {
    /// Whether a server is connected.
    pub fn is_connected(&self) -> bool {
        self.link.is_up()
    }

    /// Returns when a server is connected.
    pub async fn connected(&self) {
        self.link.up().await;
    }

    /// Returns when a task of the bus has ended that never should: a reason to end the process.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        let broken = self.broken.clone();
        async move { broken.asked().await }
    }

    /// Stops taking requests, lets those at work finish, publishes what was told, closes: each within the configured
    /// grace. Asks for the end itself if nobody has.
    pub async fn drain(mut self) {
        self.stop.ask();
        self.service.finish(self.grace).await;
        self.outbox.drain(self.grace).await;
        self.service.close().await;
        self.link.close(self.grace).await;
    }
}

/// Runs a task that must not panic: if it does, the bus is broken, with a reason in the log.
fn guard(name: &'static str, broken: Stop, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        if tokio::spawn(task).await.is_err() {
            tracing::error!(task = name, "a task of the bus panicked");
            broken.ask();
        }
    })
}

/// A subscription, shared within `queue` if one is named.
async fn subscribe(
    client: &async_nats::Client,
    subject: String,
    queue: Option<String>,
) -> Result<async_nats::Subscriber, BusError> {
    let subscribed = match queue {
        Some(queue) => client.queue_subscribe(subject.clone(), queue).await,
        None => client.subscribe(subject.clone()).await,
    };
    subscribed.map_err(|error| BusError::Subscribe { subject, reason: error.to_string() })
}

//! From an admitted request to the message that answers it: the one place where the bus meets the answering flow.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::answer::{self, Answerer};
use crate::domain::{Citation, Claim, Question, QuestionId, StreamId};
use crate::narrate::{Board, StreamStatus};

use super::convert::{self, Context, HEADROOM};
use super::link::Link;
use super::orders::{self, Order, StreamOrder};
use super::refusal::Refusal;
use super::responder::Reply;
use super::subjects::Subjects;
use super::wire::{self, ErrorCode, V1};

/// A request that may be worked on.
#[derive(Debug)]
pub(super) enum Request {
    /// The stream of the subject, if it has one.
    Ask(Option<StreamId>, wire::AskRequest),
    Verify(StreamId, wire::VerifyRequest),
    Search(StreamId, wire::SearchRequest),
    Frame(StreamId, wire::FrameRequest),
    Streams,
    Order(Box<Order>),
}

impl Request {
    pub(super) fn order(order: Order) -> Self {
        Self::Order(Box::new(order))
    }
}

/// Who answers.
pub(super) struct Desk {
    pub(super) answerer: Answerer,
    pub(super) board: Board,
    pub(super) orders: mpsc::Sender<StreamOrder>,
    pub(super) subjects: Subjects,
    pub(super) link: Link,
    pub(super) max_evidence: usize,
}

impl Desk {
    /// Works on a request for somebody who waits for `limit`.
    pub(super) async fn work(&self, request: Request, limit: Duration) -> Result<Reply, Refusal> {
        match request {
            Request::Ask(stream, request) => self.ask(stream, request, limit).await,
            Request::Verify(stream, request) => self.verify(stream, request).await,
            Request::Search(stream, request) => self.search(stream, request).await,
            Request::Frame(stream, request) => self.frame(stream, request).await,
            Request::Streams => self.streams(),
            Request::Order(order) => Reply::json(&orders::give(&self.orders, *order).await?),
        }
    }

    async fn ask(
        &self,
        stream: Option<StreamId>,
        request: wire::AskRequest,
        limit: Duration,
    ) -> Result<Reply, Refusal> {
        let stream = match (stream, request.stream) {
            (Some(subject), Some(body)) if subject != body => {
                let message = format!("stream: {body} differs from {subject} in the subject");
                return Err(Refusal::new(ErrorCode::BadRequest, message));
            }
            (subject, body) => subject.or(body),
        };
        let defaults = self.answerer.config();
        let question = Question {
            id: QuestionId::generate(),
            text: request.question,
            stream,
            design: request.design.unwrap_or(defaults.design),
            k: request.k.map_or(defaults.k, |k| k as usize),
        };
        let answer = self.answerer.answer_within(question, limit).await?;
        Reply::json(&self.context().answer(&answer))
    }

    async fn verify(&self, stream: StreamId, request: wire::VerifyRequest) -> Result<Reply, Refusal> {
        let design = request.design.unwrap_or(self.answerer.config().design);
        let claims = request.claims.into_iter().map(|claim| Claim {
            text: claim.claim,
            citation: Citation { stream: stream.clone(), at: claim.timestamp },
        });
        let verdicts = self.answerer.verify(claims.collect(), design).await?;
        let context = self.context();
        let claims = verdicts.iter().map(|verdict| context.verdict(verdict)).collect();
        Reply::json(&wire::VerifyReply { v: V1, stream, claims })
    }

    async fn search(&self, stream: StreamId, request: wire::SearchRequest) -> Result<Reply, Refusal> {
        let window = request.window().map_err(|error| Refusal::new(ErrorCode::BadRequest, format!("to: {error}")))?;
        let wanted = answer::SearchRequest {
            text: request.query.clone(),
            stream: Some(stream.clone()),
            window,
            k: request.k.map_or(self.answerer.config().k, |k| k as usize),
        };
        let hits = self.answerer.search(wanted).await?;
        let moments = hits.iter().map(convert::hit).collect();
        let window = convert::window(window);
        Reply::json(&wire::SearchReply { v: V1, stream, query: request.query, window, moments })
    }

    async fn frame(&self, stream: StreamId, request: wire::FrameRequest) -> Result<Reply, Refusal> {
        let found = self.answerer.frame(Citation { stream, at: request.timestamp }).await?;
        let frame = &found.frame;
        let (stream, at, wall) = (&frame.stream, frame.at, frame.wall);
        let origin = convert::Origin { stream, at, wall, clock: frame.clock, precision: frame.precision };
        let headers = convert::picture_headers(&origin, &found.sha256);
        Ok(Reply { headers, payload: bytes::Bytes::from_owner(found.jpeg) })
    }

    fn streams(&self) -> Result<Reply, Refusal> {
        let streams = self.board.snapshot().into_iter().map(info).collect();
        Reply::json(&wire::StreamsReply { v: V1, streams })
    }

    fn context(&self) -> Context<'_> {
        let max_evidence = self.max_evidence.min(self.link.max_payload().saturating_sub(HEADROOM));
        Context { subjects: &self.subjects, max_evidence }
    }
}

fn info(status: StreamStatus) -> wire::StreamInfo {
    wire::StreamInfo {
        stream: status.stream,
        kind: status.kind,
        state: status.state,
        detail: crate::secret::scrub(&status.detail),
        since: status.since,
        last_timestamp: status.last_frame_at,
        last_wall: status.last_wall,
        blind: status.blind,
        unobservable_s: status.unobservable.as_secs_f64(),
        moments: status.moments,
        dropped: status.dropped.iter().map(|(reason, count)| (reason.as_str().to_owned(), *count)).collect(),
        lag_s: status.lag_s,
    }
}

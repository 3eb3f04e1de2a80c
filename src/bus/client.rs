//! The other end of the subjects: what the command line, the demonstration and tests speak.

use std::time::Duration;

use async_nats::{Message, RequestErrorKind, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::domain::{Sha256, StreamId, StreamTime};

use super::subjects::{Subjects, Topic, Verb};
use super::wire::{self, header};
use super::{BusError, Config, link};

/// Longer than any deadline the daemon may be asked for: it replies first.
const BEYOND_DEADLINE: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Configuration, or no server.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// The server knows nobody who answers this subject.
    #[error("nobody answers {0}: is the daemon running, on this server and with this prefix?")]
    Nobody(String),
    /// No reply came in time.
    #[error("no reply on {subject} within {} s", after.as_secs_f32())]
    Silence {
        /// The subject.
        subject: String,
        /// How long was waited.
        after: Duration,
    },
    /// The request does not fit into a message of this server.
    #[error("the request is larger than the server carries")]
    TooLarge,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The daemon refused the request.
    #[error("refused: {0}")]
    Refused(wire::ErrorBody),
    /// The reply is not what this version understands.
    #[error("the reply on {subject} cannot be read: {reason}")]
    Reply {
        /// The subject.
        subject: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl ClientError {
    /// Whether the server or the daemon is not there, as opposed to saying no.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Bus(BusError::Connect(_)) | Self::Nobody(_) | Self::Silence { .. } | Self::Broken(_))
    }
}

/// A picture with its identity.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The stream.
    pub stream: StreamId,
    /// Seconds into the stream, of the picture itself.
    pub at: StreamTime,
    /// Digest, checked against the bytes.
    pub sha256: Sha256,
    /// The verdict it belongs to; absent in the reply to `frame`.
    pub verdict: Option<String>,
    /// The JPEG.
    pub jpeg: Bytes,
}

/// A connection to a daemon. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    nats: async_nats::Client,
    subjects: Subjects,
    patience: Duration,
}

impl Client {
    /// Connects; waits for a reply as long as `cfg.deadline` says unless a request says otherwise.
    pub async fn connect(cfg: &Config) -> Result<Self, ClientError> {
        cfg.check()?;
        let subjects = Subjects::new(&cfg.prefix)?;
        let nats = link::connect_once(cfg).await?;
        Ok(Self { nats, subjects, patience: cfg.deadline.0 })
    }

    /// Asks a question, about the stream that the request names or about all.
    pub async fn ask(&self, request: &wire::AskRequest) -> Result<wire::AnswerReply, ClientError> {
        let subject = self.subjects.request(Verb::Ask, request.stream.as_ref());
        self.json(subject, request, request.deadline_s).await
    }

    /// Has claims about `stream` checked.
    pub async fn verify(
        &self,
        stream: &StreamId,
        request: &wire::VerifyRequest,
    ) -> Result<wire::VerifyReply, ClientError> {
        self.json(self.subjects.request(Verb::Verify, Some(stream)), request, request.deadline_s).await
    }

    /// Looks for moments of `stream`.
    pub async fn search(
        &self,
        stream: &StreamId,
        request: &wire::SearchRequest,
    ) -> Result<wire::SearchReply, ClientError> {
        self.json(self.subjects.request(Verb::Search, Some(stream)), request, request.deadline_s).await
    }

    /// Lists what is watched.
    pub async fn streams(&self) -> Result<wire::StreamsReply, ClientError> {
        self.json(self.subjects.request(Verb::Streams, None), &wire::StreamsRequest::default(), None).await
    }

    /// Has a stream watched too. The site must allow it.
    pub async fn add_stream(&self, request: &wire::StreamRequest) -> Result<wire::StreamReply, ClientError> {
        self.json(self.subjects.request(Verb::AddStream, None), request, None).await
    }

    /// Has an added stream watched with other settings.
    pub async fn change_stream(&self, request: &wire::StreamRequest) -> Result<wire::StreamReply, ClientError> {
        self.json(self.subjects.request(Verb::ChangeStream, None), request, None).await
    }

    /// Has an added stream watched no longer. What was seen of it stays in the memory.
    pub async fn remove_stream(&self, stream: &StreamId) -> Result<wire::StreamReply, ClientError> {
        let request = wire::RemoveRequest { v: wire::V1, stream: stream.clone() };
        self.json(self.subjects.request(Verb::RemoveStream, None), &request, None).await
    }

    /// Fetches the picture of `stream` at a time, extracted afresh.
    pub async fn frame(&self, stream: &StreamId, request: &wire::FrameRequest) -> Result<Picture, ClientError> {
        let subject = self.subjects.request(Verb::Frame, Some(stream));
        let message = self.call(&subject, to_json(request), request.deadline_s).await?;
        picture(&message)
    }

    /// Listens to captions of one stream or of all.
    pub async fn captions(&self, stream: Option<&StreamId>) -> Result<Events<wire::CaptionEvent>, ClientError> {
        self.listen(Topic::Caption, stream, from_json).await
    }

    /// Listens to verdicts of one stream or of all.
    pub async fn verdicts(&self, stream: Option<&StreamId>) -> Result<Events<wire::Verdict>, ClientError> {
        self.listen(Topic::Verdict, stream, from_json).await
    }

    /// Listens to state changes of one stream or of all.
    pub async fn states(&self, stream: Option<&StreamId>) -> Result<Events<wire::StateEvent>, ClientError> {
        self.listen(Topic::State, stream, from_json).await
    }

    /// Listens to evidence of one stream or of all. Listen before asking: what was published is not repeated.
    pub async fn evidence(&self, stream: Option<&StreamId>) -> Result<Events<Picture>, ClientError> {
        self.listen(Topic::Evidence, stream, picture).await
    }

    async fn listen<T>(
        &self,
        topic: Topic,
        stream: Option<&StreamId>,
        read: fn(&Message) -> Result<T, ClientError>,
    ) -> Result<Events<T>, ClientError> {
        let messages = super::subscribe(&self.nats, self.subjects.listen(topic, stream), None).await?;
        // The subscription must stand on the server before anybody is asked. An account that may not publish to an
        // inbox cannot know, and goes on.
        let _ = timeout(link::SETTLED, link::round_trip(&self.nats)).await;
        Ok(Events { messages, read })
    }

    async fn json<T: DeserializeOwned>(
        &self,
        subject: String,
        request: &impl serde::Serialize,
        deadline_s: Option<f64>,
    ) -> Result<T, ClientError> {
        from_json(&self.call(&subject, to_json(request), deadline_s).await?)
    }

    /// One request and its reply; a refusal is an error.
    async fn call(&self, subject: &str, body: Vec<u8>, deadline_s: Option<f64>) -> Result<Message, ClientError> {
        let deadline =
            deadline_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(self.patience);
        let after = deadline + BEYOND_DEADLINE;
        let request = async_nats::Request::new().payload(body.into()).timeout(None);
        // Its own timeout would not cover the way to the server.
        let reply = timeout(after, self.nats.send_request(subject.to_owned(), request))
            .await
            .map_err(|_| ClientError::Silence { subject: subject.to_owned(), after })?;
        let message = reply.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => ClientError::Nobody(subject.to_owned()),
            RequestErrorKind::MaxPayloadExceeded => ClientError::TooLarge,
            RequestErrorKind::TimedOut => ClientError::Silence { subject: subject.to_owned(), after },
            RequestErrorKind::InvalidSubject | RequestErrorKind::Other => ClientError::Broken(error.to_string()),
        })?;
        if message.headers.as_ref().is_some_and(|headers| headers.get("Nats-Service-Error-Code").is_some()) {
            let refusal: wire::ErrorReply = from_json(&message)?;
            return Err(ClientError::Refused(refusal.error));
        }
        Ok(message)
    }
}

/// Events as they arrive.
#[derive(Debug)]
pub struct Events<T> {
    messages: Subscriber,
    read: fn(&Message) -> Result<T, ClientError>,
}

impl<T> Events<T> {
    /// The next event; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<Result<T, ClientError>> {
        let message = self.messages.next().await?;
        Some((self.read)(&message))
    }
}

fn to_json(request: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(request).expect("requests are plain structs with text keys")
}

fn from_json<T: DeserializeOwned>(message: &Message) -> Result<T, ClientError> {
    let mut json = serde_json::Deserializer::from_slice(&message.payload);
    serde_path_to_error::deserialize(&mut json).map_err(|error| unreadable(message, &error.to_string()))
}

fn picture(message: &Message) -> Result<Picture, ClientError> {
    let get = |name: &'static str| {
        let value = message.headers.as_ref().and_then(|headers| headers.get(name));
        value.map(|value| value.as_str().to_owned())
    };
    let need = |name: &'static str| get(name).ok_or_else(|| unreadable(message, &format!("header {name} is missing")));
    let stream = StreamId::new(need(header::STREAM)?).map_err(|error| unreadable(message, &error.to_string()))?;
    let at = need(header::TIMESTAMP)?.parse().ok().and_then(|seconds| StreamTime::from_seconds(seconds).ok());
    let at = at.ok_or_else(|| unreadable(message, "its timestamp is not a time"))?;
    let sha256 = Sha256::of(&message.payload);
    if need(header::SHA256)? != sha256.as_str() {
        return Err(unreadable(message, "its bytes do not have the digest it says"));
    }
    Ok(Picture { stream, at, sha256, verdict: get(header::VERDICT), jpeg: message.payload.clone() })
}

fn unreadable(message: &Message, reason: &str) -> ClientError {
    ClientError::Reply { subject: message.subject.to_string(), reason: reason.to_owned() }
}

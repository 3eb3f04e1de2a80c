//! What travels on the bus: versioned JSON, one struct a message, JSON Schemas generated from the same structs.
//!
//! Requests refuse unknown fields, so that a typing error is told instead of ignored. Replies and events may grow new
//! fields within a version; readers skip what they do not know. Times are seconds into the stream (numbers) and UTC
//! RFC 3339 (texts). Nothing here knows NATS.

mod error;
mod event;
mod object;
mod reply;
mod request;
mod round;
mod schema;
mod stream;

pub use error::{ErrorBody, ErrorCode, ErrorReply};
pub use event::{CaptionEvent, EventState, Seeing, StateEvent};
pub(super) use object::Object;
pub use reply::{
    Anchor, AnswerReply, Assessment, Coverage, Evidence, Models, Moment, MomentHit, SearchReply, StreamInfo,
    StreamReply, StreamWindow, StreamsReply, Stretch, Survey, TimeAsked, Trial, Verdict, VerifyReply, Window,
};
pub(super) use request::Checked;
pub use request::{
    AskRequest, ClaimRequest, FrameRequest, MAX_CLAIMS, MAX_K, MAX_TEXT, RemoveRequest, SearchRequest, StreamsRequest,
    VerifyRequest,
};
pub use round::{Place, RepairedFrom, Round};
pub use schema::{V1, schemas};
pub use stream::{SightRequest, StreamRequest};

/// Headers of a picture on the bus: the reply to `frame`, and the event `evidence`.
pub mod header {
    /// The verdict that an evidence picture belongs to.
    pub const VERDICT: &str = "Gvqa-Verdict";
    /// Index of the trial within the verdict.
    pub const TRIAL: &str = "Gvqa-Trial";
    /// The stream.
    pub const STREAM: &str = "Gvqa-Stream";
    /// Seconds into the stream, of the picture itself.
    pub const TIMESTAMP: &str = "Gvqa-Timestamp";
    /// Time of day of the picture, RFC 3339.
    pub const WALL: &str = "Gvqa-Wall";
    /// Whose time of day that is: `media`, `sender_report` or `arrival`.
    pub const CLOCK: &str = "Gvqa-Clock";
    /// How many seconds the times may be off, to either side.
    pub const PRECISION: &str = "Gvqa-Precision";
    /// SHA-256 of the payload, in hexadecimal.
    pub const SHA256: &str = "Gvqa-Sha256";
    /// Always `image/jpeg` for pictures and `application/json` for the rest.
    pub const CONTENT_TYPE: &str = "Content-Type";
    /// The same for every copy of one message, so that JetStream drops repetitions.
    pub const MSG_ID: &str = "Nats-Msg-Id";
}

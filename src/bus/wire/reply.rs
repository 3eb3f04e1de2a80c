//! What comes back. Fields named `claim`, `timestamp` and `verdict` are those of the paper.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::V1;
use super::round::{RepairedFrom, Round};
use super::schema::{Digest, Rfc3339, Seconds, Token, Uuid};
use crate::domain::{
    Blindness, Bounds, Clock, Conclusion, Design, Doubt, Entailment, Fingerprint, Label, Order, QuestionId, Reason,
    Role, Sha256, Side, StreamId, StreamKind, StreamState, StreamTime, VerdictId, WallTime, Wants,
};

/// The reply to `ask`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "ask reply")]
pub struct AnswerReply {
    /// Version of this message.
    pub v: V1,
    /// Identity of the question, repeated in every verdict.
    #[schemars(with = "Uuid")]
    pub question_id: QuestionId,
    /// The question as asked.
    pub question: String,
    /// One paragraph: the grounded claims, or that nothing could be grounded.
    pub text: String,
    /// How claims were checked.
    pub design: Design,
    /// The streams that were searched.
    #[schemars(with = "Vec<Token>")]
    pub streams: Vec<StreamId>,
    /// The stretch of stream time that was searched; over several streams, from the earliest begin to the latest end.
    pub window: Window,
    /// What was understood of the time asked about.
    pub time: TimeAsked,
    /// What all moments of the window say about the thing asked for; absent unless the question is about presence,
    /// absence, number of times, or duration.
    pub survey: Option<Survey>,
    /// What was retrieved, best first.
    pub moments: Vec<MomentHit>,
    /// One verdict a claim.
    pub claims: Vec<Verdict>,
    /// What each claim does for the answer, in the order of the claims.
    pub assessments: Vec<Assessment>,
    /// What was done when the first claims did not suffice, in order; empty if they did.
    pub rounds: Vec<Round>,
}

/// What one claim does for the answer, which is another question than whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Its verdict.
    #[schemars(with = "Uuid")]
    pub verdict_id: VerdictId,
    /// What it does.
    pub role: Role,
    /// Cosine similarity between question and claim.
    pub relevance: f32,
}

/// A stretch of stream time, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// First second.
    #[schemars(with = "Seconds")]
    pub from: StreamTime,
    /// Last second; absent if there is no end.
    #[schemars(with = "Option<Seconds>")]
    pub to: Option<StreamTime>,
}

/// What was understood of the time a question is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeAsked {
    /// The words that speak of time; empty if there are none.
    pub phrase: String,
    /// The order in which moments were taken.
    pub order: Order,
    /// What was searched, one entry a stream that holds moments.
    pub windows: Vec<StreamWindow>,
    /// The event that was looked for first; absent if the question names none.
    pub anchor: Option<Anchor>,
}

/// The part of one stream that was searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamWindow {
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// The stretch of stream time; absent if the time asked about lies wholly outside what was watched.
    pub window: Option<Window>,
    /// Time of day at its beginning.
    #[schemars(with = "Option<Rfc3339>")]
    pub from_wall: Option<WallTime>,
    /// Time of day at its end; absent if there is no end.
    #[schemars(with = "Option<Rfc3339>")]
    pub to_wall: Option<WallTime>,
    /// The zone of the stream's clock, in which the question was read.
    pub zone: String,
}

/// An event that a question leans on: "after the man sits down".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    /// What was looked for.
    pub event: String,
    /// Where to look from there.
    pub side: Side,
    /// The moment that is most likely it; absent if nothing resembles it, and then it restricts nothing.
    pub found: Option<MomentHit>,
}

/// What all moments of a window say about one thing. It is no verdict: a verdict is about one frame, and no frame shows
/// an absence. `not_seen` means that no caption speaks of it although enough of the window was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Survey {
    /// The thing: "a dog".
    pub subject: String,
    /// What the question wants to know about it.
    pub wants: Wants,
    /// What may be concluded.
    pub conclusion: Conclusion,
    /// Why nothing may be concluded; absent if something is.
    pub doubt: Option<Doubt>,
    /// How much of the window was seen.
    pub coverage: Coverage,
    /// Samples whose caption speaks of it.
    pub shown: u64,
    /// Samples whose caption leaves it open.
    pub unclear: u64,
    /// Where it was shown, by time; at most the first 32.
    pub stretches: Vec<Stretch>,
    /// How many separate times.
    pub times: Bounds,
    /// For how many seconds.
    pub seconds: Bounds,
}

/// How much of a window was seen, counted in samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Samples that the window should hold.
    pub due: u64,
    /// Samples of which a caption says something.
    pub seen: u64,
    /// Samples whose picture showed nothing, or nothing that could be named.
    pub unobservable: u64,
    /// Samples that are missing.
    pub missing: u64,
    /// `seen` of `due`, 0 to 1.
    pub share: f64,
    /// The share below which no absence is concluded.
    pub floor: f64,
    /// Where samples are missing or showed nothing, by time; at most the first 32.
    pub gaps: Vec<Stretch>,
}

/// A stretch of one stream, both ends included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// First second.
    #[schemars(with = "Seconds")]
    pub from: StreamTime,
    /// Last second.
    #[schemars(with = "Seconds")]
    pub to: StreamTime,
}

/// A moment of the memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// Place in the memory, growing over all streams.
    pub moment_id: u64,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// Seconds into the stream.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
    /// Last second for which the caption is known to hold.
    #[schemars(with = "Seconds")]
    pub until: StreamTime,
    /// Time of day of the frame.
    #[schemars(with = "Rfc3339")]
    pub wall: WallTime,
    /// Whose time of day that is; absent for a moment that an earlier version stored.
    pub clock: Option<Clock>,
    /// How many seconds the times may be off, to either side; absent likewise.
    pub precision_s: Option<f64>,
    /// What the captioner said.
    pub caption: String,
}

/// A moment that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MomentHit {
    /// What was found.
    #[serde(flatten)]
    pub moment: Moment,
    /// Cosine similarity to the question.
    pub score: f32,
}

/// A claim with what its check found: within replies, and on its own as the event `verdict.<stream>`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "verdict event")]
pub struct Verdict {
    /// Version of this message.
    pub v: V1,
    /// Identity of the verdict, repeated in the headers of its evidence.
    #[schemars(with = "Uuid")]
    pub verdict_id: VerdictId,
    /// The question the claim belongs to; absent for somebody else's claims.
    #[schemars(with = "Option<Uuid>")]
    pub question_id: Option<QuestionId>,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// What was claimed.
    pub claim: String,
    /// The claim that it stands for, if that one could not be verified; absent of all others.
    pub repaired_from: Option<RepairedFrom>,
    /// Seconds into the stream of the frame the claim cites.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
    /// Whose the time of day is of what was seen there; absent if nothing is known of that time.
    pub clock: Option<Clock>,
    /// How many seconds the cited time may be off, to either side; absent likewise.
    pub precision_s: Option<f64>,
    /// Whether it may be believed.
    pub verdict: Label,
    /// Why.
    pub reason: Reason,
    /// How it was checked.
    pub design: Design,
    /// What the judge said of the frame that decided; absent if it did not come to judging.
    pub probabilities: Option<Entailment>,
    /// Probability of entailment from which a claim counts as entailed.
    pub threshold: f32,
    /// Who drafted, captioned and judged.
    pub models: Models,
    /// The frame that decided; absent if there was none.
    pub evidence: Option<Evidence>,
    /// Every frame that was looked at: the cited one, then its neighbours.
    pub trials: Vec<Trial>,
}

/// The models behind a verdict, each a name with its weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Models {
    /// Who drafted; absent for somebody else's claims, and for those that follow from a survey.
    pub drafter: Option<Fingerprint>,
    /// Who captioned the evidence; in the design `vlm-direct`, who was asked about it.
    pub captioner: Fingerprint,
    /// Who judged; in the design `vlm-direct`, who was asked about the evidence.
    pub judge: Fingerprint,
}

/// One frame that was tried for a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// What this frame alone would have decided.
    pub reason: Reason,
    /// More about it; empty if the reason says all.
    pub detail: String,
    /// What the judge said.
    pub probabilities: Option<Entailment>,
    /// The frame, if there was one.
    pub evidence: Option<Evidence>,
}

/// A frame extracted afresh for a claim. Its JPEG is published on `subject`; `sha256` says which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Where the JPEG is published.
    pub subject: String,
    /// Digest of the JPEG.
    #[schemars(with = "Digest")]
    pub sha256: Sha256,
    /// Size of the JPEG.
    pub bytes: u64,
    /// Why the JPEG is not published; absent if it is.
    pub omitted: Option<String>,
    /// Seconds into the stream, of the frame itself.
    #[schemars(with = "Seconds")]
    pub timestamp: StreamTime,
    /// Time of day of the frame.
    #[schemars(with = "Rfc3339")]
    pub wall: WallTime,
    /// Whose time of day that is.
    pub clock: Clock,
    /// How many seconds the times of the frame may be off, to either side.
    pub precision_s: f64,
    /// How many samples away from the cited frame: -1, 0 or 1.
    pub neighbour: i8,
    /// What a captioner that knew nothing of the claim said; empty in the design `vlm-direct`.
    pub caption: String,
    /// The sentence of the caption that decided, or the whole caption if it was judged as one; in the design `vlm-direct`
    /// what the model answered; absent if it did not come to judging.
    pub premise: Option<String>,
}

/// The reply to `verify`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "verify reply")]
pub struct VerifyReply {
    /// Version of this message.
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// One verdict a claim, in the order of the request.
    pub claims: Vec<Verdict>,
}

/// The reply to `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "search reply")]
pub struct SearchReply {
    /// Version of this message.
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// What was looked for.
    pub query: String,
    /// The stretch of stream time that was searched.
    pub window: Window,
    /// What was found, best first.
    pub moments: Vec<MomentHit>,
}

/// The reply to `streams`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "streams reply")]
pub struct StreamsReply {
    /// Version of this message.
    pub v: V1,
    /// Every stream of the daemon, and every one that it remembers.
    pub streams: Vec<StreamInfo>,
}

/// The reply to `streams.add`, `streams.change` and `streams.remove`: it is done, and survives a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "stream reply")]
pub struct StreamReply {
    /// Version of this message.
    pub v: V1,
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// Has an end or not.
    pub kind: StreamKind,
    /// How it fares now.
    pub state: StreamState,
    /// Moments in the memory.
    pub moments: u64,
}

/// How a stream fares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamInfo {
    /// The stream.
    #[schemars(with = "Token")]
    pub stream: StreamId,
    /// Has an end or not.
    pub kind: StreamKind,
    /// How it fares.
    pub state: StreamState,
    /// Why; empty if the state says all.
    pub detail: String,
    /// Since when.
    #[schemars(with = "Rfc3339")]
    pub since: WallTime,
    /// Seconds into the stream of the last sampled frame.
    #[schemars(with = "Option<Seconds>")]
    pub last_timestamp: Option<StreamTime>,
    /// Time of day of that frame.
    #[schemars(with = "Option<Rfc3339>")]
    pub last_wall: Option<WallTime>,
    /// Why the pictures that arrive show nothing; absent while they show something.
    pub blind: Option<Blindness>,
    /// Seconds of the stream in which nothing could be seen, all in all.
    pub unobservable_s: f64,
    /// Moments in the memory.
    pub moments: u64,
    /// Sampled frames without a caption since the daemon started, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Seconds from the arrival of the last captioned frame to its commit.
    pub lag_s: Option<f64>,
}

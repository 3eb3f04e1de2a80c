//! The traits that can be replaced, and their errors. All of them block; asynchrony is added once, by a handle.
//!
//! A captioner is given pictures and nothing else: that it cannot see the question or the claim is a property of this
//! file, not of anybody's discipline.

use std::time::Duration;

use crate::domain::{
    Caption, Claim, Embedding, Entailment, Fingerprint, Frame, Moment, Picture, StreamId, StreamKind, StreamTime,
    WallTime,
};

/// Why a source gave no frame.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Path, address or device that does not exist or refuses; may come back.
    #[error("cannot open the source of stream {stream}: {reason}")]
    Open {
        /// The stream.
        stream: StreamId,
        /// What the source said, without credentials.
        reason: String,
    },
    /// The source holds no video, is empty, or in a format that cannot be decoded; will not come back by itself.
    #[error("stream {stream} has no video that can be decoded: {reason}")]
    Unusable {
        /// The stream.
        stream: StreamId,
        /// What was found instead.
        reason: String,
    },
    /// User name or password refused.
    #[error("the source of stream {stream} refused the credentials: {reason}")]
    Unauthorized {
        /// The stream.
        stream: StreamId,
        /// What the source said, without credentials.
        reason: String,
    },
    /// A live source ended or broke off.
    #[error("stream {stream} broke off: {reason}")]
    Lost {
        /// The stream.
        stream: StreamId,
        /// What the source said, without credentials.
        reason: String,
    },
    /// A live source sends nothing.
    #[error("stream {stream} sent no frame for {} s", after.as_secs_f32())]
    Stalled {
        /// The stream.
        stream: StreamId,
        /// How long.
        after: Duration,
    },
    /// The end was asked for while waiting.
    #[error("stopped")]
    Stopped,
}

impl SourceError {
    /// Whether opening the source again can help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Unauthorized { .. } | Self::Lost { .. } | Self::Stalled { .. })
    }

    /// The name used in metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Unusable { .. } => "unusable",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Lost { .. } => "lost",
            Self::Stalled { .. } => "stalled",
            Self::Stopped => "stopped",
        }
    }
}

/// Where a life of a stream begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Time of day at stream time zero.
    pub epoch: WallTime,
    /// The last frame that was taken already; only later ones are wanted.
    pub after: Option<StreamTime>,
    /// One frame is wanted for each such stretch of stream time.
    pub sample_every: Duration,
}

/// One life of a stream: from opened to ended or broken. Opened by `video::open`; dropping it closes the source.
pub trait FrameSource: Send {
    /// Waits for the next sampled frame; `None` is the end of a file, be it a file that is played as a camera. One frame a
    /// sampling slot at most, and in between those that show a sudden change, if that was asked for; later ones only,
    /// their own times untouched. Returns `Stopped` soon after the end was asked for.
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError>;

    /// What a reader should know of a source that gives frames, such as trouble with its recording; empty if nothing.
    fn remark(&self) -> String {
        String::new()
    }
}

/// Why there is no evidence frame.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// Before the beginning, after the end, or in a gap.
    #[error("stream {stream} has no frame at {at}: {reason}")]
    NoFrame {
        /// The stream.
        stream: StreamId,
        /// The time asked for.
        at: StreamTime,
        /// What is there instead.
        reason: String,
    },
    /// Recorded once, deleted since.
    #[error("the recording of stream {stream} at {at} is past its retention")]
    Expired {
        /// The stream.
        stream: StreamId,
        /// The time asked for.
        at: StreamTime,
    },
    /// The bytes are there and no picture comes out.
    #[error("the frame of stream {stream} at {at} cannot be decoded: {reason}")]
    Decode {
        /// The stream.
        stream: StreamId,
        /// The time asked for.
        at: StreamTime,
        /// What the decoder said.
        reason: String,
    },
}

/// Frames of the past, decoded afresh from the source at every call. Shared between threads.
pub trait EvidenceSource: Send + Sync {
    /// The picture on display at `at`, with its own time (at or before the one asked for).
    fn frame_at(&self, at: StreamTime) -> Result<Frame, EvidenceError>;

    /// Whether the stream has an end.
    fn kind(&self) -> StreamKind;
}

/// Why a model gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The weights, tokenizer or configuration cannot be used.
    #[error("model {model} cannot be loaded: {reason}")]
    Load {
        /// The role or file.
        model: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// There is not enough memory for it.
    #[error(
        "model {model} needs more memory than {device} has: {reason}; stop what else runs there, or choose a smaller model or batch"
    )]
    Memory {
        /// The role or file.
        model: String,
        /// Where it was to run.
        device: String,
        /// How much is needed and how much there is, or what the runtime said.
        reason: String,
    },
    /// The computation failed.
    #[error("model {model} failed: {reason}")]
    Run {
        /// The role.
        model: String,
        /// What the runtime said.
        reason: String,
    },
    /// It runs elsewhere and cannot be asked now; the same input may be answered later.
    #[error("model {model} is away: {reason}")]
    Away {
        /// The role.
        model: String,
        /// What the endpoint did.
        reason: String,
    },
    /// The input cannot be processed; another input may.
    #[error("model {model} refuses this input: {reason}")]
    Input {
        /// The role.
        model: String,
        /// Why.
        reason: String,
    },
    /// The engine has stopped.
    #[error("the model engine has stopped")]
    Stopped,
    /// It was not begun in time, and the caller wants it no more.
    #[error("the model engine was too busy to begin in time")]
    Late,
}

/// Pictures to descriptions, blind to everything else.
pub trait Captioner: Send {
    /// One caption a picture, in order.
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<Caption>, ModelError>;
    /// Whether several pictures in one call take little longer than one (a GPU): then questions are looked at together.
    fn is_parallel(&self) -> bool {
        false
    }
    /// The only things it ever names, if they are few; `None` if it may name anything. That nothing else was seen is no
    /// finding.
    fn vocabulary(&self) -> Option<Vec<String>> {
        None
    }
    /// Clients of a model that computes elsewhere, one for each call that may be under way at once: each gets a thread of
    /// its own. Empty if the model computes here, on the engine's thread.
    fn clients(&self) -> Vec<Box<dyn Captioner>> {
        Vec::new()
    }
    /// Identity with weights.
    fn fingerprint(&self) -> &Fingerprint;
}

/// Texts to vectors of one length.
pub trait Embedder: Send {
    /// One embedding a text, in order.
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Embedding>, ModelError>;
    /// Identity with weights.
    fn fingerprint(&self) -> &Fingerprint;
}

/// What a drafter works from.
#[derive(Debug, Clone)]
pub struct DraftRequest {
    /// The question, as asked.
    pub question: String,
    /// The only moments that may be cited, best first.
    pub moments: Vec<Moment>,
    /// No more claims than this.
    pub max_claims: usize,
}

/// Question and retrieved moments to claims.
pub trait Drafter: Send {
    /// Distinct full-sentence claims, each citing one of the given moments. Empty if the moments say nothing.
    fn draft(&mut self, request: &DraftRequest) -> Result<Vec<Claim>, ModelError>;
    /// As for [`Captioner::clients`].
    fn clients(&self) -> Vec<Box<dyn Drafter>> {
        Vec::new()
    }
    /// The same, calling `pause` every few milliseconds if drafting takes long: others may compute there.
    fn draft_with_pauses(&mut self, request: &DraftRequest, pause: &mut dyn FnMut()) -> Result<Vec<Claim>, ModelError> {
        let _ = pause;
        self.draft(request)
    }
    /// Identity with weights.
    fn fingerprint(&self) -> &Fingerprint;
}

/// A sentence and what shall follow from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// One sentence of a caption.
    pub premise: String,
    /// A claim without its timestamp.
    pub hypothesis: String,
}

/// Entailment between sentences.
pub trait Judge: Send {
    /// Calibrated probabilities, one triple a pair, in order.
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError>;
    /// As for [`Captioner::clients`].
    fn clients(&self) -> Vec<Box<dyn Judge>> {
        Vec::new()
    }
    /// Identity with weights and calibration.
    fn fingerprint(&self) -> &Fingerprint;
    /// Probability of entailment from which a claim counts as entailed; fitted together with the calibration.
    fn threshold(&self) -> f32;
}

/// A picture and what is asked about it.
#[derive(Debug, Clone)]
pub struct Inquiry {
    /// What is looked at.
    pub picture: Picture,
    /// What is asked, as plain text.
    pub question: String,
}

/// Asks a model questions about pictures. Only some models have it. Never used for a blind caption.
pub trait VisualQa: Send {
    /// One answer an inquiry, in order; short, and empty if the model has nothing to say. Several questions about one
    /// picture are cheapest one behind the other in one call.
    fn ask(&mut self, inquiries: &[Inquiry]) -> Result<Vec<String>, ModelError>;
    /// As for [`Captioner::is_parallel`].
    fn is_parallel(&self) -> bool {
        false
    }
    /// As for [`Captioner::clients`].
    fn clients(&self) -> Vec<Box<dyn VisualQa>> {
        Vec::new()
    }
    /// Identity with weights.
    fn fingerprint(&self) -> &Fingerprint;
}

/// How much a chat model demands of a caption before it says that it supports a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Everything that is claimed is stated.
    Strict,
    /// What is claimed is supported or likely.
    Lenient,
}

/// A chat model that reads a whole caption and a claim (design `caption-llm-judge`).
pub trait ChatJudge: Send {
    /// Probability, one a pair in order, that the caption (premise) supports the claim (hypothesis); 0 or 1 where the
    /// model gives no more than a label.
    fn supports(&mut self, pairs: &[Pair], strictness: Strictness) -> Result<Vec<f32>, ModelError>;
    /// As for [`Captioner::clients`].
    fn clients(&self) -> Vec<Box<dyn ChatJudge>> {
        Vec::new()
    }
    /// Identity with weights and prompts.
    fn fingerprint(&self) -> &Fingerprint;
}

/// One of each model; those that compute here are owned by the engine's thread.
pub struct Models {
    /// Pictures to captions.
    pub captioner: Box<dyn Captioner>,
    /// Texts to vectors.
    pub embedder: Box<dyn Embedder>,
    /// Question and moments to claims.
    pub drafter: Box<dyn Drafter>,
    /// Caption and claim to entailment.
    pub judge: Box<dyn Judge>,
    /// Picture and question to answer, if a model that can do that is configured.
    pub visual_qa: Option<Box<dyn VisualQa>>,
    /// Caption and claim to yes or no, if a model for that is configured.
    pub chat_judge: Option<Box<dyn ChatJudge>>,
}

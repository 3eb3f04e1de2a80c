//! One piece of work on its way to the engine's thread, and the way back for its result.

use std::time::Instant;

use tokio::sync::oneshot;
use tracing::Span;

use crate::domain::{Caption, Claim, Embedding, Entailment, Picture};
use crate::seams::{DraftRequest, Inquiry, ModelError, Pair, Strictness};

/// The way back. Dropped unanswered, it tells the caller that the engine has stopped.
pub(super) type Reply<T> = oneshot::Sender<Result<T, ModelError>>;

/// A list of inputs for a model that answers each of them with one output.
#[derive(Debug)]
pub(super) struct Batch<I, O> {
    pub(super) inputs: Vec<I>,
    pub(super) reply: Reply<Vec<O>>,
}

/// What a model shall do.
#[derive(Debug)]
pub(super) enum Work {
    Caption(Batch<Picture, Caption>),
    Embed(Batch<String, Embedding>),
    Draft { request: Box<DraftRequest>, reply: Reply<Vec<Claim>> },
    Judge(Batch<Pair, Entailment>),
    Ask(Batch<Inquiry, String>),
    Support { batch: Batch<Pair, f32>, strictness: Strictness },
}

/// Work with the span it belongs to.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) span: Span,
    /// Not worth beginning from then on.
    pub(super) until: Option<Instant>,
}

impl Job {
    /// The work if it is still worth beginning; otherwise whoever waits is told that it came too late.
    pub(super) fn in_time(self) -> Option<Self> {
        if self.is_abandoned() {
            tracing::debug!(parent: &self.span, "skipped a job whose caller left");
            return None;
        }
        if !self.is_late() {
            return Some(self);
        }
        match self.work {
            Work::Caption(batch) => refuse(batch.reply),
            Work::Embed(batch) => refuse(batch.reply),
            Work::Draft { reply, .. } => refuse(reply),
            Work::Judge(batch) => refuse(batch.reply),
            Work::Ask(batch) => refuse(batch.reply),
            Work::Support { batch, .. } => refuse(batch.reply),
        }
        None
    }

    /// Whether it is not worth beginning any more.
    pub(super) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether nobody waits for the result any more.
    pub(super) fn is_abandoned(&self) -> bool {
        match &self.work {
            Work::Caption(batch) => batch.reply.is_closed(),
            Work::Embed(batch) => batch.reply.is_closed(),
            Work::Draft { reply, .. } => reply.is_closed(),
            Work::Judge(batch) => batch.reply.is_closed(),
            Work::Ask(batch) => batch.reply.is_closed(),
            Work::Support { batch, .. } => batch.reply.is_closed(),
        }
    }
}

fn refuse<T>(reply: Reply<T>) {
    // The caller may have left meanwhile.
    let _ = reply.send(Err(ModelError::Late));
}

/// Which kind of work a batch is, so that batches of one kind can be found and merged.
pub(super) trait InWork: Sized {
    /// Looks at the batch in `work` if it is of this kind.
    fn find(work: &Work) -> Option<&Self>;
    /// Takes it out.
    fn take(work: Work) -> Option<Self>;
}

impl InWork for Batch<Picture, Caption> {
    fn find(work: &Work) -> Option<&Self> {
        if let Work::Caption(batch) = work { Some(batch) } else { None }
    }

    fn take(work: Work) -> Option<Self> {
        if let Work::Caption(batch) = work { Some(batch) } else { None }
    }
}

impl InWork for Batch<String, Embedding> {
    fn find(work: &Work) -> Option<&Self> {
        if let Work::Embed(batch) = work { Some(batch) } else { None }
    }

    fn take(work: Work) -> Option<Self> {
        if let Work::Embed(batch) = work { Some(batch) } else { None }
    }
}

impl InWork for Batch<Inquiry, String> {
    fn find(work: &Work) -> Option<&Self> {
        if let Work::Ask(batch) = work { Some(batch) } else { None }
    }

    fn take(work: Work) -> Option<Self> {
        if let Work::Ask(batch) = work { Some(batch) } else { None }
    }
}

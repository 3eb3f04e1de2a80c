//! What comes back for a question.

use super::{Hit, Question, StreamId, Verdict, Window};

/// An answer: the moments it rests on, and a verdict for every claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The question as understood.
    pub question: Question,
    /// The streams that were searched.
    pub streams: Vec<StreamId>,
    /// The window of stream time that was searched.
    pub window: Window,
    /// What was retrieved, best first.
    pub moments: Vec<Hit>,
    /// One verdict a claim, in the order drafted.
    pub verdicts: Vec<Verdict>,
    /// One plain paragraph: the grounded claims, or that nothing could be grounded.
    pub text: String,
}

//! What comes back for a question.

use super::{Asked, Assessment, Hit, Question, Round, StreamId, Survey, Verdict, Window};

/// An answer: the moments it rests on, and a verdict for every claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The question as understood.
    pub question: Question,
    /// The streams that were searched.
    pub streams: Vec<StreamId>,
    /// The window of stream time that was searched; over several streams, from the earliest begin to the latest end.
    pub window: Window,
    /// What was understood of the time asked about.
    pub asked: Asked,
    /// What was retrieved, best first.
    pub moments: Vec<Hit>,
    /// One verdict a claim, in the order drafted.
    pub verdicts: Vec<Verdict>,
    /// What each claim does for the answer, in the order of the verdicts.
    pub assessments: Vec<Assessment>,
    /// What was done when the first claims did not suffice, in order; empty if they did.
    pub rounds: Vec<Round>,
    /// What all moments of the window say, for questions about presence, absence, number of times, duration.
    pub survey: Option<Survey>,
    /// One plain paragraph: the grounded claims, or that nothing could be grounded.
    pub text: String,
}

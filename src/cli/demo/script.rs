//! What the demo asks and what it claims. Values only.

use crate::domain::StreamTime;

/// A question of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Question {
    /// What kind of question it is, for the reader.
    pub(super) kind: &'static str,
    /// The stream asked about.
    pub(super) stream: &'static str,
    /// The question.
    pub(super) text: &'static str,
}

/// A claim of the demo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claim {
    /// The claim.
    pub(super) text: &'static str,
    /// Where it is said to be seen, in seconds.
    pub(super) seconds: f64,
    /// What a person who looked at the frame says about it.
    pub(super) truth: Truth,
}

/// What a person says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    /// The frame shows it.
    True,
    /// The frame shows no such thing: it must never be grounded.
    Fabricated,
    /// There is no such frame.
    Nowhere,
}

impl Truth {
    /// For the reader.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Fabricated => "fabricated",
            Self::Nowhere => "no such frame",
        }
    }
}

impl Claim {
    /// The cited time.
    pub(super) fn at(&self) -> StreamTime {
        StreamTime::from_seconds(self.seconds).expect("the script cites times")
    }
}

/// The stream that the daemon does not know.
pub(super) const UNKNOWN_STREAM: &str = "garage";

const fn question(kind: &'static str, stream: &'static str, text: &'static str) -> Question {
    Question { kind, stream, text }
}

/// In the order asked.
pub(super) const QUESTIONS: [Question; 8] = [
    question("factual", "vtest", "What vehicles can be seen on the street?"),
    question("count", "vtest", "How many people are there?"),
    question("positional", "vtest", "Where is the car?"),
    question("false premise", "vtest", "Why is the dog chasing the ball?"),
    question("time", "vtest", "Who is there at the end of the video?"),
    question("factual", "bikes", "Is there a car?"),
    question("live", "camera", "Is there a person in front of the camera?"),
    question("unknown stream", UNKNOWN_STREAM, "Is the garage door open?"),
];

const fn claim(seconds: f64, truth: Truth, text: &'static str) -> Claim {
    Claim { text, seconds, truth }
}

/// By stream.
pub(super) const CLAIMS: [(&str, &[Claim]); 2] = [
    (
        "vtest",
        &[
            claim(20.0, Truth::True, "There is a car."),
            claim(20.0, Truth::True, "There are several people."),
            claim(45.0, Truth::True, "At 45 s, a person is there."),
            claim(20.0, Truth::Fabricated, "A dog is chasing a ball."),
            claim(20.0, Truth::Fabricated, "An airplane stands on the runway."),
            claim(45.0, Truth::Fabricated, "Two elephants are drinking water."),
            claim(45.0, Truth::Fabricated, "The street is empty; nobody is there."),
            claim(500.0, Truth::Nowhere, "There is a car."),
        ],
    ),
    (
        "bikes",
        &[claim(6.0, Truth::True, "There is a car."), claim(6.0, Truth::Fabricated, "A train arrives at the station.")],
    ),
];

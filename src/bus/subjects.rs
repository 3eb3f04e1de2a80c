//! The subjects of the daemon: built and checked once, never put together elsewhere.
//!
//! A stream id is one token by construction ([`StreamId`]), so an outgoing subject cannot be wrong. What comes in is
//! text from anybody and is parsed back into a [`StreamId`] or refused.

use crate::domain::StreamId;

use super::BusError;

/// Longest prefix, so that `<prefix>.<verb>.<stream>` stays far below what servers and tools cut off.
const MAX_PREFIX: usize = 100;

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A question in plain language.
    Ask,
    /// Somebody else's claims.
    Verify,
    /// Text to moments.
    Search,
    /// A timestamp to a picture.
    Frame,
    /// What is watched and how it fares.
    Streams,
    /// A stream that shall be watched too.
    AddStream,
    /// Other settings for an added stream.
    ChangeStream,
    /// An added stream that shall be watched no longer.
    RemoveStream,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 8] = [
        Self::Ask,
        Self::Verify,
        Self::Search,
        Self::Frame,
        Self::Streams,
        Self::AddStream,
        Self::ChangeStream,
        Self::RemoveStream,
    ];

    /// The token (or tokens) in subjects, the name in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Verify => "verify",
            Self::Search => "search",
            Self::Frame => "frame",
            Self::Streams => "streams",
            Self::AddStream => "streams.add",
            Self::ChangeStream => "streams.change",
            Self::RemoveStream => "streams.remove",
        }
    }
}

/// What is told without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// A moment entered the memory.
    Caption,
    /// A claim was checked.
    Verdict,
    /// A JPEG that a verdict rests on.
    Evidence,
    /// A stream came up or went down.
    State,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 4] = [Self::Caption, Self::Verdict, Self::Evidence, Self::State];

    /// The token in subjects, the label in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caption => "caption",
            Self::Verdict => "verdict",
            Self::Evidence => "evidence",
            Self::State => "state",
        }
    }
}

/// The subjects under one prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subjects {
    prefix: String,
}

impl Subjects {
    /// Checks the prefix: tokens of `A-Z a-z 0-9 _ -` joined by dots, not starting with `_` (inboxes live there).
    pub fn new(prefix: &str) -> Result<Self, BusError> {
        let token = |t: &str| !t.is_empty() && t.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'));
        if prefix.len() <= MAX_PREFIX && !prefix.starts_with('_') && prefix.split('.').all(token) {
            Ok(Self { prefix: prefix.to_owned() })
        } else {
            Err(BusError::Prefix(prefix.chars().take(MAX_PREFIX).collect()))
        }
    }

    /// The prefix itself.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Where to send a request: about one stream, or about none in particular.
    pub fn request(&self, verb: Verb, stream: Option<&StreamId>) -> String {
        match stream {
            Some(stream) => format!("{}.{}.{stream}", self.prefix, verb.as_str()),
            None => format!("{}.{}", self.prefix, verb.as_str()),
        }
    }

    /// What an endpoint listens to for requests about any one stream.
    pub fn any_stream(&self, verb: Verb) -> String {
        format!("{}.{}.*", self.prefix, verb.as_str())
    }

    /// Where an event of `stream` is told.
    pub fn event(&self, topic: Topic, stream: &StreamId) -> String {
        format!("{}.{}.{stream}", self.prefix, topic.as_str())
    }

    /// What to listen to for events of one stream, or of all.
    pub fn listen(&self, topic: Topic, stream: Option<&StreamId>) -> String {
        format!("{}.{}.{}", self.prefix, topic.as_str(), stream.map_or("*", StreamId::as_str))
    }

    /// Whether `subject` is one of these.
    pub fn holds(&self, subject: &str) -> bool {
        subject.strip_prefix(&self.prefix).is_some_and(|rest| rest.starts_with('.'))
    }

    /// The stream that an incoming `subject` is about: `None` if it has no stream token, `Err` with the token if that
    /// is no stream id (a wildcard, a strange letter, too long).
    pub fn stream_of(&self, verb: Verb, subject: &str) -> Result<Option<StreamId>, String> {
        let rest = subject
            .strip_prefix(&self.prefix)
            .and_then(|rest| rest.strip_prefix('.'))
            .and_then(|rest| rest.strip_prefix(verb.as_str()));
        match rest {
            Some("") => Ok(None),
            Some(rest) if rest.starts_with('.') => {
                StreamId::new(&rest[1..]).map(Some).map_err(|error| error.to_string())
            }
            _ => Err(format!("subject {:?} does not belong to {}", shorten(subject), verb.as_str())),
        }
    }
}

fn shorten(subject: &str) -> String {
    subject.chars().take(MAX_PREFIX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_tokens_joined_by_dots() {
        for good in ["gvqa", "site-1.gvqa", "A_b.c"] {
            assert_eq!(Subjects::new(good).expect("valid").prefix(), good);
        }
        for bad in ["", ".", "a.", ".a", "a..b", "*", "a.>", "a b", "_INBOX", "$SRV", "gvqä", &"x".repeat(101)] {
            assert!(Subjects::new(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn what_is_built_is_parsed_back() {
        let subjects = Subjects::new("site.gvqa").expect("valid");
        let stream = StreamId::new("cam-1").expect("valid");
        let about = subjects.request(Verb::Ask, Some(&stream));
        assert_eq!(about, "site.gvqa.ask.cam-1");
        assert_eq!(subjects.stream_of(Verb::Ask, &about), Ok(Some(stream.clone())));
        assert_eq!(subjects.stream_of(Verb::Ask, &subjects.request(Verb::Ask, None)), Ok(None));
        let add = subjects.request(Verb::AddStream, None);
        assert_eq!((add.as_str(), subjects.stream_of(Verb::AddStream, &add)), ("site.gvqa.streams.add", Ok(None)));
        assert_eq!(subjects.event(Topic::Evidence, &stream), "site.gvqa.evidence.cam-1");
        assert_eq!(subjects.listen(Topic::State, None), "site.gvqa.state.*");
        assert!(subjects.holds(&about) && !subjects.holds("site.gvqa2.x") && !subjects.holds("_INBOX.x"));
    }

    #[test]
    fn strange_subjects_are_refused() {
        let subjects = Subjects::new("gvqa").expect("valid");
        for bad in [
            "gvqa.ask.*",
            "gvqa.ask.>",
            "gvqa.ask.a.b",
            "gvqa.ask.",
            "gvqa.ask.k\u{e4}",
            "gvqa.asking",
            "x.ask.a",
            "gvqa.verify.a",
            "",
        ] {
            assert!(subjects.stream_of(Verb::Ask, bad).is_err(), "{bad:?} was accepted");
        }
    }
}

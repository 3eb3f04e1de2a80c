//! Which drafted claims are let through to be checked. Pure.
//!
//! A drafter promises to cite only what it was given; this is where the promise is held, whatever the model.

use std::collections::HashSet;
use std::fmt;

use super::hypothesis::strip_times;
use super::survey::denies;
use crate::domain::words::{content, words};
use crate::domain::{Claim, Moment};

/// Why a drafted claim was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// It cites a moment that was not retrieved.
    Unretrieved,
    /// It says nothing.
    Empty,
    /// It says of the same moment what an earlier claim says.
    Duplicate,
    /// It exceeds the number of claims asked for.
    Surplus,
    /// It says that something is not there, of a window of which all moments were read.
    Absence,
    /// It says of a thing that it is that thing.
    Idle,
}

impl Dropped {
    /// Every reason.
    pub(super) const ALL: [Self; 6] =
        [Self::Unretrieved, Self::Empty, Self::Duplicate, Self::Surplus, Self::Absence, Self::Idle];

    /// The label value.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unretrieved => "unretrieved",
            Self::Empty => "empty",
            Self::Duplicate => "duplicate",
            Self::Surplus => "surplus",
            Self::Absence => "absence",
            Self::Idle => "idle",
        }
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The claims that may be checked, in order, and the others with why. With `surveyed`, absence is not for claims to say.
pub(super) fn admit(
    drafted: Vec<Claim>,
    retrieved: &[Moment],
    max: usize,
    surveyed: bool,
) -> (Vec<Claim>, Vec<(Claim, Dropped)>) {
    let citable: HashSet<_> = retrieved.iter().map(|moment| (&moment.stream, moment.at)).collect();
    let mut seen = HashSet::new();
    let (mut admitted, mut dropped) = (Vec::new(), Vec::new());
    for claim in drafted {
        let said = strip_times(&claim.text).to_lowercase();
        let why = if !citable.contains(&(&claim.citation.stream, claim.citation.at)) {
            Some(Dropped::Unretrieved)
        } else if said.is_empty() {
            Some(Dropped::Empty)
        } else if is_idle(&said) {
            Some(Dropped::Idle)
        } else if surveyed && denies(&said) {
            Some(Dropped::Absence)
        } else if admitted.len() == max {
            Some(Dropped::Surplus)
        } else if !seen.insert((said, claim.citation.clone())) {
            Some(Dropped::Duplicate)
        } else {
            None
        };
        match why {
            Some(why) => dropped.push((claim, why)),
            None => admitted.push(claim),
        }
    }
    (admitted, dropped)
}

/// Whether a sentence says of a thing that it is that thing, "The person and the car are a person.": a small model drafts
/// such, and a judge finds them entailed.
fn is_idle(said: &str) -> bool {
    let all: Vec<&str> = words(said).collect();
    let Some(verb) = all.iter().position(|word| matches!(*word, "is" | "are" | "was" | "were")) else { return false };
    let (before, after) = (content(&all[..verb].join(" ")), content(&all[verb + 1..].join(" ")));
    !said.contains(',') && after.last().is_some_and(|last| before.contains(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Caption, Citation, Fingerprint, MomentId, StreamId, StreamTime, WallTime};

    fn at(seconds: f64) -> Citation {
        let stream = StreamId::new("cam").expect("a token");
        Citation { stream, at: StreamTime::from_seconds(seconds).expect("a time") }
    }

    fn moment(seconds: f64) -> Moment {
        let Citation { stream, at } = at(seconds);
        let model = Fingerprint::new("fake");
        Moment {
            id: MomentId(1),
            stream,
            at,
            until: at,
            wall: WallTime::now(),
            timing: None,
            caption: Caption::new("There is a car."),
            captioner: model.clone(),
            embedder: model,
        }
    }

    #[test]
    fn a_thing_that_is_itself_says_nothing() {
        for (said, due) in [
            ("the person and the car are a person.", true),
            ("the car is a car.", true),
            ("the two cars are in a cars.", true),
            ("the car is on the right.", false),
            ("there is a person and a car.", false),
            ("one person is on the left, two people are on the right.", false),
            ("a car stands there.", false),
            ("", false),
        ] {
            assert_eq!(is_idle(said), due, "{said:?}");
        }
    }

    #[test]
    fn only_retrieved_new_and_wanted_claims_pass() {
        let retrieved = [moment(5.0), moment(10.0)];
        let drafted = [
            ("There is a car.", at(5.0), None),
            ("There is a dog.", at(7.5), Some(Dropped::Unretrieved)),
            ("At 5 s, there is a car.", at(5.0), Some(Dropped::Duplicate)),
            ("At 10 s.", at(10.0), Some(Dropped::Empty)),
            ("There is a car.", at(10.0), None),
            ("There is a bus.", at(10.0), Some(Dropped::Surplus)),
        ];
        let claims =
            drafted.iter().map(|(text, citation, _)| Claim { text: (*text).into(), citation: citation.clone() });
        let (admitted, dropped) = admit(claims.collect(), &retrieved, 2, false);
        let due = |keep: bool| drafted.iter().filter(move |row| row.2.is_none() == keep).map(|row| row.0);
        assert_eq!(admitted.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), due(true).collect::<Vec<_>>());
        let why: Vec<_> = dropped.iter().map(|(claim, why)| (claim.text.as_str(), Some(*why))).collect();
        assert_eq!(why, drafted.iter().filter(|row| row.2.is_some()).map(|row| (row.0, row.2)).collect::<Vec<_>>());
    }

    #[test]
    fn a_citation_of_another_stream_is_not_retrieved() {
        let other = Citation { stream: StreamId::new("door").expect("a token"), ..at(5.0) };
        let (admitted, dropped) =
            admit(vec![Claim { text: "There is a car.".into(), citation: other }], &[moment(5.0)], 4, false);
        assert!(admitted.is_empty());
        assert_eq!(dropped[0].1, Dropped::Unretrieved);
    }

    #[test]
    fn one_frame_does_not_show_an_absence() {
        let drafted =
            ["No people are visible.", "There is a car."].map(|text| Claim { text: text.into(), citation: at(5.0) });
        let admitted = |surveyed| admit(drafted.to_vec(), &[moment(5.0)], 4, surveyed).0.len();
        assert_eq!([admitted(false), admitted(true)], [2, 1]);
    }
}

//! What was done when the first claims of an answer did not suffice. Pure.

use std::fmt::Write as _;

use super::html::Escaped;
use crate::bus::wire::{Place, Round, Stretch};

/// One sentence a round, without markup: "looked again (no claim was grounded): fresh frames …".
pub(in crate::cli) fn sentence(round: &Round) -> String {
    let mut out = format!("{}: {}", why(round), how(round));
    if let [stretch, ..] = round.windows.as_slice() {
        let Stretch { stream, from, to } = stretch;
        let _ = write!(out, ", within {stream} {from} to {to}");
    }
    let (added, grounded) = (round.added.len(), round.grounded);
    let claims = if added == 1 { "claim" } else { "claims" };
    let _ = write!(out, "; it added {added} {claims}, {grounded} grounded, in {:.1} s", round.seconds);
    if let Some(trouble) = &round.trouble {
        let _ = write!(out, "; broken off: {trouble}");
    }
    out
}

/// A list of rounds; nothing if there were none.
pub(in crate::cli) fn rounds(rounds: &[Round]) -> String {
    if rounds.is_empty() {
        return String::new();
    }
    let items = rounds.iter().map(|round| format!("<li>{}</li>\n", Escaped(&sentence(round))));
    format!("<p class=\"fine\">It was looked again:</p>\n<ol class=\"fine\">\n{}</ol>\n", items.collect::<String>())
}

fn why(round: &Round) -> &'static str {
    use crate::domain::Why;
    match round.why {
        Why::Unverified => "some claims could not be verified",
        Why::Ungrounded => "no claim was grounded",
        Why::Undrafted => "nothing could be claimed",
        Why::Unlike => "nothing that was found resembles the question",
    }
}

fn how(round: &Round) -> String {
    use crate::domain::How;
    let places = round.looked_at.iter().map(|Place { timestamp, .. }| timestamp.to_string());
    let places = places.collect::<Vec<_>>().join(", ");
    match round.how {
        How::Repair => format!("drafted again from what was seen at {places}"),
        How::Next => format!("took the next moments, at {places}"),
        How::Wider => format!("took moments of a wider window, at {places}"),
        How::Finer => format!("looked at fresh frames at {places}"),
    }
}

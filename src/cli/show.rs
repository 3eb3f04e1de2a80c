//! Replies as text for people. Pure: from messages to lines.

use std::fmt::Write as _;

use super::page::rounds;
use crate::bus::wire::{AnswerReply, MomentHit, StreamInfo, Survey, TimeAsked, Trial, Verdict, Window};
use crate::domain::{Blindness, Label, Role};

/// An answer: its paragraph, then every claim with what was found, then what it rests on.
pub fn answer(reply: &AnswerReply) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Q: {}", reply.question);
    let _ = writeln!(out, "A: {}", reply.text);
    out.push('\n');
    out.push_str(&verdicts(&reply.claims));
    if reply.claims.is_empty() {
        out.push_str("  no claims\n");
    }
    for round in &reply.rounds {
        let _ = writeln!(out, "  looked again, {}", rounds::sentence(round));
    }
    out.push_str(&beside(reply));
    let _ = writeln!(out, "\ndesign {}", reply.design.as_str());
    out.push_str(&time(&reply.time));
    if let Some(found) = &reply.survey {
        out.push_str(&survey(found));
    }
    out.push_str(&moments(&reply.moments));
    out
}

/// The proven claims that are not told, because they do not answer.
fn beside(reply: &AnswerReply) -> String {
    let untold = reply.assessments.iter().filter(|it| it.role == Role::BesideThePoint);
    untold.fold(String::new(), |mut out, it| {
        if let Some(claim) = reply.claims.iter().find(|claim| claim.verdict_id == it.verdict_id) {
            let _ = writeln!(out, "~ {:?} does not answer the question (relevance {:.2})", claim.claim, it.relevance);
        }
        out
    })
}

/// One paragraph a claim.
pub fn verdicts(verdicts: &[Verdict]) -> String {
    verdicts.iter().fold(String::new(), |mut out, verdict| {
        let mark = if verdict.verdict == Label::Grounded { '+' } else { '-' };
        let _ = writeln!(
            out,
            "{mark} {} [{} at {}{}] {} ({})",
            verdict.claim,
            verdict.stream,
            verdict.timestamp,
            give_or_take(verdict.precision_s),
            verdict.verdict.as_str(),
            verdict.reason.as_str()
        );
        if let Some(from) = &verdict.repaired_from {
            let _ = writeln!(
                out,
                "    drafted again from what was seen at {}, instead of: {}",
                from.read_at.timestamp, from.claim
            );
        }
        for trial in &verdict.trials {
            out.push_str(&trial_line(trial, verdict.threshold));
        }
        out
    })
}

fn trial_line(trial: &Trial, threshold: f32) -> String {
    let mut line = String::from("    ");
    match &trial.evidence {
        Some(evidence) => {
            let _ = write!(line, "seen at {}", evidence.timestamp);
            if evidence.neighbour != 0 {
                let _ = write!(line, " ({:+} sample)", evidence.neighbour);
            }
            let _ = write!(line, ": {}", evidence.caption);
        }
        None => line.push_str("no frame"),
    }
    let _ = write!(line, " -> {}", trial.reason.as_str());
    if let Some(p) = trial.probabilities {
        let _ = write!(
            line,
            " (entailment {:.2}, neutral {:.2}, contradiction {:.2}; threshold {threshold:.2})",
            p.entailment, p.neutral, p.contradiction
        );
    }
    if !trial.detail.is_empty() {
        let _ = write!(line, " [{}]", trial.detail);
    }
    line.push('\n');
    line
}

/// What was understood of the time, then one line a stream that was searched.
pub fn time(time: &TimeAsked) -> String {
    let mut out = String::new();
    if !time.phrase.is_empty() {
        let _ = writeln!(out, "time: {:?}, order {}", time.phrase, time.order.as_str());
    }
    if let Some(anchor) = &time.anchor {
        let _ = match &anchor.found {
            Some(hit) => {
                writeln!(out, "{:?} is most likely {} at {}", anchor.event, hit.moment.stream, hit.moment.timestamp)
            }
            None => writeln!(out, "nothing resembles {:?}", anchor.event),
        };
    }
    for part in &time.windows {
        let _ = write!(out, "searched {} ", part.stream);
        let _ = match (part.window, part.from_wall) {
            (Some(found), Some(from)) => {
                let to = part.to_wall.map_or_else(String::new, |to| format!(" to {to}"));
                writeln!(out, "{} ({from}{to})", window(found))
            }
            _ => writeln!(out, "not at all: it was not watched then"),
        };
    }
    out
}

/// What all moments said, then one line a gap.
pub fn survey(survey: &Survey) -> String {
    let Survey { subject, conclusion, coverage, shown, unclear, .. } = survey;
    let mut out = format!(
        "surveyed {subject}: {}, shown in {shown}, left open in {unclear} of {} samples seen ({} due, {} missing, {} \
         unobservable)\n",
        conclusion.as_str(),
        coverage.seen,
        coverage.due,
        coverage.missing,
        coverage.unobservable
    );
    for gap in &coverage.gaps {
        let _ = writeln!(out, "  nothing seen of {} from {} to {}", gap.stream, gap.from, gap.to);
    }
    out
}

/// One line a moment.
pub fn moments(moments: &[MomentHit]) -> String {
    moments.iter().fold(String::new(), |mut out, hit| {
        let (found, exact) = (&hit.moment, give_or_take(hit.moment.precision_s));
        let _ = writeln!(out, "  {:.3}  {} at {}{exact}  {}", hit.score, found.stream, found.timestamp, found.caption);
        out
    })
}

/// How far a time may be off, behind it.
fn give_or_take(precision_s: Option<f64>) -> String {
    precision_s.map(|seconds| format!(" \u{b1}{seconds:.2} s")).unwrap_or_default()
}

/// One line a stream.
pub fn streams(streams: &[StreamInfo]) -> String {
    streams.iter().fold(String::new(), |mut out, info| {
        // A camera that shows nothing is up, and its state would say no more.
        let state = info.blind.map_or(info.state.as_str(), Blindness::as_str);
        let _ = write!(out, "{:<20} {state:<11} {:>8} moments", info.stream.as_str(), info.moments);
        if let Some(last) = info.last_timestamp {
            let _ = write!(out, ", last frame at {last}");
        }
        if !info.detail.is_empty() {
            let _ = write!(out, ": {}", info.detail);
        }
        out.push('\n');
        out
    })
}

/// A window in words.
pub fn window(window: Window) -> String {
    match window.to {
        Some(to) => format!("from {} to {to}", window.from),
        None => format!("from {}", window.from),
    }
}

//! Replies as text for people. Pure: from messages to lines.

use std::fmt::Write as _;

use crate::bus::wire::{AnswerReply, MomentHit, StreamInfo, Trial, Verdict, Window};
use crate::domain::Label;

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
    let streams: Vec<&str> = reply.streams.iter().map(crate::domain::StreamId::as_str).collect();
    let _ =
        writeln!(out, "\nsearched {} {}, design {}", streams.join(", "), window(reply.window), reply.design.as_str());
    out.push_str(&moments(&reply.moments));
    out
}

/// One paragraph a claim.
pub fn verdicts(verdicts: &[Verdict]) -> String {
    verdicts.iter().fold(String::new(), |mut out, verdict| {
        let mark = if verdict.verdict == Label::Grounded { '+' } else { '-' };
        let _ = writeln!(
            out,
            "{mark} {} [{} at {}] {} ({})",
            verdict.claim,
            verdict.stream,
            verdict.timestamp,
            verdict.verdict.as_str(),
            verdict.reason.as_str()
        );
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

/// One line a moment.
pub fn moments(moments: &[MomentHit]) -> String {
    moments.iter().fold(String::new(), |mut out, hit| {
        let _ = writeln!(out, "  {:.3}  {} at {}  {}", hit.score, hit.stream, hit.timestamp, hit.caption);
        out
    })
}

/// One line a stream.
pub fn streams(streams: &[StreamInfo]) -> String {
    streams.iter().fold(String::new(), |mut out, info| {
        let _ = write!(out, "{:<20} {:<11} {:>8} moments", info.stream.as_str(), info.state.as_str(), info.moments);
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

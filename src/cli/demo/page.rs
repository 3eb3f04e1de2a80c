//! The demo's page: one file without anything beside it. Pure.
//!
//! Every text that came over the bus is escaped; every picture is stored once and shown where it is needed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;

use super::latency::Row;
use super::terminal::seconds;
use super::transcript::{Check, Exchange, Transcript};
use crate::bus::wire::{StreamInfo, Window};
use crate::cli::page::{self, Escaped, Person, card};
use crate::domain::Label;

/// The whole page.
pub(super) fn render(transcript: &Transcript) -> String {
    let mut main = header(transcript);
    main.push_str("<h2>Questions</h2>\n");
    for exchange in &transcript.exchanges {
        main.push_str(&question(exchange, &transcript.pictures));
    }
    main.push_str(&checks(transcript));
    main.push_str(&streams(&transcript.streams));
    main.push_str(&latency(&transcript.latency));
    main.push_str(&page::models(transcript.verdicts()));
    page::document("GroundedVQA: claims beside their evidence", &transcript.pictures, &main)
}

fn header(transcript: &Transcript) -> String {
    let (mut grounded, mut unverified) = (0, 0);
    for verdict in transcript.verdicts() {
        match verdict.verdict {
            Label::Grounded => grounded += 1,
            Label::Unverified => unverified += 1,
        }
    }
    format!(
        "<header>\n<h1>Claims beside their evidence</h1>\n\
         <p class=\"lead\">Every claim was checked against a frame extracted afresh from its source, described by a \
         captioner that saw neither the question nor the claim. Only what that description entails is told as an \
         answer.</p>\n\
         <ul class=\"tally\"><li class=\"grounded\"><b>{grounded}</b> grounded</li>\
         <li class=\"unverified\"><b>{unverified}</b> unverified</li>\
         <li><b>{}</b> evidence frames</li></ul>\n<p class=\"fine\">{}</p>\n</header>\n",
        transcript.pictures.len(),
        Escaped(&format!("{:.0}", transcript.at))
    )
}

fn question(exchange: &Exchange, pictures: &BTreeMap<String, Bytes>) -> String {
    let scripted = &exchange.scripted;
    let mut out = format!(
        "<section class=\"question\">\n<p class=\"kind\">{} · <code>{}</code></p>\n<h3>{}</h3>\n",
        Escaped(scripted.kind),
        Escaped(scripted.stream),
        Escaped(scripted.text)
    );
    match &exchange.outcome {
        Ok(reply) => {
            let _ = write!(
                out,
                "<p class=\"answer\">{}</p>\n<p class=\"fine\">{} · {} · {} moments retrieved</p>\n",
                Escaped(&reply.text),
                seconds(exchange.took.as_secs_f64()),
                window(reply.window),
                reply.moments.len()
            );
            for verdict in &reply.claims {
                out.push_str(&card(verdict, None, pictures));
            }
            out.push_str(&page::rounds::rounds(&reply.rounds));
        }
        Err(refusal) => {
            let name = refusal.name.name();
            let _ = writeln!(out, "<p class=\"refusal\"><code>{name}</code> {}</p>", Escaped(&refusal.message));
        }
    }
    out.push_str("</section>\n");
    out
}

fn window(window: Window) -> String {
    match (window.from.nanos(), window.to) {
        (0, None) => "whole stream".to_owned(),
        (_, None) => format!("from {:.1} s on", window.from.seconds()),
        (_, Some(to)) => format!("{:.1} s to {:.1} s", window.from.seconds(), to.seconds()),
    }
}

fn checks(transcript: &Transcript) -> String {
    let mut out = String::from(
        "<h2>Somebody else's claims</h2>\n<p class=\"fine\">Written by hand, some of them made up, and sent to \
         <code>gvqa.verify.&lt;stream&gt;</code>.</p>\n<section class=\"question\">\n",
    );
    for check in &transcript.checks {
        out.push_str(&card(&check.verdict, Some(person(check)), &transcript.pictures));
    }
    out.push_str("</section>\n");
    out
}

fn person(check: &Check) -> Person {
    Person { says: check.scripted.truth.as_str(), agrees: Some(check.agrees()) }
}

fn streams(streams: &[StreamInfo]) -> String {
    let mut out = String::from(
        "<h2>Streams</h2>\n<div class=\"scroll\"><table>\n<tr><th>stream</th><th>state</th><th>moments</th>\
         <th>reached</th><th>dropped</th></tr>\n",
    );
    for stream in streams {
        let reached = stream.last_timestamp.map(|at| format!("{:.1} s", at.seconds())).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><td><code>{}</code></td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{reached}</td>\
             <td class=\"n\">{}</td></tr>",
            Escaped(stream.stream.as_str()),
            stream.state.as_str(),
            stream.moments,
            stream.dropped.values().sum::<u64>()
        );
    }
    out.push_str("</table></div>\n");
    out
}

fn latency(rows: &[Row]) -> String {
    let mut out = String::from(
        "<h2>Latency</h2>\n<p class=\"fine\">Scraped from <code>/metrics</code>; quantiles are interpolated within \
         histogram buckets. A verify covers all claims of its request, which are checked together.</p>\n\
         <div class=\"scroll\"><table>\n<tr><th>stage</th><th>count</th><th>p50</th><th>p95</th><th>mean</th></tr>\n",
    );
    for Row { stage, count, p50, p95, mean } in rows {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{count}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td></tr>",
            Escaped(stage),
            seconds(*p50),
            seconds(*p95),
            seconds(*mean)
        );
    }
    out.push_str("</table></div>\n");
    out
}

#[cfg(test)]
mod tests;

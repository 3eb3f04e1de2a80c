//! `audit.html`: every claim beside its evidence, what a person says of it, and the figures. One file. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;

use crate::bus;
use crate::cli::page::{self, Escaped, Person, card};
use crate::domain::Design;
use crate::eval::plot;
use crate::eval::record::{Finding, Group, Latency, Run};
use crate::eval::suite::{Item, Truth};
use crate::eval::table::share;
use crate::eval::tally::{Summary, is_flagged};

const STYLE: &str = include_str!("audit.css");
/// What of the claims is shown; the style sheet does it.
const FILTERS: &str = "<nav class=\"filters\">Claims that are \
<label><input type=\"checkbox\" id=\"show-grounded\" checked> GROUNDED</label> \
<label><input type=\"checkbox\" id=\"show-unverified\" checked> UNVERIFIED</label> and \
<label><input type=\"checkbox\" id=\"show-agrees\" checked> as a person says</label> \
<label><input type=\"checkbox\" id=\"show-differs\" checked> not as a person says</label> \
<label><input type=\"checkbox\" id=\"show-untold\" checked> without a clear label</label></nav>\n";

/// The whole page.
pub(super) fn render(run: &Run) -> String {
    let (mut main, stored) = (header(run), pictures(run));
    for design in &run.designs {
        main.push_str(&figures(run, *design));
    }
    main.push_str(&latency(run));
    main.push_str(FILTERS);
    if !run.questions.is_empty() {
        main.push_str("<h2>Questions</h2>\n");
    }
    for (index, question) in run.questions.iter().enumerate() {
        let _ = writeln!(
            main,
            "<section class=\"question\">\n<p class=\"kind\">{} · <code>{}</code></p>\n<h3>{}</h3>",
            Escaped(&question.kind),
            Escaped(question.stream.as_str()),
            Escaped(&question.text)
        );
        main.push_str(&claims(run, &stored, |item| item.question == Some(index)));
        main.push_str("</section>\n");
    }
    let mut kinds: Vec<&str> = run.items.iter().filter(|item| item.question.is_none()).map(|i| &*i.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(main, "<h2>Claims: {}</h2>\n<section class=\"question\">", Escaped(kind));
        main.push_str(&claims(run, &stored, |item| item.question.is_none() && item.kind == kind));
        main.push_str("</section>\n");
    }
    let messages: Vec<_> = run.findings.iter().map(|finding| bus::verdict_message(&finding.verdict)).collect();
    main.push_str(&page::models(messages.iter()));
    page::document(&format!("GroundedVQA: {}", run.suite), &stored, &main)
}

fn pictures(run: &Run) -> BTreeMap<String, Bytes> {
    let trials = run.findings.iter().flat_map(|finding| &finding.verdict.trials);
    let evidence = trials.filter_map(|trial| trial.evidence.as_ref());
    evidence.map(|shot| (shot.sha256.as_str().to_owned(), Bytes::copy_from_slice(&shot.jpeg))).collect()
}

fn header(run: &Run) -> String {
    let (unlabelled, unclear) = run.uncounted();
    format!(
        "<header>\n<style>{STYLE}</style>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<p class=\"fine\">{} questions, {} \
         claims; {unlabelled} without a label and {unclear} unclear ones are shown and not counted. Shares are given \
         with their 95 % Wilson intervals.</p>\n</header>\n",
        Escaped(&run.suite),
        Escaped(run.about.trim()),
        run.questions.len(),
        run.items.len()
    )
}

fn figures(run: &Run, design: Design) -> String {
    let mut out = format!("<h2>Design <code>{}</code></h2>\n", design.as_str());
    let summaries = run.summaries(design);
    out.push_str(&groups(&summaries));
    let Some((_, all)) = summaries.first() else { return out };
    out.push_str(&table(
        "kind",
        all.by_kind.iter().map(|(kind, tally)| (kind.as_str(), vec![share(tally.caught), share(tally.flagged)])),
        &["fabricated and caught", "true and flagged"],
    ));
    out.push_str(&table(
        "reason",
        all.reasons
            .iter()
            .map(|(reason, count)| (*reason, vec![count.of_true.to_string(), count.of_false.to_string()])),
        &["true claims", "fabricated claims"],
    ));
    if design != Design::None {
        let threshold = run.findings.iter().find(|finding| finding.design == design).map(|f| f.verdict.threshold);
        out.push_str(&plot::precision_recall(&all.curve, threshold));
    }
    out
}

fn groups(summaries: &[(Group, Summary)]) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let rows = summaries.iter().map(|(group, summary)| {
        let cells = vec![
            share(summary.all.caught),
            share(summary.all.flagged),
            number(summary.balanced_accuracy),
            number(summary.auroc),
        ];
        (group.as_str(), cells)
    });
    table("claims", rows, &["fabricated and caught", "true and flagged", "balanced accuracy", "AUROC"])
}

fn latency(run: &Run) -> String {
    let seconds = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3} s"));
    let steps = run.latency();
    let rows = steps.iter().map(|(step, Latency { cold_s, steady, p50_s, p95_s, most_s })| {
        (*step, vec![seconds(*cold_s), seconds(*p50_s), seconds(*p95_s), seconds(*most_s), steady.to_string()])
    });
    format!("<h2>Latency</h2>\n{}", table("step", rows, &["cold", "p50", "p95", "most", "of"]))
}

fn table<'a>(first: &str, rows: impl Iterator<Item = (&'a str, Vec<String>)>, columns: &[&str]) -> String {
    let mut out = format!("<div class=\"scroll\"><table>\n<tr><th>{first}</th>");
    for column in columns {
        let _ = write!(out, "<th>{column}</th>");
    }
    out.push_str("</tr>\n");
    for (name, cells) in rows {
        let _ = write!(out, "<tr><td>{}</td>", Escaped(name));
        for cell in cells {
            let _ = write!(out, "<td class=\"n\">{cell}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

/// The cards of every claim that is wanted, one for each design that checks.
fn claims(run: &Run, stored: &BTreeMap<String, Bytes>, wanted: impl Fn(&Item) -> bool) -> String {
    let mut out = String::new();
    for Finding { item, design, verdict, .. } in &run.findings {
        let item = &run.items[*item];
        if *design == Design::None || !wanted(item) {
            continue;
        }
        if run.designs.len() > 2 {
            let _ = writeln!(out, "<p class=\"kind\">design <code>{}</code></p>", design.as_str());
        }
        out.push_str(&card(&bus::verdict_message(verdict), Some(person(item, is_flagged(*design, verdict))), stored));
    }
    out
}

fn person(item: &Item, flagged: bool) -> Person {
    let says = item.truth.map_or("not labelled", Truth::as_str);
    Person { says, agrees: item.truth.and_then(Truth::known).map(|truth| truth != flagged) }
}

#[cfg(test)]
mod tests;

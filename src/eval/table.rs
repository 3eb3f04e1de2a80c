//! Figures as Markdown tables. Pure.

use std::fmt::Write as _;

use super::record::{Group, Latency, Run};
use super::stats::Share;
use super::tally::{Labels, Summary, Tally};
use super::{compare, looks};
use crate::domain::Design;

/// `report.md`: every table of a run.
pub fn report(run: &Run) -> String {
    let mut out = format!("# {}\n\n", plain(&run.suite));
    if !run.about.is_empty() {
        let _ = writeln!(out, "{}\n", plain(run.about.trim()));
    }
    let (unlabelled, unclear) = run.uncounted();
    let (questions, claims) = (run.questions.len(), run.items.len());
    let _ = writeln!(
        out,
        "{questions} questions, {claims} claims, of which {unlabelled} nobody has labelled and {unclear} are unclear: \
         checked, not counted. Shares with their 95 % Wilson intervals.\n"
    );
    out.push_str(&compare::table(run));
    for design in &run.designs {
        let _ = writeln!(out, "## Design `{}`\n", design.as_str());
        if let Some(models) = run.models_of(*design).filter(|_| *design != Design::None) {
            let _ = writeln!(out, "Captioner `{}`, judge `{}`.\n", models.captioner, models.judge);
        }
        let summaries = run.summaries(*design);
        out.push_str(&groups(&summaries));
        if let Some((_, all)) = summaries.first() {
            out.push_str(&kinds(all));
            out.push_str(&labels(all));
            out.push_str(&reasons(all));
        }
    }
    out.push_str(&windows(run));
    out.push_str(&looks::table(&run.looked));
    out.push_str(&latency(run));
    out
}

/// How many questions were understood to be about the right time; nothing if no question says.
pub fn windows(run: &Run) -> String {
    let windows = run.windows();
    if windows.is_empty() {
        return String::new();
    }
    let rows = windows.iter().map(|(kind, right)| format!("| {} | {} |\n", cell(kind), share(*right)));
    let missed = run.questions.iter().filter(|question| question.right_window == Some(false));
    let missed = missed.map(|question| format!("- {:?}: searched {:?}\n", plain(&question.text), question.window));
    let (rows, missed) = (rows.collect::<String>(), missed.collect::<String>());
    format!("## Windows\n\n| kind of question | searched where a person would |\n|---|---|\n{rows}\n{missed}\n")
}

/// One row a group.
pub fn groups(summaries: &[(Group, Summary)]) -> String {
    let mut out = String::from(
        "| claims | fabricated and caught | true and flagged | balanced accuracy | AUROC |\n|---|---|---|---|---|\n",
    );
    for (group, summary) in summaries {
        let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            group.as_str(),
            share(summary.all.caught),
            share(summary.all.flagged),
            number(summary.balanced_accuracy),
            number(summary.auroc)
        );
    }
    for (group, summary) in summaries.iter().filter(|(_, summary)| summary.unavailable > 0) {
        let _ = write!(
            out,
            "\n{}: {} not counted, a model did not answer for them.\n",
            group.as_str(),
            summary.unavailable
        );
    }
    for (group, summary) in summaries.iter().filter(|(_, summary)| summary.without_frame > 0) {
        let _ = write!(
            out,
            "\n{}: {} not counted, they cite a time of which there is no frame, such as one beyond the end of the clip.\n",
            group.as_str(),
            summary.without_frame
        );
    }
    out.push('\n');
    out
}

/// Somebody's words, of which no reader of Markdown makes markup.
pub fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Somebody's words in a cell of a table.
fn cell(text: &str) -> String {
    plain(text).replace('\\', "\\\\").replace('|', "\\|").replace(['\r', '\n'], " ")
}

/// One row a kind.
pub fn kinds(summary: &Summary) -> String {
    let mut out = String::from("| kind | fabricated and caught | true and flagged |\n|---|---|---|\n");
    for (kind, Tally { caught, flagged }) in &summary.by_kind {
        let _ = writeln!(out, "| {} | {} | {} |", cell(kind), share(*caught), share(*flagged));
    }
    out.push('\n');
    out
}

/// One row a kind: which relation between caption and claim decided.
pub fn labels(summary: &Summary) -> String {
    let mut out = String::from("| claims | entailed | neutral | contradicted | not judged |\n|---|---|---|---|---|\n");
    for (kind, labels) in &summary.labels {
        let Labels { entailed, neutral, contradicted, unjudged } = labels;
        let kind = cell(kind);
        let _ = writeln!(out, "| {kind} | {entailed} | {neutral} | {contradicted} | {unjudged} |");
    }
    out.push('\n');
    out
}

/// One row a reason.
pub fn reasons(summary: &Summary) -> String {
    let mut out = String::from("| reason | true claims | fabricated claims |\n|---|---|---|\n");
    for (reason, count) in &summary.reasons {
        let _ = writeln!(out, "| `{reason}` | {} | {} |", count.of_true, count.of_false);
    }
    out.push('\n');
    out
}

fn latency(run: &Run) -> String {
    let mut out = String::from(
        "## Latency\n\nOne question drafted, or one claim checked alone, in seconds; the first is cold. Fewer than 20 have no p95.\n\n\
         | step | cold | p50 | p95 | most | of |\n|---|---|---|---|---|---|\n",
    );
    let seconds = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    for (step, Latency { cold_s, steady, p50_s, p95_s, most_s }) in run.latency() {
        let [cold, p50, p95, most] = [cold_s, p50_s, p95_s, most_s].map(seconds);
        let _ = writeln!(out, "| {step} | {cold} | {p50} | {p95} | {most} | {steady} |");
    }
    out
}

/// "97.3 % (36 of 37; 86.2–99.5 %)".
pub fn share(share: Share) -> String {
    let percent = |value: f64| value * 100.0;
    match (share.value(), share.interval()) {
        (Some(value), Some((low, high))) => format!(
            "{:.1} % ({} of {}; {:.1}–{:.1} %)",
            percent(value),
            share.hits,
            share.of,
            percent(low),
            percent(high)
        ),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Reason;
    use crate::eval::tally::Judged;

    #[test]
    fn shares_are_written_with_what_they_are_of() {
        assert_eq!(share(Share { hits: 36, of: 37 }), "97.3 % (36 of 37; 86.2–99.5 %)");
        assert_eq!(share(Share::default()), "–");
    }

    #[test]
    fn a_kind_breaks_no_table() {
        let judged = |kind: &str, reason, without_frame| Judged {
            kind: kind.into(),
            truth: false,
            flagged: true,
            score: 0.0,
            reason,
            without_frame,
        };
        let summary = Summary::of(&[judged("a|b\n\\c", Reason::Neutral, false), judged("d", Reason::NoFrame, true)]);
        let told = [kinds(&summary), labels(&summary)].concat();
        assert_eq!(told.lines().filter(|line| line.starts_with("| a\\|b \\\\c")).count(), 2, "{told}");
        assert!(!kinds(&summary).contains("| d |"), "{told}");
        let groups = groups(&[(Group::All, summary)]);
        assert!(groups.contains("all claims: 1 not counted, they cite a time of which there is no frame"), "{groups}");
    }
}

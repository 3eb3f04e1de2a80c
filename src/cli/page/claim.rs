//! One claim beside the frame that decided. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;

use super::html::Escaped;
use crate::bus::wire::{Evidence, Trial, Verdict};
use crate::domain::{Entailment, Label};

/// What a person says about a claim.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Person {
    /// Such as "true".
    pub(in crate::cli) says: &'static str,
    /// Whether the verdict is what a person would say; `None` if a person cannot tell.
    pub(in crate::cli) agrees: Option<bool>,
}

/// The card of a claim; `person` is there if one has said what is true.
pub(in crate::cli) fn card(verdict: &Verdict, person: Option<Person>, pictures: &BTreeMap<String, Bytes>) -> String {
    let class = match verdict.verdict {
        Label::Grounded => "grounded",
        Label::Unverified => "unverified",
    };
    let mut out = format!("<article class=\"claim {class}\">\n");
    out.push_str(&figure(verdict.evidence.as_ref(), pictures));
    let _ = write!(
        out,
        "<div class=\"said\">\n<p class=\"badges\"><span class=\"badge\">{}</span> <span class=\"reason\">{}</span> \
         <span class=\"cited\">cites {:.2} s, checked by {}</span>{}</p>\n<p class=\"text\">{}</p>\n",
        verdict.verdict.as_str(),
        verdict.reason.as_str().replace('_', " "),
        verdict.timestamp.seconds(),
        verdict.design.as_str(),
        person.map(said).unwrap_or_default(),
        Escaped(&verdict.claim)
    );
    if let Some(from) = &verdict.repaired_from {
        let (claim, at) = (Escaped(&from.claim), from.read_at.timestamp.seconds());
        let _ = writeln!(
            out,
            "<p class=\"detail\">drafted again from what was seen at {at:.2} s, instead of “{claim}”</p>"
        );
    }
    if let Some(evidence) = &verdict.evidence {
        out.push_str(&caption(evidence));
    }
    if let Some(odds) = &verdict.probabilities {
        out.push_str(&bars(odds, verdict.threshold));
    }
    out.push_str(&trials(&verdict.trials, pictures));
    out.push_str("</div>\n</article>\n");
    out
}

/// What a person says about the claim.
fn said(person: Person) -> String {
    let class = match person.agrees {
        Some(true) => " agrees",
        Some(false) => " differs",
        None => "",
    };
    format!(" <span class=\"person{class}\">a person says: {}</span>", person.says)
}

fn figure(evidence: Option<&Evidence>, pictures: &BTreeMap<String, Bytes>) -> String {
    let Some(evidence) = evidence else {
        return "<figure class=\"none\"><div>no frame</div></figure>\n".to_owned();
    };
    format!(
        "<figure>{}<figcaption>{:.2} s{} · <span class=\"digest\" title=\"SHA-256 {digest}\">{}</span></figcaption></figure>\n",
        picture(evidence, pictures),
        evidence.timestamp.seconds(),
        place(evidence.neighbour),
        &evidence.sha256.as_str()[..12.min(evidence.sha256.as_str().len())],
        digest = Escaped(evidence.sha256.as_str()),
    )
}

fn picture(evidence: &Evidence, pictures: &BTreeMap<String, Bytes>) -> String {
    let digest = evidence.sha256.as_str();
    let Some(jpeg) = pictures.get(digest) else {
        return "<div class=\"missing\">the picture was not published</div>".to_owned();
    };
    let (width, height) = super::jpeg::size(jpeg).unwrap_or((16, 9));
    format!(
        "<svg class=\"frame\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"frame at {:.2} s: {}\">\
         <use href=\"#f-{digest}\"/></svg>",
        evidence.timestamp.seconds(),
        Escaped(&evidence.caption)
    )
}

fn place(neighbour: i8) -> &'static str {
    match neighbour {
        0 => "",
        n if n < 0 => " · the sample before",
        _ => " · the sample after",
    }
}

/// The blind caption with the sentence that decided marked.
fn caption(evidence: &Evidence) -> String {
    let caption = evidence.caption.as_str();
    let marked = evidence.premise.as_deref().filter(|premise| !premise.is_empty()).and_then(|premise| {
        let (before, after) = caption.split_once(premise)?;
        Some(format!("{}<mark>{}</mark>{}", Escaped(before), Escaped(premise), Escaped(after)))
    });
    let text = marked.unwrap_or_else(|| Escaped(caption).to_string());
    if !text.is_empty() {
        return format!("<blockquote>{text}</blockquote>\n");
    }
    // Without a caption the premise is what a model that was shown the frame answered.
    let answer = evidence.premise.as_deref().filter(|answer| !answer.is_empty());
    answer.map(|answer| format!("<blockquote>{}</blockquote>\n", Escaped(answer))).unwrap_or_default()
}

fn bars(odds: &Entailment, threshold: f32) -> String {
    let mut out = String::from("<dl class=\"bars\">\n");
    for (class, name, value) in [
        ("yes", "entailment", odds.entailment),
        ("open", "neutral", odds.neutral),
        ("no", "contradiction", odds.contradiction),
    ] {
        let percent = (value * 100.0).clamp(0.0, 100.0);
        let tick = if class == "open" {
            String::new()
        } else {
            format!("<i style=\"left:{:.1}%\" title=\"threshold {threshold:.2}\"></i>", threshold * 100.0)
        };
        let _ = writeln!(
            out,
            "<dt>{name}</dt><dd><div class=\"bar {class}\"><b style=\"width:{percent:.1}%\"></b>{tick}</div>\
             <span>{value:.3}</span></dd>"
        );
    }
    out.push_str("</dl>\n");
    out
}

/// Every frame that was looked at, if there was more than one or one that needs a word.
fn trials(trials: &[Trial], pictures: &BTreeMap<String, Bytes>) -> String {
    let mut out = String::new();
    if let [Trial { detail, .. }] = trials
        && !detail.is_empty()
    {
        let _ = writeln!(out, "<p class=\"detail\">{}</p>", Escaped(detail));
    }
    if trials.len() < 2 {
        return out;
    }
    let _ = writeln!(out, "<details><summary>{} frames were looked at</summary>", trials.len());
    for trial in trials {
        let place = match trial.evidence.as_ref().map(|evidence| evidence.neighbour) {
            Some(0) | None => "cited frame",
            Some(n) if n < 0 => "sample before",
            Some(_) => "sample after",
        };
        let picture = trial.evidence.as_ref().map(|evidence| picture(evidence, pictures)).unwrap_or_default();
        let premise = trial.evidence.as_ref().and_then(|evidence| evidence.premise.as_deref()).unwrap_or_default();
        let odds = trial.probabilities.map(|odds| format!(" {:.2}", odds.entailment)).unwrap_or_default();
        let _ = writeln!(
            out,
            "<div class=\"trial\">{picture}<p><b>{place}</b> {}{odds}<br>{}{}</p></div>",
            trial.reason.as_str().replace('_', " "),
            Escaped(premise),
            Escaped(&trial.detail)
        );
    }
    out.push_str("</details>\n");
    out
}

//! The audit over a run whose texts try to break out of it.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::domain::{
    Caption, Citation, Claim, Clock, Entailment, Evidence, Fingerprint, ModelSet, Reason, Sha256, StreamId, StreamTime,
    Trial, Verdict, VerdictId, WallTime,
};
use crate::eval::looks::{Look, Looked};
use crate::eval::record::Answered;

const HOSTILE: &str = "<script src=x>alert(1)</script> & \"quoted\" '";

fn jpeg() -> Arc<[u8]> {
    let mut jpeg = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 80);
    encoder.encode(&[90; 3 * 16 * 8], 16, 8, jpeg_encoder::ColorType::Rgb).expect("encodes");
    jpeg.into()
}

fn item(text: &str, truth: Option<Truth>, question: Option<usize>) -> Item {
    let citation = Citation { stream: StreamId::new("cam").expect("a token"), at: StreamTime::from_nanos(5) };
    let claim = Claim { text: text.into(), citation };
    Item { question, kind: HOSTILE.into(), claim, truth, drafted: question.is_some(), beyond: false }
}

fn finding(index: usize, item: &Item, design: Design, reason: Reason) -> Finding {
    let entailment = Some(Entailment { entailment: 0.912, neutral: 0.068, contradiction: 0.02 });
    let evidence = Evidence {
        citation: item.claim.citation.clone(),
        wall: WallTime::now(),
        clock: Clock::Media,
        precision: Duration::ZERO,
        neighbour: 0,
        caption: Caption::new(format!("There is a car. {HOSTILE}")),
        sha256: Sha256::of(&jpeg()),
        jpeg: jpeg(),
    };
    let trial = Trial {
        reason,
        detail: HOSTILE.into(),
        evidence: Some(evidence),
        entailment,
        premise: Some("There is a car.".into()),
    };
    let model = Fingerprint::new(HOSTILE);
    let verdict = Verdict {
        id: VerdictId::generate(),
        question: None,
        claim: item.claim.clone(),
        repaired_from: None,
        timing: None,
        design,
        reason,
        decided_by: Some(0),
        trials: if design == Design::None { vec![] } else { vec![trial] },
        threshold: 0.6,
        models: ModelSet { drafter: None, captioner: model.clone(), judge: model },
    };
    Finding { item: index, design, verdict, took: Duration::from_millis(20) }
}

fn run() -> Run {
    let items = vec![
        item("There is a car.", Some(Truth::True), Some(0)),
        item(&format!("There is a train. {HOSTILE}"), Some(Truth::False), Some(0)),
        item("There is a dog.", Some(Truth::False), None),
        item("It is late.", None, None),
    ];
    let reasons = [Reason::Entailed, Reason::Contradicted, Reason::Entailed, Reason::Neutral];
    let mut findings = Vec::new();
    for (index, item) in items.iter().enumerate() {
        findings.push(finding(index, item, Design::None, Reason::Unchecked));
        findings.push(finding(index, item, Design::CaptionNli, reasons[index]));
    }
    let question = Answered {
        kind: HOSTILE.into(),
        stream: StreamId::new("cam").expect("a token"),
        text: HOSTILE.into(),
        moments: vec![],
        window: [0.0, 5.0],
        right_window: None,
        took: Duration::from_secs(1),
    };
    let look = Look { how: "first", claims: 1, grounded: vec![HOSTILE.into()], captioned: 0, took: Duration::ZERO };
    Run {
        suite: HOSTILE.into(),
        about: HOSTILE.into(),
        models: None,
        questions: vec![question],
        looked: vec![Looked { question: HOSTILE.into(), looks: vec![look] }],
        items,
        designs: vec![Design::None, Design::CaptionNli],
        findings,
    }
}

#[test]
fn no_text_becomes_markup() {
    let page = render(&run());
    assert!(!page.contains("<script"), "a hostile text became an element");
    assert!(page.matches("&lt;script src=x&gt;alert(1)&lt;/script&gt;").count() >= 8);
}

#[test]
fn the_page_stands_alone() {
    let page = render(&run());
    for outside in ["http://", "https://", "src=\"", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside} reaches outside the page");
    }
    assert_eq!(page.matches("data:image/jpeg;base64,").count(), 1, "each picture is stored once");
}

#[test]
fn every_checked_claim_stands_beside_its_frame_caption_and_probabilities() {
    let page = render(&run());
    let cards: Vec<&str> = page.split("<article ").skip(1).collect();
    assert_eq!(cards.len(), 4, "one card a claim of the design that checks");
    for card in &cards {
        assert!(card.contains("<use href=\"#f-"), "a frame: {card}");
        assert!(card.contains("<mark>There is a car.</mark>"), "the sentence that decided: {card}");
        for value in ["0.912", "0.068", "0.020"] {
            assert!(card.contains(value), "{value}: {card}");
        }
    }
    let says = |card: &str, word: &str| card.contains(&format!("a person says: {word}"));
    let due = ["true", "false", "false", "not labelled"];
    assert!(cards.iter().zip(due).all(|(card, word)| says(card, word)), "what a person says stands there");
    let differs: Vec<bool> = cards.iter().map(|card| card.contains("class=\"person differs\"")).collect();
    assert_eq!(differs, [false, false, true, false], "a dog that is not there was let through");
}

#[test]
fn the_figures_are_those_of_the_paper() {
    let page = render(&run());
    for due in ["balanced accuracy", "AUROC", "class=\"plot\"", "cold", "p50", "Wilson", "50.0 % (1 of 2; 9.5–90.5 %)"]
    {
        assert!(page.contains(due), "{due} is missing");
    }
    for reason in ["entailed", "contradicted"] {
        assert!(page.contains(&format!("<td>{reason}</td>")), "verdicts by label: {reason}");
    }
}

#[test]
fn claims_can_be_shown_by_verdict_and_by_what_a_person_says() {
    let page = render(&run());
    for id in ["grounded", "unverified", "agrees", "differs", "untold"] {
        assert!(page.contains(&format!("<input type=\"checkbox\" id=\"show-{id}\" checked>")), "no box for {id}");
        assert!(page.contains(&format!("#show-{id}:not(:checked)")), "the box for {id} does nothing");
    }
}

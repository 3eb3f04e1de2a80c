//! The page over a transcript that tries to break out of it.

use std::time::Duration;

use super::super::script::{Claim, Question, Truth};
use super::*;
use crate::bus::wire::{
    AnswerReply, ErrorBody, ErrorCode, Evidence, Models, Place, RepairedFrom, Round, TimeAsked, Trial, V1, Verdict,
};
use crate::domain::{
    Clock, Design, Entailment, Fingerprint, How, Order, QuestionId, Reason, Sha256, StreamId, StreamKind, StreamState,
    StreamTime, VerdictId, WallTime, Why,
};

const HOSTILE: &str = "<img src=x onerror=alert(1)> & \"quoted\" '";

const QUESTION: Question = Question { kind: "factual", stream: "cam", text: "Is there a car?" };

static CLAIM: Claim = Claim { text: "A dog is chasing a ball.", seconds: 20.0, truth: Truth::Fabricated };

fn jpeg() -> Bytes {
    let mut jpeg = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut jpeg, 80);
    encoder.encode(&[90; 3 * 16 * 8], 16, 8, jpeg_encoder::ColorType::Rgb).expect("encodes");
    jpeg.into()
}

fn verdict(reason: Reason, claim: &str) -> Verdict {
    let at = StreamTime::from_nanos(20_000_000_000);
    let evidence = Evidence {
        subject: "gvqa.evidence.cam".into(),
        sha256: Sha256::of(&jpeg()),
        bytes: 1,
        omitted: None,
        timestamp: at,
        wall: WallTime::now(),
        clock: Clock::Media,
        precision_s: 0.02,
        neighbour: 0,
        caption: format!("There is a car. {HOSTILE}"),
        premise: Some("There is a car.".into()),
    };
    let odds = Entailment { entailment: 0.9, neutral: 0.08, contradiction: 0.02 };
    let trial = Trial { reason, detail: HOSTILE.into(), probabilities: Some(odds), evidence: Some(evidence.clone()) };
    Verdict {
        v: V1,
        verdict_id: VerdictId::generate(),
        question_id: None,
        stream: StreamId::new("cam").expect("a token"),
        claim: claim.into(),
        repaired_from: Some(RepairedFrom {
            verdict_id: VerdictId::generate(),
            claim: HOSTILE.into(),
            read_at: Place { stream: StreamId::new("cam").expect("a token"), timestamp: at },
        }),
        timestamp: at,
        clock: Some(Clock::Media),
        precision_s: Some(0.02),
        verdict: reason.label(),
        reason,
        design: Design::CaptionNli,
        probabilities: Some(odds),
        threshold: 0.6,
        models: Models {
            drafter: Some(Fingerprint::new(HOSTILE)),
            captioner: Fingerprint::new("c"),
            judge: Fingerprint::new("j"),
        },
        evidence: Some(evidence),
        trials: vec![trial.clone(), trial],
    }
}

fn transcript() -> Transcript {
    let reply = AnswerReply {
        v: V1,
        question_id: QuestionId::generate(),
        question: HOSTILE.into(),
        text: HOSTILE.into(),
        design: Design::CaptionNli,
        streams: vec![],
        window: Window { from: StreamTime::ZERO, to: None },
        time: TimeAsked { phrase: HOSTILE.into(), order: Order::Relevance, windows: vec![], anchor: None },
        survey: None,
        moments: vec![],
        claims: vec![verdict(Reason::Entailed, HOSTILE)],
        assessments: vec![],
        rounds: vec![Round {
            why: Why::Ungrounded,
            how: How::Finer,
            windows: vec![],
            looked_at: vec![Place { stream: StreamId::new("cam").expect("a token"), timestamp: StreamTime::ZERO }],
            added: vec![],
            grounded: 1,
            captioned: 3,
            seconds: 0.5,
            trouble: Some(HOSTILE.into()),
        }],
    };
    let refusal = ErrorBody { code: 404, name: ErrorCode::UnknownStream, message: HOSTILE.into() };
    let exchange = |outcome| Exchange { scripted: QUESTION, took: Duration::from_millis(1500), outcome };
    let stream = StreamInfo {
        stream: StreamId::new("cam").expect("a token"),
        kind: StreamKind::File,
        state: StreamState::Ended,
        detail: String::new(),
        since: WallTime::now(),
        last_timestamp: Some(StreamTime::ZERO),
        last_wall: None,
        blind: None,
        unobservable_s: 0.0,
        moments: 16,
        dropped: BTreeMap::new(),
        lag_s: None,
    };
    Transcript {
        at: WallTime::now(),
        streams: vec![stream],
        exchanges: vec![exchange(Ok(reply)), exchange(Err(refusal))],
        checks: vec![Check { scripted: &CLAIM, verdict: verdict(Reason::Neutral, CLAIM.text) }],
        pictures: [(Sha256::of(&jpeg()).as_str().to_owned(), jpeg())].into(),
        latency: vec![Row { stage: "judge".into(), count: 3, p50: 0.2, p95: 1.5, mean: 0.4 }],
    }
}

#[test]
fn nothing_that_came_over_the_bus_becomes_markup() {
    let page = render(&transcript());
    assert!(!page.contains("<img"), "a hostile text became an element");
    assert!(page.matches("&lt;img src=x onerror=alert(1)&gt;").count() >= 5);
}

#[test]
fn the_page_stands_alone() {
    let page = render(&transcript());
    for outside in ["http://", "https://", "src=\"", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside} reaches outside the page");
    }
    let stored = page.matches("data:image/jpeg;base64,").count();
    assert_eq!(stored, 1, "each picture is stored once");
    assert!(page.matches("<use href=\"#f-").count() >= 2, "and shown beside every claim");
}

#[test]
fn a_claim_stands_beside_its_evidence() {
    let page = render(&transcript());
    for shown in [
        "<article class=\"claim grounded\">",
        "<article class=\"claim unverified\">",
        "<mark>There is a car.</mark>",
        "a person says: fabricated",
        "<b>1</b> grounded",
        "<b>1</b> unverified",
        "<code>unknown_stream</code>",
        "viewBox=\"0 0 16 8\"",
        "200.0 ms",
    ] {
        assert!(page.contains(shown), "{shown} is missing");
    }
}

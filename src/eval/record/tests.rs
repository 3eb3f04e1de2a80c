//! Steps as they are timed, and claims as every design counts them.

use super::*;
use crate::domain::{Citation, Claim, Fingerprint, VerdictId};
use crate::eval::table;

#[test]
fn the_first_is_cold() {
    let took = [900, 100, 300, 200].map(Duration::from_millis);
    let latency = Latency::of(&took);
    assert_eq!(
        (latency.cold_s, latency.steady, latency.p50_s, latency.p95_s, latency.most_s),
        (Some(0.9), 3, Some(0.2), None, Some(0.3)),
        "three do not tell what 95 of 100 take"
    );
    let many: Vec<Duration> = (0..=100).rev().map(Duration::from_secs).collect();
    let latency = Latency::of(&many);
    assert_eq!((latency.cold_s, latency.p50_s), (Some(100.0), Some(49.0)));
    assert_eq!((latency.p95_s, latency.most_s), (Some(94.0), Some(99.0)));
    assert_eq!(Latency::of(&many[..20]).p95_s, None);
    assert_eq!(Latency::of(&many[..21]).p95_s, Some(98.0));
    let none = Latency::of(&[]);
    assert_eq!((none.cold_s, none.steady, none.p50_s), (None, 0, None));
}

fn verdict(design: Design, reason: Reason) -> Verdict {
    let citation = Citation { stream: StreamId::new("cam").expect("a token"), at: StreamTime::ZERO };
    let model = Fingerprint::new("m");
    Verdict {
        id: VerdictId::generate(),
        question: None,
        claim: Claim { text: "A.".into(), citation },
        repaired_from: None,
        timing: None,
        design,
        reason,
        decided_by: None,
        trials: Vec::new(),
        threshold: 0.5,
        models: ModelSet { drafter: None, captioner: model.clone(), judge: model },
    }
}

/// Two fabricated claims, of which the second cites a time beyond the end of the clip.
fn run(designs: &[Design]) -> Run {
    let item = |kind: &str| Item {
        question: None,
        kind: kind.into(),
        claim: verdict(Design::None, Reason::Unchecked).claim,
        truth: Some(Truth::False),
        drafted: false,
        beyond: false,
    };
    let reason = |design, index| match (design, index) {
        (Design::None, _) => Reason::Unchecked,
        (_, 0) => Reason::Neutral,
        _ => Reason::NoFrame,
    };
    let finding = |index, design| {
        let took = Duration::from_secs(1);
        Finding { item: index, design, verdict: verdict(design, reason(design, index)), took }
    };
    Run {
        suite: "s <script>alert(1)</script>".into(),
        about: "By <b>eye</b> & ear.".into(),
        models: None,
        questions: Vec::new(),
        looked: Vec::new(),
        items: vec![item("<script>x</script>"), item("late")],
        designs: designs.to_vec(),
        findings: (0..2).flat_map(|index| designs.iter().map(move |design| finding(index, *design))).collect(),
    }
}

#[test]
fn every_design_counts_the_same_claims() {
    let table: [(&[Design], &[usize]); 3] = [
        (&[Design::None, Design::CaptionNli], &[1, 1]),
        (&[Design::CaptionNli, Design::CaptionLlmJudge], &[1, 1]),
        // Nobody looked for the frame.
        (&[Design::None], &[2]),
    ];
    for (designs, due) in table {
        let run = run(designs);
        let summary = |design: &Design| Summary::of(&run.judged(*design, Group::All));
        let counted: Vec<usize> = designs.iter().map(|design| summary(design).all.caught.of).collect();
        assert_eq!(counted, due, "{designs:?}");
        for (design, due) in designs.iter().zip(due) {
            assert_eq!(summary(design).without_frame, 2 - due, "{design:?} of {designs:?}");
            assert_eq!(summary(design).by_kind.contains_key("late"), *due == 2, "{design:?} of {designs:?}");
        }
    }
}

#[test]
fn what_a_suite_says_is_no_markup_of_the_report() {
    let report = table::report(&run(&[Design::None, Design::CaptionNli]));
    assert!(!report.contains(['<', '>']), "{report}");
    for due in
        ["# s &lt;script&gt;alert(1)&lt;/script&gt;", "By &lt;b&gt;eye&lt;/b&gt; &amp; ear.", "| &lt;script&gt;x"]
    {
        assert!(report.contains(due), "{due} is missing: {report}");
    }
}

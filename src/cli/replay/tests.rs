//! What is told of tampered verdicts and of changed ones, and what is told not to be checked.

use std::time::Duration;

use super::compare::changes;
use super::probe::{Source, missing};
use super::unchecked;
use crate::bus::wire::{Evidence, Models, Trial, V1, Verdict};
use crate::domain::{
    Clock, Design, Entailment, Fingerprint, Reason, Sha256, StreamId, StreamKind, StreamTime, VerdictId, WallTime,
};

const ODDS: Entailment = Entailment { entailment: 0.2, neutral: 0.7, contradiction: 0.1 };

fn t(seconds: u64) -> StreamTime {
    StreamTime::from_nanos(seconds * 1_000_000_000)
}

/// Of a file that was watched from second 1000 on.
fn evidence(seconds: u64) -> Evidence {
    Evidence {
        subject: "gvqa.evidence.cam".into(),
        sha256: Sha256::of(b"jpeg"),
        bytes: 4,
        omitted: None,
        timestamp: t(seconds),
        wall: WallTime::from_nanos(1_000_000_000_000).expect("a time").plus(Duration::from_secs(seconds)),
        clock: Clock::Media,
        precision_s: 0.02,
        neighbour: if seconds == 10 { 0 } else { -1 },
        caption: "There is a car.".into(),
        premise: Some("There is a car.".into()),
    }
}

fn trial(seconds: u64) -> Trial {
    Trial {
        reason: Reason::Neutral,
        detail: String::new(),
        probabilities: Some(ODDS),
        evidence: Some(evidence(seconds)),
    }
}

fn blind(reason: Reason) -> Trial {
    Trial { reason, detail: "nothing is there".into(), probabilities: None, evidence: None }
}

fn verdict() -> Verdict {
    let model = Fingerprint::new("m@1");
    Verdict {
        v: V1,
        verdict_id: VerdictId::generate(),
        question_id: None,
        stream: StreamId::new("cam").expect("a token"),
        claim: "There is a dog.".into(),
        repaired_from: None,
        timestamp: t(10),
        clock: Some(Clock::Media),
        precision_s: Some(0.02),
        verdict: Reason::Neutral.label(),
        reason: Reason::Neutral,
        design: Design::CaptionNli,
        probabilities: Some(ODDS),
        threshold: 0.5,
        models: Models { drafter: None, captioner: model.clone(), judge: model },
        evidence: Some(evidence(10)),
        trials: vec![trial(10), trial(5)],
    }
}

fn file() -> Source {
    Source { kind: StreamKind::File, prefix: None, every: Duration::from_secs(5) }
}

fn site(kind: StreamKind) -> Source {
    Source { kind, prefix: Some("gvqa".into()), every: Duration::from_secs(5) }
}

fn told(was: &Verdict, is: &Verdict, source: &Source) -> Vec<String> {
    changes(was, is, source).iter().map(ToString::to_string).collect()
}

fn assert_told(told: &[String], due: &[&str]) {
    assert_eq!(told.len(), due.len(), "{told:?} instead of {due:?}");
    assert!(told.iter().zip(due).all(|(told, due)| told.contains(due)), "{told:?} instead of {due:?}");
}

/// Changes all frames of a verdict alike, at its head and in its trials.
fn everywhere(verdict: &mut Verdict, change: impl Fn(&mut Evidence)) {
    verdict.evidence.iter_mut().for_each(&change);
    verdict.trials.iter_mut().filter_map(|trial| trial.evidence.as_mut()).for_each(change);
}

#[test]
fn the_same_check_changes_nothing() {
    let mut again = verdict();
    again.trials[0].probabilities = Some(Entailment { entailment: 0.2004, neutral: 0.6996, contradiction: 0.1 });
    // A file is watched when it is watched, under any name, and what lies beyond its end was no sample.
    everywhere(&mut again, |evidence| evidence.wall = evidence.wall.plus(Duration::from_secs(7)));
    again.trials.push(blind(Reason::NoFrame));
    assert_eq!(changes(&verdict(), &again, &file()), []);
}

#[test]
fn every_change_is_told() {
    let table: [(fn(&mut Verdict), &str); 8] = [
        (|v| v.models.judge = Fingerprint::new("m@2"), "the judge was m@1, is m@2"),
        (|v| v.threshold = 0.6, "the threshold was 0.5, is 0.6"),
        (
            |v| v.trials[1].evidence = Some(Evidence { sha256: Sha256::of(b"x"), ..evidence(5) }),
            "the frame at 5.000 s was",
        ),
        (|v| v.trials[0].evidence = Some(Evidence { caption: "A dog.".into(), ..evidence(10) }), "is \"A dog.\""),
        (|v| v.trials[0].probabilities = None, "were 0.200/0.700/0.100, are none"),
        (|v| v.trials[0].reason = Reason::Contradicted, "alone was neutral, is contradicted"),
        (|v| drop(v.trials.pop()), "the frame at 5.000 s was looked at, and is not now"),
        (|v| v.reason = Reason::Entailed, "the verdict was neutral, is entailed"),
    ];
    for (change, due) in table {
        let mut now = verdict();
        change(&mut now);
        assert_told(&told(&verdict(), &now, &file()), &[due]);
    }
}

#[test]
fn a_verdict_that_contradicts_itself_is_not_the_same() {
    const SURE: Entailment = Entailment { entailment: 0.99, neutral: 0.01, contradiction: 0.0 };
    let table: [(fn(&mut Verdict), &[&str]); 13] = [
        (|v| v.verdict = Reason::Entailed.label(), &["its label"]),
        (|v| v.probabilities = Some(SURE), &["its probabilities"]),
        (|v| v.probabilities = Some(Entailment { entailment: 0.200_01, ..ODDS }), &["its probabilities"]),
        (|v| v.evidence = Some(Evidence { caption: "A dog.".into(), ..evidence(10) }), &["its evidence"]),
        (|v| v.evidence = Some(Evidence { premise: Some("A dog.".into()), ..evidence(10) }), &["its evidence"]),
        (|v| v.evidence = Some(Evidence { bytes: 5, ..evidence(10) }), &["its evidence"]),
        (|v| v.evidence = Some(Evidence { omitted: Some("secret".into()), ..evidence(10) }), &["its evidence"]),
        (|v| v.evidence = Some(evidence(5)), &["its evidence"]),
        (|v| v.evidence = None, &["its evidence"]),
        (|v| v.clock = Some(Clock::Arrival), &["its clock"]),
        (|v| v.precision_s = None, &["its precision_s"]),
        (|v| v.trials[1].evidence = Some(Evidence { wall: evidence(6).wall, ..evidence(5) }), &["its time of day"]),
        (
            |v| (v.trials, v.evidence, v.probabilities) = (Vec::new(), None, None),
            &["at 10.000 s is looked at, and is not", "at 5.000 s is looked at, and is not"],
        ),
    ];
    for (tamper, due) in table {
        let mut stored = verdict();
        tamper(&mut stored);
        assert_told(&told(&stored, &verdict(), &file()), due);
    }
}

/// Tampered with at its head and in its trials alike, so that it does not contradict itself.
#[test]
fn what_the_check_gives_otherwise_is_told_of_each_frame() {
    let dog = |v: &mut Verdict| everywhere(v, |evidence| evidence.premise = Some("There is a dog.".into()));
    let table: [(&dyn Fn(&mut Verdict), &[&str]); 10] = [
        (
            &dog,
            &[
                "the premise at 10.000 s was \"There is a dog.\", is \"There is a car.\"",
                "the premise at 5.000 s was \"There is a dog.\"",
            ],
        ),
        (&|v| everywhere(v, |evidence| evidence.premise = None), &["premise at 10.000 s was none", "premise at 5"]),
        (
            &|v| everywhere(v, |evidence| evidence.neighbour += 1),
            &["the neighbour at 10.000 s was 1, is 0", "the neighbour at 5.000 s was 0, is -1"],
        ),
        (&|v| everywhere(v, |evidence| evidence.bytes = 1), &["the bytes at 10.000 s was 1, is 4", "the bytes at 5"]),
        (
            &|v| {
                v.clock = Some(Clock::SenderReport);
                everywhere(v, |evidence| evidence.clock = Clock::SenderReport);
            },
            &["the clock at 10.000 s was sender_report, is media", "the clock at 5"],
        ),
        (
            &|v| {
                v.precision_s = Some(0.0);
                everywhere(v, |evidence| evidence.precision_s = 0.0);
            },
            &["the precision_s at 10.000 s was 0, is 0.02", "the precision_s at 5"],
        ),
        (
            &|v| everywhere(v, |evidence| evidence.subject = "evil.subject".into()),
            &["the subject at 10.000 s was evil.subject, is PREFIX.evidence.cam", "the subject at 5"],
        ),
        (
            &|v| v.trials[1].detail = "verified by a human".into(),
            &["the detail at 5.000 s was \"verified by a human\", is \"\""],
        ),
        (&|v| v.trials.push(trial(5)), &["the order of the frames was 10.000 s, 5.000 s, 5.000 s, is 10.000 s, 5.0"]),
        (&|v| v.trials.push(blind(Reason::Expired)), &["the trial without a frame was expired, is none"]),
    ];
    for (tamper, due) in table {
        let mut stored = verdict();
        tamper(&mut stored);
        assert_told(&told(&stored, &verdict(), &file()), due);
    }
}

#[test]
fn a_site_knows_more_of_its_verdicts_than_a_file() {
    let mut stored = verdict();
    everywhere(&mut stored, |evidence| evidence.subject = "evil.evidence.cam".into());
    assert_told(&told(&stored, &verdict(), &file()), &[]);
    let due = ["the subject at 10.000 s was evil.evidence.cam, is gvqa.evidence.cam", "the subject at 5"];
    assert_told(&told(&stored, &verdict(), &site(StreamKind::File)), &due);

    // A camera's pictures are stamped in its recording; which neighbours were recorded by then nobody knows.
    let live = |verdict: &mut Verdict| {
        verdict.clock = Some(Clock::Arrival);
        everywhere(verdict, |evidence| evidence.clock = Clock::Arrival);
    };
    let (mut stored, mut now) = (verdict(), verdict());
    live(&mut stored);
    live(&mut now);
    stored.trials.push(blind(Reason::NoFrame));
    assert_told(&told(&stored, &now, &site(StreamKind::Live)), &[]);
    everywhere(&mut now, |evidence| evidence.wall = evidence.wall.plus(Duration::from_secs(1)));
    let due = ["the time of day at 10.000 s was ", "the time of day at 5.000 s was "];
    assert_told(&told(&stored, &now, &site(StreamKind::Live)), &due);
}

#[test]
fn a_sample_is_put_where_a_neighbour_should_have_been_tried() {
    let table: [(fn(&mut Verdict), &[u64]); 8] = [
        (|_| (), &[15]),
        (|v| v.trials.truncate(1), &[5, 15]),
        (|v| v.trials[1] = trial(8), &[12]),
        (|v| v.trials.push(trial(15)), &[]),
        (|v| (v.timestamp, v.trials) = (t(0), vec![trial(0)]), &[5]),
        (|v| v.reason = Reason::Entailed, &[]),
        (|v| v.trials = vec![blind(Reason::NoFrame)], &[]),
        (|v| v.trials.clear(), &[]),
    ];
    for (place, (tamper, due)) in table.into_iter().enumerate() {
        let mut stored = verdict();
        tamper(&mut stored);
        let due: Vec<StreamTime> = due.iter().map(|at| t(*at)).collect();
        assert_eq!(missing(&stored, &file()), due, "case {place}");
        assert_eq!(missing(&stored, &site(StreamKind::Live)), [], "case {place} of a camera");
    }
}

#[test]
fn what_is_not_checked_is_told() {
    let always = ["verdict_id", "question_id", "repaired_from", "models.drafter"];
    let sets = |source: &Source, tamper: fn(&mut Verdict)| {
        let mut stored = verdict();
        tamper(&mut stored);
        unchecked::of(&stored, source)
    };
    let table: [(Source, fn(&mut Verdict), &[&str]); 4] = [
        (file(), |_| (), &["omitted", "stream (its", "the subject's prefix", "wall (when"]),
        (site(StreamKind::File), |_| (), &["omitted", "wall (when"]),
        (
            site(StreamKind::Live),
            |v| everywhere(v, |evidence| evidence.clock = Clock::Arrival),
            &["omitted", "neighbours that"],
        ),
        (
            file(),
            |v| (v.trials, v.evidence) = (vec![blind(Reason::NoFrame)], None),
            &["stream (its", "clock and precision_s", "detail of what"],
        ),
    ];
    for (source, tamper, due) in table {
        let found = sets(&source, tamper);
        let due: Vec<&str> = always.iter().chain(due).copied().collect();
        assert!(found.len() == due.len(), "{found:?} instead of {due:?}");
        assert!(found.iter().zip(&due).all(|(found, due)| found.starts_with(due)), "{found:?} instead of {due:?}");
    }
}

//! Looking again: repairs, next moments, fresh frames, and their bounds.

use groundedvqa::domain::{How, Why};
use groundedvqa::stop::Stop;

use super::*;

/// Rounds and pictures that may be spent.
async fn house(past: Shown<'_>, memory: &[(f64, &str)], rounds: usize) -> House {
    House::with(past, Config { rounds, ..Config::default() }).await.remember(memory).await
}

/// What the drafter says, draft by draft.
fn script(house: &House, drafts: &[&[Claim]]) {
    let (first, rest) = drafts.split_first().expect("a draft");
    *house.strings.script.lock().expect("not poisoned") = first.to_vec();
    *house.strings.then.lock().expect("not poisoned") = rest.iter().map(|draft| draft.to_vec()).collect();
}

async fn ask(house: &House, k: usize) -> Answer {
    house.answerer.answer(Question { k, ..question("What is there?") }).await.expect("an answer")
}

#[tokio::test]
async fn a_failed_claim_is_drafted_again_and_proven_by_another_picture() {
    // The frame at 5 s shows a car; the one beside it a car and a person.
    let past = [(5.0, shows(1)), (4.0, shows(6))];
    let house = house(&past, &[(5.0, "There is a bus.")], 1).await;
    script(&house, &[&[claim("There is a bus.", 5.0)], &[claim("There is a car.", 5.0)]]);
    let answer = ask(&house, 5).await;

    assert_eq!(reasons(&answer.verdicts), [Reason::Neutral, Reason::Entailed]);
    let [failed, repaired] = answer.verdicts.as_slice() else { panic!("two verdicts") };
    assert_eq!(failed.repaired_from, None);
    let from = repaired.repaired_from.as_ref().expect("it is marked");
    assert_eq!((from.verdict, from.claim.as_str(), from.read_at.at), (failed.id, "There is a bus.", at(5.0)));
    assert_eq!(repaired.claim, claim("There is a car.", 4.0), "it cites the frame that proves it");
    let evidence = repaired.deciding().and_then(|trial| trial.evidence.as_ref()).expect("a frame");
    assert_ne!(Some(&evidence.sha256), failed.trials[0].evidence.as_ref().map(|evidence| &evidence.sha256));
    assert_eq!(answer.text, "There is a car.");

    let [round] = answer.rounds.as_slice() else { panic!("one round: {:?}", answer.rounds) };
    assert_eq!((round.why, round.how, round.grounded), (Why::Ungrounded, How::Repair, 1));
    assert_eq!((round.added.as_slice(), round.captioned), ([repaired.id].as_slice(), 1));
    assert_eq!(round.looked_at, [Citation { stream: stream("cam"), at: at(5.0) }]);
    // What the drafter was given the second time is the blind caption, not what the memory said.
    let drafted = house.strings.drafted.take();
    let given: Vec<_> = drafted.iter().map(|request| request.moments[0].caption.as_str()).collect();
    assert_eq!(given, ["There is a bus.", "There is a car. The car is on the left."]);
    assert_eq!(house.count("gvqa_rounds_total", &["repair", "grounded"]), 1);
}

#[tokio::test]
async fn a_repair_is_not_proven_by_the_picture_it_was_read_from() {
    for (beside, due) in [
        // The same bytes again, as a camera that hangs would show.
        (shows(1), "it is the picture that the claim was drafted from"),
        // Another picture, of something else.
        (shows(3), ""),
    ] {
        let house = house(&[(5.0, shows(1)), (4.0, beside)], &[(5.0, "There is a bus.")], 1).await;
        script(&house, &[&[claim("There is a dog.", 5.0)], &[claim("There is a car.", 5.0)]]);
        let answer = ask(&house, 5).await;
        assert_eq!(reasons(&answer.verdicts), [Reason::Neutral, Reason::Neutral]);
        assert_eq!(answer.verdicts[1].trials[0].detail, due);
        assert_eq!(answer.text, "Nothing that could be said about it was confirmed by the video.");
        assert_eq!(answer.rounds[0].grounded, 0);
    }
}

#[tokio::test]
async fn the_next_moments_are_taken_those_elsewhere_first() {
    let past = [(0.0, shows(1)), (1.0, shows(1)), (40.0, shows(3))];
    let memory = [(0.0, "What is there?"), (1.0, "What is here?"), (40.0, "Is a bus there?")];
    let house = house(&past, &memory, 2).await;
    let bus = claim("There is a bus.", 40.0);
    script(&house, &[&[], std::slice::from_ref(&bus)]);
    let answer = ask(&house, 1).await;
    assert_eq!(answer.text, "There is a bus.");
    let [round] = answer.rounds.as_slice() else { panic!("one round: {:?}", answer.rounds) };
    assert_eq!((round.why, round.how, round.grounded), (Why::Undrafted, How::Next, 1));
    let looked_at: Vec<_> = round.looked_at.iter().map(|place| place.at).collect();
    assert_eq!(looked_at, [at(40.0)], "1 s is too near to what was used");
    let moments: Vec<_> = answer.moments.iter().map(|hit| hit.moment.at).collect();
    assert_eq!(moments, [at(0.0), at(40.0)]);
    assert_eq!(answer.verdicts[0].claim, bus);
}

#[tokio::test]
async fn fresh_frames_around_the_best_moment_are_looked_at() {
    // The memory names nothing at the only sample; a bus was there a second before, and still is.
    let past = [(10.0, shows(10)), (9.0, shows(3)), (8.0, shows(5))];
    let house = house(&past, &[(10.0, "Nothing is clear enough to be named.")], 2).await;
    script(&house, &[&[], &[claim("There is a bus.", 9.0)]]);
    let answer = ask(&house, 5).await;
    let [round] = answer.rounds.as_slice() else { panic!("one round: {:?}", answer.rounds) };
    assert_eq!((round.why, round.how, round.grounded), (Why::Undrafted, How::Finer, 1));
    assert_eq!(round.looked_at, [9.0, 8.0, 7.0, 6.0].map(|t| Citation { stream: stream("cam"), at: at(t) }));
    let drafted = house.strings.drafted.take();
    let given: Vec<_> = drafted[1].moments.iter().map(|moment| moment.at).collect();
    assert_eq!(given, [at(9.0)], "a frame that shows nothing is nothing to draft from");
    let verdict = &answer.verdicts[0];
    assert_eq!((verdict.claim.citation.at, verdict.reason), (at(10.0), Reason::Entailed));
    assert_eq!(verdict.repaired_from, None, "it stands for no other claim");
    assert_eq!(answer.text, "There is a bus.");
}

#[tokio::test]
async fn a_presence_that_two_frames_do_not_show_is_looked_for_in_others() {
    let times: Vec<f64> = (0..8).map(|i| f64::from(i) * 10.0).collect();
    // The captions say dog throughout; only the frames in the middle show one.
    let past: Vec<_> = times.iter().map(|t| (*t, shows(if (20.0..50.0).contains(t) { 7 } else { 1 }))).collect();
    let memory: Vec<_> = times.iter().map(|t| (*t, "There is a dog.")).collect();
    for (rounds, grounded) in [(0, false), (1, true)] {
        let house = house(&past, &memory, rounds).await;
        let answer = house.ask("Was there a dog?", &[]).await.expect("an answer");
        let is_grounded = answer.verdicts.iter().any(|verdict| verdict.label() == Label::Grounded);
        assert_eq!((is_grounded, answer.rounds.len()), (grounded, rounds));
        assert_eq!(answer.text.starts_with("There is a dog."), grounded, "{}", answer.text);
    }
}

#[tokio::test]
async fn rounds_end_with_their_bounds() {
    let past: Vec<_> = (0..40).map(|i| (f64::from(i), shows(1))).collect();
    let memory: Vec<_> = (0..8).map(|i| (f64::from(i) * 5.0, "There is a car.")).collect();
    let wrong: Vec<Claim> = (0..40).map(|i| claim("There is a dog.", f64::from(i))).collect();
    for (rounds, round_frames) in [(0, 24), (1, 24), (2, 24), (4, 24), (4, 3), (4, 10)] {
        let house = House::with(&past, Config { rounds, round_frames, ..Config::default() }).await;
        let house = house.remember(&memory).await;
        script(&house, &[&wrong]);
        let answer = ask(&house, 2).await;
        assert!(answer.rounds.len() <= rounds, "{:?}", answer.rounds);
        assert_eq!(answer.rounds.is_empty(), rounds == 0);
        let captioned: usize = answer.rounds.iter().map(|round| round.captioned).sum();
        assert!(captioned <= round_frames, "{captioned} of {round_frames}");
        assert!(house.strings.drafted.take().len() <= 1 + rounds);
        assert!(answer.verdicts.iter().all(|verdict| verdict.label() == Label::Unverified));
    }
}

#[tokio::test]
async fn a_round_that_finds_no_end_leaves_the_answer_be() {
    let stop = Stop::new();
    let past = [(5.0, shows(1)), (4.0, Past::Hangs(stop.clone()))];
    let house = house(&past, &[(5.0, "There is a bus.")], 2).await;
    script(&house, &[&[claim("There is a bus.", 5.0)], &[claim("There is a car.", 5.0)]]);
    let answer = house.answerer.answer_within(question("What is there?"), Duration::from_secs(1)).await;
    let answer = answer.expect("the first answer stands");
    assert_eq!(reasons(&answer.verdicts), [Reason::Neutral]);
    assert_eq!(answer.rounds.len(), 1);
    assert_eq!(answer.rounds[0].trouble.as_deref(), Some("the time was up"));
    stop.ask();
}

#[tokio::test]
async fn an_unchecked_answer_is_not_looked_at_again() {
    let house = house(&[(5.0, shows(1))], &[(5.0, "There is a bus.")], 2).await;
    script(&house, &[&[]]);
    let answer = house.answerer.answer(Question { design: Design::None, ..question("?") }).await.expect("an answer");
    assert!(answer.rounds.is_empty());
    assert_eq!(house.strings.drafted.take().len(), 1);
}

#[tokio::test]
async fn one_bad_input_spoils_only_its_own_claim() {
    let past = [(0.0, shows(1)), (5.0, shows(2)), (10.0, shows(3))];
    let house = House::new(&past).await.remember(&[(0.0, "a"), (5.0, "b"), (10.0, "c")]).await;
    let claims = [claim("There is a car.", 0.0), claim("There are two people.", 5.0), claim("There is a bus.", 10.0)];
    let due = [Reason::Entailed, Reason::ModelUnavailable, Reason::Entailed];
    *house.strings.captioner_chokes_on.lock().expect("not poisoned") = Some(2);
    let verdicts = house.verify(&claims).await;
    assert_eq!(reasons(&verdicts), due);
    assert!(verdicts[1].trials[0].detail.contains("it chokes"), "{}", verdicts[1].trials[0].detail);
    *house.strings.captioner_chokes_on.lock().expect("not poisoned") = None;
    *house.strings.judge_chokes_on.lock().expect("not poisoned") = Some("There are two people.".into());
    assert_eq!(reasons(&house.verify(&claims).await), due);
    *house.strings.judge_chokes_on.lock().expect("not poisoned") = None;
    assert_eq!(reasons(&house.verify(&claims).await), [Reason::Entailed; 3], "the control");
}

#[tokio::test]
async fn silence_proves_nothing() {
    let house = House::new(&[(0.0, shows(11))]).await.remember(&[(0.0, "a")]).await;
    let claims = ["There is nothing.", "Nothing is clear enough to be named.", "There are people."];
    let verdicts = house.verify(&claims.map(|text| claim(text, 0.0))).await;
    assert_eq!(reasons(&verdicts), [Reason::Neutral, Reason::Entailed, Reason::Neutral]);
}

#[tokio::test]
async fn what_a_wider_window_brought_is_told_to_be_of_other_times() {
    let times: Vec<f64> = (0..20).map(|i| f64::from(i) * 5.0).collect();
    let past: Vec<_> = times.iter().map(|t| (*t, shows(if *t >= 20.0 { 7 } else { 1 }))).collect();
    let memory: Vec<_> = times.iter().map(|t| (*t, "Something moves.")).collect();
    let house = house(&past, &memory, 2).await;
    script(&house, &[&[claim("There is a bus.", 5.0)], &[], &[claim("There is a dog.", 35.0)]]);
    let answer = house
        .answerer
        .answer(Question { k: 5, ..question("What is there at the beginning?") })
        .await
        .expect("an answer");
    assert_eq!(answer.rounds.last().map(|round| (round.how, round.grounded)), Some((How::Wider, 1)));
    assert!(answer.window.to() < at(35.0), "what was asked for is echoed, not what was looked at");
    assert_eq!(
        answer.text,
        "Nothing that was seen in the time asked about proves an answer; at other times: There is a dog."
    );
}

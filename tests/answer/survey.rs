//! Presence, absence and number of times, from all moments of a window.

use groundedvqa::domain::{Conclusion, Doubt, Role, Survey};

use super::*;

const EMPTY: &str = "No people or vehicles are clearly visible.";

/// A stream of twenty samples, 5 s apart, with a dog at those of `dog`; `skip` are missing.
async fn street(dog: &[u32], skip: &[u32]) -> House {
    let samples = (0..20_u32).filter(|index| !skip.contains(index));
    let past: Vec<_> =
        samples.clone().map(|i| (f64::from(i) * 5.0, shows(if dog.contains(&i) { 7 } else { 1 }))).collect();
    let captions: Vec<_> = samples
        .map(|i| (f64::from(i) * 5.0, if dog.contains(&i) { "There is a dog." } else { "There is a car." }))
        .collect();
    House::new(&past).await.remember(&captions).await
}

fn survey(answer: &Answer) -> &Survey {
    answer.survey.as_ref().expect("all moments were read")
}

#[tokio::test]
async fn a_presence_is_proven_by_frames_without_a_drafter() {
    let house = street(&[7, 8, 9], &[]).await;
    let answer = house.ask("Was there a dog?", &[]).await.expect("an answer");
    assert!(house.strings.drafted.take().is_empty(), "nothing needs to be drafted");
    let claims: Vec<_> =
        answer.verdicts.iter().map(|v| (v.claim.text.as_str(), v.claim.citation.at, v.reason)).collect();
    assert_eq!(
        claims,
        [("There is a dog.", at(35.0), Reason::Entailed), ("There is a dog.", at(45.0), Reason::Entailed)]
    );
    assert_eq!(answer.verdicts[0].models.drafter, None);
    assert_eq!((survey(&answer).conclusion, survey(&answer).shown), (Conclusion::Seen, 3));
    assert_eq!(
        answer.text,
        "There is a dog. By the captions, a dog was there in 3 of 20 samples, from 35.000 s to 45.000 s."
    );
    assert_eq!(house.count("gvqa_surveys_total", &["seen"]), 1);
}

#[tokio::test]
async fn an_absence_is_told_with_its_coverage_and_never_grounded() {
    let house = street(&[], &[3]).await;
    // Whatever a drafter would say: one frame does not show an absence.
    let answer = house.ask("Was there a dog?", &[claim("There is no dog.", 5.0)]).await.expect("an answer");
    assert!(answer.verdicts.is_empty() && answer.moments.is_empty());
    assert_eq!(answer.text, "No dog was seen in 19 of 20 samples (95 % of the window); 1 is missing.");
    let found = survey(&answer);
    assert_eq!((found.conclusion, found.doubt), (Conclusion::NotSeen, None));
    let coverage = &found.coverage;
    assert_eq!((coverage.due, coverage.seen, coverage.missing, coverage.unobservable), (20, 19, 1, 0));
    assert_eq!(coverage.gaps.iter().map(|gap| (gap.from, gap.to)).collect::<Vec<_>>(), [(at(15.0), at(15.0))]);
    assert!(house.extracted.take().is_empty() && house.strings.drafted.take().is_empty());
    assert_eq!(house.count("gvqa_surveys_total", &["not_seen"]), 1);

    let window = house.ask("Was there a dog between 0:30 and 0:50?", &[]).await.expect("an answer");
    assert_eq!(window.text, "No dog was seen in any of the 5 samples that the window holds.");
}

#[tokio::test]
async fn too_little_coverage_concludes_nothing() {
    let house = street(&[], &[3, 4, 5]).await;
    let answer = house.ask("Was there a dog?", &[]).await.expect("an answer");
    assert_eq!((survey(&answer).conclusion, survey(&answer).doubt), (Conclusion::Undecided, Some(Doubt::Coverage)));
    assert!(answer.text.contains("cannot be concluded: only 17 of 20 samples"), "{}", answer.text);
    // The control: a floor that is reached.
    let cfg = Config { coverage_floor: 0.5, ..Config::default() };
    let house = House::with(&[], cfg).await.remember(&[(0.0, "There is a car."), (10.0, "There is a car.")]).await;
    let answer = house.ask("Was there a dog?", &[]).await.expect("an answer");
    assert_eq!(survey(&answer).conclusion, Conclusion::NotSeen);
}

#[tokio::test]
async fn pictures_that_tell_nothing_are_no_proof_of_absence() {
    let silent = "Nothing is clear enough to be named.";
    let captions: Vec<_> =
        (0..10).map(|i| (f64::from(i) * 5.0, if i < 5 { "There is a car." } else { silent })).collect();
    let house = House::new(&[]).await.remember(&captions).await;
    let answer = house.ask("Was there a dog?", &[]).await.expect("an answer");
    assert_eq!((survey(&answer).doubt, survey(&answer).coverage.unobservable), (Some(Doubt::Coverage), 5));
}

#[tokio::test]
async fn what_captions_leave_open_is_left_open() {
    let captions: Vec<_> =
        (0..10).map(|i| (f64::from(i) * 5.0, if i == 4 { "There is an animal." } else { EMPTY })).collect();
    let house = House::new(&[(20.0, shows(8))]).await.remember(&captions).await;
    let drafted = [claim("There is an animal.", 20.0), claim("There is no dog.", 20.0)];
    let answer = house.ask("Was there a dog?", &drafted).await.expect("an answer");
    assert_eq!((survey(&answer).conclusion, survey(&answer).doubt), (Conclusion::Undecided, Some(Doubt::Unclear)));
    assert_eq!(answer.verdicts.len(), 1, "that there is no dog is not for one frame to say");
    assert_eq!(house.count("gvqa_claims_dropped_total", &["absence"]), 1);
    assert_eq!(answer.moments.iter().map(|hit| hit.moment.at).collect::<Vec<_>>(), [at(20.0)]);
}

#[tokio::test]
async fn emptiness_is_what_all_samples_say() {
    let captions: Vec<_> = (0..10).map(|i| (f64::from(i) * 5.0, EMPTY)).collect();
    let house = House::new(&[]).await.remember(&captions).await;
    let answer = house.ask("Was the street empty?", &[]).await.expect("an answer");
    assert_eq!(answer.text, "No person, vehicle or animal was seen in any of the 10 samples that the window holds.");
    let house = street(&[], &[]).await;
    let answer = house.ask("Was the street empty?", &[]).await.expect("an answer");
    assert_eq!(survey(&answer).conclusion, Conclusion::Seen);
    assert_eq!(answer.verdicts[0].claim.text, "There is a car.");
}

#[tokio::test]
async fn times_and_durations_are_counted_over_the_window() {
    let house = street(&[2, 3, 10, 15, 17], &[]).await;
    let answer = house.ask("How many times was a dog seen?", &[]).await.expect("an answer");
    let found = survey(&answer);
    assert_eq!((found.times.least, found.times.most, found.stretches.len()), (3.0, 4.0, 4));
    assert!(answer.text.ends_with("a dog was there 3 to 4 times (in 5 of 20 samples)."), "{}", answer.text);
    let answer = house.ask("How long was the dog there?", &[]).await.expect("an answer");
    assert_eq!((survey(&answer).seconds.least, survey(&answer).seconds.most), (5.0, 45.0));
    // What proves the presence answers, though it says no length.
    for question in ["How long was the dog there?", "How many times was a dog seen?"] {
        let answer = house.ask(question, &[]).await.expect("an answer");
        let roles: Vec<_> = answer.assessments.iter().map(|it| it.role).collect();
        assert_eq!(roles, [Role::Answers; 2], "{question}");
    }
    // How often nobody was there is not how often somebody was.
    for question in ["How many times was there no dog?", "How long was there no dog?", "Was there never a dog?"] {
        let answer = house.ask(question, &[]).await.expect("an answer");
        assert!(answer.text.contains("a dog was there in 5 of 20 samples"), "{question} {}", answer.text);
    }
}

#[tokio::test]
async fn a_deed_is_not_concluded_from_a_presence() {
    let captions: Vec<_> = (0..10).map(|i| (f64::from(i) * 5.0, "There is a car.")).collect();
    let house = House::new(&[]).await.remember(&captions).await;
    for question in ["Did a car arrive?", "How many times did a car pass?", "When did the first car arrive?"] {
        let answer = house.ask(question, &[]).await.expect("an answer");
        assert_eq!(survey(&answer).conclusion, Conclusion::Undecided, "{question} {}", answer.text);
    }
}

#[tokio::test]
async fn of_two_things_the_one_that_was_seen_is_proven() {
    let answer = street(&[7], &[]).await.ask("Was there a cat or a dog?", &[]).await.expect("an answer");
    let claims: Vec<_> = answer.verdicts.iter().map(|it| (it.claim.text.as_str(), it.reason)).collect();
    assert_eq!(claims, [("There is a dog.", Reason::Entailed)]);
}

#[tokio::test]
async fn a_time_that_has_not_come_or_is_none_is_not_looked_for_elsewhere() {
    let house = street(&[7], &[]).await;
    for (question, due) in [
        ("Was there a dog tomorrow?", "in the future"),
        ("Was there a dog after the end?", "Nothing was seen in the time asked about"),
        ("Was there a dog at -5 seconds?", "Nothing was seen in the time asked about"),
        ("Was there a dog?", "a dog was there in 1 of 20 samples"),
    ] {
        let answer = house.ask(question, &[]).await.expect("an answer");
        assert!(answer.text.contains(due), "{question} {}", answer.text);
    }
}

#[tokio::test]
async fn the_first_and_the_last_time_are_those_of_all_moments() {
    let house = street(&[4, 9, 14], &[]).await;
    for (question, due) in
        [("When was the first dog seen?", [20.0, 45.0]), ("When was the last dog seen?", [70.0, 45.0])]
    {
        let answer = house.ask(question, &[]).await.expect("an answer");
        let cited: Vec<_> = answer.verdicts.iter().map(|verdict| verdict.claim.citation.at).collect();
        assert_eq!(cited, due.map(at), "{question}");
    }
}

#[tokio::test]
async fn captions_alone_prove_nothing() {
    // The captions speak of a dog; the frames show none.
    let house = House::new(&[(0.0, shows(1)), (5.0, shows(1))])
        .await
        .remember(&[(0.0, "There is a dog."), (5.0, "There is a dog.")])
        .await;
    let answer = house.ask("Was there a dog?", &[]).await.expect("an answer");
    assert_eq!(reasons(&answer.verdicts), [Reason::Neutral; 2]);
    assert!(answer.text.ends_with("No frame that was looked at again confirmed it."), "{}", answer.text);
}

#[tokio::test]
async fn a_claim_that_holds_and_does_not_answer_is_beside_the_point() {
    let house = street(&[], &[]).await;
    let answer = house.ask("What colour is the dog?", &[claim("There is a car.", 15.0)]).await.expect("an answer");
    assert_eq!(reasons(&answer.verdicts), [Reason::Entailed], "the verdict is about the claim");
    assert_eq!(answer.assessments.iter().map(|it| it.role).collect::<Vec<_>>(), [Role::BesideThePoint]);
    assert_eq!(
        answer.text,
        "What was confirmed says nothing about the question. No dog was seen in any of the 20 samples that the window holds."
    );
    // The control: the same claim answers a question about cars.
    let answer = house.ask("Which cars are there?", &[claim("There is a car.", 15.0)]).await.expect("an answer");
    assert_eq!(answer.assessments.iter().map(|it| it.role).collect::<Vec<_>>(), [Role::Answers]);
    assert_eq!(answer.text, "There is a car.");
}

#[tokio::test]
async fn what_a_question_supposes_and_nobody_saw_is_said_plainly() {
    let (nothing, none) = (
        "Nothing that could be said about it was confirmed by the video.",
        "No dog was seen in any of the 20 samples that the window holds.",
    );
    // Whatever a drafter makes of it: nothing is grounded, and the answer says that there was no dog.
    let house = street(&[], &[]).await;
    let answer = house.ask("What colour is the dog?", &[claim("The dog is brown.", 15.0)]).await.expect("an answer");
    assert_eq!(answer.assessments.iter().map(|it| it.role).collect::<Vec<_>>(), [Role::Unproven]);
    assert_eq!(answer.text, format!("{nothing} {none}"));
    // Nothing was drafted at all.
    let answer = house.ask("What colour is the dog?", &[]).await.expect("an answer");
    assert_eq!(answer.text, format!("What was seen says nothing about the question. {none}"));
    // A premise in passing.
    let answer =
        house.ask("Why does the dog chase the car?", &[claim("There is a car.", 15.0)]).await.expect("an answer");
    assert_eq!(answer.text, format!("What was confirmed says nothing about the question. {none}"));
    // The controls: where there was a dog nobody denies it, and where too little was seen nothing is concluded.
    let house = street(&[7], &[]).await;
    let answer = house.ask("What colour is the dog?", &[claim("The dog is brown.", 35.0)]).await.expect("an answer");
    assert_eq!(answer.text, nothing);
    let house = street(&[], &[3, 4, 5, 6]).await;
    let answer = house.ask("What colour is the dog?", &[claim("The dog is brown.", 40.0)]).await.expect("an answer");
    assert!(answer.text.starts_with(nothing) && answer.text.contains("cannot be concluded"), "{}", answer.text);
}

#[tokio::test]
async fn an_event_of_what_was_never_seen_is_told() {
    let none = "No dog was seen in any of the 20 samples that the window holds.";
    for question in ["Who is there after the dog left?", "Was there a cat after the dog left?"] {
        let answer = street(&[], &[]).await.ask(question, &[claim("There is a car.", 15.0)]).await.expect("an answer");
        assert!(answer.text.starts_with(none), "{question} {}", answer.text);
        assert_eq!(answer.text.matches(none).count(), 1, "{question} {}", answer.text);
        // Too little was seen to say so.
        let some = street(&[], &[3, 4, 5, 6]).await;
        let answer = some.ask(question, &[claim("There is a car.", 15.0)]).await.expect("an answer");
        assert!(answer.text.starts_with("Whether there was a dog cannot be concluded"), "{question} {}", answer.text);
        // The control: there was one.
        let answer = street(&[7], &[]).await.ask(question, &[claim("There is a car.", 15.0)]).await.expect("an answer");
        assert!(!answer.text.contains("No dog"), "{question} {}", answer.text);
    }
}

#[tokio::test]
async fn what_is_there_does_not_answer_what_was_not_asked() {
    let house = street(&[], &[]).await;
    for question in ["asdf", "Was passiert hier?", "¿Hay un perro?", "Who won the game?", "Is the car red?"] {
        let answer = house.ask(question, &[claim("There is a car.", 15.0)]).await.expect("an answer");
        assert_eq!(reasons(&answer.verdicts), [Reason::Entailed], "{question}");
        let nothing = "What was confirmed says nothing about the question.";
        assert!(answer.text.starts_with(nothing), "{question} {}", answer.text);
    }
    // The controls.
    for question in ["car", "What is happening on the street?", "Describe the scene."] {
        let answer = house.ask(question, &[claim("There is a car.", 15.0)]).await.expect("an answer");
        assert_eq!(answer.text, "There is a car.", "{question}");
    }
    // Two things, each on its own.
    let both = house.ask("Was there a car and a dog?", &[claim("There is a car.", 15.0)]).await.expect("an answer");
    assert!(both.survey.is_none() && both.text.starts_with("There is a car."), "{}", both.text);
}

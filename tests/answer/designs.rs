//! The verifier designs beside `caption-nli`: what each model is given, what its word is worth, and what is refused.

use fakes::{FakeChatJudge, FakeVisualQa, Fault};
use groundedvqa::seams::{Inquiry, Strictness};

use super::*;

/// What was given to the models that only some designs have.
#[derive(Default)]
struct Extra {
    asked: Log<Inquiry>,
    judged: Log<(Pair, Strictness)>,
    fails: Fault,
}

/// A house with every model there is.
async fn furnished(past: Shown<'_>) -> (House, Extra) {
    let extra = Extra::default();
    let says = SAYS.iter().map(|(tag, text)| (*tag, text.split_inclusive('.').next().unwrap_or("No").to_owned()));
    let visual_qa =
        FakeVisualQa { says: says.collect(), asked: extra.asked.clone(), fingerprint: Fingerprint::new("fake-vqa@0") };
    let chat_judge = FakeChatJudge {
        judged: extra.judged.clone(),
        fails: extra.fails.clone(),
        fingerprint: Fingerprint::new("fake-chat@0"),
    };
    let furnish = |models: &mut Models| {
        models.visual_qa = Some(Box::new(visual_qa));
        models.chat_judge = Some(Box::new(chat_judge));
    };
    let house = House::with_models(past, Config::default(), furnish).await;
    assert_eq!((extra.asked.take().len(), extra.judged.take().len()), (1, 1), "both are warmed up");
    (house, extra)
}

async fn verify(house: &House, design: Design, claims: &[Claim]) -> Vec<Verdict> {
    let verdicts = house.answerer.verify(claims.to_vec(), design).await.expect("verdicts");
    assert!(verdicts.iter().all(|verdict| verdict.design == design));
    verdicts
}

#[tokio::test]
async fn a_model_that_is_shown_the_frame_is_told_the_claim_and_nothing_is_captioned() {
    let (house, extra) = furnished(&[(0.0, shows(1)), (5.0, Past::Gap)]).await;
    let claims = [claim("At 0 s, there is a car.", 0.0), claim("There is a dog.", 0.0), claim("There is a car.", 5.0)];
    let verdicts = verify(&house, Design::VlmDirect, &claims).await;
    assert_eq!(reasons(&verdicts), [Reason::Entailed, Reason::Neutral, Reason::NoFrame]);
    let asked = extra.asked.take();
    assert!(asked.iter().all(|inquiry| inquiry.picture == picture(1)));
    assert!(asked[0].question.contains("\"There is a car.\""), "{}", asked[0].question);
    assert!(house.strings.captioned.take().is_empty(), "nothing was captioned");
    assert!(house.strings.judged.take().is_empty(), "the entailment judge was not asked");
    let trial = verdicts[0].deciding().expect("a frame decided");
    assert_eq!(trial.premise.as_deref(), Some("Yes."), "the model's own words are kept");
    assert_eq!(trial.evidence.as_ref().expect("evidence").caption.as_str(), "");
    let models = &verdicts[0].models;
    assert_eq!((models.captioner.as_str(), models.judge.as_str()), ("fake-vqa@0", "fake-vqa@0"));
    assert_eq!(verdicts[0].threshold, 0.5);
}

#[tokio::test]
async fn an_answer_that_is_neither_yes_nor_no_grounds_nothing() {
    let (house, _) = furnished(&[(0.0, shows(5))]).await;
    let verdicts = verify(&house, Design::VlmDirect, &[claim("There is a car.", 0.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::Neutral]);
    let detail = &verdicts[0].deciding().expect("the cited frame decided").detail;
    assert_eq!(detail, "the model's answer is no clear yes or no");
}

#[tokio::test]
async fn a_chat_judge_reads_the_whole_blind_caption_strictly_or_not() {
    let (house, extra) = furnished(&[(0.0, shows(1))]).await;
    let claims = [claim("There is a car.", 0.0), claim("A cat is on the left.", 0.0), claim("There is a dog.", 0.0)];
    let due = [
        (Design::CaptionLlmJudge, Strictness::Strict, [Reason::Entailed, Reason::Neutral, Reason::Neutral]),
        (Design::CaptionLlmJudgeLenient, Strictness::Lenient, [Reason::Entailed, Reason::Entailed, Reason::Neutral]),
    ];
    for (design, strictness, due) in due {
        let verdicts = verify(&house, design, &claims).await;
        assert_eq!(reasons(&verdicts), due, "{design:?}");
        let judged = extra.judged.take();
        assert!(judged.iter().all(|(pair, how)| pair.premise == SAYS[0].1 && *how == strictness), "{judged:?}");
        assert_eq!(house.strings.captioned.take(), [picture(1)], "captioned once, blind");
        let odds = verdicts[0].deciding().and_then(|trial| trial.entailment).expect("was judged");
        assert!(odds.entailment > 0.5 && odds.contradiction == 0.0, "{odds:?}");
        assert_eq!(verdicts[0].models.judge.as_str(), "fake-chat@0");
    }
    assert!(house.strings.judged.take().is_empty(), "the entailment judge was not asked");
}

#[tokio::test]
async fn an_empty_caption_says_nothing_and_nobody_is_asked() {
    let (house, extra) = furnished(&[(0.0, shows(5)), (5.0, shows(1))]).await;
    let claims = [claim("There is a car.", 0.0), claim("There is a car.", 5.0)];
    let verdicts = verify(&house, Design::CaptionLlmJudge, &claims).await;
    // The empty frame's neighbour shows it.
    assert_eq!(reasons(&verdicts), [Reason::Entailed, Reason::Entailed]);
    let first = &verdicts[0].trials[0];
    assert_eq!((first.reason, first.detail.as_str()), (Reason::Neutral, "the captioner had nothing to say"));
    assert!(extra.judged.take().iter().all(|(pair, _)| !pair.premise.is_empty()));
}

#[tokio::test]
async fn a_chat_judge_that_fails_is_unavailable_and_no_fact() {
    let (house, extra) = furnished(&[(0.0, shows(1))]).await;
    *extra.fails.lock().expect("not poisoned") = Some("the endpoint answered with status 500".to_owned());
    let verdicts = verify(&house, Design::CaptionLlmJudge, &[claim("There is a car.", 0.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::ModelUnavailable]);
    let detail = &verdicts[0].deciding().expect("the cited frame decided").detail;
    assert!(detail.contains("status 500"), "{detail}");
}

#[tokio::test]
async fn a_design_without_its_model_is_refused_before_any_work() {
    let house = House::new(&[(0.0, shows(1))]).await.remember(&[(0.0, "There is a car.")]).await;
    let table = [
        (Design::VlmDirect, "vlm-direct", "[models.captioner]"),
        (Design::CaptionLlmJudge, "caption-llm-judge", "[models.chat_judge]"),
        (Design::CaptionLlmJudgeLenient, "caption-llm-judge-lenient", "[models.chat_judge]"),
    ];
    for (design, name, remedy) in table {
        let asked = Question { design, ..question("What is there?") };
        let of_question = house.answerer.answer(asked).await.expect_err("refused");
        let of_claim = house.answerer.verify(vec![claim("There is a car.", 0.0)], design).await.expect_err("refused");
        for error in [of_question, of_claim] {
            assert_eq!(error.kind(), Kind::NotConfigured);
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(remedy), "{text}");
        }
    }
    assert!(house.extracted.take().is_empty(), "no frame was touched");
    assert_eq!(house.count("gvqa_questions_total", &["refused"]), 3);
}

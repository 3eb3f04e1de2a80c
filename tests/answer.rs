//! The asking flow over fake models and sources: real engine thread, real index, no weights, no pipelines.

#[path = "answer/dark.rs"]
mod dark;
#[path = "answer/designs.rs"]
mod designs;
#[path = "common/fakes.rs"]
mod fakes;
#[path = "answer/rounds.rs"]
mod rounds;
#[path = "answer/survey.rs"]
mod survey;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fakes::{FakeEmbedder, FakeEvidence, Log, Past, Strings, at, black, models, picture, stream};
use groundedvqa::answer::{AnswerError, Answerer, Config, Kind, Metrics, Refusal, SearchRequest, StreamEntry, Streams};
use groundedvqa::config::Span;
use groundedvqa::domain::{
    Answer, BlindSpan, Blindness, Caption, Citation, Claim, Clock, Design, Event, Fingerprint, Label, MomentId,
    NewMoment, Picture, Question, QuestionId, Reason, Sha256, StreamKind, StreamTime, Timing, Verdict, WallTime,
    Window, Zone,
};
use groundedvqa::engine::{self, Engine};
use groundedvqa::index::{self, Index};
use groundedvqa::seams::{EvidenceError, Models, Pair};
use groundedvqa::stop::Stop;
use groundedvqa::telemetry::{Queues, Stages};
use prometheus::Registry;
use tokio::sync::mpsc;

const SECOND: Duration = Duration::from_secs(1);

/// How exact the times of remembered moments are; frames that are extracted are more so.
const REMEMBERED: Timing = Timing { clock: Clock::Arrival, precision: Duration::from_millis(250) };

/// What the captioner says of each tag.
const SAYS: [(u8, &str); 10] = [
    (1, "There is a car. The car is on the left."),
    (2, "There are two people. Two people are in the centre."),
    (3, "There is a bus."),
    (4, "There is a bicycle."),
    (5, ""),
    (6, "There is a person. There is a car."),
    (7, "There is a dog."),
    (8, "There is an animal."),
    (10, "There is a bus."),
    (11, "Nothing is clear enough to be named."),
];

/// What the judge holds for incompatible.
const CONTRADICTS: [(&str, &str); 1] = [("There are two people.", "There are nine people.")];

/// A daemon's asking half around one stream `cam`, sampled every 5 s.
struct House {
    answerer: Answerer,
    strings: Strings,
    extracted: Log<StreamTime>,
    events: mpsc::Receiver<Event>,
    registry: Registry,
    index: Index,
}

/// The stream's past, and which of its times were captioned into the memory.
type Shown<'a> = &'a [(f64, Past)];

impl House {
    async fn new(past: Shown<'_>) -> Self {
        Self::with(past, Config { rounds: 0, ..Config::default() }).await
    }

    async fn with(past: Shown<'_>, cfg: Config) -> Self {
        Self::with_models(past, cfg, |_| ()).await
    }

    /// `change`: other models than the usual ones.
    #[allow(clippy::unused_async, reason = "setting up reads like the calls that follow")]
    async fn with_models(past: Shown<'_>, cfg: Config, change: impl FnOnce(&mut Models)) -> Self {
        let registry = Registry::new();
        let stages = Stages::register(&registry).expect("registers");
        let queues = Queues::register(&registry).expect("registers");
        let index_metrics = index::Metrics::register(&registry, stages.clone(), queues.clone()).expect("registers");
        let index = Index::in_memory(&index::Config::default(), index_metrics).expect("opens");
        let (mut models, strings) = models(&SAYS, &CONTRADICTS);
        change(&mut models);
        let engine_metrics = engine::Metrics { stages: stages.clone(), queues };
        let (engine, _) = Engine::start(models, &engine::Config::default(), engine_metrics).expect("starts");
        for warm_up in [strings.captioned.take().len(), strings.judged.take().len(), strings.drafted.take().len()] {
            assert!(warm_up > 0, "every model is warmed up");
        }
        let extracted = Log::default();
        let evidence = FakeEvidence {
            stream: stream("cam"),
            kind: StreamKind::File,
            epoch: WallTime::now(),
            past: past.iter().map(|(seconds, shown)| (at(*seconds), shown.clone())).collect::<BTreeMap<_, _>>(),
            asked: extracted.clone(),
        };
        let entry = StreamEntry {
            kind: StreamKind::File,
            sample_every: 5 * SECOND,
            zone: Zone::utc(),
            evidence: Arc::new(evidence),
        };
        let streams: Streams = [(stream("cam"), entry)].into_iter().collect();
        let (sender, events) = mpsc::channel(64);
        let metrics = Metrics::register(&registry, stages).expect("registers");
        let answerer = Answerer::new(engine, index.clone(), streams, sender, to_jpeg, cfg, metrics);
        Self { answerer, strings, extracted, events, registry, index }
    }

    /// Puts captions into the memory.
    async fn remember(self, captions: &[(f64, &str)]) -> Self {
        let id = stream("cam");
        let record = self.index.register(&id, StreamKind::File, Some("clip".into())).await.expect("registers");
        for (seconds, caption) in captions {
            let moment = NewMoment {
                stream: id.clone(),
                at: at(*seconds),
                wall: record.epoch.plus(Duration::from_secs_f64(*seconds)),
                timing: Some(REMEMBERED),
                caption: Caption::new(caption),
                embedding: FakeEmbedder::vector(caption),
                captioner: Fingerprint::new("fake-captioner@0"),
                embedder: Fingerprint::new("fake-embedder@0"),
            };
            self.index.append(moment).await.expect("stores");
        }
        self
    }

    async fn ask(&self, text: &str, drafted: &[Claim]) -> Result<Answer, AnswerError> {
        *self.strings.script.lock().expect("not poisoned") = drafted.to_vec();
        self.answerer.answer(question(text)).await
    }

    async fn verify(&self, claims: &[Claim]) -> Vec<Verdict> {
        self.answerer.verify(claims.to_vec(), Design::CaptionNli).await.expect("verdicts")
    }

    fn count(&self, family: &str, labels: &[&str]) -> u64 {
        let families = self.registry.gather();
        let family = families.iter().find(|found| found.name() == family).expect("the family is registered");
        let matching = family
            .get_metric()
            .iter()
            .filter(|metric| labels.iter().all(|label| metric.get_label().iter().any(|pair| pair.value() == *label)));
        matching.map(|metric| metric.get_counter().get_value() as u64).sum()
    }
}

fn to_jpeg(picture: &Picture, max_bytes: usize) -> Result<Vec<u8>, String> {
    match picture.rgb()[0] {
        255 => Err(format!("it does not fit into {max_bytes} bytes")),
        tag => Ok(vec![0xff, 0xd8, tag]),
    }
}

fn question(text: &str) -> Question {
    Question {
        id: QuestionId::generate(),
        text: text.into(),
        stream: Some(stream("cam")),
        design: Design::CaptionNli,
        k: 5,
    }
}

fn claim(text: &str, seconds: f64) -> Claim {
    Claim { text: text.into(), citation: Citation { stream: stream("cam"), at: at(seconds) } }
}

fn shows(tag: u8) -> Past {
    Past::Shows(picture(tag))
}

fn reasons(verdicts: &[Verdict]) -> Vec<Reason> {
    verdicts.iter().map(|verdict| verdict.reason).collect()
}

#[tokio::test]
async fn a_question_is_answered_with_grounded_claims() {
    let mut house = House::new(&[(0.0, shows(1)), (5.0, shows(2)), (10.0, shows(3))])
        .await
        .remember(&[(0.0, "There is a car."), (5.0, "There are two people."), (10.0, "There is a bus.")])
        .await;
    let drafted = [claim("At 0 s, there is a car.", 0.0), claim("There are nine people.", 5.0)];
    let answer = house.ask("What is there?", &drafted).await.expect("an answer");

    assert_eq!(reasons(&answer.verdicts), [Reason::Entailed, Reason::Neutral], "a count is a lower bound");
    assert_eq!(answer.text, "There is a car.");
    assert_eq!(answer.window, Window::ALL);
    assert_eq!(answer.moments.len(), 3);
    let verdict = &answer.verdicts[0];
    assert_eq!(verdict.question, Some(answer.question.id));
    assert_eq!(verdict.claim, drafted[0], "the claim is returned as it was drafted");
    assert_eq!(verdict.threshold, 0.6);
    assert_eq!(verdict.models.drafter, Some(Fingerprint::new("fake-drafter@0")));
    let deciding = verdict.deciding().expect("a frame decided");
    assert_eq!(deciding.premise.as_deref(), Some("There is a car."));
    let evidence = deciding.evidence.as_ref().expect("evidence travels with the verdict");
    assert_eq!(evidence.sha256, Sha256::of(&evidence.jpeg));
    assert_eq!((evidence.jpeg.as_ref(), evidence.neighbour), ([0xff, 0xd8, 1].as_slice(), 0));

    for verdict in &answer.verdicts {
        match house.events.try_recv().expect("each verdict is announced") {
            Event::Verdict(told) => assert_eq!(told.as_ref(), verdict),
            other => panic!("unexpected event {other:?}"),
        }
    }
    assert_eq!(house.count("gvqa_claims_total", &["GROUNDED", "entailed"]), 1);
    assert_eq!(house.count("gvqa_claims_total", &["UNVERIFIED", "neutral"]), 1);
    assert_eq!(house.count("gvqa_questions_total", &["answered"]), 1);
}

/// That a captioner cannot be given a question or a claim is a property of its type: `Captioner::caption` takes
/// pictures and `Picture` holds pixels. What is left to test is that the pixels are those of the source, untouched,
/// whatever is asked and claimed.
#[tokio::test]
async fn the_captioner_sees_the_frames_and_nothing_else() {
    let house = House::new(&[(0.0, shows(1)), (5.0, shows(2))])
        .await
        .remember(&[(0.0, "There is a car."), (5.0, "There are two people.")])
        .await;
    let mut seen = Vec::new();
    for text in ["There is a car.", "A dog is chasing a ball."] {
        house.ask(&format!("Is it true: {text}"), &[claim(text, 0.0)]).await.expect("an answer");
        seen.push(house.strings.captioned.take());
    }
    assert_eq!(seen[0], [picture(1)]);
    // The second claim is not grounded by its frame, so the neighbour is looked at as well; nothing but pictures again.
    assert_eq!(seen[1], [picture(1), picture(2)]);
}

#[tokio::test]
async fn fabricated_claims_are_never_grounded_or_told() {
    let house = House::new(&[(0.0, shows(1)), (5.0, shows(2))])
        .await
        .remember(&[(0.0, "There is a car."), (5.0, "There are two people.")])
        .await;
    let fabricated =
        ["A dog is chasing a ball.", "The car is on fire.", "There are nine people.", "A red car is there."];
    let drafted: Vec<_> = fabricated.iter().map(|text| claim(text, 5.0)).collect();
    let answer = house.ask("What happens?", &drafted).await.expect("an answer");
    assert_eq!(answer.verdicts.len(), fabricated.len());
    for verdict in &answer.verdicts {
        assert_eq!(verdict.label(), Label::Unverified, "{}", verdict.claim.text);
        assert!(!answer.text.contains(verdict.claim.text.trim_end_matches('.')));
    }
    assert_eq!(answer.text, "Nothing that could be said about it was confirmed by the video.");
    // The control: the same frames ground what they show.
    let verdicts = house.verify(&[claim("There are two people.", 5.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::Entailed]);
}

#[tokio::test]
async fn a_neighbouring_sample_rescues_a_claim() {
    let house = House::new(&[(0.0, shows(3)), (5.0, shows(1)), (10.0, shows(3)), (15.0, shows(4))])
        .await
        .remember(&[(0.0, "a"), (5.0, "b"), (10.0, "c"), (15.0, "d")])
        .await;
    let answer = house.ask("What is there?", &[claim("There is a bus.", 5.0)]).await.expect("an answer");
    let verdict = &answer.verdicts[0];
    assert_eq!((verdict.reason, verdict.decided_by), (Reason::Entailed, Some(1)));
    let places: Vec<_> = verdict.trials.iter().filter_map(|trial| trial.evidence.as_ref()).collect();
    // Both neighbours show it; the earlier one is asked first and ends the search.
    assert_eq!(places.iter().map(|e| (e.citation.at, e.neighbour)).collect::<Vec<_>>(), [(at(5.0), 0), (at(0.0), -1)]);

    // Two samples away is too far.
    let verdicts = house.ask("What is there?", &[claim("There is a bicycle.", 5.0)]).await.expect("an answer");
    assert_eq!(reasons(&verdicts.verdicts), [Reason::Neutral]);
    assert_eq!(verdicts.verdicts[0].trials.len(), 3);
}

#[tokio::test]
async fn without_tolerance_only_the_cited_frame_counts() {
    let cfg = Config { neighbours: 0, ..Config::default() };
    let house = House::with(&[(0.0, shows(3)), (5.0, shows(1))], cfg).await.remember(&[(0.0, "a"), (5.0, "b")]).await;
    let verdicts = house.verify(&[claim("There is a bus.", 5.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::Neutral]);
    assert_eq!(house.extracted.take(), [at(5.0)]);
}

#[tokio::test]
async fn somebody_elses_claims_have_neighbours_one_interval_away() {
    let house = House::new(&[(7.5, shows(1)), (2.5, shows(3)), (12.5, shows(4))]).await.remember(&[(0.0, "a")]).await;
    let verdicts = house.verify(&[claim("There is a bicycle.", 7.5)]).await;
    assert_eq!(reasons(&verdicts), [Reason::Entailed]);
    assert_eq!(verdicts[0].decided_by, Some(2));
    assert_eq!((verdicts[0].question, verdicts[0].models.drafter.clone()), (None, None));
    assert_eq!(house.extracted.take(), [at(7.5), at(2.5), at(12.5)]);
}

#[tokio::test]
async fn claims_that_cite_what_was_not_retrieved_are_dropped() {
    let house = House::new(&[(0.0, shows(1)), (7.5, shows(3))]).await.remember(&[(0.0, "There is a car.")]).await;
    let elsewhere = Citation { stream: stream("door"), at: at(0.0) };
    let drafted = [
        claim("There is a bus.", 7.5),
        Claim { text: "There is a car.".into(), citation: elsewhere },
        claim("There is a car.", 0.0),
        claim("There is a car.", 0.0),
    ];
    let answer = house.ask("What is there?", &drafted).await.expect("an answer");
    assert_eq!(answer.verdicts.iter().map(|v| &v.claim).collect::<Vec<_>>(), [&drafted[2]]);
    assert_eq!(house.extracted.take(), [at(0.0)], "nothing that was dropped is looked at");
    assert_eq!(house.count("gvqa_claims_dropped_total", &["unretrieved"]), 2);
    assert_eq!(house.count("gvqa_claims_dropped_total", &["duplicate"]), 1);
}

#[tokio::test]
async fn what_cannot_be_checked_says_why() {
    let mut flat = picture(7).rgb().to_vec();
    flat[0] = 255;
    let unwritable = Picture::new(48, 32, flat).expect("sizes agree");
    let past = [
        (0.0, Past::Gap),
        (100.0, Past::Expired),
        (200.0, Past::Garbled),
        (300.0, Past::Shows(black())),
        (400.0, shows(5)),
        (500.0, Past::Shows(unwritable)),
    ];
    let house = House::new(&past).await.remember(&[(0.0, "a")]).await;
    let table = [
        (0.0, Reason::NoFrame, "the stream was down", false),
        (50.0, Reason::NoFrame, "out of range", false),
        (100.0, Reason::Expired, "retention", false),
        (200.0, Reason::DecodeError, "no picture came out", false),
        (300.0, Reason::Unobservable, "the picture is black", true),
        (400.0, Reason::Neutral, "nothing to say", true),
        (500.0, Reason::DecodeError, "does not fit", false),
    ];
    let claims: Vec<_> = table.iter().map(|row| claim("There is a car.", row.0)).collect();
    let verdicts = house.verify(&claims).await;
    for (verdict, (seconds, reason, detail, has_picture)) in verdicts.iter().zip(table) {
        assert_eq!((verdict.reason, verdict.label()), (reason, Label::Unverified), "at {seconds}");
        let cited = &verdict.trials[0];
        assert!(cited.detail.contains(detail), "at {seconds}: {}", cited.detail);
        assert_eq!(cited.evidence.is_some(), has_picture, "at {seconds}");
        assert_eq!((cited.entailment, cited.premise.as_ref()), (None, None), "at {seconds}");
        let clock = if has_picture { Some(Clock::Media) } else { (seconds == 0.0).then_some(REMEMBERED.clock) };
        assert_eq!(verdict.timing.map(|timing| timing.clock), clock, "at {seconds}: by the frame, else by the memory");
    }
}

#[tokio::test]
async fn what_could_not_be_seen_when_it_was_watched_is_unobservable_whatever_is_extracted() {
    let past = [(0.0, shows(1)), (10.0, shows(1)), (15.0, Past::Gap), (20.0, Past::Expired), (30.0, shows(1))];
    let house = House::new(&past).await.remember(&[(0.0, "There is a car.")]).await;
    let frozen = BlindSpan {
        stream: stream("cam"),
        from: at(10.0),
        until: at(20.0),
        wall: WallTime::now(),
        why: Blindness::Frozen,
    };
    house.index.blind(frozen).await.expect("notes");
    let claims: Vec<_> = [0.0, 10.0, 15.0, 20.0, 30.0].map(|at| claim("There is a bus.", at)).into();
    let verdicts = house.verify(&claims).await;
    let dark = Reason::Unobservable;
    assert_eq!(reasons(&verdicts), [Reason::Neutral, dark, dark, dark, Reason::Neutral]);
    for verdict in &verdicts[1..4] {
        let cited = &verdict.trials[0];
        assert!(cited.detail.contains("again and again, from 10.000 s to 20.000 s"), "{}", cited.detail);
    }
    assert!(verdicts[1].trials[0].evidence.is_some(), "the frame that was frozen is shown");
}

#[tokio::test]
async fn the_neighbour_of_a_long_moment_is_inside_it() {
    let house = House::new(&[(5.0, shows(3)), (10.0, shows(4)), (15.0, shows(1)), (40.0, shows(3))]).await;
    let house = house.remember(&[(10.0, "There is a car.")]).await;
    house.index.extend(&stream("cam"), MomentId(0), at(30.0)).await.expect("extends").expect("the last one");
    let verdicts = house.verify(&[claim("There is a car.", 10.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::Entailed]);
    let deciding = verdicts[0].deciding().and_then(|trial| trial.evidence.as_ref()).expect("a frame");
    assert_eq!((deciding.citation.at, deciding.neighbour), (at(15.0), 1));
}

#[tokio::test]
async fn a_question_about_the_middle_of_a_long_moment_is_answered_by_the_frame_there() {
    let house = House::new(&[(10.0, shows(4)), (30.0, shows(1)), (50.0, shows(4))]).await;
    let house = house.remember(&[(10.0, "There is a car.")]).await;
    house.index.extend(&stream("cam"), MomentId(0), at(50.0)).await.expect("extends").expect("the last one");
    let drafted = [claim("There is a car.", 10.0), claim("There is a car.", 30.0)];
    let answer = house.ask("What is there at 30 seconds?", &drafted).await.expect("an answer");
    assert_eq!(answer.moments[0].moment.at, at(30.0));
    let cited: Vec<_> = answer.verdicts.iter().map(|verdict| verdict.claim.citation.at).collect();
    assert_eq!((cited.as_slice(), reasons(&answer.verdicts).as_slice()), (&[at(30.0)][..], &[Reason::Entailed][..]));
}

#[tokio::test]
async fn a_model_that_fails_is_not_told_as_a_fact() {
    let house = House::new(&[(0.0, shows(1)), (5.0, shows(1))]).await.remember(&[(0.0, "a"), (5.0, "b")]).await;
    for fault in [&house.strings.captioner_fails, &house.strings.judge_fails] {
        *fault.lock().expect("not poisoned") = Some("out of memory".into());
        let answer = house.ask("What is there?", &[claim("There is a car.", 0.0)]).await.expect("an answer");
        assert_eq!(reasons(&answer.verdicts), [Reason::ModelUnavailable]);
        let [trial] = answer.verdicts[0].trials.as_slice() else { panic!("a neighbour needs the same model") };
        assert!(trial.detail.contains("out of memory"), "{}", trial.detail);
        assert!(trial.evidence.is_some(), "the frame itself is there");
        assert!(answer.text.contains("could not be checked"), "{}", answer.text);
        *fault.lock().expect("not poisoned") = None;
    }
    let answer = house.ask("What is there?", &[claim("There is a car.", 0.0)]).await.expect("an answer");
    assert_eq!(reasons(&answer.verdicts), [Reason::Entailed], "the control");
}

#[tokio::test]
async fn evidence_is_extracted_once_in_a_question_and_again_in_the_next() {
    let house = House::new(&[(0.0, shows(6)), (5.0, shows(6))]).await.remember(&[(0.0, "a"), (5.0, "b")]).await;
    let drafted = [claim("There is a car.", 0.0), claim("There is a person.", 0.0), claim("There is a car.", 5.0)];
    for _ in 0..2 {
        let answer = house.ask("What is there?", &drafted).await.expect("an answer");
        assert_eq!(reasons(&answer.verdicts), [Reason::Entailed; 3]);
        let mut asked = house.extracted.take();
        asked.sort();
        assert_eq!(asked, [at(0.0), at(5.0)]);
        assert_eq!(house.strings.captioned.take().len(), 2);
    }
}

#[tokio::test]
async fn a_verdict_can_be_replayed_from_what_it_carries() {
    let house = House::new(&[(0.0, shows(2)), (5.0, shows(3))]).await.remember(&[(0.0, "a"), (5.0, "b")]).await;
    let claims =
        [claim("There are two people.", 0.0), claim("There are nine people.", 0.0), claim("A dog barks.", 5.0)];
    let (first, second) = (house.verify(&claims).await, house.verify(&claims).await);
    let (mut models, _) = models(&SAYS, &CONTRADICTS);
    for (once, again) in first.iter().zip(&second) {
        let numbers = |verdict: &Verdict| verdict.trials.iter().map(|trial| trial.entailment).collect::<Vec<_>>();
        assert_eq!(numbers(once), numbers(again));
        assert_eq!((once.reason, once.threshold, &once.models), (again.reason, again.threshold, &again.models));
        let deciding = once.deciding().expect("a frame decided");
        let premise = deciding.premise.clone().expect("a sentence decided");
        let replayed = models.judge.judge(&[Pair { premise, hypothesis: once.claim.text.clone() }]).expect("judges");
        assert_eq!(Some(replayed[0]), deciding.entailment);
        assert_eq!(once.models.judge, *models.judge.fingerprint());
    }
}

#[tokio::test]
async fn design_none_checks_nothing() {
    let house = House::new(&[(0.0, shows(1))]).await.remember(&[(0.0, "There is a car.")]).await;
    *house.strings.script.lock().expect("not poisoned") = vec![claim("There is a car.", 0.0)];
    let answer = house.answerer.answer(Question { design: Design::None, ..question("?") }).await.expect("an answer");
    assert_eq!(reasons(&answer.verdicts), [Reason::Unchecked]);
    let verdict = &answer.verdicts[0];
    assert_eq!((verdict.trials.len(), verdict.decided_by, verdict.label()), (0, None, Label::Unverified));
    assert_eq!(verdict.timing, Some(REMEMBERED));
    assert_eq!(answer.text, "Not checked: There is a car.");
    assert!(house.extracted.take().is_empty());
    assert!(house.strings.captioned.take().is_empty());
}

#[tokio::test]
async fn a_stream_without_moments_has_an_answer_that_says_so() {
    let house = House::new(&[]).await;
    let answer = house.ask("What is there?", &[claim("There is a car.", 0.0)]).await.expect("an answer");
    assert!(answer.verdicts.is_empty() && answer.moments.is_empty());
    assert!(answer.text.starts_with("Nothing has been seen yet"), "{}", answer.text);
    assert!(house.strings.drafted.take().is_empty(), "there is nothing to draft from");
    assert_eq!(house.count("gvqa_questions_total", &["empty"]), 1);

    let house = house.remember(&[(0.0, "There is a car.")]).await;
    let answer = house.ask("What is there after 1:00?", &[]).await.expect("an answer");
    assert!(answer.text.starts_with("Nothing was seen in the time asked about"), "{}", answer.text);
    assert_eq!(answer.window, Window::new(at(60.0), StreamTime::MAX).expect("ordered"));
}

#[tokio::test]
async fn only_moments_of_the_window_are_given_to_the_drafter() {
    let captions: Vec<_> = (0..40).map(|i| (f64::from(i) * 5.0, "There is a car.")).collect();
    let house = House::new(&[]).await.remember(&captions).await;
    for (text, due) in [
        ("Which cars are there between 0:10 and 0:20?", vec![10.0, 15.0, 20.0]),
        ("Which cars are there at 0:42?", vec![40.0]),
    ] {
        let answer = house.ask(text, &[]).await.expect("an answer");
        let given = house.strings.drafted.take().pop().expect("a draft").moments;
        let mut times: Vec<_> = given.iter().map(|moment| moment.at.seconds()).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(times, due, "{text}");
        assert!(given.iter().all(|moment| answer.window.contains(moment.at)), "{text}");
    }
}

#[tokio::test]
async fn requests_that_cannot_be_worked_on_are_refused() {
    let house = House::new(&[(0.0, shows(1))]).await.remember(&[(0.0, "a")]).await;
    let ask = |question: Question| house.answerer.answer(question);
    let unknown = Question { stream: Some(stream("nowhere")), ..question("?") };
    assert!(matches!(ask(unknown).await, Err(AnswerError::UnknownStream(id)) if id == stream("nowhere")));
    assert!(matches!(ask(question(" \n")).await, Err(AnswerError::Question(Refusal::Empty))));
    let long = "x".repeat(2001);
    assert!(matches!(
        ask(question(&long)).await,
        Err(AnswerError::Question(Refusal::TooLong { max: 2000, got: 2001 }))
    ));
    for k in [0, 51, usize::MAX] {
        let refused = ask(Question { k, ..question("?") }).await;
        assert!(matches!(refused, Err(AnswerError::Question(Refusal::BadK { max: 50, got })) if got == k));
    }
    let verify = |claims: Vec<Claim>| house.answerer.verify(claims, Design::CaptionNli);
    assert!(matches!(verify(vec![]).await, Err(AnswerError::Question(Refusal::BadCount { max: 32, got: 0 }))));
    assert_eq!(verify(vec![claim("x", 0.0); 33]).await.expect_err("refused").kind(), Kind::Question);
    let elsewhere = Claim { text: "x".into(), citation: Citation { stream: stream("nowhere"), at: at(0.0) } };
    assert_eq!(verify(vec![elsewhere]).await.expect_err("refused").kind(), Kind::UnknownStream);
    assert_eq!(house.count("gvqa_questions_total", &["unknown_stream"]), 1);
    assert_eq!(house.count("gvqa_questions_total", &["refused"]), 5);
}

#[tokio::test]
async fn a_source_that_hangs_is_given_up() {
    let stop = Stop::new();
    let past = [(0.0, Past::Hangs(stop.clone())), (5.0, shows(1))];
    let cfg = Config { extract_timeout: Span(Duration::from_millis(20)), extractions: 1, ..Config::default() };
    let house = House::with(&past, cfg).await.remember(&[(5.0, "a")]).await;
    let verdicts = house.verify(&[claim("There is a car.", 0.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::DecodeError]);
    assert!(verdicts[0].trials[0].detail.contains("within 0.02 s"), "{}", verdicts[0].trials[0].detail);
    // The hung extraction still holds the only permit: no second thread is started for the source.
    let verdicts = house.verify(&[claim("There is a car.", 5.0)]).await;
    assert_eq!(reasons(&verdicts), [Reason::DecodeError]);
    assert_eq!(house.extracted.take(), [at(0.0)]);
    stop.ask();
}

#[tokio::test]
async fn too_much_at_once_is_busy_and_too_long_is_a_deadline() {
    let stop = Stop::new();
    let cfg = Config { in_flight: 1, deadline: Span(Duration::from_millis(200)), ..Config::default() };
    let house = House::with(&[(0.0, Past::Hangs(stop.clone()))], cfg).await.remember(&[(0.0, "a")]).await;
    let drafted = [claim("There is a car.", 0.0)];
    let slow = house.ask("Which cars are there?", &drafted);
    let quick = house.answerer.answer(question("Which buses are there?"));
    // Polled in order: the first takes the only permit before the second asks for it.
    let (slow, quick) = tokio::join!(biased; slow, quick);
    assert_eq!(slow.expect_err("too slow").kind(), Kind::Deadline);
    assert_eq!(quick.expect_err("too much").kind(), Kind::Busy);
    assert_eq!(house.count("gvqa_questions_total", &["busy"]), 1);
    assert_eq!(house.count("gvqa_questions_total", &["deadline"]), 1);
    stop.ask();
    // The permit came back.
    assert_eq!(house.ask("?", &[]).await.expect("an answer").verdicts, []);
}

#[tokio::test]
async fn frames_and_moments_can_be_had_by_themselves() {
    let house = House::new(&[(0.0, shows(1)), (100.0, Past::Expired)])
        .await
        .remember(&[(0.0, "There is a car."), (5.0, "There are two people.")])
        .await;
    let frame = |seconds| house.answerer.frame(Citation { stream: stream("cam"), at: at(seconds) });
    let reply = frame(0.0).await.expect("a frame");
    assert_eq!((reply.frame.picture, reply.sha256), (picture(1), Sha256::of(&reply.jpeg)));
    let expired = frame(100.0).await.expect_err("expired");
    assert!(matches!(expired, AnswerError::Evidence(EvidenceError::Expired { .. })));
    let missing = frame(50.0).await.expect_err("out of range");
    assert!(matches!(missing, AnswerError::Evidence(EvidenceError::NoFrame { .. })));

    let request = SearchRequest { text: "two people".into(), stream: None, window: Window::ALL, k: 1 };
    let hits = house.answerer.search(request.clone()).await.expect("hits");
    assert_eq!(hits.iter().map(|hit| hit.moment.at).collect::<Vec<_>>(), [at(5.0)]);
    let refused = house.answerer.search(SearchRequest { k: 0, ..request }).await.expect_err("refused");
    assert_eq!(refused.kind(), Kind::Question);
}

//! The engine over fake models: what overtakes, what is merged, what is refused, and what an end looks like.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures::future::join_all;

use super::fakes::{self, Calls, Script, picture};
use super::*;
use crate::domain::Picture;

fn metrics() -> Metrics {
    let registry = prometheus::Registry::new();
    Metrics {
        stages: Stages::register(&registry).expect("registers"),
        queues: Queues::register(&registry).expect("registers"),
    }
}

fn start(config: &Config, script: Script) -> (Engine, EngineThread, Calls) {
    let (models, calls) = fakes::models(script);
    let (engine, thread) = Engine::start(models, config, metrics()).expect("the fakes warm up");
    calls.lock().expect("not poisoned").clear();
    (engine, thread, calls)
}

/// A captioner that says when it has started and waits until it may go on.
struct Gate {
    started: Receiver<()>,
    open: SyncSender<()>,
}

fn gate() -> (Gate, Script) {
    let (start, started) = sync_channel(64);
    let (open, opened) = sync_channel::<()>(64);
    let script = move |_: &[Picture]| {
        start.send(()).expect("the test listens");
        opened.recv().expect("the test opens the gate");
        Ok(())
    };
    (Gate { started, open }, Box::new(script))
}

/// Lets spawned calls run until they wait for the engine.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn caption(
    engine: &Engine,
    lane: Lane,
    red: u8,
) -> tokio::task::JoinHandle<Result<Vec<crate::domain::Caption>, EngineError>> {
    let engine = engine.clone();
    tokio::spawn(async move { engine.caption(lane, vec![picture(red)]).await })
}

#[tokio::test]
async fn every_model_answers() {
    let (engine, thread, _) = start(&Config::default(), Box::new(|_| Ok(())));
    let captions = engine.caption(Lane::Interactive, vec![picture(1), picture(2)]).await.expect("captions");
    assert_eq!(captions.iter().map(crate::domain::Caption::as_str).collect::<Vec<_>>(), ["Red is 1.", "Red is 2."]);
    let vectors = engine.embed(Lane::Background, vec!["ab".to_owned()]).await.expect("embeddings");
    assert_eq!(vectors, [crate::domain::Embedding::new(vec![2.0, 1.0])]);
    let pair = crate::seams::Pair { premise: "a".into(), hypothesis: "b".into() };
    assert_eq!(engine.judge(Lane::Interactive, vec![pair]).await.expect("judged").len(), 1);
    let request = crate::seams::DraftRequest { question: "?".into(), moments: vec![], max_claims: 1 };
    assert!(engine.draft(Lane::Interactive, request).await.expect("drafted").is_empty());
    assert_eq!(engine.judge_fingerprint().as_str(), "judge@fake");
    let inquiry = |red| crate::seams::Inquiry { picture: picture(red), question: "Red?".into() };
    let answers = engine.ask(Lane::Interactive, vec![inquiry(3), inquiry(4)]).await.expect("answers");
    assert_eq!(answers, ["Red? 3", "Red? 4"]);
    assert_eq!(engine.visual_qa().expect("there is one").as_str(), "visual-qa@fake");
    drop(engine);
    assert_eq!(thread.ended().await, Ok(()));
}

#[tokio::test]
async fn what_was_not_begun_in_time_is_refused_and_not_computed() {
    let (engine, _thread, calls) = start(&Config::default(), Box::new(|_| Ok(())));
    let now = std::time::Instant::now();
    let late = engine.caption_until(Lane::Background, Some(now), vec![picture(1)]).await;
    assert!(matches!(late, Err(EngineError::Model(ModelError::Late))), "{late:?}");
    assert_eq!(*calls.lock().expect("not poisoned"), Vec::<String>::new());
    let hour = std::time::Duration::from_hours(1);
    engine.caption_until(Lane::Background, Some(now + hour), vec![picture(2)]).await.expect("in time");
    assert_eq!(*calls.lock().expect("not poisoned"), ["caption 1"]);
}

#[tokio::test]
async fn questions_overtake_and_background_pictures_are_merged() {
    let (gate, script) = gate();
    let config = Config { max_pictures: 3, ..Config::default() };
    let (engine, _thread, calls) = start(&config, script);
    let first = caption(&engine, Lane::Background, 0);
    settle().await;
    gate.started.recv().expect("the first caption runs");
    let background: Vec<_> = (1..=4).map(|red| caption(&engine, Lane::Background, red)).collect();
    settle().await;
    let question = engine.clone();
    let question = tokio::spawn(async move { question.embed(Lane::Interactive, vec!["who?".to_owned()]).await });
    settle().await;
    for _ in 0..3 {
        gate.open.send(()).expect("the captioner waits");
    }
    question.await.expect("no panic").expect("embedded");
    first.await.expect("no panic").expect("captioned");
    for (red, call) in join_all(background).await.into_iter().enumerate() {
        let captions = call.expect("no panic").expect("captioned");
        assert_eq!(captions[0].as_str(), format!("Red is {}.", red + 1));
    }
    assert_eq!(*calls.lock().expect("not poisoned"), ["caption 1", "embed 1", "caption 3", "caption 1"]);
}

/// Three callers ask about a picture each, two of them have one captioned, and a stream waits: what the models are then
/// called with, and whether everybody got the answer to their own.
async fn questions_of_several(is_parallel: bool) -> Vec<String> {
    let (gate, script) = gate();
    let (models, calls) = fakes::models_that(script, is_parallel);
    let (engine, _thread) = Engine::start(models, &Config::default(), metrics()).expect("the fakes warm up");
    calls.lock().expect("not poisoned").clear();
    let first = caption(&engine, Lane::Background, 0);
    settle().await;
    gate.started.recv().expect("the first caption runs");
    let stream = caption(&engine, Lane::Background, 1);
    let ask = |red: u8| {
        let inquiry = crate::seams::Inquiry { picture: picture(red), question: "Red?".into() };
        let engine = engine.clone();
        tokio::spawn(async move { engine.ask(Lane::Interactive, vec![inquiry]).await })
    };
    let asked: Vec<_> = (1..=3).map(ask).collect();
    let captions: Vec<_> = (4..=5).map(|red| caption(&engine, Lane::Interactive, red)).collect();
    settle().await;
    (0..5).for_each(|_| gate.open.send(()).expect("the captioner waits"));
    for (red, call) in (1..).zip(join_all(asked).await) {
        assert_eq!(call.expect("no panic").expect("answered"), [format!("Red? {red}")]);
    }
    for (red, call) in (4..).zip(join_all(captions).await) {
        assert_eq!(call.expect("no panic").expect("captioned")[0].as_str(), format!("Red is {red}."));
    }
    for call in [first, stream] {
        call.await.expect("no panic").expect("captioned");
    }
    calls.lock().expect("not poisoned").clone()
}

#[tokio::test]
async fn pictures_of_several_questions_are_merged_where_that_costs_nobody_time() {
    assert_eq!(questions_of_several(true).await, ["caption 1", "ask 3", "caption 2", "caption 1"]);
    let one_by_one = ["caption 1", "ask 1", "ask 1", "ask 1", "caption 1", "caption 1", "caption 1"];
    assert_eq!(questions_of_several(false).await, one_by_one);
}

#[tokio::test]
async fn a_draft_pauses_for_other_questions_but_not_for_a_second_draft() {
    let (gate, script) = gate();
    let (engine, _thread, calls) = start(&Config::default(), script);
    let first = caption(&engine, Lane::Background, 0);
    settle().await;
    gate.started.recv().expect("the first caption runs");
    let draft = |engine: Engine| async move {
        let request = crate::seams::DraftRequest { question: "?".into(), moments: vec![], max_claims: 2 };
        engine.draft(Lane::Interactive, request).await
    };
    let drafts: Vec<_> = (0..2).map(|_| tokio::spawn(draft(engine.clone()))).collect();
    settle().await;
    let (texts, pairs) = (engine.clone(), engine.clone());
    let texts = tokio::spawn(async move { texts.embed(Lane::Interactive, vec!["who?".to_owned()]).await });
    let waits = tokio::spawn({
        let engine = engine.clone();
        async move { engine.embed(Lane::Background, vec!["a caption".to_owned()]).await }
    });
    settle().await;
    let pair = crate::seams::Pair { premise: "a".into(), hypothesis: "b".into() };
    let judged = tokio::spawn(async move { pairs.judge(Lane::Interactive, vec![pair]).await });
    settle().await;
    gate.open.send(()).expect("the captioner waits");
    first.await.expect("no panic").expect("captioned");
    for draft in drafts {
        draft.await.expect("no panic").expect("drafted");
    }
    texts.await.expect("no panic").expect("embedded");
    judged.await.expect("no panic").expect("judged");
    waits.await.expect("no panic").expect("embedded");
    assert_eq!(
        *calls.lock().expect("not poisoned"),
        ["caption 1", "draft", "embed 1", "judge 1", "drafted", "draft", "drafted", "embed 1"]
    );
}

#[tokio::test]
async fn too_many_questions_are_refused_at_once() {
    let (gate, script) = gate();
    let config = Config { interactive_jobs: 1, ..Config::default() };
    let (engine, _thread, _) = start(&config, script);
    let running = caption(&engine, Lane::Interactive, 0);
    settle().await;
    gate.started.recv().expect("the first caption runs");
    let waiting = caption(&engine, Lane::Interactive, 1);
    settle().await;
    assert!(matches!(engine.caption(Lane::Interactive, vec![picture(2)]).await, Err(EngineError::Busy)));
    gate.open.send(()).expect("the captioner waits");
    gate.open.send(()).expect("the captioner waits");
    running.await.expect("no panic").expect("captioned");
    waiting.await.expect("no panic").expect("captioned");
}

#[tokio::test]
async fn work_for_callers_who_left_is_skipped() {
    let (gate, script) = gate();
    let (engine, thread, calls) = start(&Config::default(), script);
    let running = caption(&engine, Lane::Interactive, 0);
    settle().await;
    gate.started.recv().expect("the first caption runs");
    {
        let mut leaving = Box::pin(engine.embed(Lane::Interactive, vec!["nobody".to_owned()]));
        assert!(futures::poll!(&mut leaving).is_pending());
    }
    gate.open.send(()).expect("the captioner waits");
    running.await.expect("no panic").expect("captioned");
    engine
        .judge(Lane::Interactive, vec![crate::seams::Pair { premise: "a".into(), hypothesis: "b".into() }])
        .await
        .expect("judged");
    drop(engine);
    thread.ended().await.expect("an orderly end");
    assert_eq!(*calls.lock().expect("not poisoned"), ["caption 1", "judge 1"]);
}

#[tokio::test]
async fn a_panic_answers_everybody_and_is_reported() {
    let (start_sender, started) = sync_channel::<()>(1);
    let (go, gone) = sync_channel::<()>(1);
    let script: Script = Box::new(move |_| {
        start_sender.send(()).expect("the test listens");
        gone.recv().expect("the test lets it go on");
        panic!("the weights melted")
    });
    let (engine, thread, _) = start(&Config::default(), script);
    let running = caption(&engine, Lane::Background, 0);
    settle().await;
    started.recv().expect("the caption runs");
    let waiting = caption(&engine, Lane::Interactive, 1);
    settle().await;
    go.send(()).expect("the captioner waits");
    for call in [running, waiting] {
        let result = call.await.expect("no panic in the caller");
        assert!(matches!(result, Err(EngineError::Model(ModelError::Stopped))), "{result:?}");
    }
    assert_eq!(thread.ended().await, Err(EngineDied { reason: "the weights melted".into() }));
    let late = engine.embed(Lane::Background, vec!["late".into()]).await;
    assert!(matches!(late, Err(EngineError::Model(ModelError::Stopped))));
}

#[tokio::test]
async fn a_question_about_a_picture_needs_a_model_for_it() {
    let (mut models, _) = fakes::models(Box::new(|_| Ok(())));
    models.visual_qa = None;
    let (engine, _thread) = Engine::start(models, &Config::default(), metrics()).expect("the fakes warm up");
    assert_eq!(engine.visual_qa(), None);
    let inquiry = crate::seams::Inquiry { picture: picture(1), question: "?".into() };
    let error = engine.ask(Lane::Interactive, vec![inquiry]).await.expect_err("there is none");
    assert!(error.to_string().contains("models.captioner"), "{error}");
}

#[tokio::test]
async fn a_model_that_cannot_run_is_found_at_start() {
    struct Broken(crate::domain::Fingerprint);
    impl crate::seams::Embedder for Broken {
        fn embed(&mut self, _: &[String]) -> Result<Vec<crate::domain::Embedding>, ModelError> {
            Err(ModelError::Run { model: "embedder".into(), reason: "no memory".into() })
        }
        fn fingerprint(&self) -> &crate::domain::Fingerprint {
            &self.0
        }
    }
    let (mut models, _) = fakes::models(Box::new(|_| Ok(())));
    models.embedder = Box::new(Broken(crate::domain::Fingerprint::new("broken")));
    let error = Engine::start(models, &Config::default(), metrics()).expect_err("the embedder is broken");
    assert_eq!(error.to_string(), "model embedder failed: no memory");
}

/// A captioner that computes elsewhere: each client says when it has started and waits until it may go on.
struct Elsewhere {
    started: SyncSender<u8>,
    open: std::sync::Arc<std::sync::Mutex<Receiver<()>>>,
    fingerprint: crate::domain::Fingerprint,
}

impl crate::seams::Captioner for Elsewhere {
    fn caption(&mut self, pictures: &[Picture]) -> Result<Vec<crate::domain::Caption>, ModelError> {
        let red = pictures[0].rgb()[0];
        self.started.send(red).expect("the test listens");
        self.open.lock().expect("not poisoned").recv().expect("the test opens the gate");
        match red {
            13 => Err(ModelError::Run { model: "captioner".into(), reason: "status 500".into() }),
            66 => panic!("the client melted"),
            _ => Ok(pictures.iter().map(|_| crate::domain::Caption::new(format!("Red is {red}."))).collect()),
        }
    }

    fn clients(&self) -> Vec<Box<dyn crate::seams::Captioner>> {
        let client = || {
            let (started, open, fingerprint) = (self.started.clone(), self.open.clone(), self.fingerprint.clone());
            Box::new(Self { started, open, fingerprint }) as Box<dyn crate::seams::Captioner>
        };
        vec![client(), client()]
    }

    fn fingerprint(&self) -> &crate::domain::Fingerprint {
        &self.fingerprint
    }
}

/// An engine whose captioner has two clients elsewhere.
fn elsewhere() -> (Engine, EngineThread, Receiver<u8>, SyncSender<()>) {
    let (mut models, _) = fakes::models(Box::new(|_| Ok(())));
    let (start, started) = sync_channel(64);
    let (open, opened) = sync_channel(64);
    let fingerprint = crate::domain::Fingerprint::new("far@away");
    let open_here = std::sync::Arc::new(std::sync::Mutex::new(opened));
    models.captioner = Box::new(Elsewhere { started: start, open: open_here, fingerprint });
    let (engine, thread) =
        Engine::start(models, &Config::default(), metrics()).expect("nothing elsewhere is warmed up");
    (engine, thread, started, open)
}

#[tokio::test]
async fn a_model_elsewhere_keeps_nothing_here_waiting() {
    let (engine, thread, started, open) = elsewhere();
    let pictures = || (1..=3).map(picture).collect::<Vec<_>>();
    let far = engine.clone();
    let captions = tokio::spawn(async move { far.caption(Lane::Interactive, pictures()).await });
    settle().await;
    let mut first = [started.recv().expect("one"), started.recv().expect("and another at the same time")];
    first.sort_unstable();
    assert_eq!(first, [1, 2]);
    assert!(started.try_recv().is_err(), "there are two clients");
    let texts = vec!["here".to_owned()];
    engine.embed(Lane::Interactive, texts).await.expect("a model here is free");
    for _ in 0..3 {
        open.send(()).expect("the clients wait");
    }
    let captions = captions.await.expect("no panic").expect("captioned");
    let said: Vec<_> = captions.iter().map(crate::domain::Caption::as_str).collect();
    assert_eq!(said, ["Red is 1.", "Red is 2.", "Red is 3."], "in order");
    drop(engine);
    assert_eq!(thread.ended().await, Ok(()));
}

#[tokio::test]
async fn a_failure_elsewhere_is_the_callers_and_a_panic_everybodys() {
    let (engine, thread, _started, open) = elsewhere();
    for _ in 0..8 {
        open.send(()).expect("there is room");
    }
    let failed = engine.caption(Lane::Background, vec![picture(1), picture(13)]).await;
    assert!(matches!(failed, Err(EngineError::Model(ModelError::Run { .. }))), "{failed:?}");
    engine.caption(Lane::Background, vec![picture(2)]).await.expect("the next one is well");
    let melted = engine.caption(Lane::Background, vec![picture(66)]).await;
    assert!(matches!(melted, Err(EngineError::Model(ModelError::Stopped))), "{melted:?}");
    assert_eq!(thread.ended().await, Err(EngineDied { reason: "the client melted".into() }));
    let late = engine.embed(Lane::Background, vec!["late".into()]).await;
    assert!(matches!(late, Err(EngineError::Model(ModelError::Stopped))));
}

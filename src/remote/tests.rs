//! Every role over a scripted endpoint: what travels, what comes back, and every way in which it does not.

use std::io::Write as _;
use std::sync::mpsc;
use std::time::Duration;

use prometheus::{Registry, TextEncoder};
use serde_json::{Value, json};

use super::scripted::{Act, Gate, Scripted, completion, says, status};
use super::{Captioner, ChatJudge, Drafter, Endpoint, Judge, Metrics, Role, VisualQa};
use crate::config::{SecretFile, Span};
use crate::domain::{Caption, Fingerprint, Moment, MomentId, Picture, StreamId, StreamTime, WallTime};
use crate::seams::{
    Captioner as _, ChatJudge as _, DraftRequest, Drafter as _, Inquiry, Judge as _, ModelError, Pair, Strictness,
    VisualQa as _,
};

/// Patient enough for a loaded machine where a reply is due; tests of time-outs say their own.
fn endpoint(url: String) -> Endpoint {
    Endpoint { url, model: "tiny-vlm".into(), retries: 0, ..Endpoint::default() }
}

fn metrics() -> (Metrics, Registry) {
    let registry = Registry::new();
    (Metrics::register(&registry).expect("registers"), registry)
}

fn picture() -> Picture {
    Picture::new(32, 16, vec![90; 3 * 32 * 16]).expect("the size fits")
}

fn captioner(endpoint: &Endpoint) -> Captioner {
    Captioner::new(endpoint, metrics().0).expect("is configured")
}

fn caption(captioner: &mut Captioner) -> Result<String, String> {
    let captions = captioner.caption(&[picture()]).map_err(|error| error.to_string())?;
    Ok(captions[0].as_str().to_owned())
}

fn pair() -> Pair {
    Pair { premise: "There is\na car.".into(), hypothesis: "There is a dog.".into() }
}

fn moment(seconds: u64) -> Moment {
    let at = StreamTime::from_nanos(seconds * 1_000_000_000);
    let stream = StreamId::new("cam").expect("a token");
    let (captioner, embedder) = (Fingerprint::new("c"), Fingerprint::new("e"));
    let caption = Caption::new("There is a car.");
    let wall = WallTime::now();
    Moment { id: MomentId(seconds), stream, at, until: at, wall, timing: None, caption, captioner, embedder }
}

fn judgement(label: &str) -> String {
    json!({ "label": label }).to_string()
}

#[test]
fn a_caption_is_asked_for_with_a_picture_and_nothing_else() {
    let server = Scripted::start([says("- A car is parked.\n- A man walks")]);
    let mut captioner = captioner(&endpoint(server.url()));
    assert_eq!(caption(&mut captioner), Ok("A car is parked. A man walks.".to_owned()));
    let asked = &server.asked()[0];
    assert_eq!((asked.path.as_str(), &asked.authorization), ("/v1/chat/completions", &None));
    assert_eq!(asked.body["model"], "tiny-vlm");
    assert_eq!(asked.body["temperature"], 0.0);
    let url = asked.body.pointer("/messages/1/content/0/image_url/url").and_then(Value::as_str).expect("a picture");
    assert!(url.starts_with("data:image/jpeg;base64,/9j/"), "{url}");
    let host = server.url().replace("http://", "").replace("/v1", "");
    assert_eq!(captioner.fingerprint().as_str(), format!("tiny-vlm@{host}/caption-1"));
    assert_eq!(captioner.vocabulary(), None);
}

#[test]
fn a_question_about_a_picture_is_asked_as_it_is() {
    let server = Scripted::start([says(" yes ")]);
    let mut model = VisualQa::new(&endpoint(server.url()), metrics().0).expect("is configured");
    let answers = model.ask(&[Inquiry { picture: picture(), question: "Is there a car?".into() }]).expect("answers");
    assert_eq!(answers, ["yes"]);
    assert_eq!(server.asked()[0].body.pointer("/messages/1/content/1/text"), Some(&json!("Is there a car?")));
}

#[test]
fn a_draft_cites_only_what_was_offered() {
    let claims =
        json!({"claims": [{"timestamp": "t1", "claim": "There is a car."}, {"timestamp": "t7", "claim": "A dog."}]});
    let server = Scripted::start([says(&claims.to_string()), says(r#"{"claims": "none"}"#)]);
    let mut drafter = Drafter::new(&endpoint(server.url()), metrics().0).expect("is configured");
    let request =
        DraftRequest { question: "What is there?".into(), moments: vec![moment(5), moment(10)], max_claims: 3 };
    let drafted = drafter.draft(&request).expect("drafts");
    assert_eq!(drafted.iter().map(|claim| claim.citation.at.seconds()).collect::<Vec<_>>(), [10.0]);
    let format = &server.asked()[0].body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(
        format.pointer("/json_schema/schema/properties/claims/items/properties/timestamp/enum"),
        Some(&json!(["t0", "t1"]))
    );
    let error = drafter.draft(&request).expect_err("is no draft").to_string();
    assert!(error.contains("drafter (remote)") && error.contains("not the JSON asked for"), "{error}");
    let nothing = DraftRequest { moments: vec![], ..request };
    assert!(drafter.draft(&nothing).expect("needs nobody").is_empty());
    assert_eq!(server.asked().len(), 2, "nobody was asked about nothing");
}

#[test]
fn a_judgement_is_a_label_or_its_probabilities() {
    let alternatives = json!([{"token": "neutral", "logprob": -0.5}, {"token": "contr", "logprob": -1.5}]);
    let token = json!({"token": "neutral", "logprob": -0.5, "top_logprobs": alternatives});
    let before = json!({"token": "{\"label\": \"", "logprob": 0.0});
    let with_logprobs = |label: &str| {
        let content = json!([before, token]);
        let choice = json!({"message": {"content": judgement(label)}, "logprobs": {"content": content}});
        Act::Reply(200, "", json!({"choices": [choice]}).to_string())
    };
    let acts = [judgement("contradiction"), judgement("perhaps")].map(|text| says(&text));
    let [plain, unknown] = acts;
    let server = Scripted::start([plain, with_logprobs("neutral"), unknown, with_logprobs("contradiction")]);
    let (metrics, registry) = metrics();
    let mut judge = Judge::new(&endpoint(server.url()), metrics).expect("is configured");
    let label = judge.judge(&[pair()]).expect("judges")[0];
    assert_eq!((label.entailment, label.neutral, label.contradiction), (0.0, 0.0, 1.0));
    let odds = judge.judge(&[pair()]).expect("judges")[0];
    let due = 1.0 / (1.0 + (-1.0_f32).exp());
    assert!((odds.neutral - due).abs() < 1e-4 && odds.entailment == 0.0, "{odds:?}");
    let error = judge.judge(&[pair()]).expect_err("is no label").to_string();
    assert!(error.contains("none of those asked for"), "{error}");
    let error = judge.judge(&[pair()]).expect_err("contradicts itself").to_string();
    assert!(error.contains("favour another label"), "{error}");
    let text = TextEncoder::new().encode_to_string(&registry.gather()).expect("encodes");
    assert!(text.contains(r#"gvqa_remote_calls_total{outcome="unusable",role="judge"} 2"#), "{text}");
    let body = &server.asked()[0].body;
    assert_eq!(
        body.pointer("/messages/1/content"),
        Some(&json!("Premise: There is a car.\nHypothesis: There is a dog."))
    );
    assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(20)));
}

#[test]
fn strict_and_lenient_are_two_prompts() {
    let server = Scripted::start([says(&judgement("yes")), says(&judgement("no"))]);
    let mut judge = ChatJudge::new(&endpoint(server.url()), metrics().0).expect("is configured");
    assert_eq!(judge.supports(&[pair()], Strictness::Strict).expect("judges"), [1.0]);
    assert_eq!(judge.supports(&[pair()], Strictness::Lenient).expect("judges"), [0.0]);
    let systems: Vec<Value> = server.asked().iter().map(|asked| asked.body["messages"][0]["content"].clone()).collect();
    assert!(systems[0].as_str().is_some_and(|text| text.contains("explicitly")), "{systems:?}");
    assert_ne!(systems[0], systems[1]);
}

#[test]
fn every_failure_is_told_and_none_is_a_caption() {
    let short = Span(Duration::from_secs(1));
    let table = [
        ("a server error", status(500), "status 500: status 500", "failed"),
        ("a hang", Act::Hang, "did not answer in time", "timeout"),
        ("a drip", Act::Drip, "did not answer in time", "timeout"),
        ("half a body", Act::Truncate, "broke off", "broken"),
        ("a flood", Act::Flood, "longer than 4194304 bytes", "broken"),
        ("no HTTP", Act::Garbage, "broke off", "broken"),
        ("no JSON", Act::Reply(200, "", "<html>".into()), "no chat completion", "unusable"),
        ("another JSON", Act::Reply(200, "", "{\"choices\": []}".into()), "no choice", "unusable"),
        ("an empty caption", says(" \n "), "says nothing", "unusable"),
        ("a giant caption", says(&"A car. ".repeat(9000)), "longer than 8000 characters", "unusable"),
        ("a redirect", Act::Reply(302, "location: http://127.0.0.1:1/\r\n", String::new()), "status 302", "refused"),
        ("a wrong key", status(401), "status 401: check key_file", "refused"),
        ("an unknown model", status(404), "status 404: status 404", "refused"),
        ("busy", status(429), "status 429", "busy"),
    ];
    for (name, act, due, outcome) in table {
        let is_slow = matches!(act, Act::Hang | Act::Drip);
        let server = Scripted::start([act]);
        let patience = if is_slow { short } else { Span(Duration::from_secs(30)) };
        let (metrics, registry) = metrics();
        let endpoint = Endpoint { request_timeout: patience, ..endpoint(server.url()) };
        let mut captioner = Captioner::new(&endpoint, metrics).expect("is configured");
        let error = caption(&mut captioner).expect_err(name);
        assert!(error.contains("captioner (remote)") && error.contains(due), "{name}: {error}");
        let text = TextEncoder::new().encode_to_string(&registry.gather()).expect("encodes");
        let series = format!("gvqa_remote_calls_total{{outcome=\"{outcome}\",role=\"captioner\"}} 1");
        assert!(text.contains(&series), "{name}: no {series} in {text}");
        assert_eq!(server.asked().len(), 1, "{name}");
    }
}

#[test]
fn nobody_there_is_told() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("an address");
    let error = caption(&mut captioner(&endpoint(format!("http://{free}/v1")))).expect_err("nobody listens");
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn what_may_pass_is_tried_again_and_a_refusal_is_not() {
    let retrying = |url| Endpoint { retries: 2, ..endpoint(url) };
    let server = Scripted::start([status(503), Act::Truncate, says("A car.")]);
    let (metrics, registry) = metrics();
    let mut captioner = Captioner::new(&retrying(server.url()), metrics).expect("is configured");
    assert_eq!(caption(&mut captioner), Ok("A car.".to_owned()));
    assert_eq!(server.asked().len(), 3);
    let text = TextEncoder::new().encode_to_string(&registry.gather()).expect("encodes");
    assert!(text.contains("gvqa_remote_retries_total{role=\"captioner\"} 2"), "{text}");
    let server = Scripted::start([status(400), says("A car.")]);
    caption(&mut self::captioner(&retrying(server.url()))).expect_err("a refusal is final");
    assert_eq!(server.asked().len(), 1);
    let server = Scripted::start([status(500), status(500), status(500), says("A car.")]);
    caption(&mut self::captioner(&retrying(server.url()))).expect_err("the tries are used up");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_wait_that_is_asked_for_is_kept_and_never_exceeds_the_deadline() {
    let wait = |seconds| Act::Reply(429, seconds, String::new());
    let server = Scripted::start([wait("retry-after: 1\r\n"), says("A car.")]);
    let start = std::time::Instant::now();
    let one = Endpoint { retries: 1, ..endpoint(server.url()) };
    assert_eq!(caption(&mut captioner(&one)), Ok("A car.".to_owned()));
    assert!(start.elapsed() >= Duration::from_secs(1), "it came back before it was asked to");
    let server = Scripted::start([wait("retry-after: 3600\r\n"), says("A car.")]);
    let error =
        caption(&mut captioner(&Endpoint { retries: 1, ..endpoint(server.url()) })).expect_err("too long a wait");
    assert!(error.contains("status 429"), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn an_endpoint_that_fails_is_left_alone_and_tried_again() {
    let server = Scripted::start([status(500), status(500), says("A car."), says("A dog.")]);
    let (metrics, registry) = metrics();
    let pause = Span(Duration::from_secs(2));
    let endpoint = Endpoint { breaker_failures: 2, breaker_pause: pause, ..endpoint(server.url()) };
    let mut captioner = Captioner::new(&endpoint, metrics.clone()).expect("is configured");
    let open = || {
        let text = TextEncoder::new().encode_to_string(&registry.gather()).expect("encodes");
        text.contains("gvqa_remote_open{role=\"captioner\"} 1")
    };
    for _ in 0..2 {
        assert!(caption(&mut captioner).expect_err("fails").contains("status 500"));
    }
    assert!(open() && metrics.left_alone() == [Role::Captioner]);
    let error = caption(&mut captioner).expect_err("is open");
    assert!(error.contains("left alone"), "{error}");
    assert_eq!(server.asked().len(), 2, "an open breaker asks nobody");
    // Asks until the pause is over; each answer in between comes at once.
    let said = std::iter::repeat_with(|| caption(&mut captioner)).find_map(Result::ok);
    assert_eq!(said.as_deref(), Some("A car."));
    assert!(!open() && metrics.left_alone().is_empty());
    assert_eq!(caption(&mut captioner), Ok("A dog.".to_owned()));
}

#[test]
fn the_key_travels_in_its_header_and_appears_nowhere_else() {
    const KEY: &str = "sk-hunter2-hunter2";
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("key");
    let mut file = std::fs::File::create(&path).expect("a file");
    writeln!(file, "{KEY}").expect("written");
    let echo = format!(r#"{{"error": {{"message": "what is {KEY}?"}}}}"#);
    let server = Scripted::start([says("A car."), Act::Reply(400, "", echo.clone()), Act::Reply(401, "", echo)]);
    let endpoint = Endpoint { key_file: Some(SecretFile::new(&path)), ..endpoint(server.url()) };
    let mut captioner = captioner(&endpoint);
    caption(&mut captioner).expect("captions");
    assert_eq!(server.asked()[0].authorization.as_deref(), Some(&*format!("Bearer {KEY}")));
    for _ in 0..2 {
        let error = caption(&mut captioner).expect_err("refused");
        assert!(error.contains("status 40") && !error.contains("hunter2"), "{error}");
    }
    assert!(!format!("{endpoint:?} {}", captioner.fingerprint()).contains("hunter2"));
    let missing = Endpoint { key_file: Some(SecretFile::new(dir.path().join("none"))), ..endpoint };
    let error = Captioner::new(&missing, metrics().0).err().expect("no key");
    assert!(matches!(error, ModelError::Load { .. }) && error.to_string().contains("none"), "{error}");
}

#[test]
fn as_many_calls_as_allowed_are_under_way_at_once() {
    let gate = Gate::default();
    let acts = (0..3).map(|_| Act::Gated(gate.clone(), completion("A car.")));
    let server = Scripted::start(acts);
    let captioner = captioner(&Endpoint { concurrency: 3, ..endpoint(server.url()) });
    let clients = captioner.clients();
    assert_eq!(clients.len(), 3);
    let (done, finished) = mpsc::sync_channel(3);
    for mut client in clients {
        let done = done.clone();
        std::thread::spawn(move || done.send(client.caption(&[picture()]).is_ok()));
    }
    gate.reached(3);
    assert!(finished.try_recv().is_err(), "all three wait at the gate");
    gate.open();
    assert!((0..3).all(|_| finished.recv() == Ok(true)));
}

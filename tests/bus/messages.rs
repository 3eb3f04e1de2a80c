//! Every subject once, and every message held against its published schema.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::Message;
use futures::StreamExt;
use groundedvqa::bus::wire;
use groundedvqa::bus::wire::{AskRequest, ClaimRequest, FrameRequest, SearchRequest, V1, VerifyRequest};
use groundedvqa::domain::{
    Caption, Clock, Event, Fingerprint, Label, Moment, MomentId, Reason, Sha256, StreamState, Timing, WallTime,
};
use serde_json::{Value, json};

use crate::fakes::{at, picture, stream};
use crate::harness::{Daemon, claim, config, refusal, soon};
use crate::nats::NatsServer;

fn schema_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/schemas").join(format!("{name}.json"))
}

/// Fails unless `message` is what the committed schema says.
pub(crate) fn conforms(name: &str, message: &Value) {
    let schema = std::fs::read_to_string(schema_file(name)).expect("the schema is committed");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors: Vec<String> =
        validator.iter_errors(message).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name} does not conform: {errors:?}\n{message}");
}

/// Whose the time of day is, and how far off the times may be.
fn exactness(of: &Value) -> (Value, Value) {
    (of["clock"].clone(), of["precision_s"].clone())
}

pub(crate) fn body(message: &Message) -> Value {
    serde_json::from_slice(&message.payload).expect("JSON")
}

/// The committed schemas are the ones the code generates. `GVQA_BLESS=1` writes them.
#[test]
fn schemas_are_committed() {
    let bless = std::env::var_os("GVQA_BLESS").is_some();
    for (name, schema) in wire::schemas() {
        let text = serde_json::to_string_pretty(&schema).expect("serialises") + "\n";
        let path = schema_file(name);
        if bless {
            std::fs::write(&path, &text).expect("writable");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{} is out of date: run this test with GVQA_BLESS=1", path.display());
    }
    let listed = std::fs::read_dir(schema_file("x").parent().expect("a folder")).expect("readable").count();
    assert_eq!(listed, wire::schemas().len(), "a schema of no message is committed");
}

/// A schema that accepts everything would pass every other test.
#[test]
fn schemas_refuse_what_is_wrong() {
    let schema = std::fs::read_to_string(schema_file("ask.request")).expect("committed");
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    assert!(validator.is_valid(&json!({"question": "Is a dog there?", "v": 1, "k": 5, "stream": "cam"})));
    for bad in [
        json!({}),
        json!({"question": 1}),
        json!({"question": "q", "x": 1}),
        json!({"question": "q", "v": 2}),
        json!({"question": "q", "stream": "a.b"}),
        json!({"question": "q", "k": 0}),
    ] {
        assert!(!validator.is_valid(&bad), "{bad} was accepted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_has_its_reply() {
    let server = NatsServer::start();
    let (daemon, _) = Daemon::ready(&config(&server)).await;
    daemon.will_claim(&[claim("There are two people.", 5.0), claim("There is a dog.", 10.0)]);
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let call = async |subject: &str, request: Value| {
        let reply = raw.request(subject.to_owned(), request.to_string().into()).await.expect("a reply");
        assert!(
            reply.headers.as_ref().is_none_or(|headers| headers.get("Nats-Service-Error-Code").is_none()),
            "{reply:?}"
        );
        reply
    };

    for (subject, request) in [
        ("gvqa.ask", json!({"question": "How many people?", "stream": "cam"})),
        ("gvqa.ask", json!({"question": "How many people?"})),
        (
            "gvqa.ask.cam",
            json!({"question": "How many people?", "v": 1, "k": 5, "design": "caption-nli", "deadline_s": 20}),
        ),
    ] {
        conforms("ask.request", &request);
        let answer = body(&call(subject, request).await);
        conforms("ask.reply", &answer);
        assert_eq!(answer["claims"][0]["claim"], "There are two people.");
        assert_eq!(answer["claims"][0]["timestamp"], 5.0);
        assert_eq!(answer["claims"][0]["verdict"], "GROUNDED");
        assert_eq!(answer["claims"][0]["evidence"]["subject"], "gvqa.evidence.cam");
        assert_eq!(answer["claims"][1]["verdict"], "UNVERIFIED");
        assert_eq!(answer["claims"][1]["trials"].as_array().map(Vec::len), Some(2), "{answer}");
    }
    let survey = body(&call("gvqa.ask.cam", json!({"question": "Was there an elephant in the first minute?"})).await);
    conforms("ask.reply", &survey);
    assert_eq!((&survey["survey"]["wants"], &survey["time"]["phrase"]), (&json!("presence"), &json!("first minute")));
    assert_eq!(survey["time"]["windows"][0]["window"], json!({"from": 0.0, "to": 60.0}));
    assert!(survey["survey"]["coverage"]["due"].is_u64() && survey["claims"] == json!([]), "{survey}");
    let anchored =
        body(&call("gvqa.ask.cam", json!({"question": "How many people are there after a bus stops?"})).await);
    conforms("ask.reply", &anchored);
    assert_eq!(anchored["time"]["anchor"]["event"], "a bus stops");

    let request =
        json!({"claims": [{"claim": "There is a bus.", "timestamp": 10}, {"claim": "A bus.", "timestamp": 99}]});
    conforms("verify.request", &request);
    let verdicts = body(&call("gvqa.verify.cam", request).await);
    conforms("verify.reply", &verdicts);
    assert_eq!(verdicts["claims"][0]["reason"], "entailed");
    assert_eq!(verdicts["claims"][1]["reason"], "no_frame");
    assert_eq!(exactness(&verdicts["claims"][0]), (json!("media"), json!(0.02)));
    assert_eq!(exactness(&verdicts["claims"][1]), (Value::Null, Value::Null), "nothing is known of that time");

    let request = json!({"query": "a bus", "k": 2, "from": 5, "to": 10.5});
    conforms("search.request", &request);
    let found = body(&call("gvqa.search.cam", request).await);
    conforms("search.reply", &found);
    assert_eq!(found["moments"][0]["caption"], "There is a bus.");
    assert_eq!(exactness(&found["moments"][0]), (json!("arrival"), json!(0.25)));
    assert_eq!(found["window"], json!({"from": 5.0, "to": 10.5}));

    conforms("frame.request", &json!({"timestamp": 5}));
    let frame = call("gvqa.frame.cam", json!({"timestamp": 5})).await;
    assert_eq!(frame.payload.as_ref(), picture(2).rgb());
    let headers = frame.headers.expect("headers");
    let header = |name: &str| headers.get(name).map(ToString::to_string);
    assert_eq!(header("Content-Type").as_deref(), Some("image/jpeg"));
    assert_eq!(header("Gvqa-Timestamp").as_deref(), Some("5"));
    assert_eq!((header("Gvqa-Clock").as_deref(), header("Gvqa-Precision").as_deref()), (Some("media"), Some("0.02")));
    assert_eq!(header("Gvqa-Sha256").as_deref(), Some(Sha256::of(picture(2).rgb()).as_str()));

    conforms("streams.request", &json!({}));
    let streams = body(&call("gvqa.streams", json!({})).await);
    conforms("streams.reply", &streams);
    assert_eq!(streams["streams"][0]["stream"], "broken");
    assert_eq!(streams["streams"][0]["state"], "failed");
    assert!(!streams.to_string().contains("hunter2"), "{streams}");
    let empty = raw.request("gvqa.streams", "".into()).await.expect("a reply");
    conforms("streams.reply", &body(&empty));

    let refused = raw.request("gvqa.ask.nobody", r#"{"question":"q"}"#.into()).await.expect("a reply");
    conforms("error.reply", &body(&refused));
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_told_with_their_evidence() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&config(&server)).await;
    daemon.will_claim(&[claim("There are two people.", 5.0)]);
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let mut all = raw.subscribe("gvqa.*.cam").await.expect("subscribes");
    let mut evidence = client.evidence(None).await.expect("subscribes");
    // A reply on the same connection: the server knows the subscription.
    raw.request("gvqa.streams", "".into()).await.expect("a reply");

    let moment = Moment {
        id: MomentId(7),
        stream: stream("cam"),
        at: at(1.5),
        until: at(1.5),
        wall: WallTime::now(),
        timing: Some(Timing { clock: Clock::SenderReport, precision: Duration::from_millis(33) }),
        caption: Caption::new("There is a cat."),
        captioner: Fingerprint::new("c@1"),
        embedder: Fingerprint::new("e@1"),
    };
    daemon.events.send(Event::Caption(moment)).await.expect("taken");
    let caption = soon("a caption", all.next()).await.expect("a message");
    assert_eq!(caption.subject.as_str(), "gvqa.caption.cam");
    conforms("caption.event", &body(&caption));
    assert_eq!(exactness(&body(&caption)), (json!("sender_report"), json!(0.033)));

    let state = StreamState::Down;
    let detail = "rtsp://me:hunter2@cam broke off".to_owned();
    let event = Event::State { stream: stream("cam"), state, detail, wall: WallTime::now() };
    daemon.events.send(event).await.expect("taken");
    let told = soon("a state", all.next()).await.expect("a message");
    conforms("state.event", &body(&told));
    assert!(!String::from_utf8_lossy(&told.payload).contains("hunter2"));

    let request = AskRequest {
        v: V1,
        question: "How many people?".into(),
        stream: Some(stream("cam")),
        design: None,
        k: None,
        deadline_s: None,
    };
    let answer = client.ask(&request).await.expect("an answer");
    let mut told = Vec::new();
    while told.len() < 3 {
        let message = soon("evidence and verdict", all.next()).await.expect("a message");
        told.push(message.subject.to_string());
        if message.subject.as_str() == "gvqa.verdict.cam" {
            conforms("verdict.event", &body(&message));
            let event: wire::Verdict = serde_json::from_slice(&message.payload).expect("a verdict");
            assert_eq!(event, answer.claims[0], "the event is the verdict of the reply");
            let id = message.headers.expect("headers").get("Nats-Msg-Id").map(ToString::to_string);
            assert_eq!(id, Some(event.verdict_id.to_string()));
        }
    }
    assert_eq!(told, ["gvqa.ask.cam", "gvqa.evidence.cam", "gvqa.verdict.cam"]);
    let picture = soon("evidence", evidence.next()).await.expect("connected").expect("whole");
    let said = answer.claims[0].evidence.as_ref().expect("evidence");
    assert_eq!((picture.sha256.as_str(), picture.at), (said.sha256.as_str(), said.timestamp));
    assert_eq!(picture.verdict, Some(answer.claims[0].verdict_id.to_string()));
    assert_eq!((picture.jpeg.len() as u64, &said.omitted), (said.bytes, &None));
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_is_too_large_is_left_out_and_said_so() {
    let server = NatsServer::start();
    let cfg = groundedvqa::bus::Config { max_evidence_bytes: 1000, ..config(&server) };
    let (daemon, client) = Daemon::ready(&cfg).await;
    let mut verdicts = client.verdicts(Some(&stream("cam"))).await.expect("subscribes");
    let mut pictures = client.evidence(None).await.expect("subscribes");
    let claims = vec![ClaimRequest { claim: "There is a bus.".into(), timestamp: at(10.0) }];
    let request = VerifyRequest { v: V1, claims, design: None, deadline_s: None };
    let reply = client.verify(&stream("cam"), &request).await.expect("verdicts");
    let verdict = soon("a verdict", verdicts.next()).await.expect("connected").expect("whole");
    assert_eq!(reply.claims, std::slice::from_ref(&verdict));
    assert_eq!((verdict.verdict, verdict.reason), (Label::Grounded, Reason::Entailed));
    let omitted = verdict.evidence.expect("it was looked at").omitted.expect("it says why");
    assert!(omitted.contains("1000"), "{omitted}");
    // The verdict left after its pictures, so none is on the way any more.
    assert!(futures::poll!(std::pin::pin!(pictures.next())).is_pending());
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_reads_what_the_daemon_writes() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&config(&server)).await;
    let cam = stream("cam");
    let request = SearchRequest { v: V1, query: "people".into(), k: Some(1), from: None, to: None, deadline_s: None };
    let found = client.search(&cam, &request).await.expect("moments");
    assert_eq!((found.moments.len(), found.moments[0].moment.timestamp, found.window.to), (1, at(5.0), None));
    let request = FrameRequest { v: V1, timestamp: at(10.0), deadline_s: None };
    let frame = client.frame(&cam, &request).await.expect("a picture");
    assert_eq!((frame.at, frame.verdict), (at(10.0), None));
    let nowhere = FrameRequest { v: V1, timestamp: at(1000.0), deadline_s: None };
    assert_eq!(refusal(client.frame(&cam, &nowhere).await).name, wire::ErrorCode::NoFrame);
    daemon.bus.drain().await;
}

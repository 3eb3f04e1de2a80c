//! Refusals are typed, come at once, and leave room for the next request.

use std::sync::atomic::{AtomicUsize, Ordering};

use groundedvqa::bus::wire::{AskRequest, ClaimRequest, ErrorBody, ErrorCode, V1, VerifyRequest};
use groundedvqa::bus::{Client, ClientError, Config};
use groundedvqa::config::Span;
use groundedvqa::domain::Label;

use crate::fakes::{at, stream};
use crate::harness::{Daemon, SECOND, SLOW, config, eventually, refusal, soon};
use crate::nats::NatsServer;

fn claims(seconds: f64, deadline_s: Option<f64>) -> VerifyRequest {
    let claims = vec![ClaimRequest { claim: "There is a bus.".into(), timestamp: at(seconds) }];
    VerifyRequest { v: V1, claims, design: None, deadline_s }
}

async fn code(raw: &async_nats::Client, subject: &str, body: Vec<u8>) -> ErrorBody {
    let reply = raw.request(subject.to_owned(), body.into()).await.expect("a reply");
    let headers = reply.headers.expect("headers");
    let body: groundedvqa::bus::wire::ErrorReply = serde_json::from_slice(&reply.payload).expect("an error reply");
    let header = |name: &str| headers.get(name).map(ToString::to_string);
    assert_eq!(header("Nats-Service-Error-Code"), Some(body.error.code.to_string()));
    assert_eq!(header("Nats-Service-Error").as_deref(), Some(body.error.name.name()));
    body.error
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mistake_has_its_code() {
    use ErrorCode::{BadJson, BadRequest, BadSubject, BadVersion, NoFrame, TooLarge, UnknownStream};
    let server = NatsServer::start();
    let (daemon, _) = Daemon::ready(&config(&server)).await;
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let ask = r#"{"question":"Is a dog there?"}"#;
    let long = format!(r#"{{"question":"{}"}}"#, "x".repeat(200_000));
    let token = format!("gvqa.ask.{}", "x".repeat(65));
    let cases = [
        ("gvqa.ask", "{", BadJson, "EOF"),
        ("gvqa.ask", "{}", BadRequest, "question"),
        ("gvqa.ask", r#"{"question":"q","strem":"cam"}"#, BadRequest, "strem"),
        ("gvqa.ask.cam", r#"{"question":"q","stream":"other"}"#, BadRequest, "stream"),
        ("gvqa.ask", r#"{"question":"q","deadline_s":-1}"#, BadRequest, "deadline_s"),
        ("gvqa.ask", r#"{"question":"q","deadline_s":86400}"#, BadRequest, "deadline_s"),
        ("gvqa.ask", r#"{"question":"q","v":2}"#, BadVersion, "version 2"),
        ("gvqa.ask", r#"{"question":"q","stream":"nobody"}"#, UnknownStream, "nobody"),
        ("gvqa.ask.nobody", ask, UnknownStream, "nobody"),
        ("gvqa.ask.*", ask, BadSubject, "*"),
        ("gvqa.ask.>", ask, BadSubject, ">"),
        (&token, ask, BadSubject, "stream id"),
        ("gvqa.ask", &long, TooLarge, "65536"),
        ("gvqa.verify.nobody", r#"{"claims":[{"claim":"A dog.","timestamp":1}]}"#, UnknownStream, "nobody"),
        ("gvqa.verify.cam", r#"{"claims":[{"claim":"A dog.","timestamp":-1}]}"#, BadRequest, "claims[0].timestamp"),
        ("gvqa.search.nobody", r#"{"query":"dog"}"#, UnknownStream, "nobody"),
        ("gvqa.frame.nobody", r#"{"timestamp":1}"#, UnknownStream, "nobody"),
        ("gvqa.frame.cam", r#"{"timestamp":1234}"#, NoFrame, "1234"),
        ("gvqa.streams", r#"{"all":true}"#, BadRequest, "all"),
        ("gvqa.streams.add", "{", BadJson, "EOF"),
        ("gvqa.streams.add", r#"{"stream":"yard"}"#, BadRequest, "url"),
        ("gvqa.streams.add", r#"{"stream":"a.b","url":"rtsp://h/"}"#, BadRequest, "stream"),
        ("gvqa.streams.add", r#"{"stream":"yard","url":""}"#, BadRequest, "url"),
        ("gvqa.streams.add", r#"{"stream":"yard","url":"rtsp://h/","password":"x"}"#, BadRequest, "password"),
        ("gvqa.streams.change", r#"{"v":2,"stream":"yard","url":"rtsp://h/"}"#, BadVersion, "version 2"),
        ("gvqa.streams.remove", r#"{"stream":"yard","url":"rtsp://h/"}"#, BadRequest, "url"),
    ];
    for (subject, body, due, word) in cases {
        let error = soon(subject, code(&raw, subject, body.as_bytes().to_vec())).await;
        assert_eq!(error.name, due, "{subject} {}: {error}", &body[..body.len().min(80)]);
        assert!(error.message.contains(word), "{error} does not name {word:?}");
    }
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_said_so() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&config(&server)).await;
    *daemon.strings.judge_fails.lock().expect("not poisoned") = Some("out of memory".into());
    let reply = client.verify(&stream("cam"), &claims(10.0, None)).await.expect("verdicts");
    assert_eq!(reply.claims[0].verdict, Label::Unverified);
    assert_eq!(reply.claims[0].reason.as_str(), "model_unavailable");
    daemon.bus.drain().await;
}

/// Two permits, both taken by slow requests: the third is refused at once, lookups still go, and all is free again.
#[tokio::test(flavor = "multi_thread")]
async fn too_much_at_once_is_busy_at_once() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&Config { max_questions: 2, ..config(&server) }).await;
    let slow: Vec<_> = (0..2).map(|_| tokio::spawn(slow(client.clone(), None))).collect();
    let begun = AtomicUsize::new(0);
    eventually("both are at work", async || {
        let more = daemon.extracted.take().len();
        begun.fetch_add(more, Ordering::Relaxed) + more >= 2
    })
    .await;
    // The gate is shut: nothing becomes free that a third one could have waited for.
    assert_eq!(refusal(client.verify(&stream("cam"), &claims(10.0, None)).await).code, 429);
    client.streams().await.expect("what is not a question goes on");
    daemon.gate.open();
    for slow in slow {
        soon("the slow ones finish", slow).await.expect("no panic").expect("verdicts");
    }
    client.verify(&stream("cam"), &claims(10.0, None)).await.expect("there is room again");
    daemon.bus.drain().await;
}

async fn slow(client: Client, deadline_s: Option<f64>) -> Result<groundedvqa::bus::wire::VerifyReply, ClientError> {
    client.verify(&stream("slow"), &claims(SLOW, deadline_s)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_is_kept_and_frees_its_permit() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&Config { max_questions: 1, ..config(&server) }).await;
    for _ in 0..3 {
        let error = refusal(soon("a deadline", slow(client.clone(), Some(0.05))).await);
        assert_eq!((error.name, error.code), (ErrorCode::Deadline, 408), "{error}");
    }
    client.verify(&stream("cam"), &claims(10.0, None)).await.expect("there is room again");
    daemon.gate.open();
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_lets_work_finish_and_refuses_the_rest() {
    let server = NatsServer::start();
    let cfg = Config { grace: Span(60 * SECOND), ..config(&server) };
    let (daemon, client) = Daemon::ready(&cfg).await;
    let at_work = tokio::spawn(slow(client.clone(), None));
    eventually("it is at work", async || daemon.extracted.take().contains(&at(SLOW))).await;
    let Daemon { bus, gate, registry, .. } = daemon;
    let draining = tokio::spawn(bus.drain());
    eventually("nothing new is taken", async || {
        let request = AskRequest { v: V1, question: "q".into(), stream: None, design: None, k: None, deadline_s: None };
        match client.ask(&request).await {
            Err(ClientError::Refused(body)) => body.name == ErrorCode::Stopping,
            _ => false,
        }
    })
    .await;
    assert!(!draining.is_finished(), "the end waits for what is at work");
    gate.open();
    soon("the slow one is answered", at_work).await.expect("no panic").expect("verdicts");
    soon("the end", draining).await.expect("no panic");
    assert_eq!(
        crate::harness::metric(&registry, "gvqa_requests_total", &[("endpoint", "verify"), ("code", "ok")]),
        1.0
    );
}

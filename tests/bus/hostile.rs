//! What strangers send: 10⁵ generated bad requests through a real server. Each gets a typed refusal, by the daemon or by
//! NATS itself, and the daemon is as small and as useful afterwards as before.

use std::time::{Duration, Instant};

use async_nats::{Message, StatusCode};
use fastrand::Rng;
use futures::StreamExt;
use groundedvqa::bus::wire::{AskRequest, ErrorCode, ErrorReply, V1};

use crate::harness::{Daemon, claim, config, soon};
use crate::nats::NatsServer;

const REQUESTS: usize = 100_000;
/// Sent and not yet replied to: more than the daemon works on, less than a subscription holds.
const WINDOW: usize = 512;
/// Resident memory is read for the first time after this many.
const WARM_UP: usize = 20_000;
/// How much it may have grown at the end: allocator noise, not a byte a request (80,000 were sent in between).
const GROWTH: u64 = 24 * 1024 * 1024;
/// Fixed, so that a failure can be repeated.
const SEED: u64 = 0x6776_7161;

/// A request that must be refused, and how the daemon may refuse it.
struct Bad {
    subject: String,
    body: Vec<u8>,
    due: &'static [ErrorCode],
}

const JSON: &[ErrorCode] = &[ErrorCode::BadJson];
const REQUEST: &[ErrorCode] = &[ErrorCode::BadRequest];
const EITHER: &[ErrorCode] = &[ErrorCode::BadJson, ErrorCode::BadRequest];

fn pick<'a>(rng: &mut Rng, items: &[&'a str]) -> &'a str {
    items[rng.usize(..items.len())]
}

/// A subject with a good request for it.
fn good(rng: &mut Rng) -> (String, String) {
    let (subject, body) = [
        ("gvqa.ask", r#"{"question":"Is a dog there?","k":3}"#),
        ("gvqa.ask.cam", r#"{"v":1,"question":"Is a dog there?"}"#),
        ("gvqa.verify.cam", r#"{"claims":[{"claim":"A dog.","timestamp":5.0}]}"#),
        ("gvqa.search.cam", r#"{"query":"a dog","from":1,"to":9}"#),
        ("gvqa.frame.cam", r#"{"timestamp":5.0}"#),
    ][rng.usize(..5)];
    (subject.to_owned(), body.to_owned())
}

fn generate(rng: &mut Rng) -> Bad {
    let (subject, body) = good(rng);
    match rng.usize(..16) {
        0 => Bad { subject, body: body.as_bytes()[..rng.usize(1..body.len())].to_vec(), due: JSON },
        1 => Bad { subject, body: noise(rng), due: EITHER },
        2 => Bad { subject, body: deep(rng), due: EITHER },
        3 => huge(rng),
        4 => Bad { subject, body: with_byte(rng, &body, &[0, 1, 0x7f, b'\n']), due: EITHER },
        5 => Bad { subject, body: with_byte(rng, &body, &[0x80, 0xff, 0xc0, 0xed]), due: JSON },
        6 => times(rng),
        7 => strange_stream(rng),
        8 => wrong_type(rng),
        9 => Bad { subject, body: insert_field(rng, &body).into_bytes(), due: REQUEST },
        10 => wrong_version(rng, subject, &body),
        11 => unknown_stream(rng),
        12 => out_of_range(rng),
        13 => Bad {
            subject,
            body: format!("{body}{}", pick(rng, &["x", "{}", ",", "]", "\0", "1"])).into_bytes(),
            due: JSON,
        },
        14 => Bad { subject, body: not_an_object(rng).into(), due: REQUEST },
        _ => Bad { subject: "gvqa.streams".into(), body: body.into_bytes(), due: REQUEST },
    }
}

/// Random bytes that do not begin like an object.
fn noise(rng: &mut Rng) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..rng.usize(1..200)).map(|_| rng.u8(..)).collect();
    bytes[0] = b'a' + rng.u8(..26);
    bytes
}

fn deep(rng: &mut Rng) -> Vec<u8> {
    let depth = rng.usize(130..30_000);
    match rng.usize(..3) {
        0 => "[".repeat(depth).into_bytes(),
        1 => "{\"question\":".repeat(depth.min(5000)).into_bytes(),
        _ => format!("{{\"claims\":{}", "[{\"claim\":".repeat(depth.min(6000))).into_bytes(),
    }
}

fn huge(rng: &mut Rng) -> Bad {
    // Some near the server's own limit, most near the daemon's.
    let length = if rng.usize(..40) == 0 { 1_000_000 } else { rng.usize(2100..70_000) };
    let body = format!(r#"{{"question":"{}"}}"#, "x".repeat(length));
    let due: &[ErrorCode] = if body.len() > 65_536 { &[ErrorCode::TooLarge] } else { REQUEST };
    Bad { subject: "gvqa.ask".into(), body: body.into_bytes(), due }
}

/// Puts a byte that JSON does not allow into a text: behind the third quotation mark, which opens a value or a key.
fn with_byte(rng: &mut Rng, body: &str, bytes: &[u8]) -> Vec<u8> {
    let at = body.find('"').expect("a key") + 1;
    let mut body = body.as_bytes().to_vec();
    body.insert(at, bytes[rng.usize(..bytes.len())]);
    body
}

fn times(rng: &mut Rng) -> Bad {
    let time = pick(
        rng,
        &[
            "-1",
            "-0.001",
            "NaN",
            "Infinity",
            "-Infinity",
            "1e400",
            "1e300",
            "\"5\"",
            "null",
            "3155760001",
            "[5]",
            "-1e-3",
            "true",
            "--1",
            "0x5",
        ],
    );
    let (subject, body) = match rng.usize(..4) {
        0 => ("gvqa.verify.cam", format!(r#"{{"claims":[{{"claim":"A dog.","timestamp":{time}}}]}}"#)),
        1 => (
            "gvqa.search.cam",
            format!(r#"{{"query":"a dog","from":{}}}"#, if time == "null" { "\"null\"" } else { time }),
        ),
        2 => ("gvqa.search.cam", format!(r#"{{"query":"a dog","from":{},"to":{}}}"#, rng.u32(500..), rng.u32(..500))),
        _ => ("gvqa.frame.cam", format!(r#"{{"timestamp":{time}}}"#)),
    };
    Bad { subject: subject.into(), body: body.into_bytes(), due: EITHER }
}

fn strange_stream(rng: &mut Rng) -> Bad {
    let long = "x".repeat(rng.usize(65..300));
    let stream = pick(
        rng,
        &[
            "*",
            ">",
            "a*",
            "k\u{e4}se",
            "$cam",
            "cam>",
            "a/b",
            "a\\b",
            "\u{1}",
            "\"",
            "{}",
            "cam,cam",
            "%00",
            &long,
            "a.b",
            "cam.>",
            "*.*",
        ],
    );
    let (verb, body) = [
        ("ask", r#"{"question":"q"}"#),
        ("verify", r#"{"claims":[{"claim":"A dog.","timestamp":5.0}]}"#),
        ("search", r#"{"query":"q"}"#),
        ("frame", r#"{"timestamp":5.0}"#),
    ][rng.usize(..4)];
    if rng.usize(..3) == 0 {
        let body = serde_json::json!({"question": "q", "stream": stream}).to_string();
        return Bad { subject: "gvqa.ask".into(), body: body.into_bytes(), due: REQUEST };
    }
    Bad { subject: format!("gvqa.{verb}.{stream}"), body: body.into(), due: &[ErrorCode::BadSubject] }
}

fn wrong_type(rng: &mut Rng) -> Bad {
    let (subject, key) = [
        ("gvqa.ask", "question"),
        ("gvqa.search.cam", "query"),
        ("gvqa.verify.cam", "claims"),
        ("gvqa.frame.cam", "timestamp"),
    ][rng.usize(..4)];
    let value = pick(rng, &["{}", "true", "null", "[[]]", "{\"a\":{}}", "[null]", "\"\"", "[1]", "{\"claim\":1}"]);
    Bad { subject: subject.into(), body: format!(r#"{{"{key}":{value}}}"#).into_bytes(), due: REQUEST }
}

fn insert_field(rng: &mut Rng, body: &str) -> String {
    let field = pick(
        rng,
        &[r#""qestion":1"#, r#""":null"#, r#""K":3"#, r#""__proto__":{}"#, r#""text":"q""#, r#""Question":"q""#],
    );
    format!("{{{field},{}", &body[1..])
}

fn wrong_version(rng: &mut Rng, subject: String, body: &str) -> Bad {
    let version = pick(rng, &["0", "2", "-1", "1.5", "\"1\"", "null", "[]", "99999999999"]);
    let body = format!(r#"{{"v":{version},{}"#, body.replace(r#""v":1,"#, "").trim_start_matches('{'));
    Bad { subject, body: body.into_bytes(), due: &[ErrorCode::BadVersion] }
}

fn unknown_stream(rng: &mut Rng) -> Bad {
    let stream = format!("cam-{}", rng.u32(..));
    // The stream is looked up by those who may work: with too many at once, the door says busy.
    let due: &[ErrorCode] = &[ErrorCode::UnknownStream, ErrorCode::Busy];
    let (verb, body) =
        [("ask", r#"{"question":"q"}"#), ("search", r#"{"query":"q"}"#), ("frame", r#"{"timestamp":5.0}"#)]
            [rng.usize(..3)];
    Bad { subject: format!("gvqa.{verb}.{stream}"), body: body.into(), due }
}

fn out_of_range(rng: &mut Rng) -> Bad {
    let many =
        format!(r#"{{"claims":[{}]}}"#, vec![r#"{"claim":"A dog.","timestamp":1}"#; rng.usize(33..200)].join(","));
    let (subject, body) = [
        ("gvqa.ask", r#"{"question":"q","k":0}"#),
        ("gvqa.ask", r#"{"question":"q","k":51}"#),
        ("gvqa.ask", r#"{"question":"q","k":99999999999999999999}"#),
        ("gvqa.ask", r#"{"question":"q","deadline_s":0}"#),
        ("gvqa.ask", r#"{"question":"q","deadline_s":-5}"#),
        ("gvqa.ask", r#"{"question":"q","deadline_s":1e308}"#),
        ("gvqa.ask", r#"{"question":"q","design":"caption_nli"}"#),
        ("gvqa.ask", r#"{"question":"  \n"}"#),
        ("gvqa.ask", r#"{"question":"a\u0000b"}"#),
        ("gvqa.verify.cam", r#"{"claims":[]}"#),
        ("gvqa.verify.cam", &many),
        ("gvqa.ask", r#"{"question":"a","question":"b"}"#),
    ][rng.usize(..12)];
    Bad { subject: subject.into(), body: body.into(), due: REQUEST }
}

fn not_an_object(rng: &mut Rng) -> &'static str {
    pick(
        rng,
        &["[]", "null", "true", "5", "\"question\"", "[\"q\",null]", "[{}]", "-1e5", r#"[1,"q",null,null,null,null]"#],
    )
}

/// The refusal, or what is wrong with it.
fn judge(bad: &Bad, reply: &Message) -> Result<(), String> {
    if reply.status == Some(StatusCode::NO_RESPONDERS) {
        // Only a subject with too many tokens reaches nobody.
        return if bad.subject.split('.').count() > 3 { Ok(()) } else { Err("nobody answered".to_owned()) };
    }
    let body: ErrorReply = serde_json::from_slice(&reply.payload).map_err(|error| error.to_string())?;
    let number = reply.headers.as_ref().and_then(|headers| headers.get("Nats-Service-Error-Code"));
    let agree = number.is_some_and(|number| number.as_str() == body.error.code.to_string());
    if agree && bad.due.contains(&body.error.name) {
        Ok(())
    } else {
        Err(format!("{} is not one of {:?}", body.error, bad.due))
    }
}

/// Resident memory of this process (daemon, client and test) in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a resident size");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number");
    kib * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_refused_and_leave_nothing_behind() {
    let start = Instant::now();
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&config(&server)).await;
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let inbox = raw.new_inbox();
    let mut replies = raw.subscribe(format!("{inbox}.*")).await.expect("subscribes");
    let mut rng = Rng::with_seed(SEED);
    let mut waiting: Vec<Option<Bad>> = Vec::with_capacity(WINDOW);
    let (mut sent, mut done, mut refused_by_nats, mut warm) = (0, 0, 0, 0);
    waiting.resize_with(WINDOW, || None);
    let mut free: Vec<usize> = (0..WINDOW).collect();
    while done < REQUESTS {
        while sent < REQUESTS {
            let Some(slot) = free.pop() else { break };
            let bad = generate(&mut rng);
            sent += 1;
            let published =
                raw.publish_with_reply(bad.subject.clone(), format!("{inbox}.{slot}"), bad.body.clone().into()).await;
            if published.is_ok() {
                waiting[slot] = Some(bad);
            } else {
                // The client library knows that no server takes this subject.
                (done, refused_by_nats) = (done + 1, refused_by_nats + 1);
                free.push(slot);
            }
        }
        let Ok(reply) = tokio::time::timeout(Duration::from_secs(20), replies.next()).await else {
            let lost: Vec<_> = waiting.iter().flatten().map(|bad| (&bad.subject, bad.body.len())).collect();
            panic!("no reply after {done} of {sent} requests: {lost:?}");
        };
        let reply = reply.expect("connected");
        let slot: usize = reply.subject.rsplit('.').next().and_then(|slot| slot.parse().ok()).expect("a slot");
        let bad = waiting[slot].take().expect("one reply a request");
        if let Err(why) = judge(&bad, &reply) {
            let body = String::from_utf8_lossy(&bad.body[..bad.body.len().min(300)]).into_owned();
            panic!("request {done} on {:?}: {why}\n{body}", bad.subject);
        }
        free.push(slot);
        done += 1;
        if done == WARM_UP {
            warm = resident();
        }
    }
    let (end, took) = (resident(), start.elapsed());
    println!(
        "{REQUESTS} bad requests in {took:?}, {refused_by_nats} refused by the client library, resident {warm} -> {end}"
    );
    assert!(end <= warm + GROWTH, "resident memory grew from {warm} to {end} bytes");

    daemon.will_claim(&[claim("There is a bus.", 10.0)]);
    let question =
        AskRequest { v: V1, question: "Is a bus there?".into(), stream: None, design: None, k: None, deadline_s: None };
    let answer = soon("a good question", client.ask(&question)).await.expect("an answer");
    assert_eq!(answer.claims[0].verdict, groundedvqa::domain::Label::Grounded);
    assert_eq!(daemon.metric("gvqa_nats_slow_consumer_total", &[]), 0.0);
    daemon.bus.drain().await;
}

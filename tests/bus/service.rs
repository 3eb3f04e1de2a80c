//! The micro-service protocol: found, described, counted, and not to be silenced.

use async_nats::service::{Info, PingResponse, Stats};
use futures::StreamExt;

use crate::harness::{Daemon, config, soon};
use crate::nats::NatsServer;

#[tokio::test(flavor = "multi_thread")]
async fn ping_info_and_stats_are_answered() {
    let server = NatsServer::start();
    let (daemon, _) = Daemon::ready(&config(&server)).await;
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let ask = async |subject: String| raw.request(subject, "".into()).await.expect("a reply").payload;

    let ping: PingResponse = serde_json::from_slice(&ask("$SRV.PING".into()).await).expect("a ping response");
    assert_eq!((ping.kind.as_str(), ping.name.as_str()), ("io.nats.micro.v1.ping_response", "groundedvqa"));
    for verb in ["PING", "INFO", "STATS"] {
        ask(format!("$SRV.{verb}.groundedvqa")).await;
        ask(format!("$SRV.{verb}.groundedvqa.{}", ping.id)).await;
    }
    let info: Info = serde_json::from_slice(&ask("$SRV.INFO".into()).await).expect("an info response");
    let mut subjects: Vec<&str> = info.endpoints.iter().map(|endpoint| endpoint.subject.as_str()).collect();
    subjects.sort_unstable();
    let due = [
        "gvqa.ask",
        "gvqa.ask.*",
        "gvqa.frame.*",
        "gvqa.search.*",
        "gvqa.streams",
        "gvqa.streams.add",
        "gvqa.streams.change",
        "gvqa.streams.remove",
        "gvqa.verify.*",
    ];
    assert_eq!(subjects, due);
    assert_eq!(info.metadata.get("prefix").map(String::as_str), Some("gvqa"));

    for (subject, body) in [("gvqa.search.cam", r#"{"query":"bus"}"#), ("gvqa.search.cam", "{")] {
        raw.request(subject, body.into()).await.expect("a reply");
    }
    let stats: Stats = serde_json::from_slice(&ask("$SRV.STATS".into()).await).expect("a stats response");
    let search = stats.endpoints.iter().find(|endpoint| endpoint.name == "search").expect("the endpoint");
    assert_eq!((search.requests, search.errors), (2, 1));
    assert_eq!(search.last_error.as_ref().map(|error| (error.code, error.status.as_str())), Some((400, "bad_json")));
    assert!(search.processing_time > std::time::Duration::ZERO);
    assert_eq!(daemon.metric("gvqa_requests_total", &[("endpoint", "search"), ("code", "bad_json")]), 1.0);
    assert_eq!(daemon.metric("gvqa_nats_connected", &[]), 1.0);
    daemon.bus.drain().await;
}

/// A reply subject that no client can publish to must not end the loop that answers the next one.
#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_reply_subject_silences_nothing() {
    let server = NatsServer::start();
    let (daemon, _) = Daemon::ready(&config(&server)).await;
    let careless = async_nats::ConnectOptions::new().skip_subject_validation(true);
    let raw = careless.connect(server.url()).await.expect("connects");
    for subject in ["$SRV.PING", "$SRV.STATS", "gvqa.streams", "gvqa.ask.cam"] {
        for reply in ["a..b", ".", "gvqa.ask.cam", "gvqa.streams", "*", ">"] {
            raw.publish_with_reply(subject, reply, r#"{"question":"q"}"#.into()).await.expect("sent");
        }
        raw.publish(subject, "nobody waits for a reply".into()).await.expect("sent");
    }
    for subject in ["$SRV.PING", "$SRV.INFO", "$SRV.STATS", "gvqa.streams"] {
        soon(subject, raw.request(subject, "".into())).await.expect("still answered");
    }
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_prefixes_do_not_meet() {
    let server = NatsServer::start();
    let other = groundedvqa::bus::Config { prefix: "site-2.gvqa".into(), ..config(&server) };
    let (first, _) = Daemon::ready(&config(&server)).await;
    let (second, _) = Daemon::ready(&other).await;
    let raw = async_nats::connect(server.url()).await.expect("connects");
    raw.request("site-2.gvqa.streams", "".into()).await.expect("a reply");
    let asked = |daemon: &Daemon| daemon.metric("gvqa_requests_total", &[("endpoint", "streams"), ("code", "ok")]);
    assert_eq!((asked(&first), asked(&second)), (1.0, 2.0));
    let inbox = raw.new_inbox();
    let mut pongs = raw.subscribe(inbox.clone()).await.expect("subscribes");
    raw.publish_with_reply("$SRV.PING", inbox, "".into()).await.expect("sent");
    for _ in 0..2 {
        soon("both are found", pongs.next()).await.expect("a pong");
    }
    first.bus.drain().await;
    second.bus.drain().await;
}

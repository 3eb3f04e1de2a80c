//! The server is late, dies, freezes, comes back, or does not let everybody in.

use std::collections::BTreeSet;
use std::time::Duration;

use groundedvqa::bus::{BusError, Client, ClientError, Config, Events, wire};
use groundedvqa::config::Span;
use groundedvqa::domain::{Caption, Event, Fingerprint, Moment, MomentId, WallTime};
use groundedvqa::secret::Secret;
use tokio::sync::mpsc;

use crate::fakes::{at, stream};
use crate::harness::{Daemon, SECOND, config, eventually, reach, soon};
use crate::nats::NatsServer;

fn caption(id: u64) -> Event {
    Event::Caption(Moment {
        id: MomentId(id),
        stream: stream("cam"),
        at: at(id as f64),
        until: at(id as f64),
        wall: WallTime::now(),
        timing: None,
        caption: Caption::new(format!("There are {id} cars.")),
        captioner: Fingerprint::new("c@1"),
        embedder: Fingerprint::new("e@1"),
    })
}

async fn tell(events: &mpsc::Sender<Event>, ids: std::ops::Range<u64>) {
    for id in ids {
        soon("an event is taken", events.send(caption(id))).await.expect("the outbox lives");
    }
}

/// Waits until no event is on its way any more.
async fn all_out(daemon: &Daemon) {
    eventually("everything is published", async || daemon.metric("gvqa_outbox_waiting", &[("kind", "caption")]) == 0.0)
        .await;
}

async fn ids(events: &mut Events<wire::CaptionEvent>, last: u64) -> Vec<u64> {
    let mut ids = Vec::new();
    while ids.last() != Some(&last) {
        ids.push(soon("a caption", events.next()).await.expect("connected").expect("whole").moment.moment_id);
    }
    ids
}

/// A port that nobody listens on: taken from the system and given back.
fn unused_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_starts_and_ends_without_a_server() {
    let url = Secret::new(format!("nats://127.0.0.1:{}", unused_port()));
    let cfg = Config { url, grace: Span(Duration::from_millis(200)), ..Config::default() };
    let daemon = soon("the start", Daemon::start(&cfg)).await;
    assert!(!daemon.bus.is_connected());
    tell(&daemon.events, 0..5000).await;
    assert_eq!(daemon.metric("gvqa_nats_connected", &[]), 0.0);
    let error = Client::connect(&cfg).await.expect_err("nobody is there");
    assert!(error.is_unavailable(), "{error}");
    soon("the end", daemon.bus.drain()).await;
}

/// What was told while the server was away is published when it is back: the newest captions, the oldest counted. A
/// stream on the server writes down what arrives, whoever listens.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_server_costs_only_the_oldest_captions() {
    let dir = tempfile::tempdir().expect("temp dir");
    let mut server = NatsServer::with(&["-js", "-sd", dir.path().to_str().expect("UTF-8")]);
    let cfg = Config { outbox_events: 100, ..config(&server) };
    let (daemon, _) = Daemon::ready(&cfg).await;
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let name = "CAPTIONS".to_owned();
    let written =
        async_nats::jetstream::stream::Config { name, subjects: vec!["gvqa.caption.*".into()], ..Default::default() };
    let js = async_nats::jetstream::new(raw);
    js.create_stream(written).await.expect("a stream");
    tell(&daemon.events, 0..10).await;
    let stored = async || js.get_stream("CAPTIONS").await.expect("it is there").cached_info().state.messages;
    eventually("the server has the first ten", async || stored().await == 10).await;
    all_out(&daemon).await;

    server.kill();
    eventually("the daemon notices", async || daemon.metric("gvqa_nats_connected", &[]) == 0.0).await;
    tell(&daemon.events, 10..1000).await;
    let dropped = async || daemon.metric("gvqa_outbox_dropped_total", &[("kind", "caption")]);
    eventually("the backlog is full", async || dropped().await == 890.0).await;
    server.revive();
    reach(&cfg).await;
    all_out(&daemon).await;

    let raw = async_nats::connect(server.url()).await.expect("connects");
    let mut stream = async_nats::jetstream::new(raw).get_stream("CAPTIONS").await.expect("it was kept");
    let count = stream.info().await.expect("its state").state.messages;
    let mut arrived = Vec::new();
    for sequence in 1..=count {
        let message = stream.get_raw_message(sequence).await.expect("written");
        arrived
            .push(serde_json::from_slice::<wire::CaptionEvent>(&message.payload).expect("a caption").moment.moment_id);
    }
    // What the server itself had not yet written when it was killed is not ours to keep.
    let late: Vec<_> = arrived.into_iter().filter(|&moment| moment >= 10).collect();
    assert_eq!(late, (900..1000).collect::<Vec<_>>());
    assert_eq!(dropped().await, 890.0, "nothing more was given up");
    daemon.bus.drain().await;
}

/// A listener on a frozen server hears everything once it thaws: nothing was given up meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_server_loses_nothing() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&config(&server)).await;
    let mut listening = client.captions(None).await.expect("subscribes");
    server.freeze();
    tell(&daemon.events, 0..500).await;
    server.thaw();
    let heard: BTreeSet<u64> = ids(&mut listening, 499).await.into_iter().collect();
    assert_eq!(heard.len(), 500);
    all_out(&daemon).await;
    daemon.bus.drain().await;
}

/// What was told right before the end is on the server when the daemon is gone.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_publishes_what_was_told() {
    let server = NatsServer::start();
    let (daemon, client) = Daemon::ready(&config(&server)).await;
    let mut listening = client.captions(None).await.expect("subscribes");
    tell(&daemon.events, 0..300).await;
    soon("the end", daemon.bus.drain()).await;
    assert_eq!(ids(&mut listening, 299).await.len(), 300);
    let error = client.streams().await.expect_err("the daemon is gone");
    assert!(matches!(error, ClientError::Nobody(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_opens_and_is_never_told() {
    let dir = tempfile::tempdir().expect("temp dir");
    let conf = dir.path().join("nats.conf");
    std::fs::write(&conf, "authorization { user: me, password: \"hunter2\" }").expect("writable");
    let server = NatsServer::with(&["-c", conf.to_str().expect("UTF-8")]);
    let file = dir.path().join("password");
    std::fs::write(&file, "hunter2\n").expect("writable");
    let from_file = Config { user: Some("me".into()), password_file: Some(file), ..config(&server) };
    let (daemon, _) = Daemon::ready(&from_file).await;

    let address = |login: &str| Secret::new(format!("nats://{login}@127.0.0.1:{}", server.port()));
    let in_url = Config { url: address("me:hunter2"), ..config(&server) };
    Client::connect(&in_url).await.expect("connects").streams().await.expect("the daemon answers");
    for wrong in [config(&server), Config { url: address("me:hunter3"), ..config(&server) }] {
        let error = Client::connect(&wrong).await.expect_err("refused");
        assert!(matches!(error, ClientError::Bus(BusError::Connect(_))), "{error}");
        assert!(!format!("{error} {error:?} {wrong:?}").contains("hunter"), "{error:?}");
    }
    daemon.bus.drain().await;
}

/// An account that may not hear itself gets no confirmations; events still leave.
#[tokio::test(flavor = "multi_thread")]
async fn an_account_without_an_inbox_still_publishes() {
    let dir = tempfile::tempdir().expect("temp dir");
    let conf = dir.path().join("nats.conf");
    let rules = r#"authorization { users: [
        { user: daemon, password: d, permissions: {
            publish: { allow: ["gvqa.>"] }, subscribe: { allow: ["gvqa.>", "$SRV.>"] }, allow_responses: { max: 1, expires: "1m" } } }
        { user: reader, password: r }
    ] }"#;
    std::fs::write(&conf, rules).expect("writable");
    let server = NatsServer::with(&["-c", conf.to_str().expect("UTF-8")]);
    let login = |login: &str| Config {
        url: Secret::new(format!("nats://{login}@127.0.0.1:{}", server.port())),
        grace: Span(20 * SECOND),
        ..config(&server)
    };
    let daemon = Daemon::start(&login("daemon:d")).await;
    let client = reach(&login("reader:r")).await;
    let mut listening = client.captions(None).await.expect("subscribes");
    tell(&daemon.events, 0..200).await;
    assert_eq!(ids(&mut listening, 199).await.len(), 200);
    daemon.bus.drain().await;
}

//! The life of streams in the real daemon: cameras in another process that die, freeze and refuse; a configuration that
//! changes under it; orders over the bus; kill -9 of the daemon itself.

#![allow(clippy::large_futures, reason = "a test is awaited once, on a stack that has room")]

use base64::Engine as _;
use groundedvqa::bus::wire::{AskRequest, ErrorCode, FrameRequest, SightRequest, StateEvent, StreamRequest, V1};
use groundedvqa::bus::{Client, ClientError};
use groundedvqa::domain::{StreamState, StreamTime};

use crate::common::{RtspServer, clips};
use crate::site::{Site, id};

/// A live picture that needs no camera: the neighbour whom nothing may disturb.
const OTHER: &str = "[streams.other]\nurl = \"test://ball?size=320x240&fps=5\"\nsample_every = \"1s\"\n\
                     sight = { extend_unchanged = false }\n";

/// Every sample becomes a moment, whatever it shows.
const EVERY: &str = "sight = { extend_unchanged = false }\n";

const RIGHT: &str = "r1ght-and-proper";
const WRONG: &str = "wr0ng-as-can-be";

fn camera(url: &str) -> String {
    format!("[streams.cam]\nurl = {url:?}\nsample_every = \"1s\"\nstall_timeout = \"2s\"\n{EVERY}{OTHER}")
}

fn states_of<'a>(told: &'a [StateEvent], stream: &str) -> Vec<&'a str> {
    told.iter().filter(|event| event.stream.as_str() == stream).map(|event| event.state.as_str()).collect()
}

fn again(server: &RtspServer) -> RtspServer {
    RtspServer::start(&["--pattern", "ball", "--size", "320x240", "--fps", "10", "--port", server.port()])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_camera_that_dies_or_freezes_comes_back_and_its_neighbour_goes_on() {
    let mut server = RtspServer::ball();
    let mut site = Site::new(&camera(server.url())).await;
    let daemon = site.start();
    let mut told = site.until("cam", StreamState::Up).await;
    let seen = site.moments("cam", 1).await;
    let neighbour = site.moments("other", 1).await;

    server.kill();
    let down = site.until("cam", StreamState::Down).await;
    assert_eq!(daemon.metric("gvqa_stream_state{state=\"down\",stream=\"cam\"}"), 1.0);
    let server = again(&server);
    let back = site.until("cam", StreamState::Up).await;
    site.moments("cam", seen + 1).await;

    server.freeze();
    let frozen = site.until("cam", StreamState::Stalled).await;
    assert_eq!(daemon.metric("gvqa_stream_state{state=\"stalled\",stream=\"cam\"}"), 1.0);
    assert_eq!(daemon.metric("gvqa_stream_state{state=\"up\",stream=\"cam\"}"), 0.0);
    let seen = site.info("cam").await.expect("listed").moments;
    server.thaw();
    let thawed = site.until("cam", StreamState::Up).await;
    site.moments("cam", seen + 1).await;

    site.moments("other", neighbour + 1).await;
    told.extend([down, back, frozen, thawed].into_iter().flatten());
    assert_eq!(states_of(&told, "other"), ["connecting", "up"], "the neighbour was disturbed");
    assert_eq!(daemon.metric("gvqa_stream_reconnects_total{reason=\"lost\",stream=\"other\"}"), 0.0);
    assert!(daemon.metric("gvqa_stream_reconnects_total{reason=\"stalled\",stream=\"cam\"}") >= 1.0);
    assert_eq!(daemon.terminate().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_password_is_tried_again_when_it_was_mended_and_never_shown() {
    let server = RtspServer::start(&[
        "--pattern",
        "ball",
        "--size",
        "320x240",
        "--fps",
        "10",
        "--user",
        "viewer",
        "--password",
        RIGHT,
    ]);
    let mut site = Site::new(OTHER).await;
    let file = site.write("cam.password", WRONG);
    let section = format!("user = \"viewer\"\npassword_file = {file:?}\n");
    site.configure(&camera(server.url()).replace(OTHER, &format!("{section}{OTHER}")), "");
    // Everything that any part can be brought to say.
    let text = std::fs::read_to_string(site.path("groundedvqa.toml")).expect("was written");
    site.write("groundedvqa.toml", &text.replace("debug,groundedvqa=trace", "trace"));
    let daemon = site.start_with(&[("GST_DEBUG", "*:4,rtsp*:6"), ("GST_DEBUG_NO_COLOR", "1")]);
    let told = site.until("cam", StreamState::AuthFailed).await;
    assert_eq!(states_of(&told, "cam"), ["connecting", "auth_failed"]);
    assert_eq!(daemon.metric("gvqa_stream_state{state=\"auth_failed\",stream=\"cam\"}"), 1.0);
    let neighbour = site.moments("other", 1).await;

    // The pause after a refusal is an hour here: only the reload can end it.
    site.write("cam.password", RIGHT);
    daemon.reload();
    let told = site.until("cam", StreamState::Up).await;
    site.moments("cam", 1).await;
    site.moments("other", neighbour + 1).await;
    assert_eq!(states_of(&told, "other"), Vec::<&str>::new(), "the neighbour was disturbed");

    // A refused order does not put what it holds into the log.
    let order = StreamRequest::new(id("yard"), &format!("rtsp://viewer:{RIGHT}@127.0.0.1/live"));
    site.client().add_stream(&order).await.expect_err("holds a password");

    let streams = format!("{:?}", site.client().streams().await.expect("a reply"));
    let metrics = daemon.metrics();
    let log = daemon.log();
    assert!(log.contains("Basic ***"), "GStreamer's own log was not taken");
    assert!(log.contains("\"level\":\"TRACE\"") && log.contains("refused the credentials"), "the log was not taken");
    for password in [RIGHT, WRONG] {
        let basic = base64::engine::general_purpose::STANDARD.encode(format!("viewer:{password}"));
        for text in [&log, &metrics, &streams] {
            assert!(!text.contains(password) && !text.contains(&basic), "a password is shown");
        }
    }
    assert_eq!(daemon.terminate().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_killed_goes_on_where_it_was() {
    let server = RtspServer::ball();
    let mut site = Site::new(&camera(server.url())).await;
    let daemon = site.start();
    site.until("cam", StreamState::Up).await;
    site.moments("cam", 3).await;
    let before = site.times("cam").await;
    daemon.kill();

    let daemon = site.start();
    site.until("cam", StreamState::Up).await;
    site.moments("cam", before.len() as u64 + 2).await;
    let after = site.times("cam").await;
    assert!(before.iter().all(|time| after.contains(time)), "{before:?} became {after:?}");
    assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "captioned twice: {after:?}");
    // It was killed while recording: what it saw can be shown again. The last one may not have reached the disk.
    for at in &before[..before.len() - 1] {
        assert!(has_frame(site.client(), "cam", at.seconds()).await, "nothing is shown at {at}");
    }
    assert_eq!(daemon.terminate().code(), Some(0));
}

async fn has_frame(client: &Client, stream: &str, seconds: f64) -> bool {
    let timestamp = StreamTime::from_seconds(seconds).expect("a time");
    client.frame(&id(stream), &FrameRequest { v: V1, timestamp, deadline_s: None }).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_touches_what_it_changes_and_nothing_else() {
    let walk = format!("[streams.walk]\nurl = {:?}\nsample_every = \"20s\"\n", clips::vtest());
    let yard = format!("[streams.yard]\nurl = \"test://smpte?size=320x240&fps=5\"\nsample_every = \"1s\"\n{EVERY}");
    let mut site = Site::new(&format!("{walk}{OTHER}")).await;
    let daemon = site.start();
    let mut told = site.until("walk", StreamState::Ended).await;
    let neighbour = site.moments("other", 1).await;

    // A new stream.
    site.configure(&format!("{walk}{yard}{OTHER}"), "");
    daemon.reload();
    told.extend(site.until("yard", StreamState::Up).await);
    let seen = site.moments("yard", 1).await;
    // A changed one, under the same name: its memory goes on.
    site.configure(&format!("{walk}{}{OTHER}", yard.replace("smpte", "pinwheel")), "");
    daemon.reload();
    let changed = site.until("yard", StreamState::Up).await;
    assert_eq!(states_of(&changed, "yard"), ["connecting", "up"]);
    site.moments("yard", seen + 1).await;

    // Configurations that cannot be used: the one in force stays.
    for bad in ["[streams.yard]\nurl = \"test://nothing\"\n", "[streams.yard]\nurll = 1\n", "nonsense"] {
        site.configure(bad, "");
        daemon.reload();
        assert_eq!(daemon.metric("gvqa_config_accepted"), 0.0);
    }
    assert!(daemon.log().contains("streams.yard"), "the refusal names no key");
    assert_eq!(site.info("yard").await.expect("listed").state, StreamState::Up);
    assert_eq!(site.info("walk").await.expect("listed").state, StreamState::Ended);

    // Fewer streams: what was seen of them stays.
    site.configure(OTHER, "");
    daemon.reload();
    let removed = site.until("yard", StreamState::Removed).await;
    assert_eq!(states_of(&removed, "walk"), ["removed"]);
    assert_eq!(daemon.metric("gvqa_config_accepted"), 1.0);
    assert!(!daemon.metrics().contains("stream=\"walk\""), "a removed stream is still measured");
    let remembers = async |site: &Site| {
        let info = site.info("walk").await.expect("listed");
        assert_eq!((info.state, info.moments), (StreamState::Removed, 4));
        assert_eq!(site.times("walk").await.len(), 4);
        assert!(has_frame(site.client(), "walk", 20.0).await, "the file is still there");
    };
    remembers(&site).await;

    told.extend([changed, removed].into_iter().flatten());
    site.moments("other", neighbour + 1).await;
    assert_eq!(states_of(&told, "other"), ["connecting", "up"], "the neighbour was disturbed");
    assert_eq!(daemon.terminate().code(), Some(0));

    // A restart remembers what nobody watches.
    let daemon = site.start();
    site.until("other", StreamState::Up).await;
    remembers(&site).await;
    assert_eq!(daemon.terminate().code(), Some(0));
}

fn refused<T: std::fmt::Debug>(result: Result<T, ClientError>) -> ErrorCode {
    match result {
        Err(ClientError::Refused(body)) => body.name,
        other => panic!("not a refusal: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_managed_over_the_bus_where_the_site_allows_it() {
    let mut site = Site::new(OTHER).await;
    let daemon = site.start();
    site.until("other", StreamState::Up).await;
    let sight = SightRequest { extend_unchanged: Some(false), ..SightRequest::default() };
    let yard = StreamRequest {
        sample_every: Some("1s".into()),
        zone: Some("+05:00".into()),
        sight: Some(sight),
        ..StreamRequest::new(id("yard"), "test://smpte?fps=5")
    };
    let client = site.client().clone();
    assert_eq!(refused(client.add_stream(&yard).await), ErrorCode::Forbidden, "nothing is allowed by default");

    site.configure(OTHER, "manage_allow = [\"test://\"]\nmanage_streams = 1\n");
    daemon.reload();
    client.add_stream(&yard).await.expect("is allowed now");
    site.until("yard", StreamState::Up).await;
    site.moments("yard", 1).await;
    let rtsp = StreamRequest::new(id("cam"), "rtsp://127.0.0.1/live");
    assert_eq!(refused(client.add_stream(&rtsp).await), ErrorCode::Forbidden);
    assert_eq!(refused(client.add_stream(&yard).await), ErrorCode::Conflict);
    let second = StreamRequest::new(id("second"), "test://ball");
    assert_eq!(refused(client.add_stream(&second).await), ErrorCode::Busy, "one is the limit here");
    assert_eq!(refused(client.change_stream(&second).await), ErrorCode::UnknownStream);
    let other = StreamRequest::new(id("other"), "test://snow");
    assert_eq!(refused(client.change_stream(&other).await), ErrorCode::Conflict, "it is the file's");
    assert_eq!(refused(client.remove_stream(&id("other")).await), ErrorCode::Conflict);
    let file = StreamRequest::new(id("yard"), "test://smpte?duration=10s");
    assert_eq!(refused(client.change_stream(&file).await), ErrorCode::Conflict, "it was live, and is a file now");

    let changed = StreamRequest { url: "test://pinwheel?fps=5".into(), ..yard.clone() };
    client.change_stream(&changed).await.expect("is allowed");
    assert_eq!(states_of(&site.until("yard", StreamState::Up).await, "yard"), ["connecting", "up"]);

    // What was replied to is there after kill -9.
    daemon.kill();
    let daemon = site.start();
    site.until_all(&[("yard", StreamState::Up), ("other", StreamState::Up)]).await;
    // With all that it was given: a still picture is captioned again and again, and the clock hangs elsewhere.
    let before = site.info("yard").await.expect("listed").moments;
    site.moments("yard", before + 2).await;
    let (question, stream) = ("Is anything there?".to_owned(), Some(id("yard")));
    let question = AskRequest { v: V1, question, stream, design: None, k: None, deadline_s: None };
    let answer = client.ask(&question).await.expect("an answer");
    assert_eq!(answer.time.windows[0].zone, "+05:00");
    let removed = client.remove_stream(&id("yard")).await.expect("is allowed");
    assert_eq!(removed.state, StreamState::Removed);
    assert_eq!(site.info("yard").await.expect("is remembered").state, StreamState::Removed);
    assert_eq!(refused(client.remove_stream(&id("yard")).await), ErrorCode::UnknownStream);
    daemon.kill();
    let daemon = site.start();
    let told = site.until("other", StreamState::Up).await;
    assert_eq!(site.info("yard").await.expect("is remembered").state, StreamState::Removed);
    assert!(!states_of(&told, "yard").contains(&"connecting"), "a removed stream was watched again");
    assert_eq!(daemon.terminate().code(), Some(0));
}

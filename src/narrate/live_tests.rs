//! The narrator over live streams: breaking off, coming back, and being removed.

use std::sync::mpsc::sync_channel;

use super::fakes::Step;
use super::tests::{World, frames, lost, obliging, short};
use super::*;
use crate::domain::{StreamId, StreamState, StreamTime};
use crate::seams::SourceError;

#[tokio::test]
async fn a_live_stream_that_breaks_is_opened_again_where_it_broke() {
    let mut world = World::new(obliging());
    let (taken, first_is_taken) = sync_channel(1);
    let last_life = vec![Step::Await(first_is_taken), Step::Frame(10)];
    let steps = vec![frames(&[0], Some(lost())), vec![lost()], vec![Step::End], last_life];
    let (watching, origins) = world.watch(StreamKind::Live, steps);
    let mut told = Vec::new();
    while told.last().is_none_or(|last| last != "caption 10") {
        told.push(short(&world.events.recv().await.expect("the narrator lives")));
        if told.last().is_some_and(|last| last == "caption 0") {
            taken.send(()).expect("the source waits");
        }
    }
    let after: Vec<_> = origins.lock().expect("not poisoned").iter().map(|origin| origin.after).collect();
    assert_eq!(after, [None, Some(StreamTime::ZERO), Some(StreamTime::ZERO), Some(StreamTime::ZERO)]);
    told.retain(|event| event != "caption 0");
    let down = "down: stream s broke off: ";
    let (reset, ended) = (format!("{down}reset by peer"), format!("{down}the source ended"));
    let due = ["connecting", "up", &reset, &ended, "up", "caption 10"];
    assert_eq!(told, due);
    assert_eq!(world.metric("gvqa_stream_reconnects_total{reason=\"lost\",stream=\"s\"}"), "3");
    assert_eq!(world.metric("gvqa_stream_up{stream=\"s\"}"), "1");
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
}

#[tokio::test]
async fn each_trouble_of_a_live_stream_has_its_state() {
    let mut world = World::new(obliging());
    let stream = world.stream.clone();
    let stalled = || Step::Break(SourceError::Stalled { stream: stream.clone(), after: Duration::from_secs(10) });
    let refused = || Step::Break(SourceError::Unauthorized { stream: stream.clone(), reason: "401".into() });
    let steps = vec![
        vec![refused()],
        vec![refused()],
        frames(&[0], Some(stalled())),
        vec![stalled()],
        vec![lost()],
        frames(&[5], None),
    ];
    let (watching, _) = world.watch(StreamKind::Live, steps);
    let mut states = Vec::new();
    while states.iter().filter(|state| **state == "up").count() < 2 {
        if let Event::State { state, .. } = world.events.recv().await.expect("the narrator lives") {
            states.push(state.as_str());
        }
    }
    // Told once, however often it was tried.
    assert_eq!(states, ["connecting", "auth_failed", "up", "stalled", "down", "up"]);
    assert_eq!(world.metric("gvqa_stream_reconnects_total{reason=\"unauthorized\",stream=\"s\"}"), "2");
    assert_eq!(world.metric("gvqa_stream_reconnects_total{reason=\"stalled\",stream=\"s\"}"), "2");
    assert_eq!(world.metric("gvqa_stream_state{state=\"up\",stream=\"s\"}"), "1");
    assert_eq!(world.metric("gvqa_stream_state{state=\"down\",stream=\"s\"}"), "0");
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
}

#[tokio::test]
async fn a_removed_stream_is_told_and_measured_no_longer() {
    let mut world = World::new(obliging());
    let (watching, _) = world.watch(StreamKind::Live, vec![frames(&[0], None)]);
    while world.status().moments < 1 {
        tokio::task::yield_now().await;
    }
    world.deps.stop.ask();
    watching.ended().await.expect("no panic");
    world.told();
    retire(&world.stream, StreamKind::Live, 1, &world.deps);
    assert_eq!(world.told(), ["removed"]);
    assert_eq!((world.status().state, world.status().moments), (StreamState::Removed, 1));
    let text = prometheus::TextEncoder::new().encode_to_string(&world.registry.gather()).expect("encodes");
    assert!(!text.contains("stream=\"s\""), "{text}");
    assert_eq!(world.stored().await, [0.0]);

    let never_seen = StreamId::new("never").expect("valid");
    retire(&never_seen, StreamKind::Live, 0, &world.deps);
    assert_eq!(world.deps.board.status(&never_seen), None);
}

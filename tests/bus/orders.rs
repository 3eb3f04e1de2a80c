//! Orders about streams: carried to whoever watches, replied to when they are done, and refused with a code.

use groundedvqa::bus::wire::{ErrorCode, StreamReply, StreamRequest, V1};
use groundedvqa::bus::{Client, ClientError, Order, OrderError, StreamOrder};
use groundedvqa::domain::{StreamKind, StreamState};
use serde_json::json;
use tokio::sync::mpsc;

use crate::fakes::stream;
use crate::harness::{Daemon, config, refusal, soon};
use crate::messages::{body, conforms};
use crate::nats::NatsServer;

fn done(state: StreamState) -> StreamReply {
    StreamReply { v: V1, stream: stream("yard"), kind: StreamKind::Live, state, moments: 7 }
}

/// Carries out the next order with `outcome` and returns it.
async fn carry_out(ordered: &mut mpsc::Receiver<StreamOrder>, outcome: Result<StreamReply, OrderError>) -> Order {
    let StreamOrder { order, reply } = soon("an order", ordered.recv()).await.expect("the bus lives");
    reply.send(outcome).expect("somebody waits");
    order
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_carried_and_their_outcome_is_replied() {
    let server = NatsServer::start();
    let (mut daemon, client) = Daemon::ready(&config(&server)).await;
    let raw = async_nats::connect(server.url()).await.expect("connects");
    let settings = json!({
        "v": 1, "stream": "yard", "url": "rtsp://h/live", "user": "viewer", "password_file": "yard.password",
        "sample_every": "2s", "protocol": "udp", "stall_timeout": "5s",
    });
    let request: StreamRequest = serde_json::from_value(settings.clone()).expect("a request");
    let leave = json!({"stream": "yard"});
    for (verb, sent, due, state) in [
        ("add", &settings, Order::Add(request.clone()), StreamState::Connecting),
        ("change", &settings, Order::Change(request.clone()), StreamState::Connecting),
        ("remove", &leave, Order::Remove(stream("yard")), StreamState::Removed),
    ] {
        conforms(&format!("streams.{verb}.request"), sent);
        let asked = raw.request(format!("gvqa.streams.{verb}"), sent.to_string().into());
        let (order, reply) = tokio::join!(carry_out(&mut daemon.ordered, Ok(done(state))), asked);
        assert_eq!(order, due);
        let reply = body(&reply.expect("a reply"));
        conforms(&format!("streams.{verb}.reply"), &reply);
        assert_eq!(reply["state"], state.as_str());
        assert_eq!(
            daemon.metric("gvqa_requests_total", &[("endpoint", &format!("streams.{verb}")), ("code", "ok")]),
            1.0
        );
    }
    let asked = client.remove_stream(&request.stream);
    let (_, reply) = tokio::join!(carry_out(&mut daemon.ordered, Ok(done(StreamState::Removed))), asked);
    assert_eq!(reply.expect("a reply"), done(StreamState::Removed));
    daemon.bus.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reason_not_to_do_it_has_its_code() {
    let server = NatsServer::start();
    let (mut daemon, client) = Daemon::ready(&config(&server)).await;
    let request = StreamRequest::new(stream("yard"), "rtsp://h/live");
    let secret = "rtsp://u:hunter2@h is not allowed".to_owned();
    for (error, code) in [
        (OrderError::Forbidden(secret.clone()), ErrorCode::Forbidden),
        (OrderError::Settings(secret.clone()), ErrorCode::BadRequest),
        (OrderError::Conflict(secret.clone()), ErrorCode::Conflict),
        (OrderError::Unknown(stream("yard")), ErrorCode::UnknownStream),
        (OrderError::Full(9), ErrorCode::Busy),
        (OrderError::Unavailable(secret), ErrorCode::Unavailable),
    ] {
        let asked = client.add_stream(&request);
        let (_, reply) = tokio::join!(carry_out(&mut daemon.ordered, Err(error)), asked);
        let refused = refusal(reply);
        assert_eq!((refused.name, refused.code), (code, code.number()));
        assert!(!refused.message.contains("hunter2"), "{refused}");
    }
    daemon.bus.drain().await;
}

async fn add(client: Client) -> Result<StreamReply, ClientError> {
    client.add_stream(&StreamRequest::new(stream("yard"), "rtsp://h/live")).await
}

/// The harness has room for one order.
#[tokio::test(flavor = "multi_thread")]
async fn orders_that_nobody_takes_are_refused_at_once() {
    let server = NatsServer::start();
    let (mut daemon, client) = Daemon::ready(&config(&server)).await;
    let waiting = tokio::spawn(add(client.clone()));
    crate::harness::eventually("one waits", async || daemon.ordered.len() == 1).await;
    assert_eq!(refusal(soon("a refusal", add(client.clone())).await).name, ErrorCode::Busy);
    carry_out(&mut daemon.ordered, Ok(done(StreamState::Up))).await;
    assert_eq!(soon("its reply", waiting).await.expect("no panic").expect("done").state, StreamState::Up);
    daemon.ordered.close();
    assert_eq!(refusal(soon("a refusal", add(client)).await).name, ErrorCode::Stopping);
    daemon.bus.drain().await;
}

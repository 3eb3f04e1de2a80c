//! /metrics, /livez, /readyz over HTTP, on the loopback interface unless configured otherwise.
//!
//! /livez says whether the process moves (503 names the thread that is stuck), /readyz whether it can work (503 with
//! every check), /metrics is the Prometheus text format 0.0.4. None of them depends on a model or on the bus.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Config, Pulse, Readiness, TelemetryError};
use crate::stop::Stop;

/// Work without progress for this long is reported by /livez.
const STUCK: Duration = Duration::from_mins(1);

/// How long requests under way may take once the end was asked for.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Shown {
    registry: Registry,
    readiness: Readiness,
    pulse: Pulse,
}

/// The endpoints, being served.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Where it listens, with the port the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns after `stop` was asked for and requests under way were answered, or had their time.
    pub async fn ended(self) {
        if self.task.await.is_err() {
            tracing::error!("the telemetry endpoints broke down");
        }
    }
}

/// Serves the three endpoints until `stop`. They answer as soon as this returns.
pub async fn serve(
    config: &Config,
    registry: Registry,
    readiness: Readiness,
    pulse: Pulse,
    stop: Stop,
) -> Result<Server, TelemetryError> {
    let listen = config.listen;
    let refused = |source| TelemetryError::Listen { listen, source };
    let listener = TcpListener::bind(listen).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let shown = Arc::new(Shown { registry, readiness, pulse });
    let router = Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .with_state(shown);
    let task = tokio::spawn(run(listener, router, stop));
    tracing::info!(%address, "serving /metrics, /livez and /readyz");
    Ok(Server { address, task })
}

async fn run(listener: TcpListener, router: Router, stop: Stop) {
    let ending = stop.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move { ending.asked().await });
    let cut_off = async {
        stop.asked().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = serving => if let Err(error) = ended { tracing::error!(%error, "the telemetry endpoints ended") },
        () = cut_off => tracing::warn!("a telemetry request was still open at the end"),
    }
}

async fn metrics(State(shown): State<Arc<Shown>>) -> Response {
    match TextEncoder::new().encode_to_string(&shown.registry.gather()) {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "cannot encode the metrics");
            (StatusCode::INTERNAL_SERVER_ERROR, "cannot encode the metrics\n").into_response()
        }
    }
}

async fn livez(State(shown): State<Arc<Shown>>) -> (StatusCode, String) {
    match shown.pulse.stuck(Instant::now(), STUCK) {
        None => (StatusCode::OK, "alive\n".to_owned()),
        Some(name) => (StatusCode::SERVICE_UNAVAILABLE, format!("{name} is stuck\n")),
    }
}

async fn readyz(State(shown): State<Arc<Shown>>) -> Response {
    let report = shown.readiness.report();
    let code = if report.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    match serde_json::to_string(&report) {
        Ok(json) => (code, [(header::CONTENT_TYPE, "application/json")], json + "\n").into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::telemetry::{Check, Stage, Stages, register_process};

    async fn get(address: SocketAddr, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("it answers");
        let code = text.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line");
        (code, text)
    }

    #[tokio::test]
    async fn the_three_endpoints_answer() {
        let registry = Registry::new();
        register_process(&registry, "edge").expect("first registration");
        let stages = Stages::register(&registry).expect("first registration");
        stages.observe(Stage::Judge, Duration::from_millis(20));
        let (readiness, stop) = (Readiness::new(&[Check::Index]), Stop::new());
        let config = Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() };
        let server =
            serve(&config, registry, readiness.clone(), Pulse::new(), stop.clone()).await.expect("port 0 is free");
        let address = server.address();

        let (code, text) = get(address, "/metrics").await;
        assert_eq!(code, 200);
        assert!(text.contains("content-type: text/plain; version=0.0.4\r\n"), "{text}");
        for line in [
            "gvqa_build_info{profile=\"edge\",version=",
            "gvqa_stage_duration_seconds_bucket{stage=\"judge\",le=\"0.025\"} 1",
            "process_resident_memory_bytes ",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        assert_eq!(get(address, "/livez").await.0, 200);
        assert_eq!(get(address, "/other").await.0, 404);
        let (code, text) = get(address, "/readyz").await;
        assert!(code == 503 && text.contains("\"ready\":false"), "{text}");
        readiness.ready(Check::Index, "open");
        let (code, text) = get(address, "/readyz").await;
        assert!(
            code == 200 && text.contains("\"index\":{\"ok\":true,\"required\":true,\"detail\":\"open\"}"),
            "{text}"
        );

        stop.ask();
        server.ended().await;
        assert!(TcpStream::connect(address).await.is_err(), "it still listens");
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_connection_does_not_delay_the_end() {
        let stop = Stop::new();
        let config = Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() };
        let readiness = Readiness::new(&[]);
        let server =
            serve(&config, Registry::new(), readiness, Pulse::new(), stop.clone()).await.expect("port 0 is free");
        let mut half = TcpStream::connect(server.address()).await.expect("it listens");
        half.write_all(b"GET /metrics HTTP/1.1\r\n").await.expect("it reads");
        stop.ask();
        tokio::time::timeout(GRACE * 2, server.ended()).await.expect("the end waits for nobody");
    }

    #[tokio::test]
    async fn a_taken_address_is_told_with_the_key() {
        let taken = TcpListener::bind(("127.0.0.1", 0)).await.expect("port 0 is free");
        let config = Config { listen: taken.local_addr().expect("bound"), ..Config::default() };
        let served = serve(&config, Registry::new(), Readiness::new(&[]), Pulse::new(), Stop::new()).await;
        let error = served.expect_err("the address is taken").to_string();
        assert!(error.contains("choose another telemetry.listen"), "{error}");
    }
}

//! A site of a test: a NATS server, a configuration that can be changed, an index that outlives the daemon, and what was
//! told on the bus.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex};

use groundedvqa::bus::wire::{EventState, Moment, SearchRequest, StateEvent, StreamInfo, V1};
use groundedvqa::bus::{Client, Config, Events};
use groundedvqa::domain::{StreamId, StreamState, StreamTime};
use groundedvqa::secret::Secret;
use tokio::time::timeout;

use crate::common::{models_dir, temp_dir};
use crate::daemon::{served_at, sum};
use crate::nats::NatsServer;
use crate::process::{PATIENCE, Process, eventually, get};

/// Quick pauses between attempts; credentials that were refused are not tried again within a test's life.
const RECONNECT: &str = "[reconnect]\nshortest = \"50ms\"\nlongest = \"200ms\"\n\
                         unauthorized_shortest = \"1h\"\nunauthorized_longest = \"1h\"\n";

pub(crate) struct Site {
    nats: NatsServer,
    dir: tempfile::TempDir,
    client: Client,
    states: Events<StateEvent>,
}

/// The daemon at a site. Killed with kill -9 when dropped.
pub(crate) struct Running {
    process: Process,
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// A site whose streams are those of `streams`, sections in TOML; nothing runs yet but NATS.
    pub(crate) async fn new(streams: &str) -> Self {
        let (nats, dir) = (NatsServer::start(), temp_dir());
        let config = Config { url: Secret::new(nats.url()), ..Config::default() };
        let client = Client::connect(&config).await.expect("the server is there");
        let states = client.states(None).await.expect("subscribes");
        let site = Self { nats, dir, client, states };
        site.configure(streams, "");
        site
    }

    /// Writes another configuration; `bus` are more keys of that section.
    pub(crate) fn configure(&self, streams: &str, bus: &str) {
        let text = format!(
            "{streams}\n{RECONNECT}\
             [models]\ndir = {:?}\ndrafter = \"extractive\"\n[index]\npath = {:?}\n\
             [archive]\ndir = {:?}\nmin_free = 0\n[bus]\nurl = {:?}\n{bus}\n\
             [telemetry]\nlisten = \"127.0.0.1:0\"\nlog_format = \"json\"\nlog_level = \"debug,groundedvqa=trace\"\n",
            models_dir(),
            self.path("index.redb"),
            self.path("archive"),
            self.nats.url(),
        );
        self.write("groundedvqa.toml", &text);
    }

    /// Writes a file of the site.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("writable");
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The daemon, with warnings of GLib and GStreamer made fatal.
    pub(crate) fn start(&self) -> Running {
        self.start_with(&[])
    }

    /// The same with more environment.
    pub(crate) fn start_with(&self, environment: &[(&str, &str)]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
        command.arg("run").arg("--config").arg(self.path("groundedvqa.toml")).env("G_DEBUG", "fatal_warnings");
        command.envs(environment.iter().copied());
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let (process, address) = Process::start(&mut command, move |line| {
            lines.lock().expect("nobody panicked").push(line.to_owned());
            served_at(line)
        });
        Running { process, address, log }
    }

    /// Waits until `stream` is told to be `state`; returns what was told of all streams up to then.
    pub(crate) async fn until(&mut self, stream: &str, state: StreamState) -> Vec<StateEvent> {
        self.until_all(&[(stream, state)]).await
    }

    /// Waits until each of `due` was told; returns what was told of all streams up to then.
    pub(crate) async fn until_all(&mut self, due: &[(&str, StreamState)]) -> Vec<StateEvent> {
        let mut told: Vec<StateEvent> = Vec::new();
        let is_told = |told: &[StateEvent], (stream, state): &(&str, StreamState)| {
            told.iter().any(|event| event.stream.as_str() == *stream && event.state == EventState::Stream(*state))
        };
        let heard = timeout(PATIENCE, async {
            while !due.iter().all(|due| is_told(&told, due)) {
                told.push(self.states.next().await.expect("connected").expect("readable"));
            }
        });
        if heard.await.is_err() {
            let told: Vec<_> = told.iter().map(|event| format!("{} {}", event.stream, event.state.as_str())).collect();
            panic!("not within {PATIENCE:?}: {due:?}, only {told:?}");
        }
        told
    }

    /// How `stream` fares, as `gvqa.streams` says; `None` if it is not listed or nobody answers.
    pub(crate) async fn info(&self, stream: &str) -> Option<StreamInfo> {
        let reply = self.client.streams().await.ok()?;
        reply.streams.into_iter().find(|info| info.stream.as_str() == stream)
    }

    /// The stream times of everything that is remembered of `stream`.
    pub(crate) async fn times(&self, stream: &str) -> Vec<StreamTime> {
        self.remembered(stream).await.iter().map(|moment| moment.timestamp).collect()
    }

    /// Everything that is remembered of `stream`, in order of time.
    pub(crate) async fn remembered(&self, stream: &str) -> Vec<Moment> {
        let query = "anything".to_owned();
        let request = SearchRequest { v: V1, query, k: Some(50), from: None, to: None, deadline_s: None };
        let hits = self.client.search(&id(stream), &request).await.expect("moments").moments;
        let mut moments: Vec<Moment> = hits.into_iter().map(|hit| hit.moment).collect();
        moments.sort_by_key(|moment| moment.timestamp);
        moments
    }

    /// Waits until `stream` has at least `least` moments, and says how many.
    pub(crate) async fn moments(&self, stream: &str, least: u64) -> u64 {
        let seen = timeout(PATIENCE, async {
            let mut ticks = tokio::time::interval(std::time::Duration::from_millis(50));
            loop {
                ticks.tick().await;
                if let Some(info) = self.info(stream).await
                    && info.moments >= least
                {
                    return info.moments;
                }
            }
        });
        seen.await.unwrap_or_else(|_| panic!("{stream} had no {least} moments within {PATIENCE:?}"))
    }
}

impl Running {
    /// Has the configuration read again, and waits until it was.
    pub(crate) fn reload(&self) {
        let said = |log: &[String]| {
            let ends = ["configuration was read again", "configuration is refused"];
            log.iter().filter(|line| ends.iter().any(|end| line.contains(end))).count()
        };
        let before = said(&self.log.lock().expect("nobody panicked"));
        self.process.hang_up();
        eventually("the reload", || (said(&self.log.lock().expect("nobody panicked")) > before).then_some(()));
    }

    /// The sum over the series that begin with `series`.
    pub(crate) fn metric(&self, series: &str) -> f64 {
        sum(&self.metrics(), series)
    }

    pub(crate) fn metrics(&self) -> String {
        get(self.address, "/metrics").expect("/metrics answers").1
    }

    /// Every line logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("nobody panicked").join("\n")
    }

    pub(crate) fn terminate(self) -> ExitStatus {
        self.process.terminate()
    }

    /// `kill -9`.
    pub(crate) fn kill(self) {
        drop(self.process);
    }
}

pub(crate) fn id(name: &str) -> StreamId {
    StreamId::new(name).expect("a token")
}

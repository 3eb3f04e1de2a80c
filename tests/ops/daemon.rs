//! The daemon itself, on a real nats-server, with real models and a real clip.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, ExitStatus};

use crate::common::{RtspServer, clips, models_dir, temp_dir};
use crate::nats::NatsServer;
use crate::process::{PATIENCE, Process, eventually, get};
use crate::{run, text};

/// How often the watchdog of these tests wants to be fed, in microseconds.
const WATCHDOG_MICROSECONDS: u32 = 2_000_000;

/// A running daemon. Fields end in this order.
pub(crate) struct Daemon {
    process: Process,
    address: SocketAddr,
    notified: UnixDatagram,
    nats: NatsServer,
    _camera: RtspServer,
    _dir: tempfile::TempDir,
}

impl Daemon {
    /// Watches a clip to its end and a camera without end.
    pub(crate) fn start() -> Self {
        let (nats, camera, dir) = (NatsServer::start(), RtspServer::ball(), temp_dir());
        let config = dir.path().join("groundedvqa.toml");
        fs::write(&config, configuration(&nats, &camera, dir.path())).expect("writable");
        let socket = dir.path().join("notify");
        let notified = UnixDatagram::bind(&socket).expect("a socket in an own directory");
        notified.set_read_timeout(Some(PATIENCE)).expect("a timeout above zero");
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
        command.arg("run").arg("--config").arg(&config).env("NOTIFY_SOCKET", &socket);
        command.env("WATCHDOG_USEC", WATCHDOG_MICROSECONDS.to_string());
        let (process, address) = Process::start(&mut command, served_at);
        Self { process, address, notified, nats, _camera: camera, _dir: dir }
    }

    /// Where /metrics is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What systemd is told next.
    pub(crate) fn notification(&self) -> String {
        let mut buffer = [0; 4096];
        let bytes = self.notified.recv(&mut buffer).expect("a notification");
        String::from_utf8_lossy(&buffer[..bytes]).into_owned()
    }

    /// Skips notifications up to one that holds `line`.
    pub(crate) fn await_notification(&self, line: &str) {
        while !self.notification().lines().any(|told| told == line) {}
    }

    /// The whole of /metrics.
    pub(crate) fn metrics(&self) -> String {
        let (code, body) = get(self.address, "/metrics").expect("/metrics answers");
        assert_eq!(code, 200, "{body}");
        body
    }

    /// Waits until the sum over the series that begin with `series` is at least `least`.
    pub(crate) fn await_metric(&self, series: &str, least: f64) {
        eventually(&format!("{series} >= {least}"), || (sum(&self.metrics(), series) >= least).then_some(()));
    }

    /// Asks over NATS, with the program's own client.
    pub(crate) fn ask(&self, question: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundedvqa"));
        let output = run(command.args(["ask", "--json", "--server", &self.nats.url(), "--stream", "walk", question]));
        // 0: a claim was grounded; 1: none was. Both are answers.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output));
        text(&output)
    }

    /// The ordered stop.
    pub(crate) fn terminate(self) -> ExitStatus {
        self.process.terminate()
    }
}

fn configuration(nats: &NatsServer, camera: &RtspServer, dir: &std::path::Path) -> String {
    format!(
        "[streams.walk]\nurl = {:?}\nsample_every = \"20s\"\n\
         [streams.ball]\nurl = {:?}\nsample_every = \"1s\"\n\
         [archive]\ndir = {:?}\nsegment = \"1s\"\nmin_free = 0\n\
         [models]\ndir = {:?}\ndrafter = \"extractive\"\n\
         [index]\npath = {:?}\n\
         [bus]\nurl = {:?}\n\
         [telemetry]\nlisten = \"127.0.0.1:0\"\nlog_format = \"json\"\n",
        clips::vtest(),
        camera.url(),
        dir.join("archive"),
        models_dir(),
        dir.join("index.redb"),
        nats.url(),
    )
}

/// Reads the address out of the log line that tells it.
pub(crate) fn served_at(line: &str) -> Option<SocketAddr> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    event["message"].as_str()?.contains("/metrics").then(|| event["address"].as_str()?.parse().ok())?
}

/// The sum of the samples whose name and labels begin with `series`.
pub(crate) fn sum(exposition: &str, series: &str) -> f64 {
    let lines = exposition.lines().filter(|line| line.starts_with(series));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

/// The whole life of a service, as systemd sees it.
#[test]
fn systemd_is_told_ready_alive_and_stopping() {
    let daemon = Daemon::start();
    daemon.await_notification("READY=1");
    for _ in 0..3 {
        daemon.await_notification("WATCHDOG=1");
    }
    eventually("/readyz", || get(daemon.address(), "/readyz").filter(|(code, _)| *code == 200));
    let (code, body) = get(daemon.address(), "/livez").expect("/livez answers");
    assert_eq!((code, body.as_str()), (200, "alive\n"));
    let notified = daemon.notified.try_clone().expect("a socket can be cloned");
    assert_eq!(daemon.terminate().code(), Some(0));
    let mut told = String::new();
    notified.set_nonblocking(true).expect("a socket can be told not to block");
    let mut buffer = [0; 4096];
    while let Ok(bytes) = notified.recv(&mut buffer) {
        told.push_str(&String::from_utf8_lossy(&buffer[..bytes]));
    }
    assert!(told.contains("STOPPING=1"), "{told}");
}

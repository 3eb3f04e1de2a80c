//! A real nats-server, started by the test on a port the system chose and killed on `Drop`.

#![allow(dead_code)] // Each test binary uses what it needs.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Where the server program is looked for: Debian installs it where users do not look.
const PROGRAMS: [&str; 3] = ["nats-server", "/usr/sbin/nats-server", "/usr/local/bin/nats-server"];
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct NatsServer {
    process: Child,
    port: u16,
    options: Vec<String>,
}

impl NatsServer {
    /// On a free port.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// On a free port, with more command-line options.
    pub(crate) fn with(options: &[&str]) -> Self {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let (process, port) = spawn(-1, &options);
        Self { process, port, options }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends the process at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("the server can be killed");
        self.process.wait().expect("the server ends");
    }

    /// After [`Self::kill`]: a new process on the same port.
    pub(crate) fn revive(&mut self) {
        let (process, port) = spawn(i32::from(self.port), &self.options);
        assert_eq!(port, self.port);
        self.process = process;
    }

    /// Stops the process without ending it: connections stay open and nothing answers.
    pub(crate) fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    /// Undoes [`Self::freeze`].
    pub(crate) fn thaw(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).expect("the server can be signalled");
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        // Already gone after `kill`.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> PathBuf {
    let works = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    let found = PROGRAMS.iter().find(works);
    found.map(PathBuf::from).expect("nats-server is missing: run `make setup`, or apt-get install nats-server")
}

/// Starts a server and reads from its log where it listens, and that it is ready.
fn spawn(port: i32, options: &[String]) -> (Child, u16) {
    let mut process = Command::new(program())
        .args(["-a", "127.0.0.1", "-p", &port.to_string()])
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("nats-server starts");
    let log = BufReader::new(process.stderr.take().expect("stderr is piped"));
    let (tell, told) = mpsc::sync_channel(1);
    // Reads to the end, so that the server never blocks on a full pipe.
    std::thread::spawn(move || {
        let (mut port, mut seen) = (None, Vec::new());
        for line in log.lines().map_while(Result::ok) {
            if let Some(address) = line.split("Listening for client connections on ").nth(1) {
                port = address.rsplit(':').next().and_then(|port| port.trim().parse::<u16>().ok());
            }
            if line.contains("Server is ready") {
                let _ = tell.try_send(port.ok_or_else(|| seen.join("\n")));
            } else if seen.len() < 50 {
                seen.push(line);
            }
        }
        let _ = tell.try_send(Err(seen.join("\n")));
    });
    match told.recv_timeout(PATIENCE) {
        Ok(Ok(port)) => (process, port),
        Ok(Err(log)) => panic!("nats-server did not start:\n{log}"),
        Err(_) => panic!("nats-server was not ready within {PATIENCE:?}"),
    }
}

//! The processes of the demo: a NATS server, a camera, the daemon. Owned here from start to end; whatever happens to
//! the demo, none outlives it.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, interval, timeout};

use super::http;
use super::settings::Settings;

/// How long a helper may take to start.
const START: Duration = Duration::from_secs(20);
/// How long a child may take to end after it was asked to.
const END: Duration = Duration::from_secs(20);
/// How often something is looked at that cannot tell by itself.
const POLL: Duration = Duration::from_millis(100);

/// All children, in the order of their start.
#[derive(Default)]
pub(super) struct Children {
    nats: Option<Child>,
    camera: Option<Child>,
    daemon: Option<Daemon>,
}

/// The daemon.
pub(super) struct Daemon(Child);

impl Children {
    /// Starts a NATS server on a port of the system's choice and returns its address.
    pub(super) async fn start_nats(&mut self, out: &Path) -> anyhow::Result<String> {
        let dir = out.join("nats");
        // What an earlier run left would be taken for this server's.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let log = dir.join("nats.log");
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", "-1", "--ports_file_dir"]).arg(&dir).arg("-l").arg(&log);
        // Debian keeps daemons in /usr/sbin, which an ordinary user's path may lack.
        command.env("PATH", path_with_sbin());
        let child = quiet(command).spawn().context("nats-server does not start: run `make setup`")?;
        let nats = self.nats.insert(child);
        let address = timeout(START, first_address(&dir, nats)).await;
        address.with_context(|| format!("nats-server does not listen: see {}", log.display()))?
    }

    /// Plays a clip as a live camera and returns its address.
    pub(super) async fn start_camera(&mut self, script: &Path, clip: &Path) -> anyhow::Result<String> {
        let mut command = Command::new("/usr/bin/python3");
        command.arg(script).arg("--file").arg(clip).args(["--size", "176x144", "--fps", "15"]);
        let mut child = quiet(command)
            .stdout(Stdio::piped())
            .spawn()
            .context("/usr/bin/python3 does not start: run `make setup`")?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        self.camera = Some(child);
        let mut address = String::new();
        let mut lines = BufReader::new(stdout);
        timeout(START, lines.read_line(&mut address)).await.context("the camera does not start")??;
        let address = address.trim().to_owned();
        ensure!(address.starts_with("rtsp://"), "the camera {} does not start", script.display());
        Ok(address)
    }

    /// Starts the daemon; it writes its log into the output directory.
    pub(super) fn start_daemon(&mut self, settings: &Settings) -> anyhow::Result<&mut Daemon> {
        let log = File::create(settings.log()).with_context(|| format!("cannot write {}", settings.log().display()))?;
        let program = std::env::current_exe().context("this program's own path is unknown")?;
        let mut command = Command::new(program);
        command.arg("run").arg("--config").arg(settings.config());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        Ok(self.daemon.insert(Daemon(command.spawn().context("the daemon does not start")?)))
    }

    /// Ends them in order: the daemon first, while it can still say goodbye on the bus.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        let mut broken = Vec::new();
        if let Some(Daemon(daemon)) = self.daemon {
            match end(daemon).await {
                Ok(status) if status.success() => {}
                Ok(status) => broken.push(format!("the daemon ended with {status}")),
                Err(error) => broken.push(format!("the daemon: {error:#}")),
            }
        }
        for (name, child) in [("the camera", self.camera), ("the NATS server", self.nats)] {
            if let Some(child) = child
                && let Err(error) = end(child).await
            {
                broken.push(format!("{name}: {error:#}"));
            }
        }
        if broken.is_empty() { Ok(()) } else { bail!(broken.join("\n")) }
    }
}

impl Daemon {
    /// Returns when the daemon says that it is ready.
    pub(super) async fn ready(&mut self, telemetry: SocketAddr, patience: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + patience;
        let mut tick = interval(POLL);
        loop {
            tick.tick().await;
            self.check_alive()?;
            let state = match http::get(telemetry, "/readyz").await {
                Ok(reply) if reply.status == 200 => return Ok(()),
                Ok(reply) => reply.body,
                Err(error) => error.to_string(),
            };
            ensure!(Instant::now() < until, "the daemon is not ready after {} s: {state}", patience.as_secs());
        }
    }

    /// Fails if the daemon has ended.
    pub(super) fn check_alive(&mut self) -> anyhow::Result<()> {
        match self.0.try_wait()? {
            Some(status) => bail!("the daemon ended by itself with {status}"),
            None => Ok(()),
        }
    }
}

/// Asks a child to end and waits; one that does not is killed.
async fn end(mut child: Child) -> anyhow::Result<ExitStatus> {
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // Failing means that it has ended already.
        let _ = kill_process(pid, Signal::TERM);
    }
    if let Ok(status) = timeout(END, child.wait()).await {
        return Ok(status?);
    }
    child.kill().await?;
    bail!("did not end within {} s and was killed", END.as_secs())
}

/// Waits for the file in which the server states its addresses.
async fn first_address(dir: &Path, nats: &mut Child) -> anyhow::Result<String> {
    let mut tick = interval(POLL);
    loop {
        tick.tick().await;
        if let Some(status) = nats.try_wait()? {
            bail!("nats-server ended with {status}");
        }
        let ports = fs::read_dir(dir)?.flatten().map(|entry| entry.path()).find(|path| is_ports(path));
        // The file may be there before its content is.
        let Some(Ok(stated)) = ports.map(|path| fs::read(path).map(|text| serde_json::from_slice::<Ports>(&text)))
        else {
            continue;
        };
        if let Ok(Ports { nats }) = stated
            && let Some(address) = nats.into_iter().next()
        {
            return Ok(address);
        }
    }
}

fn is_ports(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ports")
}

/// What `--ports_file_dir` writes.
#[derive(serde::Deserialize)]
struct Ports {
    nats: Vec<String>,
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    command
}

fn path_with_sbin() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    std::env::join_paths(dirs).unwrap_or(path)
}

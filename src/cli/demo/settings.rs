//! Where the demo finds and puts things, and the daemon's configuration file.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{Args, present};

/// Real surveillance, from Debian's `opencv-doc`.
const VTEST: &str = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
/// Lines of the daemon's log that explain a failure.
const TAIL: usize = 20;

/// The demo's files and addresses.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) out: PathBuf,
    pub(super) carphone: PathBuf,
    pub(super) camera: PathBuf,
    /// Where the daemon shows /metrics and /readyz.
    pub(super) telemetry: SocketAddr,
    vtest: PathBuf,
    bikes: PathBuf,
    models: PathBuf,
}

impl Settings {
    /// Finds everything and makes the output directory.
    pub(super) fn prepare(args: &Args) -> anyhow::Result<Self> {
        fs::create_dir_all(&args.out).with_context(|| format!("cannot create {}", args.out.display()))?;
        Ok(Self {
            out: present(&args.out)?,
            carphone: present(&args.clips.join("carphone_pristine.mp4"))?,
            bikes: present(&args.clips.join("bikes.mp4"))?,
            vtest: present(Path::new(VTEST))?,
            models: present(&args.models)?,
            camera: present(&args.camera)?,
            telemetry: free_address().context("no free port on the loopback")?,
        })
    }

    /// The daemon's configuration file.
    pub(super) fn config(&self) -> PathBuf {
        self.out.join("demo.toml")
    }

    /// The daemon's log.
    pub(super) fn log(&self) -> PathBuf {
        self.out.join("daemon.log")
    }

    /// The end of the daemon's log, with its name.
    pub(super) fn log_tail(&self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(TAIL)..];
        format!("the end of {}:\n{}", self.log().display(), tail.join("\n"))
    }

    /// Writes the daemon's configuration.
    pub(super) fn write(&self, nats: &str, camera: &str) -> anyhow::Result<()> {
        let text = self.text(nats, camera);
        fs::write(self.config(), text).with_context(|| format!("cannot write {}", self.config().display()))
    }

    fn text(&self, nats: &str, camera: &str) -> String {
        let quoted = |text: &dyn std::fmt::Display| toml::Value::String(text.to_string()).to_string();
        let path = |path: &Path| quoted(&path.display());
        format!(
            "# Written by `groundedvqa demo`; every run writes it anew.\n\
             [bus]\nurl = {nats}\n\n\
             [index]\npath = {index}\n\n\
             [archive]\ndir = {archive}\nmin_free = 0\n\n\
             [models]\ndir = {models}\n\n\
             [telemetry]\nlisten = {telemetry}\n\n\
             [streams.vtest]\nurl = {vtest}\nsample_every = \"5s\"\n\n\
             [streams.bikes]\nurl = {bikes}\nsample_every = \"2s\"\n\n\
             [streams.camera]\nurl = {camera}\nsample_every = \"2s\"\n",
            nats = quoted(&nats),
            index = path(&self.out.join("memory.redb")),
            archive = path(&self.out.join("archive")),
            models = path(&self.models),
            telemetry = quoted(&self.telemetry),
            vtest = path(&self.vtest),
            bikes = path(&self.bikes),
            camera = quoted(&camera),
        )
    }
}

/// An address that was free a moment ago.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    #[test]
    fn the_daemon_understands_what_is_written() {
        let settings = Settings {
            out: "/tmp/out \"quoted\"".into(),
            carphone: "/c.mp4".into(),
            camera: "/camera.py".into(),
            telemetry: SocketAddr::from(([127, 0, 0, 1], 1)),
            vtest: "/clips/vtest.avi".into(),
            bikes: "/clips/bikes.mp4".into(),
            models: "/models".into(),
        };
        let text = settings.text("nats://127.0.0.1:2", "rtsp://127.0.0.1:3/live");
        let config = config::parse(&text, &settings.config(), std::iter::empty()).expect("a valid configuration");
        assert_eq!(config.index.path, settings.out.join("memory.redb"));
        assert_eq!(config.archive.dir, settings.out.join("archive"));
        let streams: Vec<_> = config.streams.keys().map(|stream| stream.as_str().to_owned()).collect();
        assert_eq!(streams, ["bikes", "camera", "vtest"]);
        for question in super::super::script::QUESTIONS {
            let known = streams.iter().any(|stream| stream == question.stream);
            assert_eq!(known, question.stream != super::super::script::UNKNOWN_STREAM, "{}", question.stream);
        }
    }
}

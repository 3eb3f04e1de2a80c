//! What integration tests share: real clips, the model directory, a live camera in a process of its own.
//!
//! Each test binary compiles this file for itself and uses a part of it.
#![allow(dead_code, reason = "every test binary uses another part")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Real clips. `make setup` installs them; a missing one fails the test that asks for it.
pub(crate) mod clips {
    use std::path::{Path, PathBuf};

    const OPENCV: &str = "/usr/share/doc/opencv-doc/examples/data";

    /// Surveillance of a street: 768x576, msmpeg4v3 in AVI, 79.5 s at 10 frames a second.
    pub(crate) fn vtest() -> PathBuf {
        present(Path::new(OPENCV).join("vtest.avi"))
    }

    /// 720x528, Xvid (MPEG-4 part 2) with AC-3 sound in AVI, 11.3 s.
    pub(crate) fn megamind() -> PathBuf {
        present(Path::new(OPENCV).join("Megamind.avi"))
    }

    /// 320x240, Cinepak in AVI, 29.6 s at 15 frames a second, every picture but the first a delta.
    pub(crate) fn tree() -> PathBuf {
        present(Path::new(OPENCV).join("tree.avi"))
    }

    /// A street with cyclists: 640x272, h264 in MP4, 10 s at 25 frames a second.
    pub(crate) fn bikes() -> PathBuf {
        installed("bikes.mp4")
    }

    /// 1280x720, h264 in MP4 with sound, 5.3 s.
    pub(crate) fn bigbuckbunny() -> PathBuf {
        installed("bigbuckbunny.mp4")
    }

    /// A man in a car: 176x144, h264 in MP4, 4 s.
    pub(crate) fn carphone() -> PathBuf {
        installed("carphone_pristine.mp4")
    }

    fn installed(name: &str) -> PathBuf {
        present(super::root().join(".cache/clips").join(name))
    }

    fn present(path: PathBuf) -> PathBuf {
        assert!(path.is_file(), "{} is missing: run `make setup`", path.display());
        path
    }
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The installed models: `GVQA_MODELS`, or `models/` in the repository. Fails if there are none.
pub(crate) fn models_dir() -> PathBuf {
    let dir = std::env::var_os("GVQA_MODELS").map_or_else(|| root().join("models"), PathBuf::from);
    assert!(dir.is_dir(), "{} is missing: run `make setup`", dir.display());
    dir
}

/// A directory of the test's own, removed when dropped.
pub(crate) fn temp_dir() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("gvqa-test-").tempdir().expect("a temporary directory can be made")
}

/// A Python script of this directory as a child that prints an address; killed on drop.
struct Server {
    child: Child,
    url: String,
    /// What it says after its address.
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(script: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new("/usr/bin/python3")
            .arg(root().join("tests/common").join(script))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("/usr/bin/python3 starts: run `make setup`");
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        output.read_line(&mut url).expect("standard output can be read");
        let server = Self { child, url: url.trim().to_owned(), output };
        assert!(server.url.contains("://"), "{script} did not start: see its message above");
        server
    }

    fn kill(&mut self) {
        // Failing means that it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Files and an MJPEG camera over HTTP: `tests/common/http_server.py`.
pub(crate) struct HttpServer(Server);

impl HttpServer {
    /// Serves `dir`, with further command line arguments.
    pub(crate) fn start(dir: &Path, arguments: &[&str]) -> Self {
        let dir = dir.to_str().expect("is UTF-8");
        Self(Server::start("http_server.py", &[&[dir], arguments].concat()))
    }

    /// `http://127.0.0.1:PORT/path`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.0.url)
    }
}

/// A live camera: `tests/common/rtsp_server.py` as a child on a port of the system's choice, killed on drop.
pub(crate) struct RtspServer(Server);

impl RtspServer {
    /// Starts the server with its command line arguments and waits until it listens.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self(Server::start("rtsp_server.py", arguments))
    }

    /// A moving ball, 320x240 at 10 frames a second.
    pub(crate) fn ball() -> Self {
        Self::start(&["--pattern", "ball", "--size", "320x240", "--fps", "10"])
    }

    /// `rtsp://127.0.0.1:PORT/live`.
    pub(crate) fn url(&self) -> &str {
        &self.0.url
    }

    /// The port it listens on, to start another in its place.
    pub(crate) fn port(&self) -> &str {
        self.url().rsplit(':').next().and_then(|tail| tail.split('/').next()).expect("the address has a port")
    }

    /// Ends it with `kill -9` and tells what it said after its address.
    pub(crate) fn said(mut self) -> String {
        self.0.kill();
        let mut said = String::new();
        self.0.output.read_to_string(&mut said).expect("standard output can be read");
        said
    }

    /// `kill -9`: connections break, nothing is said.
    pub(crate) fn kill(&mut self) {
        self.0.kill();
    }

    /// `SIGSTOP`: connections stay open and nothing is sent any more.
    pub(crate) fn freeze(&self) {
        self.signal(rustix::process::Signal::STOP);
    }

    /// `SIGCONT`: undoes `freeze`.
    pub(crate) fn thaw(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.0.child), signal)
            .expect("the child lives");
    }
}

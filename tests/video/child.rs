//! This test program once more, as a child that records a camera onto a disk of some kind and tells what it sees.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use groundedvqa::domain::StreamTime;
use groundedvqa::stop::Stop;
use groundedvqa::video::StreamConfig;

use crate::common::RtspServer;
use crate::make::{metric, origin, stream, video};

const TENTH: Duration = Duration::from_millis(100);
/// Where the child records, and which camera.
const DIR: &str = "GVQA_ARCHIVE_DIR";
const CAMERA: &str = "GVQA_ARCHIVE_CAMERA";

/// What the child records onto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disk {
    /// The disk of the tests.
    Roomy,
    /// The same, but no file may be longer than so many bytes.
    ShortFiles(u64),
    /// A disk of its own of half a megabyte, nearly filled by a file that goes when a line is written to the child.
    Small,
}

impl Disk {
    /// What a shell does before the child begins.
    fn preparation(self) -> String {
        match self {
            Self::Roomy => String::new(),
            Self::ShortFiles(bytes) => format!("trap '' XFSZ; ulimit -S -f {}; ", bytes / 512),
            Self::Small => format!(
                "mount -t tmpfs -o size=512k tmpfs \"${DIR}\" || exit 9; head -c 440000 /dev/zero >\"${DIR}/ballast\"; \
                 exec 3<&0; {{ read line; rm \"${DIR}/ballast\"; }} <&3 & "
            ),
        }
    }

    /// Whether this user may have one here.
    pub(crate) fn is_possible(self) -> bool {
        let mount = || {
            let dir = crate::common::temp_dir();
            let tried = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs"]).arg(dir.path()).output();
            tried.is_ok_and(|output| output.status.success())
        };
        self != Self::Small || mount()
    }
}

/// Records `server` into `dir`, which is on `disk`.
pub(crate) fn start(dir: &Path, server: &RtspServer, disk: Disk) -> (Child, Lines<BufReader<ChildStdout>>) {
    let shell = ["/bin/sh", "-c"];
    let namespace: &[&str] = if disk == Disk::Small { &["unshare", "-rm"] } else { &["env"] };
    let mut child = Command::new(namespace[0])
        .args(&namespace[1..])
        .args(shell)
        .arg(format!("{}exec \"$0\" --exact child::the_recorder_runs --nocapture --test-threads=1", disk.preparation()))
        .arg(std::env::current_exe().expect("this program has a path"))
        .env(DIR, dir)
        .env(CAMERA, server.url())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
    (child, lines)
}

/// The child: records until it is killed, and tells each sampled frame.
#[test]
fn the_recorder_runs() {
    let (Some(dir), Some(url)) = (std::env::var_os(DIR), std::env::var_os(CAMERA)) else { return };
    let (video, registry) = video(Path::new(&dir), "");
    let camera = StreamConfig::new(url.to_str().expect("is UTF-8")).expect("is an address");
    let mut source = video.open(&stream(), &camera, origin(TENTH, None), &Stop::new()).expect("the camera answers");
    loop {
        let frame = source.next_frame().expect("a frame comes").expect("has no end");
        let lost: f64 =
            ["disk", "slow", "space"].iter().map(|why| metric(&registry, "gvqa_archive_lost_total", why)).sum();
        println!("frame {} lost {lost} {}", frame.at.nanos(), source.remark());
        std::io::stdout().flush().expect("somebody reads");
    }
}

/// Stream time, lost pictures and remark of a line of the child; other lines are of the test harness.
pub(crate) fn told(line: &str) -> Option<(StreamTime, u64, String)> {
    let (at, rest) = line.strip_prefix("frame ")?.split_once(" lost ")?;
    let (lost, remark) = rest.split_once(' ')?;
    Some((StreamTime::from_nanos(at.parse().ok()?), lost.parse().ok()?, remark.to_owned()))
}

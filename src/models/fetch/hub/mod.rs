//! Downloads files of Hugging Face-style repositories: `{endpoint}/{repository}/resolve/{revision}/{path}`.
//!
//! A file comes from the models directory, from the hub's own cache on this machine (read, never written), or from the
//! network, in this order. A broken download is kept and resumed by the next fetch. What a file must be comes from the
//! manifest, from the lock of an earlier fetch, or from the hub's own header; see [`Lock`]. Knows nothing of models.
//!
//! # Decisions
//! - 2026-11-30: redirects are followed here and not by the HTTP client: the digest, the size and the commit stand in the
//!   headers of the first answer, and the token must not travel to another host.
//! - 2026-11-30: the cache of other programs is not written: its layout is theirs.

mod cache;
mod error;
mod request;
mod transfer;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::{HubError, Origin};

use self::request::Client;
use self::transfer::Received;
use super::{FetchError, Progress, install};
use crate::models::manifest::{Lock, Locked, Repository, RepositoryFile, Sha};
use crate::secret::Secret;

/// Where the files are and how they are reached.
#[derive(Debug, Clone)]
pub struct Hub {
    /// Address without a path, such as `https://huggingface.co`.
    pub endpoint: String,
    /// Sent to the endpoint and nowhere else.
    pub token: Option<Secret>,
    /// A directory with `models--owner--name/snapshots/…`, looked into before anything is downloaded.
    pub cache: Option<PathBuf>,
    /// Whether the network must not be used.
    pub offline: bool,
    /// How long the hub may say nothing.
    pub patience: Duration,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            endpoint: "https://huggingface.co".to_owned(),
            token: None,
            cache: None,
            offline: false,
            patience: Duration::from_mins(1),
        }
    }
}

/// One file on its way.
struct Wanted<'a> {
    repository: &'a Repository,
    file: &'a RepositoryFile,
    /// What it must be, and who says so.
    pin: Option<(Sha, Origin)>,
    /// Asked for instead of the revision, so that all files are of one commit.
    commit: Option<String>,
}

impl Wanted<'_> {
    /// Repository, revision and path, as in messages.
    fn id(&self) -> String {
        format!("{}: {}", self.repository.id(), self.file.path)
    }

    fn refuse(&self, error: HubError) -> FetchError {
        FetchError::Hub { file: self.id(), trouble: Box::new(error) }
    }
}

impl Hub {
    /// Installs what is missing or wrong of `repository` under `dir` and writes into `lock` what it was; says how many
    /// files that were.
    pub(super) fn fetch(
        &self,
        repository: &Repository,
        dir: &Path,
        lock: &mut Lock,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<usize, FetchError> {
        let mut installed = 0;
        let mut commit = lock.commit(repository).map(str::to_owned);
        for file in &repository.files {
            let pin = pin(repository, file, lock);
            let right = pin.as_ref().is_some_and(|(sha, _)| is_right(&dir.join(&file.install), sha));
            if right {
                report(Progress::Present(&file.install));
                continue;
            }
            let wanted = Wanted { repository, file, pin, commit: commit.clone() };
            let received = self.obtain(&wanted, dir, report)?;
            commit = commit.or_else(|| received.commit.clone());
            lock.insert(&file.install, locked(&wanted, &received));
            lock.write(dir)?;
            report(Progress::Installed(&file.install, received.bytes));
            installed += 1;
        }
        Ok(installed)
    }

    fn obtain(
        &self,
        wanted: &Wanted<'_>,
        dir: &Path,
        report: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Received, FetchError> {
        if let Some(received) = cache::take(self.cache.as_deref(), wanted, dir)? {
            return Ok(received);
        }
        if self.offline {
            return Err(wanted.refuse(HubError::Offline));
        }
        let client = Client::new(self).map_err(|error| wanted.refuse(error))?;
        let received = match transfer::receive(&client, wanted, dir, report) {
            // The kept beginning was of something else: once more, from the beginning.
            Err(FetchError::Hub { trouble, .. }) if matches!(*trouble, HubError::Digest { resumed: true, .. }) => {
                transfer::receive(&client, wanted, dir, report)?
            }
            other => other?,
        };
        remove_parts(dir, &wanted.file.install)?;
        Ok(received)
    }
}

fn pin(repository: &Repository, file: &RepositoryFile, lock: &Lock) -> Option<(Sha, Origin)> {
    let given = file.sha256.clone().map(|sha| (sha, Origin::Manifest));
    given.or_else(|| lock.find(repository, file).map(|locked| (locked.sha256.clone(), Origin::Lock)))
}

fn is_right(path: &Path, sha: &Sha) -> bool {
    fs::File::open(path).and_then(|mut file| Sha::of(&mut file)).is_ok_and(|(found, _)| found == *sha)
}

fn locked(wanted: &Wanted<'_>, received: &Received) -> Locked {
    Locked {
        repository: wanted.repository.name.clone(),
        revision: wanted.repository.revision.clone(),
        commit: wanted.commit.clone().or_else(|| received.commit.clone()),
        path: wanted.file.path.clone(),
        sha256: received.sha256.clone(),
        bytes: received.bytes,
    }
}

/// Removes the beginnings of other versions of the file.
fn remove_parts(dir: &Path, name: &str) -> Result<(), FetchError> {
    let path = dir.join(name);
    let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let start = format!("{}.", file.to_string_lossy());
    for entry in fs::read_dir(folder).map_err(FetchError::io("list", folder))? {
        let entry = entry.map_err(FetchError::io("list", folder))?;
        let is_part = entry.path().extension().is_some_and(|ending| ending == "part");
        if is_part && entry.file_name().to_string_lossy().starts_with(&start) {
            fs::remove_file(entry.path()).map_err(FetchError::io("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Compares a complete part with what it must be and puts it in place.
fn settle(
    wanted: &Wanted<'_>,
    dir: &Path,
    part: &Path,
    told: Option<Sha>,
    commit: Option<String>,
    resumed: bool,
) -> Result<Received, FetchError> {
    let (sha256, bytes) = install::digest(part)?;
    let must = wanted.pin.clone().or_else(|| told.map(|sha| (sha, Origin::Hub)));
    if let Some((expected, origin)) = must.filter(|(expected, _)| *expected != sha256) {
        fs::remove_file(part).map_err(FetchError::io("remove", part))?;
        return Err(wanted.refuse(HubError::Digest { expected, found: sha256, origin, resumed }));
    }
    install::place(dir, &wanted.file.install, part)?;
    Ok(Received { sha256, bytes, commit })
}

#[cfg(test)]
pub(crate) mod server;
#[cfg(test)]
mod tests;

//! The cache that other programs keep of the hub on this machine: read, never written.
//!
//! Layout: `models--owner--name/refs/<revision>` holds a commit, `snapshots/<commit>/<path>` links to the content.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::request::is_commit;
use super::transfer::Received;
use super::{FetchError, Wanted, settle};
use crate::models::fetch::install;
use crate::models::manifest::Sha;

/// Installs the file from `cache` if it is there and, where that is known, what it must be.
pub(super) fn take(cache: Option<&Path>, wanted: &Wanted<'_>, dir: &Path) -> Result<Option<Received>, FetchError> {
    let Some((path, commit)) = cache.and_then(|cache| find(cache, wanted)) else { return Ok(None) };
    let right = match &wanted.pin {
        None => true,
        Some((sha, _)) => File::open(&path).and_then(|mut file| Sha::of(&mut file)).is_ok_and(|(own, _)| own == *sha),
    };
    if !right {
        return Ok(None);
    }
    let part = install::part(dir, &wanted.file.install)?;
    fs::copy(&path, &part).map_err(FetchError::io("copy to", &part))?;
    settle(wanted, dir, &part, None, Some(commit), false).map(Some)
}

fn find(cache: &Path, wanted: &Wanted<'_>) -> Option<(PathBuf, String)> {
    let folder = cache.join(format!("models--{}", wanted.repository.name.replace('/', "--")));
    let revision = &wanted.repository.revision;
    let commit = match (&wanted.commit, is_commit(revision)) {
        (Some(commit), _) => commit.clone(),
        (None, true) => revision.clone(),
        (None, false) => fs::read_to_string(folder.join("refs").join(revision)).ok()?.trim().to_owned(),
    };
    let plain = !commit.is_empty() && commit.chars().all(|c| c.is_ascii_alphanumeric());
    let path = folder.join("snapshots").join(&commit).join(&wanted.file.path);
    (plain && path.is_file()).then_some((path, commit))
}

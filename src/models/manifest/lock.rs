//! What the first fetch of a repository found: commit, digest and size of every file, kept beside the files.
//!
//! Trust on first use: a manifest that names a branch cannot name digests, so the first fetch writes them down and every
//! later one, and every load, holds the files against them. Deleting the lock is how new files are let in.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Expected, Manifest, Repository, RepositoryFile, Role, Sha};

/// Name of the lock under the models directory.
pub const LOCK: &str = "hub.lock";

/// Why the lock cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// It cannot be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The lock.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It holds something else.
    #[error("{} is damaged ({reason}): compare the files with their source, then delete it", path.display())]
    Damaged {
        /// The lock.
        path: PathBuf,
        /// What the parser said.
        reason: String,
    },
}

/// What one file was when it was first fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// `owner/name`.
    pub repository: String,
    /// As the manifest asked.
    pub revision: String,
    /// The commit that it led to, if the hub told.
    pub commit: Option<String>,
    /// Path in the repository.
    pub path: String,
    /// What it was.
    pub sha256: Sha,
    /// Its size.
    pub bytes: u64,
}

/// All that was ever fetched into one directory, by installed name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    #[serde(default)]
    file: BTreeMap<String, Locked>,
}

impl Lock {
    /// Reads the lock of the models directory `dir`; an empty one if there is none.
    pub fn read(dir: &Path) -> Result<Self, LockError> {
        let path = dir.join(LOCK);
        match fs::read_to_string(&path) {
            Ok(text) => {
                toml::from_str(&text).map_err(|error| LockError::Damaged { path, reason: error.message().to_owned() })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(LockError::Io { path, source }),
        }
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, dir: &Path) -> Result<(), LockError> {
        let path = dir.join(LOCK);
        let io = |source| LockError::Io { path: path.clone(), source };
        let text = toml::to_string(self).map_err(|error| io(io::Error::other(error)))?;
        let mut part = tempfile::Builder::new().prefix(".hub").suffix(".part").tempfile_in(dir).map_err(io)?;
        part.write_all(text.as_bytes()).and_then(|()| part.as_file().sync_all()).map_err(io)?;
        part.persist(&path).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// What `file` of `repository` was; nothing if the name was taken by another file or revision.
    pub fn find(&self, repository: &Repository, file: &RepositoryFile) -> Option<&Locked> {
        let locked = self.file.get(&file.install)?;
        let same = locked.repository == repository.name && locked.revision == repository.revision;
        (same && locked.path == file.path).then_some(locked)
    }

    /// The commit that the revision of `repository` led to.
    pub fn commit(&self, repository: &Repository) -> Option<&str> {
        let same = |locked: &&Locked| locked.repository == repository.name && locked.revision == repository.revision;
        self.file.values().find(same)?.commit.as_deref()
    }

    /// Writes down what the file installed as `install` is.
    pub fn insert(&mut self, install: &str, locked: Locked) {
        self.file.insert(install.to_owned(), locked);
    }

    /// Gives the files of `manifest` that have no digest of their own the one that was found.
    pub fn complete(&self, manifest: &mut Manifest) {
        for repository in &mut manifest.repositories {
            let known = repository.clone();
            for file in repository.files.iter_mut().filter(|file| file.sha256.is_none()) {
                if let Some(locked) = self.find(&known, file) {
                    file.sha256 = Some(locked.sha256.clone());
                    file.bytes = Some(locked.bytes);
                }
            }
        }
    }

    /// Which of its files, installed under `dir`, are read for `role` from `path`, a file or a folder: by name or by
    /// whatever links lead there.
    pub fn among(&self, dir: &Path, path: &Path, role: Role) -> Vec<Expected<'_>> {
        let read = targets(path);
        let is_read = |install: &str| {
            let installed = dir.join(install);
            let real = real(&installed);
            installed.starts_with(path) || read.iter().any(|target| real.starts_with(target))
        };
        let own = self.file.iter().filter(|(install, _)| is_read(install));
        own.map(|(install, locked)| {
            let hub = Some(&*locked.repository);
            Expected { role, install, sha256: &locked.sha256, bytes: locked.bytes, hub }
        })
        .collect()
    }
}

/// `path`, and what lies in it if it is a folder, without links.
fn targets(path: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    std::iter::once(path.to_owned()).chain(inside).map(|path| real(&path)).collect()
}

/// `path` without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn locked(repository: &str, revision: &str) -> Locked {
        let sha256 = Sha::of(&mut b"weights".as_slice()).expect("a slice is readable").0;
        let (repository, revision) = (repository.to_owned(), revision.to_owned());
        Locked { repository, revision, commit: Some("c0".to_owned()), path: "m".to_owned(), sha256, bytes: 7 }
    }

    fn repository(revision: &str) -> Repository {
        Repository {
            name: "a/b".to_owned(),
            revision: revision.to_owned(),
            licence: "MIT".to_owned(),
            redistributable: true,
            provenance: "a test".to_owned(),
            files: vec![RepositoryFile {
                role: Role::Judge,
                path: "m".to_owned(),
                install: "j/m".to_owned(),
                sha256: None,
                bytes: None,
            }],
        }
    }

    #[test]
    fn what_was_written_is_read_again_and_belongs_to_one_revision() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(Lock::read(dir.path()).expect("none"), Lock::default());
        let mut lock = Lock::default();
        lock.insert("j/m", locked("a/b", "main"));
        lock.write(dir.path()).expect("writable");
        assert_eq!(Lock::read(dir.path()).expect("there"), lock);
        let (main, other) = (repository("main"), repository("v2"));
        assert!(lock.find(&main, &main.files[0]).is_some() && lock.find(&other, &other.files[0]).is_none());
        assert_eq!((lock.commit(&main), lock.commit(&other)), (Some("c0"), None));
        let mut manifest = Manifest { packages: vec![], repositories: vec![main, other] };
        lock.complete(&mut manifest);
        assert_eq!(manifest.repositories[0].files[0].bytes, Some(7));
        assert_eq!(manifest.repositories[1].files[0].bytes, None);
        let below = |folder: &str| lock.among(dir.path(), &dir.path().join(folder), Role::Judge).len();
        assert_eq!((below("j"), below("jj"), below("")), (1, 0, 1));
    }

    #[test]
    fn links_do_not_lead_around_it() {
        let (dir, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let (models, elsewhere) = (dir.path(), other.path());
        let mut lock = Lock::default();
        for (install, bytes) in [("real/m", b"weights"), ("moved/m", b"weights")] {
            lock.insert(install, locked("a/b", "main"));
            fs::create_dir_all(models.join(install).parent().expect("a folder")).expect("made");
            fs::write(models.join(install), bytes).expect("written");
        }
        // The folder of a fetched model was moved to another disk and linked; another one is linked to under a new name.
        fs::rename(models.join("moved"), elsewhere.join("disk")).expect("moved");
        let link = |target: &Path, link: &Path| symlink(target, link).expect("linked");
        link(&elsewhere.join("disk"), &models.join("moved"));
        link(&models.join("real"), &models.join("alias"));
        link(&models.join("real"), &elsewhere.join("alias"));
        link(models, &elsewhere.join("models"));
        link(&models.join("real/m"), &elsewhere.join("m.gguf"));
        fs::create_dir(elsewhere.join("picked")).expect("made");
        link(&models.join("real/m"), &elsewhere.join("picked/m"));
        fs::create_dir(elsewhere.join("own")).expect("made");
        fs::write(elsewhere.join("own/m"), "weighty").expect("written");
        let read = |path: PathBuf| {
            let found = lock.among(models, &path, Role::Judge);
            found.iter().map(|file| file.install.to_owned()).collect::<Vec<_>>()
        };
        for path in ["real", "real/m", "alias", "./alias/../real", "real/../alias/."] {
            assert_eq!(read(models.join(path)), ["real/m"], "{path}");
        }
        for path in ["alias", "models/real", "models/alias/m", "m.gguf", "picked"] {
            assert_eq!(read(elsewhere.join(path)), ["real/m"], "{path}");
        }
        assert_eq!(read(models.join("moved")), ["moved/m"]);
        assert_eq!(read(elsewhere.join("disk")), ["moved/m"]);
        assert!(read(elsewhere.join("own")).is_empty() && read(elsewhere.join("nowhere")).is_empty());
        // A file that is gone is missed through a link as well.
        fs::remove_file(models.join("real/m")).expect("there");
        assert_eq!(read(elsewhere.join("alias")), ["real/m"]);
        fs::write(models.join("real/m"), "weighty").expect("written");
        let found = lock.among(models, &elsewhere.join("alias"), Role::Judge);
        let error = found[0].verify(models).expect_err("other bytes").to_string();
        assert!(
            error.contains("is corrupt") && error.contains("--manifest FILE") && error.contains(" a/b`"),
            "{error}"
        );
    }

    #[test]
    fn a_damaged_lock_is_an_error_and_not_an_empty_one() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join(LOCK), "[file.\"j/m\"]\nrepository = 'a'\n").expect("writable");
        let error = Lock::read(dir.path()).expect_err("damaged").to_string();
        assert!(error.contains("hub.lock is damaged"), "{error}");
    }
}

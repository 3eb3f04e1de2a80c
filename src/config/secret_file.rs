//! Secrets that live in a file of their own.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ConfigError;
use crate::secret::Secret;

/// Longest secret, so that a wrong path (a device, a video) is not swallowed whole.
const MAX_BYTES: u64 = 64 * 1024;

/// Path of a file whose trimmed content is a secret. A bare name is looked up in systemd's `$CREDENTIALS_DIRECTORY`
/// first.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct SecretFile(PathBuf);

impl SecretFile {
    /// A secret kept at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The place that is read.
    pub fn path(&self) -> PathBuf {
        let bare = self.0.components().count() == 1;
        match credentials().map(|dir| Path::new(&dir).join(&self.0)) {
            Some(path) if bare && path.exists() => path,
            _ => self.0.clone(),
        }
    }

    /// Whether only a service can know it: a bare name, where no credentials are given.
    pub fn is_awaited(&self) -> bool {
        self.0.components().count() == 1 && credentials().is_none() && !self.0.exists()
    }

    /// Reads the secret, without surrounding white space.
    pub fn read(&self) -> Result<Secret, ConfigError> {
        let path = self.path();
        let refuse = |reason: String| ConfigError::Secret { path: path.clone(), reason };
        let size = std::fs::metadata(&path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        if !size.is_file() || size.len() > MAX_BYTES {
            return Err(refuse(format!("is not a file of at most {MAX_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        match text.trim() {
            "" => Err(refuse("is empty: write the secret into it".to_owned())),
            secret => Ok(Secret::new(secret)),
        }
    }
}

/// Where systemd puts what `LoadCredential=` names.
#[expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]
fn credentials() -> Option<String> {
    std::env::var("CREDENTIALS_DIRECTORY").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_trimmed_and_a_bad_file_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("password");
        std::fs::write(&path, "hunter2\n").expect("written");
        assert_eq!(SecretFile::new(&path).read().expect("read").expose(), "hunter2");
        std::fs::write(&path, " \n").expect("written");
        for bad in [path.as_path(), dir.path(), Path::new("/nonexistent/secret")] {
            let error = SecretFile::new(bad).read().expect_err("refused").to_string();
            assert!(error.contains(&bad.display().to_string()), "{error}");
        }
    }
}

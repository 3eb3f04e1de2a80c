//! Files that a Hugging Face-style hub holds: a repository at a revision, and paths in it.

use serde::Deserialize;

use super::{Expected, Role, Sha};

/// A repository at a revision.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repository {
    /// `owner/name`.
    pub name: String,
    /// A branch, a tag or a commit. A branch is followed once: the first fetch writes down the commit it led to.
    pub revision: String,
    /// Under what terms.
    pub licence: String,
    /// Whether those terms allow passing the files on.
    pub redistributable: bool,
    /// Whose weights these are and what was done to them.
    pub provenance: String,
    /// What is taken out of it.
    #[serde(rename = "file")]
    pub files: Vec<RepositoryFile>,
}

/// One file of a repository. Size and digest are both given, or both left to the first fetch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryFile {
    /// What it is for.
    pub role: Role,
    /// Where it is in the repository.
    pub path: String,
    /// What it is called under the models directory.
    pub install: String,
    /// What it must be.
    pub sha256: Option<Sha>,
    /// Its size.
    pub bytes: Option<u64>,
}

impl Repository {
    /// Name and revision, as in messages.
    pub fn id(&self) -> String {
        format!("{}@{}", self.name, self.revision)
    }

    /// Every file of which is known what it must be.
    pub fn expected(&self) -> impl Iterator<Item = Expected<'_>> {
        self.files.iter().filter_map(|file| {
            let (sha256, bytes) = file.sha256.as_ref().zip(file.bytes)?;
            Some(Expected { role: file.role, install: &file.install, sha256, bytes, hub: Some(&*self.name) })
        })
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        let word = |text: &str, more: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c) || more.contains(c);
            let parts = text.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
            parts && text.chars().all(known)
        };
        if !word(&self.name, "/") || self.name.matches('/').count() > 1 {
            return Err("a repository is called name or owner/name");
        }
        if !word(&self.revision, "/") {
            return Err("a revision is a branch, a tag or a commit");
        }
        if self.files.is_empty() {
            return Err("a repository without files");
        }
        for file in &self.files {
            if !word(&file.path, "/") {
                return Err("a path in a repository is made of letters, digits and ._-/");
            }
            if file.sha256.is_some() != file.bytes.is_some() {
                return Err("sha256 and bytes are given together or not at all");
            }
        }
        Ok(())
    }
}

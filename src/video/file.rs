//! What can be said of a file without decoding it, and how exactly it can be sought.

use std::fs::Metadata;
use std::io::ErrorKind;
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
pub(super) fn seeks_exactly(plugged: &[String]) -> bool {
    let has = |names: &[&str]| plugged.iter().any(|name| names.contains(&name.as_str()));
    has(&TIMED_DEMUXERS) || (has(&["avidemux"]) && has(&ORDERED_DECODERS))
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
        let table: &[(&[&str], bool)] = &[
            (&["typefind", "qtdemux", "multiqueue", "h264parse", "avdec_h264"], true),
            (&["matroskademux", "avdec_vp8"], true),
            (&["avidemux", "avdec_msmpeg4"], true),
            (&["avidemux", "avdec_cinepak"], true),
            (&["avidemux", "mpeg4videoparse", "avdec_mpeg4"], false),
            (&["avidemux", "h264parse", "avdec_h264"], false),
            (&["tsdemux", "h264parse", "avdec_h264"], false),
            (&["h264parse", "avdec_h264"], false),
            (&["avdec_cinepak"], false),
            (&[], false),
        ];
        for (plugged, exact) in table {
            let plugged: Vec<String> = plugged.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(seeks_exactly(&plugged), *exact, "{plugged:?}");
        }
    }

    #[test]
    fn a_changed_file_has_another_identity() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.mp4");
        std::fs::write(&path, "one").expect("is written");
        let before = identity(&path).expect("is a file");
        assert_eq!(identity(&dir.path().join("./a.mp4")).expect("is the same file"), before);
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

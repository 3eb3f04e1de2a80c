//! The thread that deletes what is past its retention, over all streams, also those that are down or were removed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Shared;
use super::retention::{self, Held, Plan};
use super::segment::Reading;
use super::shelf::{self, Shelf};
use crate::domain::{StreamId, StreamTime, WallTime};

/// How often to look, if no disk fails meanwhile.
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// One stream's segments of one epoch.
struct Keep {
    stream: String,
    dir: PathBuf,
    shelf: Shelf,
}

/// Deletes what is due, and says whether the disk has room.
pub(super) fn sweep(shared: &Shared) -> io::Result<bool> {
    if !shared.config.dir.try_exists()? {
        return Ok(true);
    }
    let keeps = list(&shared.config.dir)?;
    let open = shared.open_paths();
    let mut held = Vec::new();
    let mut places = Vec::new();
    for (n, keep) in keeps.iter().enumerate() {
        for (place, segment) in keep.shelf.segments.iter().enumerate() {
            // One that is gone was deleted by somebody else.
            let Ok(metadata) = fs::metadata(&segment.path) else { continue };
            let ended = metadata.modified().map_or_else(|_| WallTime::now(), WallTime::from);
            held.push(Held { stream: n, ended, bytes: metadata.len(), open: open.contains(&segment.path) });
            places.push((n, place));
        }
    }
    let plan = retention::plan(&held, &shared.config.limits(), WallTime::now(), free(&shared.config.dir)?);
    let gone = delete(shared, &plan, &places, &keeps);
    tell(shared, &keeps, &held, &places, &gone);
    Ok(plan.room)
}

/// `<dir>/<stream>/<epoch>/`.
fn list(root: &Path) -> io::Result<Vec<Keep>> {
    let mut keeps = Vec::new();
    for stream in directories(root)? {
        let name = stream.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if StreamId::new(&name).is_err() {
            continue;
        }
        for dir in directories(&stream)? {
            let shelf = Shelf::list(&dir)?;
            keeps.push(Keep { stream: name.clone(), dir, shelf });
        }
    }
    Ok(keeps)
}

fn directories(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Bytes that this user may still write.
fn free(dir: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(dir)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Deletes as planned; the indices of what is gone.
fn delete(shared: &Shared, plan: &Plan, places: &[(usize, usize)], keeps: &[Keep]) -> BTreeSet<usize> {
    let mut gone = BTreeSet::new();
    for (n, why) in &plan.delete {
        let (keep, place) = (&keeps[places[*n].0], places[*n].1);
        let segment = &keep.shelf.segments[place];
        let until = match keep.shelf.segments.get(place + 1) {
            Some(next) => next.start,
            None => end_of(&segment.path, segment.start),
        };
        // Marked first: what is asked for in between is told as expired a little early, never as a gap.
        if let Err(error) = shelf::mark_expired(&keep.dir, segment.start, until) {
            tracing::warn!(dir = %keep.dir.display(), %error, "what is deleted will be told as a gap");
        }
        match fs::remove_file(&segment.path) {
            Ok(()) => {
                shared.metrics.count_deletion(why.as_str());
                gone.insert(*n);
            }
            Err(error) => tracing::warn!(path = %segment.path.display(), %error, "a segment cannot be deleted"),
        }
    }
    gone
}

/// Just after the last picture of a segment.
fn end_of(path: &Path, start: StreamTime) -> StreamTime {
    let reading = Reading::open(path).ok().flatten();
    let last = reading.and_then(|reading| reading.entries.iter().map(|entry| entry.note.stamp.at).max());
    last.unwrap_or(start) + Duration::from_nanos(1)
}

/// Sets the series of each stream; one of which nothing is left loses its directories and its series.
fn tell(shared: &Shared, keeps: &[Keep], held: &[Held], places: &[(usize, usize)], gone: &BTreeSet<usize>) {
    let names: BTreeSet<&str> = keeps.iter().map(|keep| keep.stream.as_str()).collect();
    for name in names {
        let left: Vec<&Held> = (0..held.len())
            .filter(|n| keeps[places[*n].0].stream == name && !gone.contains(n))
            .map(|n| &held[n])
            .collect();
        let bytes = left.iter().map(|held| held.bytes).sum();
        shared.metrics.set_held(name, bytes, left.len());
    }
    for (n, keep) in keeps.iter().enumerate() {
        let is_empty = (0..held.len()).all(|i| places[i].0 != n || gone.contains(&i));
        if is_empty && !shared.is_recorded(&keep.dir) && forget(&keep.dir) {
            shared.metrics.forget_held(&keep.stream);
        }
    }
}

/// Removes the directory of a stream that is not watched any more, with nothing but a mark in it. Says whether nothing at
/// all of the stream is left.
fn forget(dir: &Path) -> bool {
    if let Ok(Shelf { expired: Some(at), .. }) = Shelf::list(dir) {
        // Failing leaves a small file behind, until the next sweep.
        let _ = shelf::unmark(dir, at);
    }
    let _ = fs::remove_dir(dir);
    dir.parent().is_some_and(|stream| fs::remove_dir(stream).is_ok())
}

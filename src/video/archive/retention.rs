//! Which recorded segments to delete. Pure.

use super::config::Limits;
use crate::domain::WallTime;

/// Why a segment is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Older than `max_age`.
    Age,
    /// The stream holds more than `max_bytes`.
    Bytes,
    /// The disk has less than `min_free` left.
    Space,
}

impl Why {
    /// The name used in metrics.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Bytes => "bytes",
            Self::Space => "space",
        }
    }
}

/// A segment as retention sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Which stream it belongs to, by any number.
    pub(super) stream: usize,
    /// When it was written last.
    pub(super) ended: WallTime,
    /// Its size.
    pub(super) bytes: u64,
    /// Whether it is being written: counted, never deleted.
    pub(super) open: bool,
}

/// What to delete, and whether the disk has room then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Indices into what was given, in the order in which to delete.
    pub(super) delete: Vec<(usize, Why)>,
    /// Whether at least `min_free` bytes are free afterwards.
    pub(super) room: bool,
}

/// Oldest first: what is too old, then what its stream holds too much of, then, over all streams, what the disk needs.
/// `held` is in the order of time within each stream; `free` is what the disk has now.
pub(super) fn plan(held: &[Held], limits: &Limits, now: WallTime, free: u64) -> Plan {
    let mut doom = Doom { held, doomed: vec![false; held.len()], delete: Vec::new(), free };
    for (n, segment) in held.iter().enumerate() {
        if now.saturating_since(segment.ended) > limits.max_age {
            doom.add(n, Why::Age);
        }
    }
    let streams = held.iter().map(|segment| segment.stream).max().map_or(0, |last| last + 1);
    let mut sizes = vec![0_u64; streams];
    for (segment, _) in held.iter().zip(&doom.doomed).filter(|(_, doomed)| !**doomed) {
        sizes[segment.stream] += segment.bytes;
    }
    for (n, segment) in held.iter().enumerate() {
        let size = &mut sizes[segment.stream];
        if *size > limits.max_bytes && doom.add(n, Why::Bytes) {
            *size -= segment.bytes;
        }
    }
    let mut oldest: Vec<usize> = (0..held.len()).collect();
    oldest.sort_by_key(|n| held[*n].ended);
    for n in oldest {
        if doom.free < limits.min_free {
            doom.add(n, Why::Space);
        }
    }
    Plan { room: doom.free >= limits.min_free, delete: doom.delete }
}

/// A plan in the making.
struct Doom<'a> {
    held: &'a [Held],
    doomed: Vec<bool>,
    delete: Vec<(usize, Why)>,
    /// What the disk will have.
    free: u64,
}

impl Doom<'_> {
    /// Dooms a segment; false if it may not be deleted or is doomed already.
    fn add(&mut self, n: usize, why: Why) -> bool {
        let is_new = !self.held[n].open && !self.doomed[n];
        if is_new {
            self.doomed[n] = true;
            self.delete.push((n, why));
            self.free = self.free.saturating_add(self.held[n].bytes);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: i64 = 1_000_000;

    fn wall(seconds: i64) -> WallTime {
        WallTime::from_nanos(seconds * 1_000_000_000).expect("in range")
    }

    /// A closed segment of a stream, so many seconds old.
    fn held(stream: usize, age: i64, bytes: u64) -> Held {
        Held { stream, ended: wall(NOW - age), bytes, open: false }
    }

    fn open(stream: usize, bytes: u64) -> Held {
        Held { open: true, ..held(stream, 0, bytes) }
    }

    fn limits(age: u64, bytes: u64, free: u64) -> Limits {
        Limits { max_age: Duration::from_secs(age), max_bytes: bytes, min_free: free }
    }

    #[test]
    fn the_oldest_go_first_and_the_open_one_never() {
        use Why::{Age, Bytes, Space};
        type Row = (&'static str, Vec<Held>, Limits, u64, Vec<(usize, Why)>, bool);
        let three = || vec![held(0, 300, 10), held(0, 200, 10), held(0, 100, 10)];
        let table: Vec<Row> = vec![
            ("nothing held", vec![], limits(1, 1, 5), 10, vec![], true),
            ("nothing held and no room", vec![], limits(1, 1, 50), 10, vec![], false),
            ("within every limit", three(), limits(300, 30, 10), 10, vec![], true),
            ("too old", three(), limits(150, 30, 0), 10, vec![(0, Age), (1, Age)], true),
            ("too many bytes", three(), limits(999, 15, 0), 10, vec![(0, Bytes), (1, Bytes)], true),
            ("age first, then bytes", three(), limits(250, 15, 0), 10, vec![(0, Age), (1, Bytes)], true),
            ("what age frees is enough", three(), limits(250, 30, 20), 10, vec![(0, Age)], true),
            ("disk", three(), limits(999, 30, 25), 10, vec![(0, Space), (1, Space)], true),
            ("disk, hopelessly", vec![held(0, 9, 10)], limits(99, 30, 25), 10, vec![(0, Space)], false),
            ("an open one is counted", vec![held(0, 9, 10), open(0, 90)], limits(99, 95, 0), 9, vec![(0, Bytes)], true),
            ("an open one stays", vec![open(0, 90)], limits(0, 1, 100), 10, vec![], false),
            (
                "each stream has its bytes",
                vec![held(0, 90, 10), held(0, 80, 10), held(1, 95, 10)],
                limits(999, 10, 0),
                10,
                vec![(0, Bytes)],
                true,
            ),
            (
                "the disk takes the oldest of all streams",
                vec![held(0, 90, 10), held(0, 50, 10), held(1, 95, 10), held(1, 70, 10)],
                limits(999, 99, 30),
                5,
                vec![(2, Space), (0, Space), (3, Space)],
                true,
            ),
            ("a segment from the future is young", vec![held(0, -500, 10)], limits(10, 99, 0), 10, vec![], true),
        ];
        for (name, held, limits, free, delete, room) in table {
            assert_eq!(plan(&held, &limits, wall(NOW), free), Plan { delete, room }, "{name}");
        }
    }
}

//! The bytes of a segment: a plain Matroska file that every player reads, with the exact times of each picture in an
//! element that players skip. Pure.
//!
//! The segment and its clusters are of unknown size, as in live Matroska, so nothing is ever patched and the file is
//! whole after each picture. A picture is two elements, written at once: `Void`, which holds a note of ours with its
//! times and a checksum over itself and the picture, and `SimpleBlock`, which holds the picture.

use std::time::Duration;

use flate2::Crc;

use super::super::clock::Stamp;
use super::unit::{Codec, Coding, Unit};
use crate::domain::{Clock, StreamTime, WallTime};

const EBML: u32 = 0x1A45_DFA3;
const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_A966;
const TRACKS: u32 = 0x1654_AE6B;
const TRACK: u32 = 0xAE;
const CODEC_ID: u32 = 0x86;
const CODEC_PRIVATE: u32 = 0x63A2;
const VIDEO: u32 = 0xE0;
const WIDTH: u32 = 0xB0;
const HEIGHT: u32 = 0xBA;
const CLUSTER: u32 = 0x1F43_B675;
const TIMESTAMP: u32 = 0xE7;
const VOID: u8 = 0xEC;
const SIMPLE_BLOCK: u8 = 0xA3;

/// The size of an element that ends where another one of its kind begins.
const UNKNOWN: [u8; 8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
/// Matroska counts time from 2001; in nanoseconds since 1970.
const MILLENNIUM_NS: i64 = 978_307_200_000_000_000;
/// A block tells its time in milliseconds since its cluster in 16 bits.
const CLUSTER_MS: u64 = 30_000;

/// Begins every note.
const MAGIC: [u8; 4] = *b"GVQ1";
/// A note's bytes, behind the two of its element.
const NOTE: usize = 40;
/// A cluster's head: id, unknown size, timestamp.
const CLUSTER_HEAD: usize = 4 + 8 + 10;
/// The head of a block: id, size, track, time, flags.
const BLOCK_HEAD: usize = 1 + 8 + 4;
/// All that may stand between two pictures.
pub(super) const HEAD: usize = CLUSTER_HEAD + 2 + NOTE + BLOCK_HEAD;
/// No head of a file is longer.
pub(super) const MAX_FILE_HEAD: usize = 1 << 20;

/// What stands before a picture's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) stamp: Stamp,
    pub(super) key: bool,
    /// Bytes of the picture.
    pub(super) bytes: u32,
    checksum: u32,
    /// Bytes from the beginning of the head to the picture.
    pub(super) head: usize,
}

impl Note {
    /// Whether `data` is the picture that the note was written for.
    pub(super) fn fits(&self, data: &[u8]) -> bool {
        data.len() == self.bytes as usize && checksum(&note(&self.stamp, self.key, self.bytes), data) == self.checksum
    }
}

/// The beginning of a file.
pub(super) fn file_head(codec: &Codec, title: &str, wall: WallTime) -> Vec<u8> {
    let (width, height) = (u64::from(codec.width), u64::from(codec.height));
    let name = match codec.coding {
        Coding::H264 => "V_MPEG4/ISO/AVC",
        Coding::H265 => "V_MPEGH/ISO/HEVC",
        Coding::Jpeg => "V_MJPEG",
    };
    let private = if codec.private.is_empty() { Vec::new() } else { element(CODEC_PRIVATE, &codec.private) };
    let track = [
        number(0xD7, 1),
        number(0x73C5, 1),
        number(0x83, 1),
        number(0x9C, 0),
        element(CODEC_ID, name.as_bytes()),
        private,
        element(VIDEO, &[number(WIDTH, width), number(HEIGHT, height)].concat()),
    ]
    .concat();
    let date = wall.nanos().saturating_sub(MILLENNIUM_NS).to_be_bytes();
    let info = [
        number(0x2AD7B1, 1_000_000),
        element(0x4461, &date),
        element(0x7BA9, title.as_bytes()),
        element(0x4D80, b"groundedvqa"),
        element(0x5741, b"groundedvqa"),
    ]
    .concat();
    let ebml = [
        number(0x4286, 1),
        number(0x42F7, 1),
        number(0x42F2, 4),
        number(0x42F3, 8),
        element(0x4282, b"matroska"),
        number(0x4287, 4),
        number(0x4285, 2),
    ]
    .concat();
    let mut head = element(EBML, &ebml);
    head.extend(id(SEGMENT));
    head.extend(UNKNOWN);
    head.extend(element(INFO, &info));
    head.extend(element(TRACKS, &element(TRACK, &track)));
    head
}

/// Where the next picture stands within its cluster.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clusters {
    begun_ms: Option<u64>,
}

impl Clusters {
    /// Appends what stands before the picture, and the picture. `start` is the stream time of the segment.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, unit: &Unit, start: StreamTime) {
        let ms = unit.stamp.at.saturating_since(start).as_millis() as u64;
        let begun = self.begun_ms.filter(|begun| !unit.key && ms.abs_diff(*begun) < CLUSTER_MS);
        if begun.is_none() {
            out.extend(id(CLUSTER));
            out.extend(UNKNOWN);
            out.extend([TIMESTAMP as u8, 0x88]);
            out.extend(ms.to_be_bytes());
            self.begun_ms = Some(ms);
        }
        let rest = i16::try_from(ms as i64 - begun.unwrap_or(ms) as i64).unwrap_or(0);
        let bytes = unit.data.len() as u32;
        let note = note(&unit.stamp, unit.key, bytes);
        out.extend([VOID, 0x80 | NOTE as u8]);
        out.extend(note);
        out.extend(checksum(&note, &unit.data).to_be_bytes());
        out.push(SIMPLE_BLOCK);
        out.extend(size(u64::from(bytes) + 4));
        out.push(0x81);
        out.extend(rest.to_be_bytes());
        out.push(if unit.key { 0x80 } else { 0 });
        out.extend_from_slice(&unit.data);
    }
}

/// Reads a file's head: the codec, and where the pictures begin.
pub(super) fn read_head(bytes: &[u8]) -> Option<(Codec, usize)> {
    let (EBML, ebml, rest) = next(bytes)? else { return None };
    if !ebml.windows(8).any(|window| window == b"matroska") || !rest.starts_with(&id(SEGMENT)) {
        return None;
    }
    let mut rest = rest.get(4 + UNKNOWN.len()..)?;
    let mut codec = None;
    while !rest.is_empty() && !rest.starts_with(&id(CLUSTER)) {
        let (kind, body, tail) = next(rest)?;
        if kind == TRACKS {
            codec = track(body);
        }
        rest = tail;
    }
    Some((codec?, bytes.len() - rest.len()))
}

fn track(tracks: &[u8]) -> Option<Codec> {
    let (TRACK, mut rest, _) = next(tracks)? else { return None };
    let (mut coding, mut private, mut width, mut height) = (None, Vec::new(), 0, 0);
    while let Some((kind, body, tail)) = next(rest) {
        match kind {
            CODEC_ID => {
                coding = match body {
                    b"V_MPEG4/ISO/AVC" => Some(Coding::H264),
                    b"V_MPEGH/ISO/HEVC" => Some(Coding::H265),
                    b"V_MJPEG" => Some(Coding::Jpeg),
                    _ => None,
                }
            }
            CODEC_PRIVATE => private = body.to_vec(),
            VIDEO => {
                let mut video = body;
                while let Some((kind, body, tail)) = next(video) {
                    match kind {
                        WIDTH => width = value(body)?,
                        HEIGHT => height = value(body)?,
                        _ => {}
                    }
                    video = tail;
                }
            }
            _ => {}
        }
        rest = tail;
    }
    Some(Codec { coding: coding?, private, width, height })
}

/// Reads what stands before a picture. `None` if it is cut short or not ours.
pub(super) fn read_note(bytes: &[u8]) -> Option<Note> {
    let cluster = if bytes.starts_with(&id(CLUSTER)) { CLUSTER_HEAD } else { 0 };
    let rest = bytes.get(cluster..)?.strip_prefix(&[VOID, 0x80 | NOTE as u8])?;
    let (note, rest) = rest.split_at_checked(NOTE)?;
    let field = |from: usize| Some(u64::from_be_bytes(note.get(from..from + 8)?.try_into().ok()?));
    let last = |from: usize| Some(u32::from_be_bytes(note.get(from..from + 4)?.try_into().ok()?));
    if !note.starts_with(&MAGIC) || rest.first() != Some(&SIMPLE_BLOCK) {
        return None;
    }
    let stamp = Stamp {
        at: StreamTime::from_nanos(field(4)?),
        wall: WallTime::from_nanos(field(12)? as i64).ok()?,
        clock: if note[30] == 1 { Clock::SenderReport } else { Clock::Arrival },
        precision: Duration::from_nanos(field(20)? >> 16),
    };
    Some(Note {
        stamp,
        key: note[31] == 1,
        bytes: last(32)?,
        checksum: last(36)?,
        head: cluster + 2 + NOTE + BLOCK_HEAD,
    })
}

/// A note without its checksum.
fn note(stamp: &Stamp, key: bool, bytes: u32) -> [u8; NOTE - 4] {
    let mut note = [0; NOTE - 4];
    note[..4].copy_from_slice(&MAGIC);
    note[4..12].copy_from_slice(&stamp.at.nanos().to_be_bytes());
    note[12..20].copy_from_slice(&stamp.wall.nanos().to_be_bytes());
    // Six bytes of nanoseconds are three days.
    let precision = u64::try_from(stamp.precision.as_nanos()).unwrap_or(u64::MAX).min((1 << 48) - 1);
    note[20..26].copy_from_slice(&precision.to_be_bytes()[2..]);
    note[30] = u8::from(stamp.clock == Clock::SenderReport);
    note[31] = u8::from(key);
    note[32..36].copy_from_slice(&bytes.to_be_bytes());
    note
}

fn checksum(note: &[u8], data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(note);
    crc.update(data);
    crc.sum()
}

/// An id without its leading zeros.
fn id(id: u32) -> Vec<u8> {
    id.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect()
}

/// A size in eight bytes.
fn size(bytes: u64) -> [u8; 8] {
    (bytes | 1 << 56).to_be_bytes()
}

fn element(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut element = id(kind);
    element.extend(size(body.len() as u64));
    element.extend_from_slice(body);
    element
}

fn number(kind: u32, value: u64) -> Vec<u8> {
    element(kind, &value.to_be_bytes())
}

fn value(body: &[u8]) -> Option<u32> {
    let mut bytes = [0; 8];
    bytes.get_mut(8_usize.checked_sub(body.len())?..)?.copy_from_slice(body);
    u32::try_from(u64::from_be_bytes(bytes)).ok()
}

/// The first element: id, body, and what follows. Only sizes of eight bytes, which is what is written here.
fn next(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let length = bytes.first()?.leading_zeros() as usize + 1;
    let kind = bytes.get(..length).filter(|_| length <= 4)?.iter().fold(0, |kind, byte| kind << 8 | u32::from(*byte));
    let size = u64::from_be_bytes(bytes.get(length..length + 8)?.try_into().ok()?);
    let size = usize::try_from(size ^ 1 << 56).ok().filter(|_| size >> 56 == 1)?;
    let (body, rest) = bytes.get(length + 8..)?.split_at_checked(size)?;
    Some((kind, body, rest))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn codec() -> Codec {
        Codec { coding: Coding::H264, private: vec![1, 2, 3], width: 641, height: 273 }
    }

    fn unit(ms: u64, key: bool, data: &'static [u8]) -> Unit {
        let stamp = Stamp {
            at: StreamTime::from_nanos(ms * 1_000_000 + 17),
            wall: WallTime::from_nanos(1_790_000_000_123_456_789).expect("in range"),
            clock: Clock::SenderReport,
            precision: Duration::from_nanos(70_000_001),
        };
        Unit { stamp, key, data: Bytes::from_static(data) }
    }

    #[test]
    fn a_file_tells_its_codec_and_pictures_again() {
        let start = StreamTime::from_nanos(5_000_000_000);
        let wall = WallTime::from_nanos(1_790_000_000_000_000_000).expect("in range");
        for coding in [Coding::H264, Coding::H265, Coding::Jpeg] {
            let codec = Codec { coding, ..codec() };
            let mut file = file_head(&codec, "cam", wall);
            assert_eq!(read_head(&file), Some((codec.clone(), file.len())));
            let head = file.len();
            let units = [unit(5000, true, b"key"), unit(5040, false, b""), unit(40_000, false, b"late")];
            let mut clusters = Clusters::default();
            for unit in &units {
                clusters.append(&mut file, unit, start);
            }
            assert_eq!(read_head(&file), Some((codec, head)));
            let mut at = head;
            for unit in &units {
                let note = read_note(&file[at..]).expect("a note");
                assert_eq!((note.stamp, note.key), (unit.stamp, unit.key));
                let data = &file[at + note.head..at + note.head + note.bytes as usize];
                assert!(note.fits(data) && data == unit.data);
                assert!(note.head <= HEAD);
                at += note.head + note.bytes as usize;
            }
            assert_eq!(at, file.len());
        }
    }

    #[test]
    fn damage_does_not_pass() {
        let mut file = Vec::new();
        Clusters::default().append(&mut file, &unit(1, true, b"picture"), StreamTime::ZERO);
        let good = read_note(&file).expect("a note");
        // The ids and sizes around note and picture are what makes them found at all.
        for byte in (CLUSTER_HEAD + 2..file.len()).filter(|byte| !(CLUSTER_HEAD + 2 + NOTE..good.head).contains(byte)) {
            let mut damaged = file.clone();
            damaged[byte] ^= 0x10;
            let passes = read_note(&damaged).is_some_and(|note| note.fits(&damaged[good.head..]));
            let is_spare = (CLUSTER_HEAD + 2 + 26..CLUSTER_HEAD + 2 + 30).contains(&byte);
            assert!(!passes || is_spare, "byte {byte}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..400) {
            let _ = read_note(&bytes);
            let _ = read_head(&bytes);
            let mut file = file_head(&codec(), "cam", WallTime::from_nanos(0).expect("in range"));
            Clusters::default().append(&mut file, &unit(1, true, b"picture"), StreamTime::ZERO);
            file.truncate(cut);
            file.extend(&bytes);
            let _ = read_head(&file);
            let _ = read_note(&file[cut.min(file.len())..]);
        }
    }
}

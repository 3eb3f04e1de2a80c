//! Values to bytes and back. Rows are little-endian and start with their layout's number.
//!
//! Pure. Whatever the bytes are, decoding returns a value or a [`CodecError`]; it never panics and never reads past the
//! end. Row of a moment, version 2:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 2 |
//! | 4 | stream number |
//! | 8, 8 | `at`, `until`: ns of stream time |
//! | 8 | `wall`: ns since 1970 |
//! | 4, 4 | captioner, embedder: numbers in the fingerprint table |
//! | 1 | clock of `wall`: 0 media, 1 sender report, 2 arrival |
//! | 8 | precision: ns to either side |
//! | rest | the caption, UTF-8 |
//!
//! Version 1 has neither clock nor precision; it is read, and written where both are unknown. Its vector lies in a `block`. Row of a stretch in which nothing was seen, version 1:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 1 |
//! | 1 | why: 0 black, 1 covered, 2 frozen |
//! | 8 | `until`: ns of stream time |
//! | 8 | `wall` of its begin: ns since 1970 |

use std::time::Duration;

use super::StreamRecord;
use crate::domain::{Blindness, Clock, StreamKind, StreamTime, Timing, WallTime};

const MOMENT: u8 = 2;
const UNTIMED_MOMENT: u8 = 1;
const RECORD: u8 = 1;
const BLIND: u8 = 1;
/// Longest caption; far above anything a captioner says, and small enough that a row stays a few pages.
pub(super) const MAX_CAPTION: usize = 16 << 10;
const ENDED: u8 = 1;
const LIVE: u8 = 2;
const HAS_LAST: u8 = 4;
const HAS_IDENTITY: u8 = 8;

/// Why bytes are not a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CodecError {
    #[error("a row ends too early")]
    Short,
    #[error("a row has {0} bytes too many")]
    Long(usize),
    #[error("a row has the unknown layout {0}")]
    Layout(u8),
    #[error("a row holds a time that does not exist")]
    Time,
    #[error("a row holds text that is not UTF-8")]
    Text,
    #[error("a row holds unknown flags {0:#04x}")]
    Flags(u8),
    #[error("a row holds the unknown cause {0} of blindness")]
    Cause(u8),
    #[error("a row holds the unknown clock {0}")]
    Clock(u8),
}

/// A moment's row, borrowed from its page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) stream: u32,
    pub(super) at: StreamTime,
    pub(super) until: StreamTime,
    pub(super) wall: WallTime,
    pub(super) captioner: u32,
    pub(super) embedder: u32,
    pub(super) timing: Option<Timing>,
    pub(super) caption: &'a str,
}

/// A row's bytes. The caller keeps `caption` within [`MAX_CAPTION`].
pub(super) fn encode_row(row: &Row<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + row.caption.len());
    bytes.push(if row.timing.is_some() { MOMENT } else { UNTIMED_MOMENT });
    bytes.extend(row.stream.to_le_bytes());
    bytes.extend(row.at.nanos().to_le_bytes());
    bytes.extend(row.until.nanos().to_le_bytes());
    bytes.extend(row.wall.nanos().to_le_bytes());
    bytes.extend(row.captioner.to_le_bytes());
    bytes.extend(row.embedder.to_le_bytes());
    if let Some(Timing { clock, precision }) = row.timing {
        bytes.push(match clock {
            Clock::Media => 0,
            Clock::SenderReport => 1,
            Clock::Arrival => 2,
        });
        bytes.extend(u64::try_from(precision.as_nanos()).unwrap_or(u64::MAX).to_le_bytes());
    }
    bytes.extend(row.caption.as_bytes());
    bytes
}

/// Reads a whole row.
pub(super) fn decode_row(bytes: &[u8]) -> Result<Row<'_>, CodecError> {
    let mut reader = Reader(bytes);
    let is_timed = match reader.array()? {
        [MOMENT] => true,
        [UNTIMED_MOMENT] => false,
        [other] => return Err(CodecError::Layout(other)),
    };
    let stream = reader.u32()?;
    let (at, until) = (reader.stream_time()?, reader.stream_time()?);
    let wall = reader.wall_time()?;
    let (captioner, embedder) = (reader.u32()?, reader.u32()?);
    let timing = is_timed.then(|| reader.timing()).transpose()?;
    let caption = reader.rest()?;
    Ok(Row { stream, at, until, wall, captioner, embedder, timing, caption })
}

/// A stream's number and record as bytes.
pub(super) fn encode_record(number: u32, record: &StreamRecord) -> Vec<u8> {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let flags = flag(record.ended, ENDED)
        | flag(record.kind == StreamKind::Live, LIVE)
        | flag(record.last.is_some(), HAS_LAST)
        | flag(record.identity.is_some(), HAS_IDENTITY);
    let mut bytes = vec![RECORD, flags];
    bytes.extend(number.to_le_bytes());
    bytes.extend(record.epoch.nanos().to_le_bytes());
    bytes.extend(record.moments.to_le_bytes());
    bytes.extend(record.last.unwrap_or_default().nanos().to_le_bytes());
    bytes.extend(record.identity.as_deref().unwrap_or_default().as_bytes());
    bytes
}

/// Reads a stream's number and record.
pub(super) fn decode_record(bytes: &[u8]) -> Result<(u32, StreamRecord), CodecError> {
    let mut reader = Reader(bytes);
    reader.layout(RECORD)?;
    let [flags] = reader.array()?;
    if flags & !(ENDED | LIVE | HAS_LAST | HAS_IDENTITY) != 0 {
        return Err(CodecError::Flags(flags));
    }
    let number = reader.u32()?;
    let epoch = reader.wall_time()?;
    let moments = reader.u64()?;
    let last = reader.stream_time()?;
    let identity = reader.rest()?.to_owned();
    if flags & HAS_IDENTITY == 0 && !identity.is_empty() {
        return Err(CodecError::Long(identity.len()));
    }
    let record = StreamRecord {
        epoch,
        kind: if flags & LIVE == 0 { StreamKind::File } else { StreamKind::Live },
        identity: (flags & HAS_IDENTITY != 0).then_some(identity),
        last: (flags & HAS_LAST != 0).then_some(last),
        ended: flags & ENDED != 0,
        moments,
    };
    Ok((number, record))
}

/// Why, until when, and the time of day of the begin.
pub(super) type Blind = (Blindness, StreamTime, WallTime);

/// A stretch in which nothing was seen, as bytes.
pub(super) fn encode_blind((why, until, wall): Blind) -> [u8; 18] {
    let mut bytes = [BLIND; 18];
    bytes[1] = match why {
        Blindness::Black => 0,
        Blindness::Covered => 1,
        Blindness::Frozen => 2,
    };
    bytes[2..10].copy_from_slice(&until.nanos().to_le_bytes());
    bytes[10..].copy_from_slice(&wall.nanos().to_le_bytes());
    bytes
}

/// Reads a stretch in which nothing was seen.
pub(super) fn decode_blind(bytes: &[u8]) -> Result<Blind, CodecError> {
    let mut reader = Reader(bytes);
    reader.layout(BLIND)?;
    let why = match reader.array()? {
        [0] => Blindness::Black,
        [1] => Blindness::Covered,
        [2] => Blindness::Frozen,
        [other] => return Err(CodecError::Cause(other)),
    };
    let found = (why, reader.stream_time()?, reader.wall_time()?);
    if reader.0.is_empty() { Ok(found) } else { Err(CodecError::Long(reader.0.len())) }
}

/// Reads fields off the front of a slice.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (field, rest) = self.0.split_first_chunk::<N>().ok_or(CodecError::Short)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u32(&mut self) -> Result<u32, CodecError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, CodecError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn layout(&mut self, known: u8) -> Result<(), CodecError> {
        let [layout] = self.array()?;
        if layout == known { Ok(()) } else { Err(CodecError::Layout(layout)) }
    }

    pub(super) fn stream_time(&mut self) -> Result<StreamTime, CodecError> {
        let at = StreamTime::from_nanos(self.u64()?);
        if at <= StreamTime::MAX { Ok(at) } else { Err(CodecError::Time) }
    }

    fn wall_time(&mut self) -> Result<WallTime, CodecError> {
        WallTime::from_nanos(i64::from_le_bytes(self.array()?)).map_err(|_| CodecError::Time)
    }

    fn timing(&mut self) -> Result<Timing, CodecError> {
        let clock = match self.array()? {
            [0] => Clock::Media,
            [1] => Clock::SenderReport,
            [2] => Clock::Arrival,
            [other] => return Err(CodecError::Clock(other)),
        };
        Ok(Timing { clock, precision: Duration::from_nanos(self.u64()?) })
    }

    fn rest(&self) -> Result<&'a str, CodecError> {
        std::str::from_utf8(self.0).map_err(|_| CodecError::Text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream_time() -> impl Strategy<Value = StreamTime> {
        (0..=StreamTime::MAX.nanos()).prop_map(StreamTime::from_nanos)
    }

    fn wall_time() -> impl Strategy<Value = WallTime> {
        any::<i64>().prop_filter_map("a time of day", |nanos| WallTime::from_nanos(nanos).ok())
    }

    fn timing() -> impl Strategy<Value = Timing> {
        let clock = prop_oneof![Just(Clock::Media), Just(Clock::SenderReport), Just(Clock::Arrival)];
        (clock, any::<u64>()).prop_map(|(clock, nanos)| Timing { clock, precision: Duration::from_nanos(nanos) })
    }

    prop_compose! {
        fn record()(
            number in any::<u32>(), epoch in wall_time(), is_live in any::<bool>(),
            identity in proptest::option::of(".{0,60}"), last in proptest::option::of(stream_time()),
            ended in any::<bool>(), moments in any::<u64>(),
        ) -> (u32, StreamRecord) {
            let kind = if is_live { StreamKind::Live } else { StreamKind::File };
            (number, StreamRecord { epoch, kind, identity, last, ended, moments })
        }
    }

    proptest! {
        #[test]
        fn a_row_comes_back_as_it_was(
            stream in any::<u32>(), at in stream_time(), until in stream_time(), wall in wall_time(),
            captioner in any::<u32>(), embedder in any::<u32>(), timing in proptest::option::of(timing()),
            caption in ".{0,200}",
        ) {
            let row = Row { stream, at, until, wall, captioner, embedder, timing, caption: &caption };
            let bytes = encode_row(&row);
            prop_assert_eq!(decode_row(&bytes), Ok(row));
        }

        #[test]
        fn a_record_comes_back_as_it_was((number, record) in record()) {
            prop_assert_eq!(decode_record(&encode_record(number, &record)), Ok((number, record)));
        }

        #[test]
        fn a_stretch_without_sight_comes_back_as_it_was(why in 0usize..3, until in stream_time(), wall in wall_time()) {
            let blind = (Blindness::ALL[why], until, wall);
            let bytes = encode_blind(blind);
            prop_assert_eq!(decode_blind(&bytes), Ok(blind));
            prop_assert_eq!(decode_blind(&bytes[..17]), Err(CodecError::Short));
            prop_assert_eq!(decode_blind(&[&bytes[..], &[0]].concat()), Err(CodecError::Long(1)));
        }

        #[test]
        fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..120), layout in 0u8..4) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() && layout > 0 {
                *first = layout;
            }
            let _ = decode_row(&bytes);
            let _ = decode_record(&bytes);
            let _ = decode_blind(&bytes);
        }

        #[test]
        fn a_row_cut_short_is_an_error(cut in 0usize..46, is_timed in any::<bool>()) {
            let (at, wall) = (StreamTime::from_nanos(5), WallTime::from_nanos(7).expect("a time"));
            let timing = is_timed.then_some(Timing { clock: Clock::Arrival, precision: Duration::from_millis(20) });
            let row = Row { stream: 1, at, until: at, wall, captioner: 2, embedder: 3, timing, caption: "Caf\u{e9}" };
            let bytes = encode_row(&row);
            if is_timed || cut < 37 {
                prop_assert_eq!(decode_row(&bytes[..cut]), Err(CodecError::Short));
            }
            prop_assert_eq!(decode_row(&bytes[..bytes.len() - 1]), Err(CodecError::Text));
        }
    }

    #[test]
    fn a_row_of_the_first_layout_is_read_and_kept() {
        let mut old = vec![1, 9, 0, 0, 0];
        old.extend([5u64, 6, 7].iter().flat_map(|n| n.to_le_bytes()));
        old.extend([2, 0, 0, 0, 3, 0, 0, 0]);
        old.extend(b"A car.");
        let row = decode_row(&old).expect("is read");
        assert_eq!((row.stream, row.until.nanos(), row.timing, row.caption), (9, 6, None, "A car."));
        assert_eq!(encode_row(&row), old);
        let unknown =
            encode_row(&Row { timing: Some(Timing { clock: Clock::Media, precision: Duration::ZERO }), ..row });
        let mut unknown = unknown;
        unknown[37] = 3;
        assert_eq!(decode_row(&unknown), Err(CodecError::Clock(3)));
    }
}

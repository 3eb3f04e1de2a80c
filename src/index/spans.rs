//! Spans: moments that last longer, and stretches in which nothing was seen.
//!
//! Both grow at the end of what is stored of a stream and nowhere else, so that spans never overlap: an extension or a
//! stretch that is not later than everything stored is refused.

use redb::ReadableTable;

use super::codec::{self, Row};
use super::schema::Tables;
use super::writer::{check_later, known, update};
use super::{IndexError, StreamRecord};
use crate::domain::{BlindSpan, Caption, Fingerprint, Moment, MomentId, StreamId, StreamTime, Window};

/// Makes the last moment of a stream last until `until`; `None` if it is another one.
pub(super) fn extend(
    tables: &mut Tables<'_>,
    stream: &StreamId,
    moment: MomentId,
    until: StreamTime,
) -> Result<Option<Moment>, IndexError> {
    let (number, mut record) = known(tables, stream)?;
    check_later(stream, &record, until)?;
    check_time(stream, until)?;
    let Some(bytes) = last_row(tables, number)?.filter(|(id, _)| *id == moment.0).map(|(_, bytes)| bytes) else {
        return Ok(None);
    };
    let row = codec::decode_row(&bytes)?;
    if record.last != Some(row.until) {
        // A stretch in which nothing was seen came after it.
        return Ok(None);
    }
    let row = Row { until, ..row };
    tables.moments.insert(moment.0, codec::encode_row(&row).as_slice())?;
    record.last = Some(until);
    update(tables, stream, number, &record)?;
    Ok(Some(Moment {
        id: moment,
        stream: stream.clone(),
        at: row.at,
        until,
        wall: row.wall,
        timing: row.timing,
        caption: Caption::new(row.caption),
        captioner: fingerprint(tables, row.captioner)?,
        embedder: fingerprint(tables, row.embedder)?,
    }))
}

/// Begins a stretch in which nothing is seen, or makes the one that begins there longer.
pub(super) fn blind(tables: &mut Tables<'_>, span: &BlindSpan) -> Result<(), IndexError> {
    let (number, mut record) = known(tables, &span.stream)?;
    check_later(&span.stream, &record, span.until)?;
    check_time(&span.stream, span.until)?;
    check_begin(tables, number, &record, span)?;
    cut_moment(tables, number, span.from)?;
    let row = codec::encode_blind((span.why, span.until, span.wall));
    tables.blind.insert((number, span.from.nanos()), row.as_slice())?;
    record.last = Some(span.until);
    update(tables, &span.stream, number, &record)
}

/// The stretches of a stream that touch the window.
pub(super) fn unobservable(
    blind: &impl ReadableTable<(u32, u64), &'static [u8]>,
    number: u32,
    stream: &StreamId,
    window: Window,
) -> Result<Vec<BlindSpan>, IndexError> {
    let (from, to) = (window.from().nanos(), window.to().nanos());
    // The one before may reach into the window.
    let before = blind.range((number, 0)..(number, from))?.next_back().into_iter();
    let mut found = Vec::new();
    for row in before.chain(blind.range((number, from)..=(number, to))?) {
        let (key, bytes) = row?;
        let (why, until, wall) = codec::decode_blind(bytes.value())?;
        if until >= window.from() {
            let from = StreamTime::from_nanos(key.value().1);
            found.push(BlindSpan { stream: stream.clone(), from, until, wall, why });
        }
    }
    Ok(found)
}

/// The stretch of a stream that began last at a time or before it.
pub(super) fn last(
    blind: &impl ReadableTable<(u32, u64), &'static [u8]>,
    number: u32,
    stream: &StreamId,
    at: StreamTime,
) -> Result<Option<BlindSpan>, IndexError> {
    let Some(row) = blind.range((number, 0)..=(number, at.nanos()))?.next_back() else { return Ok(None) };
    let (key, bytes) = row?;
    let (why, until, wall) = codec::decode_blind(bytes.value())?;
    let from = StreamTime::from_nanos(key.value().1);
    Ok(Some(BlindSpan { stream: stream.clone(), from, until, wall, why }))
}

/// A stretch may begin before the last picture dealt with: that a camera is frozen shows only after a while. It may not
/// begin inside another stretch, nor change why one that began at the same time is one.
fn check_begin(tables: &Tables<'_>, number: u32, record: &StreamRecord, span: &BlindSpan) -> Result<(), IndexError> {
    let last = tables.blind.range((number, 0)..=(number, u64::MAX))?.next_back().transpose()?;
    let last = last.map(|(key, bytes)| codec::decode_blind(bytes.value()).map(|row| (key.value().1, row)));
    let is_right = match last.transpose()? {
        Some((from, (why, _, _))) if from == span.from.nanos() => why == span.why,
        Some((_, (_, until, _))) => span.from > until,
        None => true,
    };
    if is_right && span.from <= span.until {
        return Ok(());
    }
    let last = record.last.unwrap_or_default();
    Err(IndexError::NotLater { stream: span.stream.clone(), at: span.from, last })
}

/// Cuts the last moment off before `from`, where nothing was seen any more.
fn cut_moment(tables: &mut Tables<'_>, number: u32, from: StreamTime) -> Result<(), IndexError> {
    let Some((id, bytes)) = last_row(tables, number)? else { return Ok(()) };
    let row = codec::decode_row(&bytes)?;
    if row.until >= from && row.at < from {
        let until = StreamTime::from_nanos(from.nanos() - 1);
        tables.moments.insert(id, codec::encode_row(&Row { until, ..row }).as_slice())?;
    }
    Ok(())
}

/// Number and row of the last moment of a stream.
fn last_row(tables: &Tables<'_>, number: u32) -> Result<Option<(u64, Vec<u8>)>, IndexError> {
    let last = tables.by_time.range((number, 0)..=(number, u64::MAX))?.next_back().transpose()?;
    let Some(id) = last.map(|(_, id)| id.value()) else { return Ok(None) };
    let bytes = tables.moments.get(id)?.map(|bytes| bytes.value().to_vec());
    bytes
        .map(|bytes| Some((id, bytes)))
        .ok_or_else(|| IndexError::corrupt(format!("moment {id} is listed and missing")))
}

fn check_time(stream: &StreamId, at: StreamTime) -> Result<(), IndexError> {
    if at <= StreamTime::MAX {
        return Ok(());
    }
    let reason = format!("the time {at} is later than {}", StreamTime::MAX);
    Err(IndexError::TooLarge { stream: stream.clone(), reason })
}

fn fingerprint(tables: &Tables<'_>, number: u32) -> Result<Fingerprint, IndexError> {
    let text = tables.fingerprints.get(number)?.map(|text| Fingerprint::new(text.value()));
    text.ok_or_else(|| IndexError::corrupt(format!("a moment names the unknown model {number}")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{metrics, moment, seconds, stream};
    use super::super::{Config, Index, Neighbours, Scope};
    use super::*;
    use crate::domain::{Blindness, StreamKind, WallTime};

    async fn memory() -> Index {
        let index = Index::in_memory(&Config::default(), metrics()).expect("opens");
        for name in ["a", "b"] {
            index.register(&stream(name), StreamKind::Live, None).await.expect("registers");
        }
        index
    }

    fn window(from: f64, to: f64) -> Window {
        Window::new(seconds(from), seconds(to)).expect("ordered")
    }

    fn scope(from: f64, to: f64) -> Scope {
        Scope { streams: vec![stream("a"), stream("b")], window: window(from, to) }
    }

    fn dark(from: f64, until: f64, why: Blindness) -> BlindSpan {
        let wall = WallTime::from_nanos(1_790_000_000_000_000_000).expect("a time of day");
        BlindSpan { stream: stream("a"), from: seconds(from), until: seconds(until), wall, why }
    }

    async fn last(index: &Index) -> f64 {
        index.record(&stream("a")).await.expect("reads").expect("known").last.expect("something").seconds()
    }

    #[tokio::test]
    async fn a_moment_lasts_longer_and_stays_one() {
        let index = memory().await;
        let stored = index.append(moment("a", 10.0, 0.2)).await.expect("appends");
        for until in [15.0, 20.0] {
            let longer = index.extend(&stream("a"), stored.id, seconds(until)).await.expect("extends");
            assert_eq!(longer, Some(Moment { until: seconds(until), ..stored.clone() }));
            assert_eq!(last(&index).await, until, "a restart goes on behind it");
        }
        let all = index.moments(scope(0.0, 100.0), 9, false).await.expect("reads");
        assert_eq!(all, [Moment { until: seconds(20.0), ..stored.clone() }]);
        for at in [9.0, 20.0] {
            let refused = IndexError::NotLater { stream: stream("a"), at: seconds(at), last: seconds(20.0) };
            assert_eq!(index.extend(&stream("a"), stored.id, seconds(at)).await, Err(refused.clone()));
            assert_eq!(index.append(moment("a", at, 0.0)).await, Err(refused));
        }
        let unknown = index.extend(&stream("x"), stored.id, seconds(30.0)).await;
        assert_eq!(unknown, Err(IndexError::UnknownStream { stream: stream("x") }));
        assert!(matches!(
            index.extend(&stream("a"), stored.id, StreamTime::from_nanos(u64::MAX)).await,
            Err(IndexError::TooLarge { .. })
        ));
    }

    #[tokio::test]
    async fn only_the_last_moment_lasts_longer() {
        let index = memory().await;
        let first = index.append(moment("a", 1.0, 0.0)).await.expect("appends");
        let other = index.append(moment("b", 1.0, 0.0)).await.expect("appends");
        index.append(moment("a", 2.0, 0.0)).await.expect("appends");
        for id in [first.id, other.id, MomentId(99)] {
            assert_eq!(index.extend(&stream("a"), id, seconds(3.0)).await, Ok(None), "{id}");
        }
        let second = index.append(moment("a", 4.0, 0.0)).await.expect("appends");
        index.blind(dark(5.0, 6.0, Blindness::Black)).await.expect("notes");
        assert_eq!(index.extend(&stream("a"), second.id, seconds(7.0)).await, Ok(None), "nothing was seen meanwhile");
        assert_eq!(last(&index).await, 6.0);
    }

    #[tokio::test]
    async fn a_window_meets_the_span_that_reaches_into_it() {
        let index = memory().await;
        for (at, until) in [(0.0, 8.0), (10.0, 30.0), (40.0, 40.0)] {
            let stored = index.append(moment("a", at, 0.1)).await.expect("appends");
            if until > at {
                index.extend(&stream("a"), stored.id, seconds(until)).await.expect("extends");
            }
        }
        let table: [(f64, f64, &[f64]); 7] = [
            (0.0, 100.0, &[0.0, 10.0, 40.0]),
            (8.0, 9.0, &[0.0]),
            (8.5, 9.0, &[]),
            (20.0, 25.0, &[10.0]),
            (30.0, 50.0, &[10.0, 40.0]),
            (31.0, 39.0, &[]),
            (10.0, 10.0, &[10.0]),
        ];
        for (from, to, due) in table {
            let moments = index.moments(scope(from, to), 9, false).await.expect("reads");
            assert_eq!(moments.iter().map(|m| m.at.seconds()).collect::<Vec<_>>(), due, "by time in {from}..{to}");
            let newest = index.moments(scope(from, to), 1, true).await.expect("reads");
            assert_eq!(newest.first().map(|m| m.at.seconds()), due.last().copied(), "the newest in {from}..{to}");
            let hits = index.search(moment("a", 0.0, 0.1).embedding, scope(from, to), 9).await.expect("searches");
            assert_eq!(
                hits.iter().map(|hit| hit.moment.at.seconds()).collect::<Vec<_>>(),
                due,
                "found in {from}..{to}"
            );
        }
        let around = async |at| index.neighbours(&stream("a"), seconds(at)).await.expect("reads");
        let times = |before: Option<f64>, at: Option<f64>, until: Option<f64>, after: Option<f64>| Neighbours {
            before: before.map(seconds),
            at: at.map(seconds),
            until: until.map(seconds),
            after: after.map(seconds),
        };
        assert_eq!(around(10.0).await, times(Some(8.0), Some(10.0), Some(30.0), Some(40.0)));
        assert_eq!(around(20.0).await, times(None, None, Some(30.0), Some(40.0)));
        assert_eq!(around(35.0).await, times(Some(30.0), None, None, Some(40.0)));
        assert_eq!(around(40.0).await, times(Some(30.0), Some(40.0), Some(40.0), None));
    }

    #[tokio::test]
    async fn a_dark_stretch_is_made_longer_not_told_twice() {
        let index = memory().await;
        index.append(moment("a", 0.0, 0.0)).await.expect("appends");
        for until in [5.0, 10.0, 15.0] {
            index.blind(dark(5.0, until, Blindness::Black)).await.expect("notes");
        }
        index.blind(dark(20.0, 20.0, Blindness::Covered)).await.expect("notes");
        index.append(moment("a", 25.0, 0.0)).await.expect("appends");
        index.blind(dark(30.0, 35.0, Blindness::Black)).await.expect("notes");
        let found = async |from, to| {
            let spans = index.unobservable(&stream("a"), window(from, to)).await.expect("reads");
            spans.iter().map(|span| (span.from.seconds(), span.until.seconds(), span.why)).collect::<Vec<_>>()
        };
        let all = [(5.0, 15.0, Blindness::Black), (20.0, 20.0, Blindness::Covered), (30.0, 35.0, Blindness::Black)];
        assert_eq!(found(0.0, 100.0).await, all);
        assert_eq!(found(10.0, 12.0).await, all[..1]);
        assert_eq!(found(15.0, 20.0).await, all[..2]);
        assert_eq!(found(16.0, 19.0).await, []);
        assert_eq!(index.unobservable(&stream("b"), Window::ALL).await, Ok(vec![]));
        assert_eq!(index.unobservable(&stream("nobody"), Window::ALL).await, Ok(vec![]));
        assert_eq!(last(&index).await, 35.0);
    }

    #[tokio::test]
    async fn what_came_after_the_dark_is_known() {
        let index = memory().await;
        index.append(moment("a", 0.0, 0.0)).await.expect("appends");
        index.blind(dark(5.0, 15.0, Blindness::Frozen)).await.expect("notes");
        let found = async |at: f64| {
            let found = index.darkness(&stream("a"), seconds(at)).await.expect("reads");
            found.map(|it| (it.span.from.seconds(), it.seen.map(StreamTime::seconds), it.last.seconds()))
        };
        assert_eq!((found(4.9).await, found(5.0).await), (None, Some((5.0, None, 15.0))));
        assert_eq!(found(99.0).await, Some((5.0, None, 15.0)), "it is the last thing known");
        index.blind(dark(20.0, 25.0, Blindness::Black)).await.expect("notes");
        assert_eq!(found(18.0).await, Some((5.0, None, 25.0)), "nothing was seen between the two");
        index.append(moment("a", 30.0, 0.0)).await.expect("appends");
        assert_eq!(found(18.0).await, Some((5.0, Some(30.0), 30.0)));
        assert_eq!(found(40.0).await, Some((20.0, Some(30.0), 30.0)));
        for nobody in ["b", "x"] {
            assert_eq!(index.darkness(&stream(nobody), seconds(9.0)).await, Ok(None));
        }
    }

    #[tokio::test]
    async fn what_does_not_follow_is_refused() {
        let index = memory().await;
        index.blind(dark(5.0, 15.0, Blindness::Black)).await.expect("notes");
        for wrong in [
            dark(5.0, 15.0, Blindness::Black),
            dark(5.0, 10.0, Blindness::Black),
            dark(5.0, 20.0, Blindness::Frozen),
            dark(10.0, 20.0, Blindness::Black),
            dark(30.0, 20.0, Blindness::Black),
        ] {
            let refused = index.blind(wrong.clone()).await;
            assert!(matches!(refused, Err(IndexError::NotLater { .. })), "{wrong:?}: {refused:?}");
        }
        let other = BlindSpan { stream: stream("x"), ..dark(5.0, 15.0, Blindness::Black) };
        assert_eq!(index.blind(other).await, Err(IndexError::UnknownStream { stream: stream("x") }));
        assert_eq!(index.unobservable(&stream("a"), Window::ALL).await.expect("reads").len(), 1);
    }

    #[tokio::test]
    async fn a_frozen_stretch_that_is_found_out_late_cuts_the_moment_before_it() {
        let index = memory().await;
        let stored = index.append(moment("a", 0.0, 0.0)).await.expect("appends");
        index.extend(&stream("a"), stored.id, seconds(20.0)).await.expect("extends");
        index.blind(dark(5.0, 25.0, Blindness::Frozen)).await.expect("notes");
        let moments = index.moments(scope(0.0, 100.0), 9, false).await.expect("reads");
        assert_eq!(moments[0].until, StreamTime::from_nanos(4_999_999_999));
        assert_eq!(index.moments(scope(6.0, 100.0), 9, false).await, Ok(vec![]));
        // One that began inside is left as it is: the stretch says what it is worth.
        let stored = index.append(moment("a", 30.0, 0.0)).await.expect("appends");
        index.blind(dark(30.0, 40.0, Blindness::Frozen)).await.expect("notes");
        assert_eq!(index.moments(scope(30.0, 30.0), 9, false).await, Ok(vec![stored]));
    }
}

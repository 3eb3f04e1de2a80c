//! Whether anything could be seen at a place: by the picture itself, or by what the memory noted while watching.
//!
//! A black or covered picture is recognised by looking at it (`sight`), a frozen one only by those around it, and where
//! there is no recording the note is all there is. So the note decides for a time inside it, whatever the frame shows.
//!
//! # Decisions
//! - 2026-11-30: a stretch counts beyond its last sample, up to the next one that showed something: nobody looked in
//!   between, and a frozen camera's frames there are as false as the samples. While the stream still shows nothing that
//!   means up to now; else as far as the next sample may be away. Where no frame comes out there, nothing was recorded,
//!   and that is told instead.

use std::time::Duration;

use super::error::AnswerError;
use super::flow::Parts;
use crate::domain::{BlindSpan, Citation, Picture, StreamTime};
use crate::index::Darkness;
use crate::sight;

/// A stretch that ends the memory reaches so many sampling intervals further: samples lie on key frames and may come
/// late.
const REACH: u32 = 2;
/// Times are told to the millisecond: one that is told of the first sample may lie before it.
const TOLD_TO: Duration = Duration::from_millis(1);
/// As exact as a stream time survives being written as a number of seconds.
const EXACT_TO: Duration = Duration::from_micros(1);

/// Why `picture` shows nothing; `None` if there is something to see.
pub(super) fn unobservable(picture: &Picture) -> Option<String> {
    sight::blind(picture).map(|why| why.sentence().to_owned())
}

/// What the memory noted of a place where nothing could be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noted {
    /// Why nothing could be seen, and from when to when.
    pub(super) sentence: String,
    /// Whether the place lies between two samples that showed nothing, or on one of them.
    pub(super) is_inside: bool,
}

impl Parts {
    /// Why nothing could be seen at a place when it was watched; `None` if something could, or nobody watched.
    pub(super) async fn noted_blind(&self, place: &Citation) -> Result<Option<Noted>, AnswerError> {
        let Some(darkness) = self.index.darkness(&place.stream, place.at + TOLD_TO).await? else { return Ok(None) };
        let every = self.streams.find(&place.stream)?.sample_every;
        Ok(noted(&darkness, place.at, every, self.streams.is_blind_now(&place.stream)))
    }
}

/// Pure: what `darkness`, the last stretch that began before `at`, means for that time.
fn noted(darkness: &Darkness, at: StreamTime, sample_every: Duration, is_blind_now: bool) -> Option<Noted> {
    let Darkness { span, seen, last } = darkness;
    let is_inside = at <= span.until + EXACT_TO;
    let goes_on = match seen {
        Some(seen) => at + EXACT_TO < *seen,
        None => is_blind_now || at < *last + sample_every * REACH,
    };
    (is_inside || goes_on).then(|| Noted { sentence: sentence(span), is_inside })
}

fn sentence(span: &BlindSpan) -> String {
    format!("{}, from {} to {}", span.why.sentence(), span.from, span.until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Blindness, StreamId, WallTime};

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    #[test]
    fn a_stretch_reaches_to_the_next_sample_that_shows_something() {
        let span = BlindSpan {
            stream: StreamId::new("cam").expect("valid"),
            from: t(4.414),
            until: t(188.399),
            wall: WallTime::from_nanos(0).expect("a time"),
            why: Blindness::Frozen,
        };
        let at = |at: f64, seen: Option<f64>, last: f64, is_blind_now: bool| {
            let darkness = Darkness { span: span.clone(), seen: seen.map(t), last: t(last) };
            noted(&darkness, t(at), Duration::from_secs(2), is_blind_now).map(|noted| noted.is_inside)
        };
        let table = [
            ("inside", 100.0, None, 188.399, true, Some(true)),
            ("the last sample", 188.399, Some(190.4), 190.4, false, Some(true)),
            ("before something was seen", 190.3, Some(190.4), 190.4, false, Some(false)),
            ("where something was seen", 190.4, Some(190.4), 190.4, false, None),
            ("later", 200.0, Some(190.4), 190.4, false, None),
            ("after the last sample, still frozen", 188.799, None, 188.399, true, Some(false)),
            ("long after it, still frozen", 199.0, None, 188.399, true, Some(false)),
            ("after the last sample of all", 192.3, None, 188.399, false, Some(false)),
            ("long after it, not watched", 192.5, None, 188.399, false, None),
            ("before another stretch", 240.0, None, 300.0, false, Some(false)),
        ];
        for (name, time, seen, last, is_blind_now, due) in table {
            assert_eq!(at(time, seen, last, is_blind_now), due, "{name}");
        }
    }
}

//! Whether a call that failed is tried again, and after which pause. Pure.

use std::time::Duration;

use jiff::Timestamp;

use super::trouble::Trouble;

/// The first pause; each following one is twice as long.
const SHORTEST: Duration = Duration::from_millis(250);
/// No pause is longer, unless the endpoint asks for it.
const LONGEST: Duration = Duration::from_secs(8);

/// The pause before the next try, or `None` if the call has failed. `tried` counts the tries made, `left` is what is
/// left of the deadline, `jitter` lies in 0..1 and shortens the pause by up to a half, so that clients that failed
/// together do not come back together.
pub(super) fn pause(trouble: &Trouble, tried: u32, retries: u32, left: Duration, jitter: f64) -> Option<Duration> {
    if !trouble.is_transient() || tried > retries {
        return None;
    }
    let doubled = SHORTEST.saturating_mul(1 << tried.saturating_sub(1).min(16)).min(LONGEST);
    let jittered = doubled.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0);
    // Never sooner than the endpoint asks for, and not all at that moment either.
    let asked = trouble.retry_after().map(|asked| asked.saturating_add(jittered / 4));
    let pause = asked.map_or(jittered, |asked| asked.max(jittered));
    (pause < left).then_some(pause)
}

/// Reads `Retry-After`: seconds, or a date as mail writes it. What cannot be read is not there.
pub(super) fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    Duration::try_from(at.duration_since(now)).ok().or(Some(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(retry_after: Option<u64>) -> Trouble {
        Trouble::Status { code: 429, retry_after: retry_after.map(Duration::from_secs), said: String::new() }
    }

    #[test]
    fn pauses_grow_and_end_with_tries_and_deadline() {
        let ms = Duration::from_millis;
        let lost = || Trouble::Unreachable("refused".into());
        let table = [
            ("the first", lost(), 1, ms(60_000), 0.0, Some(ms(250))),
            ("jittered", lost(), 1, ms(60_000), 1.0, Some(ms(125))),
            ("the second", lost(), 2, ms(60_000), 0.0, Some(ms(500))),
            ("no tries left", lost(), 3, ms(60_000), 0.0, None),
            ("no time left", lost(), 1, ms(250), 0.0, None),
            (
                "a refusal",
                Trouble::Status { code: 400, retry_after: None, said: String::new() },
                1,
                ms(60_000),
                0.0,
                None,
            ),
            ("whole and wrong", Trouble::unusable("x"), 1, ms(60_000), 0.0, None),
            ("asked to wait", busy(Some(3)), 1, ms(60_000), 0.0, Some(ms(3062) + Duration::from_micros(500))),
            ("asked for too much", busy(Some(60)), 1, ms(60_000), 0.0, None),
            ("asked for ever", busy(Some(u64::MAX)), 1, ms(60_000), 1.0, None),
            ("busy without a word", busy(None), 1, ms(60_000), 0.0, Some(ms(250))),
        ];
        for (name, trouble, tried, left, jitter, due) in table {
            assert_eq!(pause(&trouble, tried, 2, left, jitter), due, "{name}");
        }
        let far = pause(&lost(), 40, 100, Duration::from_hours(1), 0.0);
        assert_eq!(far, Some(LONGEST), "no pause is longer");
    }

    #[test]
    fn waits_are_read_in_both_forms() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().expect("a time");
        let table = [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Mon, 30 Nov 2026 12:00:30 GMT", Some(30)),
            ("Mon, 30 Nov 2026 11:00:00 GMT", Some(0)),
            ("-5", None),
            ("soon", None),
            ("", None),
            ("99999999999999999999999", None),
        ];
        for (header, due) in table {
            assert_eq!(retry_after(header, now), due.map(Duration::from_secs), "{header:?}");
        }
    }
}

//! The times of live pictures. Pure; fed with the media time of each picture and both clocks of the machine.
//!
//! # Decisions
//! - 2026-11: stream time follows the media time, which tells the order and the distances of pictures, and is led slowly
//!   towards their arrival, so that it stays true over days. Media time alone drifts by seconds a minute with some
//!   cameras; arrival alone mixes up pictures that are sent in another order than they are shown in.

use std::time::Duration;

use crate::domain::{Clock, StreamTime, WallTime};

/// How far the time of day may run ahead of the ticks before it counts as having been set.
const SET_AHEAD: Duration = Duration::from_secs(1);
/// Media time that is further than this from the arrival has jumped, wrapped or run backwards.
const JUMP_NS: i64 = 3_000_000_000;
/// Share of the elapsed time by which media time is always led towards arrival.
const STEER: f64 = 500e-6;
/// The same at the distance of a jump; in between it grows with the square.
const STEER_HARD: f64 = 0.5;
/// A camera's clock that is further than this from ours is not set.
const PLAUSIBLE_NS: i64 = 30_000_000_000;
/// What a picture may have spent between the camera's sensor and us: encoding, network, re-ordering.
const ON_THE_WAY: Duration = Duration::from_millis(250);
/// What a sender report may be off from the picture it belongs to.
const REPORTED: Duration = Duration::from_millis(50);
/// The distance of pictures until two have been seen, and the longest that is believed.
const INTERVAL: Duration = Duration::from_millis(40);
const LONGEST: Duration = Duration::from_mins(10);

/// What is known of a picture when it passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passing {
    /// Its media time, if it carries one.
    pub(super) media: Option<Duration>,
    /// When it was taken, as the camera's sender reports tell.
    pub(super) reported: Option<WallTime>,
    /// Time of day.
    pub(super) now: WallTime,
    /// Since the clock was made.
    pub(super) ticks: Duration,
}

/// The times of one picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Stream time.
    pub(super) at: StreamTime,
    /// Time of day.
    pub(super) wall: WallTime,
    /// Whose time of day.
    pub(super) clock: Clock,
    /// How far off both may be.
    pub(super) precision: Duration,
}

/// How the clocks of a stream agree.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Agreement {
    /// How far the camera's clock, or without one the media time, is ahead of arrival; in nanoseconds.
    pub(super) ahead_ns: i64,
    /// How often media time jumped.
    pub(super) jumps: u64,
}

/// Stream time = time of day minus the stream's epoch, never running backwards.
///
/// Within one life of a stream the ticks of the monotonic clock are counted on from the time of day at its beginning.
/// A time of day that is set forward is followed (the stream has a gap, as it would after a reconnect); one that is set
/// back is not, until the stream time is reached again.
#[derive(Debug, Clone)]
pub(super) struct LiveClock {
    epoch: WallTime,
    /// Stream time at tick zero.
    start: StreamTime,
    media: Option<Media>,
    /// The latest stream time given.
    latest: StreamTime,
    agreement: Agreement,
}

/// The line from media time to stream time.
#[derive(Debug, Clone, Copy)]
struct Media {
    /// Stream time minus media time.
    offset_ns: i128,
    /// Media time of the picture before.
    last: Duration,
    /// Ticks at the picture before.
    ticks: Duration,
    /// Distance of the last two pictures in the order in which they are shown.
    interval: Duration,
}

impl LiveClock {
    /// Tick zero is now, and never at or before `after`, the last frame that was taken in an earlier life. A stream whose
    /// epoch lies in the future stands at zero until it is reached.
    pub(super) fn new(epoch: WallTime, now: WallTime, after: Option<StreamTime>) -> Self {
        let least = after.map_or(StreamTime::ZERO, |after| after + Duration::from_nanos(1));
        let start = since(epoch, now).max(least);
        Self { epoch, start, media: None, latest: start, agreement: Agreement::default() }
    }

    /// How well the clocks agree.
    pub(super) fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// The times of the picture that passes.
    pub(super) fn stamp(&mut self, passing: &Passing) -> Stamp {
        let arrived = self.arrival(passing.now, passing.ticks);
        let at = match passing.media {
            Some(media) => self.follow(media, arrived, passing.ticks),
            None => arrived,
        };
        self.latest = self.latest.max(at);
        let interval = self.media.map_or(INTERVAL, |media| media.interval);
        let ours = self.wall(at, arrived, passing.now);
        let plausible = passing.reported.filter(|reported| apart(*reported, ours).abs() <= PLAUSIBLE_NS);
        if let Some(reported) = passing.reported {
            self.agreement.ahead_ns = apart(reported, ours);
        }
        let (wall, clock, slack) = match plausible {
            Some(reported) => (reported, Clock::SenderReport, REPORTED),
            None => (ours, Clock::Arrival, ON_THE_WAY + at.distance(arrived)),
        };
        Stamp { at, wall, clock, precision: interval / 2 + slack }
    }

    fn arrival(&mut self, now: WallTime, ticks: Duration) -> StreamTime {
        let counted = self.start + ticks;
        let told = since(self.epoch, now);
        if told > counted + SET_AHEAD {
            self.start = told - ticks;
            return told;
        }
        counted
    }

    fn follow(&mut self, media: Duration, arrived: StreamTime, ticks: Duration) -> StreamTime {
        let Some(line) = &mut self.media else {
            self.media = Some(Media { offset_ns: offset(arrived, media), last: media, ticks, interval: INTERVAL });
            return arrived;
        };
        let told = media.as_nanos() as i128 + line.offset_ns;
        let ahead = i64::try_from(told - i128::from(arrived.nanos())).unwrap_or(i64::MAX);
        self.agreement.ahead_ns = ahead;
        let step = media.abs_diff(line.last);
        if !step.is_zero() && step < LONGEST {
            line.interval = step;
        }
        let elapsed = ticks.saturating_sub(line.ticks);
        (line.last, line.ticks) = (media, ticks);
        if ahead.abs() > JUMP_NS {
            let at = arrived.max(self.latest + Duration::from_nanos(1));
            line.offset_ns = offset(at, media);
            line.interval = INTERVAL;
            self.agreement.jumps += 1;
            return at;
        }
        line.offset_ns -= i128::from(lead(ahead, elapsed));
        StreamTime::from_nanos(u64::try_from(told).unwrap_or(0))
    }

    /// The epoch and the stream time tell the time of day, unless it was set meanwhile.
    fn wall(&self, at: StreamTime, arrived: StreamTime, now: WallTime) -> WallTime {
        let told = self.epoch.plus(at.saturating_since(StreamTime::ZERO));
        let expected = self.epoch.plus(arrived.saturating_since(StreamTime::ZERO));
        let off = apart(now, expected);
        if off.unsigned_abs() <= SET_AHEAD.as_nanos() as u64 {
            return told;
        }
        WallTime::from_nanos(told.nanos().saturating_add(off)).unwrap_or(told)
    }
}

/// How much of `ahead` nanoseconds to take back within `elapsed`.
fn lead(ahead: i64, elapsed: Duration) -> i64 {
    let share = ahead as f64 / JUMP_NS as f64;
    let most = elapsed.as_nanos() as f64 * (STEER + STEER_HARD * share * share);
    (ahead as f64).clamp(-most, most) as i64
}

fn offset(at: StreamTime, media: Duration) -> i128 {
    i128::from(at.nanos()) - media.as_nanos() as i128
}

/// Nanoseconds by which `a` is later than `b`.
fn apart(a: WallTime, b: WallTime) -> i64 {
    a.nanos().saturating_sub(b.nanos())
}

fn since(epoch: WallTime, now: WallTime) -> StreamTime {
    StreamTime::ZERO + now.saturating_since(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH_S: u64 = 1_790_000_000;

    fn wall_ms(ms: i64) -> WallTime {
        WallTime::from_nanos((EPOCH_S as i64 * 1000 + ms) * 1_000_000).expect("in range")
    }

    fn at(ms: u64) -> StreamTime {
        StreamTime::from_nanos(ms * 1_000_000)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn raw(now: i64, ticks: u64) -> Passing {
        Passing { media: None, reported: None, now: wall_ms(now), ticks: ms(ticks) }
    }

    /// A picture of media time `media` that arrives `ticks` after the start, the time of day agreeing.
    fn timed(media: u64, ticks: u64) -> Passing {
        Passing { media: Some(ms(media)), reported: None, now: wall_ms(ticks as i64), ticks: ms(ticks) }
    }

    /// Stream times in milliseconds.
    fn times(passings: impl IntoIterator<Item = Passing>) -> (Vec<u64>, u64) {
        let mut clock = LiveClock::new(wall_ms(0), wall_ms(0), None);
        let times = passings.into_iter().map(|passing| clock.stamp(&passing).at.nanos() / 1_000_000).collect();
        (times, clock.agreement().jumps)
    }

    #[test]
    fn both_clocks_agree_in_peace() {
        let mut clock = LiveClock::new(wall_ms(0), wall_ms(100_000), None);
        assert_eq!(clock.stamp(&raw(100_000, 0)).at, at(100_000));
        let stamp = clock.stamp(&raw(105_000, 5000));
        assert_eq!((stamp.at, stamp.wall, stamp.clock), (at(105_000), wall_ms(105_000), Clock::Arrival));
    }

    #[test]
    fn a_clock_set_forward_is_followed_and_one_set_back_is_not() {
        let mut clock = LiveClock::new(wall_ms(0), wall_ms(10_000), None);
        assert_eq!(clock.stamp(&raw(3_611_000, 1000)).at, at(3_611_000));
        assert_eq!(clock.stamp(&raw(3_612_000, 2000)).at, at(3_612_000));
        let back = clock.stamp(&raw(13_000, 3000));
        assert_eq!((back.at, back.wall), (at(3_613_000), wall_ms(13_000)), "the time of day is told as it is");
    }

    #[test]
    fn an_epoch_in_the_future_does_not_go_negative() {
        let mut clock = LiveClock::new(wall_ms(50_000), wall_ms(0), None);
        assert_eq!(clock.stamp(&raw(1000, 1000)).at, at(1000));
    }

    #[test]
    fn a_new_life_does_not_begin_before_the_end_of_the_last() {
        let mut clock = LiveClock::new(wall_ms(0), wall_ms(5000), Some(at(9000)));
        assert!(clock.stamp(&raw(5000, 0)).at > at(9000));
    }

    #[test]
    fn media_time_tells_order_and_distances() {
        type Row = (&'static str, &'static [(u64, u64)], &'static [u64], u64);
        let table: &[Row] = &[
            ("even pictures that arrive unevenly", &[(0, 0), (40, 70), (80, 81), (120, 190)], &[0, 40, 80, 120], 0),
            ("pictures sent in another order", &[(0, 0), (120, 40), (40, 80), (80, 120)], &[0, 120, 40, 80], 0),
            ("media time that starts anywhere", &[(90_000, 0), (90_040, 40)], &[0, 40], 0),
            ("a jump forward", &[(0, 0), (40, 40), (100_000, 80), (100_040, 120)], &[0, 40, 80, 120], 1),
            ("a jump back", &[(95_443_000, 0), (95_443_040, 40), (0, 80), (40, 120)], &[0, 40, 80, 120], 1),
            ("a pause of both", &[(0, 0), (40, 40), (60_000, 60_000)], &[0, 40, 60_000], 0),
            ("a short step back", &[(1000, 0), (1040, 40), (900, 80), (1080, 120)], &[0, 40, 0, 80], 0),
        ];
        for (name, pictures, expected, jumps) in table {
            let (found, jumped) = times(pictures.iter().map(|&(media, ticks)| timed(media, ticks)));
            let near = found.iter().zip(*expected).all(|(found, due)| found.abs_diff(*due) <= 1);
            assert!(near && jumped == *jumps, "{name}: {found:?}, {jumped} jumps");
        }
    }

    #[test]
    fn the_time_of_a_jump_is_never_one_that_was_given() {
        // Media time runs ahead of arrival by two seconds, then starts anew.
        let pictures = [(0, 0), (2000, 40), (2040, 80), (99_000, 120), (99_040, 160)];
        let (found, jumped) = times(pictures.map(|(media, ticks)| timed(media, ticks)));
        assert_eq!(jumped, 1);
        assert!(found[3] >= found[2] && found[4] > found[3], "{found:?}");
    }

    #[test]
    fn a_media_clock_of_another_speed_is_led_back_without_a_jump() {
        for percent in [84, 99, 101, 119] {
            let pictures = (0..25 * 600).map(|n| timed(n * 40 * percent / 100, n * 40));
            let (found, jumped) = times(pictures);
            assert_eq!(jumped, 0, "{percent} %");
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{percent} %: not in order");
            let off = found.last().expect("has pictures").abs_diff(25 * 600 * 40);
            assert!(off < 2000, "{percent} %: {off} ms off after ten minutes");
        }
    }

    #[test]
    fn the_cameras_clock_is_believed_if_it_can_be() {
        let told = |reported: i64| {
            let mut clock = LiveClock::new(wall_ms(0), wall_ms(0), None);
            let stamp = clock.stamp(&Passing { reported: Some(wall_ms(reported)), ..timed(0, 0) });
            (stamp.wall, stamp.clock, clock.agreement().ahead_ns / 1_000_000)
        };
        assert_eq!(told(-1500), (wall_ms(-1500), Clock::SenderReport, -1500));
        assert_eq!(told(29_000), (wall_ms(29_000), Clock::SenderReport, 29_000));
        assert_eq!(told(-1_790_000_000_000), (wall_ms(0), Clock::Arrival, -1_790_000_000_000));
    }

    #[test]
    fn precision_is_half_an_interval_and_what_the_clock_may_be_off() {
        let mut clock = LiveClock::new(wall_ms(0), wall_ms(0), None);
        clock.stamp(&timed(0, 0));
        assert_eq!(clock.stamp(&timed(500, 500)).precision, ms(500));
        let reported = Passing { reported: Some(wall_ms(900)), ..timed(1000, 1000) };
        assert_eq!(clock.stamp(&reported).precision, ms(300));
        let late = clock.stamp(&timed(1500, 2300));
        assert!(late.precision >= ms(250 + 250 + 790), "{late:?}");
    }
}

//! Which encoded pictures go to the decoder. Pure; counts what goes in and what comes out.
//!
//! Decoding key pictures alone costs a tenth, and is right only where they come as often as frames are sampled and
//! really decode by themselves: with open groups of pictures most decoders give nothing, silently.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use crate::domain::StreamTime;

/// Groups of pictures that are measured before key pictures are trusted to come often enough.
const MEASURED: u32 = 2;
/// A source that sends no key picture for so long refreshes its pictures bit by bit: it is decoded without one.
const KEYLESS: Duration = Duration::from_secs(30);
/// Until two key pictures came, the next may take so long.
const LONGEST_GROUP: Duration = Duration::from_mins(2);
/// Key pictures that may be in the decoder; more than these without a picture out, and they do not decode.
const HELD_BACK: u64 = 3;

/// Which pictures of a live stream are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decode {
    /// Key pictures where they come often enough and decode, else all.
    #[default]
    Auto,
    /// Key pictures, whatever comes of it.
    KeyFrames,
    /// All.
    All,
}

/// What is decoded at present, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Choice {
    /// All: as configured, or because the source does not tell key pictures from others.
    All,
    /// All, until key pictures were measured.
    Measuring,
    /// Key pictures, which come so often.
    Keys(Duration),
    /// All: key pictures come too seldom.
    Seldom(Duration),
    /// All: key pictures went in and too few pictures came out.
    Open { keys: u64, pictures: u64 },
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("every picture is decoded"),
            Self::Measuring => f.write_str("every picture is decoded until key pictures were measured"),
            Self::Keys(every) => write!(f, "key pictures are decoded, one every {:.1} s", every.as_secs_f32()),
            Self::Seldom(every) => {
                write!(f, "every picture is decoded: key pictures come only every {:.1} s", every.as_secs_f32())
            }
            Self::Open { keys, pictures } => {
                write!(f, "every picture is decoded: of {keys} key pictures alone {pictures} came out of the decoder")
            }
        }
    }
}

/// Decides for one life of a stream. Once it has fallen back to all pictures it stays there.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    wish: Decode,
    /// The stream's sampling interval: key pictures have to come as often.
    every: Duration,
    choice: Choice,
    /// The first picture.
    first: Option<StreamTime>,
    /// Whether the decoder has something to begin with.
    begun: bool,
    last_key: Option<StreamTime>,
    /// Groups of pictures in a row that were short enough, and the longest of them.
    short: u32,
    longest: Duration,
    /// Since key pictures alone go in.
    keys: u64,
    pictures: u64,
}

impl Gate {
    pub(super) fn new(wish: Decode, every: Duration) -> Self {
        let choice = match wish {
            Decode::Auto => Choice::Measuring,
            Decode::KeyFrames => Choice::Keys(Duration::ZERO),
            Decode::All => Choice::All,
        };
        Self {
            wish,
            every,
            choice,
            first: None,
            begun: false,
            last_key: None,
            short: 0,
            longest: Duration::ZERO,
            keys: 0,
            pictures: 0,
        }
    }

    /// What is decoded.
    pub(super) fn choice(&self) -> Choice {
        self.choice
    }

    /// Whether the picture at `at` goes to the decoder: never before the first key picture, since a decoder makes grey
    /// smears of the rest of a group. A picture may be a key picture and still lean on others, unless it is `alone`.
    pub(super) fn pass(&mut self, at: StreamTime, is_key: bool, alone: bool) -> bool {
        let first = *self.first.get_or_insert(at);
        self.begun |= is_key || at.saturating_since(first) >= KEYLESS;
        self.begun && self.chosen(at, alone)
    }

    /// How much longer than usual the next decoded picture may take to come although all is well.
    pub(super) fn slack(&self) -> Duration {
        match self.choice {
            // Before the first picture came nothing is known that would excuse its absence.
            _ if self.first.is_none() => Duration::ZERO,
            _ if !self.begun => KEYLESS,
            Choice::Keys(Duration::ZERO) => LONGEST_GROUP,
            Choice::Keys(every) => every * 2,
            _ => Duration::ZERO,
        }
    }

    fn chosen(&mut self, at: StreamTime, is_key: bool) -> bool {
        if is_key {
            let group = self.last_key.map(|last| at.saturating_since(last));
            self.last_key = Some(at);
            self.decide(group);
        }
        let keys_only = matches!(self.choice, Choice::Keys(_));
        self.keys += u64::from(keys_only && is_key);
        is_key || !keys_only
    }

    /// A picture came out of the decoder.
    pub(super) fn came_out(&mut self) {
        self.pictures += 1;
    }

    fn decide(&mut self, group: Option<Duration>) {
        let Some(group) = group else { return };
        self.choice = match self.choice {
            Choice::Keys(_) if self.wish == Decode::KeyFrames => Choice::Keys(group),
            Choice::Measuring | Choice::Keys(_) if group > self.every => Choice::Seldom(group),
            Choice::Keys(_) if self.keys > self.pictures + HELD_BACK => {
                Choice::Open { keys: self.keys, pictures: self.pictures }
            }
            Choice::Measuring => {
                (self.short, self.longest) = (self.short + 1, self.longest.max(group));
                (self.keys, self.pictures) = (0, 0);
                if self.short < MEASURED { Choice::Measuring } else { Choice::Keys(self.longest) }
            }
            settled => settled,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Feeds `seconds` of 10 pictures a second, a key picture every `group` pictures, from `from` on. `gives` says
    /// whether the decoder gives the key pictures that it gets alone. What passed, by whether it was a key picture.
    fn feed(gate: &mut Gate, from: u64, seconds: u64, group: u64, gives: bool) -> (u64, u64) {
        let (mut keys, mut others) = (0, 0);
        for n in from * 10..(from + seconds) * 10 {
            let is_key = n % group == 0;
            if gate.pass(StreamTime::from_nanos(n * 100_000_000), is_key, is_key) {
                keys += u64::from(is_key);
                others += u64::from(!is_key);
                if gives || !matches!(gate.choice(), Choice::Keys(_)) {
                    gate.came_out();
                }
            }
        }
        (keys, others)
    }

    #[test]
    fn key_pictures_are_chosen_where_they_come_often_enough() {
        let mut gate = Gate::new(Decode::Auto, 2 * SECOND);
        assert_eq!(feed(&mut gate, 0, 2, 10, true), (2, 18));
        assert_eq!(gate.choice(), Choice::Measuring);
        assert_eq!(feed(&mut gate, 2, 10, 10, true), (10, 0));
        assert_eq!(gate.choice(), Choice::Keys(SECOND));
    }

    #[test]
    fn nothing_is_decoded_before_a_key_picture() {
        for wish in [Decode::Auto, Decode::All, Decode::KeyFrames] {
            let mut gate = Gate::new(wish, 2 * SECOND);
            assert_eq!(gate.slack(), Duration::ZERO, "nothing has come");
            // Joined in the middle of a group of ten seconds.
            let passed: Vec<u64> =
                (55..105).filter(|n| gate.pass(StreamTime::from_nanos(n * 100_000_000), n % 100 == 0, false)).collect();
            let due = if wish == Decode::KeyFrames { vec![] } else { vec![100, 101, 102, 103, 104] };
            assert_eq!(passed, due, "{wish:?}: a key picture that leans on others is a beginning all the same");
        }
    }

    #[test]
    fn a_source_without_key_pictures_is_decoded_after_a_while() {
        let mut gate = Gate::new(Decode::Auto, SECOND);
        let mut passes = |n: u64| gate.pass(StreamTime::from_nanos(n * 1_000_000_000), false, false);
        assert_eq!((0..40).filter(|n| passes(*n)).collect::<Vec<_>>(), (30..40).collect::<Vec<_>>());
    }

    #[test]
    fn key_pictures_that_come_seldom_are_waited_for() {
        let mut gate = Gate::new(Decode::KeyFrames, SECOND);
        gate.pass(StreamTime::ZERO, false, false);
        assert_eq!(gate.slack(), KEYLESS);
        gate.pass(StreamTime::ZERO + SECOND, true, true);
        assert_eq!(gate.slack(), LONGEST_GROUP);
        gate.pass(StreamTime::ZERO + 21 * SECOND, true, true);
        assert_eq!(gate.slack(), 40 * SECOND);
        let mut all = Gate::new(Decode::All, SECOND);
        all.pass(StreamTime::ZERO, true, true);
        assert_eq!(all.slack(), Duration::ZERO);
    }

    #[test]
    fn long_groups_are_decoded_whole() {
        let mut gate = Gate::new(Decode::Auto, 2 * SECOND);
        assert_eq!(feed(&mut gate, 0, 20, 50, true), (4, 196));
        assert_eq!(gate.choice(), Choice::Seldom(5 * SECOND));
    }

    #[test]
    fn groups_that_grow_are_decoded_whole_from_their_next_key_picture() {
        let mut gate = Gate::new(Decode::Auto, 2 * SECOND);
        feed(&mut gate, 0, 10, 10, true);
        assert_eq!(feed(&mut gate, 10, 10, 50, true), (2, 49));
        assert_eq!(gate.choice(), Choice::Seldom(5 * SECOND));
        assert_eq!(feed(&mut gate, 20, 10, 10, true), (10, 90), "it stays there");
    }

    #[test]
    fn key_pictures_that_do_not_decode_are_noticed() {
        let mut gate = Gate::new(Decode::Auto, 2 * SECOND);
        feed(&mut gate, 0, 10, 10, false);
        assert_eq!(gate.choice(), Choice::Open { keys: 4, pictures: 0 });
        assert_eq!(feed(&mut gate, 10, 10, 10, false), (10, 90));
    }

    #[test]
    fn wishes_are_followed() {
        let mut all = Gate::new(Decode::All, SECOND);
        assert_eq!(feed(&mut all, 0, 10, 10, true), (10, 90));
        assert_eq!(all.choice(), Choice::All);
        let mut keys = Gate::new(Decode::KeyFrames, SECOND);
        assert_eq!(feed(&mut keys, 0, 30, 50, false), (6, 0));
        assert_eq!(keys.choice(), Choice::Keys(5 * SECOND));
    }

    #[test]
    fn pictures_that_are_all_key_pictures_all_count() {
        let mut gate = Gate::new(Decode::Auto, SECOND);
        assert_eq!(feed(&mut gate, 0, 5, 1, true), (50, 0));
        assert_eq!(gate.choice(), Choice::Keys(Duration::from_millis(100)));
    }
}

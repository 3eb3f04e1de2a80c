//! Looks at each frame before it is captioned. Owns the gate of one stream and the moment that may be made longer.

use std::time::Duration;

use super::StreamPolicy;
use crate::domain::{BlindSpan, Blindness, Frame, MomentId, StreamTime};
use crate::index::StreamRecord;
use crate::sight::{Gate, Glance, View};

/// What becomes of one frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plan {
    /// Caption it.
    Caption,
    /// Say that this moment still holds; caption it if that cannot be said.
    Extend(MomentId),
    /// Note that nothing can be seen.
    Blind(BlindSpan),
}

/// The eye of one stream.
#[derive(Debug)]
pub(super) struct Eye {
    gate: Gate,
    sample_every: Duration,
    moment: Option<MomentId>,
    /// The last stretch in which nothing was seen.
    dark: Option<BlindSpan>,
    /// The length of all stretches before it.
    dark_before: Duration,
    /// The last frame looked at.
    last: Option<StreamTime>,
}

impl Eye {
    /// Goes on where the memory ends; `spans` are the stretches in which nothing was seen.
    pub(super) fn new(policy: &StreamPolicy, record: &StreamRecord, spans: &[BlindSpan]) -> Self {
        let mut gate = Gate::new(policy.sight.clone(), policy.sample_every);
        gate.resume(record.last, spans.last());
        let (dark, before) = spans.split_last().map_or((None, spans), |(last, before)| (Some(last.clone()), before));
        let dark_before = before.iter().map(length).sum();
        Self { gate, sample_every: policy.sample_every, moment: None, dark, dark_before, last: record.last }
    }

    /// Judges the next frame.
    pub(super) fn look(&mut self, frame: &Frame) -> Plan {
        self.last = Some(frame.at);
        match (self.gate.look(frame.at, Glance::of(&frame.picture)), self.moment) {
            (View::Blind { why, from }, _) => {
                // The begin may lie back some frames: the two clocks run alike.
                let wall = frame.wall.minus(frame.at.saturating_since(from));
                let now = BlindSpan { stream: frame.stream.clone(), from, until: frame.at, wall, why };
                Plan::Blind(self.darken(now))
            }
            (View::Unchanged, Some(moment)) => Plan::Extend(moment),
            (View::Unchanged | View::Changed, _) => Plan::Caption,
        }
    }

    /// The last frame became a moment.
    pub(super) fn captioned(&mut self, moment: MomentId) {
        self.gate.captioned();
        self.moment = Some(moment);
    }

    /// Why nothing can be seen now.
    pub(super) fn blind(&self) -> Option<Blindness> {
        self.gate.blind()
    }

    /// Stream time in which nothing was seen, all in all.
    pub(super) fn unobservable(&self) -> Duration {
        self.dark_before + self.dark.as_ref().map_or(Duration::ZERO, length)
    }

    /// Makes the last stretch longer, or begins another one.
    fn darken(&mut self, now: BlindSpan) -> BlindSpan {
        let now = match self.dark.take() {
            Some(dark) if dark.from == now.from => BlindSpan { wall: dark.wall, ..now },
            Some(dark) => {
                self.dark_before += length(&dark);
                now
            }
            None => now,
        };
        self.dark = Some(now.clone());
        now
    }

    /// Whether a frame at `at` would be one between two samples.
    pub(super) fn is_extra(&self, at: StreamTime) -> bool {
        let every = self.sample_every.as_nanos().max(1);
        self.last.is_some_and(|last| u128::from(last.nanos()) / every == u128::from(at.nanos()) / every)
    }
}

fn length(span: &BlindSpan) -> Duration {
    span.until.saturating_since(span.from)
}

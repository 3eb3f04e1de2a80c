//! How long each stage of the two flows takes: one histogram, labelled by stage.

use std::time::{Duration, Instant};

use prometheus::{HistogramOpts, HistogramVec, Registry};

use super::{Heartbeat, Pulse};

/// Upper bounds in seconds, 1 ms to 60 s; 5 s is the default sampling interval and has a bound of its own.
pub const BUCKETS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0];

/// A stage of the watching or the asking flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Pictures to captions, one batch.
    Caption,
    /// Texts to vectors, one batch.
    Embed,
    /// Moments to claims.
    Draft,
    /// Sentence pairs to entailment, one batch.
    Judge,
    /// Questions about pictures to answers, one batch.
    Ask,
    /// One group commit of the index.
    Commit,
    /// One scan of the index.
    Search,
    /// One evidence frame out of its source.
    Extract,
    /// One evidence frame to JPEG.
    Jpeg,
    /// Question to retrieved moments: embedding and search.
    Retrieve,
    /// One claim from citation to verdict.
    Verify,
    /// One question from admission to answer.
    Answer,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Self; 12] = [
        Self::Caption,
        Self::Embed,
        Self::Draft,
        Self::Judge,
        Self::Ask,
        Self::Commit,
        Self::Search,
        Self::Extract,
        Self::Jpeg,
        Self::Retrieve,
        Self::Verify,
        Self::Answer,
    ];

    /// The label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caption => "caption",
            Self::Embed => "embed",
            Self::Draft => "draft",
            Self::Judge => "judge",
            Self::Ask => "ask",
            Self::Commit => "commit",
            Self::Search => "search",
            Self::Extract => "extract",
            Self::Jpeg => "jpeg",
            Self::Retrieve => "retrieve",
            Self::Verify => "verify",
            Self::Answer => "answer",
        }
    }
}

/// The stage histogram; cheap to clone, every clone counts into the same series.
#[derive(Debug, Clone)]
pub struct Stages {
    histogram: HistogramVec,
    beats: Vec<(Stage, Heartbeat)>,
}

impl Stages {
    /// The stages that have a thread of their own, so that a run which does not end means that the thread is stuck.
    const OF_ONE_THREAD: [Stage; 6] =
        [Stage::Caption, Stage::Embed, Stage::Draft, Stage::Judge, Stage::Ask, Stage::Commit];

    /// Registers the histogram with every stage present from the start.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let opts = HistogramOpts::new("gvqa_stage_duration_seconds", "Duration of one run of a stage, in seconds.")
            .buckets(BUCKETS.to_vec());
        let histogram = HistogramVec::new(opts, &["stage"])?;
        for stage in Stage::ALL {
            histogram.with_label_values(&[stage.as_str()]);
        }
        registry.register(Box::new(histogram.clone()))?;
        Ok(Self { histogram, beats: Vec::new() })
    }

    /// Lets `pulse` see how long [`Self::time`] has been at work in the stages of the engine and of the index writer.
    #[must_use]
    pub fn watched_by(mut self, pulse: &Pulse) -> Self {
        self.beats = Self::OF_ONE_THREAD.iter().map(|&stage| (stage, pulse.heartbeat(stage.as_str()))).collect();
        self
    }

    /// Counts one run.
    pub fn observe(&self, stage: Stage, took: Duration) {
        self.histogram.with_label_values(&[stage.as_str()]).observe(took.as_secs_f64());
    }

    /// Times `work`, whatever its outcome.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let beat = self.beats.iter().find(|(watched, _)| *watched == stage);
        let _working = beat.map(|(_, beat)| beat.work());
        self.clock(stage, work)
    }

    /// The same for work of which several may go on at once and none can tell that a thread is stuck.
    pub fn clock<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.observe(stage, start.elapsed());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_does_not_end_is_seen() {
        let (registry, pulse) = (Registry::new(), Pulse::new());
        let stages = Stages::register(&registry).expect("first registration").watched_by(&pulse);
        let later = || Instant::now() + Duration::from_hours(1);
        let stuck = stages.time(Stage::Judge, || pulse.stuck(later(), Duration::from_secs(30)));
        assert_eq!(stuck, Some("judge"));
        assert_eq!(pulse.stuck(later(), Duration::from_secs(30)), None, "the run has ended");
        let stuck = stages.time(Stage::Answer, || pulse.stuck(later(), Duration::from_secs(30)));
        assert_eq!(stuck, None, "answers run side by side and have no thread");
    }
}

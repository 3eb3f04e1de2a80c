//! The loop of the engine's thread: take a job, merge what may be merged, run the model, answer.
//!
//! Owns the models that compute here for as long as the thread lives.

use std::sync::Arc;

use super::job::{Batch, InWork, Job, Work};
use super::lanes::{Lane, Lanes};
use super::{Config, Metrics, batch};
use crate::seams::{Captioner, ChatJudge, Embedder, Judge, ModelError, Models, VisualQa};
use crate::telemetry::Stage;

/// What the thread works with.
pub(super) struct Worker {
    pub(super) models: Models,
    pub(super) lanes: Arc<Lanes<Job>>,
    pub(super) config: Config,
    pub(super) metrics: Metrics,
}

impl Worker {
    /// Works until the lanes are closed.
    pub(super) fn run(mut self) {
        while let Some((lane, job)) = self.lanes.take() {
            if let Some(job) = job.in_time() {
                self.run_job(lane, job);
            }
        }
    }

    fn run_job(&mut self, lane: Lane, job: Job) {
        let _inside = job.span.enter();
        let Self { models, lanes, config, metrics } = self;
        let mut quick = Quick {
            captioner: models.captioner.as_mut(),
            embedder: models.embedder.as_mut(),
            judge: models.judge.as_mut(),
            visual_qa: models.visual_qa.as_mut(),
            chat_judge: models.chat_judge.as_mut(),
            lanes,
            config,
            metrics,
        };
        match job.work {
            Work::Draft { request, reply } => {
                let drafter = &mut models.drafter;
                let claims = metrics
                    .stages
                    .time(Stage::Draft, || drafter.draft_with_pauses(&request, &mut || quick.run_waiting()));
                // The caller may have left meanwhile.
                let _ = reply.send(claims);
            }
            work => quick.run(lane, work),
        }
    }
}

/// Everything but the drafter, whose work takes seconds and is interrupted for this.
struct Quick<'a> {
    captioner: &'a mut dyn Captioner,
    embedder: &'a mut dyn Embedder,
    judge: &'a mut dyn Judge,
    visual_qa: Option<&'a mut Box<dyn VisualQa>>,
    chat_judge: Option<&'a mut Box<dyn ChatJudge>>,
    lanes: &'a Lanes<Job>,
    config: &'a Config,
    metrics: &'a Metrics,
}

impl Quick<'_> {
    /// Runs the questions' work that has come in, but no second draft.
    fn run_waiting(&mut self) {
        while let Some(job) = self.lanes.take_interactive(|job| !matches!(job.work, Work::Draft { .. })) {
            if let Some(job) = job.in_time() {
                job.span.in_scope(|| self.run(Lane::Interactive, job.work));
            }
        }
    }

    fn run(&mut self, lane: Lane, work: Work) {
        let (lanes, stages) = (self.lanes, &self.metrics.stages);
        match work {
            Work::Caption(first) => {
                let (limit, model) = (self.config.max_pictures, &mut self.captioner);
                let merges = lane == Lane::Background || model.is_parallel();
                batch::run("captioner", gather(lanes, lane, first, limit, merges), limit, |pictures| {
                    stages.time(Stage::Caption, || model.caption(pictures))
                });
            }
            Work::Embed(first) => {
                let (limit, model) = (self.config.max_texts, &mut self.embedder);
                batch::run("embedder", gather(lanes, lane, first, limit, lane == Lane::Background), limit, |texts| {
                    stages.time(Stage::Embed, || model.embed(texts))
                });
            }
            Work::Judge(pairs) => {
                let model = &mut self.judge;
                batch::run("judge", vec![pairs], self.config.max_texts, |pairs| {
                    stages.time(Stage::Judge, || model.judge(pairs))
                });
            }
            Work::Ask(first) => {
                let (limit, model) = (self.config.max_pictures, &mut self.visual_qa);
                let merges = lane == Lane::Background || model.as_ref().is_some_and(|model| model.is_parallel());
                batch::run("visual-qa", gather(lanes, lane, first, limit, merges), limit, |inquiries| {
                    let model = model.as_mut().ok_or_else(no_visual_qa)?;
                    stages.time(Stage::Ask, || model.ask(inquiries))
                });
            }
            Work::Support { batch, strictness } => {
                let model = &mut self.chat_judge;
                batch::run("chat-judge", vec![batch], self.config.max_texts, |pairs| {
                    let model = model.as_mut().ok_or_else(no_chat_judge)?;
                    stages.time(Stage::Judge, || model.supports(pairs, strictness))
                });
            }
            // Never taken in a pause, and otherwise run by the worker.
            Work::Draft { .. } => {}
        }
    }
}

fn no_visual_qa() -> ModelError {
    let reason =
        "none of the configured models answers questions about pictures: set models.captioner to one that does";
    ModelError::Run { model: "visual-qa".to_owned(), reason: reason.to_owned() }
}

fn no_chat_judge() -> ModelError {
    let reason = "no chat model judges claims: configure [models.chat_judge]";
    ModelError::Run { model: "chat-judge".to_owned(), reason: reason.to_owned() }
}

/// `first`, and behind it the work of the same kind in the same lane that fits into one call of `limit` inputs, if such work
/// is merged. Background work always is. A question's is not, so that it does not wait for other people's pictures, unless
/// the model takes no longer for them.
fn gather<I, O>(lanes: &Lanes<Job>, lane: Lane, first: Batch<I, O>, limit: usize, merges: bool) -> Vec<Batch<I, O>>
where
    Batch<I, O>: InWork,
{
    let mut batches = vec![first];
    if merges {
        let mut room = limit.saturating_sub(batches[0].inputs.len());
        let others = lanes.take_all(lane, |job| match Batch::find(&job.work) {
            Some(other) if !job.is_abandoned() && !job.is_late() && other.inputs.len() <= room => {
                room -= other.inputs.len();
                true
            }
            _ => false,
        });
        batches.extend(others.into_iter().filter_map(|job| Batch::take(job.work)));
    }
    batches
}

//! The loop of the engine's thread: take a job, merge what may be merged, run the model, answer.
//!
//! Owns the models that compute here for as long as the thread lives.

use std::sync::Arc;

use super::job::{Batch, InWork, Job, Work};
use super::lanes::{Lane, Lanes};
use super::{Config, Metrics, batch};
use crate::seams::{ModelError, Models};
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
            if job.is_abandoned() {
                tracing::debug!(parent: &job.span, "skipped a job whose caller left");
                continue;
            }
            self.run_job(lane, job);
        }
    }

    fn run_job(&mut self, lane: Lane, job: Job) {
        let _inside = job.span.enter();
        let stages = &self.metrics.stages;
        match job.work {
            Work::Caption(first) => {
                let limit = self.config.max_pictures;
                let batches = gather(&self.lanes, lane, first, limit);
                let model = &mut self.models.captioner;
                batch::run("captioner", batches, limit, |pictures| {
                    stages.time(Stage::Caption, || model.caption(pictures))
                });
            }
            Work::Embed(first) => {
                let limit = self.config.max_texts;
                let batches = gather(&self.lanes, lane, first, limit);
                let model = &mut self.models.embedder;
                batch::run("embedder", batches, limit, |texts| stages.time(Stage::Embed, || model.embed(texts)));
            }
            Work::Judge(pairs) => {
                let model = &mut self.models.judge;
                batch::run("judge", vec![pairs], self.config.max_texts, |pairs| {
                    stages.time(Stage::Judge, || model.judge(pairs))
                });
            }
            Work::Ask(inquiries) => {
                let model = &mut self.models.visual_qa;
                batch::run("visual-qa", vec![inquiries], self.config.max_pictures, |inquiries| {
                    let model = model.as_mut().ok_or_else(no_visual_qa)?;
                    stages.time(Stage::Ask, || model.ask(inquiries))
                });
            }
            Work::Support { batch, strictness } => {
                let model = &mut self.models.chat_judge;
                batch::run("chat-judge", vec![batch], self.config.max_texts, |pairs| {
                    let model = model.as_mut().ok_or_else(no_chat_judge)?;
                    stages.time(Stage::Judge, || model.supports(pairs, strictness))
                });
            }
            Work::Draft { request, reply } => {
                let claims = stages.time(Stage::Draft, || self.models.drafter.draft(&request));
                let _ = reply.send(claims);
            }
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

/// `first`, and behind it the background work of the same kind that fits into one call of `limit` inputs. A question is
/// never merged: it shall not wait for other people's pictures.
fn gather<I, O>(lanes: &Lanes<Job>, lane: Lane, first: Batch<I, O>, limit: usize) -> Vec<Batch<I, O>>
where
    Batch<I, O>: InWork,
{
    let mut batches = vec![first];
    if lane == Lane::Background {
        let mut room = limit.saturating_sub(batches[0].inputs.len());
        let others = lanes.take_background(|job| match Batch::find(&job.work) {
            Some(other) if !job.is_abandoned() && other.inputs.len() <= room => {
                room -= other.inputs.len();
                true
            }
            _ => false,
        });
        batches.extend(others.into_iter().filter_map(|job| Batch::take(job.work)));
    }
    batches
}

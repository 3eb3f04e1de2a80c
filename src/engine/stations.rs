//! Which lanes lead to which model. Models that compute here share one pair of lanes and one thread; a model that
//! computes elsewhere has a pair of its own and as many threads as calls may be under way, so that waiting for a distant
//! machine never keeps a model here from working.

use std::sync::Arc;

use super::batch;
use super::job::{Job, Work};
use super::lanes::Lanes;
use super::{Config, Metrics};
use crate::seams::{Captioner, ChatJudge, Drafter, Judge, Models, VisualQa};
use crate::telemetry::{Stage, Stages};

/// What a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Captioner,
    Embedder,
    Drafter,
    Judge,
    VisualQa,
    ChatJudge,
}

/// The lanes of every role.
#[derive(Debug)]
pub(super) struct Stations {
    here: Arc<Lanes<Job>>,
    away: Vec<(Role, Arc<Lanes<Job>>)>,
}

/// A client of a model that computes elsewhere.
pub(super) enum Client {
    Captioner(Box<dyn Captioner>),
    Drafter(Box<dyn Drafter>),
    Judge(Box<dyn Judge>),
    VisualQa(Box<dyn VisualQa>),
    ChatJudge(Box<dyn ChatJudge>),
}

impl Stations {
    /// Opens the lanes that `models` need; hands back the clients that need threads, each with its lanes.
    pub(super) fn open(models: &Models, config: &Config, metrics: &Metrics) -> (Self, Vec<(Client, Arc<Lanes<Job>>)>) {
        let here = Arc::new(Lanes::new(config, metrics, ["engine_interactive", "engine_background"]));
        let (mut away, mut workers) = (Vec::new(), Vec::new());
        for (role, queues, clients) in clients(models) {
            if !clients.is_empty() {
                let lanes = Arc::new(Lanes::new(config, metrics, queues));
                workers.extend(clients.into_iter().map(|client| (client, lanes.clone())));
                away.push((role, lanes));
            }
        }
        (Self { here, away }, workers)
    }

    /// The lanes of the models that compute here.
    pub(super) fn here(&self) -> &Arc<Lanes<Job>> {
        &self.here
    }

    /// The lanes of `role` if its model computes elsewhere.
    pub(super) fn away(&self, role: Role) -> Option<&Arc<Lanes<Job>>> {
        self.away.iter().find(|(away, _)| *away == role).map(|(_, lanes)| lanes)
    }

    /// Refuses everything from now on, everywhere.
    pub(super) fn close(&self) {
        self.here.close();
        for (_, lanes) in &self.away {
            lanes.close();
        }
    }
}

fn clients(models: &Models) -> [(Role, [&'static str; 2], Vec<Client>); 5] {
    let visual_qa = models.visual_qa.as_ref().map(|model| model.clients()).unwrap_or_default();
    let chat_judge = models.chat_judge.as_ref().map(|model| model.clients()).unwrap_or_default();
    [
        (
            Role::Captioner,
            ["remote_captioner_interactive", "remote_captioner_background"],
            models.captioner.clients().into_iter().map(Client::Captioner).collect(),
        ),
        (
            Role::Drafter,
            ["remote_drafter_interactive", "remote_drafter_background"],
            models.drafter.clients().into_iter().map(Client::Drafter).collect(),
        ),
        (
            Role::Judge,
            ["remote_judge_interactive", "remote_judge_background"],
            models.judge.clients().into_iter().map(Client::Judge).collect(),
        ),
        (
            Role::VisualQa,
            ["remote_visual_qa_interactive", "remote_visual_qa_background"],
            visual_qa.into_iter().map(Client::VisualQa).collect(),
        ),
        (
            Role::ChatJudge,
            ["remote_chat_judge_interactive", "remote_chat_judge_background"],
            chat_judge.into_iter().map(Client::ChatJudge).collect(),
        ),
    ]
}

impl Client {
    /// Works on what comes through `lanes` until they are closed.
    pub(super) fn run(mut self, lanes: &Lanes<Job>, stages: &Stages) {
        while let Some((_, job)) = lanes.take() {
            let Some(job) = job.in_time() else { continue };
            let _inside = job.span.enter();
            self.work(job.work, stages);
        }
    }

    /// Durations are observed without a heartbeat: a distant machine that is slow is no sign of a stuck thread, and its
    /// calls end by their deadline.
    fn work(&mut self, work: Work, stages: &Stages) {
        match (self, work) {
            (Self::Captioner(model), Work::Caption(batch)) => {
                batch::run("captioner", vec![batch], 1, |it| stages.clock(Stage::Caption, || model.caption(it)));
            }
            (Self::Judge(model), Work::Judge(batch)) => {
                batch::run("judge", vec![batch], 1, |it| stages.clock(Stage::Judge, || model.judge(it)));
            }
            (Self::VisualQa(model), Work::Ask(batch)) => {
                batch::run("visual-qa", vec![batch], 1, |it| stages.clock(Stage::Ask, || model.ask(it)));
            }
            (Self::ChatJudge(model), Work::Support { batch, strictness }) => {
                batch::run("chat-judge", vec![batch], 1, |it| {
                    stages.clock(Stage::Judge, || model.supports(it, strictness))
                });
            }
            (Self::Drafter(model), Work::Draft { request, reply }) => {
                let _ = reply.send(stages.clock(Stage::Draft, || model.draft(&request)));
            }
            _ => unreachable!("every role has lanes of its own"),
        }
    }
}

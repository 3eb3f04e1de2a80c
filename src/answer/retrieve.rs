//! A question to the moments that may answer it.

use std::time::Instant;

use super::error::AnswerError;
use super::flow::Parts;
use super::window::{self, Extent, Order, Plan};
use crate::domain::{Embedding, Hit, Question, StreamId, Window};
use crate::engine::Lane;
use crate::index::Scope;
use crate::seams::ModelError;
use crate::telemetry::Stage;

/// What was found for a question.
pub(super) struct Retrieved {
    /// The streams that were searched.
    pub(super) streams: Vec<StreamId>,
    /// The window that was searched; over several streams, from the earliest begin to the latest end.
    pub(super) window: Window,
    /// The moments, in the order the question asks for.
    pub(super) hits: Vec<Hit>,
    /// Whether the streams hold any moment at all.
    pub(super) seen_any: bool,
}

impl Parts {
    /// Finds the `k` moments for a question.
    pub(super) async fn retrieve(&self, question: &Question) -> Result<Retrieved, AnswerError> {
        let start = Instant::now();
        let streams = self.streams.scope(question.stream.as_ref())?;
        let plans = self.plans(&question.text, &streams).await?;
        let order = plans.first().map_or(Order::Relevance, |(_, plan)| plan.order);
        let window = hull(plans.iter().map(|(_, plan)| plan.window)).unwrap_or(Window::ALL);
        let seen_any = !plans.is_empty();
        let mut hits = Vec::new();
        if seen_any {
            let query = self.embed(&question.text).await?;
            for scope in scopes(plans) {
                let wanted = window::candidates(order, question.k);
                hits.extend(self.index.search(query.clone(), scope, wanted).await?);
            }
        }
        let hits = window::arrange(hits, order, question.k);
        self.metrics.took(Stage::Retrieve, start.elapsed());
        Ok(Retrieved { streams, window, hits, seen_any })
    }

    /// What the question means for every stream that holds moments: "the end" is another time in each.
    async fn plans(&self, text: &str, streams: &[StreamId]) -> Result<Vec<(StreamId, Plan)>, AnswerError> {
        let mut plans = Vec::with_capacity(streams.len());
        for id in streams {
            let Some(last) = self.index.record(id).await?.and_then(|record| record.last) else { continue };
            let extent = Extent { last, sample_every: self.streams.find(id)?.sample_every };
            plans.push((id.clone(), window::plan(text, extent)));
        }
        Ok(plans)
    }

    /// The vector of one text.
    pub(super) async fn embed(&self, text: &str) -> Result<Embedding, AnswerError> {
        let mut embeddings = self.engine.embed(Lane::Interactive, vec![text.to_owned()]).await?;
        let missing = || ModelError::Run { model: "embedder".into(), reason: "no embedding came back".into() };
        embeddings.pop().ok_or_else(|| AnswerError::Model(missing()))
    }
}

/// One scope a distinct window, so that the usual question is one search.
fn scopes(plans: Vec<(StreamId, Plan)>) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for (stream, Plan { window, .. }) in plans {
        match scopes.iter_mut().find(|scope| scope.window == window) {
            Some(scope) => scope.streams.push(stream),
            None => scopes.push(Scope { streams: vec![stream], window }),
        }
    }
    scopes
}

/// The smallest window that holds all.
fn hull(windows: impl Iterator<Item = Window>) -> Option<Window> {
    windows.reduce(|a, b| Window::new(a.from().min(b.from()), a.to().max(b.to())).unwrap_or(a))
}

//! A question set into the streams it is about: which windows, which order, which event it leans on.

use super::error::AnswerError;
use super::flow::Parts;
use super::retrieve::Lookup;
use super::time::{self, Event, Extent, Plan, Time};
use crate::domain::{
    Anchor, Asked, Citation, Hit, Moment, Order, Question, Searched, StreamId, StreamTime, WallTime, Window,
};
use crate::index::{Scope, StreamRecord};

/// Cosine similarity below which nothing counts as the event that a question leans on.
const RESEMBLES: f32 = 0.2;

/// A question set into the streams it is about.
pub(super) struct Scene {
    /// The streams that are asked about.
    pub(super) streams: Vec<StreamId>,
    /// What the question says about time.
    pub(super) time: Time,
    /// The part of each stream that holds moments.
    pub(super) parts: Vec<Part>,
    /// The event that the question leans on.
    anchor: Option<Anchor>,
}

/// What the question means for one stream.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) stream: StreamId,
    pub(super) extent: Extent,
    pub(super) plan: Plan,
}

impl Scene {
    /// The windows as one; over several streams, from the earliest begin to the latest end.
    pub(super) fn window(&self) -> Window {
        hull(self.parts.iter().filter_map(|part| part.plan.window)).unwrap_or(Window::ALL)
    }

    /// Whether the time asked about has not come yet: "Was there a person tomorrow?".
    pub(super) fn is_ahead(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| time::is_ahead(&self.time, &part.extent))
    }

    /// Whether the question asks about times that lie apart, or about all but one: no window holds those and no more.
    pub(super) fn is_apart(&self) -> bool {
        self.parts.iter().any(|part| time::is_apart(&self.time, &part.extent))
    }

    /// Whether a moment lies in the time asked about.
    pub(super) fn covers(&self, place: &Citation) -> bool {
        let window = self.parts.iter().find(|part| part.stream == place.stream).and_then(|part| part.plan.window);
        window.is_some_and(|window| window.contains(place.at))
    }

    /// The same parts with all of their time: an event that a question leans on may be anywhere.
    pub(super) fn whole(&self) -> Vec<Part> {
        let parts = self.parts.iter().cloned();
        parts.map(|part| Part { plan: Plan { window: Some(Window::ALL), ..part.plan }, ..part }).collect()
    }

    /// What retrieval looks for: the topic and the event of the question, in its windows.
    pub(super) fn lookup<'a>(&'a self, k: usize, seen: &'a [Citation]) -> Lookup<'a> {
        let is_found = self.anchor.as_ref().is_some_and(|anchor| anchor.found.is_some());
        let event = self.time.event.as_ref().filter(|_| is_found);
        Lookup { topic: &self.time.topic, event, parts: &self.parts, seen, k }
    }

    /// That the event which the question leans on was not found: "after the elephant left" without an elephant.
    pub(super) fn missed(&self) -> Option<String> {
        let anchor = self.anchor.as_ref().filter(|anchor| anchor.found.is_none())?;
        Some(format!("Nothing like \u{201c}{}\u{201d} was found.", anchor.event))
    }

    /// What was understood of the time asked about.
    pub(super) fn asked(&self) -> Asked {
        Asked {
            phrase: self.time.phrase.clone(),
            order: self.parts.first().map_or(Order::Relevance, |part| part.plan.order),
            searched: self.parts.iter().map(Part::searched).collect(),
            anchor: self.anchor.clone(),
        }
    }
}

impl Parts {
    /// Reads what a question says about time, and finds the event it leans on.
    pub(super) async fn scene(&self, question: &Question) -> Result<Scene, AnswerError> {
        let streams = self.streams.scope(question.stream.as_ref())?;
        let time = time::read(&question.text);
        let mut parts = self.parts(&time, &streams).await?;
        let anchor = match &time.event {
            Some(event) => Some(self.anchor(event, &mut parts).await?),
            None => None,
        };
        Ok(Scene { streams, time, parts, anchor })
    }

    /// What the question means for every stream that holds moments: "the end" is another time in each.
    async fn parts(&self, time: &Time, streams: &[StreamId]) -> Result<Vec<Part>, AnswerError> {
        let asked = WallTime::now();
        let mut parts = Vec::with_capacity(streams.len());
        for id in streams {
            let Some(record) = self.index.record(id).await? else { continue };
            let Some(last) = record.last else { continue };
            let entry = self.streams.find(id)?;
            let (sample_every, zone) = (entry.sample_every, entry.zone.clone());
            let (kind, epoch) = (record.kind, self.epoch(id, &record).await?);
            let extent = Extent { last, sample_every, kind, epoch, zone, asked };
            parts.push(Part { stream: id.clone(), plan: time::resolve(time, &extent), extent });
        }
        Ok(parts)
    }

    /// Time of day at stream time zero. A file may have been given one of its own: its moments tell.
    async fn epoch(&self, stream: &StreamId, record: &StreamRecord) -> Result<WallTime, AnswerError> {
        let scope = Scope { streams: vec![stream.clone()], window: Window::ALL };
        let first = self.index.moments(scope, 1, false).await?.pop();
        let beginning = |moment: Moment| moment.wall.minus(moment.at.saturating_since(StreamTime::ZERO));
        Ok(first.map_or(record.epoch, beginning))
    }

    /// Finds the event that the question leans on. "Ten seconds after" it is a window; "after" it is for the ranking,
    /// because the event may be another one of those that resemble it. An event seen in one stream happens in the others
    /// at the same time of day.
    async fn anchor(&self, event: &Event, parts: &mut [Part]) -> Result<Anchor, AnswerError> {
        let query = self.embed(&event.text).await?;
        let mut found: Option<Hit> = None;
        for scope in scopes(parts) {
            let best = self.index.search(query.clone(), scope, 1).await?.pop();
            found = best.into_iter().chain(found).max_by(|a, b| a.score.total_cmp(&b.score));
        }
        let found = found.filter(|hit| hit.score >= RESEMBLES);
        if let (Some(Hit { moment, .. }), Some(_)) = (&found, event.offset) {
            for part in parts {
                let at = if part.stream == moment.stream {
                    moment.at
                } else {
                    StreamTime::ZERO + moment.wall.saturating_since(part.extent.epoch)
                };
                let window = part.plan.window;
                part.plan.window = window.and_then(|window| time::beyond(window, event, at, part.extent.sample_every));
            }
        }
        Ok(Anchor { event: event.text.clone(), side: event.side, found })
    }
}

impl Part {
    fn searched(&self) -> Searched {
        let Self { stream, extent, plan } = self;
        let wall = |at: StreamTime| extent.epoch.plus(at.saturating_since(StreamTime::ZERO));
        let end = plan.window.map(Window::to).filter(|to| *to != StreamTime::MAX);
        Searched {
            stream: stream.clone(),
            window: plan.window,
            from: plan.window.map(|window| wall(window.from())),
            to: end.map(wall),
            zone: extent.zone.clone(),
        }
    }
}

/// One scope a distinct window, so that the usual question is one search.
pub(super) fn scopes(parts: &[Part]) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for Part { stream, plan, .. } in parts {
        let Some(window) = plan.window else { continue };
        match scopes.iter_mut().find(|scope| scope.window == window) {
            Some(scope) => scope.streams.push(stream.clone()),
            None => scopes.push(Scope { streams: vec![stream.clone()], window }),
        }
    }
    scopes
}

/// The smallest window that holds all.
fn hull(windows: impl Iterator<Item = Window>) -> Option<Window> {
    windows.reduce(|a, b| Window::new(a.from().min(b.from()), a.to().max(b.to())).unwrap_or(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Side;

    #[test]
    fn an_event_that_was_not_found_is_told() {
        let anchor = Anchor { event: "the elephant leaves".into(), side: Side::After, found: None };
        let scene = |anchor| Scene { streams: vec![], time: time::read("What is there?"), parts: vec![], anchor };
        assert_eq!(scene(None).missed(), None);
        let told = scene(Some(anchor)).missed().expect("is told");
        assert!(told.contains("the elephant leaves"), "{told}");
    }
}

//! The moments that may answer: all of the windows are ranked, a few are taken.

use std::collections::BTreeMap;
use std::time::Instant;

use super::error::AnswerError;
use super::flow::Parts;
use super::rank::{self, Candidate, Lean, Place, Wish};
use super::scene::{Part, scopes};
use super::time::{self, Event, Plan};
use crate::domain::words::content;
use crate::domain::{Citation, Embedding, Hit, Order, StreamId, StreamTime, WallTime};
use crate::engine::Lane;
use crate::seams::ModelError;
use crate::telemetry::Stage;

/// Moments of one window that are ranked: all of a shorter one (85 minutes at 5 s), of a longer one those nearest in
/// meaning to the question and to its event.
const RANKED: usize = 1024;

/// What is looked for, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup<'a> {
    /// What the moments shall be about.
    pub(super) topic: &'a str,
    /// What they shall lie next to.
    pub(super) event: Option<&'a Event>,
    /// The windows; the order is that of the first.
    pub(super) parts: &'a [Part],
    /// Moments that were looked at: they are not taken again, and what lies beside them comes later.
    pub(super) seen: &'a [Citation],
    /// How many.
    pub(super) k: usize,
}

/// A moment with its similarity to the event; NaN if it was not compared.
struct Found {
    hit: Hit,
    event: f32,
}

impl Parts {
    /// At most `k` moments in the order they were taken; their scores are cosine similarities to the topic.
    pub(super) async fn retrieve(&self, lookup: Lookup<'_>) -> Result<Vec<Hit>, AnswerError> {
        let start = Instant::now();
        let Some(Plan { order, at, .. }) = lookup.parts.first().map(|part| part.plan) else { return Ok(Vec::new()) };
        let hits = match order {
            Order::Relevance | Order::Earliest | Order::Latest => self.rank(lookup).await?,
            Order::First | Order::Last | Order::Nearest => {
                let query = self.embed(lookup.topic).await?;
                let wanted = time::candidates(order, lookup.k) + lookup.seen.len();
                let mut hits = Vec::new();
                for scope in scopes(lookup.parts) {
                    hits.extend(self.index.search(query.clone(), scope, wanted).await?);
                }
                hits.retain(|hit| !lookup.has_seen(hit));
                time::arrange(hits, order, at, lookup.k)
            }
        };
        let hits = hits.into_iter().map(|hit| lookup.cited(hit)).collect();
        self.metrics.took(Stage::Retrieve, start.elapsed());
        Ok(hits)
    }

    /// The `k` best moments of all windows, see [`rank`].
    async fn rank(&self, lookup: Lookup<'_>) -> Result<Vec<Hit>, AnswerError> {
        let mut found = self.near(lookup).await?;
        found.retain(|found| !lookup.has_seen(&found.hit));
        let candidates: Vec<Candidate> = found.iter().map(|found| candidate(found, lookup)).collect();
        let scores = rank::scores(&candidates, &wish(lookup));
        let taken = rank::spread(&candidates, &scores, &lookup.seen_places(), lookup.k);
        Ok(taken.into_iter().map(|index| found[index].hit.clone()).collect())
    }

    /// The moments nearest in meaning to the topic and to the event, with both similarities.
    async fn near(&self, lookup: Lookup<'_>) -> Result<Vec<Found>, AnswerError> {
        let topic = self.embed(lookup.topic).await?;
        let event = match lookup.event {
            Some(event) => Some(self.embed(&event.text).await?),
            None => None,
        };
        let mut found: BTreeMap<(StreamId, StreamTime), Found> = BTreeMap::new();
        for scope in scopes(lookup.parts) {
            for hit in self.index.search(topic.clone(), scope.clone(), RANKED).await? {
                found.insert((hit.moment.stream.clone(), hit.moment.at), Found { hit, event: f32::NAN });
            }
            let Some(event) = &event else { continue };
            for Hit { moment, score } in self.index.search(event.clone(), scope, RANKED).await? {
                let key = (moment.stream.clone(), moment.at);
                let new = || Found { hit: Hit { moment, score: f32::NAN }, event: score };
                found.entry(key).or_insert_with(new).event = score;
            }
        }
        let mut found: Vec<Found> = found.into_values().collect();
        // What only one of the searches found is no better for the other than the worst that it found.
        let worst = |scores: &mut dyn Iterator<Item = f32>| scores.filter(|score| !score.is_nan()).fold(1.0, f32::min);
        let least = worst(&mut found.iter().map(|found| found.hit.score));
        let least_event = worst(&mut found.iter().map(|found| found.event));
        for Found { hit, event } in &mut found {
            hit.score = if hit.score.is_nan() { least } else { hit.score };
            *event = if event.is_nan() { least_event } else { *event };
        }
        Ok(found)
    }

    /// The vector of one text.
    pub(super) async fn embed(&self, text: &str) -> Result<Embedding, AnswerError> {
        let mut embeddings = self.engine.embed(Lane::Interactive, vec![text.to_owned()]).await?;
        let missing = || ModelError::Run { model: "embedder".into(), reason: "no embedding came back".into() };
        embeddings.pop().ok_or_else(|| AnswerError::Model(missing()))
    }
}

impl Lookup<'_> {
    /// Seconds on the clock of the candidates, which all streams share. It begins where the first stream does, so that
    /// whole seconds stay whole.
    fn clock(&self, wall: WallTime) -> f64 {
        let zero = self.parts.first().map_or(0, |part| part.extent.epoch.nanos());
        wall.nanos().saturating_sub(zero) as f64 / 1e9
    }

    fn has_seen(&self, hit: &Hit) -> bool {
        let moment = &hit.moment;
        self.seen.iter().any(|seen| seen.stream == moment.stream && moment.distance(seen.at).is_zero())
    }

    fn cited(&self, hit: Hit) -> Hit {
        match self.parts.iter().find(|part| part.stream == hit.moment.stream) {
            Some(part) => Hit { moment: part.plan.cited(hit.moment), ..hit },
            None => hit,
        }
    }

    /// Where what was looked at lies, on the clock of the candidates.
    fn seen_places(&self) -> Vec<Place> {
        let place = |seen: &Citation| {
            let stream = self.parts.iter().position(|part| part.stream == seen.stream)?;
            Some((stream, self.clock(wall(&self.parts[stream], seen.at))))
        };
        self.seen.iter().filter_map(place).collect()
    }
}

fn wall(part: &Part, at: StreamTime) -> WallTime {
    part.extent.epoch.plus(at.saturating_since(StreamTime::ZERO))
}

fn candidate(Found { hit: Hit { moment, score }, event }: &Found, lookup: Lookup<'_>) -> Candidate {
    Candidate {
        at: lookup.clock(moment.wall),
        stream: lookup.parts.iter().position(|part| part.stream == moment.stream).unwrap_or_default(),
        stems: content(moment.caption.as_str()),
        topic: *score,
        event: *event,
    }
}

fn wish(lookup: Lookup<'_>) -> Wish {
    let lean = |part: &Part| {
        let (towards, within) = part.plan.lean?;
        Some(Lean { towards: lookup.clock(wall(part, towards)), within })
    };
    let parts = lookup.parts;
    Wish {
        topic: content(lookup.topic),
        event: lookup.event.map(|event| (event.side, content(&event.text))),
        lean: parts.iter().map(lean).collect(),
        every: parts.iter().map(|part| part.extent.sample_every.as_secs_f64()).fold(0.0, f64::max),
    }
}

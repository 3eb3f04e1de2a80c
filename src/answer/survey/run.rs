//! Reads every moment of the windows and counts.

use std::collections::{BTreeMap, HashMap};

use super::conclude::{Counts, conclude};
use super::coverage::{Due, Slot, Slots, TOLD};
use super::mention::{Mention, can_name, is_silent, mention};
use super::subject::Subject;
use crate::answer::error::AnswerError;
use crate::answer::flow::Parts;
use crate::answer::scene::{Part, scopes};
use crate::answer::weigh;
use crate::domain::{
    Bounds, Caption, Citation, Claim, Conclusion, Coverage, Hit, Moment, Order, Reason, StreamTime, Survey, Wants,
    Window,
};
use crate::index::Scope;
use crate::seams::Pair;

/// Most moments of one stream that are read; the earlier ones count as missing.
const MOST_MOMENTS: usize = 50_000;
/// Most distinct sentences that the judge is asked about, the most frequent first.
const MOST_JUDGED: usize = 64;
/// Nearest moments whose sentences are judged before it is said that nothing was seen.
const NEAREST: usize = 8;
/// Moments by which a presence is proven.
const PROOFS: usize = 2;

/// A survey, and what to do next.
pub(in crate::answer) struct Surveyed {
    pub(in crate::answer) survey: Survey,
    /// Claims that prove a presence, if there is one.
    pub(in crate::answer) claims: Vec<Claim>,
    /// The moments that speak of the thing, those to prove it by first.
    pub(in crate::answer) hits: Vec<Hit>,
}

/// One stream's moments, by time, with what they say.
struct Told<'a> {
    part: &'a Part,
    slots: Slots,
    moments: Vec<(Moment, Slot)>,
}

/// What sentences say about the subject.
struct Ear<'a> {
    subject: &'a Subject,
    /// Of a subject that its heads alone do not decide: what the judge concluded.
    judged: HashMap<String, Reason>,
}

impl Parts {
    /// Reads every moment of the parts for what it says about `subject`.
    pub(in crate::answer) async fn survey(
        &self,
        subject: &Subject,
        parts: &[Part],
        k: usize,
    ) -> Result<Surveyed, AnswerError> {
        let mut read = Vec::new();
        for part in parts {
            read.extend(self.moments_of(part).await?);
        }
        let mut ear = Ear { subject, judged: HashMap::new() };
        let vocabulary = self.engine.vocabulary();
        if !subject.is_simple {
            self.listen(&mut ear, &read).await?;
        }
        let can_name = can_name(subject, vocabulary);
        let mut told: Vec<Told<'_>> = read.into_iter().map(|read| ear.tell(read)).collect();
        let found = told.iter().any(|told| told.slots.count(Slot::Shown) + told.slots.count(Slot::Unclear) > 0);
        if !found && vocabulary.is_none() && subject.wants != Wants::Emptiness {
            // A captioner of many words may call it something else.
            self.ask_nearest(&mut ear, parts).await?;
            for told in &mut told {
                ear.tell_again(told);
            }
        }
        for told in &mut told {
            self.mark_blind(told).await?;
        }
        let survey = summarise(subject, &told, can_name, self.cfg.coverage_floor);
        let picks = picks(&told, survey.conclusion, k);
        let claims = if survey.conclusion == Conclusion::Seen { claims(&ear, &picks) } else { Vec::new() };
        let hits = self.scored(subject, picks).await?;
        Ok(Surveyed { survey, claims, hits })
    }

    /// The moments of one part with the slots they should fill; nothing if the stream does not reach the window.
    async fn moments_of<'a>(&self, part: &'a Part) -> Result<Option<(&'a Part, Slots, Vec<Moment>)>, AnswerError> {
        let Some(window) = part.plan.window else { return Ok(None) };
        let due = due(part);
        let Some((whole, slots)) = due.whole(window).zip(Slots::new(part.stream.clone(), window, due)) else {
            return Ok(None);
        };
        let scope = Scope { streams: vec![part.stream.clone()], window: whole };
        let mut moments = self.index.moments(scope, MOST_MOMENTS, true).await?;
        moments.reverse();
        Ok(Some((part, slots, moments)))
    }

    /// Has the judge say of the most frequent sentences that speak of the subject whether they say what was asked.
    async fn listen(&self, ear: &mut Ear<'_>, read: &[(&Part, Slots, Vec<Moment>)]) -> Result<(), AnswerError> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for caption in read.iter().flat_map(|(_, _, moments)| moments.iter().map(|moment| &moment.caption)) {
            for sentence in caption.sentences().filter(|sentence| mention(sentence, &ear.subject.heads) > Mention::No) {
                *counts.entry(sentence).or_default() += 1;
            }
        }
        let mut sentences: Vec<(&str, usize)> = counts.into_iter().collect();
        sentences.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let sentences = sentences.into_iter().take(MOST_JUDGED).map(|(sentence, _)| sentence.to_owned());
        self.hear(ear, sentences.collect()).await
    }

    /// The same of the sentences nearest in meaning, whether they name the subject or not.
    async fn ask_nearest(&self, ear: &mut Ear<'_>, parts: &[Part]) -> Result<(), AnswerError> {
        let query = self.embed(&ear.subject.hypothesis).await?;
        let mut sentences: Vec<String> = Vec::new();
        for scope in scopes(parts) {
            for hit in self.index.search(query.clone(), scope, NEAREST).await? {
                sentences.extend(hit.moment.caption.sentences().map(str::to_owned));
            }
        }
        sentences.sort_unstable();
        sentences.dedup();
        sentences.truncate(MOST_JUDGED);
        self.hear(ear, sentences).await
    }

    /// Adds the judge's opinions. A judge that is not available leaves the sentences open.
    async fn hear(&self, ear: &mut Ear<'_>, sentences: Vec<String>) -> Result<(), AnswerError> {
        let pair = |premise: &String| Pair { premise: premise.clone(), hypothesis: ear.subject.hypothesis.clone() };
        let pairs: Vec<Pair> = sentences.iter().map(pair).collect();
        if let Ok(opinions) = self.opinions(pairs.clone()).await? {
            let threshold = self.engine.threshold();
            for ((sentence, pair), opinion) in sentences.into_iter().zip(pairs).zip(opinions) {
                let weighed = weigh::frame(&Caption::new(&sentence), &[pair], &[opinion], threshold);
                ear.judged.insert(sentence, weighed.reason);
            }
        }
        Ok(())
    }

    /// Takes out the stretches in which nothing could be seen, whatever captions say about them.
    async fn mark_blind(&self, told: &mut Told<'_>) -> Result<(), AnswerError> {
        let Some(window) = told.part.plan.window else { return Ok(()) };
        for span in self.index.unobservable(&told.part.stream, window).await? {
            told.slots.blind(span.from, span.until);
            told.moments.retain(|(moment, _)| !span.contains(moment.at));
        }
        Ok(())
    }

    /// The same moments with their similarity to the subject.
    async fn scored(&self, subject: &Subject, picks: Vec<Moment>) -> Result<Vec<Hit>, AnswerError> {
        if picks.is_empty() {
            return Ok(Vec::new());
        }
        let query = self.embed(&subject.text).await?;
        let mut hits = Vec::with_capacity(picks.len());
        for moment in picks {
            let instant = Window::new(moment.at, moment.at).unwrap_or(Window::ALL);
            let scope = Scope { streams: vec![moment.stream.clone()], window: instant };
            let found = self.index.search(query.clone(), scope, 1).await?.pop();
            hits.push(Hit { score: found.map_or(0.0, |hit| hit.score), moment });
        }
        Ok(hits)
    }
}

impl Ear<'_> {
    fn tell<'a>(&self, (part, slots, moments): (&'a Part, Slots, Vec<Moment>)) -> Told<'a> {
        let moments = moments.into_iter().map(|moment| (self.state(&moment.caption), moment));
        let mut told = Told { part, slots, moments: moments.map(|(state, moment)| (moment, state)).collect() };
        for (moment, state) in &told.moments {
            told.slots.put(moment.at, moment.until, *state);
        }
        told
    }

    /// After the judge said more.
    fn tell_again(&self, told: &mut Told<'_>) {
        for (moment, state) in &mut told.moments {
            if moment.caption.sentences().any(|sentence| self.judged(sentence) == Some(Reason::Entailed)) {
                *state = Slot::Shown;
                told.slots.put(moment.at, moment.until, Slot::Shown);
            }
        }
    }

    fn state(&self, caption: &Caption) -> Slot {
        if is_silent(caption) {
            return Slot::Blind;
        }
        let mut state = Slot::Clear;
        let mut denied = false;
        for sentence in caption.sentences() {
            let mention = mention(sentence, &self.subject.heads);
            let said = match (mention, self.subject.is_simple) {
                (Mention::No, _) => continue,
                (Mention::Yes, true) => Slot::Shown,
                (Mention::Open, true) => Slot::Unclear,
                (_, false) => match self.judged(sentence) {
                    Some(Reason::Entailed) => Slot::Shown,
                    Some(Reason::Contradicted) => {
                        denied = true;
                        continue;
                    }
                    _ => Slot::Unclear,
                },
            };
            if said == Slot::Shown {
                return Slot::Shown;
            }
            state = said;
        }
        if denied { Slot::Clear } else { state }
    }

    /// What the judge concluded of a sentence that may tell of the subject.
    fn judged(&self, sentence: &str) -> Option<Reason> {
        let reason = self.judged.get(sentence).copied();
        reason.filter(|reason| *reason != Reason::Entailed || self.subject.may_be_told_by(sentence))
    }

    /// The sentence that is claimed of a moment: of several things the one that its caption speaks of.
    fn claim(&self, caption: &Caption) -> String {
        let Subject { wants, hypothesis, heads, alternatives, .. } = self.subject;
        let speaks = |heads: &[String]| {
            caption.sentences().find(|sentence| mention(sentence, heads) == Mention::Yes).map(str::to_owned)
        };
        let mut either = heads.iter().zip(alternatives);
        let shown = either.find(|(head, _)| speaks(std::slice::from_ref(head)).is_some());
        let own = || speaks(heads).filter(|_| *wants == Wants::Emptiness || !alternatives.is_empty());
        shown.map(|(_, claim)| claim.clone()).or_else(own).unwrap_or_else(|| hypothesis.clone())
    }
}

fn due(part: &Part) -> Due {
    let extent = &part.extent;
    let asked = StreamTime::ZERO + extent.asked.saturating_since(extent.epoch);
    Due { kind: extent.kind, every: extent.sample_every, last: extent.last, asked }
}

fn summarise(subject: &Subject, told: &[Told<'_>], can_name: bool, floor: f64) -> Survey {
    let mut coverage = Coverage::default();
    let (mut times, mut seconds) = (Bounds { least: 0.0, most: 0.0 }, Bounds { least: 0.0, most: 0.0 });
    let mut stretches = Vec::new();
    for Told { slots, .. } in told {
        slots.add_to(&mut coverage);
        for (sum, own) in [(&mut times, slots.times()), (&mut seconds, slots.seconds())] {
            *sum = Bounds { least: sum.least + own.least, most: sum.most + own.most };
        }
        stretches.extend(slots.stretches());
    }
    let count = |state| told.iter().map(|told| told.slots.count(state)).sum();
    let (shown, unclear) = (count(Slot::Shown), count(Slot::Unclear));
    let (conclusion, doubt) = conclude(Counts { shown, unclear, coverage: &coverage, can_name }, floor);
    stretches.truncate(TOLD);
    let (subject, wants) = (subject.text.clone(), subject.wants);
    Survey { subject, wants, conclusion, doubt, coverage, floor, shown, unclear, stretches, times, seconds }
}

/// The moments that speak of the thing (or of something like it, if none does), at most `k`, those to prove it by first.
fn picks(told: &[Told<'_>], conclusion: Conclusion, k: usize) -> Vec<Moment> {
    let wanted = if conclusion == Conclusion::Seen { Slot::Shown } else { Slot::Unclear };
    let order = told.first().map_or(Order::Relevance, |told| told.part.plan.order);
    let at = told.first().map_or(StreamTime::ZERO, |told| told.part.plan.at);
    let cited = |told: &Told<'_>| {
        let speaking = told.moments.iter().filter(|(_, state)| *state == wanted);
        speaking.map(|(moment, _)| told.part.plan.cited(moment.clone())).collect::<Vec<_>>()
    };
    let mut moments: Vec<Moment> = told.iter().flat_map(cited).collect();
    moments.sort_by_key(|moment| (moment.wall, moment.id));
    let count = moments.len();
    let chosen: Vec<Moment> = match order {
        Order::First | Order::Earliest => moments,
        Order::Last | Order::Latest => moments.into_iter().rev().collect(),
        Order::Nearest => {
            moments.sort_by_key(|moment| moment.distance(at));
            moments
        }
        Order::Relevance => spread(count, k).into_iter().map(|index| moments[index].clone()).collect(),
    };
    chosen.into_iter().take(k).collect()
}

/// At most `k` of `count` places: the first, the last, then evenly between.
fn spread(count: usize, k: usize) -> Vec<usize> {
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let parts = k.max(2) - 1;
    let mut places: Vec<usize> = Vec::new();
    for place in [0, last].into_iter().chain((1..parts).map(|part| part * last / parts)) {
        if places.len() < k && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn claims(ear: &Ear<'_>, picks: &[Moment]) -> Vec<Claim> {
    let claim = |moment: &Moment| Claim {
        text: ear.claim(&moment.caption),
        citation: Citation { stream: moment.stream.clone(), at: moment.at },
    };
    picks.iter().take(PROOFS).map(claim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_are_spread_over_what_was_shown() {
        assert_eq!(spread(0, 5), Vec::<usize>::new());
        assert_eq!(spread(1, 5), [0]);
        assert_eq!(spread(2, 5), [0, 1]);
        let mut many = spread(100, 5);
        assert_eq!(many[..2], [0, 99]);
        many.sort_unstable();
        assert_eq!(many, [0, 24, 49, 74, 99]);
        assert_eq!(spread(10, 1).len(), 1);
    }
}

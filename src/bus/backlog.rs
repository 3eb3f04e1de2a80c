//! What waits to be published, and what is given up when too much waits. Pure: no clock, no network.
//!
//! Two lanes. Captions and state changes are news: the oldest are worth least and go first, by count. Verdicts and
//! their evidence are proof: they are kept as long as their bytes fit, and leave first when the server is back.

use std::collections::VecDeque;

use super::outbox::Parcel;
use super::subjects::Topic;

/// What is kept at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Captions and state changes.
    pub(super) news: usize,
    /// Bytes of verdicts and evidence.
    pub(super) proof_bytes: usize,
}

/// The two lanes.
#[derive(Debug)]
pub(super) struct Backlog {
    limits: Limits,
    news: VecDeque<Parcel>,
    proof: VecDeque<Parcel>,
    proof_bytes: usize,
}

impl Backlog {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, news: VecDeque::new(), proof: VecDeque::new(), proof_bytes: 0 }
    }

    /// Adds behind everything; returns what had to go.
    pub(super) fn push(&mut self, parcel: Parcel) -> Vec<Topic> {
        if is_proof(&parcel) {
            self.proof_bytes += parcel.size();
            self.proof.push_back(parcel);
        } else {
            self.news.push_back(parcel);
        }
        self.trim()
    }

    /// Puts back in front what was taken and not published, in the order taken; returns what had to go.
    pub(super) fn put_back(&mut self, parcels: Vec<Parcel>) -> Vec<Topic> {
        for parcel in parcels.into_iter().rev() {
            if is_proof(&parcel) {
                self.proof_bytes += parcel.size();
                self.proof.push_front(parcel);
            } else {
                self.news.push_front(parcel);
            }
        }
        self.trim()
    }

    /// Takes at most `count` parcels and, beyond the first, at most `bytes`: proof first.
    pub(super) fn take(&mut self, count: usize, bytes: usize) -> Vec<Parcel> {
        let mut taken = Vec::new();
        let mut size = 0;
        while taken.len() < count {
            let lane = if self.proof.is_empty() { &mut self.news } else { &mut self.proof };
            let Some(next) = lane.front().map(Parcel::size) else { break };
            if !taken.is_empty() && size + next > bytes {
                break;
            }
            size += next;
            taken.extend(lane.pop_front());
        }
        self.proof_bytes = self.proof.iter().map(Parcel::size).sum();
        taken
    }

    /// How many of `topic` wait.
    pub(super) fn waiting(&self, topic: Topic) -> usize {
        self.news.iter().chain(&self.proof).filter(|parcel| parcel.topic == topic).count()
    }

    pub(super) fn len(&self) -> usize {
        self.news.len() + self.proof.len()
    }

    fn trim(&mut self) -> Vec<Topic> {
        let mut gone = Vec::new();
        while self.news.len() > self.limits.news {
            gone.extend(self.news.pop_front().map(|parcel| parcel.topic));
        }
        while self.proof_bytes > self.limits.proof_bytes {
            let Some(parcel) = self.proof.pop_front() else { break };
            self.proof_bytes -= parcel.size();
            gone.push(parcel.topic);
        }
        gone
    }
}

fn is_proof(parcel: &Parcel) -> bool {
    matches!(parcel.topic, Topic::Verdict | Topic::Evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(topic: Topic, name: &str, bytes: usize) -> Parcel {
        Parcel { topic, subject: name.to_owned(), headers: Vec::new(), payload: vec![0; bytes].into() }
    }

    fn names(parcels: &[Parcel]) -> Vec<&str> {
        parcels.iter().map(|parcel| parcel.subject.as_str()).collect()
    }

    fn backlog(news: usize, proof_bytes: usize) -> Backlog {
        Backlog::new(Limits { news, proof_bytes })
    }

    #[test]
    fn old_news_goes_first() {
        let mut backlog = backlog(2, 1000);
        assert!(backlog.push(parcel(Topic::Caption, "1", 10)).is_empty());
        assert!(backlog.push(parcel(Topic::State, "2", 10)).is_empty());
        assert_eq!(backlog.push(parcel(Topic::Caption, "3", 10)), [Topic::Caption]);
        assert_eq!(names(&backlog.take(9, 1000)), ["2", "3"]);
        assert_eq!(backlog.len(), 0);
    }

    #[test]
    fn proof_is_kept_by_bytes_and_leaves_first() {
        let size = parcel(Topic::Verdict, "v1", 100).size();
        let mut backlog = backlog(1, 2 * size);
        backlog.push(parcel(Topic::Caption, "c", 10));
        backlog.push(parcel(Topic::Verdict, "v1", 100));
        backlog.push(parcel(Topic::Evidence, "e2", 100));
        assert_eq!(backlog.push(parcel(Topic::Verdict, "v3", 100)), [Topic::Verdict]);
        assert_eq!(backlog.waiting(Topic::Evidence), 1);
        assert_eq!(names(&backlog.take(9, 10_000)), ["e2", "v3", "c"]);
    }

    #[test]
    fn what_is_put_back_keeps_its_order_and_its_bytes() {
        let mut backlog = backlog(9, 10_000);
        for name in ["a", "b", "c"] {
            backlog.push(parcel(Topic::Verdict, name, 100));
        }
        let taken = backlog.take(2, 10_000);
        assert_eq!(names(&taken), ["a", "b"]);
        backlog.push(parcel(Topic::Verdict, "d", 100));
        assert!(backlog.put_back(taken).is_empty());
        assert_eq!(names(&backlog.take(9, 10_000)), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_take_is_bounded_and_never_stuck() {
        let mut backlog = backlog(9, 10_000);
        backlog.push(parcel(Topic::Evidence, "big", 5000));
        backlog.push(parcel(Topic::Evidence, "small", 10));
        assert_eq!(names(&backlog.take(9, 1000)), ["big"]);
        assert_eq!(names(&backlog.take(9, 1000)), ["small"]);
        assert!(backlog.take(9, 1000).is_empty());
    }
}

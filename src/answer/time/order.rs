//! In what order retrieved moments are taken. Pure.

use super::Order;
use crate::domain::{Hit, StreamTime};

/// "The first car" is the earliest moment whose similarity is at least this part of the best one's.
const SIMILAR: f32 = 0.75;
/// Moments looked at for each one wanted when the order is not by relevance.
const WIDER: usize = 4;

/// How many hits to search for so that `arrange` can choose `k`.
pub(in crate::answer) fn candidates(order: Order, k: usize) -> usize {
    if order == Order::Relevance { k } else { k.saturating_mul(WIDER) }
}

/// Orders hits that came best first, and keeps `k`. `at` is the time meant by [`Order::Nearest`].
pub(in crate::answer) fn arrange(mut hits: Vec<Hit>, order: Order, at: StreamTime, k: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    if matches!(order, Order::First | Order::Last) {
        let least = hits.first().map_or(0.0, |best| best.score * SIMILAR);
        hits.retain(|hit| hit.score >= least);
    }
    let time = |hit: &Hit| (hit.moment.wall, hit.moment.at);
    match order {
        Order::Relevance => {}
        Order::Earliest | Order::First => hits.sort_by_key(time),
        Order::Latest | Order::Last => hits.sort_by_key(|hit| std::cmp::Reverse(time(hit))),
        Order::Nearest => {
            // What was there then is asked; what was there five seconds later is no answer while the other one is.
            let least = hits.iter().map(|hit| hit.moment.distance(at)).min();
            hits.retain(|hit| Some(hit.moment.distance(at)) == least);
        }
    }
    hits.truncate(k);
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Caption, Fingerprint, Moment, MomentId, StreamId, WallTime};

    fn t(seconds: f64) -> StreamTime {
        StreamTime::from_seconds(seconds).expect("a time")
    }

    #[test]
    fn hits_are_taken_in_the_order_asked_for() {
        let hits = [(10.0, 0.9), (30.0, 0.8), (0.0, 0.2), (20.0, 0.7)];
        let table: [(Order, &[f64]); 6] = [
            (Order::Relevance, &[10.0, 30.0, 20.0]),
            (Order::Earliest, &[0.0, 10.0, 20.0]),
            (Order::Latest, &[30.0, 20.0, 10.0]),
            (Order::First, &[10.0, 20.0, 30.0]),
            (Order::Last, &[30.0, 20.0, 10.0]),
            (Order::Nearest, &[20.0]),
        ];
        for (order, due) in table {
            let taken = arrange(hits.iter().map(|(at, score)| hit(*at, *score)).collect(), order, t(21.0), 3);
            assert_eq!(taken.iter().map(|hit| hit.moment.at.seconds()).collect::<Vec<_>>(), due, "{order:?}");
        }
        assert_eq!(candidates(Order::Relevance, 5), 5);
        assert_eq!(candidates(Order::First, 5), 20);
    }

    fn hit(at: f64, score: f32) -> Hit {
        let model = Fingerprint::new("fake");
        let moment = Moment {
            id: MomentId(1),
            stream: StreamId::new("cam").expect("a token"),
            at: t(at),
            until: t(at),
            wall: WallTime::from_nanos(t(at).nanos() as i64).expect("in range"),
            timing: None,
            caption: Caption::new("There is a car."),
            captioner: model.clone(),
            embedder: model,
        };
        Hit { moment, score }
    }
}

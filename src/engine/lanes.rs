//! Two bounded queues towards one thread; the interactive one overtakes the background one.
//!
//! Owns the waiting jobs and the permits that bound them. Knows nothing about models.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::{Config, EngineError, Metrics};
use crate::seams::ModelError;
use crate::telemetry::QueueGauge;

/// Who waits for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Somebody who asked a question. Overtakes, and is refused when too many wait.
    Interactive,
    /// A watched stream. Waits.
    Background,
}

/// A place in a lane, held from admission until the item is taken.
#[derive(Debug)]
pub(super) struct Place {
    lane: Lane,
    _permit: OwnedSemaphorePermit,
}

/// Items of type `T` in two lanes.
#[derive(Debug)]
pub(super) struct Lanes<T> {
    waiting: Mutex<Waiting<T>>,
    arrived: Condvar,
    interactive: Arc<Semaphore>,
    background: Arc<Semaphore>,
    interactive_depth: QueueGauge,
    background_depth: QueueGauge,
    places: [usize; 2],
}

#[derive(Debug)]
struct Waiting<T> {
    interactive: VecDeque<(Arc<Place>, T)>,
    background: VecDeque<(Arc<Place>, T)>,
    closed: bool,
}

impl<T> Lanes<T> {
    /// `queues`: the names of the interactive and the background lane in the queue gauges.
    pub(super) fn new(config: &Config, metrics: &Metrics, queues: [&'static str; 2]) -> Self {
        // A lane without a place would refuse or delay everything for ever.
        let (interactive, background) = (config.interactive_jobs.max(1), config.background_jobs.max(1));
        Self {
            waiting: Mutex::new(Waiting { interactive: VecDeque::new(), background: VecDeque::new(), closed: false }),
            arrived: Condvar::new(),
            interactive: Arc::new(Semaphore::new(interactive)),
            background: Arc::new(Semaphore::new(background)),
            interactive_depth: metrics.queues.open(queues[0], interactive),
            background_depth: metrics.queues.open(queues[1], background),
            places: [interactive, background],
        }
    }

    /// Reserves a place: at once or never in the interactive lane, after a wait in the background lane.
    pub(super) async fn admit(&self, lane: Lane) -> Result<Place, EngineError> {
        let permit = match lane {
            Lane::Interactive => self.interactive.clone().try_acquire_owned().map_err(|refusal| match refusal {
                TryAcquireError::NoPermits => EngineError::Busy,
                TryAcquireError::Closed => ModelError::Stopped.into(),
            })?,
            Lane::Background => self.background.clone().acquire_owned().await.map_err(|_| ModelError::Stopped)?,
        };
        Ok(Place { lane, _permit: permit })
    }

    /// Puts `item` in the place that was reserved for it, or for it and others of one caller; drops it if the lanes are
    /// closed.
    pub(super) fn push(&self, place: impl Into<Arc<Place>>, item: T) {
        let place = place.into();
        let mut waiting = self.lock();
        if waiting.closed {
            return;
        }
        match place.lane {
            Lane::Interactive => waiting.interactive.push_back((place, item)),
            Lane::Background => waiting.background.push_back((place, item)),
        }
        self.show(&waiting);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Blocks for the next item, interactive ones first; `None` once the lanes are closed.
    pub(super) fn take(&self) -> Option<(Lane, T)> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            let next = match waiting.interactive.pop_front() {
                Some(next) => Some(next),
                None => waiting.background.pop_front(),
            };
            if let Some((place, item)) = next {
                self.show(&waiting);
                return Some((place.lane, item));
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the first interactive item that `wanted` accepts, without blocking; none once the lanes are closed.
    pub(super) fn take_interactive(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let mut waiting = self.lock();
        let at = waiting.interactive.iter().position(|(_, item)| wanted(item))?;
        let (_, item) = waiting.interactive.remove(at)?;
        self.show(&waiting);
        Some(item)
    }

    /// Takes every item of `lane` that `wanted` accepts, in order, without blocking.
    pub(super) fn take_all(&self, lane: Lane, mut wanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut waiting = self.lock();
        let queue = match lane {
            Lane::Interactive => &mut waiting.interactive,
            Lane::Background => &mut waiting.background,
        };
        let (mut taken, mut left) = (Vec::new(), VecDeque::with_capacity(queue.len()));
        for (place, item) in queue.drain(..) {
            if wanted(&item) {
                taken.push(item);
            } else {
                left.push_back((place, item));
            }
        }
        *queue = left;
        self.show(&waiting);
        taken
    }

    /// Refuses everything from now on and drops what waits, which tells its callers.
    pub(super) fn close(&self) {
        self.interactive.close();
        self.background.close();
        let mut waiting = self.lock();
        waiting.closed = true;
        let dropped = (std::mem::take(&mut waiting.interactive), std::mem::take(&mut waiting.background));
        self.show(&waiting);
        drop(waiting);
        // Outside the lock: dropping an item wakes its caller.
        drop(dropped);
        self.arrived.notify_all();
    }

    fn show(&self, waiting: &Waiting<T>) {
        // Several items may share a place.
        self.interactive_depth.set(waiting.interactive.len().min(self.places[0]));
        self.background_depth.set(waiting.background.len().min(self.places[1]));
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Queues, Stages};

    fn lanes(interactive_jobs: usize, background_jobs: usize) -> Lanes<&'static str> {
        let registry = prometheus::Registry::new();
        let metrics = Metrics {
            stages: Stages::register(&registry).expect("registers"),
            queues: Queues::register(&registry).expect("registers"),
        };
        let config = Config { interactive_jobs, background_jobs, ..Config::default() };
        Lanes::new(&config, &metrics, ["engine_interactive", "engine_background"])
    }

    async fn put(lanes: &Lanes<&'static str>, lane: Lane, item: &'static str) {
        let place = lanes.admit(lane).await.expect("a place");
        lanes.push(place, item);
    }

    #[tokio::test]
    async fn the_interactive_lane_overtakes_and_each_lane_keeps_its_order() {
        let lanes = lanes(4, 4);
        put(&lanes, Lane::Background, "caption 1").await;
        put(&lanes, Lane::Background, "caption 2").await;
        put(&lanes, Lane::Interactive, "question 1").await;
        put(&lanes, Lane::Interactive, "question 2").await;
        let order: Vec<_> = (0..4).filter_map(|_| lanes.take()).map(|(_, item)| item).collect();
        assert_eq!(order, ["question 1", "question 2", "caption 1", "caption 2"]);
    }

    #[tokio::test]
    async fn a_full_interactive_lane_refuses_and_a_full_background_lane_waits() {
        let lanes = lanes(1, 1);
        put(&lanes, Lane::Interactive, "question").await;
        put(&lanes, Lane::Background, "caption").await;
        assert!(matches!(lanes.admit(Lane::Interactive).await, Err(EngineError::Busy)));
        let mut waiter = Box::pin(lanes.admit(Lane::Background));
        assert!(futures::poll!(&mut waiter).is_pending());
        assert_eq!(lanes.take(), Some((Lane::Interactive, "question")));
        assert_eq!(lanes.take(), Some((Lane::Background, "caption")));
        waiter.await.expect("a place became free");
    }

    #[tokio::test]
    async fn closing_refuses_and_wakes() {
        let lanes = lanes(1, 1);
        let place = lanes.admit(Lane::Interactive).await.expect("a place");
        lanes.close();
        lanes.push(place, "too late");
        assert_eq!(lanes.take(), None);
        for lane in [Lane::Interactive, Lane::Background] {
            assert!(matches!(lanes.admit(lane).await, Err(EngineError::Model(ModelError::Stopped))));
        }
    }

    #[tokio::test]
    async fn the_first_wanted_interactive_item_is_picked() {
        let lanes = lanes(8, 8);
        for (lane, item) in [(Lane::Interactive, "draft"), (Lane::Background, "text 0"), (Lane::Interactive, "text 1")]
        {
            put(&lanes, lane, item).await;
        }
        let text = |item: &&'static str| item.starts_with("text");
        assert_eq!((lanes.take_interactive(text), lanes.take_interactive(text)), (Some("text 1"), None));
        assert_eq!(lanes.take(), Some((Lane::Interactive, "draft")));
        put(&lanes, Lane::Interactive, "text 2").await;
        lanes.close();
        assert_eq!(lanes.take_interactive(text), None);
    }

    #[tokio::test]
    async fn the_items_of_one_lane_are_picked_in_order() {
        for lane in [Lane::Background, Lane::Interactive] {
            let lanes = lanes(8, 8);
            for item in ["caption 1", "text 1", "caption 2", "text 2"] {
                put(&lanes, lane, item).await;
            }
            let other = if lane == Lane::Background { Lane::Interactive } else { Lane::Background };
            assert_eq!(lanes.take_all(other, |_| true), Vec::<&str>::new());
            assert_eq!(lanes.take_all(lane, |item| item.starts_with("text")), ["text 1", "text 2"]);
            assert_eq!(lanes.take(), Some((lane, "caption 1")));
            assert_eq!(lanes.take(), Some((lane, "caption 2")));
        }
    }
}

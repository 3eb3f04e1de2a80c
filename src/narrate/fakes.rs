//! Sources without video for tests: lives that follow a script.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::domain::{Clock, Frame, Picture, StreamId, StreamTime, WallTime};
use crate::engine::fakes::picture;
use crate::seams::{FrameSource, Origin, SourceError};
use crate::stop::Stop;

/// What a source does at one call.
pub(super) enum Step {
    /// Gives a frame of this second, whose colour is the second.
    Frame(u8),
    /// Gives a frame of this second with this picture.
    Shows(u8, Picture),
    /// Waits for a sign of the test, then goes on with the next step.
    Await(Receiver<()>),
    /// Breaks.
    Break(SourceError),
    /// Panics.
    Panic,
    /// The end of the file.
    End,
}

/// What `open` was called with, in order.
pub(super) type Origins = Arc<Mutex<Vec<Origin>>>;

/// An `open` whose n-th call gives the n-th life. A life whose steps are used up gives nothing more until the end is
/// asked for.
pub(super) fn lives(
    stream: &StreamId,
    stop: &Stop,
    lives: impl IntoIterator<Item = Vec<Step>>,
) -> (impl FnMut(Origin) -> Result<Box<dyn FrameSource>, SourceError> + Send + 'static, Origins) {
    let mut lives: VecDeque<_> = lives.into_iter().collect();
    let (stream, stop, origins) = (stream.clone(), stop.clone(), Origins::default());
    let seen = origins.clone();
    let open = move |origin: Origin| {
        seen.lock().expect("not poisoned").push(origin);
        let steps = lives.pop_front().expect("a life that the test foresaw").into();
        let source = Script { stream: stream.clone(), epoch: origin.epoch, steps, stop: stop.clone() };
        Ok(Box::new(source) as Box<dyn FrameSource>)
    };
    (open, origins)
}

struct Script {
    stream: StreamId,
    epoch: WallTime,
    steps: VecDeque<Step>,
    stop: Stop,
}

impl FrameSource for Script {
    fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        loop {
            match self.steps.pop_front() {
                Some(Step::Frame(second)) => return Ok(Some(self.frame(second, picture(second)))),
                Some(Step::Shows(second, picture)) => return Ok(Some(self.frame(second, picture))),
                Some(Step::Await(sign)) => sign.recv().expect("the test gives the sign"),
                Some(Step::Break(error)) => return Err(error),
                Some(Step::Panic) => panic!("the decoder exploded"),
                Some(Step::End) => return Ok(None),
                None => {
                    self.stop.pause(Duration::from_hours(1));
                    return Err(SourceError::Stopped);
                }
            }
        }
    }
}

impl Script {
    fn frame(&self, second: u8, picture: Picture) -> Frame {
        let after = Duration::from_secs(second.into());
        Frame {
            stream: self.stream.clone(),
            at: StreamTime::ZERO + after,
            wall: self.epoch.plus(after),
            clock: Clock::Media,
            precision: Duration::from_millis(20),
            picture,
        }
    }
}

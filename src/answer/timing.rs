//! How exact the time is that a claim cites.

use super::error::AnswerError;
use super::flow::Parts;
use crate::domain::{Citation, Timing, Trial, Window};
use crate::index::Scope;

impl Parts {
    /// By the cited frame itself if it was extracted, else by what the memory holds of that time; `None` if neither
    /// tells.
    pub(super) async fn timing(&self, cited: &Citation, trials: &[Trial]) -> Result<Option<Timing>, AnswerError> {
        let of_frame =
            trials.iter().filter_map(|trial| trial.evidence.as_ref()).find(|evidence| evidence.neighbour == 0);
        if let Some(evidence) = of_frame {
            return Ok(Some(Timing { clock: evidence.clock, precision: evidence.precision }));
        }
        let Ok(window) = Window::new(cited.at, cited.at) else { return Ok(None) };
        let scope = Scope { streams: vec![cited.stream.clone()], window };
        let moment = self.index.moments(scope, 1, true).await?.into_iter().next();
        Ok(moment.and_then(|moment| moment.timing))
    }
}

//! What a new configuration means for one stream. Pure.

use std::time::Duration;

use crate::domain::StreamState;
use crate::video::StreamConfig;

/// Who asked for a stream to be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The configuration file.
    File,
    /// Somebody on the bus.
    Bus,
}

/// How a stream is watched. Absent settings are such that cannot be told, and equal nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) settings: Option<&'a StreamConfig>,
    pub(super) sample_every: Duration,
}

/// What to do with a stream that shall be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It is watched as it shall be.
    Leave,
    /// It is not watched yet.
    Start,
    /// It is watched in another way.
    Change,
    /// It is watched as it shall be, and it does not get through: whoever sends a signal may have mended the camera, the
    /// password or the file.
    TryAgain,
}

/// Compares how a stream is watched now, and fares, with how it shall be.
pub(super) fn step(now: Option<(Terms<'_>, StreamState)>, wanted: Terms<'_>) -> Step {
    let Some((terms, state)) = now else { return Step::Start };
    let same = terms.settings.is_some() && terms.settings == wanted.settings;
    if !same || terms.sample_every != wanted.sample_every {
        return Step::Change;
    }
    match state {
        StreamState::Connecting | StreamState::Up | StreamState::Ended => Step::Leave,
        StreamState::Stalled
        | StreamState::Down
        | StreamState::AuthFailed
        | StreamState::Failed
        | StreamState::Removed => Step::TryAgain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_or_does_not_get_through_is_touched() {
        let config = |url: &str| StreamConfig::new(url).expect("is an address");
        let (door, yard) = (config("rtsp://h/door"), config("rtsp://h/yard"));
        let (five, one) = (Duration::from_secs(5), Duration::from_secs(1));
        let terms = |settings, sample_every| Terms { settings, sample_every };
        let wanted = terms(Some(&door), five);
        assert_eq!(step(None, wanted), Step::Start);
        for (now, state, due) in [
            (terms(Some(&door), five), StreamState::Up, Step::Leave),
            (terms(Some(&door), five), StreamState::Connecting, Step::Leave),
            (terms(Some(&door), five), StreamState::Ended, Step::Leave),
            (terms(Some(&door), five), StreamState::AuthFailed, Step::TryAgain),
            (terms(Some(&door), five), StreamState::Down, Step::TryAgain),
            (terms(Some(&door), five), StreamState::Stalled, Step::TryAgain),
            (terms(Some(&door), five), StreamState::Failed, Step::TryAgain),
            (terms(Some(&yard), five), StreamState::Up, Step::Change),
            (terms(Some(&door), one), StreamState::Up, Step::Change),
            (terms(None, five), StreamState::Failed, Step::Change),
        ] {
            assert_eq!(step(Some((now, state)), wanted), due, "{now:?} {state:?}");
        }
        let untold = terms(None, five);
        assert_eq!(step(Some((untold, StreamState::Failed)), untold), Step::Change);
    }
}

//! What things are: the nouns of the crate, as values.
//!
//! No I/O and no foreign types but serde (stored and sent values) and jiff (wall time). Every other module
//! speaks in these words, so a name that is missing here should be added here before it is used elsewhere.

mod answer;
mod asked;
mod assessment;
mod blind;
mod caption;
mod claim;
mod event;
mod evidence;
mod frame;
mod ids;
mod moment;
mod question;
mod round;
mod silence;
mod stream;
mod survey;
mod time;
mod verdict;
pub mod words;
mod zone;

pub use answer::Answer;
pub use asked::{Anchor, Asked, Order, Searched, Side};
pub use assessment::{Assessment, Role};
pub use blind::{BlindSpan, Blindness};
pub use caption::Caption;
pub use claim::{Citation, Claim};
pub use event::Event;
pub use evidence::{Evidence, Sha256};
pub use frame::{Clock, Frame, Picture, PictureError, Timing};
pub use ids::{IdError, MAX_STREAM_ID, MomentId, QuestionId, StreamId, VerdictId};
pub use moment::{Embedding, Hit, Moment, NewMoment};
pub use question::{Design, Need, Question};
pub use round::{How, Repaired, Round, Why};
pub use silence::{is_silent, says_the_same};
pub use stream::{StreamKind, StreamState};
pub use survey::{Bounds, Conclusion, Coverage, Doubt, Stretch, Survey, Wants};
pub use time::{StreamTime, TimeError, WallTime, Window};
pub use verdict::{Entailment, Fingerprint, Label, ModelSet, Reason, Trial, Verdict};
pub use zone::{Zone, ZoneError};

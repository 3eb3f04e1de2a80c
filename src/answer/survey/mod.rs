//! Questions that all moments of a window answer together: presence, absence, how many times, how long, when.
//!
//! ```text
//! question ─▶ subject ─▶ every moment of the window: does its caption speak of it? ─▶ slots ─▶ conclusion, coverage
//!                                                                                       └─▶ moments to prove it by
//! ```
//!
//! A single frame shows a presence, so what is seen is claimed and verified as any claim, at the moments whose captions
//! speak of it. No frame shows an absence: it has no verdict and is never labelled GROUNDED. It is concluded from what
//! all captions of the window say, only if enough of the window was seen ([`Config::coverage_floor`]), only of things
//! that the captioner can name, and it is told with its coverage. Otherwise nothing is concluded.
//!
//! [`Config::coverage_floor`]: super::Config::coverage_floor

mod conclude;
mod coverage;
mod mention;
mod run;
mod subject;
mod tell;
mod wording;

pub(super) use mention::denies;
pub(super) use run::Surveyed;
pub(super) use subject::read;
pub(super) use tell::sentence;

//! How true is it? Claims with known truth in, tables and an audit out.
//!
//! Everything here is a function from values to values, or plain Rust over the seams: who runs models and opens files
//! is `cli`. It owns no state, and it must not decide what is true: truth comes with the claims.
//!
//! - [`suite`]: questions and claims about clips, as a person labelled them.
//! - [`facts`]: labels that outlive what is drafted.
//! - [`record`]: what came out of a suite, and how it is written down.
//! - [`tally`]: claims caught and flagged; [`stats`]: shares with their intervals, curves over the threshold.
//! - [`text`]: the judge alone, on claims made from captions.
//! - [`thresholds`]: what each threshold of a judge would catch and flag.
//! - [`relevance`]: whether claims that do not answer are told from those that do.
//! - [`retrieval`]: whether the moments that are taken for questions lie where the answers are.
//! - [`table`]: the same as Markdown, `compare` the designs beside each other; [`plot`]: as a picture.

mod compare;
pub mod facts;
pub mod looks;
pub mod plot;
pub mod record;
pub mod relevance;
pub mod retrieval;
pub mod stats;
pub mod suite;
pub mod table;
pub mod tally;
pub mod text;
pub mod thresholds;

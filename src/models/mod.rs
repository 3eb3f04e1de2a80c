//! candle lives here and only here: weights, captioner, embedder, drafter, judge, net.

pub mod fetch;
pub mod manifest;

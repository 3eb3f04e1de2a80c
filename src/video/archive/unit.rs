//! What is recorded: encoded pictures as they come, with their times.

use bytes::Bytes;

use super::super::clock::Stamp;

/// A codec that can be recorded as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::video) enum Coding {
    /// In access units with lengths (`avc`), parameter sets in the private data.
    H264,
    /// In access units with lengths (`hvc1`), parameter sets in the private data.
    H265,
    /// Every picture by itself.
    Jpeg,
}

/// What a decoder has to know before the first picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::video) struct Codec {
    pub(in crate::video) coding: Coding,
    /// Parameter sets, as Matroska and MP4 keep them.
    pub(in crate::video) private: Vec<u8>,
    /// Pixels a row.
    pub(in crate::video) width: u32,
    /// Rows.
    pub(in crate::video) height: u32,
}

/// One encoded picture.
#[derive(Debug, Clone)]
pub(in crate::video) struct Unit {
    pub(in crate::video) stamp: Stamp,
    /// Whether decoding can begin here.
    pub(in crate::video) key: bool,
    pub(in crate::video) data: Bytes,
}

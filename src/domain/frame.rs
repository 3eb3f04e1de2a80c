//! A decoded picture and where it comes from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{StreamId, StreamTime, WallTime};

/// Why bytes are not a picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// The byte count does not belong to the size.
    #[error("{bytes} bytes are not a {width}x{height} RGB picture")]
    Size {
        /// Pixels a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes given.
        bytes: usize,
    },
}

/// RGB8 pixels, row by row without padding: `3 * width * height` bytes. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    rgb: Arc<[u8]>,
}

impl Picture {
    /// Takes tight RGB8 rows; an empty picture is refused.
    pub fn new(width: u32, height: u32, rgb: impl Into<Arc<[u8]>>) -> Result<Self, PictureError> {
        let rgb = rgb.into();
        let due = 3 * width as usize * height as usize;
        if due == 0 || rgb.len() != due {
            return Err(PictureError::Size { width, height, bytes: rgb.len() });
        }
        Ok(Self { width, height, rgb })
    }

    /// Pixels a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// `3 * width * height` bytes.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({}x{})", self.width, self.height)
    }
}

/// The clock that a frame's time of day was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The media time of a file, counted from the beginning that the file is said to have.
    Media,
    /// The camera's own clock, as its RTCP sender reports tell it.
    SenderReport,
    /// This machine's clock when the picture arrived.
    Arrival,
}

impl Clock {
    /// The name used in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Media => "media",
            Self::SenderReport => "sender_report",
            Self::Arrival => "arrival",
        }
    }
}

/// How exact the times of a frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Whose the time of day is.
    pub clock: Clock,
    /// How far off the times may be, to either side.
    pub precision: Duration,
}

/// One sampled picture of a stream with both of its times. Never relabelled: `at` and `wall` belong to this picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The stream it was taken from.
    pub stream: StreamId,
    /// Its own presentation time.
    pub at: StreamTime,
    /// When it was taken, by the time of day.
    pub wall: WallTime,
    /// Whose time of day that is.
    pub clock: Clock,
    /// How far from the truth its times may be, to either side: at least half the time for which it is on display.
    pub precision: Duration,
    /// What it shows.
    pub picture: Picture,
}

impl Frame {
    /// How exact its times are.
    pub fn timing(&self) -> Timing {
        Timing { clock: self.clock, precision: self.precision }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_bytes_of_its_size() {
        assert!(Picture::new(2, 2, vec![0; 12]).is_ok());
        assert!(Picture::new(2, 2, vec![0; 16]).is_err());
        assert!(Picture::new(0, 2, vec![]).is_err());
    }
}

//! The judge alone: claims made from captions of videos, with what must become of them. No pictures.
//!
//! The captions are one a second of each video, as `captions.jsonl.gz` of the evaluation data holds them:
//! `{"video": …, "captions_1fps": [text, …]}`. Moments are so many captions apart, and so are their neighbours.
//! A claim is "true" if the caption of its own moment says so, and "fabricated" if neither that caption nor the
//! neighbours' do. [`make`] makes claims, [`run`] has a judge weigh them as the daemon would.

pub mod make;
pub mod run;
pub mod words;

use serde::{Deserialize, Serialize};

use crate::domain::{Caption, Sha256};

/// Which videos: nothing is tuned on the half that is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// May be looked at, fitted to and tuned on.
    Tuning,
    /// Only counted.
    Reporting,
}

impl Half {
    /// By the first hexadecimal digit of the SHA-256 of the video's name: even is tuning, odd is reporting.
    pub fn of(video: &str) -> Self {
        let first = Sha256::of(video.as_bytes()).as_str().chars().next();
        let is_even = first.and_then(|digit| digit.to_digit(16)).is_some_and(|digit| digit.is_multiple_of(2));
        if is_even { Self::Tuning } else { Self::Reporting }
    }
}

/// The captions of one video.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Video {
    /// Its name.
    pub video: String,
    /// Its captions in order, evenly spaced.
    #[serde(rename = "captions_1fps")]
    pub captions: Vec<String>,
}

/// A claim about one moment of a video.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextClaim {
    /// The video.
    pub video: String,
    /// Its half.
    pub half: Half,
    /// Index of the cited caption.
    pub at: usize,
    /// How it was made.
    pub kind: &'static str,
    /// Whether the cited caption says so.
    pub truth: bool,
    /// The claim.
    pub text: String,
    /// The sentence that it was made from.
    pub from: String,
    /// The caption of the cited moment, then those of its neighbours.
    pub captions: Vec<Caption>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_follow_the_name_alone() {
        // sha256("a") begins with c, sha256("b") with 3.
        assert_eq!((Half::of("a"), Half::of("b")), (Half::Tuning, Half::Reporting));
        let tuning = (0..1000).filter(|i| Half::of(&i.to_string()) == Half::Tuning).count();
        assert!((450..550).contains(&tuning), "{tuning} of 1000");
    }

    #[test]
    fn a_video_is_read_with_what_else_it_tells() {
        let line = "{\"video\":\"7\",\"duration\":1.5,\"captions_1fps\":[\"A.\",\"B.\"]}";
        let video: Video = serde_json::from_str(line).expect("valid");
        assert_eq!(video, Video { video: "7".into(), captions: vec!["A.".into(), "B.".into()] });
        assert!(serde_json::from_str::<Video>("{\"video\":7}").is_err());
    }
}

//! Whether anything could be seen at a place: by the picture itself, or by what the memory noted while watching.
//!
//! A black or covered picture is recognised by looking at it (`sight`), a frozen one only by those around it, and where
//! there is no recording the note is all there is. So the note decides for a time inside it, whatever the frame shows.

use super::error::AnswerError;
use super::flow::Parts;
use crate::domain::{BlindSpan, Citation, Picture, Window};
use crate::sight;

/// Why `picture` shows nothing; `None` if there is something to see.
pub(super) fn unobservable(picture: &Picture) -> Option<String> {
    sight::blind(picture).map(|why| why.sentence().to_owned())
}

impl Parts {
    /// Why nothing could be seen at a place when it was watched; `None` if something could, or nobody watched.
    pub(super) async fn noted_blind(&self, place: &Citation) -> Result<Option<String>, AnswerError> {
        let Ok(instant) = Window::new(place.at, place.at) else { return Ok(None) };
        let spans = self.index.unobservable(&place.stream, instant).await?;
        Ok(spans.first().map(sentence))
    }
}

fn sentence(span: &BlindSpan) -> String {
    format!("{}, from {} to {}", span.why.sentence(), span.from, span.until)
}

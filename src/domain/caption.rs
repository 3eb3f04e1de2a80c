//! What a model says about one picture.

use serde::{Deserialize, Serialize};

/// A description of one picture, in full sentences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Caption(String);

impl Caption {
    /// Trims; the text may be empty if the model had nothing to say.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The sentences, each with its end mark. A mark counts as an end only before white space or the end of the text,
    /// so "3.5 metres" stays whole.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            rest = rest.trim_start();
            if rest.is_empty() {
                return None;
            }
            let (sentence, tail) = rest.split_at(sentence_end(rest));
            rest = tail;
            Some(sentence)
        })
    }
}

fn sentence_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = matches!(c, '.' | '!' | '?') && chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if ends {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_their_marks_and_numbers() {
        let caption = Caption::new("  A car is 3.5 m away. Is it red?  Yes  ");
        assert_eq!(caption.sentences().collect::<Vec<_>>(), ["A car is 3.5 m away.", "Is it red?", "Yes"]);
        assert_eq!(Caption::new(" ").sentences().count(), 0);
    }
}

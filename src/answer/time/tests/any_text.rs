//! Any text can be asked.

use proptest::prelude::*;

use super::*;

#[rustfmt::skip]
const WORDS: [&str; 40] = [
    "at", "the", "end", "of", "after", "before", "between", "and", "0:42", "14:30",
    "2", "pm", "yesterday", "last", "10", "minutes", "seconds", "first", "video", "when",
    "as", "soon", "a", "second", "ago", "in", "this", "night", "monday", "5th",
    "november", "now", "to", "from", "half", "day", "-", "99:99", "week", "the,",
];

proptest! {
    #[test]
    fn is_read_without_a_panic(picks in proptest::collection::vec(0usize..WORDS.len(), 0..12), noise in ".{0,12}") {
        let mut question: Vec<&str> = picks.into_iter().map(|pick| WORDS[pick]).collect();
        question.push(&noise);
        let time = read(&question.join(" "));
        for extent in [file(), camera()] {
            let plan = resolve(&time, &extent);
            prop_assert!(plan.window.is_none_or(|window| window.from() <= window.to()));
        }
    }
}

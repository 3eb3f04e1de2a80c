//! What a language model wrote, as the sentences that the rest of the program expects. Pure.
//!
//! The index stores captions, the judge reads them sentence by sentence. Lists, headings and line breaks become one line;
//! a sentence that the limit cut in two says something else than was meant, so it is left out if a whole one stands
//! before it.

/// One line of whole sentences; empty if nothing was said.
pub(super) fn sentences(written: &str, is_cut: bool) -> String {
    let lines = written.lines().map(|line| strip(line.trim())).filter(|line| !line.is_empty());
    let text = lines.map(ended).collect::<Vec<_>>().join(" ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !is_cut {
        return text;
    }
    if written.trim_end().ends_with(is_end) {
        return text;
    }
    let whole = text.char_indices().rfind(|(at, c)| is_end(*c) && text[at + 1..].starts_with(' '));
    whole.map_or(text.clone(), |(at, _)| text[..=at].to_owned())
}

/// Without marks of lists and headings, and without emphasis.
fn strip(line: &str) -> String {
    let line = line.trim_start_matches(['#', '*', '-', '>', ' ', '•']);
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = digits > 0 && line[digits..].starts_with(". ");
    let line = if numbered { &line[digits + 2..] } else { line };
    line.replace("**", "")
}

fn ended(line: String) -> String {
    if line.ends_with(is_end) { line } else { format!("{}.", line.trim_end_matches([',', ';', ':', ' '])) }
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_are_sentences() {
        for (written, is_cut, due) in [
            ("A red car is parked.", false, "A red car is parked."),
            ("  A red car\n", false, "A red car."),
            ("A red car is parked. Two people wal", true, "A red car is parked."),
            ("A red car is parked. Two people walk.", true, "A red car is parked. Two people walk."),
            ("A red car is park", true, "A red car is park."),
            ("The sign says 3.5 metres. It ha", true, "The sign says 3.5 metres."),
            ("A car. It is 3.5 met", true, "A car."),
            ("The height is 3.5 met", true, "The height is 3.5 met."),
            ("**Scene:**\n- A red car\n- Two people\n\n1. A dog!", false, "Scene. A red car. Two people. A dog!"),
            ("", false, ""),
            ("\n \n", true, ""),
            ("Ünïcode é", true, "Ünïcode é."),
        ] {
            assert_eq!(sentences(written, is_cut), due, "{written:?}");
        }
    }
}

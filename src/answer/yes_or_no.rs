//! Whether what a model answered is a clear yes, a clear no, or neither. Pure.
//!
//! The model was asked for one word. It may say more: what follows a yes must not take it back, and nobody can tell from
//! words alone whether a sentence does. So a yes counts if nothing that follows denies, doubts or limits anything, and a
//! no if no yes follows. "Yes and no" is neither.

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    Unclear,
}

/// Words that deny, doubt or limit what stands before them.
const DOUBTS: &[&str] = &[
    "no",
    "not",
    "nor",
    "neither",
    "none",
    "never",
    "nothing",
    "nobody",
    "nowhere",
    "cannot",
    "without",
    "hardly",
    "barely",
    "but",
    "however",
    "though",
    "although",
    "yet",
    "except",
    "unless",
    "if",
    "only",
    "instead",
    "rather",
    "apart",
    "otherwise",
    "unlike",
    "partly",
    "partially",
    "almost",
    "nearly",
    "somewhat",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "presumably",
    "likely",
    "unlikely",
    "might",
    "may",
    "could",
    "would",
    "should",
    "seem",
    "seems",
    "appear",
    "appears",
    "unclear",
    "unsure",
    "uncertain",
    "guess",
    "assume",
    "assuming",
    "false",
    "wrong",
    "incorrect",
];

/// Reads an answer.
pub(super) fn read(answer: &str) -> Said {
    let answer = answer.to_lowercase();
    let answer = answer.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = answer.find(|c: char| !c.is_alphanumeric()).unwrap_or(answer.len());
    let (first, rest) = answer.split_at(end);
    if !is_over(rest) {
        return Said::Unclear;
    }
    let mut words = rest.split(|c: char| !c.is_alphanumeric() && !is_apostrophe(c)).filter(|word| !word.is_empty());
    match first {
        "yes" if !words.any(is_doubt) => Said::Yes,
        "no" if !words.any(|word| word == "yes") => Said::No,
        _ => Said::Unclear,
    }
}

/// Whether the first word ends its clause: "no idea" and "yes and no" do not begin with an answer.
fn is_over(rest: &str) -> bool {
    let mut rest = rest.chars().filter(|c| !matches!(c, '"' | '\'' | '”' | '’' | '*' | '_' | '`' | ')' | ']'));
    match rest.next() {
        None | Some(',' | '.' | ';' | ':' | '!' | '\n' | '\r' | '–' | '—') => true,
        Some(c) if c.is_whitespace() => rest.find(|c| !c.is_whitespace()).is_none_or(|c| matches!(c, '-' | '–' | '—')),
        Some(_) => false,
    }
}

fn is_doubt(word: &str) -> bool {
    DOUBTS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t")
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clear_answers_count() {
        let table: [(Said, &[&str]); 3] = [
            (
                Said::Yes,
                &[
                    "Yes",
                    "yes.",
                    " \"YES\" ",
                    "**Yes**",
                    "Yes, the car is red.",
                    "Yes.\n\nThe picture shows a red car.",
                    "Yes\nA car stands there.",
                    "Yes - a red car is parked there.",
                    "Yes — it does.",
                    "Yes, yes.",
                    "Yes, that is so; a knot of people.",
                ],
            ),
            (
                Said::No,
                &[
                    "No",
                    "no.",
                    "No, there is no car.",
                    "No: the car is blue, not red.",
                    "No, but there may be a dog.",
                    "\"No\"",
                ],
            ),
            (
                Said::Unclear,
                &[
                    "Yes and no",
                    "Yes and no.",
                    "Yes/no",
                    "Yes, and no.",
                    "Yes or no",
                    "Yes, but the car is blue.",
                    "Yes, partly.",
                    "Yes, the car isn't red.",
                    "Yes, the car isn’t red.",
                    "Yes. However, there is one dog only.",
                    "Yes, maybe",
                    "Yes? No.",
                    "Yes?",
                    "Yes it might be.",
                    "No, yes.",
                    "No. Well, yes: there is one.",
                    "No idea.",
                    "No one can tell.",
                    "Not sure",
                    "Yesterday",
                    "Nothing of the kind",
                    "The picture shows a car.",
                    "It is not so: yes.",
                    "Maybe.",
                    "y",
                    "1",
                    "",
                    " \n.",
                ],
            ),
        ];
        for (due, answers) in table {
            for answer in answers {
                assert_eq!(read(answer), due, "{answer:?}");
            }
        }
    }
}

//! Text out of a reply that nobody vouches for. Pure.

use serde::de::DeserializeOwned;

use super::chat::Choice;
use super::trouble::Trouble;

/// Longest text that is taken, in characters; the tokens that are asked for are far fewer.
const MAX_TEXT: usize = 8000;

/// What the model said, without what it thought aloud before.
pub(super) fn text(choice: &Choice) -> Result<&str, Trouble> {
    if choice.finish_reason.as_deref() == Some("content_filter") {
        return Err(Trouble::unusable("the endpoint held it back"));
    }
    let said = choice.message.content.as_deref().unwrap_or_default();
    if said.chars().nth(MAX_TEXT).is_some() {
        return Err(Trouble::unusable(format!("its text is longer than {MAX_TEXT} characters")));
    }
    let said = said.trim();
    let answer = match said.strip_prefix("<think>") {
        Some(thought) => thought.split_once("</think>").map_or("", |(_, answer)| answer.trim()),
        None => said,
    };
    if answer.is_empty() { Err(Trouble::unusable("it says nothing")) } else { Ok(answer) }
}

/// Whether a text speaks of the one who should describe instead of what is to be described.
pub(super) fn is_refusal(text: &str) -> bool {
    const BEGIN: [&str; 12] = [
        "i'm sorry",
        "i am sorry",
        "sorry",
        "i apologize",
        "i apologise",
        "i cannot",
        "i can't",
        "i can not",
        "i'm unable",
        "i am unable",
        "i'm not able",
        "i am not able",
    ];
    const SPEAKS_OF_ITSELF: [&str; 5] = ["as an ai", "i'm an ai", "i am an ai", "unfortunately, i", "i won't"];
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    BEGIN.iter().chain(&SPEAKS_OF_ITSELF).any(|begin| {
        let rest = text.strip_prefix(begin);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// Whether the text was cut off at the limit.
pub(super) fn is_cut(choice: &Choice) -> bool {
    choice.finish_reason.as_deref() == Some("length")
}

/// The JSON object in the text; some models put a fence around it.
pub(super) fn json<T: DeserializeOwned>(choice: &Choice) -> Result<T, Trouble> {
    let text = text(choice)?;
    if is_cut(choice) {
        return Err(Trouble::unusable("it was cut off"));
    }
    let object = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let object = object.ok_or_else(|| Trouble::unusable("it holds no JSON object"))?;
    serde_json::from_str(object).map_err(|error| Trouble::unusable(format!("it is not the JSON asked for: {error}")))
}

/// Plain sentences: one line, no marks of a list, no control characters, an end mark on every line. Of a text that was
/// cut off only whole sentences.
pub(super) fn sentences(text: &str, is_cut: bool) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['-', '*', '•', '#', ' ']).trim_end_matches('*');
        let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            continue;
        }
        if !out.is_empty() {
            if !out.ends_with(['.', '!', '?']) {
                out.push('.');
            }
            out.push(' ');
        }
        out.push_str(&line);
    }
    if is_cut {
        let end = out.rfind(['.', '!', '?']).map_or(0, |at| at + 1);
        out.truncate(end);
    } else if !out.is_empty() && !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(content: &str, finish: &str) -> Choice {
        let value = serde_json::json!({"message": {"content": content}, "finish_reason": finish});
        serde_json::from_value(value).expect("a choice")
    }

    #[test]
    fn only_what_was_said_is_taken() {
        assert_eq!(text(&said(" A car. ", "stop")), Ok("A car."));
        assert_eq!(text(&said("<think>hm {</think>\nA car.", "stop")), Ok("A car."));
        for nothing in ["", " \n ", "<think>hm", "<think></think> "] {
            assert!(text(&said(nothing, "stop")).is_err(), "{nothing:?}");
        }
        assert!(text(&said(&"x".repeat(MAX_TEXT + 1), "stop")).is_err());
        let refusal: Choice = serde_json::from_str(r#"{"message": {"content": null}}"#).expect("a choice");
        assert!(text(&refusal).is_err());
    }

    #[test]
    fn a_refusal_is_no_description() {
        for refusal in [
            "I'm sorry, I can't help with that image.",
            "I’m sorry, but I cannot assist.",
            "**Sorry**, I can't.",
            "I can't describe people.",
            "As an AI, I have no eyes.",
            "Unfortunately, I am not able to see it.",
            "I am unable to view images.",
        ] {
            assert!(is_refusal(refusal), "{refusal}");
        }
        for caption in
            ["A man looks sorry.", "Sorrybrook Street is empty.", "There is a car.", "I-beams lie there.", ""]
        {
            assert!(!is_refusal(caption), "{caption}");
        }
        assert!(text(&said("A car.", "content_filter")).is_err());
    }

    #[test]
    fn json_is_found_and_cut_json_is_not_mended() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct It {
            n: u8,
        }
        for good in ["{\"n\": 1}", "```json\n{\"n\": 1}\n```", "{\"n\": 1, \"m\": 2}"] {
            assert_eq!(json::<It>(&said(good, "stop")), Ok(It { n: 1 }), "{good}");
        }
        for bad in ["n is 1", "{\"n\": 1", "} {", "{\"n\": \"1\"}", "{\"n\": NaN}", "{}"] {
            assert!(json::<It>(&said(bad, "stop")).is_err(), "{bad}");
        }
        assert!(json::<It>(&said("{\"n\": 1}", "length")).is_err());
    }

    #[test]
    fn lists_become_sentences() {
        let table = [
            ("A car.\nA dog", false, "A car. A dog."),
            ("- A car\n* A dog!\n\n", false, "A car. A dog!"),
            ("A car.  A\tdog \u{7} runs. A ca", true, "A car. A dog runs."),
            ("A ca", true, ""),
            (" \n ", false, ""),
        ];
        for (given, is_cut, due) in table {
            assert_eq!(sentences(given, is_cut), due, "{given:?}");
        }
    }
}

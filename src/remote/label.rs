//! One label out of a few, with probabilities where the endpoint gives them. Pure.
//!
//! The model writes `{"label": "…"}`. If the probabilities of its tokens came along, those of the token that begins the
//! label are added up by the label that each alternative begins, and scaled to a sum of one; of several labels, as in
//! thoughts before the reply, the last one counts. Tokens may be written as vocabularies do, with signs for blanks. The
//! label that was written
//! counts with certainty if none came, or if too little of them falls on any label (they are taken before the grammar: a
//! small model wants to say something else altogether). If they favour another label, the one that was written was put into
//! the model's mouth: such a reply cannot be used.

use serde::Deserialize;

use super::chat::{Choice, Token};
use super::reply;
use super::trouble::Trouble;

/// Less than this on all labels together, and the probabilities are about something else.
const LEAST: f64 = 0.05;
/// Rounding may take the logarithm of a probability this far above zero.
const ROUNDING: f64 = 1e-3;
/// So many tokens at the end hold the label: more than are asked for.
const LAST: usize = 256;

#[derive(Deserialize)]
struct Written {
    label: String,
}

/// The share of each of `labels`, which differ in their first letters; the shares add up to one.
pub(super) fn shares<const N: usize>(choice: &Choice, labels: [&str; N]) -> Result<[f32; N], Trouble> {
    let Written { label } = reply::json(choice)?;
    let label = label.trim().to_lowercase();
    let written = labels.iter().position(|known| *known == label);
    let written = written.ok_or_else(|| Trouble::unusable("its label is none of those asked for"))?;
    let tokens = choice.logprobs.as_ref().and_then(|logprobs| logprobs.content.as_deref()).unwrap_or_default();
    check(tokens)?;
    let certain = std::array::from_fn(|i| if i == written { 1.0 } else { 0.0 });
    let Some(masses) = masses(tokens, labels) else { return Ok(certain) };
    if masses.iter().any(|mass| *mass > masses[written]) {
        return Err(Trouble::unusable("its probabilities favour another label than the one it wrote"));
    }
    let sum: f64 = masses.iter().sum();
    if sum < LEAST {
        return Ok(certain);
    }
    Ok(masses.map(|mass| (mass / sum) as f32))
}

/// Numbers that are no logarithms of probabilities make the whole reply suspect.
fn check(tokens: &[Token]) -> Result<(), Trouble> {
    let alternatives = tokens.iter().flat_map(|token| token.top_logprobs.iter().map(|other| other.logprob));
    let own = tokens.iter().map(|token| token.logprob);
    if own.chain(alternatives).all(|logprob| !logprob.is_nan() && logprob <= ROUNDING) {
        Ok(())
    } else {
        Err(Trouble::unusable("its probabilities are none"))
    }
}

/// What falls on each label at the token that begins the last one.
fn masses<const N: usize>(tokens: &[Token], labels: [&str; N]) -> Option<[f64; N]> {
    let tokens = &tokens[tokens.len().saturating_sub(LAST)..];
    let (mut before, mut is_inside, mut found) = (String::new(), false, None);
    for token in tokens {
        let written = spelt(&token.token);
        let begins = begun(&format!("{before}{written}"), labels).is_some();
        if begins && !is_inside {
            found = Some(masses_at(token, &before, labels));
        }
        is_inside = begins;
        before.push_str(&written);
    }
    found
}

/// What falls on each label at `token`, which begins one behind `before`.
fn masses_at<const N: usize>(token: &Token, before: &str, labels: [&str; N]) -> [f64; N] {
    let mut masses = [0.0; N];
    let mut add = |text: &str, logprob: f64| {
        if let Some(label) = begun(&format!("{before}{}", spelt(text)), labels) {
            masses[label] += logprob.exp();
        }
    };
    for other in &token.top_logprobs {
        add(&other.token, other.logprob);
    }
    if token.top_logprobs.iter().all(|other| other.token != token.token) {
        add(&token.token, token.logprob);
    }
    masses
}

/// The text of a token: some endpoints give it as its vocabulary has it, with signs that stand for blanks and line ends.
fn spelt(token: &str) -> String {
    token.replace(['\u{120}', '\u{2581}'], " ").replace('\u{10a}', "\n")
}

/// The only label that the value of `"label"` in the beginning of a JSON object can still become.
fn begun<const N: usize>(text: &str, labels: [&str; N]) -> Option<usize> {
    let (_, after) = text.rsplit_once("\"label\"")?;
    let value = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let value = value.split('"').next().unwrap_or_default().trim().to_lowercase();
    let fits = |label: &str| label.starts_with(value.as_str()) || value.starts_with(label);
    if value.is_empty() || labels.iter().filter(|label| fits(label)).count() != 1 {
        return None;
    }
    labels.iter().position(|label| fits(label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const LABELS: [&str; 3] = ["entailment", "neutral", "contradiction"];

    fn choice(content: &str, logprobs: Value) -> Choice {
        serde_json::from_value(json!({"message": {"content": content}, "finish_reason": "stop", "logprobs": logprobs}))
            .expect("a choice")
    }

    fn token(text: &str, logprob: f64, others: &[(&str, f64)]) -> Value {
        let others: Vec<Value> = others.iter().map(|(text, p)| json!({"token": text, "logprob": p.ln()})).collect();
        json!({"token": text, "logprob": logprob, "top_logprobs": others})
    }

    fn tokens(at_label: Value) -> Value {
        json!({"content": [token("{\"", -0.1, &[("{", 0.9)]), token("label", -0.1, &[]), token("\":", -0.1, &[]),
            token(" \"", -0.1, &[("n", 0.9)]), at_label, token("\"}", -0.1, &[])]})
    }

    #[test]
    fn probabilities_are_those_of_the_token_that_begins_the_label() {
        let at = token("ent", -0.5, &[("ent", 0.6), ("neutral", 0.2), ("contr", 0.1), ("e", 0.05), ("x", 0.05)]);
        let shares = shares(&choice(r#"{"label": "entailment"}"#, tokens(at)), LABELS).expect("usable");
        let due = [0.65 / 0.95, 0.2 / 0.95, 0.1 / 0.95];
        assert!(shares.iter().zip(due).all(|(is, due)| (is - due as f32).abs() < 1e-4), "{shares:?}");
        assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_label_that_its_probabilities_speak_against_cannot_be_used() {
        let content = r#"{"label": "neutral"}"#;
        for (at, said) in [
            (token("neutral", -3.0, &[("ent", 0.9), ("neutral", 0.05)]), "another label"),
            (token("neutral", -0.7, &[("contr", 0.51), ("neutral", 0.49)]), "another label"),
            (token("neutral", -9.0, &[("Yes", 0.9), ("ent", 0.01)]), "another label"),
        ] {
            let trouble = shares(&choice(content, tokens(at)), LABELS).expect_err("contradicts itself");
            assert!(trouble.to_string().contains(said) && !trouble.is_transient(), "{trouble}");
        }
    }

    #[test]
    fn the_label_alone_counts_where_probabilities_say_nothing_of_labels() {
        let content = r#"{"label": "neutral"}"#;
        let about_something_else = tokens(token("neutral", -9.0, &[("Yes", 0.9), ("No", 0.05)]));
        for logprobs in [Value::Null, json!({"content": null}), json!({"content": []}), about_something_else] {
            assert_eq!(shares(&choice(content, logprobs), LABELS), Ok([0.0, 1.0, 0.0]));
        }
        let fenced = choice("```json\n{\"label\": \"Contradiction \"}\n```", Value::Null);
        assert_eq!(shares(&fenced, LABELS), Ok([0.0, 0.0, 1.0]));
    }

    #[test]
    fn the_own_token_counts_if_it_is_not_among_the_alternatives() {
        let at = token("neutral", 0.5_f64.ln(), &[("ent", 0.25)]);
        let shares = shares(&choice(r#"{"label": "neutral"}"#, tokens(at)), LABELS).expect("usable");
        assert!((shares[1] - 2.0 / 3.0).abs() < 1e-4, "{shares:?}");
    }

    #[test]
    fn tokens_as_their_vocabulary_writes_them_are_read() {
        let content = r#"{"label": "neutral"}"#;
        for blank in ["\u{120}", "\u{2581}"] {
            let before = [format!("{{\u{10a}{blank}\""), "label".to_owned(), "\":".to_owned(), format!("{blank}\"")];
            let mut all: Vec<Value> = before.iter().map(|text| token(text, -0.1, &[])).collect();
            all.push(token("neutral", -0.5, &[("neutral", 0.6), ("ent", 0.2)]));
            let shares = shares(&choice(content, json!({"content": all})), LABELS).expect("usable");
            assert!((shares[1] - 0.75).abs() < 1e-4, "{shares:?}");
        }
    }

    #[test]
    fn a_label_in_thoughts_is_not_the_one_that_counts() {
        let text = r#"{"label": "neutral"}"#;
        let thought = token("entailment", -0.1, &[("ent", 0.9), ("neutral", 0.1)]);
        let mut all = tokens(thought)["content"].as_array().expect("tokens").clone();
        let own = token("neutral", -0.5, &[("neutral", 0.6), ("ent", 0.2)]);
        all.extend(tokens(own)["content"].as_array().expect("tokens").clone());
        let thinking = choice(&format!("<think>{{\"label\": \"entailment\"}}</think>{text}"), json!({"content": all}));
        let shares = shares(&thinking, LABELS).expect("usable");
        assert!((shares[1] - 0.75).abs() < 1e-4, "{shares:?}");
    }

    #[test]
    fn what_cannot_be_right_is_refused() {
        for content in [r#"{"label": "maybe"}"#, r#"{"label": 1}"#, r#"{"verdict": "neutral"}"#, "neutral", ""] {
            assert!(shares(&choice(content, Value::Null), LABELS).is_err(), "{content}");
        }
        let impossible = token("neutral", 0.7, &[]);
        assert!(shares(&choice(r#"{"label": "neutral"}"#, tokens(impossible)), LABELS).is_err());
    }

    #[test]
    fn a_beginning_that_leaves_two_labels_open_is_none() {
        assert_eq!(begun(r#"{"label": "no"#, ["not", "none"]), None);
        assert_eq!(begun(r#"{"label": "non"#, ["not", "none"]), Some(1));
        assert_eq!(begun(r#"{"label":"#, LABELS), None);
        assert_eq!(begun("neutral", LABELS), None);
    }
}

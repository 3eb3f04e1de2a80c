//! What the classes of a checkpoint mean, by the names that its `config.json` gives them. Pure.
//!
//! Names are never assumed from positions: published checkpoints order their classes differently, and two of them read
//! in the wrong order ground what they should refuse. A checker with two classes that only tells *supported* from the
//! rest cannot tell a contradiction from silence; what it does not support counts as neutral.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::domain::Entailment;

/// Why the names of the classes cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// The file is not JSON, or the names have another shape.
    #[error("config.json cannot be read: {0}")]
    Parse(String),
    /// There are no names.
    #[error("config.json has no id2label: write what the classes mean, as the model's card says")]
    Missing,
    /// A class without a name, or a name without a class.
    #[error("id2label of config.json does not name the classes 0 to {last}: {found}")]
    Gap {
        /// The last class there should be.
        last: usize,
        /// The keys that are there.
        found: String,
    },
    /// A name that says nothing, such as `LABEL_0`.
    #[error(
        "the name {label:?} in id2label of config.json says nothing known: write one of {known}, as the model's card says"
    )]
    Unknown {
        /// As written.
        label: String,
        /// What would be understood.
        known: String,
    },
    /// Two classes that mean the same, or a set of classes without entailment.
    #[error(
        "the classes {found} in id2label of config.json are neither entailment, neutral and contradiction nor entailment and one other"
    )]
    Ambiguous {
        /// What was understood, in the order of the classes.
        found: String,
    },
    /// `label2id` says another order.
    #[error("id2label and label2id of config.json disagree on {label:?}: correct the one that is wrong")]
    Disagree {
        /// The name.
        label: String,
    },
}

/// What one class means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    Entailment,
    Neutral,
    Contradiction,
    /// Not entailed, whatever the reason.
    Rest,
}

impl Meaning {
    /// Names in use on published checkpoints, lower-cased, words joined with underscores.
    const NAMES: [(&str, Self); 26] = [
        ("entailment", Self::Entailment),
        ("entailed", Self::Entailment),
        ("entails", Self::Entailment),
        ("supported", Self::Entailment),
        ("supports", Self::Entailment),
        ("consistent", Self::Entailment),
        ("faithful", Self::Entailment),
        ("attributable", Self::Entailment),
        ("neutral", Self::Neutral),
        ("not_enough_info", Self::Neutral),
        ("contradiction", Self::Contradiction),
        ("contradicted", Self::Contradiction),
        ("contradicts", Self::Contradiction),
        ("refuted", Self::Contradiction),
        ("refutes", Self::Contradiction),
        ("not_entailment", Self::Rest),
        ("non_entailment", Self::Rest),
        ("not_entailed", Self::Rest),
        ("not_supported", Self::Rest),
        ("unsupported", Self::Rest),
        ("inconsistent", Self::Rest),
        ("unfaithful", Self::Rest),
        ("not_attributable", Self::Rest),
        ("hallucination", Self::Rest),
        ("hallucinated", Self::Rest),
        ("not_consistent", Self::Rest),
    ];

    fn of(label: &str) -> Result<Self, LabelError> {
        let plain = label.trim().to_lowercase().replace([' ', '-'], "_");
        let found = Self::NAMES.iter().find(|(name, _)| *name == plain);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| LabelError::Unknown {
            label: label.to_owned(),
            known: Self::NAMES.map(|(name, _)| name).join(", "),
        })
    }

    fn letter(self) -> char {
        match self {
            Self::Entailment => 'e',
            Self::Neutral => 'n',
            Self::Contradiction => 'c',
            Self::Rest => 'r',
        }
    }
}

#[derive(Deserialize)]
struct File {
    id2label: Option<BTreeMap<String, String>>,
    #[serde(default)]
    label2id: Option<BTreeMap<String, usize>>,
}

/// The meaning of every class, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels(Vec<Meaning>);

impl Labels {
    /// Reads the text of a `config.json`.
    pub fn parse(json: &str) -> Result<Self, LabelError> {
        let file: File = serde_json::from_str(json).map_err(|error| LabelError::Parse(error.to_string()))?;
        let names = file.id2label.filter(|names| !names.is_empty()).ok_or(LabelError::Missing)?;
        let ordered: Option<Vec<&String>> = (0..names.len()).map(|class| names.get(&class.to_string())).collect();
        let ordered = ordered.ok_or_else(|| LabelError::Gap {
            last: names.len() - 1,
            found: names.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })?;
        if let Some(ids) = file.label2id {
            let differs = |(class, label): &(usize, &&String)| ids.get(label.as_str()).is_some_and(|id| id != class);
            if let Some((_, label)) = ordered.iter().enumerate().find(differs) {
                return Err(LabelError::Disagree { label: (*label).clone() });
            }
        }
        let labels = Self(ordered.into_iter().map(|label| Meaning::of(label)).collect::<Result<_, _>>()?);
        if labels.is_known() { Ok(labels) } else { Err(LabelError::Ambiguous { found: labels.to_string() }) }
    }

    /// Three relations, or entailment and one other.
    fn is_known(&self) -> bool {
        let mut sorted = self.0.clone();
        sorted.sort();
        match sorted[..] {
            [Meaning::Entailment, Meaning::Neutral, Meaning::Contradiction] => true,
            [Meaning::Entailment, other] => other != Meaning::Entailment,
            _ => false,
        }
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: there are two classes at least.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The probabilities behind one row of logits, one a class.
    pub fn entailment(&self, logits: &[f32]) -> Entailment {
        let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f32> = logits.iter().map(|logit| (logit - highest).exp()).collect();
        let sum: f32 = powers.iter().sum();
        let of = |wanted: &[Meaning]| {
            let own = self.0.iter().zip(&powers).filter(|(meaning, _)| wanted.contains(meaning));
            own.map(|(_, power)| power / sum).sum()
        };
        Entailment {
            entailment: of(&[Meaning::Entailment]),
            neutral: of(&[Meaning::Neutral, Meaning::Rest]),
            contradiction: of(&[Meaning::Contradiction]),
        }
    }
}

/// First letters in the order of the classes, such as `cen`: part of the fingerprint, so that another order is another
/// judge.
impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|meaning| write!(f, "{}", meaning.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(labels: &[&str]) -> Result<Labels, LabelError> {
        let names: BTreeMap<_, _> = labels.iter().enumerate().map(|(id, label)| (id.to_string(), label)).collect();
        Labels::parse(&serde_json::json!({ "id2label": names }).to_string())
    }

    #[test]
    fn names_decide_whatever_their_order_and_spelling() {
        for (labels, order) in [
            (vec!["contradiction", "entailment", "neutral"], "cen"),
            (vec!["entailment", "neutral", "contradiction"], "enc"),
            (vec!["ENTAILMENT", "Neutral", "CONTRADICTION"], "enc"),
            (vec!["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], "ecn"),
            (vec!["not_entailment", "entailment"], "re"),
            (vec!["Supported", "Unsupported"], "er"),
            (vec!["inconsistent", "consistent"], "re"),
            (vec!["contradiction", "entailment"], "ce"),
            (vec!["hallucinated", "consistent"], "re"),
            (vec!["consistent", "not consistent"], "er"),
        ] {
            assert_eq!(parse(&labels).map(|labels| labels.to_string()), Ok(order.to_owned()), "{labels:?}");
        }
    }

    #[test]
    fn probabilities_follow_the_names() {
        let logits = [2.0_f32, 0.0, -1.0];
        let sum = 2.0_f32.exp() + 1.0 + (-1.0_f32).exp();
        let first = parse(&["entailment", "neutral", "contradiction"]).expect("valid").entailment(&logits);
        assert!((first.entailment - 2.0_f32.exp() / sum).abs() < 1e-6 && (first.neutral - 1.0 / sum).abs() < 1e-6);
        let other = parse(&["contradiction", "entailment", "neutral"]).expect("valid").entailment(&logits);
        assert_eq!((other.contradiction, other.entailment), (first.entailment, first.neutral));
        let two = parse(&["not_entailment", "entailment"]).expect("valid").entailment(&[1.0, 1.0]);
        assert_eq!((two.entailment, two.neutral, two.contradiction), (0.5, 0.5, 0.0));
        let far = parse(&["entailment", "neutral"]).expect("valid").entailment(&[1e30, -1e30]);
        assert_eq!((far.entailment, far.neutral), (1.0, 0.0));
    }

    #[test]
    fn what_is_missing_or_ambiguous_is_refused() {
        assert_eq!(Labels::parse("{}"), Err(LabelError::Missing));
        assert_eq!(Labels::parse(r#"{"id2label": {}}"#), Err(LabelError::Missing));
        assert!(matches!(Labels::parse("{"), Err(LabelError::Parse(_))));
        assert!(matches!(parse(&["LABEL_0", "LABEL_1"]), Err(LabelError::Unknown { label, .. }) if label == "LABEL_0"));
        for labels in [
            vec!["entailment"],
            vec!["entailment", "supported"],
            vec!["neutral", "contradiction"],
            vec!["entailment", "neutral", "neutral"],
            vec!["entailment", "neutral", "not_entailment"],
            vec!["entailment", "neutral", "contradiction", "contradicted"],
        ] {
            assert!(matches!(parse(&labels), Err(LabelError::Ambiguous { .. })), "{labels:?}");
        }
        let gap = Labels::parse(r#"{"id2label": {"0": "entailment", "2": "neutral"}}"#);
        assert_eq!(gap, Err(LabelError::Gap { last: 1, found: "0, 2".to_owned() }));
        let text = r#"{"id2label": {"0": "entailment", "1": "neutral"}, "label2id": {"entailment": 1, "neutral": 0}}"#;
        assert_eq!(Labels::parse(text), Err(LabelError::Disagree { label: "entailment".to_owned() }));
    }
}

//! A judge that remembers in a file what it was asked, so that the same claims can be weighed again in no time.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use crate::domain::{Entailment, Fingerprint};
use crate::seams::{Judge, ModelError, Pair};

/// A judge with a memory.
pub(super) struct Memo {
    judge: Box<dyn Judge>,
    path: PathBuf,
    known: HashMap<(String, String), Entailment>,
    has_news: bool,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    judge: Fingerprint,
}

#[derive(Serialize, Deserialize)]
struct Line {
    premise: String,
    hypothesis: String,
    odds: Entailment,
}

impl Memo {
    /// Reads what is remembered of this judge; what another one said is refused.
    pub(super) fn open(judge: Box<dyn Judge>, path: &Path) -> anyhow::Result<Self> {
        let (path, mut known) = (path.to_owned(), HashMap::new());
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { judge, path, known, has_news: false });
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next().unwrap_or_default())
            .with_context(|| format!("{} does not say which judge it remembers", path.display()))?;
        if head.judge != *judge.fingerprint() {
            bail!("{} remembers {}, this is {}: name another file", path.display(), head.judge, judge.fingerprint());
        }
        for line in lines {
            let Line { premise, hypothesis, odds } = serde_json::from_str(line)?;
            known.insert((premise, hypothesis), odds);
        }
        Ok(Self { judge, path, known, has_news: false })
    }

    /// Writes everything down.
    pub(super) fn close(self) -> anyhow::Result<()> {
        let Self { judge, path, known, has_news } = self;
        if !has_news {
            return Ok(());
        }
        let mut lines: Vec<Line> =
            known.into_iter().map(|((premise, hypothesis), odds)| Line { premise, hypothesis, odds }).collect();
        lines.sort_by(|a, b| (&a.premise, &a.hypothesis).cmp(&(&b.premise, &b.hypothesis)));
        let mut text = serde_json::to_string(&Head { judge: judge.fingerprint().clone() })? + "\n";
        for line in lines {
            text += &(serde_json::to_string(&line)? + "\n");
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Judge for Memo {
    fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
        let key = |pair: &Pair| (pair.premise.clone(), pair.hypothesis.clone());
        let mut unknown: Vec<Pair> =
            pairs.iter().filter(|pair| !self.known.contains_key(&key(pair))).cloned().collect();
        unknown.sort_by_cached_key(key);
        unknown.dedup();
        let odds = self.judge.judge(&unknown)?;
        for (pair, odds) in unknown.into_iter().zip(odds) {
            self.known.insert(key(&pair), odds);
            self.has_news = true;
        }
        let known = pairs.iter().map(|pair| self.known.get(&key(pair)).copied());
        known.collect::<Option<_>>().ok_or_else(|| ModelError::Run {
            model: "judge".to_owned(),
            reason: "it did not answer for every pair".to_owned(),
        })
    }

    fn fingerprint(&self) -> &Fingerprint {
        self.judge.fingerprint()
    }

    fn threshold(&self) -> f32 {
        self.judge.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says entailment once for each call, less each time.
    struct Counter(Fingerprint, f32);

    impl Judge for Counter {
        fn judge(&mut self, pairs: &[Pair]) -> Result<Vec<Entailment>, ModelError> {
            self.1 -= 0.25;
            Ok(vec![Entailment { entailment: self.1, neutral: 0.0, contradiction: 0.0 }; pairs.len()])
        }

        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }

        fn threshold(&self) -> f32 {
            0.5
        }
    }

    #[test]
    fn what_was_asked_is_not_asked_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memo.jsonl");
        let judge = |name: &str| Box::new(Counter(Fingerprint::new(name), 1.0));
        let pair = |premise: &str| Pair { premise: premise.into(), hypothesis: "h".into() };
        let said = |memo: &mut Memo, premises: &[&str]| -> Vec<f32> {
            let pairs: Vec<Pair> = premises.iter().map(|premise| pair(premise)).collect();
            memo.judge(&pairs).expect("judges").into_iter().map(|odds| odds.entailment).collect()
        };
        let mut memo = Memo::open(judge("a"), &path).expect("a new file");
        assert_eq!(said(&mut memo, &["x", "x"]), [0.75, 0.75]);
        assert_eq!(said(&mut memo, &["x", "y"]), [0.75, 0.5]);
        memo.close().expect("written");
        let mut memo = Memo::open(judge("a"), &path).expect("the same judge");
        assert_eq!(said(&mut memo, &["y", "x"]), [0.5, 0.75]);
        let refused = Memo::open(judge("b"), &path).err().expect("another judge").to_string();
        assert!(refused.contains("remembers a, this is b"), "{refused}");
    }
}

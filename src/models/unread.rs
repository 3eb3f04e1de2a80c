//! Tensors of a file of weights that no network asked for. Pure but for the note of what was read.
//!
//! A network that leaves tensors behind is not the one that the weights were trained for: a `config.json` with fewer
//! layers loads, runs, and says something else. So whoever has loaded a network asks here what is left. Which names are
//! known to be left by right is for each network to say.
//!
//! # Decisions
//! - 2026-11-30: refused where transformers only warns: nobody reads the warnings of a daemon that starts.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// How many names are told.
const TOLD: usize = 3;

/// Tensors were left behind.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{count} tensors of the weights are not part of the network that config.json describes ({}{}): the two do not belong \
     together; take both from the same repository and revision, and no quantised ones",
    names.join(", "),
    if *count > names.len() { ", …" } else { "" }
)]
pub(super) struct Unread {
    count: usize,
    /// The first of them.
    names: Vec<String>,
}

/// What was read so far; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<BTreeSet<String>>>);

impl Ledger {
    /// The tensor `name` was read.
    pub(super) fn note(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
    }

    /// Refuses what is left of `names`, unless `harmless` says that it may be.
    pub(super) fn settle<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        harmless: impl Fn(&str) -> bool,
    ) -> Result<(), Unread> {
        let read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left: Vec<&str> =
            names.filter(|name| !read.contains(*name) && !is_computed(name) && !harmless(name)).collect();
        left.sort_unstable();
        if left.is_empty() {
            return Ok(());
        }
        Err(Unread { count: left.len(), names: left.iter().take(TOLD).map(|name| (*name).to_owned()).collect() })
    }
}

/// Constants that older versions of transformers saved and every version computes.
fn is_computed(name: &str) -> bool {
    ["position_ids", "rotary_emb.inv_freq", "rotary_pos_emb.inv_freq"]
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_unless_it_is_harmless() {
        let ledger = Ledger::default();
        ledger.note("a.weight");
        ledger.note("b.weight");
        let settle = |names: &[&str]| {
            ledger.clone().settle(names.iter().copied(), |name| name.starts_with("head.")).map_err(|e| e.to_string())
        };
        assert_eq!(settle(&["a.weight", "b.weight"]), Ok(()));
        assert_eq!(settle(&["a.weight", "head.bias", "x.position_ids", "x.1.rotary_emb.inv_freq"]), Ok(()));
        let one = settle(&["a.weight", "c.weight"]).expect_err("left");
        assert!(one.starts_with("1 tensors") && one.contains("(c.weight)") && one.contains("same repository"), "{one}");
        let many = settle(&["f", "e", "d", "c", "xposition_ids"]).expect_err("left");
        assert!(many.starts_with("5 tensors") && many.contains("(c, d, e, …)"), "{many}");
    }
}

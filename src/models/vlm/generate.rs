//! The likeliest next token, again and again, for several rows at once.
//!
//! Rows end at their own stop; the pass ends with the last. A row that has ended is fed its stop token, which nobody reads.

use candle_core::{D, DType, Result};

use super::net::Net;
use crate::models::net::vlm::{Cache, Features, Keep, Row};

/// What one row said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Without the stop.
    pub(super) ids: Vec<u32>,
    /// Whether the limit ended it.
    pub(super) is_cut: bool,
}

/// Reads `rows`, each of which is followed by position `next`, behind `cache`, and writes `limit` tokens a row at most.
pub(super) fn greedy(
    net: &Net,
    rows: &[Row],
    mut next: Vec<u32>,
    features: Option<&Features>,
    cache: &mut Cache,
    limit: usize,
    is_stop: impl Fn(u32) -> bool,
) -> Result<Vec<Said>> {
    let mut said = vec![Said { ids: Vec::new(), is_cut: true }; rows.len()];
    let mut logits = net.decoder.forward(rows, features, cache, Keep::Last)?;
    // Words chosen among no numbers would be told as what was seen.
    if !logits.to_dtype(DType::F32)?.sum_all()?.to_scalar::<f32>()?.is_finite() {
        candle_core::bail!("it gives no numbers: its weights are broken");
    }
    for written in 1..=limit {
        let best: Vec<u32> = logits.argmax(D::Minus1)?.to_vec1()?;
        for (said, id) in said.iter_mut().zip(&best) {
            if said.is_cut && is_stop(*id) {
                said.is_cut = false;
            } else if said.is_cut {
                said.ids.push(*id);
            }
        }
        if written == limit || said.iter().all(|said| !said.is_cut) {
            break;
        }
        let new: Vec<Row> = best
            .iter()
            .zip(&mut next)
            .map(|(id, next)| {
                let (row, after) = net.row(vec![*id], None, 0, *next);
                *next = after;
                row
            })
            .collect();
        logits = net.decoder.forward(&new, None, cache, Keep::Last)?;
    }
    Ok(said)
}

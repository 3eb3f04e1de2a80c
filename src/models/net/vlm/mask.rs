//! Who may look at whom. Pure.
//!
//! A token looks at itself and at what stands before it in its own row, never at padding. Padding looks at itself and at
//! nothing else, so that its row of the softmax stays finite; nobody looks at it.

/// What is added to the scores of the new tokens, `[rows, new, known + new]`: 0 where a token may look, else minus
/// infinity. `known` says of each slot of the cache whether it holds a token, `padding` how many of the `new` tokens of
/// each row are padding, at its beginning. `None` if everybody may look at everything.
pub(super) fn additive(known: &[Vec<bool>], padding: &[usize], new: usize, causal: bool) -> Option<Vec<f32>> {
    let all = known.iter().flatten().all(|holds| *holds) && padding.iter().all(|count| *count == 0);
    if all && (new == 1 || !causal) {
        return None;
    }
    let mut out = Vec::new();
    for (known, padding) in known.iter().zip(padding) {
        for from in 0..new {
            let may = |to: usize| match to.checked_sub(known.len()) {
                None => known[to] && from >= *padding,
                Some(to) => to == from || (to >= *padding && from >= *padding && (to < from || !causal)),
            };
            out.extend((0..known.len() + new).map(|to| if may(to) { 0.0 } else { f32::NEG_INFINITY }));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(known: &[Vec<bool>], padding: &[usize], new: usize) -> Vec<String> {
        let width = known[0].len() + new;
        let mask = additive(known, padding, new, true).expect("somebody may not look somewhere");
        mask.chunks(width).map(|row| row.iter().map(|v| if *v == 0.0 { 'x' } else { '.' }).collect()).collect()
    }

    #[test]
    fn a_prompt_looks_back() {
        assert_eq!(picture(&[vec![]], &[0], 3), ["x..", "xx.", "xxx"]);
    }

    #[test]
    fn a_prompt_behind_a_cache_looks_at_all_of_it() {
        assert_eq!(picture(&[vec![true, true]], &[0], 2), ["xxx.", "xxxx"]);
    }

    #[test]
    fn nobody_looks_at_padding() {
        assert_eq!(picture(&[vec![], vec![]], &[0, 1], 3), ["x..", "xx.", "xxx", "x..", ".x.", ".xx"]);
        assert_eq!(picture(&[vec![true, false, true]], &[0], 1), ["x.xx"]);
        // Behind a known prefix, the padding of a shorter question does not even look at that.
        assert_eq!(picture(&[vec![true]], &[1], 2), [".x.", "x.x"]);
    }

    #[test]
    fn one_token_after_a_full_cache_needs_no_mask() {
        assert_eq!(additive(&[vec![true; 5], vec![true; 5]], &[0, 0], 1, true), None);
    }
}

//! Several callers' inputs through one model call, and the outputs back to their callers.
//!
//! Pure but for the replies: the model is a closure, so this file knows no model.

use super::job::Batch;
use crate::seams::ModelError;

/// Runs `batches` through `model` in calls of at most `limit` inputs each and answers every caller. If several callers
/// were merged and the run fails, each is run again alone, so that one bad input spoils only its own caller's result.
pub(super) fn run<I: Clone, O>(
    role: &str,
    batches: Vec<Batch<I, O>>,
    limit: usize,
    mut model: impl FnMut(&[I]) -> Result<Vec<O>, ModelError>,
) {
    if batches.len() > 1 {
        let merged: Vec<I> = batches.iter().flat_map(|batch| batch.inputs.iter().cloned()).collect();
        match run_in_chunks(role, &merged, limit, &mut model) {
            Ok(outputs) => return answer(batches, outputs),
            Err(error) => {
                tracing::debug!(role, %error, callers = batches.len(), "a merged batch failed, running its parts");
            }
        }
    }
    for batch in batches {
        let result = run_in_chunks(role, &batch.inputs, limit, &mut model);
        // The caller may have left meanwhile.
        let _ = batch.reply.send(result);
    }
}

fn answer<I, O>(batches: Vec<Batch<I, O>>, outputs: Vec<O>) {
    let mut outputs = outputs.into_iter();
    for batch in batches {
        let own = outputs.by_ref().take(batch.inputs.len()).collect();
        let _ = batch.reply.send(Ok(own));
    }
}

fn run_in_chunks<I, O>(
    role: &str,
    inputs: &[I],
    limit: usize,
    model: &mut impl FnMut(&[I]) -> Result<Vec<O>, ModelError>,
) -> Result<Vec<O>, ModelError> {
    let mut outputs = Vec::with_capacity(inputs.len());
    for chunk in inputs.chunks(limit.max(1)) {
        let part = model(chunk)?;
        if part.len() != chunk.len() {
            let reason = format!("{} outputs for {} inputs", part.len(), chunk.len());
            return Err(ModelError::Run { model: role.to_owned(), reason });
        }
        outputs.extend(part);
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    type Answers = Vec<Result<Vec<i32>, ModelError>>;

    /// Runs the given input lists through a model that negates, refuses zeros, and records the size of each call.
    fn negate(inputs: &[&[i32]], limit: usize) -> (Answers, Vec<usize>) {
        let mut calls = Vec::new();
        let (batches, replies): (Vec<_>, Vec<_>) = inputs
            .iter()
            .map(|inputs| {
                let (reply, answer) = oneshot::channel();
                (Batch { inputs: inputs.to_vec(), reply }, answer)
            })
            .unzip();
        run("negator", batches, limit, |chunk| {
            calls.push(chunk.len());
            if chunk.contains(&0) {
                return Err(ModelError::Input { model: "negator".into(), reason: "zero".into() });
            }
            Ok(chunk.iter().map(|n| -n).collect())
        });
        (replies.into_iter().map(|mut answer| answer.try_recv().expect("answered")).collect(), calls)
    }

    #[test]
    fn merged_outputs_go_back_to_their_callers() {
        let (answers, calls) = negate(&[&[1], &[2, 3], &[4]], 8);
        let outputs: Vec<_> = answers.into_iter().map(|answer| answer.expect("negated")).collect();
        assert_eq!(outputs, [vec![-1], vec![-2, -3], vec![-4]]);
        assert_eq!(calls, [4]);
    }

    #[test]
    fn no_call_is_larger_than_the_limit() {
        let (answers, calls) = negate(&[&[1, 2, 3, 4, 5], &[6, 7]], 3);
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(calls, [3, 3, 1]);
    }

    #[test]
    fn a_bad_input_spoils_only_its_own_caller() {
        let (answers, _) = negate(&[&[1], &[0], &[2]], 8);
        assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn a_model_that_miscounts_is_an_error() {
        let result = run_in_chunks("lazy", &[1, 2], 2, &mut |_: &[i32]| Ok(vec![1]));
        assert!(matches!(result, Err(ModelError::Run { reason, .. }) if reason == "1 outputs for 2 inputs"));
    }
}

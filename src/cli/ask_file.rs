//! `groundedvqa ask --file`: the whole job in one process, over one video file, without a bus.

use std::path::Path;

use anyhow::ensure;

use crate::bus::wire::AnswerReply;
use crate::bus::{self, Picture};
use crate::config::Span;
use crate::domain::{Answer, Design, Question, QuestionId};

use super::one_file::OneFile;

/// A question from the command line.
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) k: Option<u32>,
    pub(super) design: Option<Design>,
}

/// Watches `file` to its end, then answers. Progress goes to stderr.
pub(super) async fn ask(
    file: &Path,
    every: Span,
    models: &Path,
    asked: Asked<'_>,
) -> anyhow::Result<(AnswerReply, Vec<Picture>)> {
    ensure!(!asked.text.trim().is_empty(), "the question is empty");
    let opened = OneFile::open(file, every, models).await?;
    opened.watch().await?;
    let answer = opened.core.answerer.answer(question(&opened, &asked)).await?;
    opened.close().await?;
    Ok((bus::answer_message(&answer), pictures(&answer)))
}

fn question(opened: &OneFile, asked: &Asked<'_>) -> Question {
    let config = opened.core.answerer.config();
    Question {
        id: QuestionId::generate(),
        text: asked.text.to_owned(),
        stream: Some(opened.stream.clone()),
        design: asked.design.unwrap_or(config.design),
        k: asked.k.map_or(config.k, |k| k as usize),
    }
}

fn pictures(answer: &Answer) -> Vec<Picture> {
    let trials = answer.verdicts.iter().flat_map(|verdict| verdict.trials.iter().map(move |trial| (verdict, trial)));
    let pictures = trials.filter_map(|(verdict, trial)| {
        let evidence = trial.evidence.as_ref()?;
        Some(Picture {
            stream: evidence.citation.stream.clone(),
            at: evidence.citation.at,
            sha256: evidence.sha256.clone(),
            verdict: Some(verdict.id.to_string()),
            jpeg: evidence.jpeg.to_vec().into(),
        })
    });
    pictures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::eval::InputError;

    #[tokio::test]
    async fn what_needs_no_model_is_refused_before_one_is_loaded() {
        let no_models = Path::new("/nowhere/models");
        let ask = async |file: &str, text| {
            let asked = Asked { text, k: None, design: None };
            ask(Path::new(file), Span(std::time::Duration::from_secs(5)), no_models, asked).await
        };
        assert_eq!(ask("Cargo.toml", " ").await.expect_err("no question").to_string(), "the question is empty");
        let missing = ask("/nowhere/a.mp4", "Who is there?").await.expect_err("no file");
        assert_eq!(missing.to_string(), "cannot read /nowhere/a.mp4");
        assert_eq!(missing.downcast_ref::<InputError>().map(InputError::exit_code), Some(66), "as for eval");
    }
}

//! `groundedvqa ask`: a question to a running daemon.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;

use crate::bus::wire::{AnswerReply, AskRequest, V1};
use crate::bus::{ClientError, Events, Picture};
use crate::config::Span;
use crate::domain::{Conclusion, Design, Role, StreamId};

use super::ask_file::{self, Asked};
use super::server::{FOUND, NOTHING, ServerArgs, failed, span};
use super::show;

/// How long evidence may be behind its answer.
const EVIDENCE_PATIENCE: Duration = Duration::from_secs(5);

/// Asks a question about what a running daemon has seen, or about a file, without any server. Ends with 0 if a grounded
/// (or, unchecked, a made) claim answers or all moments of the time asked about let something be concluded, 1 if neither or
/// the question was refused, 66 if the file is missing, 69 if no server or no daemon answers.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The question, in plain language.
    question: String,
    /// The stream asked about; all streams if absent.
    #[arg(long, value_parser = stream_id)]
    stream: Option<StreamId>,
    /// How many moments are retrieved.
    #[arg(long)]
    k: Option<u32>,
    /// How claims are checked: caption-nli, caption-llm-judge, caption-llm-judge-lenient, vlm-direct, or none for the
    /// unchecked baseline.
    #[arg(long, value_parser = design)]
    design: Option<Design>,
    /// Print the reply as JSON.
    #[arg(long)]
    json: bool,
    /// Folder to write the evidence pictures into, one JPEG each, named by its SHA-256.
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Watch this video file here and now and ask about it: no daemon, no server, nothing is kept.
    #[arg(long, value_name = "VIDEO", conflicts_with_all = ["stream", "user", "password_file", "token_file", "creds_file", "nkey_seed_file", "tls_ca", "timeout"])]
    file: Option<PathBuf>,
    /// With --file: one frame per this much of the video, such as 2s.
    #[arg(long, default_value = "5s", value_parser = span, requires = "file")]
    every: Span,
    /// With --file: where `groundedvqa models fetch` put the models.
    #[arg(long, default_value = "models", env = "GVQA_MODELS")]
    models: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks, prints, says how it went.
pub async fn run(args: AskArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.file {
        let question = Asked { text: &args.question, k: args.k, design: args.design };
        let (reply, pictures) = ask_file::ask(file, args.every, &args.models, question).await?;
        return tell(&args, &reply, &pictures);
    }
    match ask(&args).await {
        Ok((reply, pictures)) => tell(&args, &reply, &pictures),
        Err(error) => Ok(failed(&error, args.json)),
    }
}

/// Writes the evidence, prints the answer, says how it went.
fn tell(args: &AskArgs, reply: &AnswerReply, pictures: &[Picture]) -> anyhow::Result<ExitCode> {
    if let Some(dir) = &args.evidence {
        write_evidence(dir, pictures)?;
    }
    if args.json {
        println!("{}", serde_json::to_string(reply)?);
    } else {
        print!("{}", show::answer(reply));
    }
    let conclusion = reply.survey.as_ref().map(|survey| survey.conclusion);
    Ok(ExitCode::from(verdict_on(conclusion, reply.assessments.iter().map(|it| it.role))))
}

async fn ask(args: &AskArgs) -> Result<(AnswerReply, Vec<Picture>), ClientError> {
    let client = args.server.connect().await?;
    let evidence = match &args.evidence {
        Some(_) => Some(client.evidence(args.stream.as_ref()).await?),
        None => None,
    };
    let reply = client.ask(&request(args)).await?;
    let pictures = match evidence {
        Some(evidence) => collect(&reply, evidence).await?,
        None => Vec::new(),
    };
    Ok((reply, pictures))
}

fn request(args: &AskArgs) -> AskRequest {
    AskRequest {
        v: V1,
        question: args.question.clone(),
        stream: args.stream.clone(),
        design: args.design,
        k: args.k,
        deadline_s: args.server.deadline_s(),
    }
}

/// The published pictures of `reply`, as many as arrive soon.
async fn collect(reply: &AnswerReply, mut evidence: Events<Picture>) -> Result<Vec<Picture>, ClientError> {
    let trials = reply.claims.iter().flat_map(|claim| &claim.trials);
    let (published, omitted): (Vec<_>, Vec<_>) =
        trials.filter_map(|trial| trial.evidence.as_ref()).partition(|evidence| evidence.omitted.is_none());
    if let Some(reason) = omitted.first().and_then(|evidence| evidence.omitted.as_ref()) {
        eprintln!("groundedvqa: {} evidence pictures were not published: {reason}", omitted.len());
    }
    let mut missing: Vec<&str> = published.iter().map(|evidence| evidence.sha256.as_str()).collect();
    missing.sort_unstable();
    missing.dedup();
    let mut pictures = Vec::new();
    while !missing.is_empty() {
        if let Ok(Some(picture)) = tokio::time::timeout(EVIDENCE_PATIENCE, evidence.next()).await {
            let picture = picture?;
            let wanted = missing.len();
            missing.retain(|sha256| *sha256 != picture.sha256.as_str());
            if missing.len() < wanted {
                pictures.push(picture);
            }
        } else {
            eprintln!("groundedvqa: {} evidence pictures did not arrive", missing.len());
            break;
        }
    }
    Ok(pictures)
}

fn write_evidence(dir: &Path, pictures: &[Picture]) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    for picture in pictures {
        let path = dir.join(format!("{}.jpg", picture.sha256));
        std::fs::write(&path, &picture.jpeg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Whether something was told as an answer: by a claim, or by all moments together, if only that there was no such thing.
fn verdict_on(conclusion: Option<Conclusion>, mut roles: impl Iterator<Item = Role>) -> u8 {
    let is_concluded = conclusion.is_some_and(|conclusion| conclusion != Conclusion::Undecided);
    let is_told = |role: Role| matches!(role, Role::Answers | Role::Unchecked);
    if is_concluded || roles.any(is_told) { FOUND } else { NOTHING }
}

pub(super) fn stream_id(text: &str) -> Result<StreamId, String> {
    StreamId::new(text).map_err(|error| error.to_string())
}

pub(super) fn design(text: &str) -> Result<Design, String> {
    let known = || Design::ALL.map(Design::as_str).join(", ");
    serde_json::from_value(text.into()).map_err(|_| format!("must be one of {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_as_an_answer_ends_with_0() {
        use Conclusion::{NotSeen, Seen, Undecided};
        let table: [(&str, Option<Conclusion>, &[Role], u8); 8] = [
            ("a claim answers", None, &[Role::BesideThePoint, Role::Answers], FOUND),
            ("unchecked", None, &[Role::Unchecked], FOUND),
            ("beside the point", None, &[Role::BesideThePoint, Role::Unproven], NOTHING),
            ("no claims", None, &[], NOTHING),
            ("nobody was there", Some(NotSeen), &[], FOUND),
            ("how long it was there", Some(Seen), &[Role::Unproven], FOUND),
            ("nothing may be concluded", Some(Undecided), &[Role::Unproven], NOTHING),
            ("nothing may be concluded, and a claim answers", Some(Undecided), &[Role::Answers], FOUND),
        ];
        for (name, conclusion, roles, due) in table {
            assert_eq!(verdict_on(conclusion, roles.iter().copied()), due, "{name}");
        }
    }
}

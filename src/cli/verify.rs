//! `groundedvqa verify`: somebody else's claims, to a running daemon or over a file.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::bus::wire::{ClaimRequest, V1, VerifyReply, VerifyRequest};
use crate::bus::{self, ClientError};
use crate::config::Span;
use crate::domain::{Citation, Claim, Design, Label, StreamId, StreamTime};

use super::ask::{design, stream_id};
use super::one_file::OneFile;
use super::replay::{self, ReplayArgs};
use super::server::{FOUND, NOTHING, ServerArgs, failed, span};
use super::show;

/// Has claims checked against fresh frames, of a stream that a running daemon knows or of a file, without any server.
/// Claims come from --claim, or as JSON on standard input: [{"claim": "A dog runs.", "timestamp": 12.5}]. Ends with 0 if
/// all are grounded, 1 if one is not or the request was refused, 66 if the file is missing, 69 if no server or no daemon
/// answers.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The stream that the claims are about.
    #[arg(long, value_parser = stream_id, required_unless_present_any = ["replay", "file"], conflicts_with = "file")]
    stream: Option<StreamId>,
    /// A sentence and the second of the stream that shows it, such as "A dog runs.@12.5". May be repeated.
    #[arg(long = "claim", value_parser = claim, value_name = "TEXT@SECONDS")]
    claims: Vec<ClaimRequest>,
    /// How claims are checked: caption-nli, caption-llm-judge, caption-llm-judge-lenient, vlm-direct, or none for the
    /// unchecked baseline.
    #[arg(long, value_parser = design)]
    design: Option<Design>,
    /// With --file and without --replay: how far beside the cited frame its neighbours are, such as 2s.
    #[arg(long, default_value = "5s", value_parser = span, requires = "file", conflicts_with = "replay")]
    every: Span,
    /// Print the reply as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks, prints, says how it went.
pub async fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.replay.replay {
        return replay::run(&args.replay, path, args.json).await;
    }
    let claims = if args.claims.is_empty() { from_stdin()? } else { args.claims.clone() };
    if let Some(file) = args.replay.file.as_deref() {
        return tell(&args, &over_file(&args, file, claims).await?);
    }
    match verify(&args, claims).await {
        Ok(reply) => tell(&args, &reply),
        Err(error) => Ok(failed(&error, args.json)),
    }
}

fn tell(args: &VerifyArgs, reply: &VerifyReply) -> anyhow::Result<ExitCode> {
    if args.json {
        println!("{}", serde_json::to_string(reply)?);
    } else {
        print!("{}", show::verdicts(&reply.claims));
    }
    let all = reply.claims.iter().all(|claim| claim.verdict == Label::Grounded);
    Ok(ExitCode::from(if all { FOUND } else { NOTHING }))
}

/// The same check as the daemon's, of frames of `file`; nothing else of it is watched.
async fn over_file(args: &VerifyArgs, file: &Path, claims: Vec<ClaimRequest>) -> anyhow::Result<VerifyReply> {
    let opened = OneFile::open(file, args.every, &args.replay.models).await?;
    let stream = opened.stream.clone();
    let cited = |claim: ClaimRequest| Claim {
        text: claim.claim,
        citation: Citation { stream: stream.clone(), at: claim.timestamp },
    };
    let answerer = &opened.core.answerer;
    let design = args.design.unwrap_or(answerer.config().design);
    let verdicts = answerer.verify(claims.into_iter().map(cited).collect(), design).await?;
    opened.close().await?;
    Ok(VerifyReply { v: V1, stream, claims: verdicts.iter().map(bus::verdict_message).collect() })
}

async fn verify(args: &VerifyArgs, claims: Vec<ClaimRequest>) -> Result<VerifyReply, ClientError> {
    let client = args.server.connect().await?;
    let request = VerifyRequest { v: V1, claims, design: args.design, deadline_s: args.server.deadline_s() };
    let stream = args.stream.as_ref().expect("clap requires a stream where no file is named");
    client.verify(stream, &request).await
}

fn from_stdin() -> anyhow::Result<Vec<ClaimRequest>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read claims from standard input")?;
    serde_json::from_str(&text).context("standard input holds no claims like [{\"claim\": \"…\", \"timestamp\": 12.5}]")
}

fn claim(text: &str) -> Result<ClaimRequest, String> {
    let parsed = text.rsplit_once('@').and_then(|(claim, seconds)| {
        let timestamp = StreamTime::from_seconds(seconds.trim().parse().ok()?).ok()?;
        Some(ClaimRequest { claim: claim.trim().to_owned(), timestamp })
    });
    parsed.filter(|claim| !claim.claim.is_empty()).ok_or_else(|| "must be a sentence, @, and seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::claim;

    #[test]
    fn a_claim_ends_with_its_second() {
        let parsed = claim("Mail to a@b is seen. @12.5").expect("valid");
        assert_eq!((parsed.claim.as_str(), parsed.timestamp.seconds()), ("Mail to a@b is seen.", 12.5));
        for bad in ["", "@1", "A dog.", "A dog.@x", "A dog.@-1", "A dog.@NaN"] {
            assert!(claim(bad).is_err(), "{bad:?} was accepted");
        }
    }
}

//! `groundedvqa verify`: somebody else's claims to a running daemon.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::bus::ClientError;
use crate::bus::wire::{ClaimRequest, V1, VerifyReply, VerifyRequest};
use crate::domain::{Design, Label, StreamId, StreamTime};

use super::ask::{design, stream_id};
use super::replay::{self, ReplayArgs};
use super::server::{FOUND, NOTHING, ServerArgs, failed};
use super::show;

/// Has claims checked against fresh frames. Claims come from --claim, or as JSON on standard input:
/// [{"claim": "A dog runs.", "timestamp": 12.5}]. Ends with 0 if all are grounded, 1 if one is not or the request was
/// refused, 69 if no server or no daemon answers.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The stream that the claims are about.
    #[arg(long, value_parser = stream_id, required_unless_present = "replay")]
    stream: Option<StreamId>,
    /// A sentence and the second of the stream that shows it, such as "A dog runs.@12.5". May be repeated.
    #[arg(long = "claim", value_parser = claim, value_name = "TEXT@SECONDS")]
    claims: Vec<ClaimRequest>,
    /// How claims are checked: caption-nli, caption-llm-judge, caption-llm-judge-lenient, vlm-direct, or none for the
    /// unchecked baseline.
    #[arg(long, value_parser = design)]
    design: Option<Design>,
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
    match verify(&args, claims).await {
        Ok(reply) => {
            if args.json {
                println!("{}", serde_json::to_string(&reply)?);
            } else {
                print!("{}", show::verdicts(&reply.claims));
            }
            let all = reply.claims.iter().all(|claim| claim.verdict == Label::Grounded);
            Ok(ExitCode::from(if all { FOUND } else { NOTHING }))
        }
        Err(error) => Ok(failed(&error, args.json)),
    }
}

async fn verify(args: &VerifyArgs, claims: Vec<ClaimRequest>) -> Result<VerifyReply, ClientError> {
    let client = args.server.connect().await?;
    let request = VerifyRequest { v: V1, claims, design: args.design, deadline_s: args.server.deadline_s() };
    let stream = args.stream.as_ref().expect("clap requires a stream unless verdicts are replayed");
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

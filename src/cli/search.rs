//! `groundedvqa search`: text to moments of a running daemon.

use std::process::ExitCode;

use clap::Args;

use crate::bus::ClientError;
use crate::bus::wire::{SearchReply, SearchRequest, V1};
use crate::domain::{StreamId, StreamTime};

use super::ask::stream_id;
use super::server::{FOUND, NOTHING, ServerArgs, failed};
use super::show;

/// Lists the moments of a stream that are nearest in meaning to a text. Ends with 0 if there are any, 1 if there are
/// none or the request was refused, 69 if no server or no daemon answers.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for.
    query: String,
    /// The stream to look at.
    #[arg(long, value_parser = stream_id)]
    stream: StreamId,
    /// How many moments.
    #[arg(long)]
    k: Option<u32>,
    /// First second of the stream to look at.
    #[arg(long, value_parser = seconds)]
    from: Option<StreamTime>,
    /// Last second of the stream to look at.
    #[arg(long, value_parser = seconds)]
    to: Option<StreamTime>,
    /// Print the reply as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks, prints, says how it went.
pub async fn run(args: SearchArgs) -> anyhow::Result<ExitCode> {
    match search(&args).await {
        Ok(reply) => {
            if args.json {
                println!("{}", serde_json::to_string(&reply)?);
            } else {
                print!("{}", show::moments(&reply.moments));
            }
            Ok(ExitCode::from(if reply.moments.is_empty() { NOTHING } else { FOUND }))
        }
        Err(error) => Ok(failed(&error, args.json)),
    }
}

async fn search(args: &SearchArgs) -> Result<SearchReply, ClientError> {
    let client = args.server.connect().await?;
    let request = SearchRequest {
        v: V1,
        query: args.query.clone(),
        k: args.k,
        from: args.from,
        to: args.to,
        deadline_s: args.server.deadline_s(),
    };
    client.search(&args.stream, &request).await
}

fn seconds(text: &str) -> Result<StreamTime, String> {
    let number: f64 = text.parse().map_err(|_| "must be a number of seconds".to_owned())?;
    StreamTime::from_seconds(number).map_err(|error| error.to_string())
}

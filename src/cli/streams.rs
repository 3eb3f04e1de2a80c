//! `groundedvqa streams`: what a running daemon watches, and changes to it.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::bus::ClientError;
use crate::bus::wire::{SightRequest, StreamReply, StreamRequest, StreamsReply};
use crate::domain::StreamId;

use super::ask::stream_id;
use super::server::{FOUND, ServerArgs, failed};
use super::show;

/// Lists the streams of a running daemon with how they fare, or adds, changes and removes streams, if the site allows it
/// (`bus.manage_allow`). Ends with 0 if it was done, 1 if it was refused, 69 if no server or no daemon answers.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StreamsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    whom: Whom,
}

/// Whom to ask, and how to tell.
#[derive(Debug, Args)]
struct Whom {
    /// Print the reply as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Watch one more stream, now and after every restart.
    Add(Settings),
    /// Watch an added stream with other settings; those left out are at their defaults.
    Change(Settings),
    /// Watch an added stream no longer. What was seen of it can still be asked about.
    Remove {
        /// The stream.
        #[arg(value_parser = stream_id)]
        stream: StreamId,
        #[command(flatten)]
        whom: Whom,
    },
}

#[derive(Debug, Args)]
struct Settings {
    /// The stream: one word of A-Z a-z 0-9 _ -.
    #[arg(value_parser = stream_id)]
    stream: StreamId,
    /// Where it comes from, without credentials.
    url: String,
    /// User name for the source.
    #[arg(long)]
    source_user: Option<String>,
    /// Name of the file with the password, in the daemon's `bus.manage_passwords`.
    #[arg(long)]
    source_password_file: Option<String>,
    /// One frame per this much stream time, such as 5s.
    #[arg(long)]
    sample_every: Option<String>,
    /// How RTSP media travels: tcp or udp.
    #[arg(long)]
    protocol: Option<String>,
    /// Open the source again when it sends nothing for so long, such as 10s.
    #[arg(long)]
    stall_timeout: Option<String>,
    /// Time of day of a file's beginning, RFC 3339.
    #[arg(long)]
    starts_at: Option<String>,
    /// The zone of its clock on the wall, such as Europe/Berlin.
    #[arg(long)]
    zone: Option<String>,
    /// Whether a live stream is recorded.
    #[arg(long)]
    record: Option<bool>,
    /// What is decoded of a live stream: auto, keyframes or all.
    #[arg(long)]
    decode: Option<String>,
    #[command(flatten)]
    sight: Sight,
    #[command(flatten)]
    whom: Whom,
}

/// How its pictures are looked at before they are captioned.
#[derive(Debug, Args)]
struct Sight {
    /// Whether unchanged pictures make the last moment longer instead of being captioned.
    #[arg(long)]
    extend_unchanged: Option<bool>,
    /// However little changes, caption this often, such as 10m.
    #[arg(long)]
    caption_at_least: Option<String>,
    /// The same picture for so long means a frozen camera, such as 1m; 0s: never.
    #[arg(long)]
    frozen_after: Option<String>,
    /// Caption sudden changes between two samples, at most one in so long, such as 5s; 0s: never.
    #[arg(long)]
    extra_every: Option<String>,
}

impl Sight {
    fn request(&self) -> Option<SightRequest> {
        let request = SightRequest {
            extend_unchanged: self.extend_unchanged,
            caption_at_least: self.caption_at_least.clone(),
            frozen_after: self.frozen_after.clone(),
            extra_every: self.extra_every.clone(),
        };
        (request != SightRequest::default()).then_some(request)
    }
}

impl Settings {
    fn request(&self) -> StreamRequest {
        StreamRequest {
            user: self.source_user.clone(),
            password_file: self.source_password_file.clone(),
            sample_every: self.sample_every.clone(),
            protocol: self.protocol.clone(),
            stall_timeout: self.stall_timeout.clone(),
            starts_at: self.starts_at.clone(),
            zone: self.zone.clone(),
            record: self.record,
            decode: self.decode.clone(),
            sight: self.sight.request(),
            ..StreamRequest::new(self.stream.clone(), &self.url)
        }
    }
}

/// What came back.
enum Told {
    All(StreamsReply),
    One(StreamReply),
}

/// Asks, prints, says how it went.
pub async fn run(args: StreamsArgs) -> anyhow::Result<ExitCode> {
    let whom = match &args.action {
        None => &args.whom,
        Some(Action::Add(settings) | Action::Change(settings)) => &settings.whom,
        Some(Action::Remove { whom, .. }) => whom,
    };
    match ask(args.action.as_ref(), &whom.server).await {
        Ok(told) => {
            match (told, whom.json) {
                (Told::All(reply), true) => println!("{}", serde_json::to_string(&reply)?),
                (Told::All(reply), false) => print!("{}", show::streams(&reply.streams)),
                (Told::One(reply), true) => println!("{}", serde_json::to_string(&reply)?),
                (Told::One(reply), false) => println!("{}: {}", reply.stream, reply.state.as_str()),
            }
            Ok(ExitCode::from(FOUND))
        }
        Err(error) => Ok(failed(&error, whom.json)),
    }
}

async fn ask(action: Option<&Action>, server: &ServerArgs) -> Result<Told, ClientError> {
    let client = server.connect().await?;
    Ok(match action {
        None => Told::All(client.streams().await?),
        Some(Action::Add(settings)) => Told::One(client.add_stream(&settings.request()).await?),
        Some(Action::Change(settings)) => Told::One(client.change_stream(&settings.request()).await?),
        Some(Action::Remove { stream, .. }) => Told::One(client.remove_stream(stream).await?),
    })
}

//! `groundedvqa demo`: the whole job on real clips, each part a process of its own, spoken to over NATS.
//!
//! Starts a NATS server, a live RTSP camera and the daemon as children, waits until the clips are indexed, asks, has
//! claims checked, and writes what came back: to the terminal, as JPEGs, and as one page. The daemon's memory stays in
//! the output directory, so that a second run indexes nothing anew.
//!
//! It is a client like any other: what it shows went over the bus. It fails if a question has no answer, if the unknown
//! stream is not refused as one, if a fabricated claim is grounded, or if a child does not end in order.

mod album;
mod children;
mod http;
mod latency;
mod page;
mod script;
mod settings;
mod terminal;
mod transcript;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use self::album::Album;
use self::children::{Children, Daemon};
use self::settings::Settings;
use self::terminal::Terminal;
use self::transcript::{Check, Exchange, Transcript};
use crate::bus::wire::{AskRequest, ClaimRequest, V1, VerifyRequest};
use crate::bus::{self, Client, ClientError};
use crate::domain::{StreamId, WallTime};
use crate::secret::Secret;

/// How long the clips may take to be indexed; about 20 s on two free cores.
const INDEXING: Duration = Duration::from_secs(150);
/// How long a request may take on a busy machine.
const PATIENCE_S: f64 = 60.0;

/// `demo`: the whole job on real clips; writes a page.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Where the page, the evidence, the log and the memory go; a second run reuses the memory.
    #[arg(long, default_value = "demo-out")]
    pub out: PathBuf,
    /// The installed models.
    #[arg(long, default_value = "models")]
    pub models: PathBuf,
    /// The installed clips `bikes.mp4` and `carphone_pristine.mp4`.
    #[arg(long, default_value = ".cache/clips")]
    pub clips: PathBuf,
    /// The script that plays a clip as a live camera.
    #[arg(long, default_value = "tests/common/rtsp_server.py")]
    pub camera: PathBuf,
}

/// Runs the demo; an error says which of its promises did not hold.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let terminal = Terminal::start();
    let settings = Settings::prepare(&args)?;
    let mut children = Children::default();
    let result = watch_and_ask(&settings, &mut children, &terminal).await;
    terminal.step("stopping: daemon, camera, NATS server");
    let stopped = children.stop().await;
    let transcript = match result {
        Ok(transcript) => transcript,
        Err(error) => bail!("{error:#}\n{}", settings.log_tail()),
    };
    stopped.with_context(|| settings.log_tail())?;
    transcript.save(&settings.out)?;
    terminal.latency(&transcript.latency);
    terminal.step(&format!("page: {}", settings.out.join("index.html").display()));
    match transcript.broken_promises().as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        broken => bail!("{}", broken.join("\n")),
    }
}

async fn watch_and_ask(
    settings: &Settings,
    children: &mut Children,
    terminal: &Terminal,
) -> anyhow::Result<Transcript> {
    let nats = children.start_nats(&settings.out).await?;
    terminal.step(&format!("NATS server: {nats}"));
    let camera = children.start_camera(&settings.camera, &settings.carphone).await?;
    terminal.step(&format!("live camera: {camera}"));
    settings.write(&nats, &camera)?;
    let daemon = children.start_daemon(settings)?;
    terminal.step(&format!("daemon: groundedvqa run --config {}", settings.config().display()));

    daemon.ready(settings.telemetry, INDEXING).await?;
    let client = Client::connect(&bus::Config { url: Secret::new(nats), ..bus::Config::default() }).await?;
    let mut album = Album::open(&client).await?;
    let streams = watch::until_indexed(&client, daemon, terminal, INDEXING).await?;
    let exchanges = ask_all(&client, &mut album, daemon, terminal).await?;
    let checks = check_all(&client, &mut album, terminal).await?;
    let metrics = http::get(settings.telemetry, "/metrics").await?.body;
    Ok(Transcript {
        at: WallTime::now(),
        streams,
        exchanges,
        checks,
        pictures: album.into_pictures(),
        latency: latency::table(&metrics),
    })
}

async fn ask_all(
    client: &Client,
    album: &mut Album,
    daemon: &mut Daemon,
    terminal: &Terminal,
) -> anyhow::Result<Vec<Exchange>> {
    terminal.title("Questions");
    let mut exchanges = Vec::new();
    for scripted in script::QUESTIONS {
        let stream = StreamId::new(scripted.stream)?;
        let request = AskRequest {
            v: V1,
            question: scripted.text.to_owned(),
            stream: Some(stream),
            design: None,
            k: None,
            deadline_s: Some(PATIENCE_S),
        };
        let start = Instant::now();
        let outcome = match client.ask(&request).await {
            Ok(reply) => Ok(reply),
            Err(ClientError::Refused(refusal)) => Err(refusal),
            Err(error) => {
                daemon.check_alive()?;
                return Err(error).with_context(|| format!("question {:?} has no answer", scripted.text));
            }
        };
        let exchange = Exchange { scripted, took: start.elapsed(), outcome };
        if let Ok(reply) = &exchange.outcome {
            album.gather(&reply.claims).await?;
        }
        terminal.exchange(&exchange);
        exchanges.push(exchange);
    }
    Ok(exchanges)
}

async fn check_all(client: &Client, album: &mut Album, terminal: &Terminal) -> anyhow::Result<Vec<Check>> {
    terminal.title("Somebody else's claims");
    let mut checks = Vec::new();
    for (name, scripted) in script::CLAIMS {
        let stream = StreamId::new(name)?;
        let claims = scripted.iter().map(|claim| ClaimRequest { claim: claim.text.to_owned(), timestamp: claim.at() });
        let request = VerifyRequest { v: V1, claims: claims.collect(), design: None, deadline_s: Some(PATIENCE_S) };
        let reply = client.verify(&stream, &request).await.with_context(|| format!("claims about {name}"))?;
        album.gather(&reply.claims).await?;
        if reply.claims.len() != scripted.len() {
            bail!("{} verdicts came back for {} claims about {name}", reply.claims.len(), scripted.len());
        }
        for (scripted, verdict) in scripted.iter().zip(reply.claims) {
            let check = Check { scripted, verdict };
            terminal.check(&check);
            checks.push(check);
        }
    }
    Ok(checks)
}

/// The file itself, or what to do about it.
fn present(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("{} is missing: run `make setup`", path.display()))
}

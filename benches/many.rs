//! Many live streams on a small machine: what watching costs when the models are no part of it.
//!
//! Watches one address as many streams, through the narrator and the memory, with models that cost nothing, and prints a
//! line of JSON: CPU seconds, resident memory over time, threads, captions, frames that were dropped, and the age of the
//! oldest frame that was captioned. `benches/many.py` starts the camera and runs this in turns with its alternatives.
//!
//! ```text
//! cargo bench --bench many -- rtsp://127.0.0.1:8554/live --streams 16 --seconds 60 --every 5s --keys 'decode = "all"'
//! ```

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use groundedvqa::config::Span;
use groundedvqa::domain::{Event, StreamId, StreamKind, StreamState, WallTime};
use groundedvqa::engine::{self, Engine};
use groundedvqa::index::{self, Index};
use groundedvqa::narrate::{self, Board, Deps, Outage, StreamPolicy, Waits, Watching};
use groundedvqa::sight::Settings;
use groundedvqa::stop::Stop;
use groundedvqa::telemetry::{Queues, Stages};
use groundedvqa::video::{self, StreamConfig};
use tokio::sync::mpsc;

#[path = "../tests/common/idle.rs"]
mod idle;

/// How often memory and threads are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

#[derive(Parser)]
struct Args {
    /// What every stream watches.
    url: String,
    #[arg(long, default_value_t = 16)]
    streams: usize,
    /// Measured from when all streams are up.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// One frame per this much stream time.
    #[arg(long, default_value = "5s")]
    every: String,
    /// More keys of the streams' sections, in TOML.
    #[arg(long, default_value = "")]
    keys: String,
    /// What `cargo bench` adds.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What became of the frames.
#[derive(Default)]
struct Seen {
    captions: AtomicU64,
    /// Age of the oldest frame when it was captioned, in ms.
    oldest_ms: AtomicI64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let stop = Stop::new();
    let seen = Arc::new(Seen::default());
    let deps = deps(&folder, &stop, &seen)?;
    let watching = watch(&args, &deps)?;
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    while deps.board.snapshot().iter().any(|status| status.state != StreamState::Up) {
        ticks.tick().await;
    }
    let (cpu, start) = (cpu_seconds()?, Instant::now());
    seen.captions.store(0, Ordering::Relaxed);
    seen.oldest_ms.store(0, Ordering::Relaxed);
    let (mut resident_mb, mut threads) = (Vec::new(), 0);
    while start.elapsed() < Duration::from_secs(args.seconds) {
        tokio::time::sleep(LOOK_EVERY.min(Duration::from_secs(args.seconds))).await;
        resident_mb.push(status("VmRSS:")? / 1024);
        threads = threads.max(status("Threads:")?);
    }
    let (cpu, took) = (cpu_seconds()? - cpu, start.elapsed().as_secs_f64());
    let dropped: u64 = deps.board.snapshot().iter().flat_map(|status| status.dropped.values().copied()).sum();
    let up = deps.board.snapshot().iter().filter(|status| status.state == StreamState::Up).count();
    println!(
        "{}",
        serde_json::json!({
            "streams": args.streams,
            "up_at_the_end": up,
            "seconds": took,
            "cpu_seconds": cpu,
            "cpu_seconds_per_stream_hour": cpu / took / args.streams as f64 * 3600.0,
            "resident_mb": resident_mb,
            "threads": threads,
            "captions": seen.captions.load(Ordering::Relaxed),
            "dropped": dropped,
            "oldest_captioned_s": seen.oldest_ms.load(Ordering::Relaxed) as f64 / 1000.0,
        })
    );
    stop.ask();
    for stream in watching {
        stream.ended().await?;
    }
    Ok(())
}

fn deps(folder: &tempfile::TempDir, stop: &Stop, seen: &Arc<Seen>) -> Result<Deps, Box<dyn std::error::Error>> {
    let registry = prometheus::Registry::new();
    let stages = Stages::register(&registry)?;
    let queues = Queues::register(&registry)?;
    let config = index::Config { path: folder.path().join("index.redb"), ..index::Config::default() };
    let index = Index::open(&config, index::Metrics::register(&registry, stages.clone(), queues.clone())?)?;
    let (engine, _thread) =
        Engine::start(idle::models(), &engine::Config::default(), engine::Metrics { stages, queues })?;
    let (events, told) = mpsc::channel(256);
    tokio::spawn(look(told, Arc::clone(seen)));
    let metrics = narrate::Metrics::register(&registry)?;
    video::init()?;
    Ok(Deps { engine, index, board: Board::new(), events, metrics, stop: stop.clone() })
}

async fn look(mut told: mpsc::Receiver<Event>, seen: Arc<Seen>) {
    while let Some(event) = told.recv().await {
        if let Event::Caption(moment) = event {
            seen.captions.fetch_add(1, Ordering::Relaxed);
            let age = (WallTime::now().nanos() - moment.wall.nanos()) / 1_000_000;
            seen.oldest_ms.fetch_max(age, Ordering::Relaxed);
        }
    }
}

fn watch(args: &Args, deps: &Deps) -> Result<Vec<Watching>, Box<dyn std::error::Error>> {
    let every = Span::try_from(args.every.clone())?.0;
    let settings: StreamConfig = toml::from_str(&format!("url = {:?}\n{}\n", args.url, args.keys))?;
    let mut watching = Vec::new();
    for number in 0..args.streams {
        let (stream, settings, stop) = (StreamId::new(format!("cam-{number}"))?, settings.clone(), deps.stop.clone());
        let reconnect = Waits::default();
        // Every sample is captioned: what is measured is watching, not a still picture.
        let sight = Settings::plain();
        let policy = StreamPolicy {
            kind: StreamKind::Live,
            identity: None,
            sample_every: every,
            sight,
            reconnect,
            outage: Outage::Wait,
        };
        let name = stream.clone();
        let open = move |origin| video::open(&name, &settings, origin, &stop);
        watching.push(narrate::watch(stream, open, deps.clone(), policy));
    }
    Ok(watching)
}

/// User and system time of this process (proc(5): fields 14 and 15, in hundredths).
fn cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    Ok((ticks(11) + ticks(12)) / 100.0)
}

/// A number of /proc/self/status.
fn status(key: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    Ok(line.split_whitespace().next().unwrap_or_default().parse()?)
}

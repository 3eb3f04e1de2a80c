//! How fast files are read for indexing and how long one evidence frame takes, interleaved in one run.
//!
//! ```text
//! cargo bench --bench extract            # vtest.avi and bikes.mp4
//! cargo bench --bench extract -- a.mp4   # your own
//! ```
//!
//! "sampled" decodes every picture and converts one a second, as the daemon does; "converted" is the alternative that
//! converts every picture to RGB.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use groundedvqa::domain::{StreamId, StreamTime, WallTime};
use groundedvqa::seams::Origin;
use groundedvqa::stop::Stop;
use groundedvqa::video::{self, StreamConfig};

const ROUNDS: usize = 3;
const EXTRACTIONS: usize = 12;
const SECOND: Duration = Duration::from_secs(1);

fn main() -> Result<()> {
    video::init()?;
    let named: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).map(PathBuf::from).collect();
    let clips = if named.is_empty() { default_clips() } else { named };
    for clip in clips {
        measure(&clip).with_context(|| format!("{}: run `make setup`", clip.display()))?;
    }
    Ok(())
}

fn default_clips() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    vec![
        PathBuf::from("/usr/share/doc/opencv-doc/examples/data/vtest.avi"),
        root.join(".cache/clips/bikes.mp4"),
        root.join(".cache/clips/bigbuckbunny.mp4"),
    ]
}

fn measure(clip: &Path) -> Result<()> {
    let config = StreamConfig::new(clip.to_str().context("the path is not UTF-8")?)?;
    let (mut sampled, mut converted) = (Vec::new(), Vec::new());
    let mut pictures = 0;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        times = read(&config, SECOND)?;
        sampled.push(started.elapsed());
        let started = Instant::now();
        pictures = read(&config, Duration::from_nanos(1))?.len();
        converted.push(started.elapsed());
    }
    let evidence = video::evidence(&stream()?, &config, WallTime::now());
    let step = times.len().div_ceil(EXTRACTIONS).max(1);
    let mut extracted = Vec::new();
    for &at in times.iter().step_by(step) {
        let started = Instant::now();
        evidence.frame_at(at)?;
        extracted.push(started.elapsed());
    }
    let rate = |times: &mut Vec<Duration>| pictures as f64 / median(times).as_secs_f64();
    let (sampled, converted) = (rate(&mut sampled), rate(&mut converted));
    println!(
        "{:<18} sampled {sampled:>6.0} pictures/s   converted {converted:>6.0} pictures/s   ratio {:.2}   \
         evidence {:>5.1} ms median, {:>5.1} ms worst",
        clip.file_name().unwrap_or_default().to_string_lossy(),
        sampled / converted,
        median(&mut extracted).as_secs_f64() * 1e3,
        extracted.iter().max().copied().unwrap_or_default().as_secs_f64() * 1e3,
    );
    Ok(())
}

fn stream() -> Result<StreamId> {
    Ok(StreamId::new("bench")?)
}

/// The times of the sampled frames.
fn read(config: &StreamConfig, every: Duration) -> Result<Vec<StreamTime>> {
    let origin = Origin { epoch: WallTime::now(), after: None, sample_every: every };
    let mut source = video::open(&stream()?, config, origin, &Stop::new())?;
    let mut times = Vec::new();
    while let Some(frame) = source.next_frame()? {
        times.push(frame.at);
    }
    Ok(times)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

//! The index at a day's size: how fast moments go in, how fast they are found, how large the file is.
//!
//! `cargo bench --bench index` (in the build directory's file system; a minute or two). Searches alternate with a
//! plain scan of the same vectors as f32 in memory, the best that a scan could do, so that the ratio holds on a busy
//! machine.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::future::join_all;
use groundedvqa::domain::{
    Caption, Embedding, Fingerprint, NewMoment, StreamId, StreamKind, StreamTime, WallTime, Window,
};
use groundedvqa::index::{Config, Index, Metrics, Scope};
use groundedvqa::telemetry::{Queues, Stages};

const ROWS: usize = 100_000;
const STREAMS: usize = 32;
const COMPONENTS: usize = 384;
const K: usize = 5;
const ROUNDS: usize = 9;

fn main() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let config = Config { path: dir.path().join("index.redb"), ..Config::default() };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let index = Index::open(&config, metrics()).expect("opens");
        append_alone(&index).await;
        let vectors = append_together(&index).await;
        search(&index, &vectors).await;
        let start = Instant::now();
        index.close().await.expect("closes");
        println!("close                                {:>9.1} ms", millis(start.elapsed()));
        size(&config.path);
        let start = Instant::now();
        let index = Index::open(&config, metrics()).expect("opens again");
        println!("open                                 {:>9.1} ms", millis(start.elapsed()));
        index.close().await.expect("closes");
    });
}

fn metrics() -> Metrics {
    let registry = prometheus::Registry::new();
    let stages = Stages::register(&registry).expect("registers");
    let queues = Queues::register(&registry).expect("registers");
    Metrics::register(&registry, stages, queues).expect("registers")
}

fn stream(number: usize) -> StreamId {
    StreamId::new(format!("cam-{number}")).expect("a token")
}

fn moment(row: usize, embedding: Embedding) -> NewMoment {
    let at = Duration::from_secs(5) * (row / STREAMS) as u32;
    NewMoment {
        stream: stream(row % STREAMS),
        at: StreamTime::ZERO + at,
        wall: WallTime::from_nanos(1_790_000_000_000_000_000).expect("a time").plus(at),
        timing: None,
        caption: Caption::new("Two people are walking next to a parked car. A bicycle is on the left of the picture."),
        embedding,
        captioner: Fingerprint::new("captioner@1"),
        embedder: Fingerprint::new("embedder@1"),
    }
}

fn vector(random: &mut fastrand::Rng) -> Embedding {
    Embedding::new((0..COMPONENTS).map(|_| random.f32() - 0.5).collect())
}

/// One stream that waits for each commit: the slowest way to write.
async fn append_alone(index: &Index) {
    let mut random = fastrand::Rng::with_seed(1);
    let alone = StreamId::new("alone").expect("a token");
    index.register(&alone, StreamKind::Live, None).await.expect("registers");
    let start = Instant::now();
    let count = 200;
    for row in 0..count {
        let one = NewMoment { stream: alone.clone(), ..moment(row * STREAMS, vector(&mut random)) };
        index.append(one).await.expect("appends");
    }
    rate("append, one stream, a commit each", count, start.elapsed());
}

/// All streams at once: commits are shared.
async fn append_together(index: &Index) -> Vec<Embedding> {
    let mut random = fastrand::Rng::with_seed(2);
    for number in 0..STREAMS {
        index.register(&stream(number), StreamKind::Live, None).await.expect("registers");
    }
    let vectors: Vec<_> = (0..ROWS).map(|_| vector(&mut random)).collect();
    let start = Instant::now();
    for (chunk, rows) in vectors.chunks(STREAMS).enumerate() {
        let first = chunk * STREAMS;
        let appends = rows.iter().enumerate().map(|(row, v)| index.append(moment(first + row, v.clone())));
        for stored in join_all(appends).await {
            stored.expect("appends");
        }
    }
    rate("append, 32 streams, shared commits", ROWS, start.elapsed());
    vectors
}

async fn search(index: &Index, vectors: &[Embedding]) {
    let all: Vec<_> = (0..STREAMS).map(stream).collect();
    let hour = Window::new(at(3600), at(7200)).expect("ordered");
    let minutes = Window::new(at(3600), at(3900)).expect("ordered");
    let cases = [
        ("all streams, all time", all.clone(), Window::ALL),
        ("8 of 32 streams, all time", all[..8].to_vec(), Window::ALL),
        ("1 of 32 streams, all time", all[..1].to_vec(), Window::ALL),
        ("all streams, one hour", all.clone(), hour),
        ("all streams, five minutes", all, minutes),
    ];
    let mut random = fastrand::Rng::with_seed(3);
    println!("{:<28} {:>8} {:>10} {:>12} {:>7}", "search, best of 5", "rows", "index ms", "in memory ms", "ratio");
    for (name, streams, window) in cases {
        let rows =
            index.moments(Scope { streams: streams.clone(), window }, usize::MAX, false).await.expect("reads").len();
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let query = vector(&mut random);
            let scope = Scope { streams: streams.clone(), window };
            let start = Instant::now();
            black_box(index.search(query.clone(), scope, K).await.expect("searches"));
            ours.push(start.elapsed());
            let start = Instant::now();
            black_box(scan(&query, &vectors[..rows.min(vectors.len())]));
            plain.push(start.elapsed());
        }
        let (ours, plain) = (millis(median(ours)), millis(median(plain)));
        println!("{name:<28} {rows:>8} {ours:>10.2} {plain:>12.2} {:>6.1}x", ours / plain);
    }
}

/// The alternative: f32 vectors in memory, no filter, no file.
fn scan(query: &Embedding, vectors: &[Embedding]) -> Vec<(usize, f32)> {
    let mut scores: Vec<_> =
        vectors.iter().map(|vector| dot(query.as_slice(), vector.as_slice())).enumerate().collect();
    let k = K.min(scores.len());
    if k < scores.len() {
        scores.select_nth_unstable_by(k, |a, b| b.1.total_cmp(&a.1));
    }
    scores.truncate(k);
    scores
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

fn at(seconds: u64) -> StreamTime {
    StreamTime::from_nanos(seconds * 1_000_000_000)
}

fn size(path: &Path) {
    let bytes = std::fs::metadata(path).expect("a file").len();
    let raw = (ROWS * 2 * COMPONENTS) as f64;
    println!(
        "file                                 {:>9.1} MB ({:.2} x the f16 vectors)",
        bytes as f64 / 1e6,
        bytes as f64 / raw
    );
}

fn rate(what: &str, count: usize, took: Duration) {
    println!("{what:<36} {:>10.0} rows/s", count as f64 / took.as_secs_f64());
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

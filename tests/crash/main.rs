//! kill -9 at random points of an indexing job: no committed moment is lost, none is there twice, none is captioned
//! twice.
//!
//! The test starts itself again as a child ([`job`]), which narrates two files into a real index and writes two logs:
//! each picture that reaches the captioner, and each moment that was announced. The parent kills it, opens the index,
//! compares, and starts it again, until enough kills were survived; the last child runs to the end.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/idle.rs"]
mod idle;
mod job;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use groundedvqa::domain::Window;
use groundedvqa::index::{Index, Scope};
use groundedvqa::stop::Stop;
use job::{Place, STREAMS, places};

/// When a child is killed.
#[derive(Debug)]
enum Kill {
    /// This long after it was started: while it opens, repairs, registers.
    AtTime(Duration),
    /// After so many announcements and then this long: while it captions, embeds, commits.
    AfterMoments(usize, Duration),
}

fn plan(random: &mut fastrand::Rng) -> Kill {
    let micros = |random: &mut fastrand::Rng, most: u64| Duration::from_micros(random.u64(..most));
    if random.u8(..5) == 0 {
        Kill::AtTime(micros(random, 60_000))
    } else {
        Kill::AfterMoments(random.usize(1..12), micros(random, 8_000))
    }
}

/// This test program as a child that runs the job in `dir`.
fn start(dir: &Path, source: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", "the_job_runs", "--nocapture", "--test-threads=1"])
        .env(job::DIRECTORY, dir)
        .env(job::SOURCE, source)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts")
}

/// Ends the child as planned; false if it had ended by itself before.
fn kill(mut child: Child, kill: &Kill) -> bool {
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let rest = match kill {
        Kill::AtTime(after) => *after,
        Kill::AfterMoments(count, after) => {
            let announced = lines.by_ref().map_while(Result::ok).filter(|line| line.starts_with(job::ANNOUNCED));
            if announced.take(*count).count() < *count {
                child.wait().expect("the child ends");
                return false;
            }
            *after
        }
    };
    // Not a wait for anything: the instant of the kill is what is random here.
    Stop::new().pause(rest);
    let was_running = child.try_wait().expect("the child is ours").is_none();
    child.kill().expect("the child is ours");
    child.wait().expect("the child ends");
    was_running
}

/// What the index holds, opened as a restarted daemon would open it.
async fn stored(dir: &Path) -> BTreeSet<Place> {
    let index = Index::open(&job::index_config(dir), job::index_metrics()).expect("opens after the kill");
    let mut stored = BTreeSet::new();
    for stream in STREAMS.map(job::stream) {
        let scope = Scope { streams: vec![stream.clone()], window: Window::ALL };
        let moments = index.moments(scope, usize::MAX, false).await.expect("reads");
        let record = index.record(&stream).await.expect("reads");
        assert_eq!(
            record.map_or(0, |record| record.moments),
            moments.len() as u64,
            "moments of {stream} are miscounted"
        );
        for moment in moments {
            assert_eq!(
                moment.caption.as_str(),
                job::sentence(&moment.stream, moment.at),
                "a caption is not its frame's"
            );
            let place = Place { stream: moment.stream.to_string(), nanos: moment.at.nanos() };
            assert!(stored.insert(place.clone()), "{place:?} is stored twice");
        }
    }
    index.close().await.expect("closes");
    stored
}

/// What is known about the job from outside, and must stay true over every kill.
#[derive(Default)]
struct Witness {
    stored: BTreeSet<Place>,
    captioned: usize,
}

impl Witness {
    /// Compares the index with the logs after one more life.
    async fn look(&mut self, dir: &Path, life: usize) {
        let stored = stored(dir).await;
        let announced: BTreeSet<_> = places(&dir.join(job::ANNOUNCED_LOG)).into_iter().collect();
        let lost: Vec<_> = announced.difference(&stored).collect();
        assert!(lost.is_empty(), "life {life} lost {lost:?}, which had been announced");
        let forgotten: Vec<_> = self.stored.difference(&stored).collect();
        assert!(forgotten.is_empty(), "life {life} lost {forgotten:?}, which had been committed");

        let captioned = places(&dir.join(job::CAPTIONED_LOG));
        let mut in_flight = BTreeMap::new();
        for place in &captioned[self.captioned..] {
            assert!(!self.stored.contains(place), "life {life} captioned {place:?} again");
            if !stored.contains(place) {
                *in_flight.entry(&place.stream).or_insert(0) += 1;
            }
        }
        assert!(
            in_flight.values().all(|&count| count <= 1),
            "life {life} lost more than the frame at hand: {in_flight:?}"
        );
        (self.stored, self.captioned) = (stored, captioned.len());
    }
}

async fn survive(kills: usize, source: &str, seed: u64) -> Witness {
    let dir = tempfile::tempdir().expect("a directory");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut witness = Witness::default();
    for life in 0..kills {
        let plan = plan(&mut random);
        assert!(kill(start(dir.path(), source), &plan), "the job was done before kill {life}, {plan:?}");
        witness.look(dir.path(), life).await;
    }
    let last = start(dir.path(), source).wait_with_output().expect("the child ends");
    assert!(last.status.success(), "the last life failed: {last:?}");
    witness.look(dir.path(), kills).await;
    witness
}

#[tokio::test]
async fn fifty_kills_lose_no_moment_and_caption_none_twice() {
    let witness = survive(50, job::SYNTHETIC, 7).await;
    let due: BTreeSet<_> = STREAMS.iter().flat_map(|name| job::due(name)).collect();
    assert_eq!(witness.stored, due, "the job is not complete");
    // Each kill costs each stream the one frame at hand at most.
    assert!(witness.captioned <= due.len() + 50 * STREAMS.len(), "{} captions", witness.captioned);
}

#[tokio::test]
async fn a_real_clip_survives_kills_with_the_same_frames() {
    let clip = common::clips::vtest();
    let clip = clip.to_str().expect("a path in UTF-8");
    let undisturbed = tempfile::tempdir().expect("a directory");
    let child = start(undisturbed.path(), clip).wait_with_output().expect("the child ends");
    assert!(child.status.success(), "the undisturbed job failed: {child:?}");
    let due = stored(undisturbed.path()).await;
    // 79.5 s of video, two frames a second, two streams.
    assert!((312..=320).contains(&due.len()), "{} frames", due.len());

    let witness = survive(12, clip, 11).await;
    assert_eq!(witness.stored, due, "a restart changes which frames are taken");
    assert!(witness.captioned <= due.len() + 12 * STREAMS.len(), "{} captions", witness.captioned);
}

/// In a child: the job, to be killed. Otherwise: the job undisturbed, which shows that the logs mean what they say.
#[test]
fn the_job_runs() {
    if let Some(dir) = std::env::var_os(job::DIRECTORY) {
        let source = std::env::var_os(job::SOURCE).expect("the parent says on what");
        job::run(Path::new(&dir), source.to_str().expect("text"));
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    job::run(dir.path(), job::SYNTHETIC);
    let due: BTreeSet<_> = STREAMS.iter().flat_map(|name| job::due(name)).collect();
    for log in [job::ANNOUNCED_LOG, job::CAPTIONED_LOG] {
        let logged = places(&dir.path().join(log));
        assert_eq!(logged.len(), due.len());
        assert_eq!(logged.into_iter().collect::<BTreeSet<_>>(), due);
    }
}

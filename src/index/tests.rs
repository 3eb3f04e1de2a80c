//! The index over memory and over a real file: what is kept, what is found, what is refused.

use std::sync::Arc;

use futures::future::join_all;

use super::*;
use crate::domain::{
    BlindSpan, Blindness, Caption, Clock, Embedding, Fingerprint, Moment, MomentId, NewMoment, Timing,
};

pub(super) fn metrics() -> Metrics {
    let registry = prometheus::Registry::new();
    let stages = Stages::register(&registry).expect("registers");
    let queues = Queues::register(&registry).expect("registers");
    Metrics::register(&registry, stages, queues).expect("registers")
}

pub(super) fn stream(name: &str) -> StreamId {
    StreamId::new(name).expect("a valid id")
}

pub(super) fn seconds(seconds: f64) -> StreamTime {
    StreamTime::from_seconds(seconds).expect("a time")
}

/// A moment at `at` seconds whose vector points in the direction of `angle` (radians).
pub(super) fn moment(name: &str, at: f64, angle: f32) -> NewMoment {
    NewMoment {
        stream: stream(name),
        at: seconds(at),
        wall: WallTime::from_nanos(1_790_000_000_000_000_000 + (at * 1e9) as i64).expect("a time of day"),
        caption: Caption::new(format!("Seen at {at}.")),
        embedding: direction(angle),
        captioner: Fingerprint::new("captioner@1"),
        embedder: Fingerprint::new("embedder@1"),
        timing: Some(Timing { clock: Clock::Arrival, precision: Duration::from_millis(20) }),
    }
}

fn direction(angle: f32) -> Embedding {
    Embedding::new(vec![angle.cos(), angle.sin()])
}

fn everything(streams: &[&str]) -> Scope {
    Scope { streams: streams.iter().map(|name| stream(name)).collect(), window: Window::ALL }
}

fn times(moments: &[Moment]) -> Vec<f64> {
    moments.iter().map(|moment| moment.at.seconds()).collect()
}

async fn memory(streams: &[&str]) -> Index {
    let index = Index::in_memory(&Config::default(), metrics()).expect("opens");
    for name in streams {
        index.register(&stream(name), StreamKind::Live, None).await.expect("registers");
    }
    index
}

fn file_config(directory: &tempfile::TempDir) -> Config {
    Config { path: directory.path().join("memory").join("index.redb"), ..Config::default() }
}

#[tokio::test]
async fn what_was_appended_is_there_after_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = file_config(&directory);
    let index = Index::open(&config, metrics()).expect("opens");
    let first = index.register(&stream("a"), StreamKind::File, Some("clip".into())).await.expect("registers");
    assert_eq!((first.last, first.ended, first.moments), (None, false, 0));
    let stored = index.append(moment("a", 5.0, 0.1)).await.expect("appends");
    index.append(moment("a", 10.0, 0.2)).await.expect("appends");
    index.mark_ended(&stream("a")).await.expect("ends");
    let ended = index.ended();
    index.close().await.expect("closes");
    assert_eq!(ended.await, Ok(()));

    let metrics = metrics();
    let index = Index::open(&config, metrics.clone()).expect("opens again");
    let again = index.register(&stream("a"), StreamKind::File, Some("clip".into())).await.expect("registers");
    assert_eq!(again, StreamRecord { last: Some(seconds(10.0)), ended: true, moments: 2, ..first });
    let moments = index.moments(everything(&["a"]), 9, false).await.expect("reads");
    assert_eq!(moments[0], stored);
    assert_eq!(times(&moments), [5.0, 10.0]);
    let next = index.append(moment("a", 15.0, 0.3)).await.expect("appends");
    assert_eq!(next.id, MomentId(2));
    assert!(metrics.store_bytes.get() > 0);
}

#[tokio::test]
async fn search_is_by_cosine_within_streams_and_window() {
    let index = memory(&["a", "b"]).await;
    for (name, at, angle) in [("a", 1.0, 0.0), ("b", 1.0, 0.1), ("a", 2.0, 0.2), ("b", 2.0, 0.3), ("a", 3.0, 0.4)] {
        index.append(moment(name, at, angle)).await.expect("appends");
    }
    let search = async |streams: &[&str], window: Window, k| {
        let scope = Scope { window, ..everything(streams) };
        let hits = index.search(direction(0.0), scope, k).await.expect("searches");
        hits.iter().map(|hit| (hit.moment.stream.to_string(), hit.moment.at.seconds())).collect::<Vec<_>>()
    };
    let place = |name: &str, at: f64| (name.to_owned(), at);
    assert_eq!(search(&["a", "b"], Window::ALL, 3).await, [place("a", 1.0), place("b", 1.0), place("a", 2.0)]);
    assert_eq!(search(&["b"], Window::ALL, 9).await, [place("b", 1.0), place("b", 2.0)]);
    let late = Window::new(seconds(2.0), seconds(3.0)).expect("ordered");
    assert_eq!(search(&["a", "a"], late, 9).await, [place("a", 2.0), place("a", 3.0)]);
    assert_eq!(search(&["nobody"], Window::ALL, 9).await, []);
    assert_eq!(search(&[], Window::ALL, 9).await, []);
    assert_eq!(search(&["a"], Window::ALL, 0).await, []);
    let hit = &index.search(direction(0.4), everything(&["a"]), 1).await.expect("searches")[0];
    assert!((hit.score - 1.0).abs() < 0.001 && hit.moment.at == seconds(3.0), "{hit:?}");
}

#[tokio::test]
async fn a_search_agrees_with_comparing_everything() {
    let index = memory(&["a", "b", "c"]).await;
    let mut random = fastrand::Rng::with_seed(7);
    let mut all = Vec::new();
    for at in 0..300 {
        let name = ["a", "b", "c"][random.usize(..3)];
        // Long enough for several blocks a stream.
        let embedding = Embedding::new((0..384).map(|_| random.f32() - 0.5).collect());
        let new = NewMoment { embedding, ..moment(name, f64::from(at), 0.0) };
        all.push(new.clone());
        index.append(new).await.expect("appends");
    }
    for (from, to) in [(0.0, 300.0), (100.0, 104.0), (250.0, 400.0), (299.0, 300.0)] {
        let window = Window::new(seconds(from), seconds(to)).expect("ordered");
        let query = Embedding::new((0..384).map(|_| random.f32() - 0.5).collect());
        let mut due: Vec<_> = all.iter().filter(|m| window.contains(m.at) && m.stream.as_str() != "b").collect();
        due.sort_by(|x, y| query.cosine(&y.embedding).total_cmp(&query.cosine(&x.embedding)));
        let scope = Scope { streams: vec![stream("a"), stream("c")], window };
        let hits = index.search(query.clone(), scope, 5).await.expect("searches");
        assert_eq!(hits.len(), due.len().min(5));
        for (hit, due) in hits.iter().zip(due) {
            assert!((hit.score - query.cosine(&due.embedding)).abs() < 0.001, "{hit:?} instead of {due:?}");
        }
    }
}

#[tokio::test]
async fn moments_come_by_time_from_either_end() {
    let index = memory(&["a", "b"]).await;
    for (name, at) in [("a", 1.0), ("a", 3.0), ("b", 2.0), ("a", 5.0)] {
        index.append(moment(name, at, 0.0)).await.expect("appends");
    }
    let read = async |streams: &[&str], limit, newest_first| {
        times(&index.moments(everything(streams), limit, newest_first).await.expect("reads"))
    };
    assert_eq!(read(&["a"], 9, false).await, [1.0, 3.0, 5.0]);
    assert_eq!(read(&["a"], 2, true).await, [5.0, 3.0]);
    assert_eq!(read(&["a", "b"], 3, false).await, [1.0, 2.0, 3.0]);
    assert_eq!(read(&["b", "a"], 3, true).await, [5.0, 3.0, 2.0]);
    assert_eq!(index.record(&stream("a")).await.expect("reads").expect("known").last, Some(seconds(5.0)));
    assert_eq!(index.record(&stream("c")).await, Ok(None));
}

#[tokio::test]
async fn neighbours_are_of_the_same_stream() {
    let index = memory(&["a", "b", "c"]).await;
    for (name, at) in [("a", 9.0), ("b", 1.0), ("b", 2.0), ("b", 3.0), ("c", 0.0)] {
        index.append(moment(name, at, 0.0)).await.expect("appends");
    }
    let around = async |at| {
        let found = index.neighbours(&stream("b"), at).await.expect("reads");
        [found.before, found.at, found.after].map(|time| time.map(StreamTime::seconds))
    };
    assert_eq!(around(seconds(2.0)).await, [Some(1.0), Some(2.0), Some(3.0)]);
    assert_eq!(around(seconds(2.5)).await, [Some(2.0), None, Some(3.0)]);
    assert_eq!(around(seconds(0.0)).await, [None, None, Some(1.0)]);
    assert_eq!(around(StreamTime::MAX).await, [Some(3.0), None, None]);
    assert_eq!(index.neighbours(&stream("x"), seconds(1.0)).await, Ok(Neighbours::default()));
}

#[tokio::test]
async fn what_does_not_belong_is_refused() {
    let index = memory(&["a"]).await;
    index.append(moment("a", 1.0, 0.0)).await.expect("appends");
    for at in [1.0, 0.5] {
        let refused = IndexError::NotLater { stream: stream("a"), at: seconds(at), last: seconds(1.0) };
        assert_eq!(index.append(moment("a", at, 0.5)).await, Err(refused));
    }
    let unknown = index.append(moment("b", 1.0, 0.0)).await;
    assert_eq!(unknown, Err(IndexError::UnknownStream { stream: stream("b") }));
    assert_eq!(index.mark_ended(&stream("b")).await, Err(IndexError::UnknownStream { stream: stream("b") }));
    let foreign = NewMoment { embedder: Fingerprint::new("embedder@2"), ..moment("a", 2.0, 0.0) };
    let refused = IndexError::Embedder { stored: Fingerprint::new("embedder@1"), found: foreign.embedder.clone() };
    assert_eq!(index.append(foreign.clone()).await, Err(refused.clone()));
    assert_eq!(index.check_embedder(&foreign.embedder).await, Err(refused));
    assert_eq!(index.check_embedder(&Fingerprint::new("embedder@1")).await, Ok(()));
    let endless = NewMoment { caption: Caption::new("x".repeat(1 << 20)), ..moment("a", 2.0, 0.0) };
    assert!(matches!(index.append(endless).await, Err(IndexError::TooLarge { .. })));
    assert_eq!(index.record(&stream("a")).await.expect("reads").expect("known").moments, 1);
}

#[tokio::test]
async fn another_file_under_a_known_id_is_refused() {
    let index = memory(&["live"]).await;
    let register = |name: &str, kind, identity: Option<&str>| {
        let (index, name, identity) = (index.clone(), stream(name), identity.map(str::to_owned));
        async move { index.register(&name, kind, identity).await }
    };
    let first = register("a", StreamKind::File, Some("one.mp4")).await.expect("registers");
    assert_eq!(register("a", StreamKind::File, Some("one.mp4")).await, Ok(first));
    let error = register("a", StreamKind::File, Some("two.mp4")).await.expect_err("another file");
    let advice = "stream a was indexed from the file one.mp4, not from the file two.mp4: \
                  give the new source another stream id, or remove the index";
    assert_eq!(error.to_string(), advice);
    assert!(!error.is_fatal());
    assert!(matches!(register("a", StreamKind::Live, None).await, Err(IndexError::Identity { .. })));
    assert!(register("live", StreamKind::Live, None).await.is_ok());
}

#[tokio::test]
async fn many_appends_share_few_commits() {
    let registry = prometheus::Registry::new();
    let stages = Stages::register(&registry).expect("registers");
    let queues = Queues::register(&registry).expect("registers");
    let metrics = Metrics::register(&registry, stages, queues).expect("registers");
    let config = Config { commit_wait: Span(Duration::from_millis(50)), commit_rows: 40, ..Config::default() };
    let index = Index::in_memory(&config, metrics).expect("opens");
    index.register(&stream("a"), StreamKind::Live, None).await.expect("registers");
    let appends = (0..100).map(|at| index.append(moment("a", f64::from(at), 0.0)));
    let stored = join_all(appends).await;
    let mut ids: Vec<_> = stored.into_iter().map(|stored| stored.expect("appends").id).collect();
    ids.sort();
    assert_eq!(ids, (0..100).map(MomentId).collect::<Vec<_>>());
    let text = prometheus::TextEncoder::new().encode_to_string(&registry.gather()).expect("encodes");
    let count = text.lines().find_map(|line| line.strip_prefix("gvqa_stage_duration_seconds_count{stage=\"commit\"} "));
    let commits: u64 = count.expect("commits are counted").parse().expect("a number");
    assert!((4..=10).contains(&commits), "{commits} commits for 100 moments and one stream");
}

#[tokio::test]
async fn a_file_in_use_is_locked_and_a_closed_index_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = file_config(&directory);
    let index = Index::open(&config, metrics()).expect("opens");
    let locked = Index::open(&config, metrics()).expect_err("in use");
    assert_eq!(locked, IndexError::Locked { path: config.path.clone() });
    let other = index.clone();
    index.close().await.expect("closes");
    assert_eq!(other.append(moment("a", 1.0, 0.0)).await, Err(IndexError::Closed));
    assert_eq!(other.record(&stream("a")).await, Err(IndexError::Closed));
    assert_eq!(other.close().await, Err(IndexError::Closed));
}

#[tokio::test]
async fn foreign_files_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = Config { path: directory.path().join("index.redb"), ..Config::default() };
    std::fs::write(&config.path, b"this is a text file, not a memory").expect("writes");
    assert!(matches!(Index::open(&config, metrics()), Err(IndexError::Corrupt { .. })));
    std::fs::remove_file(&config.path).expect("removes");
    let unreadable = Config { path: directory.path().to_owned(), ..Config::default() };
    assert!(matches!(Index::open(&unreadable, metrics()), Err(IndexError::Open { .. })));

    let newer = |version: u64| {
        let database = redb::Database::create(&config.path).expect("creates");
        let transaction = database.begin_write().expect("begins");
        transaction.open_table(schema::META).expect("opens").insert(schema::VERSION_KEY, version).expect("inserts");
        transaction.commit().expect("commits");
    };
    newer(schema::VERSION + 1);
    let error = Index::open(&config, metrics()).expect_err("newer");
    assert_eq!(error.to_string(), "the index has layout version 3, this program reads version 2: use a newer program");
    newer(0);
    assert_eq!(Index::open(&config, metrics()).expect_err("older"), IndexError::Version { found: 0, known: 2 });
}

#[tokio::test]
async fn a_foreign_database_is_not_written_to() {
    let backend = Arc::new(tempfile::NamedTempFile::new().expect("a file"));
    {
        let database = redb::Database::create(backend.path()).expect("creates");
        let transaction = database.begin_write().expect("begins");
        let other: redb::TableDefinition<u64, u64> = redb::TableDefinition::new("somebody_elses");
        transaction.open_table(other).expect("opens").insert(1, 1).expect("inserts");
        transaction.commit().expect("commits");
    }
    let config = Config { path: backend.path().to_owned(), ..Config::default() };
    let error = Index::open(&config, metrics()).expect_err("foreign");
    assert!(error.to_string().contains("it holds tables but no version"), "{error}");
}

#[tokio::test]
async fn what_streams_were_added_with_is_there_after_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = file_config(&directory);
    let index = Index::open(&config, metrics()).expect("opens");
    assert_eq!(index.added().await.expect("reads"), []);
    for (name, settings) in [("b", Some("two")), ("a", Some("one")), ("b", Some("changed")), ("c", Some("three"))] {
        let settings = settings.map(|text: &str| text.as_bytes().to_vec());
        index.set_added(&stream(name), settings).await.expect("keeps");
    }
    index.set_added(&stream("c"), None).await.expect("forgets");
    index.set_added(&stream("never"), None).await.expect("nothing to forget");
    index.close().await.expect("closes");

    let index = Index::open(&config, metrics()).expect("opens again");
    let due = [(stream("a"), b"one".to_vec()), (stream("b"), b"changed".to_vec())];
    assert_eq!(index.added().await.expect("reads"), due);
    assert_eq!(index.streams().await.expect("reads"), [], "what was added was not registered");
}

#[tokio::test]
async fn only_a_stream_of_which_nothing_was_noted_is_forgotten() {
    let index = memory(&["blind", "seen", "unseen"]).await;
    index.append(moment("seen", 5.0, 0.1)).await.expect("appends");
    let (from, wall) = (seconds(1.0), WallTime::now());
    let dark = BlindSpan { stream: stream("blind"), from, until: from, wall, why: Blindness::Black };
    index.blind(dark).await.expect("notes");
    assert!(index.forget_unseen(&stream("blind")).await.expect("writes").is_some());
    let left = index.forget_unseen(&stream("seen")).await.expect("writes").expect("stays");
    assert_eq!(left.moments, 1);
    assert_eq!(index.forget_unseen(&stream("unseen")).await.expect("writes"), None);
    assert_eq!(index.forget_unseen(&stream("never")).await.expect("writes"), None);
    let names: Vec<_> = index.streams().await.expect("reads").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [stream("blind"), stream("seen")]);
    // The next one gets the number that is free again, and shares nothing with the others.
    index.register(&stream("next"), StreamKind::Live, None).await.expect("registers");
    index.append(moment("next", 1.0, 0.2)).await.expect("appends");
    assert_eq!(times(&index.moments(everything(&["next"]), 9, false).await.expect("reads")), [1.0]);
    assert_eq!(times(&index.moments(everything(&["seen"]), 9, false).await.expect("reads")), [5.0]);
}

#[tokio::test]
async fn moments_of_the_first_layout_are_read_and_can_be_made_longer() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = file_config(&directory);
    let index = Index::open(&config, metrics()).expect("opens");
    index.register(&stream("a"), StreamKind::Live, None).await.expect("registers");
    let untimed = NewMoment { timing: None, ..moment("a", 1.0, 0.0) };
    let old = index.append(untimed).await.expect("appends");
    index.close().await.expect("closes");
    {
        let database = redb::Database::open(&config.path).expect("opens");
        let transaction = database.begin_write().expect("begins");
        transaction.open_table(schema::META).expect("opens").insert(schema::VERSION_KEY, 1).expect("inserts");
        {
            let moments = transaction.open_table(schema::MOMENTS).expect("opens");
            let row = redb::ReadableTable::get(&moments, old.id.0).expect("reads").expect("is there");
            assert_eq!(row.value()[0], 1, "what is not known is stored in the first layout");
        }
        transaction.commit().expect("commits");
    }

    let index = Index::open(&config, metrics()).expect("opens the older layout");
    let longer = index.extend(&stream("a"), old.id, seconds(2.0)).await.expect("extends").expect("is the last one");
    assert_eq!(longer, Moment { until: seconds(2.0), ..old });
    let new = index.append(moment("a", 3.0, 0.0)).await.expect("appends");
    assert_eq!(new.timing, Some(Timing { clock: Clock::Arrival, precision: Duration::from_millis(20) }));
    index.close().await.expect("closes");
    let index = Index::open(&config, metrics()).expect("opens the newer layout");
    assert_eq!(index.moments(everything(&["a"]), 9, false).await, Ok(vec![longer, new]));
}

//! The subcommands as a shell sees them: what they accept, and how they end.

use std::process::ExitCode;

use clap::{Args, Parser};
use groundedvqa::cli;

use crate::harness::{Daemon, claim, config};
use crate::nats::NatsServer;

#[derive(Parser)]
struct Line<T: Args> {
    #[command(flatten)]
    args: T,
}

fn parse<T: Args>(line: &[&str]) -> T {
    let line = std::iter::once("groundedvqa").chain(line.iter().copied());
    Line::<T>::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).args
}

/// `ExitCode` can only be compared by how it prints.
fn is(code: ExitCode, due: u8) -> bool {
    format!("{code:?}") == format!("{:?}", ExitCode::from(due))
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_say_how_it_went() {
    let server = NatsServer::start();
    let (mut daemon, _) = Daemon::ready(&config(&server)).await;
    let url = server.url();
    let at = ["--server", url.as_str()];
    let ask = async |line: &[&str]| cli::ask::run(parse(&[line, &at].concat())).await.expect("no defect");
    daemon.will_claim(&[claim("There are two people.", 5.0)]);
    assert!(is(ask(&["--stream", "cam", "How many people?"]).await, 0));
    assert!(is(ask(&["--json", "How many people?"]).await, 0));
    assert!(is(ask(&["--stream", "nobody", "How many people?"]).await, 1));
    daemon.will_claim(&[claim("There are nine people.", 5.0)]);
    assert!(is(ask(&["How many people?"]).await, 1));
    assert!(is(ask(&["--design", "none", "How many people?"]).await, 0));

    let verify = async |line: &[&str]| cli::verify::run(parse(&[line, &at].concat())).await.expect("no defect");
    assert!(is(verify(&["--stream", "cam", "--claim", "There is a bus.@10"]).await, 0));
    assert!(is(verify(&["--stream", "cam", "--claim", "There is a bus.@10", "--claim", "A dog.@10"]).await, 1));
    let search = async |line: &[&str]| cli::search::run(parse(&[line, &at].concat())).await.expect("no defect");
    assert!(is(search(&["--stream", "cam", "a bus"]).await, 0));
    assert!(is(search(&["--stream", "cam", "--from", "900", "a bus"]).await, 1));

    let streams = async |line: &[&str]| cli::streams::run(parse(&[line, &at].concat())).await.expect("no defect");
    assert!(is(streams(&[]).await, 0));
    assert!(is(streams(&["--json"]).await, 0));
    // Nobody carries out orders here.
    daemon.ordered.close();
    assert!(is(streams(&["add", "yard", "rtsp://h/live", "--sample-every", "2s"]).await, 1));
    assert!(is(streams(&["change", "yard", "rtsp://h/live", "--json"]).await, 1));
    assert!(is(streams(&["remove", "yard"]).await, 1));

    daemon.bus.drain().await;
    assert!(is(search(&["--stream", "cam", "a bus"]).await, 69), "no daemon");
    assert!(is(streams(&[]).await, 69), "no daemon");
    drop(server);
    assert!(is(ask(&["How many people?"]).await, 69), "no server");
    assert!(is(ask(&["--prefix", "a..b", "How many people?"]).await, 64), "no such prefix");
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_written_under_its_digest() {
    let server = NatsServer::start();
    let (daemon, _) = Daemon::ready(&config(&server)).await;
    daemon.will_claim(&[claim("There are two people.", 5.0), claim("There is a bus.", 10.0)]);
    let dir = tempfile::tempdir().expect("temp dir");
    let folder = dir.path().join("out").to_str().expect("UTF-8").to_owned();
    let line = ["--server", &server.url(), "--evidence", &folder, "What is there?"];
    assert!(is(cli::ask::run(parse(&line)).await.expect("no defect"), 0));
    let written: Vec<_> = std::fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("a file")).collect();
    assert_eq!(written.len(), 2);
    for file in written {
        let digest = groundedvqa::domain::Sha256::of(&std::fs::read(file.path()).expect("readable"));
        assert_eq!(file.file_name().to_str(), Some(format!("{digest}.jpg").as_str()));
    }
    daemon.bus.drain().await;
}

#[test]
fn wrong_arguments_are_refused() {
    let refused = |line: &[&str]| Line::<cli::ask::AskArgs>::try_parse_from(line).is_err();
    assert!(refused(&["groundedvqa"]), "no question");
    assert!(refused(&["groundedvqa", "q", "--stream", "a.b"]));
    assert!(refused(&["groundedvqa", "q", "--design", "magic"]));
    assert!(refused(&["groundedvqa", "q", "--timeout", "soon"]));
    assert!(!refused(&["groundedvqa", "q", "--timeout", "5s"]));
}

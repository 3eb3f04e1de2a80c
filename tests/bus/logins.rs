//! Every way to log in, on servers that demand it: the right secret is let in, the wrong one is not, and neither is told.

use std::path::PathBuf;

use groundedvqa::bus::{self, Client, ClientError};
use groundedvqa::secret::Secret;
use tempfile::TempDir;

use crate::harness::{Daemon, config};
use crate::nats::NatsServer;

const RIGHT: &str = "s3same-0pen";
const WRONG: &str = "s3same-shut";
/// The key pair of the NATS documentation.
const NKEY: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
const NKEY_SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";

/// What `tests/fixtures/bus/make.py` wrote.
fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bus").join(name)
}

fn option(name: &str) -> String {
    fixture(name).to_str().expect("UTF-8").to_owned()
}

fn file(dir: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("writable");
    path
}

/// A daemon and a client log in with `right`; `wrong` is refused, and the refusal repeats nothing of the secret.
async fn let_in_and_shut_out(right: bus::Config, wrong: bus::Config) {
    let (daemon, client) = Daemon::ready(&right).await;
    assert!(!client.streams().await.expect("answered").streams.is_empty());
    daemon.bus.drain().await;
    let refusal = refused(&wrong).await;
    for secret in [RIGHT, WRONG, NKEY_SEED] {
        assert!(!refusal.contains(secret), "{refusal}");
    }
}

async fn refused(cfg: &bus::Config) -> String {
    match Client::connect(cfg).await {
        Ok(_) => panic!("was let in"),
        Err(error @ ClientError::Bus(bus::BusError::Connect(_))) => error.to_string(),
        Err(error) => panic!("refused for another reason: {error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_password() {
    let server = NatsServer::with(&["--user", "viewer", "--pass", RIGHT]);
    let dir = tempfile::tempdir().expect("temp dir");
    let with = |password: &str| bus::Config {
        user: Some("viewer".to_owned()),
        password_file: Some(file(&dir, password, &format!("{password}\n"))),
        ..config(&server)
    };
    let_in_and_shut_out(with(RIGHT), with(WRONG)).await;
    let in_url = |password: &str| bus::Config {
        url: Secret::new(format!("nats://viewer:{password}@127.0.0.1:{}", server.port())),
        ..config(&server)
    };
    let_in_and_shut_out(in_url(RIGHT), in_url(WRONG)).await;
    refused(&config(&server)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_token() {
    let server = NatsServer::with(&["--auth", RIGHT]);
    let dir = tempfile::tempdir().expect("temp dir");
    let with = |token: &str| bus::Config { token_file: Some(file(&dir, token, token)), ..config(&server) };
    let_in_and_shut_out(with(RIGHT), with(WRONG)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_an_nkey() {
    let dir = tempfile::tempdir().expect("temp dir");
    let users = file(&dir, "users.conf", &format!("authorization {{ users = [ {{ nkey: {NKEY} }} ] }}\n"));
    let server = NatsServer::with(&["-c", users.to_str().expect("UTF-8")]);
    let right = bus::Config { nkey_seed_file: Some(file(&dir, "seed", NKEY_SEED)), ..config(&server) };
    let_in_and_shut_out(right, config(&server)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_creds_file() {
    let server = NatsServer::with(&["-c", &option("operator.conf")]);
    let with = |name: &str| bus::Config { creds_file: Some(fixture(name)), ..config(&server) };
    let_in_and_shut_out(with("user.creds"), with("stranger.creds")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_certificate() {
    let server = NatsServer::with(&[
        "--tlsverify",
        "--tlscert",
        &option("server.pem"),
        "--tlskey",
        &option("server.key"),
        "--tlscacert",
        &option("ca.pem"),
    ]);
    let trusting = bus::Config { tls_ca: Some(fixture("ca.pem")), tls_required: true, ..config(&server) };
    let right =
        bus::Config { tls_cert: Some(fixture("client.pem")), tls_key: Some(fixture("client.key")), ..trusting.clone() };
    let_in_and_shut_out(right.clone(), trusting).await;
    // A server that nobody vouches for.
    refused(&bus::Config { tls_ca: None, ..right }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_is_refused_where_tls_is_required() {
    let server = NatsServer::start();
    refused(&bus::Config { tls_required: true, ..config(&server) }).await;
}

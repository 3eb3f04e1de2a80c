//! A real Prometheus scrapes the real daemon, and everything that the board and the rules ask for has to be there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::temp_dir;
use crate::daemon::Daemon;
use crate::lint::{board, expressions, panels, queries};
use crate::process::{Process, escaped, eventually, get};
use crate::promql::{Selector, selectors};
use crate::{repository, text};

/// Scrapes before anything is asked: `rate` needs two.
const SCRAPES: f64 = 4.0;

/// A Prometheus that scrapes one target each second and evaluates the rules.
struct Prometheus {
    _process: Process,
    address: SocketAddr,
    _dir: tempfile::TempDir,
}

impl Prometheus {
    fn start(target: SocketAddr) -> Self {
        let dir = temp_dir();
        let config = dir.path().join("prometheus.yml");
        fs::write(&config, configuration(target)).expect("writable");
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", config.display())).arg("--web.listen-address=127.0.0.1:0");
        command.arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()));
        let (process, address) = Process::start(&mut command, listening_at);
        Self { _process: process, address, _dir: dir }
    }

    fn api(&self, path: &str) -> Option<Value> {
        let (_, body) = get(self.address, path)?;
        let answer: Value = serde_json::from_str(&body).ok()?;
        assert_eq!(answer["status"], "success", "{path}: {answer}");
        Some(answer["data"].clone())
    }

    /// The series that a query finds.
    fn query(&self, expr: &str) -> Vec<Value> {
        let data = self.api(&format!("/api/v1/query?query={}", escaped(expr))).expect("Prometheus answers");
        data["result"].as_array().cloned().unwrap_or_default()
    }

    fn await_scrapes(&self) {
        eventually("Prometheus being ready", || get(self.address, "/-/ready").filter(|(code, _)| *code == 200));
        let enough = format!("count_over_time(up{{job=\"groundedvqa\"}}[5m]) >= {SCRAPES}");
        eventually("scraping", || (!self.query(&enough).is_empty()).then_some(()));
    }

    /// Every rule, once each has been evaluated.
    fn rules(&self) -> Vec<Value> {
        eventually("evaluating the rules", || {
            let data = self.api("/api/v1/rules")?;
            let groups = data["groups"].as_array()?;
            let rules: Vec<Value> = groups.iter().filter_map(|g| g["rules"].as_array()).flatten().cloned().collect();
            (!rules.is_empty() && rules.iter().all(|rule| rule["health"] != "unknown")).then_some(rules)
        })
    }
}

fn configuration(target: SocketAddr) -> String {
    let rules = repository("dashboards/rules.yml");
    format!(
        "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
         rule_files: [{:?}]\n\
         scrape_configs: [{{job_name: groundedvqa, static_configs: [{{targets: [\"{target}\"]}}]}}]\n",
        rules.display().to_string(),
    )
}

fn listening_at(line: &str) -> Option<SocketAddr> {
    line.split("msg=\"Listening on\" address=").nth(1)?.trim().parse().ok()
}

/// An expression of the board as Grafana would send it with everything selected.
fn filled_in(expr: &str) -> String {
    let expr = expr.replace("$__rate_interval", "30s").replace("$__range", "5m");
    ["$job", "$instance", "$stream"].iter().fold(expr, |expr, variable| expr.replace(variable, ".+"))
}

/// What the board's variables are filled from: the selector and the label.
fn label_values(board: &Value) -> Vec<(String, String)> {
    let split = |query: &str| {
        let (selector, label) = query.strip_prefix("label_values(")?.strip_suffix(')')?.rsplit_once(',')?;
        Some((filled_in(selector), label.trim().to_owned()))
    };
    let queries = queries(board).into_iter();
    queries.map(|v| v["query"]["query"].as_str().and_then(split).expect("a label_values query")).collect()
}

/// A daemon that has indexed something and answered something.
fn busy_daemon() -> Daemon {
    let daemon = Daemon::start();
    daemon.await_metric("gvqa_moments_total{stream=\"walk\"}", 2.0);
    daemon.await_metric("gvqa_moments_total{stream=\"ball\"}", 1.0);
    let answer = daemon.ask("How many people are in the street?");
    daemon.await_metric("gvqa_claims_total", 1.0);
    assert!(answer.contains("\"verdict\""), "{answer}");
    daemon
}

#[test]
fn prometheus_finds_everything_that_the_board_and_the_rules_ask_for() {
    let daemon = busy_daemon();
    let prometheus = Prometheus::start(daemon.address());
    prometheus.await_scrapes();
    let mut empty = Vec::new();
    let mut expect = |what: &str, expr: &str| {
        if prometheus.query(expr).is_empty() {
            empty.push(format!("{what}: {expr}"));
        }
    };
    let board = board();
    for panel in panels(&board) {
        for expr in expressions(panel) {
            expect(panel["title"].as_str().unwrap_or_default(), &filled_in(expr));
        }
    }
    for (selector, label) in label_values(&board) {
        let path = format!("/api/v1/label/{label}/values?match[]={}", escaped(&selector));
        let values = prometheus.api(&path).expect("Prometheus answers");
        assert_ne!(values, Value::Array(Vec::new()), "{path}");
    }
    let rules = prometheus.rules();
    for rule in &rules {
        let (name, query) = (rule["name"].as_str().unwrap_or_default(), rule["query"].as_str().unwrap_or_default());
        assert_eq!(rule["health"], "ok", "{rule}");
        if rule["type"] == "recording" {
            expect(name, query);
            expect("recorded", name);
        }
        // An alert finds nothing while all is well: what it looks at has to be there.
        for selector in selectors(query) {
            expect(name, &selector.instant());
        }
    }
    assert_eq!(empty, Vec::<String>::new(), "queries that find nothing");
    assert!(prometheus.query("gvqa_misspelt_total").is_empty(), "this test cannot see an empty result");
    let raised = |name: &str| rules.iter().any(|rule| rule["name"] == name && rule["state"] != "inactive");
    for alert in ["GvqaAbsent", "GvqaStreamDown", "GvqaNatsDisconnected", "GvqaModelUnavailable"] {
        assert!(!raised(alert), "{alert} is raised over a healthy daemon");
    }
}

/// The families of an exposition.
fn families(exposition: &str) -> BTreeSet<String> {
    let types = exposition.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The families that the board and the rules ask for.
fn asked_for() -> BTreeSet<String> {
    let board = board();
    let exprs = panels(&board).into_iter().flat_map(expressions).flat_map(selectors);
    let text = crate::read("dashboards/rules.yml");
    let rules = text.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).flat_map(selectors);
    let recorded = |selector: &Selector| selector.name.contains(':');
    exprs.chain(rules).filter(|s| !recorded(s)).map(|s| s.family().to_owned()).collect()
}

#[test]
fn exported_metrics_are_shown_documented_and_well_named() {
    let exposition = busy_daemon().metrics();
    let exported = families(&exposition);
    let asked_for = asked_for();
    let unknown: Vec<_> = asked_for.difference(&exported).collect();
    assert!(unknown.is_empty(), "asked for, but not exported: {unknown:?}");
    let own = exported.iter().filter(|family| family.starts_with("gvqa_"));
    let unseen: Vec<_> = own.clone().filter(|family| !asked_for.contains(*family)).collect();
    assert!(unseen.is_empty(), "exported, but on no board and in no rule: {unseen:?}");
    let readme = crate::read("README.md");
    let untold: Vec<_> = own.filter(|family| !readme.contains(&format!("`{family}`"))).collect();
    assert!(untold.is_empty(), "exported, but not in README.md: {untold:?}");
    assert_eq!(check_metrics(&exposition), "", "promtool check metrics");
}

fn check_metrics(exposition: &str) -> String {
    let mut child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool starts: run `make setup`");
    // Taken and dropped, so that promtool sees the end.
    child.stdin.take().expect("stdin is piped").write_all(exposition.as_bytes()).expect("promtool reads");
    text(&child.wait_with_output().expect("promtool ends"))
}

#[test]
fn promtool_would_notice_a_badly_named_metric() {
    let said = check_metrics("# HELP gvqa_things Things.\n# TYPE gvqa_things counter\ngvqa_things 1\n");
    assert!(said.contains("_total"), "{said}");
}

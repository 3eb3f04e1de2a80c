//! The Prometheus files, read by Prometheus' own tool.

use std::fs;
use std::process::Command;

use crate::lint::{board, expressions, panels};
use crate::{read, repository, run, text};

fn promtool(arguments: &[&str]) -> (bool, String) {
    let output = run(Command::new("promtool").args(arguments).current_dir(repository("dashboards")));
    (output.status.success(), text(&output))
}

#[test]
fn the_rules_are_valid_and_every_alert_fires_when_it_should() {
    for arguments in
        [["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"], ["check", "config", "prometheus.yml"]]
    {
        let (ok, said) = promtool(&arguments);
        assert!(ok, "promtool {arguments:?}: {said}");
    }
}

/// An alert that no test expects to fire may as well be misspelt.
#[test]
fn every_alert_is_tested_both_ways() {
    let (rules, tests) = (read("dashboards/rules.yml"), read("dashboards/rules_test.yml"));
    let alerts: Vec<_> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alerts.len() >= 10, "alerts were not found: {alerts:?}");
    for alert in alerts {
        assert!(tests.contains(&format!("alertname: {alert}}}")), "{alert} is never expected to be silent");
        let fires = tests
            .split("\n        alertname: ")
            .any(|block| block.starts_with(&format!("{alert}\n        exp_alerts:\n          - exp_labels")));
        assert!(fires, "{alert} is never expected to fire");
    }
}

/// Grafana shows a syntax error only when somebody looks at the panel.
#[test]
fn the_expressions_of_the_board_are_promql() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut rules = String::from("groups:\n  - name: board\n    rules:\n");
    let board = board();
    for (n, expr) in panels(&board).into_iter().flat_map(expressions).enumerate() {
        let expr = expr.replace("$__rate_interval", "1m").replace("$__range", "1h");
        let quoted = serde_json::to_string(&expr).expect("text is JSON, and JSON is YAML");
        rules += "      - record: board:expression:";
        rules += &n.to_string();
        rules += "\n        expr: ";
        rules += &quoted;
        rules += "\n";
    }
    let path = dir.path().join("board.yml");
    fs::write(&path, &rules).expect("writable");
    let (ok, said) = promtool(&["check", "rules", &path.display().to_string()]);
    assert!(ok, "{said}\n{rules}");
}

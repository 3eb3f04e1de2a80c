//! The rules of Grafana's dashboard-linter, which is a separate program that is not packaged: a board that breaks them
//! works in one installation and not in the next.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::promql::{Selector, selectors};

/// The board.
pub(crate) fn board() -> Value {
    serde_json::from_str(&crate::read("dashboards/groundedvqa.json")).expect("the board is JSON")
}

/// Every panel that shows something, those inside collapsed rows too.
pub(crate) fn panels(board: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> = board["panels"].as_array().into_iter().flatten().collect();
    while let Some(panel) = open.pop() {
        if panel["type"] == "row" {
            open.extend(panel["panels"].as_array().into_iter().flatten());
        } else {
            found.push(panel);
        }
    }
    found
}

/// The expressions of a panel.
pub(crate) fn expressions(panel: &Value) -> Vec<&str> {
    panel["targets"].as_array().into_iter().flatten().filter_map(|target| target["expr"].as_str()).collect()
}

/// The template variables that are asked of Prometheus.
pub(crate) fn queries(board: &Value) -> Vec<&Value> {
    variables(board).into_iter().filter(|variable| variable["type"] == "query").collect()
}

fn variables(board: &Value) -> Vec<&Value> {
    board["templating"]["list"].as_array().into_iter().flatten().collect()
}

/// The rules that `board` breaks, with where.
fn lint(board: &Value) -> Vec<String> {
    let mut broken = Vec::new();
    if board["editable"] != false {
        broken.push("uneditable-dashboard".to_owned());
    }
    lint_variables(board, &mut broken);
    lint_layout(board, &mut broken);
    for panel in panels(board) {
        lint_panel(panel, &mut broken);
    }
    broken
}

fn lint_variables(board: &Value, broken: &mut Vec<String>) {
    let sources: Vec<_> = variables(board).into_iter().filter(|v| v["type"] == "datasource").collect();
    let right = |v: &Value| v["name"] == "datasource" && v["label"] == "Data source" && v["query"] == "prometheus";
    if sources.len() != 1 || !sources.iter().all(|v| right(v)) {
        broken.push("template-datasource".to_owned());
    }
    for (name, label) in [("job", "Job"), ("instance", "Instance")] {
        let right =
            |v: &&Value| v["name"] == name && v["label"] == label && v["multi"] == true && v["allValue"] == ".+";
        if queries(board).into_iter().filter(right).count() != 1 {
            broken.push(format!("template-{name}"));
        }
    }
    for variable in queries(board) {
        let name = &variable["name"];
        if variable["datasource"]["uid"] != "${datasource}" {
            broken.push(format!("template-datasource-of {name}"));
        }
        if variable["refresh"] != 2 {
            broken.push(format!("template-on-time-change-reload {name}"));
        }
        let query = variable["query"]["query"].as_str().unwrap_or_default();
        if !query.starts_with("label_values(") || selectors(query).len() != 1 {
            broken.push(format!("template-label-promql {name}"));
        }
    }
}

fn lint_layout(board: &Value, broken: &mut Vec<String>) {
    let mut ids = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for panel in board["panels"].as_array().into_iter().flatten() {
        let title = &panel["title"];
        if !ids.insert(panel["id"].as_u64()) {
            broken.push(format!("panel-id {title}"));
        }
        let side = |key: &str| panel["gridPos"][key].as_u64().unwrap_or_default();
        let columns = side("x")..side("x") + side("w");
        let overlaps = columns.clone().any(|x| (side("y")..side("y") + side("h")).any(|y| !cells.insert((x, y))));
        if overlaps || columns.is_empty() || columns.end > 24 {
            broken.push(format!("panel-place {title}"));
        }
    }
}

fn lint_panel(panel: &Value, broken: &mut Vec<String>) {
    let title = &panel["title"];
    let filled = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let mut refuse = |rule: &str| broken.push(format!("{rule} {title}"));
    if panel["datasource"]["uid"] != "${datasource}" {
        refuse("panel-datasource");
    }
    if !filled(title) || !filled(&panel["description"]) {
        refuse("panel-title-description");
    }
    if !filled(&panel["fieldConfig"]["defaults"]["unit"]) {
        refuse("panel-units");
    }
    if expressions(panel).is_empty() {
        refuse("panel-no-targets");
    }
    for target in panel["targets"].as_array().into_iter().flatten() {
        if target["datasource"]["uid"] != "${datasource}" {
            refuse("target-datasource");
        }
    }
    for selector in expressions(panel).into_iter().flat_map(selectors) {
        for rule in lint_selector(&selector) {
            refuse(rule);
        }
    }
}

fn lint_selector(selector: &Selector) -> Vec<&'static str> {
    let mut broken = Vec::new();
    if !selector.matchers.contains(r#"job=~"$job""#) {
        broken.push("target-job");
    }
    if !selector.matchers.contains(r#"instance=~"$instance""#) {
        broken.push("target-instance");
    }
    if !matches!(selector.range.as_deref(), None | Some("$__rate_interval" | "$__range")) {
        broken.push("target-rate-interval");
    }
    if selector.is_counter() && !matches!(selector.function.as_str(), "rate" | "irate" | "increase") {
        broken.push("target-counter-agg");
    }
    broken
}

#[test]
fn the_board_keeps_the_rules() {
    let board = board();
    assert_eq!(lint(&board), Vec::<String>::new());
    assert!(panels(&board).len() > 20, "panels were not found");
}

#[test]
fn every_rule_notices_its_breach() {
    let panel = |change: fn(&mut Value)| {
        move |board: &mut Value| {
            let panel = board["panels"].as_array_mut().expect("panels").iter_mut().find(|p| p["type"] == "timeseries");
            change(panel.expect("a time series"));
        }
    };
    let breaches: Vec<(&str, Box<dyn Fn(&mut Value)>)> = vec![
        ("uneditable-dashboard", Box::new(|board| board["editable"] = json!(true))),
        ("template-datasource", Box::new(|board| board["templating"]["list"][0]["name"] = json!("prom"))),
        ("template-job", Box::new(|board| board["templating"]["list"][1]["multi"] = json!(false))),
        ("template-instance", Box::new(|board| board["templating"]["list"][2]["allValue"] = json!(".*"))),
        ("template-on-time-change-reload", Box::new(|board| board["templating"]["list"][3]["refresh"] = json!(1))),
        ("template-label-promql", Box::new(|b| b["templating"]["list"][3]["query"]["query"] = json!("metrics(x)"))),
        ("panel-datasource", Box::new(panel(|p| p["datasource"]["uid"] = json!("prometheus")))),
        ("panel-title-description", Box::new(panel(|p| p["description"] = json!("")))),
        ("panel-units", Box::new(panel(|p| p["fieldConfig"]["defaults"] = json!({})))),
        ("panel-no-targets", Box::new(panel(|p| p["targets"] = json!([])))),
        ("panel-place", Box::new(panel(|p| p["gridPos"] = json!({"x": 20, "y": 0, "w": 8, "h": 8})))),
        ("panel-id", Box::new(panel(|p| p["id"] = json!(1)))),
        ("target-datasource", Box::new(panel(|p| p["targets"][0]["datasource"]["uid"] = json!("x")))),
        ("target-job", Box::new(panel(|p| p["targets"][0]["expr"] = json!("gvqa_x")))),
        ("target-instance", Box::new(panel(|p| p["targets"][0]["expr"] = json!("gvqa_x{job=~\"$job\"}")))),
        ("target-rate-interval", Box::new(panel(|p| p["targets"][0]["expr"] = json!("rate(gvqa_x_total[5m])")))),
        ("target-counter-agg", Box::new(panel(|p| p["targets"][0]["expr"] = json!("sum(gvqa_x_total)")))),
    ];
    for (rule, breach) in breaches {
        let mut bad = board();
        breach(&mut bad);
        let broken = lint(&bad);
        assert!(broken.iter().any(|found| found.starts_with(rule)), "{rule} was not noticed, only {broken:?}");
    }
}

//! The labelled questions of the suites, without watching anything: where their clips end is known.

use std::fs;
use std::path::Path;

use super::*;

/// The last sample of a clip, in seconds, and the seconds between two.
fn extent_of(stream: &str) -> Extent {
    let (last, every) = match stream {
        "vtest" => (75.0, 5),
        "bikes" => (9.0, 1),
        "bunny" => (5.0, 1),
        "carphone" => (3.003, 1),
        other => panic!("{other} is no clip of the suites"),
    };
    Extent { last: t(last), sample_every: Duration::from_secs(every), ..file() }
}

/// Whether a question is understood to be about its labelled window; the same rule as `eval`'s.
fn is_right(asked: &toml::Table) -> Option<bool> {
    let text = |key: &str| asked[key].as_str().expect("a text");
    let number = |value: &toml::Value| value.as_float().expect("seconds");
    let window: Vec<f64> = asked.get("window")?.as_array()?.iter().map(number).collect();
    let extent = extent_of(text("stream"));
    let last = extent.last.seconds();
    let searched = plan(text("text"), &extent).window.expect("a window");
    let (from, to) = (searched.from().seconds(), searched.to().seconds().min(last));
    let is_within = window[0] <= from && to <= window[1] && from <= to;
    let is_enough = match asked.get("moment").map(number) {
        Some(moment) => (from..=to).contains(&moment.min(last)),
        None => (to - from) * 3.0 >= window[1].min(last) - window[0],
    };
    if !(is_within && is_enough) {
        println!("{:?}: {from} to {to} is not {window:?}", text("text"));
    }
    Some(is_within && is_enough)
}

#[test]
fn the_suites_questions_are_read_as_a_person_reads_them() {
    for (suite, kind, least, of) in
        [("paper", "positional", 6, 6), ("time", "time", 30, 30), ("time", "unseen", 27, 30)]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("config/suites/{suite}.toml"));
        let document: toml::Table = fs::read_to_string(path).expect("a suite").parse().expect("TOML");
        let asked = document["question"].as_array().expect("questions").iter().filter_map(toml::Value::as_table);
        let of_kind = asked.filter(|asked| asked["kind"].as_str() == Some(kind));
        let right: Vec<bool> = of_kind.filter_map(is_right).collect();
        let hits = right.iter().filter(|right| **right).count();
        assert!(hits >= least && right.len() == of, "{suite}, {kind}: {hits} of {}", right.len());
    }
}

//! Suites as documents, their labels and windows.

use super::*;

const SUITE: &str = r#"
    name = "street"
    [clips]
    vtest = { file = "vtest.avi" }
    [[question]]
    kind = "factual"
    stream = "vtest"
    text = "What is there?"
    [[question.claim]]
    at = 20.0
    text = "There is a car."
    truth = "true"
    [[question.claim]]
    at = 20.0
    text = "There is a train."
    truth = "false"
    written = true
    [[claim]]
    kind = "presence"
    stream = "vtest"
    at = 5
    text = "A dog barks."
    truth = "false"
    beyond = true
    [[fact]]
    stream = "vtest"
    from = 30.0
    text = "There is a car."
    truth = "false"
"#;

#[test]
fn labels_find_their_claims() {
    let suite = Suite::parse(SUITE).expect("a suite");
    assert_eq!(suite.clips.values().next().expect("a clip").every, five_seconds());
    let stream = StreamId::new("vtest").expect("a token");
    let drafted = |text: &str, at| {
        let at = StreamTime::from_seconds(at).expect("a time");
        Claim { text: text.into(), citation: Citation { stream: stream.clone(), at } }
    };
    let claims =
        vec![drafted("there is a car.", 20.04), drafted("There is a car.", 25.0), drafted("There is a car", 30.0)];
    let items = suite.questions[0].items(0, claims, &suite.facts);
    let read: Vec<_> = items.iter().map(|item| (item.claim.text.as_str(), item.truth, item.drafted)).collect();
    let due = [
        ("there is a car.", Some(Truth::True), true),
        ("There is a car.", None, true),
        ("There is a car", Some(Truth::False), true),
        ("There is a train.", Some(Truth::False), false),
    ];
    assert_eq!(read, due);
    let known = suite.claims[0].item();
    assert_eq!((known.truth, known.beyond, known.claim.citation.at.seconds()), (Some(Truth::False), true, 5.0));
}

#[test]
fn the_right_window_is_within_the_labelled_one_and_not_a_sliver_of_it() {
    let t = |seconds: f64| StreamTime::from_seconds(seconds).expect("a time");
    let suite = SUITE.replace("text = \"What is there?\"", "text = \"What is there?\"\nwindow = [50.0, 60.0]");
    let asked = &Suite::parse(&suite).expect("a suite").questions[0];
    let window = |from, to| Window::new(t(from), t(to)).expect("ordered");
    for (searched, due) in [
        (window(50.0, 60.0), true),
        (window(52.0, 56.0), true),
        (window(52.0, 54.0), false),
        (window(48.0, 58.0), false),
        (window(55.0, 61.0), false),
        (Window::ALL, false),
    ] {
        assert_eq!(asked.is_right(searched, t(79.0)), Some(due), "{searched:?}");
    }
    let pointed = Asked { moment: Some(t(53.0)), ..asked.clone() };
    for (searched, due) in [
        (window(52.0, 54.0), true),
        (window(50.0, 53.0), true),
        (window(53.5, 54.5), false),
        (window(48.0, 54.0), false),
    ] {
        assert_eq!(pointed.is_right(searched, t(79.0)), Some(due), "{searched:?} for a point");
    }
    let at_end = Asked { moment: Some(t(59.9)), ..asked.clone() };
    assert_eq!(at_end.is_right(window(57.0, 58.0), t(58.0)), Some(true), "the last that was watched");
    let open = Window::new(t(52.0), StreamTime::MAX).expect("ordered");
    assert_eq!(asked.is_right(open, t(58.0)), Some(true), "what was not watched does not count");
    assert_eq!(Suite::parse(SUITE).expect("a suite").questions[0].is_right(Window::ALL, t(79.0)), None);
}

#[test]
fn what_is_no_suite_is_refused_with_the_reason() {
    let claim = |truth: &str| {
        format!("\n[[claim]]\nkind = \"k\"\nstream = \"vtest\"\nat = 5\ntext = \"A cat.\"\ntruth = \"{truth}\"\n")
    };
    let table = [
        (SUITE.replace("truth = \"true\"", "truth = \"maybe\""), "unknown variant `maybe`"),
        (SUITE.replace("beyond", "beyound"), "unknown field `beyound`"),
        (SUITE.replace("at = 5", "at = -5"), "not a number of seconds"),
        (SUITE.replace("stream = \"vtest\"\n    at = 5", "stream = \"door\"\n    at = 5"), "stream door"),
        (SUITE.replace("from = 30.0", "from = 30.0\n    until = 40.0"), "unknown field `until`"),
        (format!("{SUITE}\n[[fact]]\nstream = \"vtest\"\ntext = \"there is a car\"\ntruth = \"true\""), "two labels"),
        (
            format!("{SUITE}\n[[fact]]\nstream = \"vtest\"\ntext = \"A cat.\"\ntruth = \"true\"\nfrom = 9\nto = 5"),
            "ends before",
        ),
        (format!("{SUITE}\n[[fact]]\nstream = \"vtest\"\ntext = \" \"\ntruth = \"true\""), "has no words"),
        (format!("{SUITE}{}{}", claim("true"), claim("false")), "two labels"),
        ("name = \"x\"\n[clips]".to_owned(), "neither questions nor claims"),
        ("name = ".to_owned(), "not a suite"),
    ];
    for (document, due) in table {
        let refused = Suite::parse(&document).expect_err(due).to_string();
        assert!(refused.contains(due), "{refused:?} instead of {due:?}");
    }
}

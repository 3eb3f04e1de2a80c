//! Times that no window holds.

use super::*;

#[test]
fn times_that_lie_apart_are_known_as_such() {
    for (question, due) in [
        ("Was there a car before 0:05 or after 1:10?", true),
        ("Was there a car up to 0:05 and after 1:10?", true),
        ("Who is there between 5 and 10 seconds and between 60 and 70 seconds?", true),
        ("Who is there right at the start and right at the end?", true),
        ("Is there a car at 0:30 and a person at 0:50?", true),
        ("What is there except in the first 10 seconds?", true),
        ("Was there a car outside the first 20 seconds?", true),
        ("Is there a person at 0:15 or 0:20?", false),
        ("Was there a car after 0:05 and before 1:10?", false),
        ("Was there a car before 1:10 and after 0:05?", false),
        ("What is there from the start until 0:05?", false),
        ("What is there from 0:50 until the end?", false),
        ("Is there a person outside?", false),
        ("Is there a car?", false),
    ] {
        assert_eq!(is_apart(&read(question), &file()), due, "{question:?}");
    }
    assert_eq!(read("Was there a car outside the first 20 seconds?").topic, "Was there a car");
}

#[test]
fn one_stretch_may_be_said_in_many_ways() {
    for (question, from, to) in [
        ("What is there 10 seconds from the end?", 185.0, 195.0),
        ("What is there at 1m30s?", 85.0, 95.0),
        ("What is there after forty-five seconds?", 45.0, OPEN),
        ("Who is there 5 to 8 s?", 5.0, 8.0),
        ("What is there from the start until 0:05?", 0.0, 5.0),
        ("What is there from 0:50 until the end?", 50.0, OPEN),
        ("What is there from the start to the end?", 0.0, 200.0),
    ] {
        let window = resolve(&read(question), &file()).window.expect("a window");
        let end = if to == OPEN { StreamTime::MAX } else { t(to) };
        assert_eq!((window.from(), window.to()), (t(from), end), "{question:?}");
    }
}

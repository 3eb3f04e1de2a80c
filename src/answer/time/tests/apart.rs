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

//! Times that have not come yet.

use super::*;

#[test]
fn a_time_that_has_not_come_yet_is_known_as_such() {
    for (question, due) in [
        ("Was there a person tomorrow?", true),
        ("Was there a person tomorrow at 14:30?", true),
        ("Was there a person the day after tomorrow?", true),
        ("Was there a person next week?", true),
        ("Was there a person today at 23:00?", true),
        ("Was there a person today at 14:30?", false),
        ("Was there a person today?", false),
        ("Was there a person this week?", false),
        ("Was there a person at 23:00?", false),
        ("Was there a person after the end?", false),
        ("Was there a person?", false),
        ("Is anybody there in the next 10 minutes?", true),
        ("Will there be a person within the next hour?", true),
        ("Will there be a person in the next few minutes?", true),
        ("Will a car be there 20 minutes from now?", true),
        ("What happens in the next 5 seconds after the car stops?", false),
        ("Who sits next to the man?", false),
        ("What does the man do next?", false),
        ("Is there a person next to a second car?", false),
    ] {
        assert_eq!(is_ahead(&read(question), &camera()), due, "{question:?}");
    }
    assert_eq!(read("Was there a person tomorrow?").topic, "Was there a person");
    assert_eq!(read("Is there a person at 0:15 or 0:20?").topic, "Is there a person");
    assert!(is_ahead(&read("Was there a person tomorrow?"), &file()));
    let next = read("Is there a person in the next 10 minutes?");
    assert!(is_ahead(&next, &file()) && resolve(&next, &file()).window.is_none());
    assert_eq!(next.topic, "Is there a person");
}

//! Lists, shares and totals, as captioners and people write them.

use super::*;

#[test]
fn lists_and_shares_are_spelt_out() {
    let table: [(&str, &[&str]); 9] = [
        (
            "There are about seven people, a car and a van or truck.",
            &["There are about seven people.", "There is a person.", "There is a car.", "There is a van or truck."],
        ),
        ("There are two cars.", &["There is a car."]),
        ("There is a car.", &[]),
        (
            "About six people wear black and one wears red.",
            &["About six people wear black.", "A person wears black.", "A person wears red."],
        ),
        (
            "One person is on the left, two are in the centre and about five are on the right.",
            &[
                "A person is on the left.",
                "Two people are in the centre.",
                "A person is in the centre.",
                "About five people are on the right.",
                "A person is on the right.",
            ],
        ),
        ("There are two women sitting at a table.", &[]),
        ("The car is on the right.", &[]),
        ("Two boys are playing with a ball in the garden behind the house.", &[]),
        ("", &[]),
    ];
    for (sentence, due) in table {
        assert_eq!(spelt_out(sentence), due, "{sentence}");
    }
}

#[test]
fn a_claim_of_presence_has_one_thing() {
    let table = [
        ("There is an elephant.", Some("elephant")),
        ("Two dogs are visible.", Some("dog")),
        ("There are people.", Some("person")),
        ("There is no car.", None),
        ("There are people and cars.", None),
        ("A dog runs.", None),
    ];
    for (claim, due) in table {
        assert_eq!(only_thing(claim).as_deref(), due, "{claim}");
    }
}

#[test]
fn a_sentence_of_parts_leaves_single_claims_to_them() {
    let parts = "One cup is in the centre and about six are on the left.";
    let table = [
        (parts, "One cup is on the left.", true),
        (parts, "A cup is on the left.", true),
        (parts, parts, false),
        ("One cup is in the centre.", "One cup is on the left.", false),
        ("There are two cars and a bus.", "There is a bus.", false),
    ];
    for (sentence, claim, due) in table {
        assert_eq!(is_in_parts(sentence, claim), due, "{sentence} => {claim}");
    }
}

#[test]
fn totals_are_compared() {
    use Count::{Fewer, Holds, More};
    let street = "There are about eight people, two cars and a van or truck.";
    let table: [(&str, &str, Option<Count>); 28] = [
        (street, "There are about six people.", Some(More(8))),
        (street, "There are about seven people.", Some(Holds)),
        (street, "There are eight people.", Some(Holds)),
        (street, "There are two people.", Some(More(8))),
        (street, "There is only one person.", Some(More(8))),
        (street, "There is a single person.", Some(More(8))),
        (street, "There are about ten people.", Some(Fewer(8))),
        (street, "There are at least three people.", Some(Holds)),
        (street, "There are more than eight people.", Some(Fewer(8))),
        (street, "Two people are visible.", Some(More(8))),
        (street, "Eight people can be seen.", Some(Holds)),
        (street, "There are people.", Some(Holds)),
        (street, "There is a car.", Some(Holds)),
        (street, "A car is visible.", Some(Holds)),
        (street, "There is one car.", Some(More(2))),
        (street, "There are three cars.", Some(Fewer(2))),
        (street, "There are three vehicles.", Some(Holds)),
        (street, "There are five vehicles.", Some(Fewer(3))),
        (street, "There is a vehicle.", Some(Holds)),
        (street, "There is a dog.", None),
        (street, "There are several people.", None),
        (street, "Six people wear black.", None),
        (street, "There is no car.", None),
        (street, "There are people and a car.", None),
        ("There is a person.", "There is one person.", Some(Holds)),
        ("There is a car.", "There are cars.", None),
        ("Six people wear black.", "There are six people.", None),
        ("There are two women sitting at a table.", "There are three women.", None),
    ];
    for (sentence, claim, due) in table {
        assert_eq!(compare([sentence].into_iter(), claim).map(|(count, _)| count), due, "{sentence} => {claim}");
    }
    let several = ["The picture is dark.", "There are two dogs.", "There are three dogs."];
    assert_eq!(compare(several.into_iter(), "There are three dogs."), Some((Holds, 2)));
}

#[test]
fn a_vague_total_that_holds_is_said_in_the_claims_own_number() {
    let street = ["The picture is dark.", "There are about seven people and two cars."];
    for (claim, due) in [
        ("There are about eight people.", Some("There are about eight people.")),
        ("About six people are visible.", Some("There are about six people.")),
        ("There are about seven people.", Some("There are about seven people.")),
        ("There are about nine people.", None),
        ("There are eight people.", None),
        ("There are about two cars.", Some("There are about two cars.")),
        ("There is a car.", None),
        ("There are about eight dogs.", None),
    ] {
        assert_eq!(restated(street.into_iter(), claim).as_deref(), due, "{claim}");
    }
}

#[test]
fn what_is_not_there_is_denied_one_by_one() {
    let none = "No people or vehicles are clearly visible.";
    let table: [(&str, &str, &[&str]); 8] = [
        (
            none,
            "There is no car.",
            &["There are no people.", "Nobody is there.", "There are no vehicles.", "There is no car."],
        ),
        (none, "Nobody is there.", &["There are no people.", "Nobody is there.", "There are no vehicles."]),
        (none, "There are no bicycles.", &["There are no people.", "Nobody is there.", "There are no vehicles."]),
        (
            none,
            "There are no buses.",
            &["There are no people.", "Nobody is there.", "There are no vehicles.", "There is no bus."],
        ),
        (none, "There is a car.", &[]),
        ("No dogs are visible.", "There is no dog.", &["There are no dogs."]),
        ("There is a car.", "There is no car.", &[]),
        ("No one knows.", "There is no car.", &[]),
    ];
    for (sentence, claim, due) in table {
        assert_eq!(denied(sentence, claim), due, "{sentence} => {claim}");
    }
}

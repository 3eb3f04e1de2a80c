//! Sentences and claims in tables.

use super::*;

#[test]
fn what_is_stated_must_be_said() {
    use Missing::{Denial, Number, Presence, Roles, Word};
    let table: [(&str, &str, Option<Missing>); 49] = [
        ("There is a car.", "There is a car.", None),
        ("There is a car.", "There is no car.", Some(Denial)),
        ("There is a car.", "There isn't a car.", Some(Denial)),
        ("The street is empty.", "Nobody is there.", None),
        ("No people or vehicles are clearly visible.", "There are people.", Some(Presence)),
        ("No people or vehicles are clearly visible.", "There are no people.", None),
        ("A man who is not wearing a hat holds a ball.", "A man holds a ball.", None),
        ("There are about eight people.", "There are about six people.", Some(Number(6))),
        ("There are about eight people.", "There are about eight people.", None),
        ("There are about seven people.", "There are about six people.", None),
        ("There are eight people.", "There are at least three people.", None),
        ("There are eight people.", "There are more than eight people.", Some(Number(8))),
        ("There are 8 people.", "There are eight people.", None),
        ("A man and a woman sit.", "Two people sit.", None),
        ("Several people sit.", "Five people sit.", Some(Number(5))),
        ("There is a person.", "There is one person.", None),
        ("Two people wear red.", "One person wears red.", Some(Number(1))),
        ("One person wears red.", "A person wears red.", None),
        ("A boy in a blue shirt.", "A boy in a green shirt.", Some(Word("green"))),
        ("A boy in a gray shirt.", "A boy in a grey shirt.", None),
        ("A boy in a navy shirt.", "A boy in a blue shirt.", None),
        ("A boy in a shirt.", "A boy in a red shirt.", Some(Word("red"))),
        ("The car is on the right.", "The car is on the left.", Some(Word("left"))),
        ("The car is in the middle.", "The car is in the centre.", None),
        ("There are about five people, a car and a van.", "The people are near the car.", Some(Word("near"))),
        ("A dog sits next to a bench.", "A dog sits beside a bench.", None),
        ("A dog sits on a bench.", "A dog sits on top of a bench.", None),
        ("A dog sits on a bench.", "A dog sits under a bench.", Some(Word("under"))),
        ("A woman stands.", "A man stands.", Some(Word("man"))),
        ("He stands by the door.", "The man stands by the door.", None),
        ("A boy stands.", "A child stands.", None),
        ("A man stands.", "A child stands.", Some(Word("child"))),
        ("A man stands.", "A person stands.", None),
        ("A child stands.", "A boy stands.", Some(Word("boy"))),
        ("A truck is behind a car.", "A car is behind a truck.", Some(Roles("behind"))),
        ("A truck is behind a car.", "A truck is behind a car.", None),
        ("A car is behind a truck and a truck is behind a car.", "A car is behind a truck.", None),
        ("A dog is chasing a cat.", "A cat is chasing a dog.", Some(Roles("chasing"))),
        ("A man is holding a dog.", "A dog is holding a man.", Some(Roles("holding"))),
        ("A cup is on a table.", "A table is on a cup.", Some(Roles("on"))),
        ("A boy on a chair holds a ball on a string.", "A boy holds a ball.", None),
        ("There is a van or truck.", "There could be a car.", Some(Word("car"))),
        ("There is a van or truck.", "A truck or a car is there.", Some(Word("car"))),
        ("There is a taxi.", "There is a car.", None),
        ("A car passes.", "A vehicle passes.", None),
        ("A car is parked.", "A bus is parked.", Some(Word("bus"))),
        ("", "A boy.", Some(Word("boy"))),
        ("A boy.", "", None),
        ("It's a boy's room.", "It is a boy's room.", None),
    ];
    for (sentence, claim, due) in table {
        assert_eq!(missing(sentence, claim), due, "{sentence:?} => {claim:?}");
    }
}

#[test]
fn things_are_named_by_their_word_or_a_narrower_one() {
    let table = [
        ("There are two dogs.", "dog", true),
        ("There are two buses.", "bus", true),
        ("There are two benches.", "bench", true),
        ("Two babies sleep.", "baby", true),
        ("A young boy stands.", "person", true),
        ("Two people stand.", "person", true),
        ("There is a van or truck.", "vehicle", true),
        ("A bike leans on a wall.", "bicycle", true),
        ("There is a van or truck.", "bus", false),
        ("Four people wear black.", "elephant", false),
        ("A carpet lies there.", "car", false),
        ("There is a traffic light.", "traffic light", true),
        ("", "dog", false),
    ];
    for (sentence, thing, due) in table {
        assert_eq!(names(sentence, thing), due, "{sentence:?} names {thing}");
    }
}

#[test]
fn plain_claims_are_about_one_thing() {
    for (claim, due) in [
        ("A car is on the right.", Some("car")),
        ("The van or truck is white.", Some("truck")),
        ("About six people wear black.", Some("person")),
        ("Two cars are on the right.", Some("car")),
        ("The bus is red.", Some("bus")),
        ("There is a car.", None),
        ("It is dark.", None),
        ("A man walks.", None),
        ("", None),
    ] {
        assert_eq!(subject(claim).as_deref(), due, "{claim}");
    }
}

#[test]
fn a_sentence_says_all_of_itself() {
    for sentence in [
        "Two women in white are sitting behind a table on the left, and a man is not looking at the two dogs.",
        "There are at least three boys under the red roof, next to 12 children.",
    ] {
        assert_eq!(missing(sentence, sentence), None, "{sentence}");
    }
}

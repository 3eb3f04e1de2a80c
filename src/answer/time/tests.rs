//! What questions mean, as tables: one for a file of 200 s, one for a camera watched since Friday.

use std::time::Duration;

use super::*;
use crate::domain::{StreamKind, StreamTime, WallTime, Window, Zone};

mod ahead;
mod any_text;
mod apart;
mod suites;

const OPEN: f64 = -1.0;

fn t(seconds: f64) -> StreamTime {
    StreamTime::from_seconds(seconds).expect("a time")
}

fn wall(text: &str) -> WallTime {
    serde_json::from_str(&format!("{text:?}")).expect("a time")
}

/// 200 s from nine in the morning, sampled every 5 s.
fn file() -> Extent {
    Extent {
        last: t(200.0),
        sample_every: Duration::from_secs(5),
        kind: StreamKind::File,
        epoch: wall("2026-11-30T08:00:00Z"),
        zone: Zone::parse("+01:00").expect("a zone"),
        asked: wall("2026-11-30T12:00:00Z"),
    }
}

/// Watched since Friday, seven in the morning; asked on Monday at 15:00:00, the last caption four seconds old.
fn camera() -> Extent {
    let (epoch, asked) = (wall("2026-11-27T06:00:00Z"), wall("2026-11-30T14:00:00Z"));
    let last = t(asked.saturating_since(epoch).as_secs_f64() - 4.0);
    let zone = Zone::parse("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
    Extent { last, sample_every: Duration::from_secs(5), kind: StreamKind::Live, epoch, zone, asked }
}

fn plan(question: &str, extent: &Extent) -> Plan {
    resolve(&read(question), extent)
}

/// Question, window in seconds, order.
#[rustfmt::skip]
const OF_A_FILE: &[(&str, (f64, f64), Order)] = &[
    // Nothing about time.
    ("How many people are there?", (0.0, OPEN), Order::Relevance),
    ("Is a car at the end of the street?", (0.0, OPEN), Order::Relevance),
    ("When did the car start?", (0.0, OPEN), Order::Relevance),
    ("Are there people from 3 to 5 cars?", (0.0, OPEN), Order::Relevance),
    ("Who stands at the start line?", (0.0, OPEN), Order::Relevance),
    ("Is there a second car?", (0.0, OPEN), Order::Relevance),
    ("Who ran after the ball?", (0.0, OPEN), Order::Relevance),
    ("Is the man kneeling before him?", (0.0, OPEN), Order::Relevance),
    ("What is the man in the middle wearing?", (0.0, OPEN), Order::Relevance),
    ("What happens after that?", (0.0, OPEN), Order::Relevance),
    ("What happened after a while?", (0.0, OPEN), Order::Relevance),
    ("Was there a dog at any time?", (0.0, OPEN), Order::Relevance),
    ("What happens throughout the video?", (0.0, OPEN), Order::Relevance),
    ("Who has been there since the beginning?", (0.0, OPEN), Order::Relevance),
    ("Is this filmed at night?", (0.0, OPEN), Order::Relevance),
    ("between", (0.0, OPEN), Order::Relevance),
    ("at", (0.0, OPEN), Order::Relevance),
    ("after", (0.0, OPEN), Order::Relevance),
    ("", (0.0, OPEN), Order::Relevance),
    ("? ! ...", (0.0, OPEN), Order::Relevance),
    // Edges.
    ("What is there at the beginning?", (0.0, 40.0), Order::Earliest),
    ("What happens at the start of the video?", (0.0, 40.0), Order::Earliest),
    ("What happens at the very start?", (0.0, 5.0), Order::Earliest),
    ("Who is there at the very end of the video?", (195.0, 200.0), Order::Latest),
    ("Who is there at the very beginning?", (0.0, 5.0), Order::Earliest),
    // No stream has such a time.
    ("Was there a dog after the end?", (OPEN, OPEN), Order::Relevance),
    ("Was there a dog after the video ended?", (OPEN, OPEN), Order::Relevance),
    ("Was there a dog before the beginning of the video?", (OPEN, OPEN), Order::Relevance),
    ("Was there a dog at -5 seconds?", (OPEN, OPEN), Order::Relevance),
    ("Was there a dog at minus 5 seconds?", (OPEN, OPEN), Order::Relevance),
    ("Was there a dog at 25:61?", (OPEN, OPEN), Order::Relevance),
    // Several times.
    ("Is there a person at 0:15 or 0:20?", (10.0, 25.0), Order::Relevance),
    ("Is there a person at 0:15, 0:20 and 0:50?", (10.0, 55.0), Order::Relevance),
    ("Is there a person at 3 seconds and at 70 seconds?", (0.0, 75.0), Order::Relevance),
    ("Is there a person at 30 and 70 seconds?", (25.0, 75.0), Order::Relevance),
    ("Is there a person at 0:30 and a car at 1:10?", (25.0, 75.0), Order::Relevance),
    ("Who passed in the first 5 seconds and the last 5 seconds?", (0.0, 200.0), Order::Relevance),
    ("Who passed after 0:10 and before 0:20?", (10.0, 20.0), Order::Relevance),
    ("Who is there at the end, finally?", (160.0, 200.0), Order::Latest),
    ("In the beginning of the clip, who is there?", (0.0, 40.0), Order::Earliest),
    ("What did the boy do at beginning of the video?", (0.0, 40.0), Order::Earliest),
    ("What does the first frame show?", (0.0, 2.5), Order::Nearest),
    ("What is in the very first image of the video?", (0.0, 2.5), Order::Nearest),
    ("Who is in the last frame?", (197.5, 202.5), Order::Nearest),
    ("Who was there before the last frame?", (160.0, 200.0), Order::Latest),
    ("What do the first images of the video show?", (0.0, 40.0), Order::Earliest),
    ("What does he do at first?", (0.0, 40.0), Order::Earliest),
    ("Who was initially there?", (0.0, 40.0), Order::Earliest),
    ("Who is there at the end?", (160.0, 200.0), Order::Latest),
    ("Who is there near the end of the recording?", (160.0, 200.0), Order::Latest),
    ("Who is there towards the end?", (160.0, 200.0), Order::Latest),
    ("What do the last frames show?", (160.0, 200.0), Order::Latest),
    ("What does the final scene show?", (160.0, 200.0), Order::Latest),
    ("What did the lady do just before the end of the video?", (160.0, 200.0), Order::Latest),
    ("What does she finally do?", (160.0, 200.0), Order::Latest),
    ("Why did he turn his head in the end?", (160.0, 200.0), Order::Latest),
    ("Who is there in the opening seconds?", (0.0, 40.0), Order::Earliest),
    ("Who is there in the closing seconds of the video?", (160.0, 200.0), Order::Latest),
    ("Who is there in the final moments?", (160.0, 200.0), Order::Latest),
    ("Who is there as the clip ends?", (160.0, 200.0), Order::Latest),
    ("Who is there when the video starts?", (0.0, 40.0), Order::Earliest),
    ("Who is there before the film ends?", (160.0, 200.0), Order::Latest),
    ("Who has been there since the video started?", (0.0, OPEN), Order::Relevance),
    ("What does he do when the car stops?", (0.0, OPEN), Order::Relevance),
    // Parts.
    ("Who is there in the first half?", (0.0, 100.0), Order::Relevance),
    ("Who is there in the second half of the video?", (100.0, 200.0), Order::Relevance),
    ("Who is there in the last quarter?", (150.0, 200.0), Order::Relevance),
    ("What happens in the middle of the video?", (66.667, 133.333), Order::Relevance),
    ("What happens halfway through the clip?", (80.0, 120.0), Order::Relevance),
    ("What happens midway through?", (80.0, 120.0), Order::Relevance),
    ("Who is there at the halfway point?", (80.0, 120.0), Order::Relevance),
    ("Who is there at the midpoint of the clip?", (80.0, 120.0), Order::Relevance),
    ("Who stands at the midpoint of the street?", (0.0, OPEN), Order::Relevance),
    ("Who is there in the second quarter?", (50.0, 100.0), Order::Relevance),
    ("Who is there in the third quarter of the video?", (100.0, 150.0), Order::Relevance),
    ("Who is there in the middle third?", (66.667, 133.333), Order::Relevance),
    ("Who comes early in the video?", (0.0, 66.667), Order::Relevance),
    ("Who comes early on?", (0.0, 66.667), Order::Relevance),
    ("Who comes late in the clip?", (133.333, 200.0), Order::Relevance),
    ("Why is the bus late?", (0.0, OPEN), Order::Relevance),
    // Now.
    ("Is anybody there now?", (190.0, 200.0), Order::Latest),
    ("Is anybody there right now?", (190.0, 200.0), Order::Latest),
    ("What is there at the moment?", (190.0, 200.0), Order::Latest),
    ("Who is currently there?", (190.0, 200.0), Order::Latest),
    ("Who was most recently there?", (190.0, 200.0), Order::Latest),
    // First and last of something.
    ("When was the first car seen?", (0.0, OPEN), Order::First),
    ("When was the last person there?", (0.0, OPEN), Order::Last),
    ("When did a dog first appear?", (0.0, OPEN), Order::First),
    ("When is the last time that a car passes?", (0.0, OPEN), Order::Last),
    ("Who was the first person after 1:00?", (60.0, OPEN), Order::First),
    ("What was the last car before one minute?", (0.0, 60.0), Order::Last),
    // At a time.
    ("What is there at 0:42?", (37.0, 47.0), Order::Nearest),
    ("What is there at 00:42.5?", (37.5, 47.5), Order::Nearest),
    ("What is there at 15 seconds?", (10.0, 20.0), Order::Nearest),
    ("What is there at 15s?", (10.0, 20.0), Order::Nearest),
    ("What is there at t=12.5s?", (7.5, 17.5), Order::Nearest),
    ("What is there at timestamp 12.5?", (7.5, 17.5), Order::Nearest),
    ("At second 15, who is there?", (10.0, 20.0), Order::Nearest),
    ("At minute 3, who is there?", (175.0, 185.0), Order::Nearest),
    ("What is there at 1 minute 30 seconds?", (85.0, 95.0), Order::Nearest),
    ("What is there at the 30 second mark?", (25.0, 35.0), Order::Nearest),
    ("What is there at the 30-second mark?", (25.0, 35.0), Order::Nearest),
    ("What is there at exactly two minutes?", (115.0, 125.0), Order::Nearest),
    ("What is there at around 2 s?", (0.0, 17.0), Order::Nearest),
    ("What is there around 1:00?", (45.0, 75.0), Order::Nearest),
    ("What is there 20 seconds into the video?", (15.0, 25.0), Order::Nearest),
    ("What is there 10 seconds before the end?", (185.0, 195.0), Order::Nearest),
    ("What is there at 10 seconds before the end of the video?", (185.0, 195.0), Order::Nearest),
    ("What is there 10 seconds after the start?", (5.0, 15.0), Order::Nearest),
    ("What was there 10 seconds ago?", (185.0, 195.0), Order::Nearest),
    ("What is there with 10 seconds left?", (185.0, 195.0), Order::Nearest),
    ("What is there with a minute to go in the video?", (135.0, 145.0), Order::Nearest),
    ("Who is there with two bags left?", (0.0, OPEN), Order::Relevance),
    ("What is there a minute in?", (55.0, 65.0), Order::Nearest),
    ("Who was there 10 seconds before the video ended?", (185.0, 195.0), Order::Nearest),
    ("Who was there 10 seconds after the clip starts?", (5.0, 15.0), Order::Nearest),
    ("What is there at the 4th second?", (0.0, 9.0), Order::Nearest),
    ("at 99999999999999999999 seconds", (OPEN, OPEN), Order::Nearest),
    // Between times.
    ("What happens between 0:10 and 0:20?", (10.0, 20.0), Order::Relevance),
    ("What happens between 20 s and 10 s?", (10.0, 20.0), Order::Relevance),
    ("What happens from 1 to 2 minutes?", (60.0, 120.0), Order::Relevance),
    ("What happens between the 10 and 20 second mark?", (10.0, 20.0), Order::Relevance),
    ("What happens from 0:10 until 0:20?", (10.0, 20.0), Order::Relevance),
    ("What happens during 0:10-0:20?", (10.0, 20.0), Order::Relevance),
    ("What happens from the 10th to the 20th second?", (10.0, 20.0), Order::Relevance),
    ("Between 5 and 15 seconds, who is there?", (5.0, 15.0), Order::Relevance),
    // Lengths.
    ("Who passed in the first 30 seconds?", (0.0, 30.0), Order::Relevance),
    ("Who passed in the first minute of the video?", (0.0, 60.0), Order::Relevance),
    ("Who passed in the last 2 minutes?", (80.0, 200.0), Order::Relevance),
    ("Who passed in the last minute?", (140.0, 200.0), Order::Relevance),
    ("Who passed during the last 10 seconds of the clip?", (190.0, 200.0), Order::Relevance),
    ("Who passed in the past half minute?", (170.0, 200.0), Order::Relevance),
    ("Who passed in the first quarter of a minute?", (0.0, 15.0), Order::Relevance),
    ("Who passed in the first quarter of the video?", (0.0, 50.0), Order::Relevance),
    ("Who passed in the final 20 seconds?", (180.0, 200.0), Order::Relevance),
    ("Who passed in the last couple of seconds?", (198.0, 200.0), Order::Relevance),
    ("Who passed in the last 10 minutes?", (0.0, 200.0), Order::Relevance),
    // Before and after a time.
    ("Who passed after 1:00?", (60.0, OPEN), Order::Relevance),
    ("Who passed since 1:00?", (60.0, OPEN), Order::Relevance),
    ("Who passed after 90 seconds?", (90.0, OPEN), Order::Relevance),
    ("Who passed before one minute?", (0.0, 60.0), Order::Relevance),
    ("Who passed prior to 0:30?", (0.0, 30.0), Order::Relevance),
    ("Who passed until 0:30?", (0.0, 30.0), Order::Relevance),
    ("Who had passed by 0:30?", (0.0, 30.0), Order::Relevance),
    ("Who passed up to 0:30?", (0.0, 30.0), Order::Relevance),
    ("Who passed up until the 30 second mark?", (0.0, 30.0), Order::Relevance),
    ("Who passed from 1:00 onwards?", (60.0, OPEN), Order::Relevance),
    ("Who passed from 1:00 on?", (60.0, OPEN), Order::Relevance),
    ("Who came from 5 miles away?", (0.0, OPEN), Order::Relevance),
    ("Who walks up to 5 people?", (0.0, OPEN), Order::Relevance),
    // Times of day that the file was recorded at, in its zone.
    ("What is there at 9:02?", (115.0, 185.0), Order::Nearest),
    ("What is there at 9:02 am?", (115.0, 185.0), Order::Nearest),
    ("What happened after 9:01 am?", (60.0, OPEN), Order::Relevance),
    ("What happened before 9:01 am?", (0.0, 60.0), Order::Relevance),
    ("What happened between 9:01 am and 9:02 am?", (60.0, 120.0), Order::Relevance),
    ("What happened today?", (0.0, 54_000.0), Order::Relevance),
    ("What happened this morning at 9:02?", (115.0, 185.0), Order::Nearest),
    // Times that it does not hold.
    ("What is there at 14:30?", (865.0, 875.0), Order::Nearest),
    ("What happened yesterday?", (OPEN, OPEN), Order::Relevance),
    ("What happened on 2026-11-05?", (OPEN, OPEN), Order::Relevance),
    ("What is there at noon?", (OPEN, OPEN), Order::Nearest),
    // An event restricts nothing until it is found.
    ("What does the dog do after going to the cushion?", (0.0, OPEN), Order::Relevance),
    ("What does the man do after pointing somewhere at the end?", (160.0, 200.0), Order::Latest),
    ("What did the boy do when the girl fell in the first 30 seconds?", (0.0, 30.0), Order::Relevance),
];

#[test]
fn a_question_means_a_part_of_a_file() {
    let extent = file();
    for (question, (from, to), order) in OF_A_FILE {
        let plan = plan(question, &extent);
        assert_eq!(plan.order, *order, "{question:?}");
        let Some(window) = plan.window else {
            assert_eq!(*from, OPEN, "{question:?} lies outside");
            continue;
        };
        let found = [window.from(), window.to()].map(|at| if at == StreamTime::MAX { OPEN } else { at.seconds() });
        let near = found.iter().zip([from, to]).all(|(found, due)| (found - due).abs() < 0.001);
        assert!(near, "{question:?}: {found:?} is not {from} to {to}");
    }
}

/// Question, window by the clock on the wall ("-" for outside what was watched, "" for open), order.
#[rustfmt::skip]
const OF_A_CAMERA: &[(&str, &str, &str, Order)] = &[
    ("What happened today?", "2026-11-30T00:00:00", "2026-12-01T00:00:00", Order::Relevance),
    ("What happened yesterday?", "2026-11-29T00:00:00", "2026-11-30T00:00:00", Order::Relevance),
    ("What happened the day before yesterday?", "2026-11-28T00:00:00", "2026-11-29T00:00:00", Order::Relevance),
    ("What happened two days ago?", "2026-11-28T00:00:00", "2026-11-29T00:00:00", Order::Relevance),
    ("What happened this morning?", "2026-11-30T05:00:00", "2026-11-30T12:00:00", Order::Relevance),
    ("Who came in the morning?", "2026-11-30T05:00:00", "2026-11-30T12:00:00", Order::Relevance),
    ("Was anybody there yesterday evening?", "2026-11-29T18:00:00", "2026-11-29T23:00:00", Order::Relevance),
    ("Was anybody there tonight?", "2026-11-30T18:00:00", "2026-12-01T06:00:00", Order::Relevance),
    ("Was anybody there last night?", "2026-11-29T18:00:00", "2026-11-30T06:00:00", Order::Relevance),
    ("Was anybody there at night?", "2026-11-29T22:00:00", "2026-11-30T06:00:00", Order::Relevance),
    ("What happened on Saturday?", "2026-11-28T00:00:00", "2026-11-29T00:00:00", Order::Relevance),
    ("What happened on Sunday morning?", "2026-11-29T05:00:00", "2026-11-29T12:00:00", Order::Relevance),
    ("What happened last Monday?", "-", "", Order::Relevance),
    ("What happened this week?", "2026-11-30T00:00:00", "2026-12-07T00:00:00", Order::Relevance),
    ("What happened on 28 November?", "2026-11-28T00:00:00", "2026-11-29T00:00:00", Order::Relevance),
    ("What happened on 2026-11-28?", "2026-11-28T00:00:00", "2026-11-29T00:00:00", Order::Relevance),
    ("What happened at 14:30?", "2026-11-30T14:29:55", "2026-11-30T14:31:05", Order::Nearest),
    ("What happened at 16:30?", "2026-11-29T16:29:55", "2026-11-29T16:31:05", Order::Nearest),
    ("What happened at 2 pm?", "2026-11-30T13:59:55", "2026-11-30T14:01:05", Order::Nearest),
    ("What happened around 2 pm?", "2026-11-30T13:49:55", "2026-11-30T14:11:05", Order::Nearest),
    ("What happened at noon?", "2026-11-30T11:59:55", "2026-11-30T12:01:05", Order::Nearest),
    ("What happened yesterday at 14:30?", "2026-11-29T14:29:55", "2026-11-29T14:31:05", Order::Nearest),
    ("At 14:30 yesterday, who was there?", "2026-11-29T14:29:55", "2026-11-29T14:31:05", Order::Nearest),
    ("What happened on Saturday between 14:00 and 15:00?", "2026-11-28T14:00:00", "2026-11-28T15:00:00", Order::Relevance),
    ("What happened from 2 to 3 pm?", "2026-11-30T14:00:00", "2026-11-30T15:00:00", Order::Relevance),
    ("What happened between 10 pm and 2 am?", "2026-11-29T22:00:00", "2026-11-30T02:00:00", Order::Relevance),
    ("Who came after 8 am today?", "2026-11-30T08:00:00", "2026-12-01T00:00:00", Order::Relevance),
    ("Who came before noon yesterday?", "2026-11-29T00:00:00", "2026-11-29T12:00:00", Order::Relevance),
    ("Who came since 8 am?", "2026-11-30T08:00:00", "", Order::Relevance),
    ("Who came in the last 10 minutes?", "2026-11-30T14:50:00", "2026-11-30T15:00:00", Order::Relevance),
    ("Who came in the past hour?", "2026-11-30T14:00:00", "2026-11-30T15:00:00", Order::Relevance),
    ("Who came in the last half hour?", "2026-11-30T14:30:00", "2026-11-30T15:00:00", Order::Relevance),
    ("Who came in the last few minutes?", "2026-11-30T14:55:00", "2026-11-30T15:00:00", Order::Relevance),
    ("Who came in the last two days?", "2026-11-28T15:00:00", "2026-11-30T15:00:00", Order::Relevance),
    ("Who was there 10 minutes ago?", "2026-11-30T14:49:55", "2026-11-30T14:50:05", Order::Nearest),
    ("Who is there now?", "2026-11-30T14:59:30", "2026-11-30T15:00:00", Order::Latest),
    ("When was the first car seen today?", "2026-11-30T00:00:00", "2026-12-01T00:00:00", Order::First),
    ("When was the last person seen yesterday evening?", "2026-11-29T18:00:00", "2026-11-29T23:00:00", Order::Last),
    ("What happened at 0:42?", "2026-11-30T00:41:55", "2026-11-30T00:43:05", Order::Nearest),
    ("What happened at 90 seconds?", "2026-11-27T07:01:25", "2026-11-27T07:01:35", Order::Nearest),
    ("What happened yesterday or today?", "2026-11-29T00:00:00", "2026-12-01T00:00:00", Order::Relevance),
    ("What happened tomorrow?", "2026-12-01T00:00:00", "2026-12-02T00:00:00", Order::Relevance),
    ("What happened last week?", "2026-11-27T07:00:00", "2026-11-30T00:00:00", Order::Relevance),
];

#[test]
fn a_question_means_a_part_of_a_cameras_days() {
    let extent = camera();
    let shown = |at: StreamTime| extent.zone.civil(extent.epoch.plus(Duration::from_nanos(at.nanos()))).to_string();
    for (question, from, to, order) in OF_A_CAMERA {
        let plan = plan(question, &extent);
        assert_eq!(plan.order, *order, "{question:?}");
        let Some(window) = plan.window else {
            assert_eq!(*from, "-", "{question:?} lies outside");
            continue;
        };
        let end = if window.to() == StreamTime::MAX { String::new() } else { shown(window.to()) };
        assert_eq!((shown(window.from()).as_str(), end.as_str()), (*from, *to), "{question:?}");
    }
}

#[test]
fn there_are_enough_questions_to_believe_the_tables() {
    assert!(OF_A_FILE.len() + OF_A_CAMERA.len() >= 120);
}

#[test]
fn an_event_and_what_is_left_to_look_for_are_told_apart() {
    use Side::{After, Before, During};
    #[rustfmt::skip]
    let table: [(&str, &str, Option<(Side, &str)>, &str); 22] = [
        ("what does the white dog do after going to the cushion", "what does the white dog do", Some((After, "going to the cushion")), "after going to the cushion"),
        ("what did the man do before the plane took off?", "what did the man do", Some((Before, "the plane took off")), "before the plane took off"),
        ("After the man sits down, what does he do?", "what does he do", Some((After, "the man sits down")), "After the man sits down"),
        ("After the man sits down what does he do?", "what does he do", Some((After, "the man sits down")), "After the man sits down"),
        ("what did the black dog do when it saw the white dog", "what did the black dog do", Some((During, "it saw the white dog")), "when it saw the white dog"),
        ("What does she do right after the door opens?", "What does she do", Some((After, "the door opens")), "after the door opens"),
        ("what did the boy do while the girl was sliding", "what did the boy do", Some((During, "the girl was sliding")), "while the girl was sliding"),
        ("what did the lady do as the man was talking", "what did the lady do", Some((During, "the man was talking")), "as the man was talking"),
        ("what happens as soon as the light turns green", "what happens", Some((After, "the light turns green")), "as soon as the light turns green"),
        ("what does he do after pointing somewhere at the end", "what does he do", Some((After, "pointing somewhere")), "the end, after pointing somewhere"),
        ("what does he do 10 seconds after the bell rings", "what does he do", Some((After, "the bell rings")), "10 seconds after the bell rings"),
        ("What happened since the truck arrived?", "What happened", Some((After, "the truck arrived")), "since the truck arrived"),
        ("What is there at 0:42?", "What is there", None, "at 0:42"),
        ("Who passed in the last 10 minutes?", "Who passed", None, "last 10 minutes"),
        ("In the last 10 minutes, who passed?", "who passed", None, "last 10 minutes"),
        ("Was a dog there yesterday at 14:30?", "Was a dog there", None, "yesterday, at 14:30"),
        ("When did the car arrive?", "When did the car arrive", None, ""),
        ("Is he dressed as a clown?", "Is he dressed as a clown", None, ""),
        ("Did they run after the ball?", "Did they run after the ball", None, ""),
        ("What happened after that?", "What happened after that", None, ""),
        ("between 0:10 and 0:20", "between 0:10 and 0:20", None, "between 0:10 and 0:20"),
        ("When was the first car seen?", "When was the first car seen", None, ""),
    ];
    for (question, topic, event, phrase) in table {
        let time = read(question);
        assert_eq!(time.topic, topic, "{question:?}");
        let found = time.event.as_ref().map(|event| (event.side, event.text.as_str()));
        assert_eq!(found, event, "{question:?}");
        assert_eq!(time.phrase, phrase, "{question:?}");
    }
    assert_eq!(read("what happens 10 s after the bell rings").event.expect("an event").offset, Some(10.0));
}

#[test]
fn edges_and_middles_draw() {
    let lean = |question: &str| plan(question, &file()).lean.map(|(towards, within)| (towards.seconds(), within));
    assert_eq!(lean("What is there at the beginning?"), Some((0.0, 40.0)));
    assert_eq!(lean("What is there at the end?"), Some((200.0, 40.0)));
    assert_eq!(lean("What does the girl do in the middle?"), Some((100.0, 25.0)));
    assert_eq!([lean("What does the girl in the middle do?"), lean("What does the girl do?")], [None; 2]);
    assert_eq!(plan("Who stands in the middle?", &camera()).lean, None, "a camera has no middle");
}

#[test]
fn an_edge_has_a_least_and_a_greatest_length() {
    let length = |last: f64| {
        let window = plan("the beginning", &Extent { last: t(last), ..file() }).window.expect("a window");
        window.to().seconds()
    };
    assert_eq!([length(0.0), length(20.0), length(1000.0), length(1e6)], [10.0, 10.0, 200.0, 300.0]);
}

#[test]
fn an_event_that_was_found_restricts_the_window() {
    let window = |from, to| Window::new(t(from), t(to)).expect("ordered");
    let all = StreamTime::MAX.seconds();
    let table = [
        ("what happens after it rings", (0.0, all), Some((50.0, all))),
        ("what happens before it rings", (0.0, all), Some((0.0, 50.0))),
        ("what happens while it rings", (0.0, all), Some((40.0, 60.0))),
        ("what happens 20 s after it rings", (0.0, all), Some((65.0, 75.0))),
        ("what happens 20 s before it rings", (0.0, all), Some((25.0, 35.0))),
        ("what happens after it rings", (0.0, 60.0), Some((50.0, 60.0))),
        ("what happens after it rings", (0.0, 40.0), None),
    ];
    for (question, (from, to), due) in table {
        let event = read(question).event.expect("an event");
        let found = beyond(window(from, to), &event, t(50.0), Duration::from_secs(5));
        assert_eq!(found, due.map(|(from, to)| window(from, to)), "{question:?} within {from} to {to}");
    }
}

#[test]
fn summer_time_ends_within_a_day() {
    let mut extent = camera();
    extent.epoch = wall("2026-10-24T22:00:00Z");
    extent.asked = wall("2026-10-26T11:00:00Z");
    extent.last = t(extent.asked.saturating_since(extent.epoch).as_secs_f64());
    let window = plan("What happened yesterday?", &extent).window.expect("a window");
    assert_eq!(window.to().seconds() - window.from().seconds(), 25.0 * 3600.0);
}

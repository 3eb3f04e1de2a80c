//! A survey in one or two plain sentences. Pure.
//!
//! What is told is what was counted: captions and samples, never the world.

use super::wording::agreed;
use crate::domain::{Bounds, Conclusion, Coverage, Doubt, Stretch, Survey, Wants};

/// What a survey found, for a reader. `grounded`: whether a frame confirmed that the thing was there.
pub(in crate::answer) fn sentence(survey: &Survey, grounded: bool) -> String {
    match (survey.conclusion, survey.doubt) {
        (Conclusion::NotSeen, _) => {
            let seen = seen(&survey.coverage);
            let was = agreed(&survey.subject, "was", "were");
            format!("No {} {was} seen in {seen}.", bare(&survey.subject))
        }
        (Conclusion::Undecided, doubt) => undecided(survey, doubt),
        (Conclusion::Seen, _) => {
            let unproven = if grounded { "" } else { " No frame that was looked at again confirmed it." };
            format!("{}{unproven}", counted(survey))
        }
    }
}

/// "any of the 160 samples (100 % of the window)", "158 of 160 samples (99 % of the window); 2 are missing".
fn seen(coverage: &Coverage) -> String {
    let Coverage { due, seen, unobservable, missing, .. } = *coverage;
    if seen == due {
        return format!("any of the {} that the window holds", samples(due));
    }
    let mut parts = vec![format!("{seen} of {} ({} of the window)", samples(due), percent(coverage.share()))];
    if missing > 0 {
        parts.push(format!("{missing} {} missing", if missing == 1 { "is" } else { "are" }));
    }
    if unobservable > 0 {
        parts.push(format!("{unobservable} showed nothing"));
    }
    parts.join("; ")
}

fn undecided(survey: &Survey, doubt: Option<Doubt>) -> String {
    let (subject, coverage) = (&survey.subject, &survey.coverage);
    let why = match doubt {
        Some(Doubt::Vocabulary) => "the captioner never names such a thing, whatever it sees".to_owned(),
        Some(Doubt::Unclear) => {
            format!("the captions of {} of {} leave it open", survey.unclear, samples(coverage.due))
        }
        _ if coverage.due == 0 => "no sample was due in the time asked about".to_owned(),
        _ => format!(
            "only {} of {} {} seen ({} of the window), and none of them shows one",
            coverage.seen,
            samples(coverage.due),
            if coverage.due == 1 { "was" } else { "were" },
            percent(coverage.share())
        ),
    };
    format!("Whether there {} {subject} cannot be concluded: {why}.", agreed(subject, "was", "were"))
}

/// "By the captions, a car was there in 12 of 16 samples, …".
fn counted(survey: &Survey) -> String {
    let Survey { subject, wants, coverage, shown, times, seconds, .. } = survey;
    let of = format!("in {shown} of {}", samples(coverage.due));
    let was = agreed(subject, "was", "were");
    match wants {
        Wants::Times => {
            let least = if coverage.seen < coverage.due { "at least " } else { "" };
            format!("By the captions, {subject} {was} there {least}{} ({of}).", number(*times, "time"))
        }
        Wants::Duration => format!("By the captions, {subject} {was} there for {} ({of}).", number(*seconds, "second")),
        Wants::Presence | Wants::Emptiness | Wants::When => {
            let (first, last) = (survey.stretches.first(), survey.stretches.last());
            let when = match (first, last) {
                (Some(first), Some(last)) if survey.times.most <= survey.stretches.len() as f64 => between(first, last),
                (Some(first), _) => format!(", first at {}", first.from),
                _ => String::new(),
            };
            format!("By the captions, {subject} {was} there {of}{when}.")
        }
    }
}

fn between(first: &Stretch, last: &Stretch) -> String {
    if first.stream != last.stream {
        return format!(", first in {} at {}", first.stream, first.from);
    }
    if first.from == last.to { format!(", at {}", first.from) } else { format!(", from {} to {}", first.from, last.to) }
}

fn number(Bounds { least, most }: Bounds, unit: &str) -> String {
    let plural = if most == 1.0 { "" } else { "s" };
    if least == most { format!("{most} {unit}{plural}") } else { format!("{least} to {most} {unit}{plural}") }
}

fn samples(count: u64) -> String {
    format!("{count} sample{}", if count == 1 { "" } else { "s" })
}

/// Rounded, but only the whole is 100 %.
fn percent(share: f64) -> String {
    let most = if share < 1.0 { 99.0 } else { 100.0 };
    format!("{} %", (share * 100.0).round().min(most))
}

/// "a red car or an owl" as "red car or owl".
fn bare(subject: &str) -> String {
    let bare = |thing: &str| thing.strip_prefix("a ").or_else(|| thing.strip_prefix("an ")).unwrap_or(thing).to_owned();
    subject.split(" or ").map(bare).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{StreamId, StreamTime};

    fn survey(wants: Wants, conclusion: Conclusion, doubt: Option<Doubt>, (due, seen): (u64, u64)) -> Survey {
        let coverage = Coverage { due, seen, missing: due - seen, ..Coverage::default() };
        let t = |seconds: f64| StreamTime::from_seconds(seconds).expect("a time");
        let stream = StreamId::new("cam").expect("a token");
        Survey {
            subject: "a dog".into(),
            wants,
            conclusion,
            doubt,
            coverage,
            floor: 0.9,
            shown: if conclusion == Conclusion::Seen { 12 } else { 0 },
            unclear: u64::from(doubt == Some(Doubt::Unclear)),
            stretches: vec![Stretch { stream, from: t(15.0), to: t(70.0) }],
            times: Bounds { least: 1.0, most: 2.0 },
            seconds: Bounds { least: 55.0, most: 65.0 },
        }
    }

    #[test]
    fn what_was_counted_is_told_plainly() {
        use Conclusion::{NotSeen, Seen, Undecided};
        use Wants::{Duration, Presence, Times};
        let table = [
            (
                survey(Presence, NotSeen, None, (160, 160)),
                "No dog was seen in any of the 160 samples that the window holds.",
            ),
            (
                survey(Presence, NotSeen, None, (160, 158)),
                "No dog was seen in 158 of 160 samples (99 % of the window); 2 are missing.",
            ),
            (
                survey(Presence, Undecided, Some(Doubt::Coverage), (160, 40)),
                "Whether there was a dog cannot be concluded: only 40 of 160 samples were seen (25 % of the window), and none of them shows one.",
            ),
            (
                survey(Presence, Undecided, Some(Doubt::Vocabulary), (160, 160)),
                "Whether there was a dog cannot be concluded: the captioner never names such a thing, whatever it sees.",
            ),
            (
                survey(Presence, Undecided, Some(Doubt::Unclear), (160, 160)),
                "Whether there was a dog cannot be concluded: the captions of 1 of 160 samples leave it open.",
            ),
            (
                survey(Times, Seen, None, (160, 160)),
                "By the captions, a dog was there 1 to 2 times (in 12 of 160 samples).",
            ),
            (
                survey(Times, Seen, None, (160, 150)),
                "By the captions, a dog was there at least 1 to 2 times (in 12 of 160 samples).",
            ),
            (
                survey(Duration, Seen, None, (160, 160)),
                "By the captions, a dog was there for 55 to 65 seconds (in 12 of 160 samples).",
            ),
        ];
        for (survey, due) in table {
            assert_eq!(sentence(&survey, true), due);
        }
        let of = |subject: &str, survey| Survey { subject: subject.into(), ..survey };
        let table = [
            (
                of("eight people", survey(Presence, Seen, None, (160, 160))),
                "By the captions, eight people were there in 12 of 160 samples, from 15.000 s to 70.000 s.",
            ),
            (
                of("eight people", survey(Presence, NotSeen, None, (160, 160))),
                "No eight people were seen in any of the 160 samples that the window holds.",
            ),
            (
                of("a cat or an owl", survey(Presence, NotSeen, None, (160, 160))),
                "No cat or owl was seen in any of the 160 samples that the window holds.",
            ),
            (
                of("two dogs", survey(Presence, Undecided, Some(Doubt::Coverage), (1, 0))),
                "Whether there were two dogs cannot be concluded: only 0 of 1 sample was seen (0 % of the window), and none of them shows one.",
            ),
        ];
        for (mut survey, due) in table {
            survey.times = Bounds { least: 1.0, most: 1.0 };
            assert_eq!(sentence(&survey, true), due);
        }
        let once = Survey { times: Bounds { least: 1.0, most: 1.0 }, ..survey(Presence, Seen, None, (160, 160)) };
        assert_eq!(
            sentence(&once, false),
            "By the captions, a dog was there in 12 of 160 samples, from 15.000 s to 70.000 s. No frame that was looked at again confirmed it."
        );
    }
}

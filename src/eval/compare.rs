//! The designs beside each other, a column each: the paper's ablation as one table. Pure.

use super::record::{Group, Run};
use super::table::share;
use super::tally::Summary;

/// Nothing if only one design ran.
pub(super) fn table(run: &Run) -> String {
    if run.designs.len() < 2 {
        return String::new();
    }
    let of = |design| run.summaries(design).into_iter().find(|(group, _)| *group == Group::All);
    let all: Vec<Option<Summary>> = run.designs.iter().map(|design| of(*design).map(|(_, all)| all)).collect();
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let row = |name: &str, cell: &dyn Fn(&Summary) -> String| {
        let cells: Vec<String> = all.iter().map(|it| it.as_ref().map_or_else(|| "–".to_owned(), cell)).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let names: Vec<String> = run.designs.iter().map(|design| format!("`{}`", design.as_str())).collect();
    [
        "## Designs\n\n".to_owned(),
        format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len())),
        row("fabricated and caught", &|it| share(it.all.caught)),
        row("true and flagged", &|it| share(it.all.flagged)),
        row("balanced accuracy", &|it| number(it.balanced_accuracy)),
        row("AUROC", &|it| number(it.auroc)),
        "\n".to_owned(),
    ]
    .concat()
}

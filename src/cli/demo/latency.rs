//! From the text of /metrics to a latency table. Pure.

use std::collections::BTreeMap;

use crate::telemetry::Stage;

/// The histogram the table is made of.
const FAMILY: &str = "gvqa_stage_duration_seconds";

/// One stage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) stage: String,
    pub(super) count: u64,
    /// In seconds, as the two below; interpolated within its bucket, as Prometheus does.
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) mean: f64,
}

#[derive(Debug, Default)]
struct Histogram {
    /// Upper bound and how many were at most that, in order.
    buckets: Vec<(f64, f64)>,
    sum: f64,
    count: f64,
}

/// A row for each stage that ran, in the order of the flow.
pub(super) fn table(metrics: &str) -> Vec<Row> {
    let mut histograms: BTreeMap<&str, Histogram> = BTreeMap::new();
    for line in metrics.lines() {
        if let Some((stage, entry)) = parse(line) {
            let histogram = histograms.entry(stage).or_default();
            match entry {
                Entry::Bucket(bound, count) => histogram.buckets.push((bound, count)),
                Entry::Sum(sum) => histogram.sum = sum,
                Entry::Count(count) => histogram.count = count,
            }
        }
    }
    let row = |stage: Stage| {
        let histogram = histograms.get(stage.as_str()).filter(|histogram| histogram.count > 0.0)?;
        Some(Row {
            stage: stage.as_str().to_owned(),
            count: histogram.count as u64,
            p50: quantile(&histogram.buckets, 0.5),
            p95: quantile(&histogram.buckets, 0.95),
            mean: histogram.sum / histogram.count,
        })
    };
    Stage::ALL.into_iter().filter_map(row).collect()
}

enum Entry {
    Bucket(f64, f64),
    Sum(f64),
    Count(f64),
}

fn parse(line: &str) -> Option<(&str, Entry)> {
    let rest = line.strip_prefix(FAMILY)?;
    let (kind, rest) = rest.split_once('{')?;
    let (labels, value) = rest.rsplit_once('}')?;
    let value: f64 = value.trim().parse().ok()?;
    let label =
        |name: &str| labels.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"'));
    let entry = match kind {
        "_bucket" => Entry::Bucket(label("le")?.replace("+Inf", "inf").parse().ok()?, value),
        "_sum" => Entry::Sum(value),
        "_count" => Entry::Count(value),
        _ => return None,
    };
    Some((label("stage")?, entry))
}

/// As `histogram_quantile` of Prometheus: linear within the bucket; the last finite bound if it lies beyond.
fn quantile(buckets: &[(f64, f64)], q: f64) -> f64 {
    let total = buckets.last().map_or(0.0, |(_, count)| *count);
    let rank = q * total;
    let (mut from, mut below) = (0.0, 0.0);
    for (bound, count) in buckets {
        if *count >= rank {
            let width = bound - from;
            return if bound.is_finite() && *count > below {
                from + width * (rank - below) / (count - below)
            } else {
                from
            };
        }
        (from, below) = (*bound, *count);
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# HELP gvqa_stage_duration_seconds Duration of one run of a stage, in seconds.
gvqa_stage_duration_seconds_bucket{stage="judge",le="0.1"} 0
gvqa_stage_duration_seconds_bucket{stage="judge",le="0.25"} 5
gvqa_stage_duration_seconds_bucket{stage="judge",le="0.5"} 10
gvqa_stage_duration_seconds_bucket{stage="judge",le="+Inf"} 10
gvqa_stage_duration_seconds_sum{stage="judge"} 2.5
gvqa_stage_duration_seconds_count{stage="judge"} 10
gvqa_stage_duration_seconds_bucket{stage="caption",le="60"} 0
gvqa_stage_duration_seconds_bucket{stage="caption",le="+Inf"} 2
gvqa_stage_duration_seconds_sum{stage="caption"} 200
gvqa_stage_duration_seconds_count{stage="caption"} 2
gvqa_stage_duration_seconds_bucket{stage="draft",le="+Inf"} 0
gvqa_stage_duration_seconds_sum{stage="draft"} 0
gvqa_stage_duration_seconds_count{stage="draft"} 0
gvqa_stage_duration_seconds_count{stage="unheard"} 3
gvqa_questions_total{outcome="answered"} 3
"#;

    #[test]
    fn quantiles_are_interpolated_and_idle_stages_left_out() {
        let rows = table(TEXT);
        let caption = Row { stage: "caption".into(), count: 2, p50: 60.0, p95: 60.0, mean: 100.0 };
        assert_eq!(rows[0], caption, "beyond the last bound");
        assert_eq!((rows[1].stage.as_str(), rows[1].count, rows[1].mean), ("judge", 10, 0.25));
        assert!((rows[1].p50 - 0.25).abs() < 1e-9, "{}", rows[1].p50);
        assert!((rows[1].p95 - 0.475).abs() < 1e-9, "{}", rows[1].p95);
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn an_empty_page_is_an_empty_table() {
        assert_eq!(table(""), []);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}

//! Shares with their intervals, and what a score is worth at every threshold. Pure.

use serde::Serialize;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_985;

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// How many have the property.
    pub hits: usize,
    /// Of how many.
    pub of: usize,
}

/// A share as it is written down.
#[derive(Serialize)]
struct Written {
    hits: usize,
    of: usize,
    share: Option<f64>,
    /// Wilson score interval.
    interval95: Option<[f64; 2]>,
}

impl Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let round = |value: f64| (value * 1e4).round() / 1e4;
        let Self { hits, of } = *self;
        let interval95 = self.interval().map(|(low, high)| [round(low), round(high)]);
        Written { hits, of, share: self.value().map(round), interval95 }.serialize(serializer)
    }
}

impl Share {
    /// Counts the values that are true.
    pub fn count(values: impl IntoIterator<Item = bool>) -> Self {
        values.into_iter().fold(Self::default(), Share::with)
    }

    /// One more, with or without the property.
    #[must_use]
    pub fn with(self, hit: bool) -> Self {
        Self { hits: self.hits + usize::from(hit), of: self.of + 1 }
    }

    /// Between 0 and 1; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// The 95 % Wilson score interval (Wilson 1927, without continuity correction); `None` of nothing.
    pub fn interval(self) -> Option<(f64, f64)> {
        let (p, n) = (self.value()?, self.of as f64);
        let centre = p + Z * Z / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let whole = 1.0 + Z * Z / n;
        Some((((centre - half) / whole).max(0.0), ((centre + half) / whole).min(1.0)))
    }
}

/// Precision and recall of "grounded" at one threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Scores from here on count as grounded.
    pub threshold: f32,
    /// Of the grounded claims, the part that is true.
    pub precision: f64,
    /// Of the true claims, the part that is grounded.
    pub recall: f64,
}

/// One point for every score that occurs, from the highest down. `scored`: score and truth. NaN counts as lowest.
pub fn curve(scored: &[(f32, bool)]) -> Vec<Point> {
    let mut ranked = ranked(scored);
    ranked.reverse();
    let truths = ranked.iter().filter(|(_, truth)| *truth).count();
    if truths == 0 {
        return Vec::new();
    }
    let (mut hits, mut taken, mut points) = (0, 0, Vec::new());
    for group in ranked.chunk_by(|a, b| a.0 == b.0) {
        hits += group.iter().filter(|(_, truth)| *truth).count();
        taken += group.len();
        let (precision, recall) = (hits as f64 / taken as f64, hits as f64 / truths as f64);
        points.push(Point { threshold: group[0].0, precision, recall });
    }
    points
}

/// Area under the receiver operating characteristic: the chance that a true claim scores above a false one, ties
/// counting half (Mann-Whitney). `None` unless there are both.
pub fn auroc(scored: &[(f32, bool)]) -> Option<f64> {
    let ranked = ranked(scored);
    let truths = ranked.iter().filter(|(_, truth)| *truth).count();
    let lies = ranked.len() - truths;
    let (mut below, mut wins) = (0, 0.0);
    for group in ranked.chunk_by(|a, b| a.0 == b.0) {
        let true_here = group.iter().filter(|(_, truth)| *truth).count();
        let false_here = group.len() - true_here;
        wins += true_here as f64 * (below as f64 + 0.5 * false_here as f64);
        below += false_here;
    }
    (truths > 0 && lies > 0).then(|| wins / (truths as f64 * lies as f64))
}

/// From the lowest score up.
fn ranked(scored: &[(f32, bool)]) -> Vec<(f32, bool)> {
    let number = |score: f32| if score.is_nan() { f32::NEG_INFINITY } else { score };
    let mut ranked: Vec<_> = scored.iter().map(|(score, truth)| (number(*score), *truth)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked
}

/// The value below which the part `q` (0 to 1) of the values lies, by the nearest rank; `None` of nothing.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (q.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn intervals_are_those_of_wilson() {
        // Newcombe 1998, table I, method 3.
        let table =
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)];
        for (hits, of, low, high) in table {
            let (l, h) = Share { hits, of }.interval().expect("of something");
            assert!(near(l, low) && near(h, high), "{hits} of {of}: {l} {h}");
        }
        assert_eq!(Share { hits: 20, of: 20 }.interval().expect("of something").1, 1.0);
        assert_eq!((Share::default().value(), Share::default().interval()), (None, None));
        let json = serde_json::to_value(Share::count([true, false])).expect("serialises");
        assert_eq!(json, serde_json::json!({"hits": 1, "of": 2, "share": 0.5, "interval95": [0.0945, 0.9055]}));
    }

    #[test]
    fn the_area_is_a_chance() {
        let table: [(&[(f32, bool)], Option<f64>); 6] = [
            (&[(0.9, true), (0.1, false)], Some(1.0)),
            (&[(0.1, true), (0.9, false)], Some(0.0)),
            (&[(0.5, true), (0.5, false)], Some(0.5)),
            (&[(0.9, true), (0.4, true), (0.6, false), (0.1, false)], Some(0.75)),
            (&[(f32::NAN, false), (0.0, true)], Some(1.0)),
            (&[(0.9, true)], None),
        ];
        for (scored, due) in table {
            assert_eq!(auroc(scored), due, "{scored:?}");
        }
    }

    #[test]
    fn the_curve_goes_from_sure_to_all() {
        let points = curve(&[(0.9, true), (0.8, false), (0.7, true), (0.7, false)]);
        let point = |threshold, precision, recall| Point { threshold, precision, recall };
        assert_eq!(points, [point(0.9, 1.0, 0.5), point(0.8, 0.5, 0.5), point(0.7, 0.5, 1.0)]);
        assert_eq!(curve(&[(0.9, false)]), []);
    }

    #[test]
    fn quantiles_are_values_that_occur() {
        let values = [4.0, 1.0, 3.0, 2.0];
        let table = [(0.0, Some(1.0)), (0.25, Some(1.0)), (0.5, Some(2.0)), (0.95, Some(4.0)), (1.0, Some(4.0))];
        for (q, due) in table {
            assert_eq!(quantile(&values, q), due, "{q}");
        }
        assert_eq!(quantile(&[], 0.5), None);
    }
}

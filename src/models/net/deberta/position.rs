//! Distances between tokens to rows of the table of relative positions. Pure.

/// How distances share rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Buckets {
    /// Rows to each side of zero.
    span: usize,
    /// Distance at which the logarithm ends, if far distances share rows.
    furthest: Option<usize>,
}

impl Buckets {
    /// Distances up to half of `span` have a row each; larger ones share, in steps that grow with the logarithm.
    pub(super) fn logarithmic(span: usize, furthest: usize) -> Self {
        Self { span, furthest: Some(furthest) }
    }

    /// Every distance below `span` has a row of its own; all larger ones share the last.
    pub(super) fn exact(span: usize) -> Self {
        Self { span, furthest: None }
    }

    /// Rows of the table.
    pub(super) fn rows(self) -> usize {
        2 * self.span
    }

    /// Row for a distance (query index minus key index): `make_log_bucket_position` of the original, clamped as there.
    pub(super) fn row(self, distance: isize) -> usize {
        let magnitude = distance.unsigned_abs();
        let bucket = match self.furthest {
            Some(furthest) if magnitude > self.span / 2 => logarithm(magnitude, self.span / 2, furthest),
            _ => magnitude,
        };
        let last = self.rows() as isize - 1;
        (self.span as isize + distance.signum() * bucket.min(self.rows()) as isize).clamp(0, last) as usize
    }
}

fn logarithm(magnitude: usize, exact: usize, furthest: usize) -> usize {
    let growth = (magnitude as f32 / exact as f32).ln() / ((furthest - 1) as f32 / exact as f32).ln();
    (growth * (exact - 1) as f32).ceil() as usize + exact
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_share_vectors_only_far_away() {
        let published = Buckets::logarithmic(256, 512);
        // From transformers' make_log_bucket_position(distance, 256, 512) + 256.
        for (distance, row) in [(0, 256), (1, 257), (-1, 255), (127, 383), (128, 384), (-128, 128), (129, 385)] {
            assert_eq!(published.row(distance), row, "{distance}");
        }
        let far: Vec<usize> = (130..160).map(|distance| published.row(distance)).collect();
        assert!(far.is_sorted() && far.windows(2).any(|pair| pair[0] == pair[1]), "{far:?}");
        assert_eq!(published.row(511), 511);
        assert_eq!(published.row(-100_000), 0);
    }

    #[test]
    fn without_a_logarithm_distances_are_cut_off() {
        let rows: Vec<usize> = (-5..=5).map(|distance| Buckets::exact(3).row(distance)).collect();
        assert_eq!(rows, [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5]);
    }
}

//! Precision and recall over the threshold, as inline SVG. Pure.

use std::fmt::Write as _;

use super::stats::Point;

/// Width and height of the plot's inside, and the room around it for labels.
const SIZE: (f64, f64) = (420.0, 220.0);
const ROOM: f64 = 34.0;

/// One picture without anything beside it. `points` as [`super::stats::curve`] gives them; `in_force`: the threshold
/// that the verdicts were made with. Colours are those of the page around it.
pub fn precision_recall(points: &[Point], in_force: Option<f32>) -> String {
    let (width, height) = (SIZE.0 + 2.0 * ROOM, SIZE.1 + 2.0 * ROOM);
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"precision and recall over the threshold\">\n"
    );
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        let (x, y) = at(share, share);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{share}</text>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{share}</text>",
            at(0.0, share).0,
            at(1.0, share).0,
            ROOM - 6.0,
            y + 4.0,
            SIZE.1 + ROOM + 16.0
        );
    }
    if let Some(threshold) = in_force {
        let (x, bottom) = at(f64::from(threshold), 0.0);
        let _ = writeln!(out, "<path class=\"force\" d=\"M{x:.1} {bottom:.1}V{ROOM:.1}\"/>");
    }
    for (class, of) in [("precision", (|point| point.precision) as fn(&Point) -> f64), ("recall", |point| point.recall)]
    {
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{}\"/>", steps(points, of));
    }
    let _ = writeln!(
        out,
        "<text class=\"precision\" x=\"{:.1}\" y=\"20\">precision</text><text class=\"recall\" x=\"{:.1}\" y=\"20\">recall</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">threshold</text>\n</svg>",
        ROOM,
        ROOM + 80.0,
        ROOM + SIZE.0 / 2.0,
        height - 2.0
    );
    out
}

/// A value holds from its own threshold down to just above the next one.
fn steps(points: &[Point], of: fn(&Point) -> f64) -> String {
    let mut path = String::new();
    for point in points {
        let (x, y) = at(f64::from(point.threshold).clamp(0.0, 1.0), of(point));
        let _ = if path.is_empty() { write!(path, "M{x:.1} {y:.1}") } else { write!(path, "H{x:.1}V{y:.1}") };
    }
    if !path.is_empty() {
        let _ = write!(path, "H{:.1}", at(0.0, 0.0).0);
    }
    path
}

fn at(x: f64, y: f64) -> (f64, f64) {
    (ROOM + x * SIZE.0, ROOM + (1.0 - y) * SIZE.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_go_through_the_points() {
        let point = |threshold, precision, recall| Point { threshold, precision, recall };
        let svg = precision_recall(&[point(1.0, 1.0, 0.5), point(0.5, 0.5, 1.0)], Some(0.5));
        assert!(svg.contains("class=\"precision\" d=\"M454.0 34.0H244.0V144.0H34.0\""), "{svg}");
        assert!(svg.contains("class=\"recall\" d=\"M454.0 144.0H244.0V34.0H34.0\""), "{svg}");
        assert!(svg.contains("class=\"force\" d=\"M244.0 254.0V34.0\""), "{svg}");
        assert!(!precision_recall(&[], None).contains("NaN"));
    }
}

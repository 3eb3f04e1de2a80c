//! Where a token stands: time, height and width, as the rotary embedding counts them. Pure.
//!
//! Text advances all three together. The tokens of a picture share one time and spread over height and width; what
//! follows a picture stands behind the longer of its sides, not behind the number of its tokens (Qwen2-VL,
//! arXiv 2409.12191, section 2.1).

/// Time, height, width.
pub(in crate::models) type Position = [u32; 3];

/// Tokens of one picture, as rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::models) struct Grid {
    /// Rows of tokens.
    pub(in crate::models) rows: usize,
    /// Columns of tokens.
    pub(in crate::models) columns: usize,
}

impl Grid {
    /// How many tokens.
    pub(in crate::models) fn tokens(self) -> usize {
        self.rows * self.columns
    }
}

/// Positions of `ids`, in which each run of `image` tokens is the next of `grids`, counted from `from`; and the position
/// after the last.
pub(in crate::models) fn with_images(ids: &[u32], image: u32, grids: &[Grid], from: u32) -> (Vec<Position>, u32) {
    let (mut next, mut out, mut grids) = (from, Vec::with_capacity(ids.len()), grids.iter());
    while out.len() < ids.len() {
        let grid = if ids[out.len()] == image { grids.next() } else { None };
        if let Some(grid) = grid {
            let (rows, columns) = (grid.rows as u32, grid.columns as u32);
            out.extend((0..rows).flat_map(|row| (0..columns).map(move |column| [next, next + row, next + column])));
            next += rows.max(columns);
        } else {
            out.push([next; 3]);
            next += 1;
        }
    }
    out.truncate(ids.len());
    (out, next)
}

/// `count` positions from `from` on that differ in nothing but their number.
#[cfg(test)]
pub(in crate::models) fn one_dimensional(from: u32, count: usize) -> Vec<Position> {
    (from..from + count as u32).map(|at| [at; 3]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_advances_by_its_longer_side() {
        let grid = Grid { rows: 2, columns: 3 };
        let (positions, next) = with_images(&[1, 9, 9, 9, 9, 9, 9, 2, 3], 9, &[grid], 0);
        let picture = [[1, 1, 1], [1, 1, 2], [1, 1, 3], [1, 2, 1], [1, 2, 2], [1, 2, 3]];
        assert_eq!(positions[0], [0; 3]);
        assert_eq!(positions[1..7], picture);
        assert_eq!(positions[7..], [[4; 3], [5; 3]]);
        assert_eq!(next, 6);
    }

    #[test]
    fn text_alone_counts_in_one_dimension() {
        assert_eq!(with_images(&[1, 2, 3], 9, &[], 7), (one_dimensional(7, 3), 10));
    }

    #[test]
    fn an_image_token_without_a_picture_is_text() {
        assert_eq!(with_images(&[9, 9], 9, &[], 0), (vec![[0; 3], [1; 3]], 2));
    }
}

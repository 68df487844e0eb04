//! Tables for people, with the goals beside the figures.

/// What a figure should be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(limit) => figure >= limit,
            Self::AtMost(limit) => figure <= limit,
        }
    }
}

/// A ratio, with its goal and whether it is met.
pub(crate) fn render_ratio(figure: f64, goal: Option<Goal>) -> String {
    match goal {
        None => format!("{figure:.2}x"),
        Some(goal) => format!("{figure:.2}x ({})", render_verdict(figure, goal, 2)),
    }
}

/// `goal ≥ 5, pass`
pub(crate) fn render_verdict(figure: f64, goal: Goal, digits: usize) -> String {
    let word = if goal.is_met(figure) { "pass" } else { "short" };
    match goal {
        Goal::AtLeast(limit) => format!("goal ≥ {limit:.digits$}, {word}"),
        Goal::AtMost(limit) => format!("goal ≤ {limit:.digits$}, {word}"),
    }
}

/// A count with its thousands apart: `24,000`.
pub(crate) fn render_count(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Columns as wide as their widest cell, the first to the left and the others to the right.
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.map(str::to_owned)] }
    }

    pub(crate) fn add_row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    pub(crate) fn print(&self, title: &str) {
        println!("\n{title}");
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        for row in &self.rows {
            let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            println!("  {}", cells.collect::<Vec<_>>().join("   ").trim_end());
        }
    }
}

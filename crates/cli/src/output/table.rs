//! Aligned columns, measured as a terminal shows them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::styling::TextStyler;

/// How a cell is dressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputCellStyle {
    #[default]
    Plain,
    Good,
    Doubtful,
    Bad,
    Dim,
}

#[derive(Clone, Debug)]
pub(crate) struct OutputTableCell {
    text: String,
    tone: OutputCellStyle,
}

impl OutputTableCell {
    pub(crate) fn new(text: impl Into<String>, tone: OutputCellStyle) -> Self {
        Self { text: sanitize_line(&text.into()), tone }
    }

    /// At most this many columns; a longer text ends with an ellipsis.
    pub(crate) fn truncated(text: &str, columns: usize, tone: OutputCellStyle) -> Self {
        let mut cell = Self::new(text, tone);
        cell.text = truncate(&cell.text, columns);
        cell
    }

    fn render(&self, painter: TextStyler) -> String {
        match self.tone {
            OutputCellStyle::Plain => self.text.clone(),
            OutputCellStyle::Good => painter.good(&self.text),
            OutputCellStyle::Doubtful => painter.doubtful(&self.text),
            OutputCellStyle::Bad => painter.bad(&self.text),
            OutputCellStyle::Dim => painter.dim(&self.text),
        }
    }
}

impl From<&str> for OutputTableCell {
    fn from(text: &str) -> Self {
        Self::new(text, OutputCellStyle::Plain)
    }
}

impl From<String> for OutputTableCell {
    fn from(text: String) -> Self {
        Self::new(text, OutputCellStyle::Plain)
    }
}

/// Rows under headings; two spaces between columns, none at a line's end.
pub(crate) struct OutputTable {
    rows: Vec<Vec<OutputTableCell>>,
}

impl OutputTable {
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![
                headings.iter().map(|heading| OutputTableCell::new(*heading, OutputCellStyle::Dim)).collect(),
            ],
        }
    }

    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = OutputTableCell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn render(&self, painter: TextStyler) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width_of = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.text.width())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        self.rows.iter().map(|row| line(row, &widths, painter)).collect()
    }
}

fn line(row: &[OutputTableCell], widths: &[usize], painter: TextStyler) -> String {
    let mut line = String::new();
    let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
    for (at, (cell, width)) in row.iter().zip(widths).enumerate().take(last + 1) {
        line.push_str(&cell.render(painter));
        if at < last {
            line.push_str(&" ".repeat(width.saturating_sub(cell.text.width()) + 2));
        }
    }
    line.push('\n');
    line
}

/// A text from outside must not break a row or drive the terminal.
pub(crate) fn sanitize_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn truncate(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 1);
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used > columns {
            break;
        }
        kept.push(letter);
    }
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_in_every_script() {
        let mut table = OutputTable::new(&["NAME", "STATUS", "NOTE"]);
        table.add_row([
            "a".into(),
            OutputTableCell::new("active", OutputCellStyle::Good),
            "शर्मा किराना".into(),
        ]);
        table.add_row(["漢字の店".into(), "paused".into(), "".into()]);
        let text = table.render(TextStyler::Plain);
        assert_eq!(text, "NAME      STATUS  NOTE\na         active  शर्मा किराना\n漢字の店  paused\n");
        assert!(table.render(TextStyler::Colour).contains("\x1b[32mactive\x1b[0m"));
    }

    #[test]
    fn a_text_from_outside_stays_in_its_cell() {
        let cell = OutputTableCell::new("two\nlines\x1b[2J", OutputCellStyle::Plain);
        assert_eq!(cell.text, "two lines [2J");
        assert_eq!(OutputTableCell::truncated("漢字の店です", 7, OutputCellStyle::Plain).text, "漢字の…");
        assert_eq!(OutputTableCell::truncated("short", 7, OutputCellStyle::Plain).text, "short");
    }
}

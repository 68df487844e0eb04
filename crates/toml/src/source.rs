//! A text read past its syntax errors, so that everything wrong is found at once.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::position::{TextPosition, locate};

/// Where the TOML of a text stands, and which of its lines can't be judged.
#[derive(Debug)]
pub struct TomlSource<'a> {
    text: &'a str,
    /// Where the TOML begins in the text.
    start: usize,
    /// Lines with a syntax error. The parser goes on with its best guess at what they say; that guess is not judged, so
    /// that one slip is one problem.
    broken: BTreeSet<usize>,
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    pub position: TextPosition,
    pub what: String,
    pub hint: Option<String>,
}

impl<'a> TomlSource<'a> {
    /// Reads the part of `text` in `range`, which is all of a TOML file or the front matter of another. Of each broken
    /// line the first problem is told.
    pub fn parse(text: &'a str, range: Range<usize>) -> (Self, Spanned<DeTable<'a>>, Vec<SyntaxProblem>) {
        let start = range.start;
        let (table, errors) = DeTable::parse_recoverable(&text[range]);
        let mut source = Self { text, start, broken: BTreeSet::new() };
        let problems = errors.iter().filter_map(|error| source.note_error(error)).collect();
        (source, table, problems)
    }

    /// The position of a byte of the TOML, as spans count them.
    pub fn locate(&self, at: usize) -> TextPosition {
        locate(self.text, self.start + at)
    }

    /// Whether the line has a syntax error.
    pub fn is_broken(&self, line: usize) -> bool {
        self.broken.contains(&line)
    }

    fn note_error(&mut self, error: &toml::de::Error) -> Option<SyntaxProblem> {
        let position = self.locate(error.span().map_or(0, |span| span.start));
        let (what, hint) = match error.message() {
            "duplicate key" => ("duplicate key or section", Some("remove one of the two")),
            message => (message.trim_end_matches(", expected nothing"), None),
        };
        let problem = SyntaxProblem { position, what: what.to_owned(), hint: hint.map(str::to_owned) };
        self.broken.insert(position.line).then_some(problem)
    }
}

/// The bytes of a file as text.
pub fn decode_utf8(bytes: &[u8]) -> Result<&str, SyntaxProblem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        SyntaxProblem {
            position: locate(&good, good.len()),
            what: "the file is not valid UTF-8 from here on".to_owned(),
            hint: Some("save it as UTF-8".to_owned()),
        }
    })
}

/// What kind of value it is, as it ends the sentence "this is …".
pub fn describe_value(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a decimal point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_one_problem() {
        let text = "+++\na = \nb = 1\nb = 2\n+++\n";
        let (source, table, problems) = TomlSource::parse(text, 4..text.len() - 4);
        assert_eq!(problems.iter().map(|problem| problem.position.line).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(problems[1].what, "duplicate key or section");
        assert!(source.is_broken(2) && !source.is_broken(3));
        let spans = table.get_ref().iter().map(|(key, _)| source.locate(key.span().start).line);
        assert!(spans.into_iter().any(|line| line == 3));
    }

    #[test]
    fn bytes_that_are_no_text_are_located() {
        let slip = decode_utf8(b"a\nb\xff").unwrap_err();
        assert_eq!(slip.position, TextPosition { line: 2, column: 2 });
    }
}

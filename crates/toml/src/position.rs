//! Where something stands in a text.

/// Counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    pub const START: Self = Self { line: 1, column: 1 };
}

/// The position of a byte.
pub fn locate(text: &str, at: usize) -> TextPosition {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    TextPosition { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let text = "नाम = 1\nx = \"é\"y";
        assert_eq!(locate(text, 0), TextPosition::START);
        assert_eq!(locate(text, "नाम".len()), TextPosition { line: 1, column: 4 });
        assert_eq!(locate(text, text.len() - 1), TextPosition { line: 2, column: 8 });
        assert_eq!(locate(text, 10_000), TextPosition { line: 2, column: 9 }, "past the end is the end");
        assert_eq!(locate(text, 1), locate(text, text.len()), "so is the middle of a letter");
    }
}

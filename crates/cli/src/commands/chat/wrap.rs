//! Lines broken between words, while the words still come.

use unicode_width::UnicodeWidthStr;

/// Narrower is no place to wrap in.
const NARROWEST: usize = 20;

/// Breaks lines before a word that would not fit. The last word waits until its end is known.
#[derive(Debug)]
pub(super) struct WordWrapper {
    columns: usize,
    /// How far the line has come.
    at: usize,
    word: String,
    /// Blanks before the word that are not written yet.
    blanks: String,
}

impl WordWrapper {
    /// None where the width is not known or too small.
    pub(super) fn new(columns: usize) -> Option<Self> {
        let (word, blanks) = (String::new(), String::new());
        (columns >= NARROWEST).then_some(Self { columns, at: 0, word, blanks })
    }

    /// What can be written by now.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for letter in text.chars() {
            match letter {
                '\n' => {
                    self.flush_word(&mut out);
                    self.blanks.clear();
                    self.at = 0;
                    out.push('\n');
                }
                ' ' | '\t' => {
                    self.flush_word(&mut out);
                    self.blanks.push(' ');
                }
                letter => self.word.push(letter),
            }
        }
        out
    }

    /// The rest.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.flush_word(&mut out);
        (self.at, self.blanks) = (0, String::new());
        out
    }

    /// Writes the word, on the next line where this one is full. One that is longer than a line is the terminal's to break.
    fn flush_word(&mut self, out: &mut String) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        let width = word.width();
        let blanks = std::mem::take(&mut self.blanks);
        if self.at > 0 && self.at + blanks.len() + width > self.columns {
            out.push('\n');
            self.at = 0;
        } else {
            out.push_str(&blanks);
            self.at += blanks.len();
        }
        out.push_str(&word);
        self.at += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(pieces: &[&str]) -> String {
        let mut wrap = WordWrapper::new(20).unwrap();
        let mut out: String = pieces.iter().map(|piece| wrap.push(piece)).collect();
        out += &wrap.finish();
        out
    }

    #[test]
    fn a_line_breaks_between_words_however_they_come() {
        let whole = "Ramesh owes you four hundred rupees.\n\nThat is all.";
        let broken = "Ramesh owes you four\nhundred rupees.\n\nThat is all.";
        assert_eq!(wrapped(&[whole]), broken);
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        assert_eq!(wrapped(&letters.iter().map(String::as_str).collect::<Vec<_>>()), broken);
        assert_eq!(wrapped(&["1. राम – ₹300\n2. + சீதா"]), "1. राम – ₹300\n2. + சீதா");
        assert_eq!(wrapped(&["a ", "0123456789012345678901234", " b"]), "a\n0123456789012345678901234\nb");
        assert!(WordWrapper::new(10).is_none());
    }

    #[test]
    fn nothing_is_lost_but_blanks_at_the_end_of_a_line() {
        let text =
            "नमस्ते, यह पहली बात है। He took two bags of rice and one of sugar, and he has paid nothing since.";
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let out = wrapped(&[text]);
        assert_eq!(plain(&out), plain(text));
        assert!(out.lines().all(|line| line.width() <= 20), "{out}");
    }
}

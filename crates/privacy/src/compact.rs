//! A text as its letters and digits alone, so that a value is found however it is spaced.

use std::ops::Range;

use munshi_lang::fold::is_indic;
use munshi_lang::text_words::to_latin_lookalike;
use munshi_lang::token::{digit_value, is_unseen};

/// So many signs may lie between two letters of one value.
const WIDEST: usize = 3;

/// What no value contains.
const BREAK: u8 = 0;

/// Small letters, plain digits and `@`, each with where it came from.
pub(crate) struct CompactText {
    pub bytes: Vec<u8>,
    at: Vec<(u32, u8)>,
}

impl CompactText {
    pub(crate) fn new(text: &str) -> Self {
        let mut compact = Self { bytes: Vec::with_capacity(text.len()), at: Vec::with_capacity(text.len()) };
        let mut between = 0;
        for (at, letter) in text.char_indices() {
            let Some(byte) = byte(letter) else {
                if is_indic(letter) || letter.is_alphabetic() {
                    between = WIDEST + 1;
                } else if !is_unseen(letter) {
                    between += 1;
                }
                continue;
            };
            if between > WIDEST {
                compact.push(BREAK, at, 0);
            }
            between = 0;
            compact.push(byte, at, letter.len_utf8());
        }
        compact
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "no text here reaches four gigabytes, no letter 256 bytes"
    )]
    fn push(&mut self, byte: u8, at: usize, length: usize) {
        self.bytes.push(byte);
        self.at.push((at as u32, length as u8));
    }

    /// Where a stretch lies in the text.
    pub(crate) fn range(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.at.get(from).map_or(0, |(at, _)| *at as usize);
        let end = to
            .checked_sub(1)
            .and_then(|last| self.at.get(last))
            .map_or(start, |(at, length)| *at as usize + usize::from(*length));
        start..end
    }
}

fn byte(letter: char) -> Option<u8> {
    if letter.is_ascii() {
        let byte = letter as u8;
        return (byte.is_ascii_alphanumeric() || byte == b'@').then(|| byte.to_ascii_lowercase());
    }
    if letter == '＠' {
        return Some(b'@');
    }
    digit_value(letter)
        .map(|value| b'0' + value)
        .or_else(|| to_latin_lookalike(letter).map(|plain| plain as u8))
}

/// A value as its letters and digits alone.
pub(crate) fn squeeze(value: &str) -> String {
    value.chars().filter_map(byte).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_places() {
        let text = "no. ९८7\u{200B}6-5 ok — — x";
        let compact = CompactText::new(text);
        assert_eq!(compact.bytes, b"no98765ok\0x");
        assert_eq!(&text[compact.range(2, 7)], "९८7\u{200B}6-5");
        assert_eq!(squeeze("ABCPK 1234-F"), "abcpk1234f");
    }
}

//! A message brought to one spelling and cut into words, figures and signs.

use std::ops::Range;

use munshi_types::is_invisible;
use unicode_normalization::UnicodeNormalization;

/// More than any message has: ten parts of an SMS are 1,530 letters. What comes behind it is not read, so that no text
/// is slow to read.
const LONGEST: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmsTokenKind {
    Word,
    /// Digits, with commas and dots between them.
    Number,
    Sign(char),
}

#[derive(Clone, Debug)]
pub(crate) struct SmsToken {
    pub(crate) shape: SmsTokenKind,
    pub(crate) span: Range<usize>,
    /// Nothing stands between it and the one before.
    pub(crate) glued: bool,
}

/// The text twice, byte for byte alike: as it was written, and in small letters.
#[derive(Clone, Debug)]
pub(crate) struct TokenizedSms {
    pub(crate) shown: String,
    low: String,
    pub(crate) tokens: Vec<SmsToken>,
}

impl TokenizedSms {
    pub(crate) fn new(text: &str) -> Self {
        let shown = clean(text);
        let low = shown.to_ascii_lowercase();
        let tokens = tokenize(&shown);
        Self { shown, low, tokens }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn shape(&self, at: usize) -> Option<SmsTokenKind> {
        self.tokens.get(at).map(|token| token.shape)
    }

    /// The token in small letters; empty past the end.
    pub(crate) fn lowercase(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.low[token.span.clone()])
    }

    pub(crate) fn is_sign(&self, at: usize, sign: char) -> bool {
        self.shape(at) == Some(SmsTokenKind::Sign(sign))
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.shape(at) == Some(SmsTokenKind::Word)
    }

    pub(crate) fn is_number(&self, at: usize) -> bool {
        self.shape(at) == Some(SmsTokenKind::Number)
    }

    pub(crate) fn is_glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.glued)
    }

    /// The digits of a figure without its commas and dots.
    pub(crate) fn digits(&self, at: usize) -> String {
        self.lowercase(at).chars().filter(char::is_ascii_digit).collect()
    }

    /// Whether it is digits and nothing else.
    pub(crate) fn is_digits(&self, at: usize) -> bool {
        self.is_number(at) && self.lowercase(at).bytes().all(|byte| byte.is_ascii_digit())
    }

    /// The text of tokens as written.
    pub(crate) fn text(&self, tokens: Range<usize>) -> &str {
        let first = self.tokens.get(tokens.start);
        let last = tokens.end.checked_sub(1).and_then(|at| self.tokens.get(at));
        match (first, last) {
            (Some(first), Some(last)) if first.span.start < last.span.end => {
                &self.shown[first.span.start..last.span.end]
            }
            _ => "",
        }
    }
}

/// One spelling for every letter, digits of every script as 0-9, every blank a blank, and nothing that can't be seen.
pub(crate) fn clean(text: &str) -> String {
    let letters = text.nfkc().take(LONGEST);
    letters
        .filter_map(|letter| match letter {
            letter if letter.is_whitespace() => Some(' '),
            '\u{200c}' | '\u{200d}' => None,
            letter if is_invisible(letter) => None,
            '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
            '\u{2018}' | '\u{2019}' => Some('\''),
            letter => Some(digit(letter).unwrap_or(letter)),
        })
        .collect()
}

/// The digits of the ten scripts stand in tens from a known place.
fn digit(letter: char) -> Option<char> {
    const ZEROS: [u32; 9] = [0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66];
    let code = u32::from(letter);
    let zero = ZEROS.into_iter().find(|zero| (*zero..zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// Vowel signs belong to words, which `is_alphabetic` says of some only.
fn is_letter(letter: char) -> bool {
    let indian = matches!(letter, '\u{900}'..='\u{dff}') && !matches!(letter, '\u{964}' | '\u{965}');
    letter.is_alphabetic() || indian
}

fn tokenize(text: &str) -> Vec<SmsToken> {
    let mut tokens: Vec<SmsToken> = Vec::with_capacity(text.len() / 4);
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        if letter == ' ' {
            continue;
        }
        let mut end = start + letter.len_utf8();
        let shape = if letter.is_ascii_digit() {
            while let Some(&(at, next)) = letters.peek() {
                let follows = text[at + next.len_utf8()..].bytes().next().is_some_and(|b| b.is_ascii_digit());
                if !(next.is_ascii_digit() || (matches!(next, ',' | '.') && follows)) {
                    break;
                }
                end = at + next.len_utf8();
                letters.next();
            }
            SmsTokenKind::Number
        } else if is_letter(letter) {
            while let Some(&(at, next)) = letters.peek().filter(|(_, next)| is_letter(*next)) {
                end = at + next.len_utf8();
                letters.next();
            }
            SmsTokenKind::Word
        } else {
            SmsTokenKind::Sign(letter)
        };
        let glued = tokens.last().is_some_and(|before| before.span.end == start);
        let followed = text[end..].bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        match find_mask_start(&text[start..end]).filter(|_| shape == SmsTokenKind::Word && followed) {
            Some(at) => {
                tokens.push(SmsToken { shape, span: start..start + at, glued });
                tokens.push(SmsToken { shape, span: start + at..end, glued: true });
            }
            None => tokens.push(SmsToken { shape, span: start..end, glued }),
        }
    }
    tokens
}

/// `A/cXX1234`: where the letters for hidden digits begin.
fn find_mask_start(word: &str) -> Option<usize> {
    let label = word.trim_end_matches(['x', 'X']);
    let known = ["c", "ac", "no", "acct", "card", "account", "ending"]
        .iter()
        .any(|known| label.eq_ignore_ascii_case(known));
    (known && label.len() < word.len()).then_some(label.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let cut = TokenizedSms::new(text);
        (0..cut.len()).map(|at| cut.lowercase(at).to_owned()).collect()
    }

    #[test]
    fn figures_words_and_signs_are_told_apart() {
        assert_eq!(
            words("Rs.1,23,456.78 frm A/c XX12."),
            ["rs", ".", "1,23,456.78", "frm", "a", "/", "c", "xx", "12", "."]
        );
        assert_eq!(words("12Mar25"), ["12", "mar", "25"]);
    }

    #[test]
    fn every_script_and_width_has_one_spelling() {
        assert_eq!(words("खाते से ₹५००"), ["खाते", "से", "₹", "500"]);
        assert_eq!(words("ＯＴＰ\u{a0}４５６\u{200b}７"), ["otp", "4567"]);
    }
}

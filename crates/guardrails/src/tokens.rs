//! A text cut into words, numbers and signs, spelled plainly, each knowing where it stood in the original.
//!
//! The plain spellings lie in one string, one after another: a reply has hundreds of words, and none of them asks for
//! memory of its own.

use std::ops::{Deref, Range};

use super::letters::{Glyph, begins_syllable, is_unseen, push_letter, to_glyph};
use super::text_traits::TextTraits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardrailTokenKind {
    Word,
    /// Digits, with the commas and points inside them.
    Number,
    Sign(char),
}

/// What lies between a token and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenGap {
    None,
    One,
    Wide,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardrailToken {
    /// Where it stands in the original, in bytes.
    pub start: usize,
    pub end: usize,
    pub kind: GuardrailTokenKind,
    pub gap: TokenGap,
    /// Where its plain spelling lies in the letters of all.
    from: usize,
    to: usize,
    latin: bool,
}

impl GuardrailToken {
    pub(crate) fn is_word(&self) -> bool {
        self.kind == GuardrailTokenKind::Word
    }

    pub(crate) fn is_number(&self) -> bool {
        self.kind == GuardrailTokenKind::Number
    }

    pub(crate) fn is_sign(&self, sign: char) -> bool {
        self.kind == GuardrailTokenKind::Sign(sign)
    }

    /// Written in Latin letters.
    pub(crate) fn is_latin(&self) -> bool {
        self.latin
    }

    /// How many bytes its plain spelling has.
    pub(crate) fn len(&self) -> usize {
        self.to - self.from
    }
}

/// The tokens of a text, in order.
#[derive(Debug, Default)]
pub(crate) struct GuardrailTokenList {
    list: Vec<GuardrailToken>,
    letters: String,
    pub traits: TextTraits,
}

impl Deref for GuardrailTokenList {
    type Target = [GuardrailToken];

    fn deref(&self) -> &[GuardrailToken] {
        &self.list
    }
}

impl GuardrailTokenList {
    /// Cuts a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut this = Self {
            list: Vec::with_capacity(text.len() / 5 + 4),
            letters: String::with_capacity(text.len()),
            traits: TextTraits::default(),
        };
        let mut gap = TokenGap::None;
        let mut rest = text.char_indices().peekable();
        while let Some((start, letter)) = rest.next() {
            let place = start..start + letter.len_utf8();
            match to_glyph(letter) {
                Glyph::Nothing => this.traits.unseen |= is_unseen(letter),
                Glyph::Space => gap = if gap == TokenGap::None { TokenGap::One } else { TokenGap::Wide },
                Glyph::Line => {
                    this.push_sign('\n', place, gap);
                    gap = TokenGap::Wide;
                }
                Glyph::Letter(letter) => {
                    this.add(GuardrailTokenKind::Word, letter, place, gap);
                    gap = TokenGap::None;
                }
                Glyph::Digit(letter) => {
                    this.traits.digits = true;
                    this.add(GuardrailTokenKind::Number, letter, place, gap);
                    gap = TokenGap::None;
                }
                Glyph::Sign(sign) => {
                    this.traits.add_sign(sign);
                    let next = rest.peek().map(|(_, next)| to_glyph(*next));
                    if !this.try_join(sign, next, place.end, gap) {
                        this.push_sign(sign, place, gap);
                    }
                    gap = TokenGap::None;
                }
            }
        }
        this
    }

    fn add(&mut self, kind: GuardrailTokenKind, letter: char, place: Range<usize>, gap: TokenGap) {
        if let Some(last) = self.list.last_mut().filter(|last| last.kind == kind && gap == TokenGap::None) {
            push_letter(&mut self.letters, last.from, letter);
            last.to = self.letters.len();
            last.end = place.end;
            return;
        }
        let from = self.letters.len();
        self.letters.push(letter);
        let (to, latin) = (self.letters.len(), letter.is_ascii());
        self.list.push(GuardrailToken { start: place.start, end: place.end, kind, gap, from, to, latin });
    }

    fn push_sign(&mut self, sign: char, place: Range<usize>, gap: TokenGap) {
        let (kind, at) = (GuardrailTokenKind::Sign(sign), self.letters.len());
        let Range { start, end } = place;
        self.list.push(GuardrailToken { start, end, kind, gap, from: at, to: at, latin: false });
    }

    /// Apostrophes inside words, commas and points inside numbers.
    fn try_join(&mut self, sign: char, next: Option<Glyph>, end: usize, gap: TokenGap) -> bool {
        let Some(last) = self.list.last_mut().filter(|_| gap == TokenGap::None) else { return false };
        let fits = match (last.kind, sign) {
            (GuardrailTokenKind::Word, '\'') => matches!(next, Some(Glyph::Letter(_))),
            (GuardrailTokenKind::Number, ',' | '.') => matches!(next, Some(Glyph::Digit(_))),
            _ => false,
        };
        if fits {
            self.letters.push(sign);
            last.to = self.letters.len();
            last.end = end;
        }
        fits
    }

    /// The plain spelling of a token; signs and tokens that are not there have none.
    pub(crate) fn spelling(&self, at: usize) -> &str {
        self.list.get(at).and_then(|token| self.letters.get(token.from..token.to)).unwrap_or_default()
    }

    /// Puts one word in the place of some tokens.
    pub(crate) fn replace(&mut self, tokens: Range<usize>, word: &str) {
        let Some((first, last)) =
            self.list.get(tokens.clone()).and_then(|some| some.first().zip(some.last()))
        else {
            return;
        };
        let from = self.letters.len();
        let (start, end, gap) = (first.start, last.end, first.gap);
        self.letters.push_str(word);
        let latin = word.bytes().next().is_some_and(|first| first.is_ascii());
        let one = GuardrailToken {
            start,
            end,
            kind: GuardrailTokenKind::Word,
            gap,
            from,
            to: self.letters.len(),
            latin,
        };
        self.list.splice(tokens, [one]);
    }

    /// How many syllables a token is written with.
    pub(crate) fn count_syllables(&self, at: usize) -> usize {
        let mut tied = false;
        let begins = |letter: char| {
            // A consonant after a virama is part of the cluster.
            let own = begins_syllable(letter) && !tied;
            tied = (0x900..=0xD7F).contains(&(letter as u32)) && letter as u32 % 0x80 == 0x4D;
            own
        };
        self.spelling(at).chars().map(begins).filter(|own| *own).count()
    }

    /// Whether something has been hidden among some tokens: three dots together stand for it, and crosses for digits.
    pub(crate) fn has_hidden(&self, tokens: Range<usize>) -> bool {
        let glued = |token: &GuardrailToken| token.gap == TokenGap::None;
        let crossed = |at: usize| {
            let plain = self.spelling(at);
            plain.len() >= 4 && plain.bytes().all(|byte| byte == b'x')
        };
        let some = self.list.get(tokens.clone()).unwrap_or_default();
        tokens.into_iter().any(crossed)
            || some
                .windows(3)
                .any(|marks| marks.iter().all(|mark| mark.is_sign('•')) && marks.iter().skip(1).all(glued))
    }
}

/// Signs that end a clause; what stands on either side is not one phrase.
pub(crate) const fn ends_clause(sign: char) -> bool {
    matches!(
        sign,
        ',' | ';'
            | ':'
            | '.'
            | '!'
            | '?'
            | '।'
            | '\n'
            | '('
            | ')'
            | '—'
            | '–'
            | '…'
            | '，'
            | '。'
            | '|'
            | '['
            | ']'
            | '{'
            | '}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_signs_keep_their_place() {
        let text = "Don’t pay ₹1,499.50!";
        let found = GuardrailTokenList::new(text);
        let spans: Vec<&str> = found.iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(spans, ["Don’t", "pay", "₹", "1,499.50", "!"]);
        let found = GuardrailTokenList::new("d\u{200B}iscount छूट");
        assert_eq!([found.spelling(0), found.spelling(1), found.spelling(2)], ["discount", "छूट", ""]);
        assert!(found.traits.unseen && !found.traits.digits);
    }

    #[test]
    fn letters_of_one_word_are_not_joined_with_those_of_the_next() {
        let found = GuardrailTokenList::new("हिन्दी न् दे न्द");
        let plain: Vec<&str> = (0..found.len()).map(|at| found.spelling(at)).collect();
        assert_eq!(plain, ["हिंदी", "न्", "दे", "ंद"]);
    }
}

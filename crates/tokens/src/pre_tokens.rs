//! Cuts text into the pieces within which bytes are merged: words with the sign before them, numbers of up to three
//! digits, runs of signs, whitespace.
//!
//! OpenAI publishes this as a regular expression; each function names the branch it stands for. A branch counts only
//! where those before it fail, and within one the longest is taken and given back as an engine that backtracks would.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// `\p{Lu}\p{Lt}`
    Upper,
    /// `\p{Ll}`
    Lower,
    /// `\p{Lm}\p{Lo}`
    Caseless,
    /// `\p{M}`: part of words, and a sign beside them
    Mark,
    /// `\p{N}`
    Number,
    /// `\r` and `\n`
    Newline,
    /// The rest of `\s`
    Space,
    Sign,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::Newline,
            _ if character.is_whitespace() => Self::Space,
            _ if character.is_ascii() => Self::Sign,
            _ => Self::from_non_ascii(character),
        }
    }

    fn from_non_ascii(character: char) -> Self {
        match character.general_category() {
            GeneralCategory::UppercaseLetter | GeneralCategory::TitlecaseLetter => Self::Upper,
            GeneralCategory::LowercaseLetter => Self::Lower,
            GeneralCategory::ModifierLetter | GeneralCategory::OtherLetter => Self::Caseless,
            GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
            | GeneralCategory::EnclosingMark => Self::Mark,
            GeneralCategory::DecimalNumber | GeneralCategory::LetterNumber | GeneralCategory::OtherNumber => {
                Self::Number
            }
            _ => Self::Sign,
        }
    }

    /// What a word may begin with: `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`.
    const fn can_begin_word(self) -> bool {
        matches!(self, Self::Upper | Self::Caseless | Self::Mark)
    }

    /// What a word may end with: `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`.
    const fn can_end_word(self) -> bool {
        matches!(self, Self::Lower | Self::Caseless | Self::Mark)
    }

    /// `[^\s\p{L}\p{N}]`
    const fn is_sign(self) -> bool {
        matches!(self, Self::Sign | Self::Mark)
    }

    const fn is_whitespace(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }

    /// `[^\r\n\p{L}\p{N}]`: what may stand before a word and belong to it.
    const fn can_precede_word(self) -> bool {
        matches!(self, Self::Sign | Self::Mark | Self::Space)
    }
}

/// What remains to be cut.
pub(crate) struct PreTokens<'a> {
    rest: &'a str,
}

pub(crate) const fn split(text: &str) -> PreTokens<'_> {
    PreTokens { rest: text }
}

impl<'a> Iterator for PreTokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        let (piece, rest) = self.rest.split_at(next_length(self.rest, first));
        self.rest = rest;
        Some(piece)
    }
}

fn next_length(text: &str, first: char) -> usize {
    let class = Class::of(first);
    match_word(text, first, class)
        .or_else(|| match_number(text, class))
        .or_else(|| match_signs(text))
        .unwrap_or_else(|| match_whitespace(text))
}

/// `[^\r\n\p{L}\p{N}]?` and then [`match_lowercase_word`], or else [`match_uppercase_word`]; after either, [`match_contraction`].
fn match_word(text: &str, first: char, class: Class) -> Option<usize> {
    let led = if class.can_precede_word() { first.len_utf8() } else { 0 };
    let after = |branch: fn(&str) -> Option<usize>| {
        let with_lead = || branch(&text[led..]).map(|end| led + end);
        let alone = || branch(text);
        if led > 0 { with_lead().or_else(alone) } else { alone() }
    };
    let end = after(match_lowercase_word).or_else(|| after(match_uppercase_word))?;
    Some(end + match_contraction(&text[end..]))
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
fn match_lowercase_word(text: &str) -> Option<usize> {
    let begun = run_length(text, Class::can_begin_word);
    let ended = run_length(&text[begun..], Class::can_end_word);
    if ended > 0 {
        return Some(begun + ended);
    }
    // What could stand in either part is given back to the second.
    let (at, last) =
        text[..begun].char_indices().rev().find(|(_, character)| Class::of(*character).can_end_word())?;
    Some(at + last.len_utf8())
}

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`, where [`match_lowercase_word`] has failed.
fn match_uppercase_word(text: &str) -> Option<usize> {
    Some(run_length(text, Class::can_begin_word)).filter(|begun| *begun > 0)
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
fn match_contraction(text: &str) -> usize {
    let Some(after) = text.strip_prefix('\'') else { return 0 };
    let mut letters = after.chars();
    let (first, second) = (letters.next(), letters.next());
    match (first.map(|letter| letter.to_ascii_lowercase()), second.map(|letter| letter.to_ascii_lowercase()))
    {
        (Some('s' | 't' | 'm' | 'd'), _) => 2,
        // The long s is an s to whoever ignores case.
        (Some('ſ'), _) => 1 + 'ſ'.len_utf8(),
        (Some('r' | 'v'), Some('e')) | (Some('l'), Some('l')) => 3,
        _ => 0,
    }
}

/// `\p{N}{1,3}`
fn match_number(text: &str, class: Class) -> Option<usize> {
    let digits = || text.chars().take(3).take_while(|digit| Class::of(*digit) == Class::Number);
    (class == Class::Number).then(|| digits().map(char::len_utf8).sum())
}

/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
fn match_signs(text: &str) -> Option<usize> {
    let led = usize::from(text.starts_with(' '));
    let signs = run_length(&text[led..], Class::is_sign);
    let end = led + signs;
    let tail = || text[end..].find(|sign| !matches!(sign, '\r' | '\n' | '/')).unwrap_or(text.len() - end);
    (signs > 0).then(|| end + tail())
}

/// `\s*[\r\n]+|\s+$|\s+(?!\S)|\s+`: to the last newline, to the end of the text, to the last before a word, or all.
fn match_whitespace(text: &str) -> usize {
    let all = run_length(text, Class::is_whitespace);
    if let Some(newline) = text[..all].rfind(['\r', '\n']) {
        return newline + 1;
    }
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if all == text.len() || all == last { all } else { all - last }
}

fn run_length(text: &str, belongs: fn(Class) -> bool) -> usize {
    text.char_indices()
        .find(|(_, character)| !belongs(Class::of(*character)))
        .map_or(text.len(), |(at, _)| at)
}

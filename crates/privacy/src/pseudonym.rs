//! What stands for a value while a cloud model has the text: `XNM101`.
//!
//! Three large Latin letters and digits read as a reference: models copy it as it is in every language and hang case
//! endings on it (`XNM101को`, `XNM101க்கு`, `XNM101's`), where `Person_1` is translated and a made-up name is
//! transliterated. The letters tell the kind. The digits tell by themselves where they end, so that digits written
//! right behind a token stay outside: three of them up to 899, five from 90000, eight from 99000000.

use munshi_lang::text_words::to_latin_lookalike;
use munshi_lang::token::{digit_value, is_unseen};

use super::kind::PiiKind;

/// So many signs may lie between the letters and the digits: `XNM\_101`, `XNM 101`.
const WIDEST: usize = 3;

/// What is longer, with what nobody sees in it, is no token: a stream that goes on so is not held back without end.
const LONGEST: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PseudonymParse {
    Token {
        kind: PiiKind,
        place: usize,
        /// Its length in bytes.
        length: usize,
    },
    /// The text ends before it is told.
    Unfinished,
    None,
}

/// The token for a place in a session's table; none when the table is full.
pub(crate) fn render(kind: PiiKind, place: usize) -> Option<String> {
    let [second, third] = kind.code()?;
    let number = match place {
        0..800 => 100 + place,
        800..9_800 => 90_000 + (place - 800),
        9_800..1_009_800 => 99_000_000 + (place - 9_800),
        _ => return None,
    };
    Some(format!("X{}{}{number}", char::from(second), char::from(third)))
}

/// Whether a token may begin with a letter.
pub(crate) fn can_begin(letter: char) -> bool {
    to_plain_letter(letter) == Some('X')
}

/// The token a text begins with, however a model dressed it: small letters, digits of another script, marks between.
pub(crate) fn parse(text: &str) -> PseudonymParse {
    let unfinished = || {
        if text.chars().nth(LONGEST).is_some() { PseudonymParse::None } else { PseudonymParse::Unfinished }
    };
    let mut letters = text.char_indices().take(LONGEST).filter(|(_, letter)| !is_unseen(*letter));
    let mut code = [0u8; 3];
    let mut small = false;
    for at in 0..code.len() {
        let Some((_, letter)) = letters.next() else { return unfinished() };
        let Some(plain) = to_plain_letter(letter) else { return PseudonymParse::None };
        small |= letter.is_lowercase();
        code[at] = plain as u8;
        if !is_token_prefix(code, at) {
            return PseudonymParse::None;
        }
    }
    let [_, second, third] = code;
    let Some(kind) = PiiKind::WITH_TOKENS.into_iter().find(|kind| kind.code() == Some([second, third]))
    else {
        return PseudonymParse::None;
    };
    let mut between = 0;
    let mut values: Vec<u8> = Vec::with_capacity(8);
    for (at, letter) in letters {
        match digit_value(letter) {
            Some(value) => values.push(value),
            None if values.is_empty() && is_filler(letter) && between < WIDEST => {
                // Small letters and a space are words, not a token.
                if small && letter.is_whitespace() {
                    return PseudonymParse::None;
                }
                between += 1;
                continue;
            }
            None => return PseudonymParse::None,
        }
        if let Some(place) = parse_slot(&values) {
            return place.map_or(PseudonymParse::None, |place| PseudonymParse::Token {
                kind,
                place,
                length: at + letter.len_utf8(),
            });
        }
    }
    unfinished()
}

/// The place that digits name once they are whole; the inner none when they name none.
fn parse_slot(values: &[u8]) -> Option<Option<usize>> {
    let number = || values.iter().fold(0usize, |number, value| number * 10 + usize::from(*value));
    match values {
        [0, ..] => Some(None),
        [9, 9, ..] if values.len() == 8 => Some(Some(number() - 99_000_000 + 9_800)),
        [9, second, ..] if *second < 9 && values.len() == 5 => Some(Some(number() - 90_000 + 800)),
        [first, ..] if *first < 9 && values.len() == 3 => Some(Some(number() - 100)),
        _ => None,
    }
}

fn to_plain_letter(letter: char) -> Option<char> {
    if letter.is_ascii_alphabetic() {
        Some(letter.to_ascii_uppercase())
    } else {
        to_latin_lookalike(letter).map(|plain| plain.to_ascii_uppercase())
    }
}

/// Whether the letters up to a place begin some token.
fn is_token_prefix(code: [u8; 3], at: usize) -> bool {
    let [first, second, third] = code;
    let fits = |kind: PiiKind| {
        kind.code().is_some_and(|[own_second, own_third]| {
            (at < 1 || second == own_second) && (at < 2 || third == own_third)
        })
    };
    first == b'X' && PiiKind::WITH_TOKENS.into_iter().any(fits)
}

const fn is_filler(letter: char) -> bool {
    matches!(letter, ' ' | '\u{A0}' | '_' | '-' | '‑' | '–' | '\\' | '*' | '`' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_back_and_say_where_they_end() {
        for place in [0, 7, 799, 800, 9_799, 9_800, 1_009_799] {
            let token = render(PiiKind::Name, place).unwrap();
            let whole = PseudonymParse::Token { kind: PiiKind::Name, place, length: token.len() };
            assert_eq!(parse(&token), whole);
            assert_eq!(parse(&format!("{token}500")), whole);
            assert_eq!(parse(&format!("{token}க்கு")), whole);
            for cut in 0..token.len() {
                assert_eq!(parse(&token[..cut]), PseudonymParse::Unfinished, "{token} {cut}");
            }
        }
        assert_eq!(render(PiiKind::Name, 1_009_800), None);
    }

    #[test]
    fn nobody_waits_for_a_token_without_end() {
        for front in ["X", "XN", "XNM", "XNM1"] {
            assert_eq!(parse(&format!("{front}{}", "\u{200B}".repeat(50))), PseudonymParse::Unfinished);
            assert_eq!(parse(&format!("{front}{}", "\u{200B}".repeat(500))), PseudonymParse::None);
        }
    }

    #[test]
    fn a_dressed_token_is_the_token() {
        for dressed in [
            "xnm107",
            "XNM 107",
            "XNM_107",
            "XNM\\_107",
            "XNM-107",
            "XNM**107",
            "XNM१०७",
            "X\u{200B}NM107",
            "ХNМ107",
        ] {
            assert!(
                matches!(parse(dressed), PseudonymParse::Token { kind: PiiKind::Name, place: 7, .. }),
                "{dressed}"
            );
        }
        for other in ["XN107", "XNM", "XNMa", "xnm 107", "XNM    107", "XNM017", "YNM107", "XQQ107"] {
            assert!(!matches!(parse(other), PseudonymParse::Token { .. }), "{other}");
        }
    }
}

//! Keys and numbers that are known by how they look: those of `munshi_detect`, and more where a line is withheld in doubt.

use std::sync::LazyLock;

use munshi_detect::digits::{DigitGroup, DigitSeparator, digit_runs, span, values};
use munshi_detect::secrets::locate_keys;
use munshi_lang::checksums;
use munshi_lang::token::is_unseen;
use regex::Regex;

/// What only an import suspects: a bot's token of any length, a key of 32 hexadecimal digits or more, the first part of
/// a web token.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b[0-9]{8,10}:[A-Za-z0-9_-]{20,}|\b(?:SK)?(?:[0-9a-f]{32,}|[0-9A-F]{32,})\b|\beyJ[A-Za-z0-9_.-]{40,}",
    )
    .ok()
});

pub(super) fn is_key(line: &str) -> bool {
    !locate_keys(line).is_empty()
        || SHAPES.as_ref().is_some_and(|shapes| shapes.is_match(line))
        || line.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_random)
}

/// Large letters, small ones and digits in one long word, changing about as nobody writes.
fn is_random(word: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    };
    let classes: Vec<i32> = word.bytes().map(class).collect();
    let changes = classes.windows(2).filter(|pair| pair.first() != pair.last()).count();
    word.len() >= 20 && (0..3).all(|class| classes.contains(&class)) && changes * 3 >= word.len()
}

pub(super) fn is_address_with_password(line: &str) -> bool {
    line.match_indices("://").any(|(at, _)| {
        let rest = line.get(at + 3..).unwrap_or_default();
        let login = rest.split(['/', ' ']).next().unwrap_or_default();
        login
            .split_once('@')
            .is_some_and(|(login, _)| login.split_once(':').is_some_and(|(_, word)| !word.is_empty()))
    })
}

/// A permanent account number, an Aadhaar number or a card's. In doubt a line is withheld, so twelve and sixteen digits in
/// fours count whatever sum they keep, and a card of any network does: `munshi_detect::identity_numbers` is stricter.
pub(super) fn is_identity_number(line: &str) -> bool {
    line.split(|letter: char| !letter.is_ascii_alphanumeric()).any(checksums::is_pan)
        || digit_runs(line, 1, separator)
            .iter()
            .any(|run| !is_phone_number(line, run) && is_identity_digits(run))
}

fn separator(letter: char) -> DigitSeparator {
    match letter {
        ' ' | '-' => DigitSeparator::Sign,
        letter if is_unseen(letter) => DigitSeparator::Unseen,
        _ => DigitSeparator::End,
    }
}

/// As telephone numbers begin.
fn is_phone_number(line: &str, run: &[DigitGroup]) -> bool {
    line.get(..span(run).start).is_some_and(|front| front.ends_with('+'))
}

fn is_identity_digits(run: &[DigitGroup]) -> bool {
    let digits = values(run);
    let whole = run.len().saturating_sub(1);
    let in_fours = run.iter().take(whole).all(|group| group.values.len().is_multiple_of(4));
    // `91 98123 45678` is a telephone.
    let is_phone = digits.starts_with(&[9, 1]) && !in_fours;
    match digits.len() {
        12 => in_fours || (!is_phone && checksums::is_verhoeff_valid(&digits)),
        16 => in_fours || checksums::is_luhn_valid(&digits),
        13..=19 => checksums::is_luhn_valid(&digits),
        _ => false,
    }
}

//! Keys and numbers that are known by how they look: those of `munshi_detect`, and more where a line is withheld in doubt.

use std::sync::LazyLock;

use munshi_detect::secrets::keys;
use munshi_lang::sums;
use regex::Regex;

/// What only an import suspects: a bot's token of any length, a key of 32 hexadecimal digits or more, the first part of
/// a web token.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b[0-9]{8,10}:[A-Za-z0-9_-]{20,}|\b(?:SK)?(?:[0-9a-f]{32,}|[0-9A-F]{32,})\b|\beyJ[A-Za-z0-9_.-]{40,}",
    )
    .ok()
});
/// A permanent account number.
static PAN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b[a-z]{3}[abcfghjlpt][a-z][0-9]{4}[a-z]\b").ok());

pub(super) fn is_key(line: &str) -> bool {
    !keys(line).is_empty()
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

/// A permanent account number, an Aadhaar number or a card's.
pub(super) fn is_identity_number(line: &str) -> bool {
    PAN.as_ref().is_some_and(|pan| pan.is_match(line)) || runs(line).any(|run| is_numbered(&run))
}

/// Digits in a row, with where they were set apart.
#[derive(Default)]
struct Run {
    digits: Vec<u8>,
    gaps: Vec<usize>,
    /// As telephone numbers begin.
    after_plus: bool,
}

fn runs(line: &str) -> impl Iterator<Item = Run> {
    let mut runs = vec![Run::default()];
    let mut last = ' ';
    for letter in line.chars() {
        let Some(run) = runs.last_mut() else { break };
        match letter {
            '0'..='9' => {
                if run.digits.is_empty() {
                    run.after_plus = last == '+';
                }
                run.digits.push(u8::try_from(u32::from(letter) - u32::from('0')).unwrap_or(0));
            }
            ' ' | '-' if last.is_ascii_digit() => run.gaps.push(run.digits.len()),
            _ => runs.push(Run::default()),
        }
        last = letter;
    }
    runs.into_iter().filter(|run| !run.digits.is_empty() && !run.after_plus)
}

fn is_numbered(run: &Run) -> bool {
    let Run { digits, gaps, .. } = run;
    let in_fours = gaps.iter().all(|at| at % 4 == 0);
    // `91 98123 45678` is a telephone.
    let is_phone = digits.starts_with(&[9, 1]) && !in_fours;
    match digits.len() {
        12 => in_fours || (!is_phone && sums::verhoeff(digits)),
        16 => in_fours || sums::luhn(digits),
        13..=19 => sums::luhn(digits),
        _ => false,
    }
}

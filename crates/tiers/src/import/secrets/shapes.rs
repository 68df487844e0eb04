//! Keys and numbers that are known by how they look.

use std::sync::LazyLock;

use munshi_lang::sums;
use regex::Regex;

/// Beginnings of keys that everybody knows, and how much must follow.
const BEGINNINGS: [(&str, usize); 34] = [
    ("sk-", 16),
    ("pk_live_", 8),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("rzp_live_", 8),
    ("rzp_test_", 8),
    ("whsec_", 8),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghs_", 16),
    ("ghu_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xapp-", 8),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 24),
    ("ya29.", 16),
    ("EAA", 30),
    ("eyJ", 40),
    ("hf_", 16),
    ("gsk_", 16),
    ("xai-", 16),
    ("r8_", 16),
    ("SG.", 16),
    ("npm_", 16),
    ("pypi-", 16),
    ("shpat_", 16),
    ("dop_v1_", 16),
];

/// A bot's token, a key of 32 hexadecimal digits or more, and a permanent account number.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b[0-9]{8,10}:[A-Za-z0-9_-]{20,}|\b(?:SK)?(?:[0-9a-f]{32,}|[0-9A-F]{32,})\b").ok()
});
static PAN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b[a-z]{3}[abcfghjlpt][a-z][0-9]{4}[a-z]\b").ok());

pub(super) fn is_key(line: &str) -> bool {
    let begins = |word: &str| {
        BEGINNINGS.iter().any(|(start, more)| {
            let Some(at) = word.find(start) else { return false };
            let begins = !word.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
            begins && word.get(at + start.len()..).is_some_and(|rest| token(rest) >= *more)
        })
    };
    line.split_whitespace().any(begins)
        || SHAPES.as_ref().is_some_and(|shapes| shapes.is_match(line))
        || line.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_random)
}

fn token(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')).count()
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

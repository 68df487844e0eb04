//! Digits that name something and count nothing: telephone numbers, accounts, cards, references.

use crate::lexicon::Meaning;
use crate::numbers::digits;
use crate::reader::{Reader, is_short_rupee};
use crate::token::{Kind, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    Phone,
    Account,
}

pub(crate) struct Identifier {
    pub naming: Naming,
    pub digits: String,
    pub to: usize,
}

/// Digits of a telephone number without its country.
const PHONE: usize = 10;

/// The identifier that begins at a token.
pub(crate) fn read(reader: &Reader<'_>, from: usize) -> Option<Identifier> {
    let token = reader.token(from)?;
    if token.text == "+" {
        let (digits, to) = run(reader, from + 1)?;
        return (11..=14).contains(&digits.len()).then_some(Identifier { naming: Naming::Phone, digits, to });
    }
    if let Some(found) = masked(reader, from) {
        return Some(found);
    }
    if token.kind != Kind::Digits
        || reader.before(from).is_some_and(is_short_rupee)
        || money_follows(reader, from + 1)
    {
        return None;
    }
    let alone = plain(token)?;
    let named = introduced(reader, from);
    let (digits, to) =
        if named.is_some() || alone.len() < 8 { run(reader, from)? } else { (alone.clone(), from + 1) };
    let naming = naming(reader, from, &alone, &digits, to, named)?;
    if naming == Naming::Phone || named.is_some() || grouped_card(reader, from, to) {
        return Some(Identifier { naming, digits, to });
    }
    Some(Identifier { naming, digits: alone, to: from + 1 })
}

fn naming(
    reader: &Reader<'_>,
    from: usize,
    alone: &str,
    digits: &str,
    to: usize,
    named: Option<Naming>,
) -> Option<Naming> {
    let mobile = |digits: &str| digits.len() == PHONE && digits.starts_with(['6', '7', '8', '9']);
    let local = digits.strip_prefix("91").or_else(|| digits.strip_prefix('0')).unwrap_or(digits);
    if mobile(digits) || mobile(local) {
        // Two amounts side by side are not five digits each.
        let one = to == from + 1;
        return (one || digits.len() != alone.len()).then_some(Naming::Phone);
    }
    if let Some(named) = named.filter(|_| alone.len() >= 3) {
        return Some(if digits.len() < PHONE { Naming::Account } else { named });
    }
    let glued_to_letters = reader.token(from).is_some_and(|token| token.glued)
        && reader.before(from).is_some_and(Token::is_word);
    (alone.len() > PHONE || glued_to_letters || grouped_card(reader, from, to)).then_some(Naming::Account)
}

/// Four groups of four digits.
fn grouped_card(reader: &Reader<'_>, from: usize, to: usize) -> bool {
    let groups: Vec<usize> = (from..to)
        .filter_map(|at| reader.token(at))
        .filter(|token| token.kind == Kind::Digits)
        .map(|token| token.text.chars().count())
        .collect();
    groups == [4, 4, 4, 4]
}

/// Digits without commas or points.
fn plain(token: &Token<'_>) -> Option<String> {
    let digits = digits::ascii(token.text);
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)
}

/// Digits in a row, spaces and hyphens between them left out.
fn run(reader: &Reader<'_>, from: usize) -> Option<(String, usize)> {
    let first = reader.token(from).filter(|token| token.kind == Kind::Digits)?;
    let mut digits = plain(first)?;
    let mut to = from + 1;
    loop {
        let hyphen = reader.token(to).is_some_and(|token| token.text == "-" && token.glued);
        let next = if hyphen { to + 1 } else { to };
        let Some(more) = reader.token(next).filter(|token| token.kind == Kind::Digits).and_then(plain) else {
            break;
        };
        if more.len() < 2 || digits.len() + more.len() > 19 {
            break;
        }
        digits.push_str(&more);
        to = next + 1;
    }
    Some((digits, to))
}

fn money_follows(reader: &Reader<'_>, at: usize) -> bool {
    let money = |meaning| match meaning {
        Meaning::Rupee | Meaning::Paisa | Meaning::Scale(_) => Some(()),
        _ => None,
    };
    (reader.find_inflected(at, money).is_some() && !crate::amounts::belongs_to_next(reader, at))
        || (reader.token(at).is_some_and(|token| token.text == "/")
            && reader.token(at + 1).is_some_and(|token| matches!(token.text, "-" | "=")))
}

/// A word just before the digits that says what they name.
fn introduced(reader: &Reader<'_>, from: usize) -> Option<Naming> {
    for back in 1..=3 {
        let token = reader.token(from.checked_sub(back)?)?;
        let naming = token.find(crate::lexicon::Languages::EVERY, |meaning| match meaning {
            Meaning::Phone => Some(Naming::Phone),
            Meaning::Account => Some(Naming::Account),
            _ => None,
        });
        let filler = matches!(token.text, "." | ":" | "#" | "-" | "/" | "c" | "C")
            || ["no", "number", "ending", "with", "is", "ka", "ki", "hai", "pe", "par"]
                .iter()
                .any(|word| token.text.eq_ignore_ascii_case(word));
        // `a/c` comes apart at its slash.
        let slashed = token.text.eq_ignore_ascii_case("a")
            && reader.token(from - back + 1).is_some_and(|t| t.text == "/");
        if slashed {
            return Some(Naming::Account);
        }
        if naming.is_some() {
            return naming;
        }
        if !filler {
            return None;
        }
    }
    None
}

/// `XX1234`, `**1234`: digits after a mask.
fn masked(reader: &Reader<'_>, from: usize) -> Option<Identifier> {
    let token = reader.token(from)?;
    let mask = |token: &Token<'_>| token.text.chars().all(|letter| matches!(letter, 'x' | 'X' | '*' | '•'));
    if !mask(token) {
        return None;
    }
    let mut at = from + 1;
    while reader.token(at).is_some_and(|token| token.glued && mask(token)) {
        at += 1;
    }
    let last = reader.token(at).filter(|token| token.glued && token.kind == Kind::Digits)?;
    Some(Identifier { naming: Naming::Account, digits: plain(last)?, to: at + 1 })
}

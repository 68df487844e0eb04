//! Digits that name something and count nothing: telephone numbers, accounts, cards, references.
//!
//! - `labels`: words before digits that say what they name, and words after that say they are a price

mod labels;
#[cfg(test)]
mod tests;

use crate::lexicon::Meaning;
use crate::numbers::digits;
use crate::token::{MessageToken, MessageTokenKind};
use crate::tokenized_message::{TokenizedMessage, is_short_rupee};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdentifierKind {
    Phone,
    Account,
}

pub(crate) struct DigitIdentifier {
    pub naming: IdentifierKind,
    pub digits: String,
    pub to: usize,
}

/// Digits of a telephone number without its country.
const PHONE: usize = 10;

/// The identifier that begins at a token.
pub(crate) fn read(reader: &TokenizedMessage<'_>, from: usize) -> Option<DigitIdentifier> {
    let token = reader.token(from)?;
    if token.text == "+" {
        let groups = groups(reader, from + 1);
        let (digits, to) = prefix(&groups, |digits| (11..=14).contains(&digits.len()))?;
        return Some(DigitIdentifier { naming: IdentifierKind::Phone, digits, to });
    }
    if let Some(found) = find_masked(reader, from) {
        return Some(found);
    }
    if token.kind != MessageTokenKind::Digits
        || reader.token_before(from).is_some_and(is_short_rupee)
        || money_follows(reader, from + 1)
    {
        return None;
    }
    let groups = groups(reader, from);
    let (alone, _) = groups.first()?;
    if let Some((digits, to)) = phone(reader, &groups) {
        return Some(DigitIdentifier { naming: IdentifierKind::Phone, digits, to });
    }
    // Figures in talk of money are amounts when one of them is round: udhar 2500 3010 1500.
    let round = |(digits, _): &Group| digits.ends_with("00");
    let listed = groups.iter().all(is_round) || (groups.iter().any(round) && reader.mentions(Meaning::Money));
    let card = card(reader, &groups).filter(|_| !listed || labels::find_label(reader, from, alone).is_some());
    let (digits, to) = card.unwrap_or_else(|| (alone.clone(), from + 1));
    let code = is_glued_before(reader, from) || is_glued_after(reader, from + 1);
    let naming = match labels::find_label(reader, from, &digits) {
        Some(IdentifierKind::Phone) if digits.len() >= PHONE => IdentifierKind::Phone,
        Some(_) => IdentifierKind::Account,
        None if alone.len() > PHONE || code || to > from + 1 => IdentifierKind::Account,
        None => return None,
    };
    Some(DigitIdentifier { naming, digits, to })
}

/// The telephone number a run of digits begins with. It ends where it is whole: what follows is another number.
fn phone(reader: &TokenizedMessage<'_>, groups: &[Group]) -> Option<(String, usize)> {
    let mobile = |digits: &str| digits.len() == PHONE && digits.starts_with(['6', '7', '8', '9']);
    let local = |digits: &str| {
        let bare = digits.strip_prefix("91").or_else(|| digits.strip_prefix('0'));
        mobile(digits) || bare.is_some_and(mobile)
    };
    if let Some(found) = prefix(groups, local) {
        let one = groups.first().is_some_and(|(_, to)| *to == found.1);
        let from = groups.first().map_or(0, |(_, to)| to - 1);
        let said = labels::find_label(reader, from, &found.0) == Some(IdentifierKind::Phone)
            || reader.token_before(from).is_some_and(|before| before.text.eq_ignore_ascii_case("call"));
        let dialled = said && !money_follows(reader, found.1);
        return (one || dialled || !are_amounts(reader, groups, found.1)).then_some(found);
    }
    let (first, _) = groups.first()?;
    let area = first.starts_with('0') || ["1800", "1860"].contains(&first.as_str());
    let found = prefix(groups, |digits| (10..=11).contains(&digits.len()))?;
    (area && found.0.len() > first.len()).then_some(found)
}

/// Amounts side by side: 75000 25000, 8500 1250 75. All are round, or a money word follows.
fn are_amounts(reader: &TokenizedMessage<'_>, groups: &[Group], to: usize) -> bool {
    money_follows(reader, to) || groups.iter().filter(|(_, end)| *end <= to).all(is_round)
}

fn is_round((digits, _): &Group) -> bool {
    digits.len() > 1 && ["00", "25", "50", "75"].iter().any(|end| digits.ends_with(end))
}

/// The first groups that together are whole.
fn prefix(groups: &[Group], whole: impl Fn(&str) -> bool) -> Option<(String, usize)> {
    let mut digits = String::new();
    groups.iter().find_map(|(group, to)| {
        digits.push_str(group);
        whole(&digits).then(|| (digits.clone(), *to))
    })
}

/// Three or four groups of four digits: an Aadhaar number, a card.
fn card(reader: &TokenizedMessage<'_>, groups: &[Group]) -> Option<(String, usize)> {
    let mut of_four = groups.iter().take(4).take_while(|(digits, _)| digits.len() == 4).count();
    if of_four < 3 {
        return None;
    }
    // A few digits that end the message end the account, too: 5010 0123 4567 89.
    if groups.len() == of_four + 1
        && groups.last().is_some_and(|(digits, to)| digits.len() < 3 && *to == reader.tokens.len())
    {
        of_four += 1;
    }
    let parts = groups.get(..of_four)?;
    Some((parts.iter().map(|(digits, _)| digits.as_str()).collect(), parts.last()?.1))
}

/// Letters run into the digits: B1234, or a hash stands before them. 10x20 is a sum.
fn is_glued_before(reader: &TokenizedMessage<'_>, from: usize) -> bool {
    let glued = reader.token(from).is_some_and(|token| token.glued);
    glued
        && reader
            .token_before(from)
            .is_some_and(|token| (token.is_word() && !is_times(token)) || token.text == "#")
}

/// The digits run into letters nobody knows: 27AAPFU. Units, scales and case words are known.
fn is_glued_after(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    const SHORT: &[&str] =
        &["k", "l", "cr", "lk", "lkh", "th", "st", "nd", "rd", "am", "pm", "p", "ps", "rs"];
    reader.token(at).is_some_and(|token| {
        let known = !token.senses.is_empty()
            || is_times(token)
            || SHORT.iter().any(|short| token.text.eq_ignore_ascii_case(short))
            || reader.find_inflected(at, Some).is_some();
        token.glued && token.script() == Some(munshi_types::Script::Latin) && !known
    })
}

fn is_times(token: &MessageToken<'_>) -> bool {
    matches!(token.text, "x" | "X")
}

/// Digits without commas or points.
fn plain_digits(token: &MessageToken<'_>) -> Option<String> {
    let digits = digits::to_ascii(token.text);
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)
}

/// Digits, and the token after them.
type Group = (String, usize);

/// Groups of digits in a row, with spaces and hyphens between them.
fn groups(reader: &TokenizedMessage<'_>, from: usize) -> Vec<Group> {
    let digits = |at: usize| {
        reader.token(at).filter(|token| token.kind == MessageTokenKind::Digits).and_then(plain_digits)
    };
    let Some(first) = digits(from) else { return Vec::new() };
    let mut found = vec![(first, from + 1)];
    let mut to = from + 1;
    while found.len() < 8 {
        let hyphen = reader.token(to).is_some_and(|token| token.text == "-" && token.glued);
        let next = if hyphen { to + 1 } else { to };
        let Some(more) = digits(next).filter(|more| more.len() > 1) else { break };
        to = next + 1;
        found.push((more, to));
    }
    found
}

fn money_follows(reader: &TokenizedMessage<'_>, at: usize) -> bool {
    let money = |meaning| match meaning {
        Meaning::Rupee | Meaning::Paisa | Meaning::Scale(_) => Some(()),
        _ => None,
    };
    (reader.find_inflected(at, money).is_some() && !crate::amounts::belongs_to_next(reader, at))
        || (reader.token(at).is_some_and(|token| token.text == "/")
            && reader.token(at + 1).is_some_and(|token| matches!(token.text, "-" | "=")))
}

/// `XX1234`, `**1234`: digits after a mask.
fn find_masked(reader: &TokenizedMessage<'_>, from: usize) -> Option<DigitIdentifier> {
    let token = reader.token(from)?;
    let mask =
        |token: &MessageToken<'_>| token.text.chars().all(|letter| matches!(letter, 'x' | 'X' | '*' | '•'));
    let after_digits = token.glued
        && reader.token_before(from).is_some_and(|before| before.kind == MessageTokenKind::Digits);
    if !mask(token) || after_digits {
        return None;
    }
    let mut at = from + 1;
    while reader.token(at).is_some_and(|token| token.glued && mask(token)) {
        at += 1;
    }
    let last = reader.token(at).filter(|token| token.glued && token.kind == MessageTokenKind::Digits)?;
    Some(DigitIdentifier { naming: IdentifierKind::Account, digits: plain_digits(last)?, to: at + 1 })
}

//! What the health rule counts as pointing at somebody beyond numbers and codes: days, places on the net and on the road,
//! records, great ages.

use std::ops::Range;

use munshi_detect::digits::span;
use munshi_lang::token::digit_value;
use munshi_lang::{DateExpression, UnderstandingContext, understand};

use super::digits::{find_runs, words_before};
use super::kind::{PiiKind, PiiMatch};

/// Words before a number in a hospital's or an insurer's books, as the fold leaves them.
const RECORDS: &[&str] = &[
    "mrn",
    "uhid",
    "patient",
    "peshant",
    "record",
    "rekard",
    "policy",
    "polisi",
    "member",
    "membar",
    "licence",
    "license",
    "laisens",
    "certificate",
    "device",
    "serial",
    "abha",
    "opd",
    "ipd",
    "claim",
];

/// Everything of this found in a text, in no order.
pub(super) fn find(text: &str) -> Vec<PiiMatch> {
    let mut found = Vec::new();
    find_word_identifiers(text, &mut found);
    find_number_identifiers(text, &mut found);
    found
}

/// Links, addresses on the net and number plates: stretches without a space.
fn find_word_identifiers(text: &str, found: &mut Vec<PiiMatch>) {
    for (from, word) in pieces(text) {
        let bare = word.trim_matches(|letter: char| {
            matches!(letter, '.' | ',' | ';' | ':' | ')' | '(' | '"' | '\'' | '<' | '>' | '!' | '?')
        });
        let start = from + word.find(bare).unwrap_or_default();
        let range = start..start + bare.len();
        let lower = bare.to_ascii_lowercase();
        let kind =
            if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
                PiiKind::Link
            } else if is_ip_address(bare) {
                PiiKind::Address
            } else if is_plate(bare) {
                PiiKind::Vehicle
            } else {
                continue;
            };
        found.push(PiiMatch { kind, range });
    }
}

fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn is_ip_address(word: &str) -> bool {
    let four = word.split('.').count() == 4 && word.split('.').all(|part| part.parse::<u8>().is_ok());
    let six = word.matches(':').count() > 1 && word.parse::<std::net::Ipv6Addr>().is_ok();
    four || six
}

/// An Indian number plate in one piece: MH12AB1234.
fn is_plate(word: &str) -> bool {
    let plain: Vec<u8> = word.bytes().filter(|byte| *byte != b'-').collect();
    let [a, b, rest @ ..] = plain.as_slice() else { return false };
    let lead = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let series = rest.iter().skip(lead).take_while(|byte| byte.is_ascii_uppercase()).count();
    let tail = rest.len() - lead - series;
    let end = rest.iter().skip(lead + series).all(u8::is_ascii_digit);
    a.is_ascii_uppercase()
        && b.is_ascii_uppercase()
        && (1..=2).contains(&lead)
        && (1..=3).contains(&series)
        && tail == 4
        && end
}

/// Days, postal codes, records and ages.
fn find_number_identifiers(text: &str, found: &mut Vec<PiiMatch>) {
    found.extend(find_dates(text).map(|range| PiiMatch { kind: PiiKind::Date, range }));
    for run in find_runs(text) {
        let Some(first) = run.groups.first() else { continue };
        let before = words_before(text, first.range.start);
        let said =
            |list: &[&str], near: usize| before.iter().take(near).any(|word| list.contains(&word.as_str()));
        let digits = first.values.len();
        let sizes: Vec<usize> = run.groups.iter().map(|group| group.values.len()).collect();
        let kind = if sizes == [3, 2, 4] && run.groups.iter().skip(1).all(|group| group.sign == Some('-')) {
            Some((PiiKind::Ssn, span(&run.groups)))
        } else if said(RECORDS, 3) && digits > 2 && !run.amount {
            Some((PiiKind::Record, first.range.clone()))
        } else if (digits == 6 || sizes == [3, 3]) && said(&["pin", "pinkod", "pinkode", "pincode", "zip"], 2)
        {
            Some((PiiKind::Pin, span(&run.groups)))
        } else if said(&["age", "aged", "umar", "umr", "vay"], 2) && is_great_age(&first.values) {
            Some((PiiKind::Age, first.range.clone()))
        } else {
            None
        };
        found.extend(kind.map(|(kind, range)| PiiMatch { kind, range }));
    }
}

fn is_great_age(values: &[u8]) -> bool {
    matches!(values, [9, _] | [1, _, _])
}

/// Days written in digits, 12/05/2026 or 2026-05-12, and those named in words.
fn find_dates(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (from, word) in pieces(text) {
        let trimmed = word.trim_end_matches([',', '.', ';', ')']);
        let parts: Vec<&str> = trimmed.split(['/', '-', '.']).collect();
        let sizes: Vec<usize> = parts.iter().map(|part| part.chars().count()).collect();
        let plain = parts
            .iter()
            .all(|part| !part.is_empty() && part.chars().all(|letter| digit_value(letter).is_some()));
        let shaped = matches!(sizes.as_slice(), [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]);
        if plain && shaped {
            found.push(from..from + trimmed.len());
        }
    }
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let dated = |reading: &munshi_lang::DateReading| matches!(reading.when, DateExpression::Dated { .. });
        let named = understand(line, &UnderstandingContext::default())
            .dates
            .into_iter()
            .filter(|one| one.readings.iter().any(dated));
        found.extend(named.map(|one| from + one.start..from + one.start + one.text.len()));
        from += line.len();
    }
    found.into_iter()
}

//! Numbers and codes nobody listed, by their shape, their sums and the words before them.
//!
//! Amounts, dates, rates and references stay: the model needs them, and they point at nobody.

use std::ops::Range;

use munshi_detect::digits::{DigitGroup, count, span, values, windows};
use munshi_detect::identity_numbers::is_card_number;
use munshi_lang::checksums;
use munshi_lang::text_words::to_latin_lookalike;
use munshi_lang::token::{digit_value, is_unseen};

use super::aadhaar;
use super::digits::{NumberCandidate, find_runs, is_round, words_before};
use super::kind::{PiiKind, PiiMatch};
use super::spaced_aadhaar;

/// Words before a telephone number, as the fold leaves them.
const PHONE: &[&str] = &[
    "phone",
    "fone",
    "fon",
    "mobile",
    "mobail",
    "mob",
    "mobil",
    "call",
    "kal",
    "whatsapp",
    "vhatsap",
    "vhatsapp",
    "tel",
    "telephone",
    "contact",
    "kontakt",
    "fax",
    "ph",
    "kaipesi",
    "number",
    "nambar",
];

/// Words before a bank account.
const ACCOUNT: &[&str] = &[
    "acount", "account", "acct", "act", "akaunt", "akaunta", "ac", "khata", "khate", "khatu", "khat",
    "khata", "kanaku", "khatha", "ekaunt", "hisab", "saving", "savings", "kurent", "current", "iban",
    "akount", "akaunt", "akount", "kata", "kate", "kathe",
];

/// Everything found in a text, in order, none over another.
pub fn find(text: &str) -> Vec<PiiMatch> {
    let mut found = Vec::new();
    find_addresses(text, &mut found);
    find_codes(text, &mut found);
    if text.bytes().any(|byte| byte.is_ascii_digit() || !byte.is_ascii()) {
        for run in find_runs(text) {
            find_numbers(text, &run, &mut found);
        }
        found.extend(spaced_aadhaar::find_named(text));
    }
    found.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut end = 0;
    found.retain(|one| {
        let free = one.range.start >= end;
        if free {
            end = one.range.end;
        }
        free
    });
    found
}

/// E-mail addresses and UPI ids: what stands round an `@`.
fn find_addresses(text: &str, found: &mut Vec<PiiMatch>) {
    let inner = |letter: char| {
        letter.is_alphanumeric() || is_unseen(letter) || matches!(letter, '.' | '_' | '-' | '+' | '%')
    };
    // Two searches for one letter each are far faster than one for either.
    for (at, sign) in text.match_indices('@').chain(text.match_indices('＠')) {
        let (front, back) =
            (text.get(..at).unwrap_or_default(), text.get(at + sign.len()..).unwrap_or_default());
        let start = front
            .char_indices()
            .rev()
            .take_while(|(_, letter)| inner(*letter))
            .last()
            .map_or(at, |(from, _)| from);
        let end = back.char_indices().find(|(_, letter)| {
            !(letter.is_alphanumeric() || is_unseen(*letter) || matches!(letter, '.' | '-'))
        });
        let host =
            back.get(..end.map_or(back.len(), |(to, _)| to)).unwrap_or_default().trim_end_matches(['.', '-']);
        let name = front.get(start..).unwrap_or_default().trim_start_matches(['.', '-', '+', '%']);
        let dotted = host
            .rsplit_once('.')
            .is_some_and(|(_, top)| top.chars().count() > 1 && top.chars().all(char::is_alphabetic));
        let least = if dotted { 1 } else { 2 };
        let long = name.chars().filter(|letter| letter.is_alphanumeric()).count() >= least;
        if !long || !host.starts_with(char::is_alphabetic) || host.len() < 2 {
            continue;
        }
        let kind = if dotted { PiiKind::Email } else { PiiKind::Upi };
        found.push(PiiMatch { kind, range: at - name.len()..at + sign.len() + host.len() });
    }
}

/// GSTINs, PANs and branch codes: words of letters and digits with a shape of their own.
fn find_codes(text: &str, found: &mut Vec<PiiMatch>) {
    let ends = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let mut from = 0;
    for bytes in text.as_bytes().split(ends) {
        let start = from;
        from += bytes.len() + 1;
        let piece =
            if bytes.len() < 10 { "" } else { text.get(start..start + bytes.len()).unwrap_or_default() };
        // Most words are too short or have no digit.
        if piece.is_empty() || !piece.chars().any(|letter| digit_value(letter).is_some()) {
            continue;
        }
        if piece.is_ascii() {
            found.extend(
                classify_code(piece).map(|kind| PiiMatch { kind, range: start..start + piece.len() }),
            );
        } else {
            find_disguised_codes(piece, start, found);
        }
    }
}

/// Codes in digits of other scripts, with lookalikes or marks nobody sees between.
fn find_disguised_codes(piece: &str, start: usize, found: &mut Vec<PiiMatch>) {
    let plain = |letter: char| {
        let digit = digit_value(letter).map(|value| char::from(b'0' + value));
        if letter.is_ascii() { Some(letter) } else { digit.or_else(|| to_latin_lookalike(letter)) }
    };
    let mut word = String::with_capacity(16);
    let mut range: Range<usize> = 0..0;
    for (at, letter) in piece.char_indices().chain([(piece.len(), ' ')]) {
        match plain(letter).filter(|_| at < piece.len()) {
            Some(plain) => {
                if word.is_empty() {
                    range.start = start + at;
                }
                word.push(plain);
                range.end = start + at + letter.len_utf8();
            }
            None if is_unseen(letter) => {}
            None => {
                found.extend(classify_code(&word).map(|kind| PiiMatch { kind, range: range.clone() }));
                word.clear();
            }
        }
    }
}

fn classify_code(word: &str) -> Option<PiiKind> {
    match word.len() {
        15 if checksums::is_gstin(word) => Some(PiiKind::Gstin),
        10 if checksums::is_pan(word) => Some(PiiKind::Pan),
        11 if checksums::is_ifsc(word) => Some(PiiKind::Ifsc),
        _ => None,
    }
}

/// What a run of digits holds: Aadhaar and card numbers, telephone numbers, accounts.
fn find_numbers(text: &str, run: &NumberCandidate, found: &mut Vec<PiiMatch>) {
    if count(&run.groups) < 6 {
        return;
    }
    let aadhaar = aadhaar::find_in_run(text, run);
    if !aadhaar.is_empty() {
        found.extend(aadhaar);
        return;
    }
    let start = run.groups.first().map_or(0, |group| group.range.start);
    let before = words_before(text, start);
    let said = |list: &[&str]| before.iter().any(|word| list.contains(&word.as_str()));
    let named = if said(ACCOUNT) && !run.amount { Some(PiiKind::Account) } else { None };
    let other = said(aadhaar::OTHERS)
        || said(aadhaar::WHOLE)
        || said(&["id"])
        || (named.is_some() && !said(&["kard", "card", "kredit", "debit"]));
    if let Some(range) = find_card(run, other) {
        found.push(PiiMatch { kind: PiiKind::Card, range });
        return;
    }
    let mut from = 0;
    while let Some(groups) = run.groups.get(from..).filter(|groups| !groups.is_empty()) {
        if named.is_none()
            && let Some(used) = count_phone_groups(run, groups, from == 0, said(PHONE))
        {
            let mut range = span(groups.get(..used).unwrap_or(groups));
            if run.plus && from == 0 {
                range.start =
                    text.get(..range.start).and_then(|front| front.rfind('+')).unwrap_or(range.start);
            }
            found.push(PiiMatch { kind: PiiKind::Phone, range });
            from += used;
        } else {
            from += 1;
        }
    }
    if let Some(kind) = named {
        found.extend(find_account(run).map(|range| PiiMatch { kind, range }));
    }
}

/// How many groups at the front of a list are one telephone number.
fn count_phone_groups(
    run: &NumberCandidate,
    groups: &[DigitGroup],
    first: bool,
    said: bool,
) -> Option<usize> {
    if run.amount || (run.glued && !run.plus) {
        return None;
    }
    let plus = run.plus && first;
    let mut digits: Vec<u8> = Vec::new();
    for (at, group) in groups.iter().enumerate().take(6) {
        digits.extend(&group.values);
        let used = at + 1;
        let last = groups.len() == used;
        // 1234567890.50 is an amount.
        let fraction = groups.get(used).is_some_and(|next| next.sign == Some('.') && next.values.len() < 3);
        if is_phone(&digits, plus, last) && !fraction && (said || plus || !is_round(&groups[..used])) {
            return Some(used);
        }
        let area = first && groups[0].values.first() == Some(&0) && (3..6).contains(&groups[0].values.len());
        if area && used > 1 && (10..=11).contains(&digits.len()) && (last || digits.len() == 11) {
            return Some(used);
        }
        if said
            && last
            && (7..=11).contains(&digits.len())
            && !is_round(&groups[..used])
            && !digits.ends_with(&[0, 0])
        {
            return Some(used);
        }
    }
    None
}

fn is_phone(digits: &[u8], plus: bool, last: bool) -> bool {
    let mobile = |digits: &[u8]| digits.len() == 10 && matches!(digits.first(), Some(6..=9));
    let local = mobile(digits)
        || digits.strip_prefix(&[9, 1]).is_some_and(mobile)
        || digits.strip_prefix(&[0]).is_some_and(mobile)
        || digits.strip_prefix(&[0, 0, 9, 1]).is_some_and(mobile);
    if !plus {
        return local;
    }
    match digits {
        [9, 1, ..] => digits.len() == 12,
        [1, ..] => digits.len() == 11,
        _ => (11..=15).contains(&digits.len()) || (last && digits.len() > 7),
    }
}

/// A card: 13 to 19 digits in one piece or in fours, of a network, that keep the sum.
fn find_card(run: &NumberCandidate, other: bool) -> Option<Range<usize>> {
    if run.amount || run.plus || other {
        return None;
    }
    windows(&run.groups, 13..20).find_map(|groups| {
        let shaped = groups.len() == 1
            || groups.iter().take(groups.len() - 1).all(|group| (4..=6).contains(&group.values.len()));
        (shaped && is_card_number(&values(groups))).then(|| span(groups))
    })
}

/// The digits after a word for an account: six to eighteen of them, in one piece or in fours.
fn find_account(run: &NumberCandidate) -> Option<Range<usize>> {
    let first = run.groups.first()?;
    if (6..=18).contains(&first.values.len()) {
        let round = first.values.ends_with(&[0, 0]) && first.values.len() < 9;
        return (!round).then(|| first.range.clone());
    }
    let fours = run.groups.iter().take_while(|group| group.values.len() == 4).count();
    let rest = run.groups.get(fours).filter(|group| group.values.len() < 4 && run.groups.len() == fours + 1);
    let groups = run.groups.get(..fours + usize::from(rest.is_some()))?;
    let length = count(groups);
    ((8..=18).contains(&length) && !is_round(groups)).then(|| span(groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(PiiKind, &str)> {
        find(text).into_iter().map(|one| (one.kind, &text[one.range])).collect()
    }

    #[test]
    fn what_points_at_somebody_is_found() {
        for (text, kind, said) in [
            ("call 98765 43210 now", PiiKind::Phone, "98765 43210"),
            ("+91-98765-43210", PiiKind::Phone, "+91-98765-43210"),
            ("९८७६५४३२१० पर", PiiKind::Phone, "९८७६५४३२१०"),
            ("09876543210", PiiKind::Phone, "09876543210"),
            ("919876543210 ko 500", PiiKind::Phone, "919876543210"),
            ("+1 (415) 555-2671", PiiKind::Phone, "+1 (415) 555-2671"),
            ("+44 20 7946 0958.", PiiKind::Phone, "+44 20 7946 0958"),
            ("022 2345 6789", PiiKind::Phone, "022 2345 6789"),
            ("9\u{200B}876543210", PiiKind::Phone, "9\u{200B}876543210"),
            ("mail ramesh.k@example.co.in.", PiiKind::Email, "ramesh.k@example.co.in"),
            ("pay ramesh@okaxis today", PiiKind::Upi, "ramesh@okaxis"),
            ("9876543210@ybl", PiiKind::Upi, "9876543210@ybl"),
            ("GSTIN 27AAPFU0939F1ZV", PiiKind::Gstin, "27AAPFU0939F1ZV"),
            ("pan abcpk1234f", PiiKind::Pan, "abcpk1234f"),
            ("pan ABCPK१२३४Fहै", PiiKind::Pan, "ABCPK१२३४F"),
            ("ABC\u{200B}PK1234F", PiiKind::Pan, "ABC\u{200B}PK1234F"),
            ("IFSC HDFC0001234", PiiKind::Ifsc, "HDFC0001234"),
            ("card 4111 1111 1111 1111", PiiKind::Card, "4111 1111 1111 1111"),
            ("a/c no 123456789, ok", PiiKind::Account, "123456789"),
            ("x@y.co", PiiKind::Email, "x@y.co"),
            ("खाता 50100123456789", PiiKind::Account, "50100123456789"),
            ("account 5010 0123 4567 89", PiiKind::Account, "5010 0123 4567 89"),
            ("2345 6789 0124", PiiKind::Aadhaar, "2345 6789 0124"),
        ] {
            assert_eq!(all(text), [(kind, said)], "{text}");
        }
        for two in [
            "9876543210 aur 8765432109",
            "9876543210/8765432109",
            "9876543210,8765432109",
            "98765 43210 87654 32109",
        ] {
            assert_eq!(all(two).len(), 2, "{two}");
        }
        assert_eq!(all("98765 43210 500 bhejo"), [(PiiKind::Phone, "98765 43210")]);
    }

    #[test]
    fn amounts_days_rates_and_references_stay() {
        for text in [
            "₹1,25,000 by 12/05/2026 at 10:30",
            "Rs 9876543210",
            "98,76,543,210",
            "75000 25000 bheje",
            "GST 18% on 2400",
            "UPI ref 423456789012",
            "order 4111 111",
            "2026-11-15 10:30:45",
            "account 50000 bheja",
            "@munshi hello",
            "5 kg @ 40",
            "1234567890.50",
            "3.14159265",
            "ABCDE12345",
            "version 1.2.3",
            "0.5 0.25",
            "15 11 2026 1500",
        ] {
            assert_eq!(all(text), [], "{text}");
        }
    }
}

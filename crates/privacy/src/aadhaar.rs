//! Aadhaar numbers, which are refused at the door: they are neither stored nor sent on.

use super::digits::{NumberCandidate, count_fours, find_runs, is_round, words_before};
use super::kind::{PiiKind, PiiMatch};
use super::spaced_aadhaar;
use munshi_detect::digits::{DigitGroup, count, span, values, windows};
use munshi_detect::identity_numbers::is_aadhaar_number;
use munshi_lang::fold;
use munshi_lang::token::{digit_value, is_unseen};

/// What the person is told, in the phrasebook.
pub const PHRASE: &str = "aadhaar-refused";

/// "Aadhaar", as the fold leaves it from the scripts.
const AADHAAR: &[&str] =
    &["adhar", "adar", "atar", "athar", "atharu", "adharu", "uid", "uidai", "aadhaar", "ather"];

/// Words for numbers of other things: one in ten of those keeps the sum by chance.
pub(super) const OTHERS: &[&str] = &[
    "ref",
    "refno",
    "reference",
    "refarens",
    "rrn",
    "utr",
    "txn",
    "tkshn",
    "transaction",
    "transakshan",
    "transakshn",
    "order",
    "ordar",
    "invoice",
    "invois",
    "bil",
    "bill",
    "avb",
    "tracking",
    "traking",
    "ticket",
    "tiket",
    "pnr",
    "upi",
    "imps",
    "neft",
    "rtgs",
    "serial",
    "imei",
    "voucher",
    "chalan",
    "receipt",
    "rasid",
    "consumer",
    "meter",
];

/// Such numbers are written in one piece; in fours it is an Aadhaar number all the same.
pub(super) const WHOLE: &[&str] = &["poliky", "polisi", "loan", "lon"];

/// What may follow the word before the number: aadhaarno2345…
const AFTER: &[&str] = &["", "no", "num", "nambar", "number", "namber", "kard", "card", "id"];

/// An Aadhaar number in a text, in digits of any script, spaced, dashed, with marks nobody sees between, or after its
/// word with anything else.
pub fn find_aadhaar(text: &str) -> Option<PiiMatch> {
    let usual = find_runs(text).iter().find_map(|run| find_in_run(text, run).into_iter().next());
    usual.or_else(|| {
        spaced_aadhaar::find_named(text).into_iter().chain(spaced_aadhaar::find_bare(text)).next()
    })
}

/// The Aadhaar numbers of a run.
pub(super) fn find_in_run(text: &str, run: &NumberCandidate) -> Vec<PiiMatch> {
    if count(&run.groups) < 12 || (run.glued && !is_named(text, run)) {
        return Vec::new();
    }
    let mut found: Vec<PiiMatch> = Vec::new();
    for groups in windows(&run.groups, 12..13) {
        let range = span(groups);
        if found.last().is_none_or(|last| last.range.end <= range.start) && is_aadhaar(text, run, groups) {
            found.push(PiiMatch { kind: PiiKind::Aadhaar, range });
        }
    }
    found
}

/// Whether the letters that stand right beside a run are the word itself.
fn is_named(text: &str, run: &NumberCandidate) -> bool {
    let range = span(&run.groups);
    let (front, rest) = (text.get(..range.start), text.get(range.end..).unwrap_or_default());
    let glued = front.is_some_and(|front| front.chars().next_back().is_some_and(is_letter));
    let after = rest.find(|letter| !is_letter(letter)).and_then(|end| rest.get(..end)).unwrap_or(rest);
    let before = if glued { words_before(text, range.start).into_iter().next() } else { None };
    before.into_iter().chain([fold::key(after)]).any(|word| is_aadhaar_word(&word))
}

pub(super) fn is_letter(letter: char) -> bool {
    digit_value(letter).is_none()
        && (letter.is_alphabetic() || is_unseen(letter) || matches!(letter, '\u{900}'..='\u{dff}'))
}

pub(super) fn is_aadhaar_word(word: &str) -> bool {
    AADHAAR.iter().any(|known| word.strip_prefix(known).is_some_and(|rest| AFTER.contains(&rest)))
}

fn is_aadhaar(text: &str, run: &NumberCandidate, groups: &[DigitGroup]) -> bool {
    let digits = values(groups);
    if !is_aadhaar_number(&digits) {
        return false;
    }
    let range = span(groups);
    let before = words_before(text, range.start);
    if run.glued || before.iter().any(|word| is_aadhaar_word(word)) {
        return true;
    }
    let mobile = matches!(digits.as_slice(), [9, 1, 6..=9, ..]);
    let usual =
        groups.len() == 1 || is_in_fours(groups) || groups.iter().all(|group| group.values.len() == 1);
    let whole = groups.len() == run.groups.len() || groups.len() == 3 && !continues_in_fours(run, groups);
    let other = run.amount
        || run.plus
        || mobile
        || is_round(groups)
        || before.iter().any(|word| OTHERS.contains(&word.as_str()))
        || (groups.len() == 1 && before.iter().any(|word| WHOLE.contains(&word.as_str())));
    usual && whole && !other
}

fn is_in_fours(groups: &[DigitGroup]) -> bool {
    groups.len() == 3 && groups.iter().all(|group| group.values.len() == 4)
}

/// Whether the number goes on beside a window: a card has four fours.
fn continues_in_fours(run: &NumberCandidate, groups: &[DigitGroup]) -> bool {
    run.fours > count_fours(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aadhaar_numbers_are_found_however_they_are_written() {
        for text in [
            "234567890124",
            "mera aadhaar 2345 6789 0124 hai",
            "2345-6789-0124",
            "२३४५ ६७८९ ०१२४",
            "২৩৪৫৬৭৮৯০১২৪",
            "௨௩௪௫ ௬௭௮௯ ௦௧௨௪",
            "2345\u{200B}6789\u{200B}0124",
            "2 3 4 5 6 7 8 9 0 1 2 4",
            "आधार 23 45 67 89 01 24",
            "aadhaar no: 2345 6789 0124, naam Ramesh",
            "2345 6789 0124 500 rupaye",
            "2345.6789.0124",
            "UID234567890124",
            "Aadhaar234567890124",
            "aadhaarno2345 6789 0124",
            "AadharCard234567890124",
            "आधार२३४५६७८९०१२४",
            "mera234567890124aadhaar",
            "my id 234567890124",
            "loan ke liye 2345 6789 0124",
            "policy: 2345-6789-0124",
        ] {
            let found = find_aadhaar(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.kind, PiiKind::Aadhaar);
            let digits = text[found.range].chars().filter_map(munshi_lang::token::digit_value).count();
            assert_eq!(digits, 12, "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_aadhaar() {
        for text in [
            "234567890125",
            "2345678901240",
            "12345678901245",
            "+91 98765 43210",
            "919876543210",
            "UPI ref 234567890124",
            "order id 2345 6789 0124",
            "4111 1111 1111 1111",
            "₹2,34,567",
            "134567890124",
            "AB234567890124",
            "paid234567890124",
            "234567890124X",
            "loan 234567890124",
            "policy no 234567890124",
            "Rs 234567890124",
            "",
        ] {
            assert_eq!(find_aadhaar(text), None, "{text}");
        }
    }

    #[test]
    fn every_wrong_digit_is_let_through() {
        let right = [2u8, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 4];
        for at in 0..12 {
            for other in 0..10 {
                let mut digits = right;
                digits[at] = other;
                let text: String = digits.iter().map(|value| char::from(b'0' + value)).collect();
                assert_eq!(find_aadhaar(&text).is_some(), digits == right, "{text}");
            }
        }
    }
}

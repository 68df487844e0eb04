//! Aadhaar numbers whose digits lie apart as other numbers' never do: 2345/6789/0124, 23_45_67_89_01_24.

use munshi_detect::digits::{DigitGroup, DigitSeparator, count, digit_runs, span, values, windows};
use munshi_detect::identity_numbers::is_aadhaar_number;
use munshi_lang::token::is_unseen;

use super::aadhaar::{OTHERS, is_aadhaar_word, is_letter};
use super::digits::{ends_with_currency, is_round, words_before};
use super::kind::{PiiKind, PiiMatch};

/// So many signs lie between two groups at most.
const WIDEST: usize = 3;

/// Those that the word Aadhaar stands before: in groups of any size, whatever parts them.
pub(super) fn find_named(text: &str) -> Vec<PiiMatch> {
    let is_named = |_: &[DigitGroup], groups: &[DigitGroup]| {
        let start = span(groups).start;
        let glued = text.get(..start).and_then(|front| front.chars().next_back()).is_some_and(is_letter);
        let near = if glued { 1 } else { usize::MAX };
        !is_day(groups) && words_before(text, start).iter().take(near).any(|word| is_aadhaar_word(word))
    };
    find_windows(text, is_named)
}

/// Those that nothing names: three fours with one and the same sign between, and nothing beside them.
pub(super) fn find_bare(text: &str) -> Vec<PiiMatch> {
    let is_bare = |chain: &[DigitGroup], groups: &[DigitGroup]| {
        let range = span(groups);
        let (front, rest) =
            (text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
        let beside = front.chars().next_back().is_some_and(is_letter)
            || rest.chars().next().is_some_and(is_letter)
            || ends_with_currency(front);
        chain.len() == 3
            && groups.iter().all(|group| group.values.len() == 4)
            && has_uniform_separators(text, groups)
            && !beside
            && !is_round(groups)
            && !groups.iter().all(is_year)
            && !words_before(text, range.start).iter().any(|word| OTHERS.contains(&word.as_str()))
    };
    find_windows(text, is_bare)
}

/// The windows of twelve digits that keep the sum and are wanted, none over another.
fn find_windows(text: &str, is_wanted: impl Fn(&[DigitGroup], &[DigitGroup]) -> bool) -> Vec<PiiMatch> {
    let mut all: Vec<PiiMatch> = Vec::new();
    for chain in chains(text) {
        for groups in windows(&chain, 12..13) {
            let range = span(groups);
            let is_free = all.last().is_none_or(|last| last.range.end <= range.start);
            if is_free && is_aadhaar_number(&values(groups)) && is_wanted(&chain, groups) {
                all.push(PiiMatch { kind: PiiKind::Aadhaar, range });
            }
        }
    }
    all
}

/// Groups of digits with nothing but signs between, a few at a time.
fn chains(text: &str) -> Vec<Vec<DigitGroup>> {
    let separator = |letter| match letter {
        letter if is_unseen(letter) => DigitSeparator::Unseen,
        letter if letter == '\n' || is_letter(letter) => DigitSeparator::End,
        _ => DigitSeparator::Sign,
    };
    let mut all = digit_runs(text, WIDEST, separator);
    all.retain(|chain| count(chain) >= 12);
    all
}

fn has_uniform_separators(text: &str, groups: &[DigitGroup]) -> bool {
    let gaps: Vec<&str> = groups
        .windows(2)
        .filter_map(|pair| match pair {
            [one, next] => text.get(one.range.end..next.range.start),
            _ => None,
        })
        .collect();
    gaps.iter().all(|gap| gap.chars().count() == 1 && Some(gap) == gaps.first())
}

fn number(group: &DigitGroup) -> u32 {
    group
        .values
        .iter()
        .fold(0, |number: u32, value| number.saturating_mul(10).saturating_add((*value).into()))
}

fn is_year(group: &DigitGroup) -> bool {
    group.values.len() == 4 && (1900..2100).contains(&number(group))
}

/// Whether a day stands among the groups: with the time beside it, it has twelve digits, too.
fn is_day(groups: &[DigitGroup]) -> bool {
    let is_short =
        |group: &DigitGroup, most: u32| group.values.len() <= 2 && (1..=most).contains(&number(group));
    groups.windows(3).any(|three| match three {
        [day, month, year] if is_year(year) => is_short(day, 31) && is_short(month, 31),
        [year, month, day] if is_year(year) => is_short(day, 31) && is_short(month, 12),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use munshi_lang::checksums::is_verhoeff_valid;
    use munshi_lang::token::digit_value;

    use super::super::aadhaar::find_aadhaar;

    /// Twelve digits that keep the sum, after these.
    fn completed(front: &str) -> String {
        let all = (0..10).map(|last| format!("{front}{last}"));
        let keeps =
            |text: &String| is_verhoeff_valid(&text.bytes().map(|byte| byte - b'0').collect::<Vec<u8>>());
        all.into_iter().find(keeps).unwrap()
    }

    #[test]
    fn any_sign_may_part_what_the_word_names() {
        for sign in ["/", ",", "_", "|", ":", "*", " / ", "~", "—", "\u{200b}/", ", ", "//", "#", "•"] {
            for sizes in [&[4usize, 4, 4][..], &[2, 2, 2, 2, 2, 2], &[3, 3, 3, 3], &[12], &[1; 12], &[5, 7]] {
                let mut rest = "234567890124";
                let mut parts = Vec::new();
                for size in sizes {
                    let (part, more) = rest.split_at(*size);
                    parts.push(part);
                    rest = more;
                }
                let number = parts.join(sign);
                for text in [format!("aadhaar {number}"), format!("मेरा आधार नंबर: {number} hai")]
                {
                    let found = find_aadhaar(&text).unwrap_or_else(|| panic!("{text}"));
                    assert_eq!(text[found.range].chars().filter_map(digit_value).count(), 12, "{text}");
                }
            }
        }
        assert!(find_aadhaar("uid:234567890124x").is_some());
        assert!(find_aadhaar("aadhaar_2345_6789_0124.pdf").is_some());
    }

    #[test]
    fn fours_are_one_number_whatever_parts_them() {
        for text in
            ["2345/6789/0124", "2345,6789,0124", "my id 2345_6789_0124", "2345|6789|0124", "२३४५*६७८९*०१२४"]
        {
            assert!(find_aadhaar(text).is_some(), "{text}");
        }
    }

    #[test]
    fn days_lists_and_other_numbers_are_none() {
        for text in [
            "2345, 6789, 0124",
            "order 2345/6789/0124",
            "2345/6789/0124/1111",
            "Rs 2345,6789,0124",
            "AB2345/6789/0124",
            "23/45/67/89/01/24",
            "2345/6789/0125",
            "aadhaar 2345/6789/0125",
            "234567890124X",
        ] {
            assert_eq!(find_aadhaar(text), None, "{text}");
        }
        let years = completed("20192020202");
        let years = format!("{}/{}/{}", &years[..4], &years[4..8], &years[8..]);
        assert_eq!(find_aadhaar(&years), None, "{years}");
        for minute in 0..60 {
            let text = format!("aadhaar linked on 23/05/2026, 10:{minute:02}");
            assert_eq!(find_aadhaar(&text), None, "{text}");
        }
    }
}

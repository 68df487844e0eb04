//! Groups of digits in any script, and runs of them that may be one number.

use std::ops::Range;

use munshi_lang::token::digit_value;

/// Digits with nothing seen between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DigitGroup {
    pub values: Vec<u8>,
    pub range: Range<usize>,
    /// What parts it from the group before: a space, a hyphen, a point.
    pub sign: Option<char>,
}

/// What a character that is no digit does to a run of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigitSeparator {
    /// Nobody sees it: the group goes on.
    Unseen,
    /// It ends the group; another may follow.
    Sign,
    /// It ends the run.
    End,
}

/// The runs of a text: groups of digits with at most `widest` signs between two of them. Who asks says what each character
/// between digits is, since a telephone number, a card and an Aadhaar number are parted differently.
pub fn digit_runs(
    text: &str,
    widest: usize,
    separator: impl Fn(char) -> DigitSeparator,
) -> Vec<Vec<DigitGroup>> {
    let mut runs: Vec<Vec<DigitGroup>> = Vec::new();
    let (mut open, mut signs, mut sign) = (false, 0, None);
    for (at, letter) in text.char_indices() {
        // Most of a text lies between numbers.
        if !open && letter.is_ascii() && !letter.is_ascii_digit() {
            continue;
        }
        let Some(value) = digit_value(letter) else {
            if open {
                match separator(letter) {
                    DigitSeparator::Unseen => {}
                    DigitSeparator::Sign if signs < widest => {
                        sign = sign.or(Some(letter));
                        signs += 1;
                    }
                    DigitSeparator::Sign | DigitSeparator::End => open = false,
                }
            }
            continue;
        };
        if !open {
            runs.push(Vec::new());
            (signs, sign) = (0, None);
        }
        let end = at + letter.len_utf8();
        if let Some(run) = runs.last_mut() {
            match run.last_mut().filter(|_| signs == 0) {
                Some(group) => {
                    group.values.push(value);
                    group.range.end = end;
                }
                None => run.push(DigitGroup { values: vec![value], range: at..end, sign }),
            }
        }
        (open, signs, sign) = (true, 0, None);
    }
    runs
}

/// The groups in a row, from every group on, that together have so many digits.
pub fn windows(groups: &[DigitGroup], lengths: Range<usize>) -> impl Iterator<Item = &[DigitGroup]> {
    (0..groups.len()).flat_map(move |from| {
        let lengths = lengths.clone();
        let mut total = 0;
        let ends = groups.iter().enumerate().skip(from).map_while(move |(at, group)| {
            total += group.values.len();
            (total < lengths.end).then_some((at, total >= lengths.start))
        });
        ends.filter(|(_, whole)| *whole).filter_map(move |(at, _)| groups.get(from..=at))
    })
}

pub fn values(groups: &[DigitGroup]) -> Vec<u8> {
    groups.iter().flat_map(|group| group.values.iter().copied()).collect()
}

/// How many digits the groups have together.
pub fn count(groups: &[DigitGroup]) -> usize {
    groups.iter().map(|group| group.values.len()).sum()
}

/// Where the groups stand in the text.
pub fn span(groups: &[DigitGroup]) -> Range<usize> {
    let start = groups.first().map_or(0, |group| group.range.start);
    start..groups.last().map_or(start, |group| group.range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str, widest: usize) -> Vec<Vec<usize>> {
        let separator = |letter| match letter {
            '\u{200B}' => DigitSeparator::Unseen,
            ' ' | '-' => DigitSeparator::Sign,
            _ => DigitSeparator::End,
        };
        let runs = digit_runs(text, widest, separator);
        runs.iter().map(|run| run.iter().map(|group| group.values.len()).collect()).collect()
    }

    #[test]
    fn runs_hold_together_over_signs_and_what_is_not_seen() {
        assert_eq!(sizes("call 98765 43210, or २३४५-6789\u{200B}0", 1), [vec![5, 5], vec![4, 5]]);
        assert_eq!(sizes("12 - 34", 3), [vec![2, 2]]);
        assert_eq!(sizes("12 - 34", 2), [vec![2], vec![2]]);
        assert_eq!(sizes("12/05/2026", 3), [vec![2], vec![2], vec![4]]);
        assert_eq!(sizes("", 1), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn windows_begin_and_end_with_groups() {
        let runs = digit_runs("x 12 3456 7890", 1, |_| DigitSeparator::Sign);
        let found: Vec<usize> = windows(&runs[0], 6..11).map(count).collect();
        assert_eq!(found, [6, 10, 8]);
        assert_eq!(span(&runs[0]), 2..14);
        assert_eq!(values(&runs[0]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
        assert_eq!(runs[0][1].sign, Some(' '));
    }
}

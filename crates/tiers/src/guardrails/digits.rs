//! Runs of digits, however they are parted, and the sums that tell what they are.

use std::ops::Range;

use munshi_lang::token::digit;

use super::letters::unseen;

/// Digits with only separators between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Each digit and where it stands.
    digits: Vec<(u8, Range<usize>)>,
    /// The digits before which something lies.
    breaks: Vec<usize>,
    /// A plus sign stands before it: a telephone number.
    pub dialled: bool,
}

/// So many other characters may lie between two digits of one number.
const WIDEST: usize = 3;

/// The runs of a text.
pub(crate) fn runs(text: &str) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    if !text.chars().any(|letter| digit(letter).is_some()) {
        return found;
    }
    let mut between = usize::MAX;
    let mut dialled = false;
    for (at, letter) in text.char_indices() {
        if let Some(value) = digit(letter) {
            if between > WIDEST || found.is_empty() {
                found.push(Run { dialled, ..Run::default() });
            }
            if let Some(run) = found.last_mut() {
                if between > 0 && between <= WIDEST {
                    run.breaks.push(run.digits.len());
                }
                run.digits.push((value, at..at + letter.len_utf8()));
            }
            between = 0;
            dialled = false;
        } else if letter.is_alphabetic() || matches!(letter, '₹' | '$' | '%') {
            between = usize::MAX;
            dialled = false;
        } else {
            dialled = letter == '+' || (dialled && !letter.is_alphanumeric());
            between = between.saturating_add(usize::from(!unseen(letter)));
        }
    }
    found
}

impl Run {
    pub(crate) fn len(&self) -> usize {
        self.digits.len()
    }

    pub(crate) fn values(&self) -> Vec<u8> {
        self.digits.iter().map(|(value, _)| *value).collect()
    }

    /// Every stretch of so many digits that begins and ends where a group does.
    pub(crate) fn windows(&self, length: usize) -> impl Iterator<Item = Range<usize>> {
        let edge = move |at: usize| at == 0 || at == self.digits.len() || self.breaks.contains(&at);
        (0..self.digits.len())
            .map(move |from| from..from + length)
            .filter(move |window| window.end <= self.digits.len() && edge(window.start) && edge(window.end))
    }

    /// Where some of the digits stand in the text.
    pub(crate) fn span(&self, window: &Range<usize>) -> Range<usize> {
        let start = self.digits.get(window.start).map_or(0, |(_, at)| at.start);
        let end =
            window.end.checked_sub(1).and_then(|last| self.digits.get(last)).map_or(start, |(_, at)| at.end);
        start..end
    }

    /// The stretch with every digit but the last four hidden.
    pub(crate) fn masked(&self, text: &str, window: &Range<usize>, shown: usize) -> String {
        let span = self.span(window);
        let mut out = String::new();
        let mut left = window.len();
        for letter in text.get(span).unwrap_or_default().chars() {
            if digit(letter).is_some() {
                out.push(if left > shown { 'X' } else { letter });
                left -= 1;
            } else {
                out.push(letter);
            }
        }
        out
    }
}

const PRODUCT: [[u8; 10]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];

const PERMUTED: [[u8; 10]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
];

/// Verhoeff's sum, which every Aadhaar number keeps.
pub(crate) fn verhoeff(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().try_fold(0u8, |sum, (at, value)| {
        let moved = *PERMUTED.get(at % 8)?.get(usize::from(*value))?;
        PRODUCT.get(usize::from(sum))?.get(usize::from(moved)).copied()
    });
    sum == Some(0)
}

/// Luhn's sum, which every card number keeps.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, value)| match (at % 2, u32::from(*value)) {
            (0, value) => value,
            (_, value) if value > 4 => value * 2 - 9,
            (_, value) => value * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_hold() {
        assert!(verhoeff(&[2, 3, 6]));
        assert!(!verhoeff(&[2, 3, 7]));
        assert!(luhn(&[4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]));
        assert!(!luhn(&[4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]));
    }

    #[test]
    fn digits_hold_together_over_spaces_lines_and_pictures() {
        let found = runs("id 2345-6789\n0123 and ४५");
        assert_eq!(found.iter().map(Run::len).collect::<Vec<_>>(), [12, 2]);
        assert_eq!(found[0].masked("id 2345-6789\n0123 and ४५", &(0..12), 4), "XXXX-XXXX\n0123");
    }
}

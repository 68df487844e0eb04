//! Runs of digits, however they are parted.

use std::ops::Range;

use munshi_lang::token::digit;

use super::letters::unseen;

/// Digits with only separators between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct GuardrailDigitRun {
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
pub(crate) fn runs(text: &str) -> Vec<GuardrailDigitRun> {
    let mut found: Vec<GuardrailDigitRun> = Vec::new();
    if !text.chars().any(|letter| digit(letter).is_some()) {
        return found;
    }
    let mut between = usize::MAX;
    let mut dialled = false;
    for (at, letter) in text.char_indices() {
        if let Some(value) = digit(letter) {
            if between > WIDEST || found.is_empty() {
                found.push(GuardrailDigitRun { dialled, ..GuardrailDigitRun::default() });
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

impl GuardrailDigitRun {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_hold_together_over_spaces_lines_and_pictures() {
        let found = runs("id 2345-6789\n0123 and ४५");
        assert_eq!(found.iter().map(GuardrailDigitRun::len).collect::<Vec<_>>(), [12, 2]);
        assert_eq!(found[0].masked("id 2345-6789\n0123 and ४५", &(0..12), 4), "XXXX-XXXX\n0123");
    }
}

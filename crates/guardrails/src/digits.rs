//! Runs of digits in a reply, however they are parted.
//!
//! More may lie between two digits here than in `munshi-privacy`: a model that was told not to write a number out puts
//! pictures and lines into it, and nothing in a reply has to stay for a tool to read.

use std::ops::Range;

use munshi_detect::digits::{DigitGroup, DigitSeparator, count, digit_runs, span};
use munshi_lang::token::digit_value;

use super::letters::is_unseen;

/// Digits with only separators between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct GuardrailDigitRun {
    pub groups: Vec<DigitGroup>,
    /// A plus sign stands before it: a telephone number.
    pub dialled: bool,
}

/// So many other characters may lie between two digits of one number.
const WIDEST: usize = 3;

/// Letters and what makes an amount of a number.
fn is_other(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '₹' | '$' | '%')
}

fn classify_separator(letter: char) -> DigitSeparator {
    if is_other(letter) {
        DigitSeparator::End
    } else if is_unseen(letter) {
        DigitSeparator::Unseen
    } else {
        DigitSeparator::Sign
    }
}

/// The runs of a text.
pub(crate) fn find_runs(text: &str) -> Vec<GuardrailDigitRun> {
    let run = |groups: Vec<DigitGroup>| {
        let front = text.get(..span(&groups).start).unwrap_or_default().chars().rev();
        let mut signs = front.take_while(|letter| !letter.is_alphanumeric() && !is_other(*letter));
        GuardrailDigitRun { dialled: signs.any(|letter| letter == '+'), groups }
    };
    digit_runs(text, WIDEST, classify_separator).into_iter().map(run).collect()
}

impl GuardrailDigitRun {
    pub(crate) fn len(&self) -> usize {
        count(&self.groups)
    }

    /// Where the run stands in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        span(&self.groups)
    }
}

/// The groups as the text writes them, with every digit but the last ones hidden.
pub(crate) fn mask_digits(text: &str, groups: &[DigitGroup], shown: usize) -> String {
    let mut out = String::new();
    let mut left = count(groups);
    for letter in text.get(span(groups)).unwrap_or_default().chars() {
        if digit_value(letter).is_some() {
            out.push(if left > shown { 'X' } else { letter });
            left -= 1;
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_hold_together_over_spaces_lines_and_pictures() {
        let found = find_runs("id 2345-6789\n0123 and ४५");
        assert_eq!(found.iter().map(GuardrailDigitRun::len).collect::<Vec<_>>(), [12, 2]);
        assert_eq!(mask_digits("id 2345-6789\n0123 and ४५", &found[0].groups, 4), "XXXX-XXXX\n0123");
        let dialled = |text| find_runs(text)[0].dialled;
        assert!(dialled("(+ 91) 98765") && !dialled("+ x 91") && !dialled("91 +"));
    }
}

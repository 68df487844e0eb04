//! Runs of digits as people part them, and what stands around them. The groups are those of `munshi_detect`; whether they are
//! an amount or stand in a word decides here alone, since what is hidden must leave amounts to the model.

use munshi_detect::digits::{DigitGroup, DigitSeparator, digit_runs, span};
use munshi_lang::fold;
use munshi_lang::text_words::{PlainWord, split_words};
use munshi_lang::token::{digit_value, is_gap, is_unseen};

/// Groups that may be one number.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberCandidate {
    pub groups: Vec<DigitGroup>,
    pub plus: bool,
    /// A rupee sign stands before it, or commas, a point or a fraction make an amount of it.
    pub amount: bool,
    /// A letter stands right before, or right after it.
    pub glued: bool,
    /// How many of the groups could be a part of a long number.
    pub fours: usize,
}

/// Amounts side by side are round: 75000 25000.
pub(crate) fn is_round(groups: &[DigitGroup]) -> bool {
    groups.len() > 1 && groups.iter().all(ends_round)
}

fn ends_round(group: &DigitGroup) -> bool {
    matches!(group.values.as_slice(), [.., 0 | 5, 0] | [.., 2 | 7, 5])
}

/// How many groups have four digits or more and are no amount.
pub(crate) fn count_fours(groups: &[DigitGroup]) -> usize {
    groups.iter().filter(|group| group.values.len() >= 4 && !ends_round(group)).count()
}

/// Signs that may lie between the groups of one number.
const fn classify_separator(letter: char) -> DigitSeparator {
    if is_unseen(letter) {
        DigitSeparator::Unseen
    } else if matches!(letter, '-' | '.' | '(' | ')' | '–' | '‑' | '\t' | '\n') || is_gap(letter) {
        DigitSeparator::Sign
    } else {
        DigitSeparator::End
    }
}

/// So many signs lie between two groups at most.
const WIDEST: usize = 3;

/// The runs of a text.
pub(crate) fn find_runs(text: &str) -> Vec<NumberCandidate> {
    digit_runs(text, WIDEST, classify_separator)
        .into_iter()
        .map(|groups| NumberCandidate::new(text, groups))
        .collect()
}

impl NumberCandidate {
    fn new(text: &str, groups: Vec<DigitGroup>) -> Self {
        let range = span(&groups);
        let front = text.get(..range.start).unwrap_or_default();
        let before = front.chars().rev().find(|letter| !is_unseen(*letter));
        let mut rest = text.get(range.end..).unwrap_or_default().chars();
        let after = rest.find(|letter| !is_unseen(*letter));
        let next = rest.next();
        let is_short = is_short(&groups);
        // 1,25,000 and 500% and 500/- count something; a list of long numbers does not.
        let grouped = after == Some(',') && next.and_then(digit_value).is_some() && is_short;
        let ended = after == Some('%') || (after == Some('/') && matches!(next, Some('-' | '=')));
        Self {
            plus: front.trim_end_matches(['(', ' ']).ends_with('+'),
            amount: ends_with_currency(front) || grouped || ended || (is_short && follows_comma(front)),
            glued: before.into_iter().chain(after).any(char::is_alphabetic),
            fours: count_fours(&groups),
            groups,
        }
    }
}

/// Whether the groups of a run are as short as commas leave them.
fn is_short(groups: &[DigitGroup]) -> bool {
    groups.len() == 1 && groups.iter().all(|group| group.values.len() < 4)
}

fn follows_comma(front: &str) -> bool {
    front.strip_suffix(',').is_some_and(|number| number.ends_with(|letter| digit_value(letter).is_some()))
}

/// Whether a text ends with a currency.
pub(crate) fn ends_with_currency(front: &str) -> bool {
    let front = front.trim_end_matches(|letter: char| letter == ' ' || letter == '.' || is_unseen(letter));
    if front.ends_with(['₹', '$', '€', '£']) {
        return true;
    }
    let word = front.rsplit(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    ["rs", "inr", "usd", "re"].iter().any(|currency| word.eq_ignore_ascii_case(currency))
}

/// The folded words of the same line before a place, the nearest first.
pub(crate) fn words_before(text: &str, at: usize) -> Vec<String> {
    const FAR: usize = 60;
    let mut from = at.saturating_sub(FAR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let front = text.get(from..at).unwrap_or_default();
    // A full stop ends what was said before it; in `no.` it does not.
    let front = front.rsplit(['\n', '।', '!', '?', ';']).next().unwrap_or_default();
    // What stands for something hidden says nothing of what follows.
    let front = front.rsplit("hidden]").next().unwrap_or_default();
    let near = split_words(front).into_iter().rev().take(4);
    let mut words: Vec<String> =
        near.map(|word| fold::key(&PlainWord::new(front.get(word.range).unwrap_or_default()).text)).collect();
    // `a/c` comes apart at its slash.
    if words.windows(2).any(|pair| matches!(pair, [after, before] if after == "k" && before == "a")) {
        words.push("ac".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<Vec<usize>> {
        find_runs(text)
            .iter()
            .map(|run| run.groups.iter().map(|group| group.values.len()).collect())
            .collect()
    }

    #[test]
    fn runs_hold_together_over_signs_and_what_is_not_seen() {
        assert_eq!(sizes("call 98765 43210, or २३४५-6789\u{200B}0"), [vec![5, 5], vec![4, 5]]);
        assert_eq!(sizes("12/05/2026"), [vec![2], vec![2], vec![4]]);
        assert!(find_runs("₹ 9876543210")[0].amount && find_runs("Rs.9876543210")[0].amount);
        assert!(find_runs("98,76,543,210").iter().all(|run| run.amount));
        assert!(find_runs("(+91) 98765")[0].plus);
        assert_eq!(words_before("my A/c no. 12", 11), ["no", "k", "a", "my", "ac"]);
    }
}

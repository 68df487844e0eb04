//! Runs of digits as a text parts them, and what stands before them.

use std::ops::Range;

use munshi_lang::fold;
use munshi_lang::letters::{PlainWord, lettered};
use munshi_lang::token::{digit, gap, unseen};

/// Digits with nothing seen between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DigitGroup {
    pub values: Vec<u8>,
    pub range: Range<usize>,
    /// What parts it from the group before: a space, a hyphen, a point.
    pub sign: Option<char>,
}

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

impl NumberCandidate {
    /// The groups in a row, from every group on, that together have so many digits.
    pub(crate) fn windows(&self, lengths: Range<usize>) -> impl Iterator<Item = &[DigitGroup]> {
        (0..self.groups.len()).flat_map(move |from| {
            let lengths = lengths.clone();
            let mut total = 0;
            let ends = self.groups.iter().enumerate().skip(from).map_while(move |(at, group)| {
                total += group.values.len();
                (total < lengths.end).then_some((at, total >= lengths.start))
            });
            ends.filter(|(_, whole)| *whole).filter_map(move |(at, _)| self.groups.get(from..=at))
        })
    }
}

pub(crate) fn values(groups: &[DigitGroup]) -> Vec<u8> {
    groups.iter().flat_map(|group| group.values.iter().copied()).collect()
}

pub(crate) fn span(groups: &[DigitGroup]) -> Range<usize> {
    let start = groups.first().map_or(0, |group| group.range.start);
    start..groups.last().map_or(start, |group| group.range.end)
}

/// Amounts side by side are round: 75000 25000.
pub(crate) fn is_round(groups: &[DigitGroup]) -> bool {
    groups.len() > 1 && groups.iter().all(ends_round)
}

fn ends_round(group: &DigitGroup) -> bool {
    matches!(group.values.as_slice(), [.., 0 | 5, 0] | [.., 2 | 7, 5])
}

/// How many groups have four digits or more and are no amount.
pub(crate) fn fours(groups: &[DigitGroup]) -> usize {
    groups.iter().filter(|group| group.values.len() >= 4 && !ends_round(group)).count()
}

/// Signs that may lie between the groups of one number.
const fn parts(letter: char) -> bool {
    matches!(letter, '-' | '.' | '(' | ')' | '–' | '‑' | '\t' | '\n') || gap(letter)
}

/// The runs of a text.
pub(crate) fn runs(text: &str) -> Vec<NumberCandidate> {
    let mut found: Vec<NumberCandidate> = Vec::new();
    let mut signs: Vec<char> = Vec::new();
    let mut before: Option<char> = None;
    let mut open = false;
    for (at, letter) in text.char_indices() {
        // Most of a text lies between numbers.
        if !open && !before_matters(letter) {
            before = Some(letter);
            continue;
        }
        if let Some(value) = digit(letter) {
            let end = at + letter.len_utf8();
            if !open {
                let front = text.get(..at).unwrap_or_default();
                let glued = before.is_some_and(char::is_alphabetic);
                found.push(NumberCandidate {
                    plus: front.trim_end_matches(['(', ' ']).ends_with('+'),
                    amount: is_priced(front),
                    glued,
                    ..NumberCandidate::default()
                });
            }
            if let Some(run) = found.last_mut() {
                match run.groups.last_mut().filter(|_| open && signs.is_empty()) {
                    Some(group) => {
                        group.values.push(value);
                        group.range.end = end;
                    }
                    None => run.groups.push(DigitGroup {
                        values: vec![value],
                        range: at..end,
                        sign: signs.first().copied(),
                    }),
                }
            }
            (open, before) = (true, Some(letter));
            signs.clear();
        } else if !unseen(letter) {
            let next = text.get(at + letter.len_utf8()..).and_then(|rest| rest.chars().next());
            close(&mut found, (letter, next), &mut open, &mut signs);
            before = Some(letter);
        }
    }
    for run in &mut found {
        let start = run.groups.first().map_or(0, |group| group.range.start);
        run.fours = fours(&run.groups);
        run.amount |= is_short(run) && follows_comma(text.get(..start).unwrap_or_default());
    }
    found
}

/// Whether the groups of a run are as short as commas leave them.
fn is_short(run: &NumberCandidate) -> bool {
    run.groups.len() == 1 && run.groups.iter().all(|group| group.values.len() < 4)
}

fn follows_comma(front: &str) -> bool {
    front.strip_suffix(',').is_some_and(|number| number.ends_with(|letter| digit(letter).is_some()))
}

/// Whether a letter may begin a run, or is not seen.
fn before_matters(letter: char) -> bool {
    if letter.is_ascii() { letter.is_ascii_digit() } else { digit(letter).is_some() || unseen(letter) }
}

/// Takes a letter that is no digit: part of the run, or its end.
fn close(
    found: &mut [NumberCandidate],
    (letter, next): (char, Option<char>),
    open: &mut bool,
    signs: &mut Vec<char>,
) {
    if !*open {
        return;
    }
    if parts(letter) && signs.len() < 3 {
        signs.push(letter);
        return;
    }
    if let Some(run) = found.last_mut() {
        run.glued |= letter.is_alphabetic() && signs.is_empty();
        // 1,25,000 and 500% and 500/- count something; a list of long numbers does not.
        let grouped = letter == ',' && next.and_then(digit).is_some() && is_short(run);
        let ended = letter == '%' || (letter == '/' && matches!(next, Some('-' | '=')));
        run.amount |= signs.is_empty() && (grouped || ended);
    }
    *open = false;
    signs.clear();
}

/// Whether a text ends with a currency.
pub(crate) fn is_priced(front: &str) -> bool {
    let front = front.trim_end_matches(|letter: char| letter == ' ' || letter == '.' || unseen(letter));
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
    let near = lettered(front).into_iter().rev().take(4);
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
        runs(text).iter().map(|run| run.groups.iter().map(|group| group.values.len()).collect()).collect()
    }

    #[test]
    fn runs_hold_together_over_signs_and_what_is_not_seen() {
        assert_eq!(sizes("call 98765 43210, or २३४५-6789\u{200B}0"), [vec![5, 5], vec![4, 5]]);
        assert_eq!(sizes("12/05/2026"), [vec![2], vec![2], vec![4]]);
        assert!(runs("₹ 9876543210")[0].amount && runs("Rs.9876543210")[0].amount);
        assert!(runs("98,76,543,210").iter().all(|run| run.amount));
        assert!(runs("(+91) 98765")[0].plus);
        assert_eq!(words_before("my A/c no. 12", 11), ["no", "k", "a", "my", "ac"]);
    }

    #[test]
    fn windows_begin_and_end_with_groups() {
        let run = &runs("12 3456 7890")[0];
        let found: Vec<usize> = run.windows(6..11).map(|groups| values(groups).len()).collect();
        assert_eq!(found, [6, 10, 8]);
    }
}

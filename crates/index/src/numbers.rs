//! The numbers of a text, each in one form however it is written: `1,50,000`, `१५०००`, `+91 98123-45678`.
//!
//! What may be one number or several has the forms of all: that of the one first.

use std::ops::Range;

use munshi_lang::token::{digit_value, is_unseen};

use crate::words::IndexWord;

/// What the form of a number begins with.
const NUMBER: char = '#';
/// Of a mobile number, without what is dialled before it.
const PHONE: usize = 10;
/// What is dialled before it.
const PREFIXES: [&str; 4] = ["", "0", "91", "0091"];
/// Behind which of its digits people part it.
const PARTED: [&[usize]; 7] = [&[], &[5], &[4], &[6], &[3, 6], &[3, 7], &[4, 7]];
/// Groups that a phone has at most, with what is dialled before it.
const PHONE_GROUPS: usize = 4;

pub(crate) fn is_number_form(form: &str) -> bool {
    form.starts_with(NUMBER)
}

fn to_form(digits: &str) -> String {
    format!("{NUMBER}{digits}")
}

pub(crate) fn split_numbers(text: &str) -> Vec<IndexWord> {
    let (mut found, mut run, mut separator) = (Vec::new(), DigitRun::default(), None);
    for (at, letter) in text.char_indices().filter(|(_, letter)| !is_unseen(*letter)) {
        let end = at + letter.len_utf8();
        match (digit_value(letter), NumberSeparator::from_char(letter)) {
            (Some(value), _) => run.push(separator.take(), char::from(b'0' + value), at..end),
            (None, Some(sign)) if separator.is_none() && !run.groups.is_empty() => separator = Some(sign),
            (None, _) => {
                separator = None;
                found.extend(std::mem::take(&mut run).into_numbers());
            }
        }
    }
    found.extend(run.into_numbers());
    join_phones(text, &found)
}

/// A number, and its digits where nothing parts them.
struct PlainNumber {
    word: IndexWord,
    digits: Option<String>,
}

/// Digits that may be one number: groups, and what stands between them.
#[derive(Default)]
struct DigitRun {
    groups: Vec<GroupedDigits>,
    separators: Vec<NumberSeparator>,
}

struct GroupedDigits {
    range: Range<usize>,
    digits: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberSeparator {
    Comma,
    Point,
}

impl NumberSeparator {
    const fn from_char(letter: char) -> Option<Self> {
        match letter {
            ',' | '，' | '٬' => Some(Self::Comma),
            '.' | '．' | '٫' => Some(Self::Point),
            _ => None,
        }
    }
}

impl DigitRun {
    fn push(&mut self, separator: Option<NumberSeparator>, digit: char, range: Range<usize>) {
        self.separators.extend(separator);
        match self.groups.last_mut().filter(|_| separator.is_none()) {
            Some(group) => {
                group.digits.push(digit);
                group.range.end = range.end;
            }
            None => self.groups.push(GroupedDigits { range, digits: digit.to_string() }),
        }
    }

    /// One number, or as many as there are groups: a date, a list.
    fn into_numbers(self) -> Vec<PlainNumber> {
        let (Some(first), Some(last)) = (self.groups.first(), self.groups.last()) else { return Vec::new() };
        let range = first.range.start..last.range.end;
        if let (Some(number), true) = (self.join(), self.groups.len() > 1) {
            let mut forms = vec![to_form(&number)];
            if self.may_be_list() {
                forms.extend(self.groups.iter().map(|group| to_form(&group.digits)));
            }
            return vec![PlainNumber { word: IndexWord { range, forms }, digits: None }];
        }
        let single = |group: GroupedDigits| PlainNumber {
            word: IndexWord { range: group.range, forms: vec![to_form(&group.digits)] },
            digits: Some(group.digits),
        };
        self.groups.into_iter().map(single).collect()
    }

    /// `1,50,000.50` as `150000.5`.
    fn join(&self) -> Option<String> {
        let point = self.separators.iter().position(|sign| *sign == NumberSeparator::Point);
        let whole = point.map_or(self.groups.len(), |at| at + 1);
        let (whole, fraction) = self.groups.split_at_checked(whole)?;
        if fraction.len() > 1 || !is_grouped(whole) {
            return None;
        }
        let whole: String = whole.iter().map(|group| group.digits.as_str()).collect();
        let fraction = fraction.first().map_or("", |group| group.digits.trim_end_matches('0'));
        Some(if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") })
    }

    /// `100,200` is two numbers as well as one.
    fn may_be_list(&self) -> bool {
        self.separators == [NumberSeparator::Comma] && self.groups.iter().all(|group| group.digits.len() == 3)
    }
}

/// Whether groups are parted as thousands or lakhs are.
fn is_grouped(groups: &[GroupedDigits]) -> bool {
    let sizes: Vec<usize> = groups.iter().map(|group| group.digits.len()).collect();
    match sizes[..] {
        [] | [_] => true,
        [first, ref middle @ .., last] => {
            first <= 3 && last == 3 && middle.iter().all(|size| matches!(size, 2 | 3))
        }
    }
}

/// Numbers that together are a phone become one word, found by each of them too.
fn join_phones(text: &str, numbers: &[PlainNumber]) -> Vec<IndexWord> {
    let (mut words, mut at) = (Vec::with_capacity(numbers.len()), 0);
    while let Some(rest) = numbers.get(at..).filter(|rest| !rest.is_empty()) {
        let longest = (1..=PHONE_GROUPS.min(rest.len())).rev();
        let phone = longest
            .filter_map(|count| rest.get(..count))
            .find_map(|groups| Some((groups.len(), join_phone(text, groups)?)));
        let (count, word) = phone.unwrap_or_else(|| (1, rest[0].word.clone()));
        words.push(word);
        at += count;
    }
    words
}

fn join_phone(text: &str, groups: &[PlainNumber]) -> Option<IndexWord> {
    let are_near = |pair: &[PlainNumber]| {
        let between = text.get(pair[0].word.range.end..pair[1].word.range.start).unwrap_or_default();
        let mut between = between.chars().filter(|letter| !is_unseen(*letter));
        between.next().is_some_and(parts_phone) && between.next().is_none()
    };
    if !groups.windows(2).all(are_near) {
        return None;
    }
    let digits: Vec<&str> = groups.iter().map(|group| group.digits.as_deref()).collect::<Option<_>>()?;
    let phone = find_phone(&digits)?;
    let range = groups.first()?.word.range.start..groups.last()?.word.range.end;
    let phone = to_form(&phone);
    let groups = digits.into_iter().map(to_form).filter(|group| *group != phone);
    Some(IndexWord { range, forms: std::iter::once(phone.clone()).chain(groups).collect() })
}

const fn parts_phone(letter: char) -> bool {
    matches!(letter, ' ' | '\u{A0}' | '\u{202F}' | '-' | '\u{2010}'..='\u{2013}')
}

/// The ten digits of a mobile number of India, where groups are parted as people part one.
fn find_phone(groups: &[&str]) -> Option<String> {
    let all = groups.concat();
    let dialled = all.len().checked_sub(PHONE)?;
    let (prefix, phone) = all.split_at_checked(dialled)?;
    if !PREFIXES.contains(&prefix) || !phone.starts_with(['6', '7', '8', '9']) {
        return None;
    }
    let mut end = 0;
    let ends: Vec<usize> = groups
        .iter()
        .map(|group| {
            end += group.len();
            end
        })
        .filter(|end| (dialled + 1..all.len()).contains(end))
        .map(|end| end - dialled)
        .collect();
    let is_prefix_whole = groups.first().is_some_and(|first| first.len() >= dialled);
    (is_prefix_whole && PARTED.contains(&ends.as_slice())).then(|| phone.to_owned())
}

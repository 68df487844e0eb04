//! Words taken apart, put together again where the lexicon knows the result.

use std::ops::Range;

use super::letters::{decode_leet, push_letter};
use super::table::{SEED, WordClassTable};
use super::tokens::{GuardrailTokenKind, GuardrailTokenList, TokenGap};

/// Puts letters set apart together where the lexicon knows the word, the longest first.
pub(crate) fn join_letters(tokens: &mut GuardrailTokenList, table: &WordClassTable) {
    for run in find_spelled_out(tokens).into_iter().rev() {
        let mut to = run.len();
        while to >= 3 {
            let longest = (0..to - 2).find_map(|from| {
                let word: String = run[from..to].iter().map(|(_, part)| part.as_str()).collect();
                let least = if word.len() == 3 { Fit::Whole } else { Fit::Letters(4) };
                is_known_word(table, &word, 0, least).then_some((from, word))
            });
            match longest {
                Some((from, word)) => {
                    tokens.replace(run[from].0..run[to - 1].0 + 1, &word);
                    to = from;
                }
                None => to -= 1,
            }
        }
    }
}

/// Puts words broken by signs or digits together where the lexicon knows the result, and it is more than the first of
/// its pieces: `discounts/offers` are two words.
pub(crate) fn join_pieces(tokens: &mut GuardrailTokenList, table: &WordClassTable) {
    for (from, to, word) in find_disguised(tokens).into_iter().rev() {
        // A one stands for an i or an l.
        let other = tokens.traits.digits.then(|| merge_tokens(tokens, from..to, leet_as_l)).flatten();
        let beyond = tokens.spelling(from).len();
        let fits = |word: &String| is_known_word(table, word, beyond, Fit::Letters(5));
        if let Some(word) = [Some(word), other.map(|(_, _, word)| word)].into_iter().flatten().find(fits) {
            tokens.replace(from..to, &word);
        }
    }
}

/// How much of a joined word an entry must cover.
#[derive(Clone, Copy)]
enum Fit {
    Whole,
    /// So many Latin letters; of other scripts two are enough.
    Letters(usize),
}

/// Whether the lexicon knows a word by more than its first `beyond` bytes.
fn is_known_word(table: &WordClassTable, word: &str, beyond: usize, fit: Fit) -> bool {
    let mut found = false;
    table.find_joined(("", SEED), word, |_, letters| {
        let long = match fit {
            Fit::Whole => letters == word.len(),
            Fit::Letters(least) => {
                let least = if word.is_ascii() { least } else { 3 };
                word.get(..letters).is_some_and(|part| part.chars().count() >= least)
            }
        };
        found |= long && letters > beyond;
    });
    found
}

/// Letters set apart one by one, with spaces, dots or pictures between them: `d i s c o u n t`. Returns runs of
/// tokens, each with the letters it stands for.
fn find_spelled_out(tokens: &GuardrailTokenList) -> Vec<Vec<(usize, String)>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (length, last) = scan_run(tokens, at, |_, _| {});
        if length >= 3 {
            let mut run = Vec::with_capacity(length);
            scan_run(tokens, at, |place, letter| {
                let part = letter.map_or_else(|| tokens.spelling(place).to_owned(), String::from);
                run.push((place, part));
            });
            found.push(run);
        }
        at = last.unwrap_or(at) + 1;
    }
    found
}

/// Runs are not followed further than this.
const LONGEST_RUN: usize = 40;

/// How many parts the run from a token has, and its last token. Calls back with each part: its token, and the letter a
/// digit or sign stands for.
fn scan_run(
    tokens: &GuardrailTokenList,
    from: usize,
    mut part: impl FnMut(usize, Option<char>),
) -> (usize, Option<usize>) {
    let (mut length, mut last, mut signs) = (0, None, 0);
    for (at, token) in tokens.iter().enumerate().skip(from) {
        if (token.gap == TokenGap::Wide && at > from) || length == LONGEST_RUN {
            break;
        }
        let letter = match token.kind {
            GuardrailTokenKind::Word if is_lone_letter(tokens, at) => None,
            GuardrailTokenKind::Number if length > 0 && token.len() == 1 => {
                let Some(letter) = tokens.spelling(at).chars().next().and_then(decode_leet) else { break };
                Some(letter)
            }
            GuardrailTokenKind::Sign(sign) if length > 0 && signs < 3 && sign != '\n' => {
                signs += 1;
                let stands =
                    decode_leet(sign).filter(|_| token.gap == TokenGap::One || sign == '@' || sign == '$');
                let Some(letter) = stands else { continue };
                part(at, Some(letter));
                (length, last) = (length + 1, Some(at));
                continue;
            }
            _ => break,
        };
        part(at, letter);
        (length, last, signs) = (length + 1, Some(at), 0);
    }
    (length, last)
}

/// A letter alone, or a syllable of a script that writes in syllables.
fn is_lone_letter(tokens: &GuardrailTokenList, at: usize) -> bool {
    let length = tokens[at].len();
    if tokens[at].is_latin() && length > 1 {
        return false;
    }
    length <= 20 && tokens.count_syllables(at) == 1 && tokens.spelling(at).chars().count() <= 5
}

/// Words broken by signs or digits inside them, without a space: `dis-count`, `d1sc0unt`, `c@shback`.
fn find_disguised(tokens: &GuardrailTokenList) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let mut to = at + 1;
        while to < tokens.len() && tokens[to].gap == TokenGap::None && !tokens[to].is_sign('\n') {
            to += 1;
        }
        if to > at + 1 && to - at < 24 {
            found.extend(merge_tokens(tokens, at..to, decode_leet));
        }
        at = to;
    }
    found
}

/// The letter that a digit or sign stands for, a one for an l.
fn leet_as_l(letter: char) -> Option<char> {
    if matches!(letter, '1' | '|') { Some('l') } else { decode_leet(letter) }
}

/// Tokens without a space between them as one word. What follows the last letter (a full stop, an exclamation) is no
/// part of it.
fn merge_tokens(
    tokens: &GuardrailTokenList,
    place: Range<usize>,
    stands: fn(char) -> Option<char>,
) -> Option<(usize, usize, String)> {
    let from = place.start;
    let last = place.rev().find(|at| tokens[*at].is_word())? + 1;
    if last <= from + 1 {
        return None;
    }
    let mut word = String::new();
    for at in from..last {
        match tokens[at].kind {
            GuardrailTokenKind::Word => {
                tokens.spelling(at).chars().for_each(|letter| push_letter(&mut word, 0, letter));
            }
            GuardrailTokenKind::Number => word.extend(tokens.spelling(at).chars().filter_map(stands)),
            GuardrailTokenKind::Sign(sign) => word.extend(stands(sign)),
        }
    }
    Some((from, last, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_set_apart_are_read_as_words() {
        let joined = |text: &str| {
            let runs = find_spelled_out(&GuardrailTokenList::new(text));
            runs.into_iter()
                .map(|run| run.into_iter().map(|(_, part)| part).collect::<String>())
                .collect::<Vec<_>>()
        };
        assert_eq!(joined("a d i s c o u n t  for you"), ["adiscount"]);
        assert_eq!(joined("d.i.s.c.o.u.n.t now"), ["discount"]);
        assert_eq!(joined("d🔥i🔥s🔥c🔥o🔥u🔥n🔥t"), ["discount"]);
        assert_eq!(joined("d 1 s c 0 u n t"), ["discount"]);
        assert_eq!(joined("डि स्का उं ट"), ["डिस्काउंट"]);
        assert_eq!(joined("this is plain"), Vec::<String>::new());
    }

    #[test]
    fn words_with_signs_inside_are_joined() {
        let joined = |text: &str| {
            find_disguised(&GuardrailTokenList::new(text))
                .into_iter()
                .map(|(_, _, word)| word)
                .collect::<Vec<_>>()
        };
        assert_eq!(joined("dis-count"), ["discount"]);
        assert_eq!(joined("a d1sc0unt!"), ["discount"]);
        assert_eq!(joined("c@shb@ck"), ["cashback"]);
    }
}

//! Words and phrases to their classes.
//!
//! An entry is matched by its first word, found by the hash of every beginning of a word of the reply, so that
//! `guarant*` costs no more than `guarantee`. There are two tables: words as they are spelled, and words brought to
//! Latin letters and folded, where spellings of one word in Latin letters and in several scripts meet.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use munshi_lang::fold;

use super::classes::WordClassId;

/// The shortest folds that are looked up, since shorter ones mean too many things: of an English word met in another
/// script, of an Indian word met in Latin letters, and of an Indian word met in another Indian script.
const LOAN_FOLD: usize = 5;
const LATIN_FOLD: usize = 6;
const FAR_FOLD: usize = 9;

#[derive(Clone, Debug, Default)]
pub(crate) struct WordClassTable {
    spelled: Heads,
    folded: Heads,
    /// Endings that carry a meaning of their own, by their last letters: Tamil says no at the end of a verb.
    endings: Map<Vec<(String, WordClassId)>>,
}

type Map<T> = HashMap<u64, T, BuildHasherDefault<PrehashedHasher>>;

/// Entries by the hash of their first word, behind a filter: nearly every beginning of a word begins no entry.
#[derive(Clone, Debug)]
struct Heads {
    entries: Map<Vec<Entry>>,
    filter: Vec<u64>,
    longest: usize,
}

/// So many bits the filter has: ten times the entries there are, in a size that stays in the cache.
const FILTER_BITS: usize = 1 << 17;

impl Default for Heads {
    fn default() -> Self {
        Self { entries: Map::default(), filter: vec![0; FILTER_BITS / 64], longest: 0 }
    }
}

impl Heads {
    fn insert(&mut self, entry: Entry) {
        let Some(first) = entry.words.first().filter(|first| !first.text.is_empty()) else { return };
        let hash = hash(&first.text);
        let (part, bit) = filter_place(hash);
        if let Some(part) = self.filter.get_mut(part) {
            *part |= bit;
        }
        self.longest = self.longest.max(first.text.len());
        let entries = self.entries.entry(hash).or_default();
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }

    fn get(&self, hash: u64) -> &[Entry] {
        let (part, bit) = filter_place(hash);
        if self.filter.get(part).is_none_or(|part| part & bit == 0) {
            return &[];
        }
        self.entries.get(&hash).map_or(&[], Vec::as_slice)
    }
}

fn filter_place(hash: u64) -> (usize, u64) {
    let place = (hash ^ (hash >> 29)) as usize % FILTER_BITS;
    (place / 64, 1 << (place % 64))
}

/// The keys are hashes already.
#[derive(Default)]
pub(crate) struct PrehashedHasher(u64);

impl Hasher for PrehashedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    words: Vec<Part>,
    class: WordClassId,
    /// Of a fold: how long it is, and whether the word is English.
    length: usize,
    loan: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    text: String,
    /// Matches what begins with it.
    open: bool,
}

/// How an entry's spelling counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As written only: English words, and short ones.
    Exact,
    /// Any spelling and script that sounds so.
    Sound,
    /// An English word that other languages have borrowed.
    Loan,
}

/// Where a match ends, and what it is.
pub(crate) struct WordClassHit {
    pub class: WordClassId,
    /// How many words it took.
    pub words: usize,
}

impl WordClassTable {
    /// Adds an entry: words joined by `_`, each with a `*` behind it if it is open.
    /// One that begins with `*` is an ending.
    pub(crate) fn add(&mut self, entry: &str, class: WordClassId, spelling: Spelling) {
        if let Some(ending) = entry.strip_prefix('*').map(super::letters::normalise_word) {
            if let Some(last) = last_letters(&ending) {
                self.endings.entry(last).or_default().push((ending, class));
            }
            return;
        }
        let parts = |read: fn(&str, bool) -> String| -> Vec<Part> {
            let words = entry.split('_').filter(|word| !word.is_empty());
            words
                .map(|word| {
                    let open = word.ends_with('*');
                    Part { text: read(word.trim_end_matches('*'), open), open }
                })
                .collect()
        };
        self.spelled.insert(Entry { words: parts(normalise_spelling), class, length: 0, loan: false });
        let folded = parts(fold_spelling);
        let length: usize = folded.iter().map(|part| part.text.len()).sum();
        let loan = spelling == Spelling::Loan;
        let shortest = if loan { LOAN_FOLD } else { LATIN_FOLD };
        if spelling != Spelling::Exact && length >= shortest {
            self.folded.insert(Entry { words: folded, class, length, loan });
        }
    }

    /// Everything that begins at a word. `spelled` and `folded` give the words from there on; none ends the phrase.
    /// Returns the hash of the word as it is spelled.
    pub(crate) fn find<'w>(
        &self,
        spelled: impl Fn(usize) -> Option<&'w str>,
        folded: impl Fn(usize) -> Option<&'w str>,
        mut hit: impl FnMut(WordClassHit),
    ) -> u64 {
        if let Some(word) = spelled(0)
            && let Some(endings) = last_letters(word).and_then(|last| self.endings.get(&last))
        {
            let fits = |ending: &str| word.len() > ending.len() && word.ends_with(ending);
            for (_, class) in endings.iter().filter(|(ending, _)| fits(ending)) {
                hit(WordClassHit { class: *class, words: 1 });
            }
        }
        let latin = spelled(0).is_some_and(|word| word.bytes().next().is_some_and(|first| first.is_ascii()));
        let hash = search(&self.spelled, spelled, |_| true, &mut hit);
        let near = |entry: &Entry| if latin { !entry.loan } else { entry.loan || entry.length >= FAR_FOLD };
        search(&self.folded, folded, near, &mut hit);
        hash
    }

    /// Every spelled entry of one word that two pieces put together begin with and that is more than the first, and how
    /// many bytes of them it took. `hash` is the hash of the first.
    pub(crate) fn find_joined(
        &self,
        (first, hash): (&str, u64),
        second: &str,
        mut hit: impl FnMut(WordClassId, usize),
    ) {
        let whole = first.len() + second.len();
        let mut running = hash;
        let mut length = first.len();
        for letter in second.chars() {
            running = step(running, letter);
            length += letter.len_utf8();
            if length > self.spelled.longest {
                return;
            }
            for entry in self.spelled.get(running) {
                let [only] = entry.words.as_slice() else { continue };
                let rest = only.text.strip_prefix(first);
                let begins = rest.is_some_and(|rest| second.starts_with(rest));
                if only.text.len() == length && (only.open || length == whole) && begins {
                    hit(entry.class, length);
                }
            }
        }
    }
}

/// The spelling of a word of the lexicon. Where an ending may come, the one the dictionary form has gives way:
/// Tamil nouns lose their last m and u before a case, Hindi ones their last a.
fn normalise_spelling(word: &str, open: bool) -> String {
    let mut plain = super::letters::normalise_word(word);
    if !open || plain.chars().count() < 4 {
        return plain;
    }
    for ending in ["ம்", "ு", "்", "ు", "్", "ು", "್", "ു", "്", "ा"] {
        if let Some(stem) = plain.strip_suffix(ending) {
            plain.truncate(stem.len());
            break;
        }
    }
    plain
}

/// The fold of a word of the lexicon or of a reply.
pub(crate) fn fold_word(word: &str) -> String {
    fold::stem(&fold::key(word))
}

fn fold_spelling(word: &str, open: bool) -> String {
    let plain = normalise_spelling(word, open);
    let mut fold = fold_word(&plain);
    // The vowel a last consonant carries gives way to whatever ending comes.
    let bare = plain.chars().next_back().is_some_and(|last| {
        let code = last as u32;
        (0x900..=0xD7F).contains(&code) && (0x15..=0x39).contains(&(code % 0x80))
    });
    if open && bare && fold.ends_with('a') {
        fold.pop();
    }
    fold
}

/// The last two letters of a word, three of a Latin one, as a key. No ending of the lexicon is shorter.
fn last_letters(word: &str) -> Option<u64> {
    let bytes = word.as_bytes();
    let count = if bytes.last()?.is_ascii() { 3 } else { 6 };
    let last = bytes.get(bytes.len().checked_sub(count)?..)?;
    Some(last.iter().fold(SEED, |hash, byte| step(hash, char::from(*byte))))
}

/// The hash of no letters.
pub(crate) const SEED: u64 = 0xCBF2_9CE4_8422_2325;

const fn step(hash: u64, letter: char) -> u64 {
    (hash ^ letter as u64).wrapping_mul(0x0100_0000_01B3)
}

/// The hash of a word, as [`WordClassTable::find`] returns it.
fn hash(text: &str) -> u64 {
    text.chars().fold(SEED, step)
}

fn search<'w>(
    heads: &Heads,
    word: impl Fn(usize) -> Option<&'w str>,
    counts: impl Fn(&Entry) -> bool,
    hit: &mut impl FnMut(WordClassHit),
) -> u64 {
    let Some(first) = word(0) else { return SEED };
    let mut running = SEED;
    let mut length = 0;
    for letter in first.chars() {
        running = step(running, letter);
        length += letter.len_utf8();
        if (length == 1 && first.len() > 1) || length > heads.longest {
            continue;
        }
        for entry in heads.get(running) {
            if counts(entry) && entry_matches(entry, first, length, &word) {
                hit(WordClassHit { class: entry.class, words: entry.words.len() });
            }
        }
    }
    running
}

fn entry_matches<'w>(
    entry: &Entry,
    first: &str,
    length: usize,
    word: &impl Fn(usize) -> Option<&'w str>,
) -> bool {
    let Some((head, rest)) = entry.words.split_first() else { return false };
    let begins = head.text.len() == length && first.starts_with(&head.text);
    begins
        && (head.open || ends_at(first, length))
        && rest.iter().enumerate().all(|(at, part)| {
            word(at + 1).is_some_and(|word| match part.open {
                true => word.starts_with(&part.text),
                false => word.starts_with(&part.text) && ends_at(word, part.text.len()),
            })
        })
}

/// What is glued behind a word without changing it, and how long the word must be: English says whose it is, Tamil doubles the next word's
/// first consonant and says `indeed` with தான், Bengali says `indeed` and `too` with a vowel.
const TAILS: [(&str, usize); 8] =
    [("'s", 5), ("க்", 9), ("ச்", 9), ("த்", 9), ("ப்", 9), ("தான்", 9), ("ই", 9), ("ও", 9)];

fn ends_at(word: &str, length: usize) -> bool {
    let glued = |tail: &str| TAILS.iter().any(|(one, least)| *one == tail && length >= *least);
    word.len() == length || word.get(length..).is_some_and(glued)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(table: &WordClassTable, text: &str) -> Vec<(WordClassId, usize)> {
        let words: Vec<&str> = text.split(' ').collect();
        let folds: Vec<String> = words.iter().map(|word| fold_word(word)).collect();
        let mut found = Vec::new();
        table.find(
            |at| words.get(at).copied(),
            |at| folds.get(at).map(String::as_str),
            |hit| found.push((hit.class, hit.words)),
        );
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn words_stems_and_phrases_are_found() {
        let mut table = WordClassTable::default();
        table.add("guarant*", 1, Spelling::Exact);
        table.add("price_cut*", 2, Spelling::Exact);
        table.add("தள்ளுபடி*", 3, Spelling::Sound);
        table.add("off", 4, Spelling::Exact);
        assert_eq!(classes(&table, "guaranteed"), [(1, 1)]);
        assert_eq!(classes(&table, "price cuts"), [(2, 2)]);
        assert_eq!(classes(&table, "price list"), []);
        assert_eq!(classes(&table, "thallupadiyum"), [(3, 1)]);
        assert_eq!(classes(&table, "தள்ளுபடியை"), [(3, 1)]);
        assert_eq!(classes(&table, "of"), []);
        table.add("ஆண்டுக்கு", 5, Spelling::Exact);
        table.add("அதிக_விலை", 6, Spelling::Exact);
        assert_eq!(classes(&table, "ஆண்டுக்குக்"), [(5, 1)]);
        assert_eq!(classes(&table, "ஆண்டுக்குள்"), []);
        assert_eq!(classes(&table, "அதிக விலைதான்"), [(6, 2)]);
    }
}

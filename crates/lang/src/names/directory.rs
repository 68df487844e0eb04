//! A list of contacts, and who among them a message means.

use std::collections::HashMap;

use serde::Serialize;

use super::{MAYBE, SAME, Word, coverage, is_honorific, unjoined, word_score, words};
use crate::fold;
use crate::lexicon::{Languages, Meaning};
use crate::numbers::Certainty;
use crate::token::{Token, tokens};

/// Two contacts closer than this are a tie.
const TIE: f32 = 0.08;

/// Case endings that hang on names, as the fold leaves them: Rameshku, Rameshanige, Ramesher.
const ENDINGS: &[&str] = &[
    "ku", "uku", "iku", "kku", "ki", "ke", "ko", "ka", "la", "ne", "ni", "na", "nu", "no", "cha", "chi",
    "che", "ge", "ige", "anige", "nige", "ana", "an", "anu", "alu", "inu", "inte", "nte", "odu", "kitta",
    "kita", "oda", "er", "r", "ra", "re", "ru", "anku", "anka", "nku", "nka", "e", "u", "il", "lo", "tho",
    "ude", "yude", "kuda", "in",
];

/// Contacts ready to be found. Built once per change of the list, read for every message.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    contacts: Vec<Contact>,
    /// The bones of every word of every contact.
    index: HashMap<String, Vec<(u32, u8)>>,
}

#[derive(Clone, Debug)]
struct Contact {
    name: String,
    words: Vec<Word>,
}

/// A contact a name may mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its place in the list the directory was built from.
    pub contact: usize,
    pub name: String,
    pub score: f32,
}

/// A name found in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameFound {
    pub text: String,
    pub start: usize,
    /// Exact when one contact stands clear of all others.
    pub certainty: Certainty,
    /// The best first.
    pub candidates: Vec<Candidate>,
}

/// What one word of a message matches.
#[derive(Clone, Copy, Debug)]
struct Hit {
    contact: u32,
    word: u8,
    score: f32,
}

impl Directory {
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut directory = Self::default();
        for name in names {
            let words = words(name.as_ref());
            let Ok(contact) = u32::try_from(directory.contacts.len()) else { break };
            for (place, word) in words.iter().enumerate().take(usize::from(u8::MAX)) {
                let place = u8::try_from(place).unwrap_or(u8::MAX);
                directory.index.entry(word.bones.clone()).or_default().push((contact, place));
            }
            directory.contacts.push(Contact { name: name.as_ref().to_owned(), words });
        }
        directory
    }

    /// Who a name means; none when nobody is like it.
    pub fn look_up(&self, name: &str) -> Option<NameFound> {
        let wanted = words(name);
        let mut totals: HashMap<u32, (f32, usize)> = HashMap::new();
        for word in &wanted {
            for hit in best_per_contact(self.hits(word)) {
                let entry = totals.entry(hit.contact).or_default();
                *entry = (entry.0 + hit.score, entry.1 + 1);
            }
        }
        let candidates = totals
            .into_iter()
            .filter(|(_, (_, met))| *met == wanted.len())
            .filter_map(|(contact, (total, met))| self.candidate(contact, total, met))
            .collect();
        decide(name.to_owned(), 0, candidates)
    }

    /// Every contact a message names.
    pub fn find(&self, message: &str) -> Vec<NameFound> {
        self.find_in(&tokens(message), message, Languages::EVERY)
    }

    pub(crate) fn find_in(
        &self,
        tokens: &[Token<'_>],
        message: &str,
        languages: Languages,
    ) -> Vec<NameFound> {
        if self.contacts.is_empty() {
            return Vec::new();
        }
        let hits: Vec<Vec<Hit>> = tokens.iter().map(|token| self.token_hits(token, languages)).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match self.longest(&hits, tokens, message, at) {
                Some((name, to)) => {
                    found.push(name);
                    at = to;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The name that begins at a token and covers the most of them.
    fn longest(
        &self,
        hits: &[Vec<Hit>],
        tokens: &[Token<'_>],
        message: &str,
        from: usize,
    ) -> Option<(NameFound, usize)> {
        let mut runs: Vec<(u32, f32, usize, usize)> = Vec::new();
        for hit in hits.get(from)? {
            let (mut total, mut met, mut to, mut used) = (hit.score, 1, from + 1, 1u64 << (hit.word % 64));
            while let Some(next) = hits.get(to).and_then(|next| {
                next.iter().find(|next| next.contact == hit.contact && used & (1 << (next.word % 64)) == 0)
            }) {
                total += next.score;
                met += 1;
                used |= 1 << (next.word % 64);
                to += 1;
            }
            runs.push((hit.contact, total, met, to));
        }
        let to = runs.iter().map(|run| run.3).max()?;
        let candidates = runs
            .into_iter()
            .filter(|run| run.3 == to)
            .filter_map(|(contact, total, met, _)| self.candidate(contact, total, met))
            .collect();
        let start = tokens.get(from)?.start;
        let end = tokens.get(to - 1)?.end();
        let name = decide(message.get(start..end)?.to_owned(), start, candidates)?;
        Some((name, to))
    }

    fn candidate(&self, contact: u32, total: f32, met: usize) -> Option<Candidate> {
        let place = usize::try_from(contact).ok()?;
        let known = self.contacts.get(place)?;
        let score = coverage(total, met, known.words.len());
        Some(Candidate { contact: place, name: known.name.clone(), score })
    }

    fn hits(&self, word: &Word) -> Vec<Hit> {
        let mut hits = self.hits_of(word);
        let short = unjoined(word);
        if short != *word {
            hits.extend(self.hits_of(&short));
        }
        hits
    }

    fn hits_of(&self, word: &Word) -> Vec<Hit> {
        let Some(places) = self.index.get(&word.bones) else { return Vec::new() };
        let scored = places.iter().filter_map(|&(contact, place)| {
            let known = self.contacts.get(contact as usize)?.words.get(usize::from(place))?;
            let score = word_score(word, known);
            (score >= MAYBE).then_some(Hit { contact, word: place, score })
        });
        scored.collect()
    }

    /// What a word of a message matches, as it is or under a case ending.
    fn token_hits(&self, token: &Token<'_>, languages: Languages) -> Vec<Hit> {
        let capital = token.text.starts_with(|letter: char| letter.is_uppercase());
        let everyday = token.means(Meaning::Word, languages) && !capital;
        if !token.is_word() || everyday || is_honorific(&token.key) || token.key.len() > 60 {
            return Vec::new();
        }
        let Some(word) = Word::new(token.text) else { return Vec::new() };
        let mut hits = self.hits(&word);
        // An inflected name seldom scores well by itself, and its bare form then should speak.
        if hits.iter().all(|hit| hit.score < SAME) {
            for ending in ENDINGS {
                let Some(front) = word.fold.strip_suffix(ending).filter(|front| front.len() > 2) else {
                    continue;
                };
                let Some(bare) = Word::from_fold(fold::key(front), word.voiceless) else { continue };
                hits.extend(self.hits(&bare).into_iter().map(|hit| Hit { score: hit.score - 0.02, ..hit }));
            }
        }
        best_per_contact(hits)
    }
}

fn best_per_contact(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(|one, other| one.contact.cmp(&other.contact).then(other.score.total_cmp(&one.score)));
    hits.dedup_by_key(|hit| hit.contact);
    hits
}

fn decide(text: String, start: usize, mut candidates: Vec<Candidate>) -> Option<NameFound> {
    candidates.retain(|candidate| candidate.score >= MAYBE);
    candidates.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.contact.cmp(&other.contact)));
    let best = candidates.first()?.score;
    candidates.retain(|candidate| candidate.score > best - TIE);
    let clear = candidates.len() == 1 && best >= SAME;
    candidates.truncate(5);
    let certainty = if clear { Certainty::Exact } else { Certainty::Ambiguous };
    Some(NameFound { text, start, certainty, candidates })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> Directory {
        Directory::new([
            "Ramesh Kumar",
            "Suresh",
            "राजन",
            "Lakshmi akka",
            "Gupta Traders",
            "Ramesh Traders",
            "Das",
        ])
    }

    fn meant(message: &str) -> Vec<(String, Certainty)> {
        let found = directory().find(message);
        found.into_iter().map(|found| (found.candidates[0].name.clone(), found.certainty)).collect()
    }

    #[test]
    fn finds_contacts_in_messages_of_every_script() {
        for (message, name) in [
            ("Suresh ko 500 diye", "Suresh"),
            ("rajan ne 500 diye", "राजन"),
            ("ராஜனுக்கு 500 கொடுத்தேன்", "राजन"),
            ("ರಾಜನಿಗೆ ಐನೂರು", "राजन"),
            ("సురేష్‌కి ఐదు వందలు", "Suresh"),
            ("सुरेशला पाचशे दिले", "Suresh"),
            ("Sureshku 500 kuduthen", "Suresh"),
            ("ramesh kumar ka hisab", "Ramesh Kumar"),
            ("laxmi ka baki", "Lakshmi akka"),
            ("Das ne 900 diye", "Das"),
        ] {
            assert_eq!(meant(message), [(name.to_owned(), Certainty::Exact)], "{message}");
        }
        assert_eq!(meant("aaj kharch hua naresh ko"), []);
    }

    #[test]
    fn a_tie_is_told() {
        let found = directory().find("Ramesh ne 500 diye");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].certainty, Certainty::Ambiguous);
        assert_eq!(found[0].candidates.len(), 2);
    }

    #[test]
    fn looks_up_one_name() {
        let directory = directory();
        assert_eq!(directory.look_up("Rajan bhai").unwrap().candidates[0].contact, 2);
        assert_eq!(directory.look_up("Gupta traders").unwrap().certainty, Certainty::Exact);
        assert_eq!(directory.look_up("Nobody"), None);
        assert_eq!(directory.look_up(""), None);
    }
}

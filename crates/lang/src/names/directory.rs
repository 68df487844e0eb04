//! A list of contacts, and who among them a message means.

use std::collections::HashMap;

use munshi_types::Script;
use serde::Serialize;

use super::endings::{self, ENDINGS};
use super::{
    MAYBE, NameWord, SAME, coverage_score, is_honorific, split_words, strip_joined_honorific, word_score,
};
use crate::fold;
use crate::lexicon::{Languages, Meaning};
use crate::numbers::Certainty;
use crate::token::{MessageToken, tokenize};

/// Two contacts closer than this are a tie.
const TIE: f32 = 0.08;

/// Contacts ready to be found. Built once per change of the list, read for every message.
#[derive(Clone, Debug, Default)]
pub struct ContactDirectory {
    contacts: Vec<Contact>,
    /// The words of all contacts by their bones. Many share a word, so each is compared once.
    index: HashMap<String, Vec<Shared>>,
}

#[derive(Clone, Debug)]
struct Contact {
    name: String,
    words: usize,
}

/// A word, and the contacts that have it with its place among their words.
#[derive(Clone, Debug)]
struct Shared {
    word: NameWord,
    places: Vec<(u32, u8)>,
}

/// A contact a name may mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContactCandidate {
    /// Its place in the list the directory was built from.
    pub contact: usize,
    pub name: String,
    pub score: f32,
}

/// A name found in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameMention {
    pub text: String,
    pub start: usize,
    /// Exact when one contact stands clear of all others.
    pub certainty: Certainty,
    /// The best first.
    pub candidates: Vec<ContactCandidate>,
}

impl NameMention {
    /// Whether somebody of this very name is in the list.
    pub(crate) fn is_close(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.score > 0.85)
    }
}

/// A contact that some words of a message may name.
struct Match {
    contact: usize,
    score: f32,
    /// Every word of it that was said is spelled as it should be.
    sure: bool,
}

/// Words of a message in a row that match words of one contact.
struct Run {
    contact: u32,
    total: f32,
    worst: f32,
    met: usize,
    to: usize,
}

/// What one word of a message matches.
#[derive(Clone, Copy, Debug)]
struct Hit {
    contact: u32,
    word: u8,
    score: f32,
}

impl ContactDirectory {
    pub fn new<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut directory = Self::default();
        for name in names {
            let words = split_words(name.as_ref());
            let Ok(contact) = u32::try_from(directory.contacts.len()) else { break };
            directory.contacts.push(Contact { name: name.as_ref().to_owned(), words: words.len() });
            for (place, word) in words.into_iter().enumerate().take(usize::from(u8::MAX)) {
                let place = u8::try_from(place).unwrap_or(u8::MAX);
                let alike = directory.index.entry(word.bones.clone()).or_default();
                match alike.iter_mut().find(|shared| shared.word == word) {
                    Some(shared) => shared.places.push((contact, place)),
                    None => alike.push(Shared { word, places: vec![(contact, place)] }),
                }
            }
        }
        directory
    }

    /// Who a name means; none when nobody is like it.
    pub fn look_up(&self, name: &str) -> Option<NameMention> {
        let wanted = split_words(name);
        let mut runs: HashMap<u32, Run> = HashMap::new();
        for word in &wanted {
            for hit in best_per_contact(self.hits(word)) {
                let fresh = Run { contact: hit.contact, total: 0.0, worst: 1.0, met: 0, to: 0 };
                runs.entry(hit.contact).or_insert(fresh).add_hit(hit);
            }
        }
        let matches = runs
            .into_values()
            .filter(|run| run.met == wanted.len())
            .filter_map(|run| self.score_run(&run, 0))
            .collect();
        self.decide(name.to_owned(), 0, matches, false)
    }

    /// Every contact a message names.
    pub fn find(&self, message: &str) -> Vec<NameMention> {
        self.find_in(&tokenize(message), message, Languages::EVERY)
    }

    pub(crate) fn find_in(
        &self,
        tokens: &[MessageToken<'_>],
        message: &str,
        languages: Languages,
    ) -> Vec<NameMention> {
        if self.contacts.is_empty() {
            return Vec::new();
        }
        let hits: Vec<Vec<Hit>> = tokens.iter().map(|token| self.token_hits(token, languages)).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match self.find_longest(&hits, tokens, message, at) {
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
    fn find_longest(
        &self,
        hits: &[Vec<Hit>],
        tokens: &[MessageToken<'_>],
        message: &str,
        from: usize,
    ) -> Option<(NameMention, usize)> {
        let runs: Vec<Run> = hits.get(from)?.iter().map(|hit| run(hits, from, *hit)).collect();
        let to = runs.iter().map(|run| run.to).max()?;
        // A shorter run is a rival: Rajan Kumar may be Rajan before he is Ranjan Kumar.
        let matches = runs.iter().filter_map(|run| self.score_run(run, to - run.to)).collect();
        let start = tokens.get(from)?.start;
        let end = tokens.get(to - 1)?.end();
        // Only a family name was said, and somebody else's first name stands before it: Suresh Gupta.
        let family = hits.get(from)?.iter().all(|hit| hit.word > 0);
        let doubted =
            endings::name_continues(tokens, from, to) || endings::belongs_to_another(tokens, from, family);
        let name = self.decide(message.get(start..end)?.to_owned(), start, matches, doubted)?;
        Some((name, to))
    }

    /// The contact of a run, less a little for each word of the message it leaves unsaid.
    fn score_run(&self, run: &Run, left: usize) -> Option<Match> {
        let place = usize::try_from(run.contact).ok()?;
        let known = self.contacts.get(place)?;
        let score = coverage_score(run.total, run.met, known.words + left);
        Some(Match { contact: place, score, sure: run.worst >= SAME && left == 0 })
    }

    /// One contact stands clear, or several may be meant: two people of one name are told as two.
    fn decide(
        &self,
        text: String,
        start: usize,
        mut matches: Vec<Match>,
        doubted: bool,
    ) -> Option<NameMention> {
        matches.retain(|found| found.score >= MAYBE);
        matches.sort_unstable_by(|one, other| {
            other.score.total_cmp(&one.score).then(one.contact.cmp(&other.contact))
        });
        let best = matches.first()?.score;
        matches.retain(|found| found.score > best - TIE);
        let clear = !doubted && matches.len() == 1 && matches.iter().all(|found| found.sure);
        let certainty = if clear { Certainty::Exact } else { Certainty::Ambiguous };
        let named = |found: &Match| {
            let name = self.contacts.get(found.contact)?.name.clone();
            Some(ContactCandidate { contact: found.contact, name, score: found.score })
        };
        let candidates = matches.iter().take(5).filter_map(named).collect();
        Some(NameMention { text, start, certainty, candidates })
    }

    fn hits(&self, word: &NameWord) -> Vec<Hit> {
        let mut hits = self.find_word_hits(word);
        let short = strip_joined_honorific(word);
        if short != *word {
            hits.extend(self.find_word_hits(&short));
        }
        hits
    }

    fn find_word_hits(&self, word: &NameWord) -> Vec<Hit> {
        let mut hits = Vec::new();
        for shared in self.index.get(&word.bones).into_iter().flatten() {
            let score = word_score(word, &shared.word);
            if score >= MAYBE {
                hits.extend(shared.places.iter().map(|&(contact, word)| Hit { contact, word, score }));
            }
        }
        hits
    }

    /// What a word of a message matches, as it is or under a case ending.
    fn token_hits(&self, token: &MessageToken<'_>, languages: Languages) -> Vec<Hit> {
        let capital = token.text.starts_with(|letter: char| letter.is_uppercase());
        let everyday = token.means(Meaning::Word, languages) && !capital;
        if !token.is_word() || everyday || is_honorific(&token.key) || token.key.len() > 60 {
            return Vec::new();
        }
        let Some(word) = NameWord::new(token.text) else { return Vec::new() };
        let mut hits = self.hits(&word);
        // An inflected name seldom scores well by itself, and its bare form then should speak.
        if hits.iter().all(|hit| hit.score < SAME) {
            hits.extend(self.bare_hits(token, &word, &word.fold));
            // An inner vowel nobody says stands before an ending: सुरेशला.
            if token.script() != Some(Script::Latin) {
                hits.extend(self.bare_hits(token, &word, &fold::spoken_key(token.text)));
            }
        }
        best_per_contact(hits)
    }

    /// What a word matches without its case ending.
    fn bare_hits(&self, token: &MessageToken<'_>, word: &NameWord, whole: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        for ending in ENDINGS {
            let Some(front) = whole.strip_suffix(ending).filter(|front| front.len() > 2) else { continue };
            let Some(bare) = word.with_fold(fold::key(front)) else { continue };
            // Ramu is Ram with an ending, or Ramu.
            let most = if endings::is_plain(front, ending, token.script()) { 0.98 } else { 0.9 };
            let bare = self.hits(&bare).into_iter();
            hits.extend(bare.map(|hit| Hit { score: (hit.score - 0.02).min(most), ..hit }));
        }
        hits
    }
}

fn best_per_contact(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_unstable_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        one.contact.cmp(&other.contact).then(by_score).then(one.word.cmp(&other.word))
    });
    hits.dedup_by_key(|hit| hit.contact);
    hits
}

/// The run of words from a hit on, each another word of its contact.
fn run(hits: &[Vec<Hit>], from: usize, first: Hit) -> Run {
    let mut run = Run { contact: first.contact, total: 0.0, worst: 1.0, met: 0, to: from };
    let mut used = 0u64;
    let mut next = Some(first);
    while let Some(hit) = next {
        run.add_hit(hit);
        used |= 1 << (hit.word % 64);
        next = hits.get(run.to).and_then(|hits| {
            let free = |hit: &&Hit| hit.contact == first.contact && used & (1 << (hit.word % 64)) == 0;
            hits.iter().find(free).copied()
        });
    }
    run
}

impl Run {
    fn add_hit(&mut self, hit: Hit) {
        self.total += hit.score;
        self.worst = self.worst.min(hit.score);
        self.met += 1;
        self.to += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> ContactDirectory {
        ContactDirectory::new([
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
    fn two_people_of_one_name_are_two() {
        let directory = ContactDirectory::new(["Mohan Das", "mohan das", "Suresh"]);
        for found in [directory.look_up("Mohan Das").unwrap(), directory.find("Mohan ne 500 diye").remove(0)]
        {
            assert_eq!(found.certainty, Certainty::Ambiguous);
            assert_eq!(found.candidates.iter().map(|one| one.contact).collect::<Vec<_>>(), [0, 1]);
        }
        assert_eq!(directory.look_up("Suresh").unwrap().certainty, Certainty::Exact);
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

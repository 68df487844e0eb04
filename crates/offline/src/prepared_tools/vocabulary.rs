//! The words of all the tools' phrases, found again in other spellings.

use std::collections::HashMap;

use munshi_lang::fold;
use munshi_lang::lexicon::Languages;
use munshi_types::Language;

use super::forms::{strip_past_endings, strip_suffixes};
use crate::reading::OfflineWord;
use crate::small_words::SmallWordClass;

/// From this likeness on, a word may be another spelling of one; of few letters more must agree.
const fn likeness_threshold(letters: usize) -> f32 {
    if letters < 7 { 0.8 } else { 0.7 }
}

/// Words shorter than this are themselves or nothing.
const SHORT: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct PhraseVocabulary {
    pub entries: Vec<VocabularyEntry>,
    by_key: HashMap<String, usize>,
    by_stem: HashMap<String, Vec<usize>>,
    by_skeleton: HashMap<String, Vec<usize>>,
    by_gram: HashMap<[u8; 3], Vec<usize>>,
    /// Past verbs without their endings.
    by_root: HashMap<(Language, SmallWordClass, String), Vec<usize>>,
}

#[derive(Debug)]
pub(crate) struct VocabularyEntry {
    /// Its fold, with the sounds merged that spellings mix.
    pub stem: String,
    /// The languages whose phrases have it.
    pub languages: Languages,
    /// How little it is shared among tools: 1 for a word of one tool.
    pub weight: f32,
    /// Each tool's share of the word; they add up to 1.
    pub shares: Vec<(usize, f32)>,
    /// It stands in a phrase, and not only as somebody's name for a thing.
    pub is_cue: bool,
}

/// A word of a message that is a word of the vocabulary, more or less.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VocabularyMatch {
    pub entry: usize,
    pub likeness: f32,
    /// It is another form of that very word, by the grammar of its language.
    pub is_form: bool,
}

impl VocabularyMatch {
    const fn new(entry: usize, likeness: f32) -> Self {
        Self { entry, likeness, is_form: false }
    }
}

impl PhraseVocabulary {
    /// The place of a folded word, made when it is new.
    pub(crate) fn add(&mut self, key: &str, language: Language, is_cue: bool) -> usize {
        let at = match self.by_key.get(key) {
            Some(at) => *at,
            None => self.make(key),
        };
        if let Some(entry) = self.entries.get_mut(at) {
            if is_cue && !entry.languages.has(language) {
                for (class, root) in strip_past_endings(&entry.stem, language) {
                    self.by_root.entry((language, class, root.to_owned())).or_default().push(at);
                }
            }
            entry.is_cue |= is_cue;
            entry.languages = entry.languages.with(language);
        }
        at
    }

    fn make(&mut self, key: &str) -> usize {
        let at = self.entries.len();
        let stem = fold::stem(key);
        self.by_key.insert(key.to_owned(), at);
        self.by_stem.entry(stem.clone()).or_default().push(at);
        self.by_skeleton.entry(fold::skeleton(&stem)).or_default().push(at);
        for gram in grams(&stem) {
            self.by_gram.entry(gram).or_default().push(at);
        }
        let languages = Languages::NONE;
        self.entries.push(VocabularyEntry {
            stem,
            languages,
            weight: 0.0,
            shares: Vec::new(),
            is_cue: false,
        });
        at
    }

    /// Sets how the words are shared, from how often each tool has each: (word, tool) to a count.
    pub(crate) fn set_shares(&mut self, counts: &HashMap<(usize, usize), f32>, tools: usize) {
        for ((entry, tool), count) in counts {
            if let Some(entry) = self.entries.get_mut(*entry) {
                entry.shares.push((*tool, *count));
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "a few tools")]
        let most = (1.0 + tools as f32).ln();
        for entry in &mut self.entries {
            let total: f32 = entry.shares.iter().map(|(_, count)| count).sum();
            let squares: f32 = entry.shares.iter().map(|(_, count)| (count / total).powi(2)).sum();
            // As many tools as the word is evenly shared by, which a stray use does not raise much.
            let sharers = 1.0 / squares.max(0.01);
            #[allow(clippy::cast_precision_loss, reason = "a few tools")]
            let rarity = (1.0 + tools as f32 / sharers).ln();
            entry.weight = if most > 0.0 { rarity / most } else { 1.0 };
            for share in &mut entry.shares {
                share.1 /= total;
            }
            entry.shares.sort_by_key(|(tool, _)| *tool);
        }
    }

    /// Whether a folded word is one of a phrase.
    pub(crate) fn is_cue(&self, key: &str) -> bool {
        let entry = self.by_key.get(key).and_then(|at| self.entries.get(*at));
        entry.is_some_and(|entry| entry.is_cue)
    }

    /// The word itself, or else the few most like it. A word of other languages than the message's counts less.
    pub(crate) fn find(&self, word: &OfflineWord<'_>, languages: &[Language]) -> Vec<VocabularyMatch> {
        let asks = word.classes.has(SmallWordClass::Question);
        let least = if asks { SHORT - 2 } else { SHORT - 1 };
        // A name is no misspelt verb.
        let is_whole = word.is_capital || word.stem.len() < SHORT - 1;
        let mut found = match self.by_key.get(&word.key) {
            Some(at) => vec![VocabularyMatch::new(*at, 1.0)],
            None if is_whole => Vec::new(),
            None => self.find_same_stem(&word.stem),
        };
        if found.is_empty() && !is_whole {
            found = self.find_base_forms(&word.stem, languages, least);
        } else if !is_whole {
            self.add_forms(&word.stem, languages, asks, &mut found);
        }
        if found.is_empty() && !is_whole {
            found = self.find_alike(&word.stem);
        }
        let is_own = |entry: &VocabularyEntry| {
            entry.languages.has(Language::English)
                || languages.iter().any(|language| entry.languages.has(*language))
        };
        for one in &mut found {
            if !self.entries.get(one.entry).is_some_and(is_own) {
                one.likeness *= 0.75;
            }
        }
        found
    }

    /// The words that are spelt otherwise and said alike.
    fn find_same_stem(&self, stem: &str) -> Vec<VocabularyMatch> {
        self.by_stem.get(stem).into_iter().flatten().map(|at| VocabularyMatch::new(*at, 0.95)).collect()
    }

    /// Adds the past verbs, and for a question's word those, that a known one is another form of: who says it so in one
    /// phrase may in all.
    fn add_forms(&self, stem: &str, languages: &[Language], asks: bool, found: &mut Vec<VocabularyMatch>) {
        let Some(language) = languages.first().copied() else { return };
        let mut others = self.verbs(stem, language);
        if asks {
            let bare = strip_suffixes(stem, language, SHORT - 2).filter_map(|front| self.by_stem.get(&front));
            others.extend(bare.flatten().copied());
        }
        for at in others {
            if !found.iter().any(|known| known.entry == at) {
                found.push(VocabularyMatch { is_form: true, ..VocabularyMatch::new(at, 0.95) });
            }
        }
    }

    fn find_alike(&self, stem: &str) -> Vec<VocabularyMatch> {
        let all = |places: Option<&Vec<usize>>, likeness: f32| -> Vec<VocabularyMatch> {
            places.into_iter().flatten().map(|at| VocabularyMatch::new(*at, likeness)).collect()
        };
        let bones = fold::skeleton(stem);
        let close =
            if bones.len() >= SHORT - 1 { all(self.by_skeleton.get(&bones), 0.9) } else { Vec::new() };
        if !close.is_empty() || stem.len() < SHORT { close } else { self.find_near(stem) }
    }

    /// The words that one is a form of, in its likeliest language.
    fn find_base_forms(&self, stem: &str, languages: &[Language], least: usize) -> Vec<VocabularyMatch> {
        let Some(language) = languages.first().copied() else { return Vec::new() };
        let nouns = strip_suffixes(stem, language, least).filter_map(|front| self.by_stem.get(&front));
        let nouns: Vec<usize> = nouns.flatten().copied().collect();
        let mut places = self.verbs(stem, language);
        places.extend(nouns);
        // The verb may tell the language that nothing else told.
        if places.is_empty() {
            let long = |other: Language| self.find_verbs_with_root(stem, other, 3);
            places.extend(Language::ALL.into_iter().flat_map(long));
        }
        places.sort_unstable();
        places.dedup();
        places
            .into_iter()
            .map(|at| VocabularyMatch { is_form: true, ..VocabularyMatch::new(at, 0.95) })
            .collect()
    }

    /// The past verbs of a language that one is a form of.
    fn verbs(&self, stem: &str, language: Language) -> Vec<usize> {
        self.find_verbs_with_root(stem, language, 2)
    }

    fn find_verbs_with_root(&self, stem: &str, language: Language, least: usize) -> Vec<usize> {
        let found = strip_past_endings(stem, language)
            .filter(|(_, root)| root.len() >= least)
            .filter_map(|(class, root)| self.by_root.get(&(language, class, root.to_owned())));
        found.flatten().copied().collect()
    }

    fn find_near(&self, stem: &str) -> Vec<VocabularyMatch> {
        let mine: Vec<[u8; 3]> = grams(stem).collect();
        let mut shared: HashMap<usize, f32> = HashMap::new();
        for gram in &mine {
            for at in self.by_gram.get(gram).into_iter().flatten() {
                *shared.entry(*at).or_default() += 1.0;
            }
        }
        let likeness = |at: usize, shared: f32| {
            let theirs = self.entries.get(at).map_or(0, |entry| entry.stem.len());
            #[allow(clippy::cast_precision_loss, reason = "lengths of words")]
            let all = (mine.len() + theirs) as f32;
            // A run of letters said twice is shared twice, and makes nothing more than alike.
            f32::min(2.0 * shared / all, 0.9)
        };
        let mut found: Vec<VocabularyMatch> = shared
            .into_iter()
            .map(|(at, shared)| VocabularyMatch::new(at, likeness(at, shared)))
            .filter(|found| found.likeness >= likeness_threshold(stem.len()))
            .collect();
        found.sort_by(|one, other| other.likeness.total_cmp(&one.likeness).then(one.entry.cmp(&other.entry)));
        let best = found.first().map_or(0.0, |best| best.likeness);
        found.retain(|found| found.likeness >= best - 0.05);
        found.truncate(4);
        found
    }
}

/// The runs of three letters of a word with its beginning marked: as many as it has letters.
fn grams(stem: &str) -> impl Iterator<Item = [u8; 3]> {
    let marked = format!("^{stem}$");
    let bytes = marked.into_bytes();
    (0..bytes.len().saturating_sub(2)).map(move |at| [bytes[at], bytes[at + 1], bytes[at + 2]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{OfflineReading, OfflineReadingContext};

    fn is_found(known: &str, said: &str) -> bool {
        let mut vocabulary = PhraseVocabulary::default();
        vocabulary.add(&fold::key(known), Language::Hindi, true);
        let reading = OfflineReading::new(said, &OfflineReadingContext::default());
        reading.words.first().is_some_and(|word| !vocabulary.find(word, &[Language::Hindi]).is_empty())
    }

    #[test]
    fn other_spellings_and_scripts_find_the_word() {
        for (known, said) in [
            ("kuduthen", "குடுத்தேன்"),
            ("bechi", "बेची"),
            ("pheraila", "ଫେରାଇଲା"),
            ("vandhuchu", "vandhuchchu"),
            ("esheche", "এসেছে"),
        ] {
            assert!(is_found(known, said), "{known} {said}");
        }
        for (known, other) in [("udhaar", "Ramesh"), ("diya", "dukan"), ("toot", "doodh"), ("batil", "Patil")]
        {
            assert!(!is_found(known, other), "{known} {other}");
        }
    }
}

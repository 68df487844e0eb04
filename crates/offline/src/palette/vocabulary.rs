//! The words of all the tools' phrases, found again in other spellings.

use std::collections::HashMap;

use munshi_lang::fold;

/// From this likeness on, a word may be another spelling of one.
const ALIKE: f32 = 0.62;

/// Words shorter than this are themselves or nothing.
const SHORT: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    pub entries: Vec<Entry>,
    by_stem: HashMap<String, usize>,
    by_skeleton: HashMap<String, Vec<usize>>,
    by_gram: HashMap<[u8; 3], Vec<usize>>,
}

#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub stem: String,
    /// How little it is shared among tools: 1 for a word of one tool.
    pub weight: f32,
    /// Each tool's share of the word; they add up to 1.
    pub shares: Vec<(usize, f32)>,
    /// It stands in a phrase, and not only as somebody's name for a thing.
    pub is_cue: bool,
}

/// A word of a message that is a word of the vocabulary, more or less.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub entry: usize,
    pub likeness: f32,
}

impl Vocabulary {
    /// The place of a stem, made when it is new.
    pub(crate) fn add(&mut self, stem: &str, is_cue: bool) -> usize {
        let at = match self.by_stem.get(stem) {
            Some(at) => *at,
            None => {
                let at = self.entries.len();
                self.entries.push(Entry { stem: stem.to_owned(), ..Entry::default() });
                self.by_stem.insert(stem.to_owned(), at);
                self.by_skeleton.entry(fold::skeleton(stem)).or_default().push(at);
                for gram in grams(stem) {
                    self.by_gram.entry(gram).or_default().push(at);
                }
                at
            }
        };
        if let Some(entry) = self.entries.get_mut(at) {
            entry.is_cue |= is_cue;
        }
        at
    }

    /// Sets how the words are shared, from how often each tool has each: (word, tool) to a count.
    pub(crate) fn share(&mut self, counts: &HashMap<(usize, usize), f32>, tools: usize) {
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

    /// The word itself, or else the few most like it.
    pub(crate) fn find(&self, stem: &str, is_exact: bool) -> Vec<Match> {
        if let Some(at) = self.by_stem.get(stem) {
            return vec![Match { entry: *at, likeness: 1.0 }];
        }
        if is_exact || stem.len() < 3 {
            return Vec::new();
        }
        let mut found: Vec<Match> = Vec::new();
        let bones = fold::skeleton(stem);
        if bones.len() >= SHORT - 1 {
            let same = self.by_skeleton.get(&bones).into_iter().flatten();
            found.extend(same.map(|at| Match { entry: *at, likeness: 0.9 }));
        }
        if found.is_empty() && stem.len() >= SHORT {
            found = self.near(stem);
        }
        found
    }

    fn near(&self, stem: &str) -> Vec<Match> {
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
            2.0 * shared / all
        };
        let mut found: Vec<Match> = shared
            .into_iter()
            .map(|(at, shared)| Match { entry: at, likeness: likeness(at, shared) })
            .filter(|found| found.likeness >= ALIKE)
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

    fn likeliest(words: &[&str], word: &str) -> Option<(String, f32)> {
        let mut vocabulary = Vocabulary::default();
        for word in words {
            vocabulary.add(&fold::stem(&fold::key(word)), true);
        }
        let found = vocabulary.find(&fold::stem(&fold::key(word)), false);
        let best = found.first()?;
        Some((vocabulary.entries[best.entry].stem.clone(), best.likeness))
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
            assert!(likeliest(&[known], said).is_some(), "{known} {said}");
        }
        assert!(likeliest(&["udhaar"], "Ramesh").is_none());
        assert!(likeliest(&["diya"], "dukan").is_none());
    }
}

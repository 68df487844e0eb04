//! Known names in a long text, wherever they stand: any script, any case, any ending.
//!
//! A directory asks whom a message means and doubts; this asks only what must not be read by others. Every word of a
//! known name counts by itself, so Ramesh Kumar is found in `Ramesh`, `Kumar ji` and रमेशको alike.

#[cfg(test)]
mod tests;
mod words;

use std::hash::Hasher;
use std::ops::Range;

use munshi_types::Script;

use self::words::KnownWords;
use super::script_endings::{self, DOUBTFUL};
use super::{NameWord, SAME, is_honorific, word_score};
use crate::fold;
use crate::lexicon::{self, Meaning};
use crate::text_words::{FnvHasher, PlainWord, TextWords, split_words};

/// From this score a word of another script is taken for the name: spelling across scripts is freer.
const ACROSS: f32 = 0.84;

/// Words of firms that name nobody, as the fold leaves them.
pub(super) const TRADES: &[&str] = &[
    "traders",
    "trader",
    "trading",
    "store",
    "stores",
    "shop",
    "dukan",
    "kirana",
    "medical",
    "medicals",
    "general",
    "enterprise",
    "enterprises",
    "agenci",
    "agency",
    "agencies",
    "electronics",
    "electricals",
    "mobile",
    "mobiles",
    "hardvare",
    "hardware",
    "suplier",
    "supliers",
    "suplaiar",
    "sveets",
    "svits",
    "hotel",
    "bakeri",
    "bakery",
    "dairi",
    "dairy",
    "kompani",
    "company",
    "ko",
    "sons",
    "bros",
    "brothers",
    "pvt",
    "ltd",
    "limited",
    "private",
    "industries",
    "textiles",
    "cloth",
    "garments",
    "super",
    "market",
    "mart",
    "bazar",
    "center",
    "centre",
    "services",
    "service",
    "distributors",
    "vholesale",
    "fruits",
    "vegetables",
    "milk",
    "dudh",
    "vala",
    "vale",
    "vali",
    "the",
    "and",
    "of",
    "new",
    "shri",
    "sri",
    "bank",
    "customer",
    "cash",
    "kaish",
];

/// How much a word of a name is also something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Name,
    /// Also a number, a day or a unit: Das, Som.
    Clash,
    /// Also an everyday word, a word of respect or of trade: left alone unless something says it is the name.
    Common,
}

#[derive(Clone, Debug)]
struct Known {
    word: Option<NameWord>,
    script: Option<Script>,
    weight: Weight,
    /// It is somebody's whole name.
    alone: bool,
    /// Whose names it is a word of.
    owners: Vec<u32>,
}

/// A known name found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownNameSpan {
    /// The name without its ending.
    pub range: Range<usize>,
    /// Its place, as [`KnownNameFinder::name`] asks for it; none when the word is only like a known one.
    pub name: Option<usize>,
    /// The name was cut off before a vowel that its last consonant carries unwritten: ರಮೇಶ್, ರಮೇಶನಿಗೆ.
    pub inherent: bool,
}

/// Words of known names, ready to be found. Built once for a list, read for every text.
#[derive(Clone, Debug, Default)]
pub struct KnownNameFinder {
    words: KnownWords,
}

/// What one word of a text is.
#[derive(Clone, Debug, Default)]
struct Verdict {
    /// Parts of the word, from its beginning.
    parts: Vec<KnownNameSpan>,
    /// The known words that spoke for it.
    by: Vec<usize>,
}

impl KnownNameFinder {
    /// From names, each with whose it is.
    pub fn new<'n>(names: impl IntoIterator<Item = (u32, &'n str)>) -> Self {
        Self { words: Self::default().with_names(names).words.share() }
    }

    /// The same with more names behind those it has, as if it was built from all of them. The work is that of the new ones.
    #[must_use]
    pub fn with_names<'n>(&self, names: impl IntoIterator<Item = (u32, &'n str)>) -> Self {
        let mut spotter = self.clone();
        for (owner, name) in names {
            let words = split_words(name);
            let alone = words.len() == 1;
            for word in words {
                spotter.add(name.get(word.range.clone()).unwrap_or_default(), word.script, owner, alone);
            }
        }
        spotter
    }

    /// A word as its owner spells it, by its place.
    pub fn name(&self, at: usize) -> Option<&str> {
        self.words.name(at)
    }

    fn add(&mut self, text: &str, script: Option<Script>, owner: u32, alone: bool) {
        let plain = PlainWord::new(text).text;
        if plain.chars().count() < 2 {
            return;
        }
        if let Some(known) = self.words.find_spelled(&plain).and_then(|at| self.words.known_mut(at)) {
            known.alone |= alone;
            if known.owners.last() != Some(&owner) {
                known.owners.push(owner);
            }
            return;
        }
        let word = script.and_then(|_| NameWord::new(&plain));
        let name = text.chars().filter(|letter| !crate::token::is_unseen(*letter)).collect();
        let known = Known { word, script, weight: weight(&plain), alone, owners: vec![owner] };
        let at = self.words.push(plain, name, known);
        self.words.set_last_root(self.find_root(at));
    }

    /// The word that stands for a name in all its scripts.
    pub fn root(&self, name: usize) -> usize {
        self.words.root(name).unwrap_or(name)
    }

    /// A name as it is spelled in each script that is known of it.
    pub fn spellings(&self, name: usize) -> impl Iterator<Item = (Option<Script>, &str)> {
        let root = self.root(name);
        let same = self.words.roots().enumerate().filter(move |(_, other)| *other == root);
        same.filter_map(|(at, _)| Some((self.words.known(at)?.script, self.words.name(at)?)))
    }

    fn find_root(&self, at: usize) -> usize {
        let same = || {
            let known = self.words.known(at)?;
            let word = known.word.as_ref()?;
            let earlier = self.words.list_alike(&word.bones).take_while(|other| *other < at);
            earlier.filter(|other| self.root(*other) == *other).find(|other| {
                self.words.known(*other).is_some_and(|other| {
                    let score = other.word.as_ref().map_or(0.0, |other| word_score(word, other));
                    let owned = other.owners.iter().any(|owner| known.owners.contains(owner));
                    other.script != known.script && (score >= SAME || (owned && score >= ACROSS))
                })
            })
        };
        same().unwrap_or(at)
    }

    /// Every known name in a text, in order.
    pub fn find(&self, text: &str) -> Vec<KnownNameSpan> {
        self.find_in(&TextWords::new(text))
    }

    /// As [`find`](Self::find), for a text whose words are known.
    pub fn find_in(&self, words: &TextWords<'_>) -> Vec<KnownNameSpan> {
        if self.words.is_empty() {
            return Vec::new();
        }
        let verdicts: Vec<Option<Verdict>> =
            words.different.iter().map(|(said, script)| self.classify_word(said, *script)).collect();
        let verdict = |at: Option<usize>| verdicts.get(*words.which.get(at?)?)?.as_ref();
        let mut found = Vec::new();
        for (at, word) in words.all.iter().enumerate() {
            let Some(one) = verdict(Some(at)) else { continue };
            let beside = [at.checked_sub(1), Some(at + 1)];
            let shared =
                beside.iter().filter_map(|near| verdict(*near)).any(|other| self.share_owner(one, other));
            let near = beside.map(|near| near.map_or("", |near| words.word(near)));
            if shared || self.is_meant(one, words.word(at), near) {
                found.extend(one.parts.iter().map(|part| KnownNameSpan {
                    range: word.range.start + part.range.start..word.range.start + part.range.end,
                    ..part.clone()
                }));
            }
        }
        found
    }

    fn share_owner(&self, one: &Verdict, other: &Verdict) -> bool {
        let owners = |verdict: &Verdict| -> Vec<u32> {
            verdict
                .by
                .iter()
                .filter_map(|at| self.words.known(*at))
                .flat_map(|known| known.owners.iter().copied())
                .collect()
        };
        // Only weak words ask, and those are few.
        let weak = |known: &Known| known.weight != Weight::Name;
        if !one.by.iter().filter_map(|at| self.words.known(*at)).any(weak) || one.by == other.by {
            return false;
        }
        let others = owners(other);
        owners(one).iter().any(|owner| others.contains(owner))
    }

    /// Whether a word that is also something else is the name here.
    fn is_meant(&self, verdict: &Verdict, said: &str, beside: [&str; 2]) -> bool {
        let speaks = |known: &Known| match known.weight {
            Weight::Name => true,
            Weight::Clash => !is_counted(beside),
            Weight::Common => {
                let large =
                    said.starts_with(char::is_uppercase) && !beside.iter().any(|near| is_capitalized(near));
                known.alone && (large || (known.script == Some(Script::Latin) && is_marked(beside[1])))
            }
        };
        let exact = |at: &usize| {
            let known = self.words.known(*at);
            known.is_some_and(|known| {
                known.script != Some(Script::Latin) && known.alone && self.is_spelled(said, *at)
            })
        };
        verdict.by.iter().filter_map(|at| self.words.known(*at)).any(speaks) || verdict.by.iter().any(exact)
    }

    fn is_spelled(&self, said: &str, at: usize) -> bool {
        self.words.find_spelled(&PlainWord::new(said).text) == Some(at)
    }

    /// What a word is by itself.
    fn classify_word(&self, text: &str, script: Option<Script>) -> Option<Verdict> {
        let plain = PlainWord::new(text);
        let whole = |at: Option<usize>, by: Vec<usize>| Verdict {
            parts: vec![KnownNameSpan { range: 0..text.len(), name: at, inherent: false }],
            by,
        };
        if let Some(at) = self.words.find_spelled(&plain.text) {
            return Some(whole(Some(at), vec![at]));
        }
        let script = script?;
        let word = NameWord::new(&plain.text).filter(|word| word.fold.len() < 60)?;
        if !self.may_begin(&word.bones) {
            return self.split_joined(&plain, text, script);
        }
        // A word everybody knows is only the name when nothing tells the two apart.
        let everyday = !lexicon::senses(&word.fold).is_empty();
        let like = self.find_best(&word, script).filter(|(_, score)| *score >= 1.0 || !everyday);
        if let Some((at, _)) = like.filter(|(at, score)| self.is_sure(*at, &word, *score)) {
            return Some(whole(Some(at), vec![at]));
        }
        // A name with an ending is often like the name; the cut says where it ends.
        let cut = self.cut_ending(&plain, text, script, SAME);
        cut.or_else(|| like.map(|(at, _)| whole(None, vec![at])))
            .or_else(|| self.cut_ending(&plain, text, script, ACROSS))
            .or_else(|| self.find_doubtful(&plain, &word, script).map(|at| whole(None, vec![at])))
    }

    /// Whether some front of a word's consonants is a known name's. A nasal that ends a name is lost before an ending.
    fn may_begin(&self, bones: &str) -> bool {
        let known = |sum: FnvHasher, more: &[u8]| {
            let mut sum = sum;
            sum.write(more);
            self.words.has_sum(sum.finish())
        };
        let mut sum = FnvHasher::default();
        bones.bytes().any(|bone| {
            sum.write(&[bone]);
            known(sum, b"") || known(sum, b"n") || known(sum, b"m")
        })
    }

    /// Whether a word that scored so against a known one is that name and no other. Tamil writes Gita and Kita alike, so what
    /// is known in Tamil letters alone says little of a word in others.
    fn is_sure(&self, at: usize, word: &NameWord, score: f32) -> bool {
        let voiceless =
            self.words.known(at).and_then(|known| known.word.as_ref()).is_some_and(|known| known.voiceless);
        score >= 1.0 || (score >= SAME && (word.voiceless || !voiceless))
    }

    /// The known word that may be inside one that is as likely another name.
    fn find_doubtful(&self, plain: &PlainWord, word: &NameWord, script: Script) -> Option<usize> {
        // A word everybody knows is no name with an ending.
        if script != Script::Latin || plain.text.len() < 5 || !lexicon::senses(&word.fold).is_empty() {
            return None;
        }
        DOUBTFUL.iter().find_map(|ending| {
            let front = plain.text.strip_suffix(*ending).filter(|front| front.len() > 2)?;
            self.find_best(&NameWord::new(front)?, script).map(|(at, _)| at)
        })
    }

    /// The known word that a word is, in this or another script.
    fn find_best(&self, word: &NameWord, script: Script) -> Option<(usize, f32)> {
        let scored = self.words.list_alike(&word.bones).filter_map(|at| {
            let known = self.words.known(at)?;
            let other = known.word.as_ref()?;
            let score = word_score(word, other);
            let least = if known.script == Some(script) { SAME } else { ACROSS };
            // Two letters are a name only as they are spelled.
            let short = word.fold.len() < 3 && known.script == Some(script);
            (score >= least && !short).then_some((at, score))
        });
        scored.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))
    }

    /// A name with an ending, a word of respect or another name written onto it.
    fn cut_ending(&self, plain: &PlainWord, text: &str, script: Script, least: f32) -> Option<Verdict> {
        let made = |to: usize, at: usize, sure: bool, inherent: bool| Verdict {
            parts: vec![KnownNameSpan {
                range: 0..plain.original_offset(to, text.len()),
                name: sure.then_some(at),
                inherent,
            }],
            by: vec![at],
        };
        let mut cuts: Vec<usize> = ending_starts(&plain.text, script).collect();
        for place in 0..cuts.len() {
            let front = plain.text.get(..cuts[place])?;
            cuts.extend(ending_starts(front, script));
        }
        // Ramuku is Ramu before it is Ram.
        cuts.sort_unstable_by(|one, other| other.cmp(one));
        for to in cuts {
            if let Some((at, score, inherent)) = self.front(&plain.text, to, script)
                && score >= least
            {
                let word = plain.text.get(..to).and_then(NameWord::new);
                let sure = word.is_none_or(|word| self.is_sure(at, &word, score));
                return Some(made(to, at, sure, inherent));
            }
        }
        self.split_joined(plain, text, script)
    }

    /// Two names run together: rameshkumar, RameshKumar.
    fn split_joined(&self, plain: &PlainWord, text: &str, script: Script) -> Option<Verdict> {
        if script != Script::Latin || plain.text.len() < 6 {
            return None;
        }
        (3..=plain.text.len() - 3).rev().filter(|to| plain.text.is_char_boundary(*to)).find_map(|to| {
            let (front, rest) = plain.text.split_at(to);
            let (one, other) = (self.words.find_spelled(front)?, self.words.find_spelled(rest)?);
            let place = plain.original_offset(to, text.len());
            let part = |range, name| KnownNameSpan { range, name: Some(name), inherent: false };
            let parts = vec![part(0..place, one), part(place..text.len(), other)];
            Some(Verdict { parts, by: vec![one, other] })
        })
    }

    /// The known word before a place, with or without the vowel its last consonant carries there.
    fn front(&self, plain: &str, to: usize, script: Script) -> Option<(usize, f32, bool)> {
        let (front, rest) = plain.split_at_checked(to)?;
        let sign = rest.chars().next().is_some_and(script_endings::is_sign);
        let bare = front.chars().last().is_some_and(script_endings::is_consonant);
        let open = || {
            let spelled = self.words.find_spelled(front).map(|at| (at, 1.0));
            spelled
                .or_else(|| self.find_best(&NameWord::new(front)?, script))
                .map(|(at, score)| (at, score, false))
        };
        let closed = || {
            let virama = script_endings::virama(script).filter(|_| bare)?;
            let (at, score) = self.find_best(&NameWord::new(&format!("{front}{virama}"))?, script)?;
            Some((at, score, !sign))
        };
        // A vowel that hangs on the last consonant takes that consonant's own away.
        match if sign { None } else { open() } {
            Some(found) if found.1 >= 1.0 => Some(found),
            // ರಮೇಶನಿಗೆ is to Ramesh: where the name fits better without that vowel, the vowel is the ending's.
            Some(found) if found.1 >= SAME => {
                Some(closed().filter(|other| other.1 > found.1).unwrap_or(found))
            }
            found => closed().or(found),
        }
    }
}

fn hash_bytes(bytes: &[u8]) -> FnvHasher {
    let mut sum = FnvHasher::default();
    sum.write(bytes);
    sum
}

/// Where the endings of a word begin.
fn ending_starts(word: &str, script: Script) -> impl Iterator<Item = usize> {
    script_endings::list_endings(script).iter().filter_map(move |ending| {
        let front = word.strip_suffix(ending)?;
        script_endings::is_long_enough(script, front, ending).then_some(front.len())
    })
}

fn weight(plain: &str) -> Weight {
    let key = fold::key(plain);
    let senses = lexicon::senses(&key);
    let common = senses.iter().any(|sense| sense.meaning == Meaning::Word);
    if common || is_honorific(&key) || TRADES.contains(&key.as_str()) || TRADES.contains(&plain) {
        Weight::Common
    } else if senses.is_empty() {
        Weight::Name
    } else {
        Weight::Clash
    }
}

/// Whether the words beside one make a number, a day or a measure of it.
fn is_counted(beside: [&str; 2]) -> bool {
    let counts = |word: &str| {
        lexicon::senses(&fold::key(word)).iter().any(|sense| {
            !matches!(
                sense.meaning,
                Meaning::Word | Meaning::To | Meaning::Range | Meaning::Money | Meaning::This
            )
        })
    };
    beside.iter().any(|word| !word.is_empty() && counts(word))
}

/// Whether a word says that the one before it is a person.
fn is_marked(word: &str) -> bool {
    matches!(fold::key(word).as_str(), "ne" | "ji" | "bhai")
}

fn is_capitalized(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

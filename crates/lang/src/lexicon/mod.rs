//! The words the crate knows, compiled from `lexicon/` by the build script.
//!
//! One table serves every language: a key leads to its senses, each with the languages it holds in. Whether a
//! message is about numbers, dates or names is for the modules that read the senses.

mod slots;

use munshi_types::Language;

include!(concat!(env!("OUT_DIR"), "/lexicon.rs"));

/// Keys in order with their senses, and the slots that find one without a search.
struct Table {
    entries: &'static [Entry],
    slots: &'static [u16],
}

type Entry = (&'static str, &'static [Sense]);

impl Table {
    fn find(&self, key: &str) -> Option<&'static [Sense]> {
        let mut at = slots::first(key, self.slots.len());
        loop {
            // An empty slot ends the search, and half of them are empty.
            let place = self.slots.get(at).copied().filter(|place| *place != slots::EMPTY)?;
            let (known, senses) = self.entries.get(usize::from(place))?;
            if *known == key {
                return Some(senses);
            }
            at = (at + 1) % self.slots.len();
        }
    }

    fn senses(&self, key: &str) -> &'static [Sense] {
        self.find(key).unwrap_or_default()
    }
}

/// The pieces of a language by form, and where those of each letter begin.
struct Pieces {
    from: [usize; 27],
    all: &'static [NumberMorpheme],
}

/// A set of languages, one bit each in the order of [`Language::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Languages(pub u16);

impl Languages {
    pub const NONE: Self = Self(0);
    pub const EVERY: Self = Self(0x7FF);
    /// Those whose number words run together: irupattelayirattu.
    pub const DRAVIDIAN: Self = Self(
        Self::only(Language::Tamil).0
            | Self::only(Language::Telugu).0
            | Self::only(Language::Kannada).0
            | Self::only(Language::Malayalam).0,
    );

    pub const fn only(language: Language) -> Self {
        Self(1 << language.index())
    }

    pub const fn with(self, language: Language) -> Self {
        Self(self.0 | 1 << language.index())
    }

    pub const fn has(self, language: Language) -> bool {
        self.0 & (1 << language.index()) != 0
    }

    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL.into_iter().filter(move |language| self.has(*language))
    }
}

/// One meaning a key has in some languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sense {
    pub languages: Languages,
    pub meaning: Meaning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A cardinal below a thousand that is one word.
    Cardinal(u16),
    /// What multiplies the number before it: hundred, thousand, lakh, crore.
    Scale(u64),
    /// Hundredths added to the number after it: sava 25, saade 50.
    Plus(u16),
    /// Hundredths taken from the number after it: paune 25.
    Minus(u16),
    /// Hundredths that stand by themselves or before a scale: aadha 50, dedh 150, dhai 250.
    Part(u16),
    Rupee,
    Paisa,
    /// Says that a bare number near it is money.
    Money,
    /// Stands before digits that are a telephone number.
    Phone,
    /// Stands before digits that name an account, a card or a transaction.
    Account,
    Unit(crate::unit::MeasureUnit),
    /// Days from today.
    Day(i8),
    /// So many days before or after today, by the verb.
    Either(i8),
    Next,
    Last,
    This,
    Week,
    Month,
    Year,
    /// 1 is Monday.
    Weekday(i8),
    /// 1 is January.
    MonthName(i8),
    DayOfMonth,
    Clock,
    Morning,
    Noon,
    Evening,
    Night,
    /// After, and before, a number of days.
    After,
    Before,
    Past,
    Future,
    /// Between the ends of a range: to, tak.
    To,
    /// After the first end of a range: se.
    Range,
    /// An everyday word that tells a language.
    Word,
}

/// A piece of a number word in a language that runs them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberMorpheme {
    pub form: &'static str,
    pub atom: MorphemeValue,
    pub end: MorphemeEnd,
    /// Whether another piece may follow in the same word.
    pub joins: bool,
}

/// Whether a word may end with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MorphemeEnd {
    Never,
    /// Only when more of the number follows in the next word: aayirathi anjooru.
    Open,
    Free,
}

/// What a piece contributes to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MorphemeValue {
    Cardinal(u16),
    Scale(u64),
    /// Hundredths added to the number before it, or standing alone: arai 50.
    Suffix(u16),
}

/// Every sense of a key.
pub fn senses(key: &str) -> &'static [Sense] {
    WORDS.senses(key)
}

/// The keys that begin with some letters, with their senses.
pub fn list_with_prefix(front: &str) -> &'static [(&'static str, &'static [Sense])] {
    let from = WORDS.entries.partition_point(|entry| entry.0 < front);
    let rest = WORDS.entries.get(from..).unwrap_or_default();
    let count = rest.partition_point(|entry| entry.0.starts_with(front));
    rest.get(..count).unwrap_or_default()
}

/// The number senses of a skeleton, for near matches.
pub fn near_numbers(skeleton: &str) -> &'static [Sense] {
    SKELETONS.senses(skeleton)
}

/// The words that stand before a number and change it by a fraction, in any of the languages.
pub fn fractions(languages: Languages) -> impl Iterator<Item = (&'static str, Meaning)> {
    FRACTIONS
        .iter()
        .filter(move |(_, sense)| sense.languages.intersects(languages))
        .map(|(key, sense)| (*key, sense.meaning))
}

/// The senses of a word whose key has several, by how it is written.
pub fn senses_by_spelling(word: &str) -> &'static [Sense] {
    SPELLINGS.senses(&crate::fold::normalize_spelling(word))
}

/// The number an English word means by its very spelling, when its fold is also a word for a day.
pub fn english_number(word: &str) -> &'static [Sense] {
    ENGLISH_NUMBERS.senses(&word.to_ascii_lowercase())
}

/// The number senses of a word of Devanagari by its very spelling.
pub fn devanagari_number(word: &str) -> &'static [Sense] {
    DEVANAGARI_NUMBERS.senses(&crate::fold::normalize_spelling(word))
}

/// What an English number word written in another script means.
pub fn find_loan(word: &str) -> Option<Meaning> {
    LOANS.find(&crate::fold::normalize_spelling(word))?.first().map(|sense| sense.meaning)
}

/// Whether a word of a native script is made of what the number words of the languages are made of: a short one of nothing
/// else, a long one, whose parts change where they meet, for the most part. Its key forgets what its letters tell apart:
/// ಎಂದು is said and ಎಂಟು eight, চা tea and ছ six.
pub fn is_number_shaped(word: &str, languages: Languages) -> bool {
    let (mut known, mut all) = (0, 0);
    for three in crate::fold::trigrams(word) {
        all += 1;
        let is_known = SHAPES.senses(&three).iter().any(|sense| sense.languages.intersects(languages));
        known += usize::from(is_known);
    }
    if all < LONG_SHAPE { known == all } else { known * 5 >= all * 3 }
}

/// Whether a word of a native script begins as some number word of the languages does.
pub fn starts_like_number(word: &str, languages: Languages) -> bool {
    let first = crate::fold::trigrams(word).next();
    first.is_some_and(|first| SHAPES.senses(&first).iter().any(|sense| sense.languages.intersects(languages)))
}

/// So many threes of letters make a long word.
const LONG_SHAPE: usize = 7;

/// Whether a word as written is also an ordinary word or a name: the languages in which it is one even before a scale.
pub fn find_clash(word: &str) -> Option<Languages> {
    CLASHES.find(word).map(|senses| senses.first().map_or(Languages::NONE, |sense| sense.languages))
}

/// The pieces of a language's number words that begin with a letter, by form; none when it has none.
pub fn list_morphemes(language: Language, first: u8) -> &'static [NumberMorpheme] {
    let pieces = match language {
        Language::Tamil => &PIECES_TA,
        Language::Telugu => &PIECES_TE,
        Language::Kannada => &PIECES_KN,
        Language::Malayalam => &PIECES_ML,
        _ => return &[],
    };
    let letter = usize::from(first.wrapping_sub(b'a'));
    let (Some(from), Some(to)) = (pieces.from.get(letter), pieces.from.get(letter + 1)) else {
        return &[];
    };
    pieces.all.get(*from..*to).unwrap_or_default()
}

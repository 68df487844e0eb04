//! Number words that run together, taken apart.
//!
//! Tamil, Telugu, Kannada and Malayalam write இருபத்தேழாயிரத்து as one word: the pieces of `lexicon/morphemes`
//! are laid end to end until they cover it. The northern languages fuse less: a hundred after a cardinal
//! (donshe, transo), a fraction before one (sadeteen).

use munshi_types::{Language, Script};

use super::NumberPart;
use crate::fold;
use crate::lexicon::{self, Languages, Meaning, MorphemeEnd, MorphemeValue};

/// A word of more pieces than this is no number anyone says.
const MAX_PIECES: usize = 8;

/// So many ways to lay the pieces are looked at.
const MAX_COVERS: usize = 6;

/// Case endings that may close a number word, as `fold::stem` leaves them.
const ENDINGS: &[&str] = &[
    "ku", "uku", "iku", "ke", "ki", "la", "il", "ile", "ali", "lo", "to", "um", "in", "inu", "inte", "ine",
    "aki", "ni", "e", "am", "ai", "otu", "inta", "ike", "ige",
];

/// Case endings the northern languages write on a scale, as the fold leaves them.
const fn northern_endings(language: Language) -> &'static [&'static str] {
    match language {
        Language::Marathi => &[
            "la", "cha", "chi", "che", "chya", "chia", "t", "ne", "ni", "hun", "sathi", "var", "madhe",
            "pasun", "paryant", "nche", "nchi", "ncha", "nchya", "nchia", "na", "nt", "nsathi", "nla",
        ],
        Language::Bengali => &["e", "er", "re", "ke", "te", "ta", "ti", "tay", "tar", "i", "o"],
        Language::Gujarati => &["ni", "no", "nu", "na", "ne", "ma", "man", "mam", "thi", "e"],
        Language::Odia => &["ra", "re", "ku", "ru", "ti", "ta", "e"],
        Language::Punjabi => &["da", "di", "de", "nu", "nun", "ton", "vich"],
        _ => &[],
    }
}

/// The parts of a northern scale or fused hundred under a case ending.
pub(super) fn parse_inflected(
    key: &str,
    script: Script,
    only: Languages,
    language: Language,
) -> Option<Vec<NumberPart>> {
    northern_endings(language).iter().find_map(|ending| {
        let least = if script == Script::Latin { 3 } else { 2 };
        let stem = key.strip_suffix(ending).filter(|stem| stem.len() > least)?;
        let bare = stem.strip_suffix('a').filter(|bare| bare.len() > least);
        [Some(stem), bare].into_iter().flatten().find_map(|stem| match find_part(stem, only) {
            Some(scale @ NumberPart::Scale(1_000..)) => Some(vec![scale]),
            // In its own script a ten is spelled in one way, and its case with it: दहाला, દસમાં.
            Some(ten @ NumberPart::Cardinal(10..)) if script != Script::Latin && ending.len() > 1 => {
                Some(vec![ten])
            }
            Some(_) => None,
            None => parse_fused_hundred(stem, script, only),
        })
    })
}

/// A Dravidian number word taken apart.
pub(super) struct SegmentedNumber {
    pub parts: Vec<NumberPart>,
    pub end: MorphemeEnd,
    /// Another way to lay the pieces, which may make another number; empty when there is none.
    pub rival: Option<Vec<NumberPart>>,
    /// It ends in a case ending.
    pub inflected: bool,
}

/// The parts of a Dravidian number word by its `fold::stem`; none when its pieces do not cover it.
pub(super) fn split_morphemes(stem: &str, language: Language) -> Option<SegmentedNumber> {
    for end in [MorphemeEnd::Free, MorphemeEnd::Open] {
        let mut covers =
            Covers { language, end, parts: Vec::with_capacity(MAX_PIECES), glides: 0, found: Vec::new() };
        covers.cover(stem);
        // Letters that mean something are likelier than letters that only carry a vowel on.
        covers.found.sort_by_key(|cover| cover.glides);
        let inflected = covers.found.first().is_some_and(|cover| cover.inflected);
        let mut all = covers.found.into_iter().map(|cover| cover.parts);
        if let Some(parts) = all.next() {
            // What is one piece as a whole is not two by chance: mukkal is three quarters.
            let whole = parts.len() == 1;
            let rival = all.find(|other| *other != parts && !whole);
            return Some(SegmentedNumber { parts, end, rival, inflected });
        }
    }
    None
}

/// Ten and a unit in one word are a teen; said apart they are not.
fn join_teens(parts: &[[Option<NumberPart>; 2]]) -> Vec<NumberPart> {
    let mut joined: Vec<NumberPart> = Vec::with_capacity(parts.len());
    for part in parts.iter().flatten().copied().flatten() {
        match (joined.last_mut(), part) {
            (Some(NumberPart::Cardinal(ten @ 10)), NumberPart::Cardinal(unit)) => *ten += unit,
            _ => joined.push(part),
        }
    }
    // A lakh and a half is one and a half lakh.
    if let [NumberPart::Scale(scale), NumberPart::Suffix(part)] = *joined.as_slice() {
        joined = vec![NumberPart::Fraction(100 + part), NumberPart::Scale(scale)];
    }
    joined
}

/// The ten or more whose form a stem misses by one letter.
pub(super) fn find_near_morpheme(stem: &str, language: Language) -> Option<Vec<NumberPart>> {
    let first = stem.bytes().next()?;
    let near = |piece: &&lexicon::NumberMorpheme| {
        let ten = matches!(piece.atom, MorphemeValue::Cardinal(10..));
        ten && piece.end == MorphemeEnd::Free
            && piece.form.len() > 4
            && fold::edit_distance(stem, piece.form) == 1
    };
    let piece = lexicon::list_morphemes(language, first).iter().find(near)?;
    Some(split(piece.atom).into_iter().flatten().collect())
}

/// Whether a stem begins with a piece long enough not to be chance.
pub(super) fn begins_with_morpheme(stem: &str, language: Language, least: usize) -> bool {
    let first = stem.bytes().next().unwrap_or_default();
    lexicon::list_morphemes(language, first)
        .iter()
        .any(|piece| piece.form.len() >= least && stem.starts_with(piece.form))
}

/// The scale a stem begins with, in four letters or more.
pub(super) fn first_scale(stem: &str, language: Language) -> Option<u64> {
    let first = stem.bytes().next()?;
    lexicon::list_morphemes(language, first).iter().find_map(|piece| match piece.atom {
        MorphemeValue::Scale(scale) if piece.form.len() > 3 && stem.starts_with(piece.form) => Some(scale),
        _ => None,
    })
}

/// The ways to lay pieces end to end over a word.
struct Covers {
    language: Language,
    end: MorphemeEnd,
    parts: Vec<[Option<NumberPart>; 2]>,
    /// Letters passed over on the way.
    glides: usize,
    found: Vec<Cover>,
}

/// Pieces that cover a word.
struct Cover {
    parts: Vec<NumberPart>,
    /// Letters passed over.
    glides: usize,
    inflected: bool,
}

impl Covers {
    fn cover(&mut self, rest: &str) {
        let Some(&first) = rest.as_bytes().first() else { return };
        if self.parts.len() == MAX_PIECES {
            return;
        }
        // Longest first, so that tolayiram is 900 before anything with ayiram in it.
        for piece in lexicon::list_morphemes(self.language, first).iter().rev() {
            let Some(after) = rest.strip_prefix(piece.form) else { continue };
            let part = split(piece.atom);
            if self.found.len() == MAX_COVERS || !follows(&self.parts, &part) {
                continue;
            }
            self.parts.push(part);
            let inflected = self.end == MorphemeEnd::Free && ENDINGS.contains(&after);
            // A scale, or a ten, is put in its oblique form before a case ending: ayirattukku, aivattakke.
            let bends = matches!(piece.atom, MorphemeValue::Scale(_) | MorphemeValue::Cardinal(10..100));
            let oblique = inflected && piece.end == MorphemeEnd::Open && bends;
            if oblique || (piece.end == self.end && (after.is_empty() || inflected)) {
                let (parts, glides) = (join_teens(&self.parts), self.glides);
                self.found.push(Cover { parts, glides, inflected: !after.is_empty() });
            } else if piece.joins && !after.is_empty() {
                self.cover(after);
                // A `y` or `v` may only carry one vowel to the next.
                if let Some(after) = after.strip_prefix(['y', 'v']) {
                    self.glides += 1;
                    self.cover(after);
                    self.glides -= 1;
                }
            }
            self.parts.pop();
        }
    }
}

fn split(atom: MorphemeValue) -> [Option<NumberPart>; 2] {
    match atom {
        MorphemeValue::Cardinal(value) if value >= 200 && value % 100 == 0 => {
            [Some(NumberPart::Cardinal(u64::from(value / 100))), Some(NumberPart::Scale(100))]
        }
        MorphemeValue::Cardinal(value) => [Some(NumberPart::Cardinal(u64::from(value))), None],
        MorphemeValue::Scale(scale) => [Some(NumberPart::Scale(scale)), None],
        MorphemeValue::Suffix(hundredths) => [Some(NumberPart::Suffix(hundredths)), None],
    }
}

/// Whether a piece may stand after the one before it inside a word.
fn follows(parts: &[[Option<NumberPart>; 2]], part: &[Option<NumberPart>; 2]) -> bool {
    let Some(before) = parts.last() else { return true };
    let last = before[1].or(before[0]);
    match (last, part[0]) {
        (Some(NumberPart::Cardinal(tens)), Some(NumberPart::Cardinal(unit))) => {
            part[1].is_none() && unit > 0 && unit < 10 && tens >= 10 && tens % 10 == 0
        }
        // Half a lakh is said, half a hundred is not.
        (Some(NumberPart::Suffix(_)), Some(NumberPart::Scale(scale))) => parts.len() > 1 || scale >= 100_000,
        (Some(NumberPart::Scale(high)), Some(NumberPart::Scale(low))) => low < high,
        // Telugu says a lakh and a half in one word: lakshannara.
        (Some(NumberPart::Scale(scale)), Some(NumberPart::Suffix(_))) => parts.len() == 1 && scale >= 100_000,
        (Some(NumberPart::Suffix(_)), Some(NumberPart::Cardinal(_))) => false,
        _ => true,
    }
}

/// What northern languages write as one word: a cardinal and its hundred, a fraction and its number.
pub(super) fn parse_fused(key: &str, script: Script, languages: Languages) -> Option<Vec<NumberPart>> {
    parse_fused_hundred(key, script, languages)
        .or_else(|| fraction(key, languages))
        .or_else(|| parse_counted(key, languages))
}

/// The number a key means; the smaller of two, since what is fused is small: shatsho is seven hundred.
fn find_part(key: &str, languages: Languages) -> Option<NumberPart> {
    let senses = lexicon::senses(key).iter().filter(|sense| sense.languages.intersects(languages));
    senses.filter_map(|sense| to_number_part(sense.meaning)).min_by_key(|part| match part {
        NumberPart::Cardinal(value) => *value,
        _ => u64::MAX,
    })
}

fn parse_fused_hundred(key: &str, script: Script, languages: Languages) -> Option<Vec<NumberPart>> {
    for ending in ["she", "shen", "shye", "sho", "so", "sau", "saha", "shaha", "shat", "sh"] {
        let Some(front) = key.strip_suffix(ending) else { continue };
        if front.len() < 2 || !means_hundred(ending, script, languages) {
            continue;
        }
        // The vowel before the hundred is only written: ekasho.
        let bare = front.strip_suffix('a').map(fold::key);
        let found = find_part(front, languages)
            .or_else(|| bare.as_deref().and_then(|bare| find_part(bare, languages)));
        // Or it is left out: barshe.
        let found = found.or_else(|| find_part(&format!("{front}a"), languages));
        let before = match found {
            Some(part @ (NumberPart::Cardinal(_) | NumberPart::Fraction(_) | NumberPart::Plus(_))) => {
                vec![part]
            }
            _ => match fraction(front, languages).or_else(|| fraction(bare.as_deref()?, languages)) {
                Some(parts) => parts,
                None => continue,
            },
        };
        return Some(before.into_iter().chain([NumberPart::Scale(100)]).collect());
    }
    None
}

fn means_hundred(ending: &str, script: Script, languages: Languages) -> bool {
    // Bengali writes its hundred with one letter where it is joined.
    let short = ending == "sh" && script == Script::Bengali && languages.has(Language::Bengali);
    let hundred = |sense: &lexicon::Sense| {
        sense.meaning == Meaning::Scale(100) && sense.languages.intersects(languages)
    };
    short || lexicon::senses(ending).iter().any(hundred)
}

fn fraction(key: &str, languages: Languages) -> Option<Vec<NumberPart>> {
    lexicon::fractions(languages).find_map(|(front, meaning)| {
        let back = key.strip_prefix(front)?;
        let number = find_part(back, languages).filter(|part| matches!(part, NumberPart::Cardinal(_)))?;
        Some(vec![to_number_part(meaning)?, number])
    })
}

/// Bengali and Odia hang a counting word on small numbers: ekta, tinte, panchti.
fn parse_counted(key: &str, languages: Languages) -> Option<Vec<NumberPart>> {
    let counting = Languages::only(Language::Bengali).with(Language::Odia);
    let here = Languages(languages.0 & counting.0);
    for ending in ["ta", "ti", "te", "to", "tai", "khana", "jon"] {
        if let Some(front) = key.strip_suffix(ending).filter(|front| front.len() > 1)
            && let Some(part @ NumberPart::Cardinal(1..=20)) = find_part(front, here)
                .or_else(|| front.strip_suffix('a').and_then(|bare| find_part(bare, here)))
        {
            return Some(vec![part]);
        }
    }
    None
}

/// A round number of hundreds in one word, as its count and its hundred: a fraction before it changes the count.
pub(super) fn split_hundreds(part: NumberPart) -> Vec<NumberPart> {
    match part {
        NumberPart::Cardinal(value) if value >= 200 && value.is_multiple_of(100) => {
            vec![NumberPart::Cardinal(value / 100), NumberPart::Scale(100)]
        }
        part => vec![part],
    }
}

/// The meanings that make numbers.
pub(super) fn to_number_part(meaning: Meaning) -> Option<NumberPart> {
    Some(match meaning {
        Meaning::Cardinal(value) => NumberPart::Cardinal(u64::from(value)),
        Meaning::Scale(scale) => NumberPart::Scale(scale),
        Meaning::Plus(hundredths) => NumberPart::Plus(hundredths),
        Meaning::Minus(hundredths) => NumberPart::Minus(hundredths),
        Meaning::Part(hundredths) => NumberPart::Fraction(hundredths),
        _ => return None,
    })
}

//! Names of people across scripts and spellings.
//!
//! - [`name_key`]: one key per name, so that Rajan, Raajan, राजन, ராஜன் and রাজন meet
//! - [`score`]: how alike two names are; [`strip_case_words`]: a name without the case words behind it
//! - [`cues`]: names nobody listed, by what stands beside them
//! - [`known_names`]: known names in a long text, so that others do not read them
//! - [`directory`]: a list of contacts, and who among them a message means
//!
//! Names whose consonants differ are different people: Ramesh is never Suresh, however few letters change.

pub mod cues;
pub mod directory;
mod endings;
pub mod known_names;
mod script_endings;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::LazyLock;

use munshi_types::Script;

use crate::fold;

/// From this score two names are the same: only spelling that every writer lets go of differs.
pub const SAME: f32 = 0.95;

/// The most that two words score which are not the same: Arun and Aruna, Krishna and Krishnan.
const CLOSE: f32 = 0.9;

/// From this score a name may be meant, and is worth asking about.
pub const MAYBE: f32 = 0.62;

/// Those people write as the end of the name: Rameshbhai, Lataben.
const JOINED_HONORIFICS: &[&str] = &["bhai", "ben", "ji", "garu", "babu", "saab", "sahab", "bhau", "tai"];

/// Whether a folded word is one of respect.
pub fn is_honorific(key: &str) -> bool {
    endings::HONORIFICS.contains(&key)
}

/// Whether a word is of a firm's name and names nobody: store, super, brothers.
pub fn is_business_word(key: &str) -> bool {
    known_names::TRADES.contains(&key)
}

/// A name without the case words that follow it, in whatever language: Ramesh ko, রমেশ এর, Ramesh's. One
/// word stays.
pub fn strip_case_words(name: &str) -> &str {
    static APART: LazyLock<HashSet<String>> =
        LazyLock::new(|| endings::APART.iter().map(|word| fold::key(word)).collect());
    let mut name = name.trim();
    for owner in ["'s", "’s"] {
        name = name.strip_suffix(owner).filter(|name| !name.is_empty()).unwrap_or(name);
    }
    while let Some((front, last)) = name.rsplit_once(char::is_whitespace) {
        let key = fold::key(last);
        // Bengali's word of respect is Punjabi's "of".
        let is_own = last.starts_with(char::is_uppercase) || (last.is_ascii() && is_honorific(&key));
        if is_own || !APART.contains(&key) {
            break;
        }
        name = front.trim_end();
    }
    name
}

/// One word of a name, ready to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameWord {
    /// Its consonants with voicing merged: what must agree.
    pub bones: String,
    /// Its fold: how well it agrees.
    pub fold: String,
    /// Tamil script has one letter for k and g, p and b, t and d.
    pub voiceless: bool,
    /// Bengali and Odia say o for a and b for v.
    pub eastern: bool,
    /// It ends in a letter of the south whose vowel may be said or not: ರಮೇಶ is Ramesh, ಲತ is Lata.
    pub open: bool,
}

impl NameWord {
    pub(crate) fn new(text: &str) -> Option<Self> {
        let script = text.chars().find_map(Script::from_char);
        let voiceless = script == Some(Script::Tamil);
        let eastern = matches!(script, Some(Script::Bengali | Script::Odia));
        let mut fold = fold::key(text);
        if voiceless {
            // Tamil writes Lakshmi with a t.
            fold = fold.replace("tch", "ksh");
        }
        // Odia writes and Malayalam says a vowel at the end that others leave out: ରାଜନ, രമേശ്.
        let unsaid = match (script, text.chars().last()) {
            (Some(Script::Odia), Some('\u{B15}'..='\u{B39}')) => Some('a'),
            (Some(Script::Malayalam), Some('\u{D4D}')) => Some('u'),
            _ => None,
        };
        if let Some(front) = unsaid.and_then(|vowel| fold.strip_suffix(vowel)) {
            fold = front.to_owned();
        }
        let open = matches!(
            text.chars().last(),
            Some(
                '\u{B95}'..='\u{BB9}' | '\u{C15}'..='\u{C39}' | '\u{C95}'..='\u{CB9}' | '\u{D15}'..='\u{D39}',
            )
        );
        let bones = consonant_key(&fold);
        (fold.len() > 1 && !bones.is_empty()).then_some(Self { bones, fold, voiceless, eastern, open })
    }

    /// The front of a word, in the script of the whole.
    pub(crate) fn with_fold(&self, fold: String) -> Option<Self> {
        let bones = consonant_key(&fold);
        (fold.len() > 1 && !bones.is_empty()).then_some(Self { bones, fold, ..*self })
    }
}

/// The words of a name without its honorifics; all of them when it has nothing else.
pub(crate) fn split_words(name: &str) -> Vec<NameWord> {
    let all: Vec<NameWord> = name
        .split(|letter: char| {
            letter.is_whitespace() || matches!(letter, '.' | ',' | '-' | '/' | '(' | ')' | '&')
        })
        .filter(|word| !word.is_empty())
        .filter_map(NameWord::new)
        .collect();
    let named: Vec<NameWord> =
        all.iter().filter(|word| !is_honorific(&word.fold)).map(strip_joined_honorific).collect();
    if named.is_empty() { all } else { named }
}

/// A word without an honorific written as its end, where enough of a name is left.
pub(crate) fn strip_joined_honorific(word: &NameWord) -> NameWord {
    JOINED_HONORIFICS
        .iter()
        .filter_map(|ending| Some((word.fold.strip_suffix(ending)?, *ending)))
        // Balaji and Shivaji are names.
        .filter(|(front, ending)| front.len() > 2 && !(*ending == "ji" && front.ends_with('a')))
        .find_map(|(front, _)| word.with_fold(front.to_owned()))
        .filter(|front| front.bones.len() > 1)
        .unwrap_or_else(|| word.clone())
}

/// The key of a name: its words' consonants in order, honorifics left out.
pub fn name_key(name: &str) -> String {
    split_words(name).iter().map(|word| word.bones.as_str()).collect::<Vec<_>>().join(" ")
}

/// The consonants of a folded word, voicing and breath merged, with the vowel it begins with.
fn consonant_key(fold: &str) -> String {
    let bytes = fold.as_bytes();
    let mut out = String::with_capacity(bytes.len());
    for (at, &letter) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let bone = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' if at == 0 => first_vowel(letter, next),
            b'a' | b'e' | b'i' | b'o' | b'u' | b'h' | b'y' => {
                // A breath that begins a word is a letter of it.
                if at == 0 && letter != b'h' {
                    letter
                } else if at == 0 {
                    b'h'
                } else {
                    continue;
                }
            }
            // Nasals before another consonant come and go: Chandra, Chadra; Sampat, Sanpat.
            b'n' | b'm' if next != 0 && !is_vowel(next) && next != b'y' && next != b'h' => continue,
            b'g' | b'q' => b'k',
            b'd' => b't',
            b'b' | b'v' | b'f' => b'p',
            b'c' => b's',
            b'z' if next == b'h' => b'l',
            other => other,
        };
        if out.as_bytes().last() != Some(&bone) {
            out.push(char::from(bone));
        }
    }
    out
}

const fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u')
}

/// First vowels in three kinds, so that Anil and Unnil differ but Arun and Orun do not.
const fn first_vowel(letter: u8, next: u8) -> u8 {
    match letter {
        b'a' if next == b'i' => b'e',
        b'a' | b'o' => b'a',
        b'e' | b'i' => b'e',
        _ => b'u',
    }
}

/// How alike two names are, from 0 to 1. Words may come in another order, and one name may have more of them.
pub fn similarity(one: &str, other: &str) -> f32 {
    let (one, other) = (split_words(one), split_words(other));
    let (few, many) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if few.is_empty() {
        return 0.0;
    }
    let mut total = 0.0;
    for word in few {
        let best = many.iter().map(|candidate| word_score(word, candidate)).fold(0.0, f32::max);
        if best < MAYBE {
            return 0.0;
        }
        total += best;
    }
    coverage_score(total, few.len(), many.len())
}

/// The mean of the words that met, less a little for each that has no partner.
pub(crate) fn coverage_score(total: f32, met: usize, all: usize) -> f32 {
    #[allow(clippy::cast_precision_loss, reason = "a name has a handful of words")]
    let (met, missing) = (met as f32, all.saturating_sub(met) as f32);
    (total / met.max(1.0) - 0.1 * missing).max(0.0)
}

/// How alike two words are; 0 when their consonants or their first vowels differ. English words in the names of shops are
/// written by their sound in other scripts: ट्रेडर्स is Traders.
pub(crate) fn word_score(one: &NameWord, other: &NameWord) -> f32 {
    if one.fold == other.fold {
        return 1.0;
    }
    if one.bones != other.bones {
        return 0.0;
    }
    let (first, second) = (find_spoken_form(one), find_spoken_form(other));
    compare_words(first.as_ref().unwrap_or(one), second.as_ref().unwrap_or(other))
}

/// An English word of trade as it is said.
fn find_spoken_form(word: &NameWord) -> Option<NameWord> {
    let (_, said) = SOUNDED.iter().find(|(written, _)| *written == word.fold)?;
    Some(NameWord { fold: (*said).to_owned(), ..word.clone() })
}

/// Words of trade whose vowels are written otherwise than they are said, both as folds.
const SOUNDED: &[(&str, &str)] = &[
    ("trader", "tredar"),
    ("traders", "tredars"),
    ("trading", "treding"),
    ("tailor", "telar"),
    ("tailors", "telars"),
    ("bakery", "bekari"),
    ("dairy", "deri"),
    ("painter", "pentar"),
    ("paints", "pents"),
    ("mobile", "mobail"),
    ("tekstile", "tekstail"),
    ("tekstiles", "tekstails"),
];

fn compare_words(one: &NameWord, other: &NameWord) -> f32 {
    if one.fold == other.fold {
        return 0.97;
    }
    if first_vowels_clash(one, other) {
        return 0.0;
    }
    let voiceless = one.voiceless || other.voiceless;
    let eastern = one.eastern || other.eastern;
    let open = one.open || other.open;
    let same = |word: &NameWord| {
        let fold = if open { word.fold.strip_suffix('a').unwrap_or(&word.fold) } else { &word.fold };
        fold_ambiguous_sounds(fold, voiceless, eastern)
    };
    if same(one) == same(other) {
        return 0.97;
    }
    let distance = edit_cost(one.fold.as_bytes(), other.fold.as_bytes(), one.voiceless != other.voiceless);
    #[allow(clippy::cast_precision_loss, reason = "a word has a handful of letters")]
    let longest = one.fold.len().max(other.fold.len()) as f32;
    (1.0 - distance / longest).clamp(0.0, CLOSE)
}

/// A fold without what the scripts of two names cannot tell apart. All else that differs is a difference.
fn fold_ambiguous_sounds(fold: &str, voiceless: bool, eastern: bool) -> String {
    let mut out = String::with_capacity(fold.len());
    for letter in fold.chars() {
        let before = out.chars().last();
        match letter {
            // Sita, Sitha; Ganes, Ganesh.
            'h' if matches!(before, Some('t' | 's')) => {}
            'h' if voiceless && before.is_some_and(|before| !"aeiou".contains(before)) => {}
            'g' if voiceless => out.push('k'),
            'd' if voiceless => out.push('t'),
            'b' | 'f' if voiceless => out.push('p'),
            'c' if voiceless => out.push('s'),
            'o' if eastern => out.push('a'),
            'v' if eastern => out.push('b'),
            other => out.push(other),
        }
    }
    out
}

/// Whether the first vowel after the first consonant is another one: Dinesh and Danish.
fn first_vowels_clash(one: &NameWord, other: &NameWord) -> bool {
    let first = |word: &NameWord| {
        let rest = word.fold.trim_start_matches(|letter: char| !"aeiou".contains(letter));
        rest.chars().next()
    };
    let (Some(one), Some(other)) = (first(one), first(other)) else { return false };
    let pair = (one.min(other), one.max(other));
    // An English u is an a to most: supplier.
    matches!(pair, ('a', 'e' | 'i') | ('e', 'o' | 'u') | ('i', 'o'))
}

/// Edit distance where letters that sound alike are close.
fn edit_cost(one: &[u8], other: &[u8], voiceless: bool) -> f32 {
    let mut row: Vec<f32> = Vec::with_capacity(other.len() + 1);
    row.push(0.0);
    for (at, &letter) in other.iter().enumerate() {
        row.push(row[at] + gap(letter, at + 1 == other.len()));
    }
    for (at, &left) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] += gap(left, at + 1 == one.len());
        for (place, &right) in other.iter().enumerate() {
            let change = diagonal + swap(left, right, voiceless);
            let drop_left = row[place + 1] + gap(left, at + 1 == one.len());
            let drop_right = row[place] + gap(right, place + 1 == other.len());
            diagonal = row[place + 1];
            row[place + 1] = change.min(drop_left).min(drop_right);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The cost of a letter only one of them has.
fn gap(letter: u8, last: bool) -> f32 {
    match letter {
        b'h' | b'y' => 0.2,
        _ if is_vowel(letter) && last => 0.45,
        _ if is_vowel(letter) => 0.6,
        b'n' | b'm' => 0.5,
        _ => 1.0,
    }
}

fn swap(left: u8, right: u8, voiceless: bool) -> f32 {
    if left == right {
        return 0.0;
    }
    let pair = (left.min(right), left.max(right));
    match pair {
        (b'a', b'o') | (b'e', b'i') => 0.3,
        (b'o', b'u') => 0.4,
        _ if is_vowel(left) && is_vowel(right) => 0.9,
        (b'g', b'k') | (b'd', b't') | (b'b', b'p') => {
            if voiceless {
                0.1
            } else {
                0.7
            }
        }
        (b'b', b'v') | (b'f', b'p') => 0.2,
        (b'c', b's') => {
            if voiceless {
                0.2
            } else {
                0.6
            }
        }
        (b'm', b'n') => 0.3,
        _ => 1.0,
    }
}

#[cfg(test)]
mod keys {
    use super::*;

    #[test]
    fn one_name_in_many_scripts_has_one_key() {
        for names in [
            &["Rajan", "Raajan", "राजन", "ராஜன்", "রাজন", "రాజన్", "ರಾಜನ್", "രാജൻ", "રાજન", "ਰਾਜਨ", "ରାଜନ"][..],
            &[
                "Ramesh",
                "Rameshbhai",
                "Ramesh ji",
                "रमेश",
                "ரமேஷ்",
                "রমেশ",
                "రమేష్",
                "ರಮೇಶ್",
                "രമേശ്",
                "રમેશ",
                "ਰਮੇਸ਼",
                "ରମେଶ",
            ],
            &["Lakshmi", "Laxmi", "லட்சுமி", "లక్ష్మి", "ಲಕ್ಷ್ಮಿ", "लक्ष्मी", "Laksmi akka"],
            &["Ganesh", "गणेश", "கணேஷ்", "Ganes"],
            &["Sita", "Seetha", "Sitha", "सीता", "சீதா", "സീത", "సీత"],
            &["Vikram", "Bikram", "বিক্রম", "विक्रम", "விக்ரம்"],
            &["Gupta supplier", "गुप्ता सप्लायर"],
        ] {
            for name in names {
                assert_eq!(name_key(name), name_key(names[0]), "{name}");
                assert!(
                    similarity(name, names[0]) >= MAYBE,
                    "{name} {}: {}",
                    names[0],
                    similarity(name, names[0])
                );
            }
        }
    }

    #[test]
    fn a_vowel_that_the_south_may_leave_unsaid_is_no_other_name() {
        for (one, other) in
            [("ರಮೇಶ", "Ramesh"), ("ರಮೇಶ", "ರಮೇಶ್"), ("రమేశ", "रमेश"), ("ಲತ", "Lata"), ("సునీత", "Sunita")]
        {
            assert!(similarity(one, other) >= SAME, "{one} {other}: {}", similarity(one, other));
        }
        // Said with a vowel of its own it is another.
        assert!(similarity("Arun", "Aruna") < SAME && similarity("ಅರುಣಾ", "Arun") < SAME);
    }

    #[test]
    fn other_people_never_meet() {
        for (one, other) in [
            ("Ramesh", "Suresh"),
            ("Ramesh", "Rajesh"),
            ("Ramesh", "Mahesh"),
            ("Naresh", "Suresh"),
            ("रमेश", "Suresh"),
            ("Anita", "Sunita"),
            ("Rajan", "Rajni"),
            ("Sita", "Gita"),
            ("Mohan", "Sohan"),
            ("Babu", "Pappu"),
            ("Kavita", "Savita"),
        ] {
            assert!(similarity(one, other) < SAME, "{one} {other}: {}", similarity(one, other));
        }
    }
}

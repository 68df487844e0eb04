//! One spelling for many: words of every script brought to Latin letters and folded.
//!
//! The build script compiles the lexicon with this very code, so a word of a message and a word of the
//! lexicon meet whatever script or spelling either was written in. Three strengths:
//! - [`key`]: what nobody tells apart when typing (`paanch`, `panch`, पाँच); numbers match on it
//! - [`stem`]: also the sounds Dravidian spellings mix (t/d, p/b, k/g); number morphemes match on it
//! - [`skeleton`]: also aspirates and vowel quality; only near matches rest on it

#[path = "romanise.rs"]
mod romanise;

#[allow(unused_imports, reason = "the build script folds too, and asks less")]
pub use romanise::{has_only_known_letters, is_indic, romanise, romanise_spoken};
use unicode_normalization::UnicodeNormalization;

const fn is_latin_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u')
}

/// The key of a word: romanised, then long vowels, doubled letters and free variants folded.
pub fn key(word: &str) -> String {
    fold_latin(romanise(word).as_bytes())
}

/// Folds many words with the memory of the first.
#[derive(Debug)]
pub struct SpellingFolder {
    latin: Vec<u8>,
    letters: Vec<u8>,
    glides: Vec<u8>,
    key: String,
    stem: String,
}

impl Default for SpellingFolder {
    fn default() -> Self {
        // More letters than nearly any word has.
        const LONG: usize = 96;
        let letters = || Vec::with_capacity(LONG);
        let text = || String::with_capacity(LONG);
        Self { latin: letters(), letters: letters(), glides: letters(), key: text(), stem: text() }
    }
}

impl SpellingFolder {
    /// The stem of a word's key, as [`stem`] of [`key`] has it.
    pub fn stem(&mut self, word: &str) -> &str {
        romanise::romanise_to(word, &mut self.latin);
        fold_letters(&self.latin, &mut self.letters);
        fold_glides(&self.letters, &mut self.glides);
        fold_doubles(&self.glides, &mut self.key);
        merge(&self.key, &mut self.stem);
        &self.stem
    }
}

/// Malayalam's consonants that never had a vowel, as they were written before they had letters of their own.
const OLDER_CHILLUS: [(&str, &str); 6] = [
    ("ണ്\u{200D}", "ൺ"),
    ("ന്\u{200D}", "ൻ"),
    ("ര്\u{200D}", "ർ"),
    ("ല്\u{200D}", "ൽ"),
    ("ള്\u{200D}", "ൾ"),
    ("ക്\u{200D}", "ൿ"),
];

/// A word as written, in lower case and composed, without joiners: what two writings of one spelling share.
pub fn normalize_spelling(word: &str) -> String {
    if let Some((older, letter)) = OLDER_CHILLUS.iter().find(|(older, _)| word.contains(older)) {
        return normalize_spelling(&word.replace(older, letter));
    }
    let letters = word.nfc().filter(|letter| !matches!(letter, '\u{200C}' | '\u{200D}'));
    letters.flat_map(char::to_lowercase).collect()
}

/// A word of a native script cut into overlapping threes, its ends marked: what a listed spelling and one that writes a
/// dot, a nasal or a joiner otherwise share.
pub fn trigrams(word: &str) -> impl Iterator<Item = String> {
    let plain = word.nfd().filter_map(|letter| match letter {
        '\u{93C}' | '\u{9BC}' | '\u{A3C}' | '\u{ABC}' | '\u{B3C}' | '\u{200C}' | '\u{200D}' => None,
        '\u{901}' => Some('\u{902}'),
        '\u{981}' => Some('\u{982}'),
        '\u{A81}' => Some('\u{A82}'),
        '\u{B01}' => Some('\u{B02}'),
        '\u{A70}' => Some('\u{A02}'),
        other => Some(other),
    });
    let letters: Vec<char> = std::iter::once('^').chain(plain).chain(['$']).collect();
    // Short words are made of too little to be told by their threes.
    let whole = (letters.len() < 6).then(|| letters.iter().collect());
    (0..letters.len().saturating_sub(2))
        .map(move |at| letters.get(at..at + 3).unwrap_or_default().iter().collect())
        .chain(whole)
}

/// The key a word has when its unpronounced inner vowels are left out, as people type it in Latin letters.
pub fn spoken_key(word: &str) -> String {
    fold_latin(romanise_spoken(word).as_bytes())
}

fn fold_latin(word: &[u8]) -> String {
    let (mut letters, mut glides, mut out) = (Vec::new(), Vec::new(), String::new());
    fold_letters(word, &mut letters);
    fold_glides(&letters, &mut glides);
    fold_doubles(&glides, &mut out);
    out
}

fn fold_doubles(word: &[u8], out: &mut String) {
    out.clear();
    for &letter in word {
        push_once(out, letter);
    }
    // A breath after a last vowel is rarely typed: barah, bara.
    if out.len() > 2
        && out.ends_with('h')
        && out.as_bytes().get(out.len() - 2).is_some_and(|&l| is_latin_vowel(l))
    {
        out.pop();
    }
}

/// Adds a letter unless it only doubles the one before it; `chch` and `thth` are doubled sounds too.
fn push_once(out: &mut String, letter: u8) {
    if out.as_bytes().last() == Some(&letter) {
        return;
    }
    out.push(char::from(letter));
    if letter == b'h'
        && let [.., first, b'h', second, b'h'] = out.as_bytes()
        && first == second
    {
        out.truncate(out.len() - 2);
    }
}

/// Letters and pairs that stand for one sound.
fn fold_letters(word: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut at = 0;
    while let Some(&letter) = word.get(at) {
        let next = word.get(at + 1).copied().unwrap_or_default();
        let (folded, used): (&[u8], usize) = match (letter, next) {
            (b'e', b'e') => (b"i", 2),
            (b'o', b'o') => (b"u", 2),
            (b'o', b'u') => (b"au", 2),
            (b'p', b'h') => (b"f", 2),
            (b'c', b'h') => (b"ch", 2),
            (b'c', b'k') => (b"k", 2),
            (b'c', b'c') => (b"", 1),
            (b'c', _) | (b'q', _) => (b"k", 1),
            (b'w', _) => (b"v", 1),
            (b'z', b'h') => (b"zh", 2),
            (b'z', _) => (b"j", 1),
            (b'x', _) => (b"ks", 1),
            (b'a'..=b'z', _) => (word.get(at..=at).unwrap_or_default(), 1),
            _ => (b"", 1),
        };
        let doubled_breath = folded == b"h" && out.ends_with(b"h");
        if !doubled_breath {
            out.extend_from_slice(folded);
        }
        at += used;
    }
}

/// `y` and `v` that only carry one vowel into the next, or close a diphthong.
fn fold_glides(word: &[u8], out: &mut Vec<u8>) {
    out.clear();
    for (at, &letter) in word.iter().enumerate() {
        let before = out.last().copied().unwrap_or_default();
        let after = word.get(at + 1).copied().unwrap_or_default();
        match letter {
            b'y' if before == b'i' && is_latin_vowel(after) => {}
            b'y' if is_latin_vowel(before) && !is_latin_vowel(after) && after != b'y' => out.push(b'i'),
            b'v' if before == b'a' && !is_latin_vowel(after) && after != b'v' && after != b'y' => {
                out.push(b'u');
            }
            _ => out.push(letter),
        }
    }
}

/// A key with the sounds merged that Dravidian spellings mix.
pub fn stem(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    merge(key, &mut out);
    out
}

fn merge(key: &str, out: &mut String) {
    let bytes = key.as_bytes();
    out.clear();
    let mut at = 0;
    while let Some(&letter) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        at += 1;
        let merged = match letter {
            b'g' => b'k',
            b'd' => b't',
            b'b' | b'f' => b'p',
            b'j' => b'c',
            b'z' => b'l',
            b'y' if out.is_empty() && next == b'e' => continue,
            b'h' if at > 1 && !is_latin_vowel(bytes[at - 2]) => continue,
            other => other,
        };
        let merged = if merged == b'c' || (letter == b'c' && next == b'h') { b'c' } else { merged };
        push_once(out, merged);
    }
}

/// A key with aspirates, sibilants, nasals before consonants and vowel quality folded away.
pub fn skeleton(key: &str) -> String {
    let bytes = key.as_bytes();
    let mut out = String::with_capacity(bytes.len());
    for (at, &letter) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let folded = match letter {
            b'h' | b'y' => continue,
            b'n' | b'm' if next != 0 && !is_latin_vowel(next) && next != b'n' && next != b'm' => continue,
            b'e' => b'i',
            b'o' => b'a',
            b'u' if out.ends_with('a') => continue,
            b'i' if out.ends_with('a') && at > 0 && bytes[at - 1] == b'a' => {
                out.pop();
                b'i'
            }
            b'f' => b'p',
            b'v' => b'b',
            other => other,
        };
        push_once(&mut out, folded);
    }
    while out.len() > 2 && out.as_bytes().last().is_some_and(|&l| is_latin_vowel(l)) {
        out.pop();
    }
    out
}

/// How many letters must be changed, left out, put in or swapped to make one word the other; past one it is two.
pub fn edit_distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let common = one.iter().zip(other).take_while(|(left, right)| left == right).count();
    let (left, right) = (one.get(common..).unwrap_or_default(), other.get(common..).unwrap_or_default());
    match (left, right) {
        ([], []) => 0,
        ([_, rest @ ..], whole) if rest == whole => 1,
        (whole, [_, rest @ ..]) if rest == whole => 1,
        ([_, left @ ..], [_, right @ ..]) if left == right => 1,
        ([a, b, left @ ..], [c, d, right @ ..]) if a == d && b == c && left == right => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_and_scripts_meet_in_one_key() {
        for (words, expected) in [
            (&["paanch", "panch", "Paanch", "पाँच", "पांच"][..], "panch"),
            (&["barah", "baarah", "bara", "बारह"], "bara"),
            (&["hazaar", "hajar", "हज़ार", "हज़ार", "हजार", "ਹਜ਼ਾਰ"], "hajar"),
            (&["pachees", "pachis", "pacchis", "पच्चीस"], "pachis"),
            (&["chhe", "che"], "che"),
            (&["rupiya", "rupia"], "rupia"),
            (&["noy", "noi"], "noi"),
            (&["రూపాయలు", "roopayalu", "rupayalu"], "rupayalu"),
            (&["ఇరవై", "ఇరవై", "iravai", "iravay"], "iravai"),
            (&["নয়", "নয়"], "nai"),
            (&["ಒಂದೂವರೆ", "onduvare", "ondoovare"], "onduvare"),
        ] {
            for word in words {
                assert_eq!(key(word), expected, "{word}");
            }
        }
    }

    #[test]
    fn stems_merge_what_dravidian_spellings_mix() {
        for (word, expected) in [
            ("irubadhu", "irupatu"),
            ("இருபது", "irupatu"),
            ("இருபத்தேழாயிரத்து", "irupatelayiratu"),
            ("yezhu", "elu"),
            ("ഒന്ന്", "onu"),
            ("അഞ്ച്", "ancu"),
            ("hadimooru", "hatimuru"),
            ("ombhainooru", "ompainuru"),
        ] {
            assert_eq!(stem(&key(word)), expected, "{word}");
        }
    }

    #[test]
    fn a_folder_folds_as_one_word_alone_does() {
        let mut folder = SpellingFolder::default();
        for word in ["இருபத்தேழாயிரத்து", "barah", "ഒന്ന്", "हज़ार", "", "YEZHU", "নয়"]
        {
            assert_eq!(folder.stem(word), stem(&key(word)), "{word}");
        }
    }

    #[test]
    fn skeletons_meet_across_vowel_quality() {
        for (one, other) in [("ponchash", "পঞ্চাশ"), ("chollish", "চল্লিশ"), ("pochish", "পঁচিশ"), ("dosh", "দশ")]
        {
            assert_eq!(skeleton(&key(one)), skeleton(&key(other)), "{one}");
        }
    }

    #[test]
    fn one_slip_is_near() {
        for (one, other, slips) in [
            ("hajar", "hajar", 0),
            ("hajr", "hajar", 1),
            ("hajra", "hajar", 1),
            ("lakj", "lakh", 1),
            ("arava", "aravai", 1),
            ("ramesh", "lakh", 2),
        ] {
            assert_eq!(edit_distance(one, other), slips, "{one} {other}");
        }
    }
}

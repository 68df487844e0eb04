//! Letters of nine Indic scripts to plain Latin ones.
//!
//! The nine blocks of Unicode share one layout, 128 places each, so one table serves all.

const FIRST: u32 = 0x900;
const LAST: u32 = 0xD7F;
const VIRAMA: u32 = 0x4D;
const DEVANAGARI: u32 = 0;
const BENGALI: u32 = 1;
const GURMUKHI: u32 = 2;
const ODIA: u32 = 4;
const TAMIL: u32 = 5;
const MALAYALAM: u32 = 8;

/// Whether a letter lies in one of the nine Indic blocks (digits and signs included).
pub const fn is_indic(letter: char) -> bool {
    let code = letter as u32;
    code >= FIRST && code <= LAST && code != 0x964 && code != 0x965
}

/// Whether every letter of a word has a sound here. Of others nothing is left in a key, so that two words which only differ
/// in them have the same.
pub fn has_only_known_letters(word: &str) -> bool {
    word.chars().all(|letter| match is_indic(letter) {
        true => {
            let code = letter as u32 - FIRST;
            !matches!(sound(code / 0x80, code % 0x80), Sound::Silent)
        }
        false => letter.is_ascii_alphabetic() || !plain_latin(letter).is_empty(),
    })
}

enum Sound {
    Consonant(&'static str),
    Vowel(&'static str),
    Sign(&'static str),
    Virama,
    Nasal,
    Nukta,
    /// Doubles the consonant after it; the fold would undo that anyway.
    Silent,
}

/// A word in Latin letters, lower case, every inherent vowel written but a silent last one.
pub fn romanise(word: &str) -> String {
    let mut out = Vec::with_capacity(word.len());
    romanise_to(word, &mut out);
    out.into_iter().map(char::from).collect()
}

/// As [`romanise`], into letters that are kept for the next word.
pub(super) fn romanise_to(word: &str, out: &mut Vec<u8>) {
    out.clear();
    Romaniser::new(word, out).finish(false);
}

/// As [`romanise`], without the inner vowels that speech drops (सतहत्तर: sathattar).
pub fn romanise_spoken(word: &str) -> String {
    let mut out = Vec::with_capacity(word.len());
    Romaniser::new(word, &mut out).finish(true);
    out.into_iter().map(char::from).collect()
}

/// Inherent vowels are kept as `A` until the end, when it is known which of them are silent.
struct Romaniser<'o> {
    out: &'o mut Vec<u8>,
    block: u32,
    open: bool,
    /// The last letter took the vowel away.
    cut: bool,
}

/// A letter with a mark as plain ones; empty for what is no such letter.
fn plain_latin(letter: char) -> &'static str {
    match letter.to_lowercase().next().unwrap_or(letter) {
        'ā' | 'á' | 'à' | 'â' | 'ä' | 'ã' => "aa",
        'ī' | 'í' | 'ì' | 'î' | 'ï' => "ii",
        'ū' | 'ú' | 'ù' | 'û' | 'ü' => "uu",
        'ē' | 'é' | 'è' | 'ê' | 'ë' => "e",
        'ō' | 'ó' | 'ò' | 'ô' | 'ö' | 'õ' => "o",
        'ś' | 'ṣ' | 'š' => "sh",
        'ṭ' => "t",
        'ḍ' => "d",
        'ṇ' | 'ñ' | 'ṅ' | 'ṃ' | 'ṁ' => "n",
        'ḷ' | 'ḻ' => "l",
        'ṛ' | 'ṟ' => "r",
        'ç' | 'č' => "ch",
        _ => "",
    }
}

impl<'o> Romaniser<'o> {
    fn new(word: &str, out: &'o mut Vec<u8>) -> Self {
        let mut this = Self { out, block: u32::MAX, open: false, cut: false };
        for letter in word.chars() {
            this.push(letter);
        }
        this
    }

    fn push(&mut self, letter: char) {
        if is_indic(letter) {
            let code = letter as u32 - FIRST;
            self.block = code / 0x80;
            let sound = sound(self.block, code % 0x80);
            self.push_sound(&sound);
            return;
        }
        match letter {
            // Malayalam's older way to write a consonant without a vowel: no half-u follows.
            '\u{200D}' => self.cut = false,
            // Otherwise joiners shape letters, nothing else.
            '\u{200C}' => {}
            _ => {
                self.push_inherent_vowel();
                self.push_latin(letter);
            }
        }
    }

    fn push_latin(&mut self, letter: char) {
        if letter.is_ascii() {
            self.out.push(letter.to_ascii_lowercase() as u8);
            return;
        }
        self.out.extend_from_slice(plain_latin(letter).as_bytes());
    }

    fn push_inherent_vowel(&mut self) {
        if self.open {
            self.out.push(b'A');
            self.open = false;
        }
    }

    fn push_sound(&mut self, sound: &Sound) {
        self.cut = matches!(sound, Sound::Virama);
        match *sound {
            Sound::Consonant(text) => {
                self.push_inherent_vowel();
                self.out.extend_from_slice(text.as_bytes());
                self.open = true;
            }
            Sound::Vowel(text) => {
                self.push_inherent_vowel();
                self.out.extend_from_slice(text.as_bytes());
            }
            Sound::Sign(text) => self.push_sign(text),
            Sound::Virama => self.open = false,
            Sound::Nasal => {
                self.push_inherent_vowel();
                self.out.push(b'N');
            }
            Sound::Nukta => self.apply_nukta(),
            Sound::Silent => {}
        }
    }

    /// A vowel sign; two in a row are one vowel written in two parts.
    fn push_sign(&mut self, text: &str) {
        let joined = !self.open;
        self.open = false;
        if !joined {
            self.out.extend_from_slice(text.as_bytes());
            return;
        }
        let before = self.out.pop().unwrap_or_default();
        match (before, text) {
            (b'e', "aa" | "uu") => self.out.push(b'o'),
            (b'e', "ai") => self.out.extend_from_slice(b"ai"),
            (b'e', "au") => self.out.extend_from_slice(b"au"),
            (0, _) => self.out.extend_from_slice(text.as_bytes()),
            (_, "long") => self.out.push(before),
            _ => {
                self.out.push(before);
                self.out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// The dot that makes a borrowed sound of the consonant just written.
    fn apply_nukta(&mut self) {
        for (plain, dotted) in [("jh", "jh"), ("ph", "f"), ("dh", "rh"), ("j", "z"), ("d", "r")] {
            if self.open && self.out.ends_with(plain.as_bytes()) {
                self.out.truncate(self.out.len() - plain.len());
                self.out.extend_from_slice(dotted.as_bytes());
                return;
            }
        }
    }

    fn finish(mut self, spoken: bool) {
        // Malayalam writes the half-u that ends a word with a virama.
        let half_u = self.block == MALAYALAM && self.cut;
        let ends_bare = self.open;
        self.push_inherent_vowel();
        if half_u {
            self.out.push(b'u');
        }
        if ends_bare && drops_last(self.block) && self.out.iter().filter(|&&l| is_vowel(l)).count() > 1 {
            self.out.pop();
        }
        if spoken {
            drop_inner(self.out);
        }
        resolve_nasals(self.out, if self.block > TAMIL && self.block != u32::MAX { b'm' } else { b'n' });
    }
}

const fn drops_last(block: u32) -> bool {
    block < ODIA
}

const fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'A')
}

/// Speech drops an inherent vowel between a vowel-consonant and a consonant-vowel, counted from the end.
fn drop_inner(out: &mut Vec<u8>) {
    let mut at = out.len().saturating_sub(1);
    while at > 1 {
        at -= 1;
        if out[at] != b'A' {
            continue;
        }
        let before = out[..at].iter().rposition(|&l| is_vowel(l));
        let after = out[at + 1..].iter().position(|&l| is_vowel(l)).map(|n| n + at + 1);
        let (Some(before), Some(after)) = (before, after) else { continue };
        if count_consonants(&out[before + 1..at]) == 1 && count_consonants(&out[at + 1..after]) == 1 {
            out.remove(at);
        }
    }
}

/// How many consonants a run of letters spells; an `h` belongs to the one before it.
fn count_consonants(letters: &[u8]) -> usize {
    letters.iter().enumerate().filter(|&(at, &l)| !(l == b'h' && at > 0)).count()
}

/// `last` is how a nasal sounds at the end: the south says m.
fn resolve_nasals(letters: &mut [u8], last: u8) {
    for at in 0..letters.len() {
        letters[at] = match letters[at] {
            b'A' => b'a',
            b'N' if matches!(letters.get(at + 1), Some(b'p' | b'b' | b'm')) => b'm',
            b'N' if at + 1 == letters.len() => last,
            b'N' => b'n',
            other => other,
        };
    }
}

fn sound(block: u32, place: u32) -> Sound {
    match place {
        0x00..=0x02 => Sound::Nasal,
        0x70 if block == GURMUKHI => Sound::Nasal,
        0x03 if block == TAMIL => Sound::Silent,
        0x03 => Sound::Sign("h"),
        0x05..=0x14 => Sound::Vowel(VOWELS[(place - 0x05) as usize]),
        0x15..=0x39 => Sound::Consonant(consonant(block, place)),
        0x3C => Sound::Nukta,
        0x3E..=0x4C => Sound::Sign(SIGNS[(place - 0x3E) as usize]),
        VIRAMA => Sound::Virama,
        0x4E if block == BENGALI => Sound::Vowel("t"),
        0x55 => Sound::Sign("long"),
        0x56 => Sound::Sign("ai"),
        0x57 => Sound::Sign("au"),
        0x58..=0x5F => Sound::Consonant(DOTTED[(place - 0x58) as usize]),
        0x70 if block == BENGALI => Sound::Consonant("r"),
        // Of English words: ॲप, app.
        0x72 if block == DEVANAGARI => Sound::Vowel("a"),
        0x71 if block == BENGALI || block == ODIA => Sound::Consonant("v"),
        0x7A..=0x7F if block == MALAYALAM => Sound::Vowel(CHILLUS[(place - 0x7A) as usize]),
        _ => Sound::Silent,
    }
}

/// Tamil writes one letter for a voiced and an unvoiced sound; the fold for stems merges them for all.
fn consonant(block: u32, place: u32) -> &'static str {
    match (block, place) {
        (TAMIL | MALAYALAM, 0x34) => "zh",
        _ => CONSONANTS[(place - 0x15) as usize],
    }
}

const VOWELS: [&str; 16] =
    ["a", "aa", "i", "ii", "u", "uu", "ri", "l", "e", "e", "e", "ai", "o", "o", "o", "au"];

const CONSONANTS: [&str; 37] = [
    "k", "kh", "g", "gh", "n", "ch", "chh", "j", "jh", "n", "t", "th", "d", "dh", "n", "t", "th", "d", "dh",
    "n", "n", "p", "ph", "b", "bh", "m", "y", "r", "r", "l", "l", "l", "v", "sh", "sh", "s", "h",
];

const SIGNS: [&str; 15] = ["aa", "i", "ii", "u", "uu", "ri", "ri", "e", "e", "e", "ai", "o", "o", "o", "au"];

const DOTTED: [&str; 8] = ["k", "kh", "g", "z", "r", "rh", "f", "y"];

/// Malayalam's consonants that never had a vowel.
const CHILLUS: [&str; 6] = ["n", "n", "r", "l", "l", "k"];

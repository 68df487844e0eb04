//! Names nobody has, written in every script, and the dress people and machines put them in.

use munshi_lang::names::{is_business_word, is_honorific};
use munshi_lang::text_words::PlainWord;
use munshi_lang::{fold, lexicon};
use munshi_types::Script;
use proptest::prelude::*;

/// Sounds every script has a letter for.
const CONSONANTS: &[(char, &str)] = &[
    ('क', "k"),
    ('त', "t"),
    ('न', "n"),
    ('प', "p"),
    ('म', "m"),
    ('र', "r"),
    ('ल', "l"),
    ('स', "s"),
    ('ज', "j"),
];

/// Vowel signs in Devanagari; none is the vowel a consonant carries.
const VOWELS: &[(Option<char>, &str)] =
    &[(None, "a"), (Some('ा'), "a"), (Some('ि'), "i"), (Some('ु'), "u"), (Some('े'), "e"), (Some('ो'), "o")];

/// A name as its sounds.
#[derive(Clone, Debug)]
pub(super) struct Invented {
    syllables: Vec<(usize, usize)>,
    last: Option<usize>,
}

pub(super) const SCRIPTS: [Script; 10] = Script::ALL;

fn block(script: Script) -> u32 {
    match script {
        Script::Latin | Script::Devanagari => 0,
        Script::Bengali => 0x80,
        Script::Gurmukhi => 0x100,
        Script::Gujarati => 0x180,
        Script::Odia => 0x200,
        Script::Tamil => 0x280,
        Script::Telugu => 0x300,
        Script::Kannada => 0x380,
        Script::Malayalam => 0x400,
    }
}

impl Invented {
    pub(super) fn spelled(&self, script: Script) -> String {
        let mut out = String::new();
        let place = |letter: char| char::from_u32(letter as u32 + block(script)).unwrap();
        for (consonant, vowel) in &self.syllables {
            let ((letter, latin), (sign, sound)) = (CONSONANTS[*consonant], VOWELS[*vowel]);
            if script == Script::Latin {
                out.push_str(latin);
                out.push_str(sound);
            } else {
                out.push(place(letter));
                out.extend(sign.map(place));
            }
        }
        if let Some(last) = self.last {
            let (letter, latin) = CONSONANTS[last];
            if script == Script::Latin {
                out.push_str(latin);
            } else {
                out.push(place(letter));
                // The south writes that a consonant ends a name; the north only says it.
                if matches!(script, Script::Tamil | Script::Telugu | Script::Kannada | Script::Malayalam) {
                    out.push(place('\u{94D}'));
                }
            }
        }
        if script == Script::Latin {
            out[..1].make_ascii_uppercase();
        }
        out
    }

    /// Whether it means nothing else.
    fn is_nobodys(&self) -> bool {
        SCRIPTS.iter().all(|script| {
            let key = fold::key(&PlainWord::new(&self.spelled(*script)).text);
            lexicon::senses(&key).is_empty()
                && !is_honorific(&key)
                && !is_business_word(&key)
                && key.len() > 3
        })
    }
}

pub(super) fn invented() -> impl Strategy<Value = Invented> {
    let syllable = (0..CONSONANTS.len(), 0..VOWELS.len());
    // A name ends with a vowel that is written, or with a consonant.
    let long = prop_oneof![Just(1usize), Just(2), Just(3)];
    let open = (prop::collection::vec(syllable.clone(), 1..3), 0..CONSONANTS.len(), long).prop_map(
        |(mut syllables, last, vowel)| {
            syllables.push((last, vowel));
            Invented { syllables, last: None }
        },
    );
    let closed = (prop::collection::vec(syllable, 2..4), 0..CONSONANTS.len())
        .prop_map(|(syllables, last)| Invented { syllables, last: Some(last) });
    prop_oneof![open, closed].prop_filter("means something", Invented::is_nobodys)
}

/// Endings that leave the letters of a name as they are.
pub(super) fn endings(script: Script) -> &'static [&'static str] {
    match script {
        Script::Latin => &["", "'s", "ko", "ku", "ke", "bhai", "ji", " ne", "-ji"],
        Script::Devanagari => &["", "को", "ला", "ने", "जी", " ने"],
        Script::Bengali => &["", "কে", " বাবু"],
        Script::Gurmukhi => &["", " ਨੂੰ", "ਨੂੰ"],
        Script::Gujarati => &["", "ને", "ભાઈ", "નો"],
        Script::Odia => &["", "ଙ୍କୁ", "କୁ"],
        Script::Tamil => &["", "க்கு", "கிட்ட"],
        Script::Telugu => &["", "కి", "గారు", "తో"],
        Script::Kannada => &["", "ಗೆ", " ಅವರು"],
        Script::Malayalam => &["", " ചേട്ടൻ"],
    }
}

/// What stands before and after in a sentence of each script.
pub(super) fn frame(script: Script) -> (&'static str, &'static str) {
    match script {
        Script::Latin => ("aaj ", " 500 diye, kal 250 dega"),
        Script::Devanagari => ("आज ", " ५०० दिए"),
        Script::Bengali => ("আজ ", " ৫০০ টাকা"),
        Script::Gurmukhi => ("ਅੱਜ ", " ੫੦੦ ਦਿੱਤੇ"),
        Script::Gujarati => ("આજે ", " ૫૦૦ આપ્યા"),
        Script::Odia => ("ଆଜି ", " ୫୦୦ ଦେଲି"),
        Script::Tamil => ("இன்று ", " 500 கொடுத்தேன்"),
        Script::Telugu => ("ఈరోజు ", " 500 ఇచ్చాను"),
        Script::Kannada => ("ಇಂದು ", " 500 ಕೊಟ್ಟೆ"),
        Script::Malayalam => ("ഇന്ന് ", " 500 കൊടുത്തു"),
    }
}

/// A name in capitals, with letters that look alike, with marks nobody sees.
pub(super) fn dressed(name: &str, dress: u8, at: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    let at = 1 + at % letters.len().max(2).saturating_sub(1);
    match dress % 6 {
        1 => name.to_uppercase(),
        2 => name.to_lowercase(),
        3 => letters
            .iter()
            .enumerate()
            .flat_map(|(place, letter)| (place == at).then_some('\u{200B}').into_iter().chain([*letter]))
            .collect(),
        4 => name.replace('a', "а").replace('e', "е").replace('o', "о"),
        5 => letters
            .iter()
            .enumerate()
            .flat_map(|(place, letter)| (place == at).then_some('\u{200D}').into_iter().chain([*letter]))
            .collect(),
        _ => name.to_owned(),
    }
}

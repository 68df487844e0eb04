//! What is written onto the end of a name: cases, plurals, words of respect. As each script writes it, so that a name
//! can be cut off where it ends.

use munshi_types::Script;

/// Endings that leave the name before them as it is, the longest first where one ends another.
pub(super) const fn list_endings(script: Script) -> &'static [&'static str] {
    match script {
        Script::Latin => LATIN,
        Script::Devanagari => DEVANAGARI,
        Script::Bengali => BENGALI,
        Script::Gujarati => GUJARATI,
        Script::Gurmukhi => GURMUKHI,
        Script::Odia => ODIA,
        Script::Tamil => TAMIL,
        Script::Telugu => TELUGU,
        Script::Kannada => KANNADA,
        Script::Malayalam => MALAYALAM,
    }
}

const DEVANAGARI: &[&str] = &[
    "च्याकडे",
    "च्यासाठी",
    "साठी",
    "कडून",
    "कडे",
    "च्या",
    "चा",
    "ची",
    "चे",
    "ला",
    "ना",
    "ने",
    "नी",
    "शी",
    "हून",
    "ंना",
    "को",
    "का",
    "की",
    "के",
    "से",
    "जी",
    "भाई",
    "बेन",
    "ताई",
    "भाऊ",
    "राव",
    "बाई",
    "दा",
    "दी",
    "साहब",
    "बाबू",
    "ाला",
    "ाने",
    "ाचा",
    "ाची",
    "ाचे",
    "ाच्या",
    "वाला",
    "वाले",
];

const BENGALI: &[&str] =
    &["দের", "য়ের", "ের", "র", "কে", "রা", "তে", "টা", "ও", "ই", "দা", "দি", "বাবু", "ভাই", "েরা", "য়ের", "কেও"];

const GUJARATI: &[&str] =
    &["ને", "નો", "ની", "નું", "ના", "નાં", "એ", "થી", "માં", "ભાઈ", "બેન", "બહેન", "જી", "કાકા"];

const GURMUKHI: &[&str] = &["ਨੂੰ", "ਨੇ", "ਦਾ", "ਦੀ", "ਦੇ", "ਤੋਂ", "ਜੀ", "ਭਾਜੀ"];

const ODIA: &[&str] = &["ଙ୍କୁ", "ଙ୍କର", "ଙ୍କ", "କୁ", "ର", "ରୁ", "ରେ", "ଙ୍କଠାରୁ", "ଠାରୁ", "ମାନେ", "ଭାଇ", "ବାବୁ"];

const TAMIL: &[&str] = &[
    "வுக்கு",
    "ுக்காக",
    "ுக்கு",
    "யிடம்",
    "ிடம்",
    "னிடம்",
    "க்காக",
    "க்கு",
    "கிட்ட",
    "ுடன்",
    "ோடு",
    "ுடைய",
    "யுடைய",
    "வின்",
    "யின்",
    "ின்",
    "வை",
    "யை",
    "ை",
    "ால்",
    "ும்",
    "வும்",
    "யும்",
    "கள்",
    "அண்ணா",
    "அக்கா",
    "அம்மா",
    "ஐயா",
    "ிற்கு",
    "னுக்கு",
    "னை",
];

const TELUGU: &[&str] = &[
    "గారికి",
    "గారు",
    "గారి",
    "కి",
    "కు",
    "ని",
    "ను",
    "తో",
    "లో",
    "దగ్గర",
    "కోసం",
    "వల్ల",
    "లు",
    "ల",
    "కే",
    "అన్న",
    "అక్క",
    "ుకు",
    "ుకి",
    "ుని",
    "ుతో",
    "న్ని",
];

const KANNADA: &[&str] = &[
    "ವರಿಗೆ",
    "ಅವರಿಗೆ",
    "ಅವರು",
    "ನಿಗೆ",
    "ಿಗೆ",
    "ವಿಗೆ",
    "ಯಿಗೆ",
    "ಗೆ",
    "ನನ್ನು",
    "ಯನ್ನು",
    "ವನ್ನು",
    "ನ್ನು",
    "ನಿಂದ",
    "ಿಂದ",
    "ಯಿಂದ",
    "ವಿನಿಂದ",
    "ನ",
    "ಯ",
    "ವಿನ",
    "ಿನ",
    "ನು",
    "ೊಂದಿಗೆ",
    "ನೊಂದಿಗೆ",
    "ಅಣ್ಣ",
    "ಅಕ್ಕ",
    "ಳಿಗೆ",
    "ಳ",
];

const MALAYALAM: &[&str] = &[
    "ിന്റെ",
    "ന്റെ",
    "റെ",
    "യുടെ",
    "ുടെ",
    "ിനോട്",
    "യോട്",
    "ോട്",
    "ിനെ",
    "യെ",
    "െ",
    "ിന്",
    "ക്ക്",
    "യ്ക്ക്",
    "ന്",
    "ും",
    "യും",
    "ിൽ",
    "ചേട്ടൻ",
    "ചേച്ചി",
    "ിനു",
    "നു",
    "വിന്റെ",
    "വിന്",
    "വിനെ",
    "വിനോട്",
    "വിനു",
    "യ്ക്കു",
];

/// Endings typed onto a name in Latin letters, that make no other name of it where enough of it is left.
const LATIN: &[&str] = &[
    "ukkaga",
    "kkaga",
    "ukku",
    "kku",
    "uku",
    "ku",
    "iku",
    "kitta",
    "kita",
    "oda",
    "udaya",
    "idam",
    "idamirundhu",
    "ko",
    "ke",
    "ki",
    "ka",
    "ne",
    "se",
    "anige",
    "nige",
    "ige",
    "ge",
    "inda",
    "ninda",
    "gariki",
    "garu",
    "gari",
    "tho",
    "kosam",
    "lo",
    "inte",
    "nte",
    "yude",
    "ude",
    "odu",
    "yodu",
    "ine",
    "ikku",
    "chya",
    "cha",
    "chi",
    "che",
    "kade",
    "kadun",
    "sathi",
    "anka",
    "ankara",
    "anku",
    "nku",
    "er",
    "der",
    "ke",
    "thi",
    "ben",
    "bhai",
    "bhaiya",
    "ji",
    "saab",
    "sahab",
    "anna",
    "akka",
    "babu",
    "bhau",
    "tai",
    "wala",
    "wale",
    "wali",
    "vala",
    "s",
    "nu",
    "no",
];

/// Endings in Latin letters that are as often a name's own: Urmila, Rajni, Radhika. The word is then hidden whole.
pub(super) const DOUBTFUL: &[&str] = &[
    "la", "ni", "na", "ra", "re", "ru", "r", "an", "in", "u", "e", "a", "i", "il", "da", "de", "di", "nu",
    "no", "anu", "alu", "inu", "ana", "chi", "ka", "ki", "ya", "ta", "ti", "al", "ai",
];

/// Whether what is left of a word before an ending is name enough.
pub(super) fn is_long_enough(script: Script, front: &str, ending: &str) -> bool {
    match script {
        // Rinku and Janki are names; Rajuko is Raju.
        Script::Latin if ending == "ka" || ending == "nu" || ending == "no" || ending == "er" => {
            front.len() >= 4 && !front.ends_with(['a', 'e', 'i', 'o'])
        }
        Script::Latin => front.len() >= if ending.len() < 3 { 4 } else { 3 },
        // The genitive hangs on a vowel: রাজুর. After a consonant it is the name's own.
        Script::Bengali if ending == "র" => front
            .chars()
            .last()
            .is_some_and(|last| matches!(last, '\u{9BE}'..='\u{9CC}' | '\u{985}'..='\u{994}')),
        _ => front.chars().count() > 1,
    }
}

/// The sign of a script that takes a consonant's own vowel away.
pub(super) fn virama(script: Script) -> Option<char> {
    let block = match script {
        Script::Latin => return None,
        Script::Devanagari => 0x900,
        Script::Bengali => 0x980,
        Script::Gurmukhi => 0xA00,
        Script::Gujarati => 0xA80,
        Script::Odia => 0xB00,
        Script::Tamil => 0xB80,
        Script::Telugu => 0xC00,
        Script::Kannada => 0xC80,
        Script::Malayalam => 0xD00,
    };
    char::from_u32(block + 0x4D)
}

/// Whether a letter is a vowel's sign that hangs on a consonant.
pub(super) const fn is_sign(letter: char) -> bool {
    let code = letter as u32;
    code >= 0x900 && code < 0xD80 && matches!(code % 0x80, 0x3E..=0x4C)
}

pub(super) const fn is_consonant(letter: char) -> bool {
    let code = letter as u32;
    code >= 0x900 && code < 0xD80 && matches!(code % 0x80, 0x15..=0x39 | 0x58..=0x5F)
}

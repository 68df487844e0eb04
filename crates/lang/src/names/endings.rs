//! What stands after a name: its case ending, and a word that may be more of the name.

use munshi_types::Script;

use super::is_honorific;
use crate::lexicon::Languages;
use crate::token::MessageToken;

/// Case endings that hang on names, as the fold leaves them: Rameshku, Rameshanige, Ramesher.
pub(super) const ENDINGS: &[&str] = &[
    "ku", "uku", "iku", "kku", "ki", "ke", "ko", "ka", "la", "ne", "ni", "na", "nu", "no", "cha", "chi",
    "che", "ge", "ige", "anige", "nige", "ana", "an", "anu", "alu", "inu", "inte", "nte", "odu", "kitta",
    "kita", "oda", "er", "r", "ra", "re", "ru", "anku", "anka", "nku", "nka", "e", "u", "il", "lo", "tho",
    "ude", "yude", "kuda", "in",
];

/// Those that make no other name of a name. Ramu, Krishna, Rajni and Chandra end like a case, too.
const PLAIN: &[&str] = &[
    "ku", "uku", "iku", "kku", "ki", "ke", "ko", "la", "ne", "cha", "chi", "che", "ge", "ige", "anige",
    "nige", "inte", "nte", "odu", "kitta", "kita", "oda", "er", "anku", "nku", "tho", "ude", "yude", "kuda",
];

/// Case words of all eleven languages that stand after a name, written apart. Those that end names themselves are left out.
pub(super) const APART: &[&str] = &[
    "ko",
    "ne",
    "se",
    "ka",
    "ke",
    "ki",
    "liye",
    "को",
    "ने",
    "से",
    "का",
    "के",
    "की",
    "लिए",
    "la",
    "cha",
    "chi",
    "che",
    "chya",
    "kade",
    "kadun",
    "sathi",
    "pasun",
    "ला",
    "चा",
    "ची",
    "चे",
    "च्या",
    "कडे",
    "कडून",
    "साठी",
    "पासून",
    "er",
    "theke",
    "kache",
    "jonno",
    "কে",
    "এর",
    "র",
    "থেকে",
    "কাছে",
    "কাছ",
    "জন্য",
    "pase",
    "pasethi",
    "mate",
    "ને",
    "નો",
    "ના",
    "ની",
    "નું",
    "માટે",
    "પાસે",
    "પાસેથી",
    "થી",
    "ge",
    "ige",
    "inda",
    "hattira",
    "avarige",
    "ಗೆ",
    "ಇಗೆ",
    "ಇಂದ",
    "ಹತ್ತಿರ",
    "ಅವರಿಗೆ",
    "ಅವರ",
    "kku",
    "ku",
    "inu",
    "nte",
    "inte",
    "yude",
    "ninnu",
    "kayyil",
    "ക്ക്",
    "ന്",
    "ന്റെ",
    "യുടെ",
    "നിന്ന്",
    "കയ്യിൽ",
    "tharu",
    "nku",
    "nka",
    "nkara",
    "ra",
    "pain",
    "ଙ୍କୁ",
    "କୁ",
    "ଠାରୁ",
    "ଙ୍କଠାରୁ",
    "ର",
    "ଙ୍କ",
    "ଙ୍କର",
    "ପାଇଁ",
    "nu",
    "nun",
    "ton",
    "kolon",
    "layi",
    "ਨੂੰ",
    "ਨੇ",
    "ਤੋਂ",
    "ਕੋਲੋਂ",
    "ਦਾ",
    "ਦੇ",
    "ਦੀ",
    "ਲਈ",
    "ukku",
    "oda",
    "kitta",
    "kitte",
    "idam",
    "irundhu",
    "க்கு",
    "உக்கு",
    "ஓட",
    "உடைய",
    "கிட்ட",
    "கிட்டே",
    "இடம்",
    "இருந்து",
    "nunchi",
    "nundi",
    "daggara",
    "kosam",
    "కి",
    "కు",
    "నుంచి",
    "నుండి",
    "దగ్గర",
    "కోసం",
    "యొక్క",
];

/// Words of respect that are no part of a name.
pub(super) const HONORIFICS: &[&str] = &[
    "ji",
    "bhai",
    "bhaiya",
    "bhaia",
    "bhau",
    "bhaisahab",
    "saab",
    "sahab",
    "saheb",
    "sahib",
    "sab",
    "sir",
    "madam",
    "anna",
    "ana",
    "akka",
    "aka",
    "garu",
    "gari",
    "avaru",
    "avru",
    "avare",
    "ayya",
    "aya",
    "appa",
    "ama",
    "amma",
    "da",
    "dada",
    "di",
    "didi",
    "babu",
    "ben",
    "tai",
    "kaka",
    "kaku",
    "chacha",
    "chachi",
    "mama",
    "mami",
    "uncle",
    "unkle",
    "aunty",
    "anti",
    "chetan",
    "chetta",
    "cheta",
    "chechi",
    "etan",
    "ikka",
    "veer",
    "vir",
    "paji",
    "bhaji",
    "seth",
    "sheth",
    "mr",
    "mrs",
    "ms",
    "shri",
    "sri",
    "smt",
    "dr",
    "miss",
    "mis",
    "bai",
    "apa",
    "nana",
    "thambi",
];

/// Names of families and trades, as the fold leaves them: after a first name they are part of it.
pub(super) const FAMILIES: &[&str] = &[
    "gupta",
    "sharma",
    "kumar",
    "kumari",
    "sing",
    "singh",
    "verma",
    "varma",
    "patel",
    "shah",
    "yadav",
    "reddi",
    "rao",
    "nair",
    "menon",
    "pillai",
    "iyer",
    "jain",
    "agarwal",
    "agraval",
    "mishra",
    "misra",
    "pandey",
    "tiwari",
    "tivari",
    "joshi",
    "desai",
    "mehta",
    "khan",
    "ansari",
    "shaikh",
    "sheikh",
    "ghosh",
    "banerji",
    "mukherji",
    "sen",
    "datta",
    "dutta",
    "patil",
    "kulkarni",
    "shinde",
    "pawar",
    "chauhan",
    "thakur",
    "choudhari",
    "chaudhari",
    "traders",
    "gowda",
    "naidu",
    "devi",
    "kaur",
    "gill",
    "sahu",
    "behera",
];

/// Whether a case ending leaves no doubt that it is one.
pub(super) fn is_plain(front: &str, ending: &str, script: Option<Script>) -> bool {
    let enough = if script == Some(Script::Latin) && ending.len() < 3 { 4 } else { 3 };
    // Nirmala and Radhiki: after a vowel a short ending is as likely the name's own.
    let closed = ending.len() > 2 || !front.ends_with(['a', 'e', 'i', 'o', 'u']);
    PLAIN.contains(&ending) && front.len() >= enough && closed
}

/// Whether a word beside the name looks like more of it: Ramesh *Gupta*.
pub(super) fn name_continues(tokens: &[MessageToken<'_>], from: usize, to: usize) -> bool {
    let after = tokens.get(to).is_some_and(is_name_like);
    let before = from.checked_sub(1).and_then(|at| Some((at, tokens.get(at)?)));
    // The first word of a sentence is written large whatever it is.
    let opens =
        |at: usize| at == 0 || tokens.get(at - 1).is_some_and(|sign| matches!(sign.text, "." | "!" | "?"));
    after || before.is_some_and(|(at, token)| !opens(at) && is_name_like(token))
}

/// Whether a family name follows what may be a first name, wherever the sentence begins.
pub(super) fn belongs_to_another(tokens: &[MessageToken<'_>], from: usize, family: bool) -> bool {
    let family = family || tokens.get(from).is_some_and(|token| FAMILIES.contains(&token.key.as_str()));
    let before = from.checked_sub(1).and_then(|at| tokens.get(at));
    let first = |token: &MessageToken<'_>| {
        token.is_word() && token.senses.is_empty() && token.key.len() > 2 && !is_honorific(&token.key)
    };
    family && before.is_some_and(first)
}

fn is_name_like(token: &MessageToken<'_>) -> bool {
    if !token.is_word() || is_honorific(&token.key) {
        return false;
    }
    if FAMILIES.contains(&token.key.as_str()) {
        return true;
    }
    let mut letters = token.text.chars();
    let large = letters.next().is_some_and(char::is_uppercase);
    // A message all in capitals tells nothing.
    let rest = letters.next().is_none_or(char::is_lowercase);
    let known = token.find(Languages::EVERY, Some).is_some() && !token.clashes();
    large && rest && !known
}

//! Which language a message is in, and how sure that is.
//!
//! A native script tells its language by itself, but Devanagari serves both Hindi and Marathi, and Latin
//! letters serve all eleven. There the everyday words decide, each shared among the languages that have it,
//! then number words, then the endings of words nobody listed.

use munshi_types::{Language, Script};
use serde::Serialize;

use crate::lexicon::{self, Languages, Meaning, Sense};
use crate::numbers;
use crate::token::{MessageToken, tokenize};

/// How a message is written: in its language's own script, or in Latin letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptForm {
    Native,
    Latin,
}

impl ScriptForm {
    /// The form text in a script has; English is native in Latin letters and told by those.
    pub const fn from_script(script: Script) -> Self {
        match script {
            Script::Latin => Self::Latin,
            _ => Self::Native,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LanguageDetection {
    pub language: Language,
    pub script: Script,
    /// From 0 to 1.
    pub confidence: f32,
    /// Languages that explain the words at least half as well, the chosen one first.
    pub plausible: Vec<Language>,
}

/// Below this a message does not decide by itself.
pub const SURE: f32 = 0.5;

/// Below this it is not even a guess.
const GUESS: f32 = 0.25;

impl LanguageDetection {
    pub fn form(&self) -> ScriptForm {
        ScriptForm::from_script(self.script)
    }

    pub fn is_sure(&self) -> bool {
        self.confidence >= SURE
    }
}

/// The language of a message; none when nothing in it tells one.
pub fn detect(text: &str) -> Option<LanguageDetection> {
    detect_tokens(&tokenize(text))
}

/// The language to answer in: the message's own when it is sure, else that of the last five messages, else
/// the profile's, else English.
pub fn choose_language(
    message: Option<&LanguageDetection>,
    last_five: &[Language],
    profile: Option<Language>,
) -> Language {
    if let Some(found) = message.filter(|found| found.is_sure()) {
        // Words that two languages share are those of the one that is spoken here.
        let spoken = last_five.last().filter(|last| found.plausible.contains(last));
        return spoken.copied().unwrap_or(found.language);
    }
    // Whoever writes Devanagari does not want an answer in Tamil, whatever came before.
    let native = message.map(|found| found.script).filter(|script| *script != Script::Latin);
    let fits = |language: &Language| native.is_none_or(|script| language.script() == script);
    let recent = last_five.get(last_five.len().saturating_sub(5)..).unwrap_or_default();
    let count = |language: &Language| recent.iter().filter(|other| *other == language).count();
    // The latest of those used most: `max_by_key` keeps the last of equals.
    // A weak guess is better than an English that knows none of the words.
    let foreign = |found: &LanguageDetection| !found.plausible.contains(&Language::English);
    let guess = message
        .filter(|found| native.is_some() || found.confidence >= GUESS || foreign(found))
        .map(|found| found.language);
    let usual = recent.iter().copied().filter(fits).max_by_key(count);
    usual.or(profile.filter(fits)).or(guess).unwrap_or(Language::English)
}

pub(crate) fn detect_tokens(tokens: &[MessageToken<'_>]) -> Option<LanguageDetection> {
    let script = main_script(tokens)?;
    let mut scores = [0.0f32; Language::ALL.len()];
    match script {
        Script::Devanagari | Script::Latin => score_words(tokens, script, &mut scores),
        _ => {
            for language in Language::ALL.into_iter().filter(|language| language.script() == script) {
                scores[language.index()] = 5.0;
            }
        }
    }
    if script == Script::Latin && scores[Language::Hindi.index()] > 0.0 {
        // What Hindi shares with its neighbours is most often Hindi.
        scores[Language::Hindi.index()] += 0.1;
    }
    if script == Script::Devanagari {
        // Hindi is by far the more written; a word that tells Marathi outweighs this at once.
        scores[Language::Hindi.index()] += 0.4;
        scores[Language::Marathi.index()] += 0.1;
    }
    rank(script, &scores)
}

/// The script that decides: a native one with a fair share of the words, else Latin.
fn main_script(tokens: &[MessageToken<'_>]) -> Option<Script> {
    let mut counts = [0usize; Script::ALL.len()];
    for token in tokens {
        if let Some(script) = token.script() {
            counts[script as usize] += 1;
        }
    }
    let all: usize = counts.iter().sum();
    let native = Script::ALL
        .into_iter()
        .filter(|script| *script != Script::Latin && counts[*script as usize] > 0)
        .max_by_key(|script| counts[*script as usize]);
    match native {
        Some(script) if counts[script as usize] * 4 >= all => Some(script),
        _ if all > 0 => Some(if counts[0] > 0 { Script::Latin } else { native? }),
        _ => None,
    }
}

/// What English is put together with. Its other words are said in every language: "last entry cancel karo" is Hindi.
const ENGLISH_GRAMMAR: &[&str] = &[
    "a", "am", "an", "and", "any", "are", "been", "bought", "by", "came", "can", "could", "did", "does",
    "for", "from", "gave", "got", "had", "has", "have", "him", "his", "how", "i", "i'm", "if", "it", "its",
    "let", "made", "many", "much", "my", "not", "of", "our", "owe", "owes", "received", "she", "should",
    "sold", "than", "that", "their", "them", "there", "these", "they", "this", "those", "took", "was", "we",
    "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// How much a loan word still says for English beside words of another language.
const LOAN: f32 = 0.15;

/// Whether the English words of a message are loans: another language has words of its own in it, and nothing of
/// English holds them together.
fn are_loans(tokens: &[MessageToken<'_>]) -> bool {
    let everyday = |token: &MessageToken<'_>| {
        let senses = token.senses.iter().filter(|sense| sense.meaning == Meaning::Word);
        senses.fold(0, |all, sense| all | sense.languages.0)
    };
    let english = Languages::only(Language::English).0;
    let is_other = |token: &MessageToken<'_>| {
        let languages = everyday(token);
        languages != 0 && languages & english == 0
    };
    let is_grammar = |token: &MessageToken<'_>| {
        let text = token.text.to_ascii_lowercase();
        everyday(token) & !english == 0 && ENGLISH_GRAMMAR.contains(&text.as_str())
    };
    tokens.iter().any(is_other) && !tokens.iter().any(is_grammar)
}

fn score_words(tokens: &[MessageToken<'_>], script: Script, scores: &mut [f32; 11]) {
    let loan = if script == Script::Latin && are_loans(tokens) { LOAN } else { 1.0 };
    let fitting = Language::ALL
        .into_iter()
        .filter(|language| script == Script::Latin || language.script() == script)
        .fold(Languages::NONE, Languages::with);
    // Between two languages a word tells more than among eleven.
    let strength = if script == Script::Latin { 1.0 } else { 1.8 };
    for token in tokens.iter().filter(|token| token.script() == Some(script)) {
        let (languages, weight) = evidence(token, fitting);
        if languages.count() == 0 {
            continue;
        }
        #[allow(clippy::cast_precision_loss, reason = "at most eleven")]
        let share = weight * strength / languages.count() as f32;
        for language in languages.iter() {
            scores[language.index()] += share * if language == Language::English { loan } else { 1.0 };
        }
    }
}

/// The languages a word speaks for, and how strongly.
fn evidence(token: &MessageToken<'_>, fitting: Languages) -> (Languages, f32) {
    if token.script() == Some(Script::Devanagari) {
        let spelled = lexicon::devanagari_number(token.text).iter();
        let languages = Languages(spelled.fold(0, |all, sense| all | sense.languages.0) & fitting.0);
        if languages.count() > 0 {
            let weight = if token.clashes() { 0.2 } else { 0.7 };
            return (if languages == fitting { Languages::NONE } else { languages }, weight);
        }
    }
    let mut everyday = Languages::NONE;
    let mut other = Languages::NONE;
    for sense in token.senses {
        let languages = Languages(sense.languages.0 & fitting.0);
        if sense.meaning == Meaning::Word {
            everyday = Languages(everyday.0 | languages.0);
        } else if languages != fitting {
            other = Languages(other.0 | languages.0);
        }
    }
    if everyday.count() > 0 {
        // Jan is a month before it is "to go".
        let month = |sense: &Sense| matches!(sense.meaning, Meaning::MonthName(_));
        let shared = token.key != "me" && token.senses.iter().any(month);
        return if shared { (Languages::NONE, 0.0) } else { (everyday, 1.0) };
    }
    let numbers = numbers::find_number_languages(token, fitting);
    if other.count() > 0 {
        // English numbers are said in every language.
        let weight = if other == Languages::only(Language::English) { 0.35 } else { 0.7 };
        return (Languages(other.0 | numbers.0), weight);
    }
    if !token.senses.is_empty() {
        return (Languages::NONE, 0.0);
    }
    if numbers.count() > 0 {
        return (numbers, 0.8);
    }
    let endings = guess_by_ending(&token.key);
    (Languages(endings.0 & fitting.0), if token.key.len() > 5 { 0.5 } else { 0.3 })
}

const ENDINGS: &[(&str, &[Language])] = {
    use Language::{
        Bengali, English, Gujarati, Hindi, Kannada, Malayalam, Marathi, Odia, Punjabi, Tamil, Telugu,
    };
    &[
        ("anige", &[Kannada]),
        ("inge", &[Kannada]),
        ("ige", &[Kannada]),
        ("dali", &[Kannada]),
        ("alli", &[Kannada]),
        ("galu", &[Kannada]),
        ("dide", &[Kannada]),
        ("tide", &[Kannada]),
        ("tini", &[Kannada]),
        ("andi", &[Telugu]),
        ("indi", &[Telugu]),
        ("aniki", &[Telugu]),
        ("alaku", &[Telugu]),
        ("alu", &[Telugu, Kannada]),
        ("anu", &[Telugu, Kannada]),
        ("adu", &[Telugu, Tamil]),
        ("ungal", &[Tamil]),
        ("unga", &[Tamil]),
        ("inga", &[Tamil]),
        ("anga", &[Tamil]),
        ("uku", &[Tamil]),
        ("aiku", &[Tamil]),
        ("athu", &[Tamil, Malayalam]),
        ("then", &[Tamil]),
        ("inen", &[Tamil]),
        ("anum", &[Tamil]),
        ("uchu", &[Tamil]),
        ("uka", &[Malayalam]),
        ("unu", &[Malayalam]),
        ("anam", &[Malayalam]),
        ("inte", &[Malayalam]),
        ("yude", &[Malayalam]),
        ("ichu", &[Malayalam]),
        ("ila", &[Malayalam, Tamil, Kannada]),
        ("echi", &[Bengali]),
        ("eche", &[Bengali]),
        ("chilo", &[Bengali]),
        ("lam", &[Bengali]),
        ("ben", &[Bengali]),
        ("gulo", &[Bengali]),
        ("sher", &[Bengali]),
        ("mer", &[Bengali]),
        ("antu", &[Odia]),
        ("anku", &[Odia]),
        ("anka", &[Odia]),
        ("ibi", &[Odia]),
        ("iba", &[Odia]),
        ("ili", &[Odia]),
        ("vanu", &[Gujarati]),
        ("isu", &[Gujarati]),
        ("ishu", &[Gujarati]),
        ("bhai", &[Gujarati, Hindi]),
        ("ben", &[Gujarati]),
        ("yu", &[Gujarati]),
        ("achi", &[Marathi]),
        ("acha", &[Marathi]),
        ("ache", &[Marathi]),
        ("ayla", &[Marathi]),
        ("ayche", &[Marathi]),
        ("ane", &[Marathi]),
        ("ala", &[Marathi]),
        ("ian", &[Punjabi]),
        ("nda", &[Punjabi]),
        ("ndi", &[Punjabi]),
        ("iye", &[Hindi]),
        ("unga", &[Hindi]),
        ("ega", &[Hindi]),
        ("enge", &[Hindi]),
        ("ing", &[English]),
        ("ed", &[English]),
        ("tion", &[English]),
        ("ly", &[English]),
    ]
};

fn guess_by_ending(key: &str) -> Languages {
    if key.len() < 4 {
        return Languages::NONE;
    }
    // The longest ending that fits speaks; shorter ones would only blur it.
    let longest =
        ENDINGS.iter().filter(|(ending, _)| key.ends_with(ending)).max_by_key(|(ending, _)| ending.len());
    let Some((longest, _)) = longest else { return Languages::NONE };
    ENDINGS
        .iter()
        .filter(|(ending, _)| ending == longest)
        .flat_map(|(_, languages)| languages.iter().copied())
        .fold(Languages::NONE, Languages::with)
}

fn rank(script: Script, scores: &[f32; 11]) -> Option<LanguageDetection> {
    let of = |language: Language| scores[language.index()];
    let mut ranked: Vec<Language> =
        Language::ALL.into_iter().filter(|language| of(*language) > 0.0).collect();
    ranked.sort_by(|one, other| of(*other).total_cmp(&of(*one)));
    let best = *ranked.first()?;
    let top = of(best);
    let squares: f32 = ranked.iter().map(|language| of(*language).powi(2)).sum();
    // How much of the evidence it holds, and how much evidence there is.
    let confidence = top.powi(2) / squares * (1.0 - (-1.6 * top).exp());
    ranked.retain(|language| of(*language) >= top * 0.5);
    Some(LanguageDetection { language: best, script, confidence, plausible: ranked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_words_tell_the_language() {
        for (text, language, script) in [
            ("Ramesh ne dhai hazaar diye", Language::Hindi, Script::Latin),
            ("रमेश ने ढाई हज़ार दिए", Language::Hindi, Script::Devanagari),
            ("रमेशने अडीच हजार दिले", Language::Marathi, Script::Devanagari),
            ("₹1,50,000 மொத்தம்", Language::Tamil, Script::Tamil),
            ("ok రాజన్ కి 500", Language::Telugu, Script::Telugu),
            ("please tell me what Ramesh owes", Language::English, Script::Latin),
            ("Ramesh nu panj sau ditte", Language::Punjabi, Script::Latin),
            ("last entry cancel karo", Language::Hindi, Script::Latin),
            ("last payment cancel pannunga", Language::Tamil, Script::Latin),
            ("gave Anna 500 today", Language::English, Script::Latin),
            ("Mala received the payment", Language::English, Script::Latin),
        ] {
            let found = detect(text).unwrap();
            assert_eq!((found.language, found.script), (language, script), "{text}: {found:?}");
        }
        assert_eq!(detect("500 ₹ 😀"), None);
    }

    #[test]
    fn an_unsure_message_leaves_it_to_those_before() {
        use Language::{Bengali, English, Tamil};
        let sure = detect("ইকবাল টাকা দিয়েছে");
        assert_eq!(choose_language(sure.as_ref(), &[Tamil; 5], Some(English)), Bengali);
        assert_eq!(choose_language(None, &[Tamil, Bengali, Tamil, Bengali, Bengali], Some(English)), Bengali);
        assert_eq!(
            choose_language(None, &[Bengali, Bengali, Bengali, Bengali, Tamil, Tamil, Tamil, Tamil], None),
            Tamil
        );
        assert_eq!(choose_language(None, &[], Some(Tamil)), Tamil);
        assert_eq!(choose_language(None, &[], None), English);
    }
}

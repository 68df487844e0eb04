//! Yes or no, as people say it in a chat. A yes counts only when every word of the message is accounted for: "yes, but
//! five hundred" is a new wish, not a yes.

use std::collections::HashMap;
use std::sync::LazyLock;

use munshi_types::word_list::read_entries;
use serde::Serialize;

/// What a message says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum YesNoAnswer {
    Yes,
    No,
    /// Something else, or both at once: to be asked again or read as a new wish.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    Yes,
    Soft,
    No,
    Weak,
    Beside,
    Neither,
}

/// A longer message is no bare answer.
const MOST_WORDS: usize = 12;
/// So many words may count together.
const LONGEST: usize = 3;

static LEXICON: LazyLock<HashMap<String, Sense>> =
    LazyLock::new(|| parse_lexicon(include_str!("../lexicon/answers.txt")));

/// Words of every language in one table: where two disagree, the one that is not a yes counts.
fn parse_lexicon(text: &str) -> HashMap<String, Sense> {
    let mut lexicon = HashMap::new();
    for (kind, words) in read_entries(text, ": ") {
        let sense = match kind {
            "yes" => Sense::Yes,
            "soft" => Sense::Soft,
            "no" => Sense::No,
            "weak" => Sense::Weak,
            "neither" => Sense::Neither,
            _ => Sense::Beside,
        };
        for word in words.split_whitespace() {
            let spelt = word.split('_').map(spelling).collect::<Vec<_>>().join(" ");
            let entry = lexicon.entry(spelt).or_insert(sense);
            if caution_rank(sense) > caution_rank(*entry) {
                *entry = sense;
            }
        }
    }
    lexicon
}

fn caution_rank(sense: Sense) -> u8 {
    match sense {
        Sense::Beside => 0,
        Sense::Yes => 1,
        Sense::Soft => 2,
        Sense::Weak => 3,
        Sense::No => 4,
        Sense::Neither => 5,
    }
}

/// What the message says. Refusing is cheap, so a no may stand among other words; agreeing is not.
pub fn classify_reply(message: &str) -> YesNoAnswer {
    if let Some(reply) = classify_emoji(message) {
        return reply;
    }
    let words: Vec<String> = split_words(message);
    if words.is_empty() || words.len() > MOST_WORDS {
        return YesNoAnswer::Other;
    }
    let laughs =
        words.len() > 1 && words.iter().all(|word| matches!(word.as_str(), "ha" | "haa" | "हा" | "હા"));
    let (senses, unknown) = senses(&words);
    let has = |sense| senses.contains(&sense);
    if laughs || has(Sense::Neither) {
        return YesNoAnswer::Other;
    }
    let agrees = has(Sense::Yes) || has(Sense::Soft);
    match (has(Sense::No), has(Sense::Weak)) {
        (true, _) if has(Sense::Yes) => YesNoAnswer::Other,
        (true, _) => YesNoAnswer::No,
        (false, true) if agrees || unknown => YesNoAnswer::Other,
        (false, true) => YesNoAnswer::No,
        // Whoever asks back has not agreed: "yes?"
        (false, false) if agrees && !unknown && !has_question_mark(message) => YesNoAnswer::Yes,
        (false, false) => YesNoAnswer::Other,
    }
}

/// What the words mean, the longest that count together first, and whether some are not known.
fn senses(words: &[String]) -> (Vec<Sense>, bool) {
    let (mut senses, mut unknown, mut at) = (Vec::new(), false, 0);
    while at < words.len() {
        let longest = LONGEST.min(words.len() - at);
        let found = (1..=longest).rev().find_map(|count| {
            let together = words[at..at + count].join(" ");
            LEXICON.get(&together).map(|sense| (*sense, count))
        });
        match found {
            Some((sense, count)) => {
                senses.push(sense);
                at += count;
            }
            None => {
                unknown = true;
                at += 1;
            }
        }
    }
    (senses, unknown)
}

fn classify_emoji(message: &str) -> Option<YesNoAnswer> {
    let signs: String = message.chars().filter(|c| !c.is_whitespace() && !is_tone(*c)).collect();
    let all = |known: &[char]| !signs.is_empty() && signs.chars().all(|c| known.contains(&c));
    if all(&['👍', '✅', '👌', '✔', '\u{fe0f}', '🙏']) && signs != "🙏" {
        return Some(YesNoAnswer::Yes);
    }
    all(&['👎', '❌', '🚫', '✖', '\u{fe0f}']).then_some(YesNoAnswer::No)
}

fn has_question_mark(message: &str) -> bool {
    message.contains(is_question_mark)
}

pub(crate) fn is_question_mark(sign: char) -> bool {
    matches!(sign, '?' | '？' | '؟')
}

fn is_tone(c: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}

/// A message in its words, each as it is looked up.
pub(crate) fn split_words(message: &str) -> Vec<String> {
    let inside = |c: char| c.is_alphanumeric() || c == '\'' || c == '’' || is_indic_sign(c);
    message.split(|c: char| !inside(c)).map(spelling).filter(|word| !word.is_empty()).collect()
}

/// Vowel signs, nasal signs and joiners of the Indian scripts, not their full stops.
fn is_indic_sign(c: char) -> bool {
    matches!(c, '\u{0900}'..='\u{0DFF}' | '\u{200c}' | '\u{200d}') && !matches!(c, '\u{0964}' | '\u{0965}')
}

/// Small letters, no unseen signs, no letter more than twice in a row.
fn spelling(word: &str) -> String {
    let mut spelt = String::with_capacity(word.len());
    let (mut last, mut run) = (None, 0);
    for c in word.chars().flat_map(char::to_lowercase) {
        let c = if c == '’' { '\'' } else { c };
        if matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}') {
            continue;
        }
        run = if last == Some(c) { run + 1 } else { 1 };
        last = Some(c);
        if run <= 2 {
            spelt.push(c);
        }
    }
    spelt.trim_matches('\'').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_in_every_language_and_script() {
        for text in [
            "yes",
            "Yes please!",
            "OK",
            "okay, go ahead",
            "yesss",
            "sure, thanks",
            "👍",
            "👍🏽👍",
            "✅",
            "हाँ",
            "जी हाँ",
            "ठीक है",
            "हाँ भाई कर दो",
            "haan ji",
            "theek hai bhai, bhej do",
            "bilkul",
            "হ্যাঁ",
            "ঠিক আছে, করে দিন",
            "thik ache kore dao",
            "hya",
            "ஆமாம்",
            "சரி, பண்ணுங்க",
            "seri anna",
            "aama pannunga",
            "అవును",
            "సరే చేయండి",
            "avunu cheyandi",
            "ಹೌದು ಮಾಡಿ",
            "sari maadi",
            "അതെ",
            "ശരി ചെയ്തോളൂ",
            "sheri",
            "हो, करा",
            "ठीक आहे",
            "चालेल",
            "હા કરી દો",
            "બરાબર છે",
            "ਹਾਂ ਜੀ ਕਰ ਦਿਓ",
            "haanji theek hai",
            "ହଁ କରନ୍ତୁ",
            "ଠିକ୍ ଅଛି",
        ] {
            assert_eq!(classify_reply(text), YesNoAnswer::Yes, "{text}");
        }
    }

    #[test]
    fn a_no_in_every_language_and_script() {
        for text in [
            "no",
            "No, thanks",
            "don't",
            "do not send it",
            "stop",
            "cancel it",
            "nope",
            "👎",
            "❌",
            "ok cancel",
            "नहीं",
            "जी नहीं",
            "मत करो",
            "रहने दो",
            "nahi bhai",
            "mat bhejo",
            "theek nahi hai",
            "na",
            "ना ना",
            "না",
            "থাক",
            "korben na",
            "வேண்டாம்",
            "illai, venam",
            "వద్దు",
            "vaddu andi",
            "ಬೇಡ",
            "beda anna",
            "വേണ്ട",
            "venda chetta",
            "नको",
            "nako re",
            "ના",
            "રહેવા દો",
            "ਨਹੀਂ",
            "rehn deo",
            "ନାହିଁ",
        ] {
            assert_eq!(classify_reply(text), YesNoAnswer::No, "{text}");
        }
    }

    #[test]
    fn what_is_neither_is_asked_again() {
        for text in [
            "",
            "   ",
            "yes but make it 500",
            "haan 500 kar do",
            "yes no",
            "haan nahi",
            "maybe",
            "why not",
            "kyun nahi",
            "no problem",
            "koi baat nahi",
            "not sure",
            "who is Raju?",
            "yes?",
            "haan ?",
            "ok?",
            "ठीक है?",
            "ha ha ha",
            "kar do na",
            "baad mein",
            "yes if he pays",
            "ok and also send it to Ramesh",
            "5",
            "approve act 7",
            "🙏",
            "I said yes to the other one",
        ] {
            assert_eq!(classify_reply(text), YesNoAnswer::Other, "{text}");
        }
    }

    #[test]
    fn no_word_is_agreement_in_one_tongue_and_refusal_in_another() {
        // `sare` is all right in Telugu; `na` is no in four languages and a tag in one.
        assert_eq!(LEXICON.get("na"), Some(&Sense::Weak));
        assert_eq!(LEXICON.get("illa"), Some(&Sense::No));
        assert!(LEXICON.len() > 300, "{}", LEXICON.len());
    }
}

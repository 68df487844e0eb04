//! The words by which somebody asks to be sent nothing but answers, or to be written to again, in every language.
//!
//! Only a message that is nothing else counts: a bare "wait" or "enough" is said in the middle of a talk, and is none of them.

use munshi_types::word_list::read_lines;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

const LIST: &str = include_str!("words.txt");

/// What a message asks for by one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionWord {
    /// Send nothing but answers.
    Stop,
    /// Write as before.
    Start,
}

/// The word that a whole message is, however it is spelled out.
pub fn read(text: &str) -> Option<SubscriptionWord> {
    // Longer than any of them: no list is read for it.
    if text.len() > 200 {
        return None;
    }
    let said = fold(text);
    let line = read_lines(LIST).find(|line| fold(line.text) == said)?;
    match line.section {
        "stop" => Some(SubscriptionWord::Stop),
        "start" => Some(SubscriptionWord::Start),
        _ => None,
    }
}

/// In small letters of one spelling, without signs, emoji, joiners and space that nobody means.
fn fold(text: &str) -> String {
    let seen = text.nfkc().filter(|letter| !is_unseen(*letter));
    let small: String = seen.flat_map(char::to_lowercase).collect();
    let words = small.split(|letter: char| !letter.is_alphanumeric() && !is_combining_mark(letter));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What keyboards put into and behind words, and no reader sees: joiners, selectors of a letter's or an emoji's looks.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{20e3}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_words() {
        for stop in [
            "STOP",
            "stop.",
            " Stop! ",
            "\"STOP\"",
            "Unsubscribe",
            "opt-out",
            "रोक दें संदेश",
            "स्टॉप",
            "স্টপ",
            "સ્ટોપ",
            "ಸ್ಟಾಪ್",
            "സ്റ്റോപ്പ്",
            "ଷ୍ଟପ୍",
            "ਸਟਾਪ",
            "ஸ்டாப்",
            "స్టాప్",
            "message band karo",
            "संदेश बंद करा",
            "मैसेज बंद करो",
            "STOP 🙏",
            "STOP 🙏🏽❤️",
            "(STOP)",
            "[stop] /",
            "ＳＴＯＰ",
            // With joiners, as keyboards write it, and letters in their parts.
            "ଷ୍ଟପ୍\u{200c}",
            "\u{200d}സ്റ്റോപ്പ്",
            "ਸੁਨੇਹੇ ਬੰਦ ਕਰੋ\u{feff}",
            "செய்திகளை நிறுத்தவ\u{bc1}ம\u{bcd}",
            "স্টপ।।",
        ] {
            assert_eq!(read(stop), Some(SubscriptionWord::Stop), "{stop}");
        }
        for start in [
            "START",
            "start",
            "Subscribe",
            "स्टार्ट",
            "স্টার্ট",
            "સ્ટાર્ટ",
            "ಸ್ಟಾರ್ಟ್",
            "സ്റ്റാർട്ട്",
            "ଷ୍ଟାର୍ଟ",
            "ਸਟਾਰਟ",
            "ஸ்டார்ட்",
            "స్టార్ట్",
        ] {
            assert_eq!(read(start), Some(SubscriptionWord::Start), "{start}");
        }
    }

    #[test]
    fn a_word_in_a_sentence_is_none() {
        for said in [
            "stop the delivery",
            "don't stop",
            "रुको",
            "band karo",
            "enough",
            "",
            "…",
            "how do I start?",
            "stop stop",
            "🙏",
            "stop/start",
            "बंद करो",
        ] {
            assert_eq!(read(said), None, "{said}");
        }
        assert_eq!(read(&"stop ".repeat(100)), None);
    }

    #[test]
    fn no_word_means_both_and_each_stands_once() {
        let mut seen = std::collections::HashSet::new();
        for line in read_lines(LIST) {
            assert!(["stop", "start"].contains(&line.section), "{}", line.text);
            assert!(seen.insert(fold(line.text)), "{} stands twice", line.text);
        }
    }
}

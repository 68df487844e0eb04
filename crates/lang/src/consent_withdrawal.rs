//! Whether somebody takes back what they have consented to. It is read generously: what ends too early is asked for again, and what goes
//! on against somebody's will is not made good.

use std::sync::LazyLock;

use munshi_types::word_list::read_entries;

use crate::yes_no::{has_question_mark, split_words};

/// A longer message tells of something.
const MOST_WORDS: usize = 14;

#[derive(Default)]
struct WithdrawalLexicon {
    consent: Vec<Vec<String>>,
    back: Vec<Vec<String>>,
    not: Vec<Vec<String>>,
}

static LEXICON: LazyLock<WithdrawalLexicon> = LazyLock::new(|| {
    let mut lexicon = WithdrawalLexicon::default();
    for (kind, entries) in read_entries(include_str!("../lexicon/withdrawal.txt"), ": ") {
        let list = match kind {
            "consent" => &mut lexicon.consent,
            "back" => &mut lexicon.back,
            _ => &mut lexicon.not,
        };
        list.extend(entries.split_whitespace().map(|entry| entry.split('_').flat_map(split_words).collect()));
    }
    lexicon
});

/// Whether a message takes consents back: it names them and that they are taken back, and neither asks nor denies it.
pub fn is_consent_withdrawal(message: &str) -> bool {
    let words = split_words(message);
    if words.len() > MOST_WORDS || has_question_mark(message) {
        return false;
    }
    let begins = |entry: &Vec<String>| {
        entry.iter().all(|stem| words.iter().any(|word| word.starts_with(stem.as_str())))
    };
    // A word for no is meant whole: many others begin like it.
    let is_said = |entry: &Vec<String>| entry.iter().all(|denied| words.contains(denied));
    LEXICON.consent.iter().any(begins) && LEXICON.back.iter().any(begins) && !LEXICON.not.iter().any(is_said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consents_are_taken_back_in_every_language() {
        for message in [
            "I withdraw my consent.",
            "please revoke my consent",
            "I take my consent back",
            "cancel consent",
            "मैं अपनी सहमति वापस लेता हूँ",
            "meri sahmati wapas lo",
            "আমি আমার সম্মতি প্রত্যাহার করছি",
            "હું મારી સંમતિ પાછી લઉં છું",
            "ನನ್ನ ಒಪ್ಪಿಗೆಯನ್ನು ಹಿಂಪಡೆಯುತ್ತೇನೆ",
            "എന്റെ സമ്മതം പിൻവലിക്കുന്നു",
            "मी माझी संमती मागे घेतो",
            "ମୁଁ ମୋର ସମ୍ମତି ପ୍ରତ୍ୟାହାର କରୁଛି",
            "ਮੈਂ ਆਪਣੀ ਸਹਿਮਤੀ ਵਾਪਸ ਲੈਂਦਾ ਹਾਂ",
            "என் சம்மதத்தை திரும்பப் பெறுகிறேன்",
            "నా సమ్మతిని వెనక్కి తీసుకుంటున్నాను",
        ] {
            assert!(is_consent_withdrawal(message), "{message}");
        }
    }

    #[test]
    fn what_only_speaks_of_it_takes_nothing_back() {
        for message in [
            "",
            "yes",
            "cancel the order",
            "take it back",
            "how do I withdraw my consent?",
            "I do not withdraw my consent",
            "don't cancel my consent",
            "why withdraw consent",
            "I consent",
            "मैं अपनी सहमति वापस नहीं लेता",
            "Ramesh came to the shop and asked whether anybody may withdraw their consent later on at all",
        ] {
            assert!(!is_consent_withdrawal(message), "{message}");
        }
    }
}

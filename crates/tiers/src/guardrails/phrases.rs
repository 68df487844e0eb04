//! What is said where a rule kept something back.

use munshi_lang::{Form, PhraseError, Phrasebook, Voice};
use munshi_types::Language;

const VOICES: [(Language, Form, &str); 21] = [
    (Language::English, Form::Latin, include_str!("../../phrases/en.txt")),
    (Language::Hindi, Form::Native, include_str!("../../phrases/hi.txt")),
    (Language::Hindi, Form::Latin, include_str!("../../phrases/hi-latn.txt")),
    (Language::Bengali, Form::Native, include_str!("../../phrases/bn.txt")),
    (Language::Bengali, Form::Latin, include_str!("../../phrases/bn-latn.txt")),
    (Language::Gujarati, Form::Native, include_str!("../../phrases/gu.txt")),
    (Language::Gujarati, Form::Latin, include_str!("../../phrases/gu-latn.txt")),
    (Language::Kannada, Form::Native, include_str!("../../phrases/kn.txt")),
    (Language::Kannada, Form::Latin, include_str!("../../phrases/kn-latn.txt")),
    (Language::Malayalam, Form::Native, include_str!("../../phrases/ml.txt")),
    (Language::Malayalam, Form::Latin, include_str!("../../phrases/ml-latn.txt")),
    (Language::Marathi, Form::Native, include_str!("../../phrases/mr.txt")),
    (Language::Marathi, Form::Latin, include_str!("../../phrases/mr-latn.txt")),
    (Language::Odia, Form::Native, include_str!("../../phrases/or.txt")),
    (Language::Odia, Form::Latin, include_str!("../../phrases/or-latn.txt")),
    (Language::Punjabi, Form::Native, include_str!("../../phrases/pa.txt")),
    (Language::Punjabi, Form::Latin, include_str!("../../phrases/pa-latn.txt")),
    (Language::Tamil, Form::Native, include_str!("../../phrases/ta.txt")),
    (Language::Tamil, Form::Latin, include_str!("../../phrases/ta-latn.txt")),
    (Language::Telugu, Form::Native, include_str!("../../phrases/te.txt")),
    (Language::Telugu, Form::Latin, include_str!("../../phrases/te-latn.txt")),
];

/// Adds the guardrails' phrases to a phrasebook.
pub fn add_phrases(book: &mut Phrasebook) -> Result<(), PhraseError> {
    VOICES
        .iter()
        .try_for_each(|(language, form, text)| book.add(Voice { language: *language, form: *form }, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guardrails::{Context, RuleSet};

    #[test]
    fn every_rule_has_its_phrase_in_every_voice_and_no_phrase_breaks_a_rule() {
        let mut book = Phrasebook::default();
        add_phrases(&mut book).unwrap();
        book.check().unwrap();
        let set = RuleSet::shipped();
        let mut broken = Vec::new();
        for voice in Voice::all() {
            for rule in set.rules() {
                let said = book.say(rule.phrase, voice, &[]).unwrap();
                let found = set.check(&said, &Context::default()).violations;
                broken.extend(
                    found.iter().map(|one| format!("{} {}: {said}: {}", voice.code(), rule.phrase, one.rule)),
                );
            }
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}

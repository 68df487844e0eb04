//! What is said where a rule kept something back.

use munshi_lang::{PhraseError, Phrasebook, phrase_files};

/// Adds the guardrails' phrases to a phrasebook.
pub fn add_phrases(book: &mut Phrasebook) -> Result<(), PhraseError> {
    book.add_files(&phrase_files!("../phrases"))
}

#[cfg(test)]
mod tests {
    use munshi_lang::Locale;

    use super::*;
    use crate::{GuardrailContext, GuardrailRuleSet};

    #[test]
    fn every_rule_has_its_phrase_in_every_voice_and_no_phrase_breaks_a_rule() {
        let mut book = Phrasebook::default();
        add_phrases(&mut book).unwrap();
        book.check().unwrap();
        let set = GuardrailRuleSet::shipped();
        let mut broken = Vec::new();
        for voice in Locale::all() {
            for rule in set.rules() {
                let said = book.render(rule.phrase, voice, &[]).unwrap();
                let found = set.check(&said, &GuardrailContext::default()).violations;
                broken.extend(
                    found.iter().map(|one| format!("{} {}: {said}: {}", voice.code(), rule.phrase, one.rule)),
                );
            }
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}

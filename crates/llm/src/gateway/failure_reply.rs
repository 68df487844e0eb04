//! What a person is told when no model could answer.

use munshi_lang::format::Locale;
use munshi_lang::phrasebook::{PhraseError, Phrasebook};

use crate::error::ModelError;

/// A polite sentence in the person's language and script. It is no answer: whoever sends it marks the message as
/// degraded and bills nothing for it.
pub fn render_failure_reply(
    fault: &ModelError,
    book: &Phrasebook,
    voice: Locale,
) -> Result<String, PhraseError> {
    let phrase = match fault {
        ModelError::OverBudget(_) => "limit-reached",
        _ => "error",
    };
    book.render(phrase, voice, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voice_has_a_polite_sentence_that_tells_nothing_of_the_fault() {
        let book = Phrasebook::core().unwrap();
        let faults =
            [ModelError::OverBudget("secret".to_owned()), ModelError::Unauthorised, ModelError::Interrupted];
        for voice in Locale::all() {
            for fault in &faults {
                let text = render_failure_reply(fault, &book, voice).unwrap();
                assert!(!text.is_empty() && !text.contains("secret"), "{text}");
            }
        }
    }
}

//! What a person is told when no model could answer.

use munshi_lang::format::Voice;
use munshi_lang::phrasebook::{PhraseError, Phrasebook};

use crate::fault::Fault;

/// A polite sentence in the person's language and script. It is no answer: whoever sends it marks the message as
/// degraded and bills nothing for it.
pub fn courtesy(fault: &Fault, book: &Phrasebook, voice: Voice) -> Result<String, PhraseError> {
    let phrase = match fault {
        Fault::OverBudget(_) => "limit-reached",
        _ => "error",
    };
    book.say(phrase, voice, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voice_has_a_polite_sentence_that_tells_nothing_of_the_fault() {
        let book = Phrasebook::core().unwrap();
        let faults = [Fault::OverBudget("secret".to_owned()), Fault::Unauthorised, Fault::Interrupted];
        for voice in Voice::all() {
            for fault in &faults {
                let text = courtesy(fault, &book, voice).unwrap();
                assert!(!text.is_empty() && !text.contains("secret"), "{text}");
            }
        }
    }
}

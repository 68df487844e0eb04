//! What languages the message was not taken to be in would make of a number.

use munshi_types::Language;

use crate::lexicon::{Languages, Meaning};
use crate::number::Number;
use crate::numbers::{Certainty, Found};
use crate::reader::Reader;

/// A number that reads otherwise in another language, or together with the word before it, is in doubt.
pub(super) fn doubt(reader: &Reader<'_>, found: &mut Found) {
    if found.digits {
        return;
    }
    let scale = |meaning| matches!(meaning, Meaning::Scale(_)).then_some(());
    let before = found.from.checked_sub(1).filter(|at| {
        reader.token(*at).is_some_and(|token| {
            let scale = token.find(Languages::EVERY, scale).is_some();
            token.is_word() && (scale || found.bare_scale || !reader.sure)
        })
    });
    for line in Language::ALL.map(|language| reader.line(language)) {
        if let Some(longer) = before.and_then(|at| line.read(&reader.tokens, at)).filter(|longer| {
            longer.to >= found.to && longer.spoken.readings.first() != found.spoken.readings.first()
        }) {
            add(found, &longer.spoken.readings);
        }
        let Some(rival) = line.read(&reader.tokens, found.from).filter(|rival| !rival.guessed) else {
            continue;
        };
        // However sure the language is, a word that only another one knows may go on with the number.
        let goes_on = found.scaled
            && rival.to > found.to
            && reader.token(found.to).is_some_and(|next| {
                next.is_word()
                    && (!next.clashes() || rival.to > found.to + 1 || rival.to == reader.tokens.len())
            });
        if goes_on || (!reader.sure && rival.to >= found.to) {
            add(found, &rival.spoken.readings);
        }
    }
}

fn add(found: &mut Found, readings: &[Number]) {
    for value in readings {
        if !found.spoken.readings.contains(value) {
            found.spoken.readings.push(*value);
            found.spoken.certainty = Certainty::Ambiguous;
        }
    }
}

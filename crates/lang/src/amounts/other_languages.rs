//! What languages the message was not taken to be in would make of a number.

use munshi_types::Language;

use crate::lexicon::{self, Meaning};
use crate::number::Number;
use crate::numbers::{Certainty, NumberSpan};
use crate::token::MessageToken;
use crate::tokenized_message::TokenizedMessage;

/// A number that reads otherwise in another language, or together with the word before it, is in doubt.
pub(super) fn doubt(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    if found.digits {
        return;
    }
    doubt_last_vowel(reader, found);
    let lines = Language::ALL.map(|language| reader.lexemes(language));
    let before = found.from.checked_sub(1).filter(|at| {
        let scale = || lines.iter().any(|line| line.is_scale(&reader.tokens, *at));
        let word = reader.token(*at).is_some_and(MessageToken::is_word);
        word && (found.bare_scale || !reader.sure || scale())
    });
    for line in lines {
        if let Some(longer) = before.and_then(|at| line.read(&reader.tokens, at)).filter(|longer| {
            longer.to >= found.to && longer.spoken.readings.first() != found.spoken.readings.first()
        }) {
            add_longer(reader, found, longer);
        }
        let Some(rival) = line.read(&reader.tokens, found.from).filter(|rival| !rival.guessed) else {
            continue;
        };
        // However sure the language is, a word that only another one knows may go on with the number.
        let goes_on = (found.scaled || rival.scaled)
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

/// A number word right before a scale says how many of it, unless it is as likely something else.
fn add_longer(reader: &TokenizedMessage<'_>, found: &mut NumberSpan, longer: NumberSpan) {
    let counts = reader.token(longer.from).is_some_and(|token| {
        let small = !token.text.starts_with(|letter: char| letter.is_uppercase());
        !token.clashes() && small
    });
    if counts && found.bare_scale && !longer.guessed {
        let shorter = std::mem::take(&mut found.spoken.readings);
        *found = NumberSpan { to: found.to.max(longer.to), ..longer };
        found.spoken.certainty = Certainty::Ambiguous;
        add(found, &shorter);
    } else {
        add(found, &longer.spoken.readings);
    }
}

/// One word with a last a that many write and do not say is also what it means without it: panchasha is five
/// hundred in Odia, and fifty in Bengali.
fn doubt_last_vowel(reader: &TokenizedMessage<'_>, found: &mut NumberSpan) {
    let token = reader.token(found.from).filter(|_| found.to == found.from + 1 && !reader.sure);
    let open = token.filter(|token| token.text.ends_with('a') && !token.text.ends_with("aa"));
    let bare = open.and_then(|token| token.key.strip_suffix('a')).filter(|bare| bare.len() > 3);
    for sense in bare.map(lexicon::senses).unwrap_or_default() {
        if let Meaning::Cardinal(value) = sense.meaning {
            add(found, &[Number::from_whole(u64::from(value))]);
        }
    }
}

fn add(found: &mut NumberSpan, readings: &[Number]) {
    for value in readings {
        if !found.spoken.readings.contains(value) {
            found.spoken.readings.push(*value);
            found.spoken.certainty = Certainty::Ambiguous;
        }
    }
}

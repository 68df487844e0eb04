//! What languages the message was not taken to be in would make of a number.

use crate::number::Number;
use crate::numbers::{Certainty, Found};
use crate::reader::Reader;

/// A number that reads otherwise in another language, or together with the word before it, is in doubt.
pub(super) fn doubt(reader: &Reader<'_>, found: &mut Found) {
    if found.digits {
        return;
    }
    let before = found.from.checked_sub(1).filter(|at| {
        reader.token(*at).is_some_and(crate::token::Token::is_word) && (found.bare_scale || !reader.sure)
    });
    for line in reader.every_line() {
        if let Some(longer) = before.and_then(|at| line.read(&reader.tokens, at)).filter(|longer| {
            longer.to >= found.to && longer.spoken.readings.first() != found.spoken.readings.first()
        }) {
            add(found, &longer.spoken.readings);
        }
        if reader.sure {
            continue;
        }
        if let Some(rival) = line.read(&reader.tokens, found.from)
            && rival.to >= found.to
            && !rival.guessed
        {
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

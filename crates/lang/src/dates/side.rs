//! On which side of today a word lies that may lie on both, by the verbs of the message.

use super::Side;
use crate::lexicon::Meaning;
use crate::reader::Reader;
use crate::token::{Kind, Token};

/// The sides the verbs leave open for the date at a token, the likelier first.
pub(super) fn sides(reader: &Reader<'_>, at: usize) -> Vec<Side> {
    match (reader.speaks_of(Meaning::Past), reader.speaks_of(Meaning::Future)) {
        (true, false) => vec![Side::Before],
        (false, true) => vec![Side::After],
        (true, true) => {
            nearest(reader, at).map_or_else(|| vec![Side::Before, Side::After], |side| vec![side])
        }
        (false, false) => vec![Side::Before, Side::After],
    }
}

/// The verb of the clause: the next one, or else the one before, with no end of a clause between.
fn nearest(reader: &Reader<'_>, at: usize) -> Option<Side> {
    let verb = |at: usize| match (reader.is(at, Meaning::Past), reader.is(at, Meaning::Future)) {
        (true, false) => Some(Some(side_of(true))),
        (false, true) => Some(Some(side_of(false))),
        (true, true) => Some(None),
        (false, false) => reader.token(at).is_some_and(ends_clause).then_some(None),
    };
    let after = (at + 1..reader.tokens.len()).find_map(verb).flatten();
    after.or_else(|| (0..at).rev().find_map(verb).flatten())
}

const fn side_of(past: bool) -> Side {
    if past { Side::Before } else { Side::After }
}

fn ends_clause(token: &Token<'_>) -> bool {
    const JOINS: &[&str] =
        &["aur", "or", "and", "but", "lekin", "magar", "phir", "fir", "और", "लेकिन", "फिर", "मगर"];
    let sign = token.kind == Kind::Sign && matches!(token.text, "," | ";" | "." | "।" | "!" | "?" | "|");
    sign || JOINS.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}

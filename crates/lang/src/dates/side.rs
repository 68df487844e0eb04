//! On which side of today a word lies that may lie on both, by the verbs of the message.

use super::DateSide;
use crate::lexicon::Meaning;
use crate::token::{MessageToken, MessageTokenKind};
use crate::tokenized_message::TokenizedMessage;

/// The sides the verbs leave open for the date at a token, the likelier first.
pub(super) fn list_sides(reader: &TokenizedMessage<'_>, at: usize) -> Vec<DateSide> {
    let any = |side: DateSide| (0..reader.tokens.len()).any(|at| is_verb_of(reader, at, side));
    match (any(DateSide::Before), any(DateSide::After)) {
        (true, false) => vec![DateSide::Before],
        (false, true) => vec![DateSide::After],
        (true, true) => find_nearest(reader, at)
            .map_or_else(|| vec![DateSide::Before, DateSide::After], |side| vec![side]),
        (false, false) => vec![DateSide::Before, DateSide::After],
    }
}

/// The verb of the clause: the next one, or else the one before, with no end of a clause between.
fn find_nearest(reader: &TokenizedMessage<'_>, at: usize) -> Option<DateSide> {
    let verb =
        |at: usize| match (is_verb_of(reader, at, DateSide::Before), is_verb_of(reader, at, DateSide::After))
        {
            (true, false) => Some(Some(side_of(true))),
            (false, true) => Some(Some(side_of(false))),
            (true, true) => Some(None),
            (false, false) => reader.token(at).is_some_and(ends_clause).then_some(None),
        };
    let after = (at + 1..reader.tokens.len()).find_map(verb).flatten();
    after.or_else(|| (0..at).rev().find_map(verb).flatten())
}

/// Whether the word at a place is a verb of that side. `diya jayega` is yet to come, and what `dena tha` came to
/// nobody says.
fn is_verb_of(reader: &TokenizedMessage<'_>, at: usize, side: DateSide) -> bool {
    let text = |at: usize| reader.token(at).map(|token| token.text.to_lowercase()).unwrap_or_default();
    let passive = |at: usize| {
        let text = text(at);
        ["jaye", "jaae", "jaeg", "jayi", "जाए", "जाये", "जाय"].iter().any(|front| text.starts_with(front))
    };
    let was = |at: usize| matches!(text(at).as_str(), "tha" | "thi" | "the" | "था" | "थी" | "थे");
    let future = |at: usize| reader.means(at, Meaning::Future);
    match side {
        DateSide::After => {
            (future(at) && !was(at + 1)) || (reader.means(at, Meaning::Past) && passive(at + 1))
        }
        DateSide::Before => {
            let owed = || at.checked_sub(1).is_some_and(future) && was(at);
            reader.means(at, Meaning::Past) && !passive(at + 1) && !owed()
        }
    }
}

const fn side_of(past: bool) -> DateSide {
    if past { DateSide::Before } else { DateSide::After }
}

fn ends_clause(token: &MessageToken<'_>) -> bool {
    const JOINS: &[&str] =
        &["aur", "or", "and", "but", "lekin", "magar", "phir", "fir", "और", "लेकिन", "फिर", "मगर"];
    let sign =
        token.kind == MessageTokenKind::Sign && matches!(token.text, "," | ";" | "." | "।" | "!" | "?" | "|");
    sign || JOINS.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}

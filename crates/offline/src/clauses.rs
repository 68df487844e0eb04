//! A message cut where it may speak of another thing.

use crate::reading::{OfflineReading, OfflineWord, WordOwner};
use crate::small_words::SmallWordClass;

/// Where a message may go on to another thing, as places of words.
pub(crate) fn find_cuts(reading: &OfflineReading<'_>) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let mut from = 0;
    for (at, word) in reading.words.iter().enumerate() {
        if ends_clause(reading, at) && word.held.is_none() {
            parts.push((from, at));
            from = at + 1;
        }
    }
    parts.push((from, reading.words.len()));
    parts
}

/// The parts of a message that each name a number; one part when it speaks of one thing.
pub(crate) fn split_clauses<'m>(reading: &OfflineReading<'m>) -> Vec<&'m str> {
    let parts = find_cuts(reading);
    let loads = |part: &&(usize, usize)| {
        let words = reading.words.get(part.0..part.1).unwrap_or_default();
        words.iter().any(|word| matches!(word.held, Some(WordOwner::Number(_))))
    };
    // A number that nothing is said of belongs to what stands beside it: "bananas sold, 240 rupees".
    let speaks = |part: &&(usize, usize)| {
        let words = reading.words.get(part.0..part.1).unwrap_or_default();
        words.iter().any(OfflineWord::is_content)
    };
    if parts.iter().filter(loads).filter(speaks).count() < 2 {
        return vec![reading.message];
    }
    let texts = parts.iter().map(|part| reading.text(part.0, part.1).trim());
    texts.filter(|text| !text.is_empty()).collect()
}

fn ends_clause(reading: &OfflineReading<'_>, at: usize) -> bool {
    let Some(word) = reading.words.get(at) else { return false };
    let line = at > 0
        && reading.words.get(at - 1).is_some_and(|before| {
            reading.message.get(before.end()..word.start).is_some_and(|gap| gap.contains('\n'))
        });
    (word.is_sign && matches!(word.text, "," | ";" | "." | "।" | "|" | "!" | "、"))
        || word.classes.has(SmallWordClass::And)
        || line
}

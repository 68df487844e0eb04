//! The numbers of what a person wrote. Reading them costs more than all the rest of a decision, and a turn decides about
//! several acts on the same words, so the last few are remembered: by their hash, not by the words.

use std::cell::RefCell;
use std::collections::VecDeque;

use munshi_lang::number::Number;
use munshi_lang::{Certainty, UnderstandingContext, understand};
use sha2::{Digest, Sha256};

/// A turn has a few messages, and few turns share a thread at a time.
const KEPT: usize = 16;

type Kept = VecDeque<([u8; 32], Vec<Number>)>;

thread_local! {
    static LAST: RefCell<Kept> = const { RefCell::new(VecDeque::new()) };
}

/// The numbers a message says, those that are exact.
pub(super) fn find_exact(text: &str) -> Vec<Number> {
    let key: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let known = LAST.with_borrow(|last| last.iter().find(|kept| kept.0 == key).map(|kept| kept.1.clone()));
    known.unwrap_or_else(|| {
        let numbers = find_uncached(text);
        LAST.with_borrow_mut(|last| {
            last.truncate(KEPT - 1);
            last.push_front((key, numbers.clone()));
        });
        numbers
    })
}

fn find_uncached(text: &str) -> Vec<Number> {
    let found = understand(text, &UnderstandingContext::default()).numbers;
    found
        .into_iter()
        .filter(|amount| amount.certainty == Certainty::Exact)
        .map(|amount| amount.value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_is_read() {
        let texts: Vec<String> = (0..40).map(|n| format!("Raju ko {n} sau diye, paanch kilo")).collect();
        for text in texts.iter().chain(&texts).chain(texts.iter().rev()).chain([&texts[3], &texts[3]]) {
            assert_eq!(find_exact(text), find_uncached(text), "{text}");
        }
        assert!(LAST.with_borrow(VecDeque::len) <= KEPT);
        assert!(!find_exact("7 bori chawal").is_empty());
    }
}

//! Words as a search index keeps them: cut here, so that every engine stores the same.
//!
//! A word gives two tokens: itself, so that राजन finds राजन, and its romanised key, so that `rajan` does. Keys
//! carry a prefix no word has, and every token is letters and digits only, so an engine that splits on
//! anything else leaves them whole.

use crate::fold;
use crate::token::{MessageTokenKind, digit_value, is_gap, tokenize};

/// What a romanised key begins with.
pub const KEY_PREFIX: &str = "zq";

/// No engine needs a longer word.
const MAX_TOKEN: usize = 80;

/// The tokens to index for a text, in order, repeats kept.
pub fn search_tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for token in tokenize(text) {
        match token.kind {
            MessageTokenKind::Word(_) | MessageTokenKind::Foreign => {
                push_word(&mut out, token.text, &token.key);
            }
            MessageTokenKind::Digits => {
                // Groups parted by spaces may be several numbers; each is found by itself.
                let groups = token.text.split(is_gap).map(|group| group.chars().filter_map(digit_value));
                out.extend(
                    groups.map(|group| group.map(|value| char::from(b'0' + value)).collect::<String>()),
                );
            }
            MessageTokenKind::Sign => out.extend(emoji(token.text)),
        }
    }
    out
}

/// The tokens to look for: where a key exists it alone, since it finds every script's spelling.
pub fn query_tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for token in search_tokens(text) {
        if token.starts_with(KEY_PREFIX) {
            out.pop();
        }
        out.push(token);
    }
    out
}

fn push_word(out: &mut Vec<String>, text: &str, key: &str) {
    let word: String =
        fold::normalize_spelling(text).chars().filter(|letter| !matches!(letter, '\'' | '’')).collect();
    out.push(truncate(&word));
    // The skeleton rather than the key: a searcher does not remember which vowel was long.
    let bones = fold::skeleton(key);
    if !bones.is_empty() {
        out.push(truncate(&format!("{KEY_PREFIX}{bones}")));
    }
}

fn truncate(word: &str) -> String {
    word.chars().take(MAX_TOKEN).collect()
}

/// An emoji without its skin tone or style; other signs are not searched.
fn emoji(sign: &str) -> Option<String> {
    let letter = sign.chars().next()?;
    let tone = ('\u{1F3FB}'..='\u{1F3FF}').contains(&letter);
    let picture =
        ('\u{1F300}'..='\u{1FAFF}').contains(&letter) || ('\u{2600}'..='\u{27BF}').contains(&letter);
    (picture && !tone).then(|| letter.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_keep_their_vowel_signs() {
        assert_eq!(search_tokens("हिंदी में"), ["हिंदी", "zqid", "में", "zqmin"]);
        assert_eq!(search_tokens("₹१,५०० today's 👍🏽!"), ["1500", "todays", "zqtadis", "👍"]);
    }

    #[test]
    fn a_query_finds_the_other_scripts() {
        for (query, text) in [("rajan", "राजन"), ("rajan", "রাজন"), ("ramesh", "రమేష్"), ("পঞ্চাশ", "ponchash")]
        {
            let indexed = search_tokens(text);
            assert!(query_tokens(query).iter().all(|token| indexed.contains(token)), "{query} {text}");
        }
    }

    #[test]
    fn composed_and_decomposed_spellings_are_one_token() {
        assert_eq!(search_tokens("हज़ार")[0], search_tokens("हज\u{93C}ार")[0]);
        assert_eq!(search_tokens("ক\u{9CB}ন"), search_tokens("ক\u{9C7}\u{9BE}ন"));
    }

    proptest! {
        #[test]
        fn tokens_are_letters_and_digits_only(text: String) {
            for token in search_tokens(&text) {
                prop_assert!(!token.is_empty() || text.is_empty());
                prop_assert!(!token.chars().any(|letter| letter.is_ascii() && !letter.is_ascii_alphanumeric()));
            }
        }

        #[test]
        fn cutting_again_changes_nothing(text in "[ -~\u{900}-\u{D7F}]{0,40}") {
            let once: Vec<String> =
                search_tokens(&text).into_iter().filter(|token| !token.starts_with(KEY_PREFIX)).collect();
            let again: Vec<String> = search_tokens(&once.join(" "))
                .into_iter()
                .filter(|token| !token.starts_with(KEY_PREFIX))
                .collect();
            prop_assert_eq!(once, again);
        }
    }
}

//! Counts that OpenAI's own tables give, and what holds of every text. `make soak` compares with another implementation.

use munshi_tokens::count;
use proptest::prelude::*;

#[test]
fn texts_count_as_openai_counts_them() {
    for (text, tokens) in [
        ("", 0),
        ("hello", 1),
        ("How much does Ramesh owe me?", 9),
        ("मुझे बताओ कि रमेश पर कितना उधार है", 13),
        ("ராமேஷ் எவ்வளவு கடன்", 11),
        ("I'LL pay ₹1,25,000.50\r\n\r\n  on 2026-11-17 — it's\tdone…", 26),
        ("रमेश को 5 किलो चावल दिए 🙏🏽", 14),
        ("ਰਮੇਸ਼ ਨੇ 500 ਦਿੱਤੇ", 8),
        ("    fn main() {\n        println!(\"x\");\n    }\n", 12),
    ] {
        assert_eq!(count(text), tokens, "{text:?}");
    }
}

/// One word of any length is merged, and not in the square of its length: it would not end.
#[test]
fn a_word_of_a_million_letters_is_counted() {
    assert_eq!(count(&"a".repeat(1_000_000)), 125_000);
}

proptest! {
    #[test]
    fn no_text_is_lost_and_none_counts_more_than_its_bytes(text in "\\PC{0,40}") {
        let tokens = count(&text);
        prop_assert_eq!(tokens == 0, text.is_empty());
        prop_assert!(tokens <= text.len() as u64);
    }

    #[test]
    fn a_line_more_never_counts_less(text in "[a-zA-Zअ-ह ]{0,40}", more in "[a-z]{1,20}") {
        let longer = format!("{text}\n\n{more}");
        prop_assert!(count(&longer) > count(&text));
    }
}

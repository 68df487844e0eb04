//! Our counts of tokens must be another implementation's, whatever the text.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

/// What the other's tables do not know yet: they are of an older Unicode.
static UNASSIGNED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{Cn}").unwrap());

/// Letters of every script that is spoken here, capitals, marks, digits, signs, whitespace of all kinds.
fn stretch() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z]{1,12}",
        2 => "[ \t\r\n\u{a0}\u{2003}\u{85}]{1,4}",
        2 => "[0-9०-९৪²Ⅷ]{1,7}",
        2 => "[!-/:-@\\[-`{-~₹…“”–🙏👍🏽\u{200d}\u{200c}]{1,5}",
        1 => "'(s|S|ſ|t|T|re|RE|Ve|m|LL|l|d|x)",
        3 => "[\u{900}-\u{97f}]{1,8}",
        3 => "[\u{980}-\u{d7f}]{1,8}",
        1 => "[ÀÉÎöüßñŁžǅʰªº\u{301}\u{308}\u{20e3}ЖжΣσ]{1,6}",
        1 => "[\u{4e00}-\u{4fff}ぁ-んァ-ン가-깋]{1,8}",
        1 => "(a|ab|=|-|x ){1,80}",
        1 => "\\PC{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200_000, ..ProptestConfig::default() })]

    #[test]
    fn both_count_the_same(stretches in prop::collection::vec(stretch(), 0..12)) {
        let text = UNASSIGNED.replace_all(&stretches.concat(), "").into_owned();
        prop_assert_eq!(munshi_tokens::count(&text), bpe_openai::o200k_base().count(text.as_str()) as u64, "{:?}", text);
    }
}

/// What people and machines write: the project's own texts, whole.
#[test]
fn both_count_the_same_of_long_texts() {
    fn visit(folder: &std::path::Path, seen: &mut u32) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, seen);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let theirs = bpe_openai::o200k_base().count(text.as_str()) as u64;
                assert_eq!(munshi_tokens::count(&text), theirs, "{}", path.display());
                *seen += 1;
            }
        }
    }
    let mut seen = 0;
    for folder in ["../crates", "../packs", "../docs", "../tenants"] {
        visit(std::path::Path::new(folder), &mut seen);
    }
    assert!(seen > 1_000, "only {seen} texts were found");
}

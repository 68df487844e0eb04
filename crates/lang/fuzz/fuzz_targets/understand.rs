//! `cargo +nightly fuzz run understand` in `crates/lang`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use munshi_lang::{Certainty, Context, Directory, Form, Phrasebook, Voice, search_tokens, understand};
use munshi_types::Language;

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let contacts = Directory::new(["Ramesh Kumar", "राजन", "Das", &*text]);
    let context = Context {
        // A third of the range leaves the language to be found.
        language: Language::ALL.get(usize::from(first % 16)).copied(),
        contacts: Some(&contacts),
        today: "2026-11-15".parse().ok(),
        ..Context::default()
    };
    let found = understand(&text, &context);
    for number in &found.numbers {
        assert!(text.get(number.start..).is_some_and(|rest| rest.starts_with(&number.text)));
        assert_eq!(number.readings.first(), Some(&number.value));
        assert!(number.certainty == Certainty::Ambiguous || number.readings.len() == 1);
    }
    for token in search_tokens(&text) {
        assert!(!token.is_empty());
    }
    let mut book = Phrasebook::default();
    if book.add(Voice::new(Language::Hindi, Form::Native), &text).is_ok() {
        for name in book.names() {
            drop(book.say(name, Voice::new(Language::Hindi, Form::Native), &[]));
        }
    }
});

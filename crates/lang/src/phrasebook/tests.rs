use munshi_types::Language;

use super::*;
use crate::detect::ScriptForm;
use crate::detect::detect;
use crate::token::tokenize;
use crate::yes_no::{YesNoAnswer, classify_reply};
use munshi_types::Script;

const REVIEW: &str = include_str!("../../phrases/review.txt");

/// A phrase as a person would see it, its names and amounts in the voice's own script.
fn sample(book: &Phrasebook, name: &str, voice: Locale, count: u64) -> String {
    let person = match (voice.form, voice.language) {
        (ScriptForm::Latin, _) => "Ramesh",
        (_, Language::Bengali) => "রমেশ",
        (_, Language::Gujarati) => "રમેશ",
        (_, Language::Kannada) => "ರಮೇಶ್",
        (_, Language::Malayalam) => "രമേശ്",
        (_, Language::Odia) => "ରମେଶ",
        (_, Language::Punjabi) => "ਰਮੇਸ਼",
        (_, Language::Tamil) => "ரமேஷ்",
        (_, Language::Telugu) => "రమేష్",
        (_, Language::Hindi | Language::Marathi | Language::English) => "रमेश",
    };
    let money = PlaceholderValue::Money(Money::from_paise(15_000_000));
    let fills: Vec<(&str, PlaceholderValue<'_>)> = book
        .placeholders(name)
        .into_iter()
        .map(|slot| match (slot, name) {
            ("count", _) => (slot, PlaceholderValue::Count(count)),
            ("name" | "what", _) | ("first" | "second", "ask-which-name") => {
                (slot, PlaceholderValue::Text(person))
            }
            ("first" | "second", "ask-which-date") => {
                (slot, PlaceholderValue::Day(jiff::civil::date(2026, 8, 15)))
            }
            _ => (slot, money),
        })
        .collect();
    book.render(name, voice, &fills).unwrap()
}

#[test]
fn every_phrase_exists_in_every_voice_with_the_same_slots() {
    let book = Phrasebook::core().unwrap();
    book.check().unwrap();
    assert!(book.names().count() >= 30);
}

#[test]
fn a_native_phrase_uses_its_own_script_only() {
    let book = Phrasebook::core().unwrap();
    for voice in Locale::all() {
        let script = if voice.form == ScriptForm::Native { voice.language.script() } else { Script::Latin };
        for name in book.names() {
            let text = sample(&book, name, voice, 3);
            for token in
                tokenize(&text).iter().filter(|token| token.kind != crate::token::MessageTokenKind::Sign)
            {
                let own = token.script().is_none_or(|found| found == script);
                let known = token.kind != crate::token::MessageTokenKind::Foreign;
                assert!(own && known, "{} {name}: {} in {text}", voice.code(), token.text);
            }
        }
    }
}

#[test]
fn a_phrase_is_detected_as_its_own_language() {
    let book = Phrasebook::core().unwrap();
    let mut wrong = Vec::new();
    for voice in Locale::all() {
        for name in book.names() {
            let text = sample(&book, name, voice, 3);
            let found = detect(&text).map(|found| (found.language, found.form()));
            if found != Some((voice.language, voice.form)) {
                wrong.push(format!("{} {name}: {found:?} in {text}", voice.code()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is offered beside a question is an answer to it.
#[test]
fn a_yes_and_a_no_that_are_offered_are_understood() {
    let book = Phrasebook::core().unwrap();
    for voice in Locale::all() {
        for (name, expected) in [("say-yes", YesNoAnswer::Yes), ("say-no", YesNoAnswer::No)] {
            let text = book.render(name, voice, &[]).unwrap();
            assert_eq!(classify_reply(&text), expected, "{} {text}", voice.code());
        }
    }
}

#[test]
fn what_is_offered_is_short() {
    let book = Phrasebook::core().unwrap();
    for voice in Locale::all() {
        for name in ["say-yes", "say-no", "suggest-help", "suggest-more", "suggest-thanks"] {
            let text = book.render(name, voice, &[]).unwrap();
            assert!(text.chars().count() <= 60 && !text.ends_with('.'), "{} {text}", voice.code());
        }
    }
}

#[test]
fn counts_choose_their_form() {
    let book = Phrasebook::core().unwrap();
    let english = Locale::new(Language::English, ScriptForm::Latin);
    assert_eq!(sample(&book, "days", english, 1), "There are 1 day left.");
    assert_eq!(sample(&book, "days", english, 150_000), "There are 1,50,000 days left.");
    let hindi = Locale::new(Language::Hindi, ScriptForm::Native);
    assert_eq!(sample(&book, "items", hindi, 1), "कुल 1 चीज़ है।");
    assert_eq!(sample(&book, "items", hindi, 2), "कुल 2 चीज़ें हैं।");
}

#[test]
fn what_is_wrong_is_named() {
    let english = Locale::new(Language::English, ScriptForm::Latin);
    let mut book = Phrasebook::default();
    for bad in ["a", "a = {", "a = }", "a = {}", "a = {B}", "a = {count: one}", "a = b } c {d}"] {
        let error = Phrasebook::default().add(english, bad).unwrap_err();
        assert!(matches!(error, PhraseError::Unreadable { line: 1, .. }), "{bad}: {error}");
    }
    book.add(english, "# note\n\na = {name}").unwrap();
    assert!(matches!(book.add(english, "a = b"), Err(PhraseError::Twice { .. })));
    assert!(matches!(book.check(), Err(PhraseError::Missing { .. })));
    assert!(matches!(book.render("a", english, &[]), Err(PhraseError::Unfilled { .. })));
    assert!(matches!(book.render("b", english, &[]), Err(PhraseError::Unknown(_))));
    let hindi = Locale::new(Language::Hindi, ScriptForm::Latin);
    assert!(matches!(book.render("a", hindi, &[]), Err(PhraseError::Missing { .. })));
    for voice in Locale::all().filter(|voice| *voice != english) {
        book.add(voice, "a = {other}").unwrap();
    }
    assert!(matches!(book.check(), Err(PhraseError::Slots { .. })));
}

#[test]
fn the_review_list_names_real_phrases() {
    let book = Phrasebook::core().unwrap();
    let voices: Vec<String> = Locale::all().map(Locale::code).collect();
    for line in REVIEW.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [voice, names, why] = parts.as_slice() else { panic!("{line}") };
        assert!(voices.iter().any(|known| known == voice) && !why.is_empty(), "{line}");
        for name in names.split(' ').filter(|name| *name != "*") {
            assert!(book.names().any(|known| known == name), "{line}");
        }
    }
}

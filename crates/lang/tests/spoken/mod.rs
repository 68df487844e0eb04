//! Numbers said in every language, made by rules written apart from the crate's lexicon, are read back.

mod endings;
mod northern;
mod southern;

use munshi_lang::{Certainty, Number, UnderstandingContext, understand};
use munshi_types::Language;
use proptest::prelude::*;

/// A number below a hundred crore as a language says it.
pub(crate) fn say(number: u64, language: Language) -> String {
    match language {
        Language::Tamil | Language::Telugu | Language::Kannada | Language::Malayalam => {
            southern::say(number, language)
        }
        _ => northern::say(number, language),
    }
}

/// `do lakh pachas` may be two lakh fifty thousand: two digits right after a lakh or a crore are in doubt.
fn in_doubt(number: u64) -> bool {
    let tail = number % 100_000;
    (number > 100_000 && (10..100).contains(&tail))
        || (number > 10_000_000 && (10..100).contains(&(number % 10_000_000)))
}

/// `ek sau do` is 102, or "give a hundred"; `saath hazaar` is sixty thousand, or a thousand along with.
fn says_more(text: &str) -> bool {
    const BEFORE_A_SCALE: &[&str] = &["saath ", "assi ", "bai ", "sath "];
    text == "do" || text.ends_with(" do") || BEFORE_A_SCALE.iter().any(|word| text.contains(word))
}

fn languages() -> impl Strategy<Value = Language> {
    prop::sample::select(Language::ALL.to_vec())
}

/// Small and large alike: every count of digits is as likely.
fn numbers() -> impl Strategy<Value = u64> {
    (1u32..=8).prop_flat_map(|digits| 0..=10u64.pow(digits))
}

fn check(number: u64, language: Language) -> Result<(), TestCaseError> {
    let text = say(number, language);
    let context = UnderstandingContext { language: Some(language), ..UnderstandingContext::default() };
    let found = understand(&text, &context).numbers;
    prop_assert_eq!(found.len(), 1, "{} {}: {} gives {:?}", language, number, text, found);
    let value = Number::from_whole(number);
    if in_doubt(number) || says_more(&text) {
        prop_assert!(found[0].readings.contains(&value), "{} {}: {}", language, number, text);
        return Ok(());
    }
    prop_assert_eq!(found[0].certainty, Certainty::Exact, "{} {}: {}", language, number, text);
    prop_assert_eq!(found[0].value, value, "{} {}: {}", language, number, text);
    Ok(())
}

/// Read without its language, a number is right or in doubt.
fn check_untold(number: u64, language: Language) -> Result<(), TestCaseError> {
    let text = say(number, language);
    for found in understand(&text, &UnderstandingContext::default()).numbers {
        let right = found.value == Number::from_whole(number);
        prop_assert!(
            right || found.certainty == Certainty::Ambiguous,
            "{} {}: {} {:?}",
            language,
            number,
            text,
            found
        );
    }
    Ok(())
}

#[test]
fn with_no_language_told_no_number_below_a_thousand_is_exact_and_wrong() {
    let mut wrong = Vec::new();
    for language in Language::ALL {
        wrong.extend((0..1_000).filter_map(|number| check_untold(number, language).err()));
    }
    assert!(wrong.is_empty(), "{}: {:#?}", wrong.len(), wrong.iter().take(25).collect::<Vec<_>>());
}

/// Words that mean "with" or "so" elsewhere do not make a number's language certain: 17,160 is no 70,160.
#[test]
fn a_long_number_alone_does_not_tell_its_language() {
    for number in [17_160, 17_060, 70_160, 1_717_160] {
        for language in Language::ALL {
            check_untold(number, language).unwrap();
        }
    }
}

#[test]
fn every_number_below_a_thousand_is_read_back() {
    for language in Language::ALL {
        for number in 0..1_000 {
            check(number, language).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_said_is_read_back(number in numbers(), language in languages()) {
        check(number, language)?;
    }

    #[test]
    fn with_no_language_told_nothing_is_exact_and_wrong(number in numbers(), language in languages()) {
        check_untold(number, language)?;
    }

    #[test]
    fn money_and_its_words_keep_their_amount(number in 1u64..10_000_000, language in languages()) {
        prop_assume!(!in_doubt(number));
        let text = format!("₹ {}", say(number, language));
        let context = UnderstandingContext { language: Some(language), ..UnderstandingContext::default() };
        let found = understand(&text, &context).numbers;
        prop_assert_eq!(found.len(), 1, "{} {}", language, text);
        prop_assert_eq!(found[0].kind, munshi_lang::NumberKind::Money);
        prop_assert_eq!(found[0].value, Number::from_whole(number));
    }

    #[test]
    fn no_text_panics(text: String, language in languages()) {
        understand(&text, &UnderstandingContext { language: Some(language), ..UnderstandingContext::default() });
        understand(&text, &UnderstandingContext::default());
    }

    #[test]
    fn no_indic_text_panics(text in "[\u{900}-\u{D7F}a-z0-9 ₹,./:-]{0,60}") {
        let found = understand(&text, &UnderstandingContext::default());
        for number in found.numbers {
            prop_assert!(text[number.start..].starts_with(&number.text));
        }
    }

    #[test]
    fn number_words_in_any_order_never_panic(
        words in prop::collection::vec((0u64..100, prop::bool::ANY), 1..12),
        language in languages(),
    ) {
        let scales = [100, 1_000, 100_000, 10_000_000];
        let said: Vec<String> = words
            .into_iter()
            .map(|(number, scale)| {
                let number = if scale { scales[usize::try_from(number).unwrap() % 4] } else { number };
                say(number, language)
            })
            .collect();
        for number in understand(&said.join(" "), &UnderstandingContext { language: Some(language), ..UnderstandingContext::default() }).numbers {
            prop_assert!(number.certainty == Certainty::Ambiguous || number.readings.len() == 1);
        }
    }
}

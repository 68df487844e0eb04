//! Scales under the case endings of every language.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_lang::{Certainty, Number, NumberMention, UnderstandingContext, understand};
use munshi_types::Language;
use proptest::prelude::*;

use crate::spoken::say;

/// A language, its scales (stems where endings change them), and its everyday endings.
const ENDINGS: &[(&str, &[&str], &[&str])] = &[
    ("hi", &["हज़ार", "लाख", "करोड़", "hazaar", "lakh", "karod"], &["ों", "ो", "on", "wala", "ka", "ki"]),
    (
        "mr",
        &["हजार", "लाख", "hajar", "lakh"],
        &[
            "ाला",
            "ाचे",
            "ाची",
            "ाचा",
            "ाच्या",
            "ात",
            "ाने",
            "ांचे",
            "ांना",
            "ांनी",
            "ांत",
            "ापर्यंत",
            "ala",
            "ache",
            "achi",
            "at",
            "ane",
            "anche",
        ],
    ),
    (
        "bn",
        &["হাজার", "লাখ", "hajar", "lakh"],
        &["ে", "ের", "কে", "টা", "টি", "টাকার", "e", "er", "ke", "ta", "take"],
    ),
    (
        "gu",
        &["હજાર", "લાખ", "hajar", "lakh"],
        &["ની", "નો", "નું", "ના", "ને", "માં", "થી", "ni", "no", "nu", "na", "ne", "ma", "thi"],
    ),
    ("or", &["ହଜାର", "ଲକ୍ଷ", "hajar", "lakh"], &["ର", "ରେ", "କୁ", "ରୁ", "ଟି", "ra", "re", "ku", "ru"]),
    ("pa", &["ਹਜ਼ਾਰ", "ਲੱਖ", "hazaar", "lakh"], &["ਦਾ", "ਦੀ", "ਦੇ", "ਨੂੰ", "ਾਂ", "da", "di", "de", "nu"]),
    (
        "ta",
        &["ஆயிர", "லட்ச", "aayira", "latcha"],
        &["த்துக்கு", "த்தில்", "த்தை", "த்தின்", "த்தோடு", "த்துல", "thukku", "thil", "thai", "thula"],
    ),
    ("te", &["వేల", "లక్షల", "vela", "lakshala"], &["కు", "కి", "లో", "ని", "తో", "ku", "ki", "lo", "ni", "tho"]),
    (
        "kn",
        &["ಸಾವಿರ", "ಲಕ್ಷ", "saavira", "laksha"],
        &["ಕ್ಕೆ", "ದಲ್ಲಿ", "ದ", "ದಿಂದ", "ವನ್ನು", "kke", "dalli", "da", "dinda"],
    ),
    (
        "ml",
        &["ആയിര", "ലക്ഷ", "aayira", "laksha"],
        &["ത്തിന്", "ത്തിന്റെ", "ത്തിൽ", "ത്തെ", "ത്തോട്", "thinu", "thinte", "thil"],
    ),
];

fn worth(scale: &str) -> u64 {
    let begins = |fronts: &[&str]| fronts.iter().any(|front| scale.starts_with(front));
    if begins(&["क", "ka"]) {
        10_000_000
    } else if begins(&["ल", "ল", "લ", "ଲ", "ਲ", "ல", "ల", "ಲ", "ല", "la"]) {
        100_000
    } else {
        1_000
    }
}

/// Every scale of a language with every ending of its script.
fn inflected() -> Vec<(Language, &'static str, String)> {
    let mut all = Vec::new();
    for (code, scales, endings) in ENDINGS {
        let language = code.parse().unwrap();
        let pairs = scales.iter().flat_map(|scale| endings.iter().map(move |ending| (*scale, *ending)));
        for (scale, ending) in pairs.filter(|(scale, ending)| scale.is_ascii() == ending.is_ascii()) {
            all.push((language, scale, format!("{scale}{ending}")));
        }
    }
    all
}

/// Each number of the message is what was meant, or unsure.
fn check(message: &str, expected: u64, language: Option<Language>) -> Result<(), TestCaseError> {
    let found =
        understand(message, &UnderstandingContext { language, ..UnderstandingContext::default() }).numbers;
    let fine = |number: &NumberMention| {
        number.value == Number::from_whole(expected) || number.certainty == Certainty::Ambiguous
    };
    prop_assert!(found.iter().all(fine), "{message}: {found:?}");
    Ok(())
}

#[test]
fn every_ending_on_every_scale_is_right_or_unsure() {
    for (language, scale, word) in inflected() {
        for count in [1, 2, 3, 4, 5, 7, 9, 10, 12, 19, 25, 40, 50, 75, 99] {
            for told in [Some(language), None] {
                check(&format!("{count} {word}"), count * worth(scale), told).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_spoken_count_before_an_ending_is_right_or_unsure(
        (language, scale, word) in prop::sample::select(inflected()),
        count in 2u64..100,
        told in prop::bool::ANY,
    ) {
        let message = format!("{} {word}", say(count, language));
        check(&message, count * worth(scale), told.then_some(language))?;
    }
}

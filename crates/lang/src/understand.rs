//! Everything the crate reads in one message.

use jiff::civil::Date;
use munshi_types::{Language, Script};
use serde::Serialize;

use crate::amounts::{self, NumberMention};
use crate::dates::times::TimeMention;
use crate::dates::{self, DateMention};
use crate::detect::{self, LanguageDetection, ScriptForm};
use crate::lexicon::{Languages, Meaning, Sense};
use crate::name_likelihood;
use crate::names::directory::{ContactDirectory, NameMention};
use crate::numbers;
use crate::token::{MAX_TOKENS, MessageToken, tokenize};
use crate::tokenized_message::TokenizedMessage;

/// What is known before a message is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnderstandingContext<'c> {
    /// The language, when the channel already knows it (speech does).
    pub language: Option<Language>,
    /// The languages of the messages before, the latest last; five are looked at.
    pub last_languages: &'c [Language],
    /// The language the person chose.
    pub profile: Option<Language>,
    /// Today where the person is, so that `kal` becomes a date.
    pub today: Option<Date>,
    /// The people who may be named.
    pub contacts: Option<&'c ContactDirectory>,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessageUnderstanding {
    pub language: Language,
    /// Whether it was written in the language's own script or in Latin letters.
    pub script: ScriptForm,
    /// How sure the language is, from 0 to 1.
    pub confidence: f32,
    pub numbers: Vec<NumberMention>,
    pub dates: Vec<DateMention>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<TimeMention>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameMention>,
    /// The message was longer than is read: what its end says is not among the above.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Reads a message.
pub fn understand(message: &str, context: &UnderstandingContext<'_>) -> MessageUnderstanding {
    let tokens = tokenize(message);
    let detection = detect::detect_tokens(&tokens);
    let language = context.language.unwrap_or_else(|| {
        detect::choose_language(detection.as_ref(), context.last_languages, context.profile)
    });
    let script = detection.as_ref().map_or(ScriptForm::Latin, LanguageDetection::form);
    let confidence = match (context.language, &detection) {
        (Some(_), _) => 1.0,
        (None, Some(found)) => found.confidence,
        (None, None) => 0.0,
    };
    // Latin letters and Devanagari serve many languages, whose numbers differ: a few words of them tell little.
    let many = tokens.iter().filter(|token| token.is_word()).count() > 3 && tokens.iter().any(says_more);
    let told = |found: &LanguageDetection| {
        found.is_sure() && (many || !matches!(found.script, Script::Latin | Script::Devanagari))
    };
    let sure = context.language.is_some() || detection.as_ref().is_some_and(told);
    let cut = is_cut(message, &tokens);
    let mut reader = TokenizedMessage::new(tokens, languages(language, context, detection.as_ref()), sure);
    let mut names = context
        .contacts
        .map(|contacts| contacts.find_in(&reader.tokens, message, reader.known))
        .unwrap_or_default();
    for name in names.iter().filter(|name| name.is_close()) {
        name_likelihood::mark_contact(&mut reader.tokens, name.start, name.start + name.text.len());
    }
    let dated = dates::find(&reader);
    let timed = dates::times::find(&reader);
    let taken: Vec<(usize, usize)> =
        dated.iter().map(|d| (d.from, d.to)).chain(timed.iter().map(|t| (t.from, t.to))).collect();
    let numbers = amounts::find(&reader, message, &taken);
    // Das is a name, but not in das rupaye.
    names.retain(|name| {
        let within =
            |number: &NumberMention| (number.start..number.start + number.text.len()).contains(&name.start);
        !numbers.iter().any(within)
    });
    MessageUnderstanding {
        language,
        script,
        confidence,
        numbers,
        dates: dated.iter().map(|dated| dates::to_mention(&reader, message, dated, context.today)).collect(),
        names,
        cut,
        times: timed.iter().map(|timed| dates::times::to_mention(&reader, message, timed)).collect(),
    }
}

/// Whether a word is no number in any language. A number alone does not tell its language, however long it is: sattar
/// hajar ek so saath is 70,160 in Hindi and 17,160 in Gujarati.
fn says_more(token: &MessageToken<'_>) -> bool {
    let number = |sense: &Sense| matches!(sense.meaning, Meaning::Cardinal(_) | Meaning::Scale(_));
    token.is_word()
        && !token.senses.iter().any(number)
        && numbers::find_number_languages(token, Languages::EVERY).count() == 0
}

/// Whether anything but space lies behind the last token that is read.
fn is_cut(message: &str, tokens: &[MessageToken<'_>]) -> bool {
    let end = tokens.last().map_or(0, MessageToken::end);
    tokens.len() == MAX_TOKENS && message.get(end..).is_some_and(|rest| !rest.trim().is_empty())
}

/// The languages to read numbers in, the likeliest first: one when it is sure, else all that may be meant.
fn languages(
    chosen: Language,
    context: &UnderstandingContext<'_>,
    detection: Option<&LanguageDetection>,
) -> Vec<Language> {
    let unsure = detection.filter(|found| context.language.is_none() && !found.is_sure());
    let Some(found) = unsure else { return vec![chosen] };
    // A language that explains none of the words was only the last resort.
    let explains = found.plausible.contains(&chosen);
    let others = found.plausible.iter().copied().filter(|other| *other != chosen);
    match explains {
        true => std::iter::once(chosen).chain(others).collect(),
        false => others.chain([chosen]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::NumberKind;
    use crate::numbers::Certainty;

    fn money(message: &str) -> Vec<(String, Certainty)> {
        let found = understand(message, &UnderstandingContext::default()).numbers;
        let money = found.into_iter().filter(|number| number.kind == NumberKind::Money);
        money.map(|number| (number.value.to_string(), number.certainty)).collect()
    }

    #[test]
    fn amounts_are_read_in_mixed_talk() {
        for (message, expected) in [
            ("Ramesh ne dhai hazaar diye", "2500"),
            ("₹1,50,000 மொத்தம்", "150000"),
            ("రాజన్ కి ఐదు వందలు అప్పు", "500"),
            ("Suresh anna ge saavirada ainooru kotte", "1500"),
            ("Raju ku moonu aayirathi ainooru rubai kuduthen", "3500"),
            ("raman chettan ayyayiram roopa thannu", "5000"),
            ("Suresh la sade teenshe dile", "350"),
            ("arai hajar taka dilam", "2500"),
            ("paid 1.5 lakh advance", "150000"),
            ("5 rupaye 50 paise", "5.5"),
            ("UPI ref 423456789012 Rs 500", "500"),
            ("aadha kilo paneer 60 rupaye", "60"),
            ("Ramesh ko teen sau do rupaye do", "302"),
            ("पाँच-पाँच सौ के नोट", "500"),
            ("Rs.500 2 kilo chini", "500"),
            ("500 rs 2 kilo chini", "500"),
            ("2 kilo 500 ka", "500"),
        ] {
            assert_eq!(money(message), [(expected.to_owned(), Certainty::Exact)], "{message}");
        }
    }

    #[test]
    fn what_may_mean_two_things_says_so() {
        for (message, readings) in [
            ("Ramesh ko teen sau do", &["302", "300"][..]),
            ("do lakh pachas", &["200050", "250000"]),
            ("sattar", &["70", "17"]),
            ("arai", &["2.5", "0.5"]),
            ("10k-15k", &["10000", "15000"]),
            ("do-teen sau rupaye", &["200", "300"]),
            ("do hazaar teen hazaar", &["2000", "3000"]),
            ("ਪਚਹੱਤ ਹਜ਼ਾਰ", &["1000"]),
            ("so do din baad", &["102", "2"]),
            ("Tina sau rupaye le gayi", &["300", "100"]),
            ("two fifty", &["250", "50"]),
            ("one twenty five rupees", &["125", "25"]),
            ("five k", &["5", "5000"]),
            ("couple of hundred", &["100"]),
            ("saade sau", &["100"]),
        ] {
            let found = understand(message, &UnderstandingContext::default()).numbers;
            assert_eq!(found.len(), 1, "{message}: {found:?}");
            assert_eq!(found[0].certainty, Certainty::Ambiguous, "{message}");
            let said: Vec<String> = found[0].readings.iter().map(ToString::to_string).collect();
            assert_eq!(said, readings, "{message}");
        }
    }

    #[test]
    fn words_that_only_look_like_numbers_are_none() {
        for message in [
            "so what",
            "no no no",
            "Char Minar jana hai",
            "tera naam kya hai",
            "kar do",
            "Das aaya tha",
            "sat sri akal",
            "sab theek hai na",
            "do baat karni hai",
            "one moment please",
        ] {
            assert_eq!(understand(message, &UnderstandingContext::default()).numbers, [], "{message}");
        }
    }

    #[test]
    fn every_number_knows_what_it_counts() {
        use NumberKind::{Account, Date, Money, Phone, Quantity};
        for (message, kinds) in [
            ("call Ramesh on 9876543210 about 500 rupees", &[Phone, Money][..]),
            ("+91 98765 43210 pe 2,500 bhejo", &[Phone, Money]),
            ("a/c XX1234 debited Rs.2,500.00 on 15-08-26", &[Account, Money, Date]),
            ("15 tareekh ko 2 lakh dena hai", &[Date, Money]),
            ("5 kg chawal 250", &[Quantity, Money]),
            ("Maggi do carton add kar do stock mein", &[Quantity]),
            ("card 4111 1111 1111 1111", &[Account]),
            ("nau aath saat chhe paanch char teen do ek shunya", &[Phone]),
            ("GST 18% lagega", &[Quantity]),
            (".5 kilo", &[Quantity]),
            ("GSTIN 27AAPFU0939F1ZV", &[Account, Account, Account]),
            ("order #12345 ka 500", &[Account, Money]),
            ("Aadhaar 1234 5678 9012", &[Account]),
            ("022-12345678", &[Phone]),
            ("5 se 7 baje", &[Date, Date]),
            ("A/c *3618 Credited for Rs:2383.00 on 31-07-2025 03:24:18", &[Account, Money, Date, Date]),
        ] {
            let found = understand(message, &UnderstandingContext::default()).numbers;
            assert_eq!(found.iter().map(|number| number.kind).collect::<Vec<_>>(), kinds, "{message}");
        }
    }

    #[test]
    fn a_day_on_either_side_is_told_by_the_verb() {
        let today = jiff::civil::date(2026, 11, 15);
        let context = UnderstandingContext { today: Some(today), ..UnderstandingContext::default() };
        for (message, days) in [
            ("kal Ramesh ne 500 diya", &["2026-11-14"][..]),
            ("kal Ramesh 500 dega", &["2026-11-16"]),
            ("kal 500", &["2026-11-14", "2026-11-16"]),
            ("2 din baad dena", &["2026-11-17"]),
            ("naalaiku vaanga", &["2026-11-16"]),
            ("agle hafte dena", &["2026-11-16"]),
            ("15/08/2026", &["2026-08-15"]),
            ("itvaar ko Ramesh ne 500 diya", &["2026-11-15", "2026-11-08"]),
            ("pichhle itvaar Ramesh ne 500 diya", &["2026-11-08"]),
            ("somvar ko Ramesh ne 500 diya", &["2026-11-09"]),
        ] {
            let found = understand(message, &context).dates;
            let said: Vec<String> = found
                .iter()
                .flat_map(|date| &date.readings)
                .filter_map(|day| Some(day.from?.to_string()))
                .collect();
            assert_eq!(said, days, "{message}");
        }
    }

    #[test]
    fn the_json_keeps_its_shape() {
        let found = understand("Ramesh ne dhai hazaar diye", &UnderstandingContext::default());
        let value = serde_json::to_value(&found).unwrap();
        assert_eq!(value["language"], "hi");
        assert_eq!(value["script"], "latin");
        assert_eq!(value["numbers"][0]["value"], 2500);
        assert_eq!(value["numbers"][0]["certainty"], "exact");
        assert_eq!(value["numbers"][0]["readings"], serde_json::json!([2500]));
        assert_eq!(value["numbers"][0]["kind"], "money");
        assert_eq!(value["dates"], serde_json::json!([]));
    }

    #[test]
    fn a_name_is_no_name_inside_an_amount() {
        let contacts = ContactDirectory::new(["Das", "Ramesh"]);
        let context = UnderstandingContext { contacts: Some(&contacts), ..UnderstandingContext::default() };
        let names = |message| {
            understand(message, &context).names.into_iter().map(|name| name.text).collect::<Vec<_>>()
        };
        assert_eq!(names("aaj das rupaye kharch hua"), Vec::<String>::new());
        assert_eq!(names("Das ne Ramesh ko das rupaye diye"), ["Das", "Ramesh"]);
    }
}

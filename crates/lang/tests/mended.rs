//! Amounts, dates and languages that were once read wrong, each as it must be read.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_lang::{
    Certainty, MessageUnderstanding, NumberKind, NumberMention, UnderstandingContext, understand,
};
use munshi_types::Language;

fn read(message: &str) -> MessageUnderstanding {
    let (language, message) =
        match message.split_once(": ").map(|(code, rest)| (code.parse::<Language>(), rest)) {
            Some((Ok(language), rest)) => (Some(language), rest),
            _ => (None, message),
        };
    let today = Some(jiff::civil::date(2026, 11, 15));
    understand(message, &UnderstandingContext { language, today, ..UnderstandingContext::default() })
}

fn one(message: &str) -> NumberMention {
    let found = read(message).numbers;
    assert_eq!(found.len(), 1, "{message}: {found:?}");
    found.into_iter().next().unwrap()
}

fn exact(cases: &[(&str, &str)]) {
    for (message, expected) in cases {
        let found = one(message);
        assert_eq!(
            (found.value.to_string().as_str(), found.certainty),
            (*expected, Certainty::Exact),
            "{message}"
        );
    }
}

fn unsure(cases: &[(&str, &[&str])]) {
    for (message, readings) in cases {
        let found = one(message);
        assert_eq!(found.certainty, Certainty::Ambiguous, "{message}");
        let said: Vec<String> = found.readings.iter().map(ToString::to_string).collect();
        assert_eq!(&said, readings, "{message}");
    }
}

fn kinds(message: &str) -> Vec<(NumberKind, String)> {
    read(message).numbers.into_iter().map(|one| (one.kind, one.value.to_string())).collect()
}

#[test]
fn the_eighties_of_odia_are_not_the_twenties_of_bengali() {
    unsure(&[("bn: satasha", &["27"]), ("satasha taka", &["27"]), ("panchasha", &["500", "50"])]);
    exact(&[("bn: satash", "27"), ("or: satashi", "87")]);
}

#[test]
fn decimals_are_kept_or_doubted() {
    exact(&[("1.23456 lakh", "123456"), ("1.2345678 crore", "12345678"), ("2.50000000000 lakh", "250000")]);
    unsure(&[("Rs 1.23456", &["1.23456"]), ("1.2345678912 crore", &["12345678.9"])]);
}

#[test]
fn a_fraction_under_a_scale_is_no_date() {
    for message in ["1 1/2 lakh diya", "1/2 lakh", "3/4 kilo"] {
        assert_eq!(read(message).dates, [], "{message}");
    }
    assert_eq!(read("1/2 ko 500 diye").dates.len(), 1);
}

#[test]
fn the_likeliest_reading_comes_first() {
    unsure(&[
        ("chhe hazaar", &["6000", "1000"]),
        ("deed hajar", &["1500", "1000"]),
        ("ഇരുപത്തയ്യായിരം", &["25000", "20000"]),
        ("arava velu", &["60000", "1000"]),
        ("te: arava velu", &["60000", "1000"]),
    ]);
}

#[test]
fn nine_is_nine() {
    exact(&[("nine", "9"), ("nine people came", "9"), ("twenty nine", "29")]);
    assert_eq!(read("nine people came").dates, []);
    let yesterday = read("kn: ninne 500 kotte");
    assert_eq!(yesterday.dates[0].readings[0].from.unwrap().to_string(), "2026-11-14");
}

#[test]
fn kodi_is_a_crore_only_where_it_is() {
    exact(&[("ta: 5 kodi", "50000000"), ("ரமேஷ் 5 கோடி", "50000000"), ("kn: Ramesh ge 500 kodi", "500")]);
    exact(&[("ರಮೇಶ್ ಗೆ 500 ಕೊಡಿ", "500"), ("ರಮೇಶ್ 5 ಕೋಟಿ", "50000000")]);
    unsure(&[("5 kodi", &["5", "50000000", "100"]), ("bn: 5 kodi", &["100", "5", "50000000"])]);
}

#[test]
fn a_marked_amount_may_be_grouped_as_the_west_does_it() {
    exact(&[("Rs 125,450", "125450"), ("125,450 rupees", "125450"), ("Rs 1,25,450", "125450")]);
    unsure(&[
        ("125,450", &["125450", "125", "450"]),
        ("Rs 500,700", &["500700", "500", "700"]),
        ("500,700 hazaar", &["500700000", "500000", "700000"]),
    ]);
}

#[test]
fn two_amounts_before_one_money_word_are_unsure() {
    let found = one("65000 75000 rupaye");
    assert_eq!((found.kind, found.range, found.certainty), (NumberKind::Money, true, Certainty::Ambiguous));
    let far = read("75000 2000 rupaye").numbers;
    assert!(
        far.iter().all(|one| one.kind == NumberKind::Money && one.certainty == Certainty::Ambiguous),
        "{far:?}"
    );
    assert_eq!(
        kinds("75000 25000"),
        [(NumberKind::Plain, "75000".to_owned()), (NumberKind::Plain, "25000".to_owned())]
    );
}

#[test]
fn a_few_digits_after_number_name_nothing_for_sure() {
    unsure(&[("number 500 diya", &["500"]), ("number 5000 diya", &["5000"])]);
    assert_eq!(kinds("number 500 diya"), [(NumberKind::Money, "500".to_owned())]);
    assert_eq!(read("OTP 4512").numbers[0].kind, NumberKind::Account);
}

#[test]
fn the_digits_after_a_month_are_its_day() {
    for message in ["Aug 15 500 diye", "15 Aug 500 diye", "tareekh 15 500 diye"] {
        let expected = [(NumberKind::Date, "15".to_owned()), (NumberKind::Money, "500".to_owned())];
        assert_eq!(kinds(message), expected, "{message}");
        assert_eq!(read(message).dates.len(), 1, "{message}");
    }
}

#[test]
fn an_ordinal_says_which_and_not_how_many() {
    for (message, day) in [
        ("15th", "2026-11-15"),
        ("15th ko 500 dena", "2026-11-15"),
        ("20ம் தேதி 500", "2026-10-20"),
        ("5 ஆம் தேதி 500", "2026-11-05"),
        ("5వ తేదీ 500", "2026-11-05"),
        ("5ನೇ ತಾರೀಖು 500", "2026-11-05"),
        ("5ാം തീയതി 500", "2026-11-05"),
        ("5મી તારીખે 500", "2026-11-05"),
        ("৫ই মার্চ", "2026-03-05"),
    ] {
        let found = read(message).dates;
        assert_eq!(found[0].readings[0].from.unwrap().to_string(), day, "{message}");
    }
    for message in ["5th class fees 5000", "class 5vi ki fees 5000", "५वीं की फीस 5000", "5వ తరగతి ఫీజు 5000"]
    {
        assert_eq!(one(message).value.to_string(), "5000", "{message}");
    }
    for message in ["teesra", "मेरा तीसरा", "paanchva", "ஐந்தாவது", "fifth", "পঞ্চম"]
    {
        assert_eq!(read(message).numbers, [], "{message}");
    }
}

#[test]
fn a_minus_is_told() {
    unsure(&[
        ("-500", &["-500", "500"]),
        ("minus 500", &["-500", "500"]),
        ("minus five hundred", &["-500", "500"]),
        ("₹-500", &["-500", "500"]),
        ("-₹500", &["-500", "500"]),
        ("Rs -500", &["-500", "500"]),
        ("Ramesh -500", &["500", "-500"]),
    ]);
    exact(&[("Ramesh - 500", "500")]);
}

#[test]
fn english_numbers_are_read_in_every_script() {
    exact(&[
        ("ट्वेंटी फाइव", "25"),
        ("फाइव हंड्रेड", "500"),
        ("दो थाउज़ेंड रुपये", "2000"),
        ("5 थाउजेंड", "5000"),
        ("ஃபைவ் ஹண்ட்ரட்", "500"),
        ("ఫైవ్ థౌజండ్", "5000"),
        ("ফাইভ হান্ড্রেড", "500"),
        ("ಫೈವ್ ಹಂಡ್ರೆಡ್", "500"),
        ("ഫൈവ് ഹൺഡ്രഡ്", "500"),
        ("ਫਾਈਵ ਹੰਡਰਡ", "500"),
        ("ફાઇવ હંડ્રેડ", "500"),
        ("ଫାଇଭ ହଣ୍ଡ୍ରେଡ", "500"),
    ]);
    unsure(&[("फायबह हंड्रेड रुपये", &["100"])]);
}

#[test]
fn number_words_of_hindi_do_not_speak_for_marathi() {
    exact(&[("छह लाख", "600000"), ("एक हज़ार छह सौ", "1600"), ("नौ सौ", "900")]);
    for message in ["छह सौ रुपये", "नौ सौ पचास"] {
        assert_eq!(read(message).language, Language::Hindi, "{message}");
    }
}

#[test]
fn number_words_that_run_together_are_read_part_by_part() {
    exact(&[
        ("or: ବାରଶହ ଟଙ୍କା", "1200"),
        ("or: ତେରଶହ", "1300"),
        ("mr: साडेचारशे रुपये", "450"),
        ("mr: साडेआठ हजार", "8500"),
        ("mr: साडेनऊशे रुपये", "950"),
        ("mr: सव्वासहाशे रुपये", "625"),
        ("ml: മുന്നൂറ്റി ഇരുപത് രൂപ", "320"),
    ]);
}

#[test]
fn what_only_folds_like_a_crore_is_none() {
    exact(&[
        ("kn: ಗೋಧಿ ಐದು ಮೂಟೆ ಬಂದಿದೆ", "5"),
        ("ta: ஆயிரத்து ஐநூறு ரூபாய் குடுத்துட்டு போனார்", "1500"),
        ("ta: தினேஷ் ஆயிரத்து ஐநூறு குடுத்துட்டு போனார்", "1500"),
        ("ta: ஐநூறு குடுங்க", "500"),
        ("pa: ਆਟੋ ਤੇ ਢਾਈ ਸੌ ਲੱਗ ਗਏ", "250"),
    ]);
    exact(&[("ta: இரண்டு கோடி", "20000000"), ("kn: ಎರಡು ಕೋಟಿ", "20000000")]);
}

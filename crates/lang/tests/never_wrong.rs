//! Amounts that are easily read wrong: each is read right, or says that it is unsure.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_lang::{Certainty, ContactDirectory, NumberKind, UnderstandingContext, understand};
use munshi_types::Language;

/// No number of the message is exact and other than expected.
fn check(language: Option<&str>, message: &str, expected: &[&str]) {
    let language = language.and_then(|code| code.parse::<Language>().ok());
    let found =
        understand(message, &UnderstandingContext { language, ..UnderstandingContext::default() }).numbers;
    assert!(!found.is_empty(), "{message}: nothing");
    for number in found.iter().filter(|number| number.kind != NumberKind::Date) {
        let right = expected.contains(&number.value.to_string().as_str());
        assert!(right || number.certainty == Certainty::Ambiguous, "{message}: {found:?}");
    }
}

#[test]
fn a_scale_under_an_ending_or_misspelled_still_counts() {
    for (language, message, expected) in [
        ("mr", "पाच हजाराला", "5000"),
        ("mr", "दोन लाखांचे", "200000"),
        ("mr", "5 hajarachi udhari", "5000"),
        ("bn", "পাঁচ হাজারে", "5000"),
        ("bn", "৫ হাজারের মাল", "5000"),
        ("bn", "2 লাখের", "200000"),
        ("gu", "5 હજારની", "5000"),
        ("gu", "પાંચ હજારમાં", "5000"),
        ("ta", "ஐந்து ஆயிரத்துக்கு", "5000"),
        ("ta", "2 லட்சத்தில்", "200000"),
        ("ta", "rendu latchathukku", "200000"),
        ("ml", "രണ്ട് ലക്ഷത്തിന്", "200000"),
        ("ml", "5 ആയിരത്തിന്റെ", "5000"),
        ("kn", "5 ಸಾವಿರದಲ್ಲಿ", "5000"),
        ("or", "2 ଲକ୍ଷର", "200000"),
    ] {
        check(Some(language), message, &[expected]);
        check(None, message, &[expected]);
    }
    for message in [
        "5 hazr",
        "5 hzar",
        "5 thousnd",
        "5 hunderd",
        "5 lkhs",
        "5 crs",
        "5 mn",
        "5 grand",
        "5M",
        "5hzr",
        "5 hazar 5 sow",
    ] {
        check(None, message, &[]);
    }
}

#[test]
fn a_number_word_that_sounds_like_a_day_is_a_number_before_what_it_counts() {
    for (message, expected) in [("nine hundred rupees", "900"), ("nine lakh", "900000"), ("nine rupees", "9")]
    {
        check(None, message, &[expected]);
    }
}

#[test]
fn a_bare_scale_after_a_number_word_is_unsure() {
    for (message, expected) in [
        ("छह हज़ार रुपये", &["6000"][..]),
        ("छह सौ रुपये", &["600"]),
        ("chhe hazaar", &["6000"]),
        ("chhah hazaar rupaye", &["6000"]),
        ("paanch-chhe hazaar", &["5000", "6000"]),
    ] {
        check(None, message, expected);
    }
}

#[test]
fn a_last_word_that_also_says_give_is_unsure() {
    for message in ["sau do", "do sau do", "pachas hazaar do", "पाँच सौ दो"] {
        check(None, message, &[]);
    }
}

#[test]
fn number_words_of_a_language_not_told_are_unsure() {
    for (message, expected) in [
        ("sada charso", "450"),
        ("adhi lakh", "250000"),
        ("be karod", "20000000"),
        ("be so pachas", "250"),
        ("deed hajar", "1500"),
        ("aat lakh", "800000"),
        ("saha", "6"),
        ("sahaa hajar", "6000"),
        ("navve hazaar rupaye", "90000"),
        ("tih hazar", "30000"),
        ("arava velu", "60000"),
        ("ponn lakh", "75000"),
    ] {
        check(None, message, &[expected]);
    }
}

#[test]
fn hundreds_in_one_word_are_hundreds() {
    for (message, expected) in [("ପାଞ୍ଚଶହ ଟଙ୍କା", "500"), ("পৌনে দুশো", "175"), ("સવા બસો", "225")]
    {
        check(None, message, &[expected]);
    }
}

#[test]
fn points_and_strokes_make_one_number() {
    for (message, expected) in [
        ("two point five lakh", "250000"),
        ("point five lakh", "50000"),
        ("1 1/2 lakh", "150000"),
        ("1-1/2 lakh", "150000"),
        ("2 1/2 kilo", "2.5"),
    ] {
        check(None, message, &[expected]);
        let found = understand(message, &UnderstandingContext::default()).numbers;
        assert_eq!(found.len(), 1, "{message}: {found:?}");
    }
}

#[test]
fn a_letter_run_into_digits_is_a_scale_only_beside_money() {
    for message in ["2L doodh", "20L water can", "4K TV liya 25000 me", "2k5", "-500"] {
        check(None, message, &["25000"]);
    }
}

#[test]
fn everyday_words_before_a_scale_are_unsure() {
    for (message, expected) in [
        ("chai sau rupaye ki", &["100"][..]),
        ("Ramesh ke saath hazaar rupaye bheje", &["1000"]),
        ("tera sau rupaye baki", &["100"]),
        ("no sau rupaye", &[]),
        ("do sau no", &["200"]),
        ("na sau na hazaar", &[]),
    ] {
        check(None, message, expected);
    }
}

#[test]
fn sandhi_that_can_be_cut_two_ways_is_unsure() {
    for (message, expected) in [
        ("ഇരുപത്തയ്യായിരം", "25000"),
        ("മുപ്പത്തയ്യായിരം", "35000"),
        ("ಸಾವಿರದೈನೂರು", "1500"),
        ("saaviradainooru", "1500"),
    ] {
        check(None, message, &[expected]);
    }
}

/// What a message says to a list of contacts: each number that is exact, and each name with its certainty.
fn with_contacts(contacts: &[&str], message: &str) -> (Vec<String>, Vec<(String, Certainty)>) {
    let contacts = ContactDirectory::new(contacts);
    let found = understand(
        message,
        &UnderstandingContext { contacts: Some(&contacts), ..UnderstandingContext::default() },
    );
    let exact = found.numbers.iter().filter(|number| number.certainty == Certainty::Exact);
    let names = found.names.into_iter().map(|name| (name.candidates[0].name.clone(), name.certainty));
    (exact.map(|number| number.value.to_string()).collect(), names.collect())
}

#[test]
fn a_contact_is_no_number() {
    for (contact, message) in [
        ("Patel", "Patel 500 diye"),
        ("Lakha Singh", "lakha singh ne 500 diye"),
        ("Hazari", "hazari ne 500 diye"),
        ("Das", "Ram Das ko 500 diye"),
        ("Athar", "athar ko 500 diye"),
        ("Velu", "velu ku 500 kuduthen"),
    ] {
        let (exact, _) = with_contacts(&[contact], message);
        assert_eq!(exact, ["500"], "{message}");
    }
    let (exact, _) = with_contacts(&["Das"], "Das hazaar diye");
    assert_eq!(exact, Vec::<String>::new());
}

#[test]
fn another_first_name_is_another_person() {
    for (contact, message) in [
        ("Ramesh Gupta", "Suresh Gupta ko 500 diye"),
        ("Ramesh Gupta", "suresh gupta ko 500 diye"),
        ("Kumar", "Ajay Kumar ko 500"),
        ("Bala", "Balaji ko 500 diye"),
        ("Balaji", "Bala ko 500 diye"),
        ("Kamalesh", "Kamlesh ko 500 diye"),
        ("Ramesh Gupta", "Kal Gupta ji ne Suresh Gupta ko 500 diye"),
    ] {
        let (_, names) = with_contacts(&[contact], message);
        let last = names.last().map(|(_, certainty)| *certainty);
        assert_ne!(last, Some(Certainty::Exact), "{message}: {names:?}");
    }
}

/// Messages with the amounts they may mean. What is exact must be one of them; what is unsure must offer one.
const MEANT: &[(&str, &str, &[&str])] = &[
    // Native words that only sound like numbers.
    ("ta", "காலை வந்தார்", &[]),
    ("ta", "அறை ரூபாய்", &[]),
    ("bn", "চা ১০ টাকা", &["10"]),
    ("bn", "ছাতা টাকা", &[]),
    ("gu", "ચા રૂપિયા", &[]),
    ("or", "ଚା ଟଙ୍କା", &[]),
    ("or", "ସହ ଟଙ୍କା", &[]),
    ("kn", "ಎಂದು ಸಾವಿರ", &["1000"]),
    ("kn", "ಎಳ್ಳು ಕೆಜಿ", &[]),
    ("kn", "5 ಗೋಧಿ ಚೀಲ", &["5"]),
    ("ml", "ആര് രൂപ തന്നു", &[]),
    ("ml", "ഏലം കിലോ", &[]),
    ("ml", "5 കോടതി", &["5"]),
    ("mr", "आठवण रुपये", &[]),
    ("gu", "લખમણ 500", &["500"]),
    ("pa", "ਵੀ ਸੌ ਰੁਪਏ", &["100"]),
    ("bn", "দাস হাজার", &["1000"]),
    ("or", "ଦାସ ହଜାର", &["1000"]),
    ("ml", "അഞ്ജു ആയിരം", &["1000"]),
    ("kn", "500 kottilla", &["500"]),
    // Everyday words before a scale.
    ("", "Shah hazaar", &["1000"]),
    ("pa", "vi hazaar", &["1000"]),
    ("", "assi sau", &["100"]),
    ("", "saath sau", &["700"]),
    ("hi", "Ramesh ne saath sau diye", &["700"]),
    ("", "ei bar hajar", &["1000"]),
    ("bn", "tini hajar taka dilen", &["1000"]),
    ("", "che hajar", &["1000"]),
    ("", "naale varegu savira", &["1000"]),
    ("kn", "aaytu nooru", &["100"]),
    ("ml", "aara nooru", &["100"]),
    ("ta", "ellam nooru", &["100"]),
    ("ta", "edhukku ayiram", &["1000"]),
    ("", "der hazaar", &["1000"]),
    ("", "bada sau", &["100"]),
    ("", "bai hazaar", &["1000"]),
    ("", "soya sau", &["100"]),
    ("", "oil tin hundred", &["100"]),
    ("", "Ram Das hazaar", &["1000"]),
    ("", "Velu ayiram", &["1000"]),
    ("", "Patel hazaar", &["1000"]),
    ("", "Lakha Singh hazaar", &["1000"]),
    ("ta", "Anju ayiram", &["1000"]),
    // Names beside a number.
    ("", "Patel ne 500 diye", &["500"]),
    ("", "Athar 500", &["500"]),
    ("", "Muthu 500", &["500"]),
    ("", "Munnu 500", &["500"]),
    ("", "Ekta 500", &["500"]),
    ("", "Sau. Sunita 500", &["500"]),
    ("", "सौ. सुनीता 500", &["500"]),
    ("", "Hazara 500", &["500"]),
    ("te", "కోటి కి 500", &["500"]),
    ("te", "Velu 500", &["500"]),
    ("", "Hazaar 500 diye", &["1500"]),
    ("", "Hundred 50", &["150"]),
    ("ta", "Aayiram 500 kuduthen", &["1500"]),
    // Credits, paise, figures that are split.
    ("", "12,500.00 Cr", &["12500"]),
    ("", "12000 Cr 5000 Dr", &["12000", "5000"]),
    ("", "Avl Bal Rs 12,500 CR", &["12500"]),
    ("", "Rs. 2.5 Cr", &["25000000"]),
    ("", "500 paise diye", &["500"]),
    ("", "hazaar paise", &["1000"]),
    ("", "50 paise", &["0.5"]),
    ("", "Rs 1, 50, 000", &["150000"]),
    ("", "10, 000 rupees", &["10000"]),
    ("", "Rs.2, 500", &["2500"]),
    ("", "Rs 2 ,500", &["2500"]),
    ("", "Rs. 2 500/-", &["2500"]),
    ("", "Rs 5 00", &["500"]),
    ("", "50 00 rupaye", &["5000"]),
    ("", "5\u{200B}00", &["500"]),
    ("", "1·5 lakh", &["150000"]),
    ("", "5OO", &["500"]),
    ("", "l00", &["100"]),
    ("", "1o0", &["100"]),
    ("ta", "௫௱", &["500"]),
    ("", "5 rs 50 ps", &["5.5"]),
    ("", "500Rs50p", &["500.5"]),
    ("", "50p", &["0.5"]),
    // Lists, ranges, and numbers said loosely.
    ("", "udhar 2500 3000 1500", &["2500", "3000", "1500"]),
    ("", "5000 2000 1000 diye", &["5000", "2000", "1000"]),
    ("", "85250 12750 jama kiya", &["85250", "12750"]),
    ("", "750 2500 300", &["750", "2500", "300"]),
    ("", "udhar 2500 3010 1500", &["2500", "3010", "1500"]),
    ("", "Ramesh ko de do paanch sau", &["500"]),
    ("", "8500 1250 75", &["8500", "1250", "75"]),
    ("", "do teen char paanch sau", &["2", "3", "400", "500"]),
    ("", "do char chhe aath rupaye", &["2", "4", "6", "8"]),
    ("", "ek do teen char log", &["1", "2", "3", "4"]),
    ("", "saikda do rupaye byaj", &["2"]),
    ("", "शेकडा दोन", &["2"]),
    ("", "நூற்றுக்கு இரண்டு வட்டி", &["2"]),
    ("", "ನೂರಕ್ಕೆ ಎರಡು", &["2"]),
    ("", "nootiki rendu", &["2"]),
    ("", "paanch sau do hazaar", &["2000"]),
    ("", "5/6 hazaar", &["5000", "6000"]),
    ("", "ek aadh hazaar", &["1000"]),
    ("", "hazaar ek do", &["1000"]),
    ("", "do paanch sau", &["200"]),
    ("", "panso", &["500"]),
    ("", "bara hazar panso", &["12500"]),
    ("", "noottambath", &["150"]),
    ("", "moodu noorla yabhai", &["350"]),
    ("", "account 50000 bheja", &["50000"]),
    ("", "card 12000 bhara", &["12000"]),
    ("", "4k TV", &["4"]),
];

#[test]
fn what_is_meant_is_read_or_offered() {
    for (language, message, meant) in MEANT {
        let language = language.parse::<Language>().ok();
        let found =
            understand(message, &UnderstandingContext { language, ..UnderstandingContext::default() })
                .numbers;
        assert_eq!(found.is_empty(), meant.is_empty(), "{message}: {found:?}");
        for number in &found {
            assert!(
                !matches!(number.kind, NumberKind::Phone | NumberKind::Account | NumberKind::Date),
                "{message}: {found:?}"
            );
            let readings: Vec<String> = number.readings.iter().map(ToString::to_string).collect();
            let offered = readings.iter().any(|value| meant.contains(&value.as_str()));
            assert!(offered, "{message}: {found:?}");
            assert_eq!(
                number.certainty == Certainty::Exact,
                readings.len() == 1 && !mistyped(message),
                "{message}"
            );
        }
    }
}

/// Letters among digits, and old signs, have one reading and are asked about all the same.
fn mistyped(message: &str) -> bool {
    ["5OO", "l00", "1o0", "௫௱", "Velu ayiram", "Patel hazaar"].contains(&message)
}

#[test]
fn digits_that_name_something_still_do() {
    for (message, digits) in [
        ("call 98750 43200", "9875043200"),
        ("phone 75025 00300", "7502500300"),
        ("mera pin ek do teen char hai", "1234"),
        ("1234 5678 9012", "123456789012"),
    ] {
        let found = understand(message, &UnderstandingContext::default()).numbers;
        assert_eq!(found[0].digits.as_deref(), Some(digits), "{message}: {found:?}");
    }
}

#[test]
fn a_message_that_is_only_a_name_or_a_verb_is_unsure() {
    for message in ["do", "Das", "Anju", "Shah", "Ekta"] {
        let found = understand(message, &UnderstandingContext::default()).numbers;
        assert!(found.iter().all(|number| number.certainty == Certainty::Ambiguous), "{message}: {found:?}");
    }
}

/// A megabyte of anything is read in bounded work, and says that it was cut.
#[test]
fn a_megabyte_is_read_to_where_reading_ends() {
    for part in
        ["9 ", "do ", "900 ", "1, ", "Rs 1, 50, ", "5OO", "nau ", "saath sau ", "९ ", "\u{200B}9", "12 Cr "]
    {
        let message = part.repeat(1_000_000 / part.len());
        let found = understand(&message, &UnderstandingContext::default());
        assert!(found.cut || found.numbers.len() < 2, "{part:?}: {}", found.numbers.len());
    }
    assert!(!understand("Ramesh ne 500 diye", &UnderstandingContext::default()).cut);
    let list = "250 ".repeat(40);
    let found = understand(&list, &UnderstandingContext::default()).numbers;
    assert_eq!(found.len(), 40);
}

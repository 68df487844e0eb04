//! Amounts that are easily read wrong: each is read right, or says that it is unsure.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use munshi_lang::{Certainty, Context, Directory, Kind, understand};
use munshi_types::Language;

/// No number of the message is exact and other than expected.
fn check(language: Option<&str>, message: &str, expected: &[&str]) {
    let language = language.and_then(|code| code.parse::<Language>().ok());
    let found = understand(message, &Context { language, ..Context::default() }).numbers;
    assert!(!found.is_empty(), "{message}: nothing");
    for number in found.iter().filter(|number| number.kind != Kind::Date) {
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
        let found = understand(message, &Context::default()).numbers;
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
    let contacts = Directory::new(contacts);
    let found = understand(message, &Context { contacts: Some(&contacts), ..Context::default() });
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

//! Names that were taken for others.

use super::directory::ContactDirectory;
use super::{SAME, similarity, strip_case_words};
use crate::numbers::Certainty;

fn meant(contacts: &[&str], message: &str) -> Option<(String, Certainty)> {
    let found = ContactDirectory::new(contacts).find(message);
    found.first().map(|found| (found.candidates[0].name.clone(), found.certainty))
}

#[test]
fn close_names_are_asked_about() {
    for (said, contact) in [
        ("Arun", "Aruna"),
        ("Anil", "Anila"),
        ("Kamal", "Kamala"),
        ("Vimal", "Vimala"),
        ("Krishna", "Krishnan"),
        ("Ram", "Ramu"),
        ("Raju", "Raj"),
        ("Balu", "Palu"),
        ("Chandra", "Chand"),
        ("Rajan", "Ranjan"),
        ("Balaji", "Bala"),
        ("Krishan", "Krish"),
        ("अरुण", "Aruna"),
    ] {
        for (said, contact) in [(said, contact), (contact, said)] {
            let found = meant(&[contact], &format!("{said} ko 500 diye"));
            assert!(!matches!(found, Some((_, Certainty::Exact))), "{said} {contact}: {found:?}");
            let found = ContactDirectory::new([contact]).look_up(said);
            assert!(found.is_none_or(|found| found.certainty != Certainty::Exact), "{said} {contact}");
            let both = meant(&[contact, said], &format!("{said} ko 500 diye"));
            assert_eq!(both, Some((said.to_owned(), Certainty::Exact)), "{said} {contact}");
        }
    }
}

#[test]
fn a_shops_english_name_is_known_by_its_sound() {
    for said in [
        "गुप्ता ट्रेडर्स को 500 दिए",
        "গুপ্তা ট্রেডার্স কে ৫০০ দিলাম",
        "ગુપ્તા ટ્રેડર્સ ને 500 આપ્યા",
        "గుప్తా ట్రేడర్స్ కి 500 ఇచ్చాను",
        "ಗುಪ್ತಾ ಟ್ರೇಡರ್ಸ್ ಗೆ 500 ಕೊಟ್ಟೆ",
        "ଗୁପ୍ତା ଟ୍ରେଡର୍ସ କୁ 500 ଦେଲି",
    ] {
        let found = meant(&["Gupta Traders", "Ramesh"], said);
        assert_eq!(found, Some(("Gupta Traders".to_owned(), Certainty::Exact)), "{said}");
        let name = said.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let found = ContactDirectory::new(["Gupta Traders"]).look_up(&name);
        assert!(found.is_some_and(|found| found.certainty == Certainty::Exact), "{name}");
    }
}

#[test]
fn words_of_trade_are_kept_as_they_fold() {
    for (written, said) in super::SOUNDED {
        assert_eq!(crate::fold::key(written), *written);
        assert_eq!(super::name_key(written), super::name_key(said), "{written}");
    }
    for (written, native) in [
        ("Traders", "ट्रेडर्स"),
        ("Trading", "ट्रेडिंग"),
        ("Tailors", "टेलर्स"),
        ("Bakery", "बेकरी"),
        ("Dairy", "डेयरी"),
        ("Painter", "पेंटर"),
        ("Paints", "पेंट्स"),
        ("Mobile", "मोबाइल"),
        ("Textiles", "टेक्सटाइल्स"),
    ] {
        let score = super::similarity(written, native);
        assert!(score > 0.85, "{written} {native} {score} {}", crate::fold::key(native));
    }
}

#[test]
fn other_vowels_are_another_name() {
    for (said, contact) in
        [("Dinesh", "Danish"), ("Danish", "Dinesh"), ("Ramesh", "Suresh"), ("Mina", "Mona")]
    {
        assert_eq!(meant(&[contact], &format!("{said} ko 500 diye")), None, "{said}");
    }
}

#[test]
fn a_word_left_over_is_a_doubt() {
    for (contacts, message) in [
        (&["Ramesh Sharma"][..], "Ramesh Gupta ko 500 diye"),
        (&["Ramesh Sharma"], "ramesh gupta ko 500 diye"),
        (&["Ramesh Sharma"], "रमेश गुप्ता को 500 दिए"),
        (&["Ramesh"], "aaj Ramesh Bhonsle ko 500 diye"),
        (&["Ramesh Sharma", "Gupta Traders"], "Ramesh Gupta ko 500 diye"),
        (&["Rajan", "Ranjan Kumar"], "Rajan Kumar ko 500 diye"),
    ] {
        let found = meant(contacts, message);
        assert!(matches!(found, Some((_, Certainty::Ambiguous))), "{message}: {found:?}");
    }
    let rivals = ContactDirectory::new(["Rajan", "Ranjan Kumar"]).find("Rajan Kumar ko 500 diye");
    assert_eq!(rivals[0].candidates.len(), 2);
    assert_eq!(meant(&["Ramesh Sharma"], "Ramesh ko 500 diye").unwrap().1, Certainty::Exact);
    assert_eq!(meant(&["Ramesh"], "Aaj Ramesh ko 500 diye").unwrap().1, Certainty::Exact);
}

#[test]
fn one_name_in_many_scripts_is_exact() {
    for names in [
        &["Rajan", "Raajan", "राजन", "ராஜன்", "রাজন", "రాజన్", "ರಾಜನ್", "രാജൻ", "રાજન", "ਰਾਜਨ", "ରାଜନ"][..],
        &["Ramesh", "Rameshbhai", "रमेश", "ரமேஷ்", "রমেশ", "రమేష్", "ರಮೇಶ್", "രമേശ്", "રમેશ", "ਰਮੇਸ਼", "ରମେଶ"],
        &["Ganesh", "गणेश", "கணேஷ்", "Ganes"],
        &["Sita", "Seetha", "Sitha", "सीता", "சீதா", "సీత"],
    ] {
        for name in names {
            assert!(
                similarity(name, names[0]) >= SAME,
                "{name} {}: {}",
                names[0],
                similarity(name, names[0])
            );
            let found = ContactDirectory::new([names[0]]).look_up(name);
            assert_eq!(found.map(|found| found.certainty), Some(Certainty::Exact), "{name}");
        }
    }
}

#[test]
fn case_words_are_no_part_of_a_name() {
    for (said, name) in [
        ("Ramesh ko", "Ramesh"),
        ("Ramesh ke liye", "Ramesh"),
        ("रमेश को", "रमेश"),
        ("রমেশ এর", "রমেশ"),
        ("રમેશ માટે", "રમેશ"),
        ("ರಮೇಶ್ ಗೆ", "ರಮೇಶ್"),
        ("രമേശ് ന്", "രമേശ്"),
        ("Ramesh chya kade", "Ramesh"),
        ("ରମେଶ ଙ୍କୁ", "ରମେଶ"),
        ("Harpreet nu", "Harpreet"),
        ("Murugan kitta irundhu", "Murugan"),
        ("రమేష్ కి", "రమేష్"),
        ("Ramesh's", "Ramesh"),
        ("Rajesh da", "Rajesh da"),
        ("Amit Shah", "Amit Shah"),
        ("Ramesh Ra", "Ramesh Ra"),
        ("ko", "ko"),
    ] {
        assert_eq!(strip_case_words(said), name, "{said}");
    }
}

#[test]
fn a_southern_name_is_taken_where_one_contact_fits_and_asked_where_two_do() {
    // In Kannada Arun is written so, and Aruna may be: which one it is, only the list tells.
    let found = |contacts: &[&str]| ContactDirectory::new(contacts).look_up("ಅರುಣ").unwrap();
    assert_eq!(found(&["Arun", "Suresh"]).certainty, Certainty::Exact);
    assert_eq!(found(&["Aruna", "Suresh"]).certainty, Certainty::Exact);
    let both = found(&["Arun", "Aruna"]);
    assert_eq!((both.certainty, both.candidates.len()), (Certainty::Ambiguous, 2));
}

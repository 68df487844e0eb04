//! What an owner says of the shop or an item in one sentence: numbers with a shape of their own, and what follows a word
//! such as "name" or "address". For models that only pass the sentence on.

use munshi_lang::{MeasureUnit, UnderstandingContext, fold, understand};

use crate::tax::TaxRate;

/// What stands before the name of a shop, by the sounds of its letters.
const NAME: &[&str] = &[
    "name",
    "naam",
    "नाम",
    "নাম",
    "નામ",
    "ಹೆಸರು",
    "hesaru",
    "പേര്",
    "peru",
    "नाव",
    "naav",
    "ନାମ",
    "ନାଁ",
    "naa",
    "ਨਾਂ",
    "ਨਾਮ",
    "பெயர்",
    "பேர்",
    "peyar",
    "పేరు",
];
const ADDRESS: &[&str] = &[
    "address",
    "pata",
    "पता",
    "ঠিকানা",
    "thikana",
    "સરનામું",
    "sarnamu",
    "ವಿಳಾಸ",
    "vilasa",
    "വിലാസം",
    "vilasam",
    "पत्ता",
    "patta",
    "ଠିକଣା",
    "thikana",
    "ਪਤਾ",
    "முகவரி",
    "mugavari",
    "చిరునామా",
    "chirunama",
    "अड्रेस",
    "एड्रेस",
];
/// Words around what is said that are not of it.
const AROUND: &[&str] = &[
    "is",
    "are",
    "hai",
    "hain",
    "है",
    "हैं",
    "chhe",
    "છે",
    "aahe",
    "आहे",
    "ache",
    "আছে",
    "hoyeche",
    "ide",
    "ಇದೆ",
    "aanu",
    "ആണ്",
    "ate",
    "atte",
    "ਹੈ",
    "ଅଟେ",
    "achi",
    "ଅଛି",
    "undi",
    "ఉంది",
    "to",
    "rakho",
    "रखो",
    "likho",
    "लिखो",
    "likh",
    "lo",
    "लिख",
    "लो",
];

/// A GSTIN has so many letters and digits; what has fewer than the other number is none that somebody mistyped.
const GSTIN: usize = 15;
const SHORT_GSTIN: usize = 8;

/// A UPI address: one `@`, and no dot behind it, or it is an e-mail's.
pub(super) fn upi(text: &str) -> Option<String> {
    let fits = |word: &str| {
        let (name, bank) = word.split_once('@')?;
        let named = name.len() >= 2
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_'));
        let banked = bank.len() >= 2 && bank.chars().all(|letter| letter.is_ascii_alphanumeric());
        (named && banked).then(|| word.to_owned())
    };
    words(text).find_map(fits)
}

pub(super) fn gstin(text: &str) -> Option<String> {
    words(text).map(str::to_ascii_uppercase).find(|word| munshi_lang::checksums::is_gstin(word))
}

/// What somebody means for a GSTIN that is none: the letters and digits behind that word, or as many as one has.
pub(super) fn find_gstin_like(text: &str) -> Option<String> {
    let is_mixed = |word: &&str| {
        word.chars().all(|letter| letter.is_ascii_alphanumeric())
            && word.chars().any(|letter| letter.is_ascii_digit())
            && word.chars().any(|letter| letter.is_ascii_alphabetic())
    };
    let mut behind = words(text).skip_while(|word| !word.to_ascii_lowercase().starts_with("gst"));
    behind.next();
    let said = behind.filter(|word| word.len() >= SHORT_GSTIN).find(is_mixed);
    let shaped = || words(text).filter(|word| word.len() == GSTIN).find(is_mixed);
    said.or_else(shaped).map(str::to_ascii_uppercase)
}

/// A rate as people say it, `5%` or "5 percent" in their language. Two are none: one of them is something else.
pub(super) fn rate(text: &str) -> Option<TaxRate> {
    let found = understand(text, &UnderstandingContext::default()).numbers;
    let mut rates = found.iter().filter(|number| number.unit == Some(MeasureUnit::Percent));
    let (one, other) = (rates.next()?, rates.next());
    let [reading] = one.readings.as_slice() else { return None };
    other.is_none().then(|| reading.to_string().parse().ok()).flatten()
}

/// The digits behind the word HSN.
pub(super) fn hsn(text: &str) -> Option<String> {
    let mut rest = words(text).skip_while(|word| !word.to_ascii_lowercase().starts_with("hsn"));
    rest.next()?;
    let digits = |word: &str| (4..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    rest.take(3).find(|word| digits(word)).map(str::to_owned)
}

pub(super) fn name(text: &str) -> Option<String> {
    find_text_after(text, NAME)
}

pub(super) fn address(text: &str) -> Option<String> {
    find_text_after(text, ADDRESS)
}

/// What stands behind one of these words, up to the end, without the words around it.
fn find_text_after(text: &str, of: &[&str]) -> Option<String> {
    let keys: Vec<String> = of.iter().map(|word| fold::key(word)).collect();
    let around: Vec<String> = AROUND.iter().map(|word| fold::key(word)).collect();
    let all: Vec<&str> = text.split_whitespace().collect();
    let at = all.iter().position(|word| keys.contains(&fold::key(trim_punctuation(word))))?;
    let mut said = all.get(at + 1..)?;
    let is_around =
        |word: &str| trim_punctuation(word).is_empty() || around.contains(&fold::key(trim_punctuation(word)));
    while let [first, rest @ ..] = said
        && is_around(first)
    {
        said = rest;
    }
    while let [rest @ .., last] = said
        && is_around(last)
    {
        said = rest;
    }
    let told = said.join(" ");
    let told = told.trim_matches(|letter: char| letter.is_whitespace() || ":,;.\"'“”।-".contains(letter));
    (!told.is_empty()).then(|| told.to_owned())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || ",;:()".contains(letter)).map(trim_punctuation)
}

fn trim_punctuation(word: &str) -> &str {
    word.trim_matches(|letter: char| ":,;.?!\"'“”।".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_shape_is_found() {
        assert_eq!(upi("mera UPI gupta.ji@okicici hai.").as_deref(), Some("gupta.ji@okicici"));
        assert_eq!(upi("write to gupta@shop.example"), None);
        assert_eq!(gstin("GSTIN: 27aapfu0939f1zv,").as_deref(), Some("27AAPFU0939F1ZV"));
        assert_eq!(gstin("27AAPFU0939F1ZX"), None);
        assert_eq!(find_gstin_like("my gstin is 27aapfu0939f1zx").as_deref(), Some("27AAPFU0939F1ZX"));
        assert_eq!(find_gstin_like("gst number: 27AAPFU0939F1").as_deref(), Some("27AAPFU0939F1"));
        assert_eq!(find_gstin_like("gst on shop no 12B is 5%"), None);
        assert_eq!(find_gstin_like("my UPI id is gupta9876543210@okbank"), None);
        assert_eq!(rate("cheeni par 5% gst").map(TaxRate::as_hundredths), Some(500));
        assert_eq!(rate("चीनी पर 18 प्रतिशत जीएसटी").map(TaxRate::as_hundredths), Some(1_800));
        assert_eq!(rate("5% or 18%"), None);
        assert_eq!(hsn("soap hsn code 34011190, gst 5%").as_deref(), Some("34011190"));
        assert_eq!(hsn("soap 34011190"), None);
    }

    #[test]
    fn what_follows_its_word_is_found_in_every_language() {
        for text in [
            "my shop's name is Gupta Kirana Store",
            "dukaan ka naam Gupta Kirana Store hai",
            "दुकान का नाम Gupta Kirana Store है।",
            "দোকানের নাম Gupta Kirana Store",
            "દુકાનનું નામ Gupta Kirana Store છે",
            "ಅಂಗಡಿ ಹೆಸರು Gupta Kirana Store",
            "കടയുടെ പേര് Gupta Kirana Store ആണ്",
            "दुकानाचे नाव Gupta Kirana Store आहे",
            "ଦୋକାନର ନାମ Gupta Kirana Store",
            "ਦੁਕਾਨ ਦਾ ਨਾਂ Gupta Kirana Store ਹੈ",
            "கடை பெயர் Gupta Kirana Store",
            "దుకాణం పేరు Gupta Kirana Store",
        ] {
            assert_eq!(name(text).as_deref(), Some("Gupta Kirana Store"), "{text}");
        }
        assert_eq!(address("shop ka pata: 12 MG Road, Pune hai").as_deref(), Some("12 MG Road, Pune"));
        assert_eq!((name("naam hai"), address("kya haal hai")), (None, None));
    }
}

//! What pages and the widget say themselves, in every voice.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use munshi_identity::ContactAddressKind;
use munshi_lang::{Locale, PhraseError, Phrasebook, PlaceholderValue, ScriptForm};
use munshi_tiers::BindingResolution;
use munshi_types::Language;
use munshi_types::tier::LanguageCode;

/// Before the names of ours; scripts know them without it.
const OWN: &str = "web-";
/// Those of the core that pages say too.
const CORE: [&str; 7] =
    ["ask-go-ahead", "error", "hello", "say-no", "say-yes", "suggest-help", "waiting-approval"];

/// Adds what pages say to a book of phrases.
pub fn add_phrases(book: &mut Phrasebook) -> Result<(), PhraseError> {
    book.add_files(&munshi_lang::phrase_files!("../phrases"))?;
    book.add_files(&munshi_lang::phrase_files!("../phrases/account"))
}

/// The core's phrases and ours. A test holds them to be whole.
pub fn default_phrasebook() -> Arc<Phrasebook> {
    static OWN_BOOK: LazyLock<Arc<Phrasebook>> = LazyLock::new(|| {
        let book = Phrasebook::core().and_then(|mut book| add_phrases(&mut book).map(|()| book));
        Arc::new(book.unwrap_or_default())
    });
    OWN_BOOK.clone()
}

/// Everything that pages say in a voice, by name. Slots stay as they are: scripts fill them.
pub fn render_all(voice: Locale) -> BTreeMap<String, String> {
    let book = default_phrasebook();
    let ours = book.names().filter(|name| name.starts_with(OWN)).map(str::to_owned);
    let names: Vec<String> = ours.chain(CORE.map(str::to_owned)).collect();
    let said = names.into_iter().filter_map(|name| {
        let text = book.render(&name, voice, &[("name", PlaceholderValue::Text("{name}"))]).ok()?;
        Some((name.strip_prefix(OWN).unwrap_or(&name).to_owned(), text))
    });
    said.collect()
}

/// The message with which a one-time code goes to an address. Who gets a mail they did not ask for hears that there is nothing to do.
pub fn render_code_message(code: &str, to: ContactAddressKind, voice: Locale) -> String {
    let book = default_phrasebook();
    let said = book.render("account-code", voice, &[("code", PlaceholderValue::Text(code))]);
    // A test holds both to be there.
    let said = said.unwrap_or_else(|_| code.to_owned());
    match (to, book.render("account-code-unasked", voice, &[])) {
        (ContactAddressKind::Email, Ok(unasked)) => format!("{said}\n\n{unasked}"),
        _ => said,
    }
}

/// What somebody agrees to who answers with the code of such a message: it stands behind it.
pub fn render_code_consent(voice: Locale) -> Option<String> {
    default_phrasebook().render("account-code-consent", voice, &[]).ok()
}

pub fn find_locale(code: &str) -> Option<Locale> {
    Locale::all().find(|voice| voice.code() == code)
}

/// What a page begins in: what the browser asks for where the persona speaks it, else the persona's first language.
pub fn choose_locale(place: &BindingResolution, headers: &HeaderMap) -> Locale {
    let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let spoken: Vec<Locale> = place.human.body.speech.languages.iter().filter_map(to_locale).collect();
    let is_spoken = |language: &Language| spoken.iter().any(|voice| voice.language == *language);
    let wanted = crate::phrases::parse_accept_language(asked)
        .find(is_spoken)
        .map(|language| Locale::new(language, ScriptForm::Native));
    let english = Locale::new(Language::English, ScriptForm::Latin);
    wanted.or_else(|| spoken.first().copied()).unwrap_or(english)
}

/// What a text in a language is answered in.
pub fn to_locale(code: &LanguageCode) -> Option<Locale> {
    let form = if code.is_latin() { ScriptForm::Latin } else { ScriptForm::Native };
    code.language().map(|language| Locale::new(language, form))
}

/// The languages we speak of those a browser asks for, in its order.
pub fn parse_accept_language(header: &str) -> impl Iterator<Item = Language> {
    header.split(',').filter_map(|part| {
        let tag = part.split(';').next().unwrap_or_default().trim();
        tag.split('-').next().unwrap_or_default().to_ascii_lowercase().parse().ok()
    })
}

/// The languages of the menu, each under its own name.
pub const MENU: [(&str, &str); 11] = [
    ("en", "English"),
    ("hi", "हिन्दी"),
    ("bn", "বাংলা"),
    ("gu", "ગુજરાતી"),
    ("kn", "ಕನ್ನಡ"),
    ("ml", "മലയാളം"),
    ("mr", "मराठी"),
    ("or", "ଓଡ଼ିଆ"),
    ("pa", "ਪੰਜਾਬੀ"),
    ("ta", "தமிழ்"),
    ("te", "తెలుగు"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_there_in_every_voice() {
        let book = default_phrasebook();
        book.check().unwrap();
        assert!(book.names().filter(|name| name.starts_with(OWN)).count() > 30);
        let english = render_all(find_locale("en").unwrap());
        assert_eq!(english["open"], "Chat with {name}");
        for voice in Locale::all() {
            assert_eq!(render_all(voice).len(), english.len(), "{}", voice.code());
        }
    }

    #[test]
    fn a_code_by_mail_says_that_there_is_nothing_to_do() {
        for voice in Locale::all() {
            let phone = render_code_message("123456", ContactAddressKind::Phone, voice);
            let mail = render_code_message("123456", ContactAddressKind::Email, voice);
            let more = mail.strip_prefix(&phone).unwrap();
            assert!(render_code_consent(voice).is_some_and(|words| words.len() > 20), "{}", voice.code());
            assert!(phone.contains("123456") && more.trim().len() > 20, "{}: {mail}", voice.code());
        }
    }

    #[test]
    fn the_menu_has_every_language() {
        let codes: Vec<&str> = MENU.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, Language::ALL.map(Language::code));
    }
}

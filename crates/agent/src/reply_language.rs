//! In which language, and in which letters, a person is answered.

use munshi_lang::detect::{self, LanguageDetection};
use munshi_lang::{Locale, ScriptForm};
use munshi_types::tier::{HumanLanguages, LanguageCode};
use munshi_types::{Language, Script};

/// The person's language, and the voice our own words have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplyLanguage {
    /// The person's.
    pub(crate) person: LanguageCode,
    /// What replies are in: the person's as far as the persona's lock lets it.
    pub(crate) reply: LanguageCode,
    /// Of what we say ourselves: money, safety and excuses come in the person's own language, whatever the lock.
    pub(crate) voice: Locale,
}

impl ReplyLanguage {
    /// By the message, then what was written before it (the oldest first), then the person's profile.
    pub(crate) fn detect(
        message: &str,
        before: &[LanguageCode],
        profile: Option<Language>,
        speech: &HumanLanguages,
    ) -> Self {
        let found = detect::detect(message);
        let languages: Vec<Language> = before.iter().filter_map(LanguageCode::language).collect();
        let language = detect::choose_language(found.as_ref(), &languages, profile);
        let form = form(language, found.as_ref(), before);
        let voice = Locale::new(language, form);
        let person = code(voice);
        let reply = munshi_tiers::prompt::reply_language(speech, Some(&person)).unwrap_or(&person).clone();
        Self { person, reply, voice }
    }

    /// The letters that replies are read in.
    pub(crate) fn script(&self) -> Script {
        match self.reply.language() {
            Some(language) if !self.reply.is_latin() => language.script(),
            _ => Script::Latin,
        }
    }
}

/// The letters of the message where it tells its language; else those the person used last for it.
fn form(language: Language, found: Option<&LanguageDetection>, before: &[LanguageCode]) -> ScriptForm {
    if let Some(found) = found.filter(|found| found.language == language) {
        return found.form();
    }
    let same = before.iter().rev().find(|code| code.language() == Some(language));
    if same.is_some_and(LanguageCode::is_latin) { ScriptForm::Latin } else { ScriptForm::Native }
}

/// `hi`, `hi-latn`.
fn code(voice: Locale) -> LanguageCode {
    let plain = || voice.language.code().parse();
    voice.code().parse().or_else(|_| plain()).unwrap_or_else(|_| english())
}

fn english() -> LanguageCode {
    HumanLanguages::default().languages.swap_remove(0)
}

/// In which voice somebody is spoken to who has written nothing just now.
pub(crate) fn resolve_locale(code: Option<&LanguageCode>, profile: Option<Language>) -> Locale {
    let language = code.and_then(LanguageCode::language).or(profile).unwrap_or(Language::English);
    let form = if code.is_some_and(LanguageCode::is_latin) { ScriptForm::Latin } else { ScriptForm::Native };
    Locale::new(language, form)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str, before: &[&str]) -> String {
        let before: Vec<LanguageCode> = before.iter().map(|code| code.parse().unwrap()).collect();
        ReplyLanguage::detect(message, &before, None, &HumanLanguages::default()).person.to_string()
    }

    #[test]
    fn the_message_decides_and_what_tells_nothing_follows_what_came_before() {
        assert_eq!(said("राजू को पाँच सौ दिए", &[]), "hi");
        assert_eq!(said("raju ko paanch sau diye hain", &["en"]), "hi-latn");
        assert_eq!(said("500", &["en", "hi-latn"]), "hi-latn");
        assert_eq!(said("500", &["hi"]), "hi");
        assert_eq!(said("500", &[]), "en");
        assert_eq!(said("please tell me what he owes", &["hi"]), "en");
    }

    #[test]
    fn a_lock_binds_replies_and_not_what_concerns_money() {
        let speech = HumanLanguages { languages: vec!["en".parse().unwrap()], ..HumanLanguages::default() };
        let reply_language = ReplyLanguage::detect("राजू को पाँच सौ दिए", &[], None, &speech);
        assert_eq!((reply_language.reply.as_str(), reply_language.voice.language), ("en", Language::Hindi));
    }
}

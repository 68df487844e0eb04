//! What the account's pages say, in the voice of whoever reads them.
//!
//! The language is the one that was chosen in this browser, else the first that the browser asks for and we speak.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use munshi_identity::Role;
use munshi_lang::{Locale, PlaceholderValue, ScriptForm, format};
use munshi_types::{Language, Tenant, Timestamp};

use crate::cookies::{self, LANGUAGE};
use crate::phrases;

/// Before the names of what these pages say.
const OWN: &str = "account-";
/// Before the names of what all pages say.
const SHARED: &str = "web-";

#[derive(Clone, Copy, Debug)]
pub struct PagePhrases {
    voice: Locale,
}

impl PagePhrases {
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let chosen = cookies::read(headers, LANGUAGE, false).and_then(|code| code.parse().ok());
        let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let language =
            chosen.or_else(|| phrases::parse_accept_language(asked).next()).unwrap_or(Language::English);
        Self { voice: Locale::new(language, ScriptForm::Native) }
    }

    pub fn locale(self) -> Locale {
        self.voice
    }

    /// As pages name their language.
    pub fn lang(self) -> String {
        self.voice.code()
    }

    pub fn is_english(self) -> bool {
        self.voice.language == Language::English
    }

    pub fn render(self, name: &str) -> String {
        self.render_filled(name, &[])
    }

    pub fn render_with(self, name: &str, slot: &str, text: &str) -> String {
        self.render_filled(name, &[(slot, PlaceholderValue::Text(text))])
    }

    pub fn render_count(self, name: &str, count: &usize) -> String {
        self.render_filled(
            name,
            &[("count", PlaceholderValue::Count(u64::try_from(*count).unwrap_or(u64::MAX)))],
        )
    }

    /// A test holds every phrase to be there in every voice.
    pub fn render_filled(self, name: &str, fills: &[(&str, PlaceholderValue<'_>)]) -> String {
        phrases::default_phrasebook().render(&format!("{OWN}{name}"), self.voice, fills).unwrap_or_default()
    }

    /// What all pages say.
    pub fn render_shared(self, name: &str) -> String {
        phrases::default_phrasebook().render(&format!("{SHARED}{name}"), self.voice, &[]).unwrap_or_default()
    }

    pub fn render_chat_link(self, name: &str) -> String {
        phrases::default_phrasebook()
            .render("web-open", self.voice, &[("name", PlaceholderValue::Text(name))])
            .unwrap_or_default()
    }

    pub fn role_name(self, role: &Role) -> String {
        self.render(&format!("role-{role}"))
    }

    /// A moment as people read it, by the clock of a tenant or by that of the world.
    pub fn format_time(self, at: Timestamp, place: Option<&Tenant>) -> String {
        let zone = place.map_or(jiff::tz::TimeZone::UTC, |tenant| tenant.zone.to_jiff());
        let there = at.to_jiff().to_zoned(zone);
        let (day, time) = (format::date(there.date(), self.voice), format::time(there.time(), self.voice));
        format!("{day}, {time} {}", there.strftime("%Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use axum::http::header::COOKIE;

    fn words(cookie: Option<&'static str>, asked: &'static str) -> PagePhrases {
        let mut headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(asked))]);
        headers.extend(cookie.map(|cookie| (COOKIE, HeaderValue::from_static(cookie))));
        PagePhrases::from_headers(&headers)
    }

    #[test]
    fn what_was_chosen_holds_and_else_what_the_browser_asks_for() {
        assert_eq!(words(None, "").lang(), "en");
        assert_eq!(words(None, "fr, ta-IN;q=0.9, hi;q=0.8").lang(), "ta");
        assert_eq!(words(Some("munshi_language=hi"), "ta").lang(), "hi");
        assert_eq!(words(Some("munshi_language=xx"), "ta").lang(), "ta");
        assert_eq!(words(None, "hi").render_shared("sign-in"), "साइन इन करें");
        assert_ne!(words(None, "hi").render("password"), words(None, "en").render("password"));
    }
}

//! What the account's pages say, in the voice of whoever reads them.
//!
//! The language is the one that was chosen in this browser, else the first that the browser asks for and we speak.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use munshi_identity::Role;
use munshi_lang::{Locale, PlaceholderValue, ScriptForm, format};
use munshi_types::{Language, Tenant, Timestamp};

use super::cookies::{self, LANGUAGE};
use crate::visitor::phrases;

/// Before the names of what these pages say.
const OWN: &str = "account-";
/// Before the names of what all pages say.
const SHARED: &str = "web-";

#[derive(Clone, Copy, Debug)]
pub(crate) struct PagePhrases {
    voice: Locale,
}

impl PagePhrases {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let chosen = cookies::read(headers, LANGUAGE, false).and_then(|code| code.parse().ok());
        let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let language =
            chosen.or_else(|| phrases::parse_accept_language(asked).next()).unwrap_or(Language::English);
        Self { voice: Locale::new(language, ScriptForm::Native) }
    }

    pub(crate) fn locale(self) -> Locale {
        self.voice
    }

    /// As pages name their language.
    pub(crate) fn lang(self) -> String {
        self.voice.code()
    }

    pub(crate) fn is_english(self) -> bool {
        self.voice.language == Language::English
    }

    pub(crate) fn render(self, name: &str) -> String {
        self.render_filled(name, &[])
    }

    pub(crate) fn render_with(self, name: &str, slot: &str, text: &str) -> String {
        self.render_filled(name, &[(slot, PlaceholderValue::Text(text))])
    }

    pub(crate) fn render_count(self, name: &str, count: &usize) -> String {
        self.render_filled(
            name,
            &[("count", PlaceholderValue::Count(u64::try_from(*count).unwrap_or(u64::MAX)))],
        )
    }

    /// A test holds every phrase to be there in every voice.
    pub(crate) fn render_filled(self, name: &str, fills: &[(&str, PlaceholderValue<'_>)]) -> String {
        phrases::default_phrasebook().render(&format!("{OWN}{name}"), self.voice, fills).unwrap_or_default()
    }

    /// What all pages say.
    pub(crate) fn render_shared(self, name: &str) -> String {
        phrases::default_phrasebook().render(&format!("{SHARED}{name}"), self.voice, &[]).unwrap_or_default()
    }

    pub(crate) fn render_chat_link(self, name: &str) -> String {
        phrases::default_phrasebook()
            .render("web-open", self.voice, &[("name", PlaceholderValue::Text(name))])
            .unwrap_or_default()
    }

    pub(crate) fn role_name(self, role: &Role) -> String {
        self.render(&format!("role-{role}"))
    }

    /// A moment as people read it, by the clock of a tenant or by that of the world.
    pub(crate) fn format_time(self, at: Timestamp, place: Option<&Tenant>) -> String {
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

    /// Every phrase that a page or route names is there.
    #[test]
    fn pages_ask_for_phrases_that_are_there() {
        let book = phrases::default_phrasebook();
        let pages = [
            include_str!("../../templates/account/connector_ask.html"),
            include_str!("../../templates/account/connector_going.html"),
            include_str!("../../templates/account/connector_in.html"),
            include_str!("../../templates/account/connector_prove.html"),
            include_str!("../../templates/account/fault.html"),
            include_str!("../../templates/account/frame.html"),
            include_str!("../../templates/account/keys.html"),
            include_str!("../../templates/account/link.html"),
            include_str!("../../templates/account/operators.html"),
            include_str!("../../templates/account/password.html"),
            include_str!("../../templates/account/plain.html"),
            include_str!("../../templates/account/show.html"),
            include_str!("../../templates/account/sign_in.html"),
            include_str!("../../templates/account/sign_ins.html"),
            include_str!("../../templates/home.html"),
            include_str!("../../templates/nobody.html"),
        ];
        let mut asked = 0;
        for page in pages {
            for (call, prefix) in [
                ("render(\"", OWN),
                ("render_with(\"", OWN),
                ("render_count(\"", OWN),
                ("render_shared(\"", SHARED),
            ] {
                for part in page.split(call).skip(1) {
                    let name = format!("{prefix}{}", part.split('"').next().unwrap());
                    assert!(book.names().any(|known| known == name), "{name}");
                    asked += 1;
                }
            }
        }
        assert!(asked > 70, "{asked}");
    }
}

//! Pages for people, rendered on the server from `templates/`.
//!
//! To add a page: a template that extends `layout.html`, a struct that derives `askama::Template`, and `Page(…)` around
//! it as the answer. Nothing inline: styles and scripts are assets, and what a script needs to know stands in `data-`
//! attributes, where the template escapes it. Then a line in the test below, which fills every field with hostile text.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};

use crate::account::phrases::PagePhrases;
use crate::error::ApiError;

/// Only what we sent ourselves runs or is loaded. Pictures may stand in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A page as an answer.
pub(crate) struct HtmlPage<T>(pub(crate) T);

impl<T: Template> IntoResponse for HtmlPage<T> {
    fn into_response(self) -> Response {
        match self.0.render() {
            Ok(text) => {
                let headers = [
                    (CONTENT_TYPE, "text/html; charset=utf-8"),
                    (CONTENT_SECURITY_POLICY, POLICY),
                    // What is shown depends on who asks, and a page that is gone back to is asked for again.
                    (CACHE_CONTROL, "private, no-cache"),
                ];
                (headers, Html(text)).into_response()
            }
            Err(error) => ApiError::internal(error).into_response(),
        }
    }
}

/// The letter in a circle that stands for somebody.
pub(crate) struct LetterAvatar {
    pub(crate) letter: String,
    /// One of six colours, the same for a name every time; scripts count alike.
    pub(crate) tone: u32,
}

/// As many colours as the style sheet has.
pub(crate) const TONES: u32 = 6;

impl LetterAvatar {
    pub(crate) fn of(name: &str) -> Self {
        let letter =
            name.trim().chars().next().map_or_else(|| "·".to_owned(), |c| c.to_uppercase().to_string());
        let tone = name.chars().fold(0u32, |sum, c| (sum * 31 + u32::from(c)) % 9973) % TONES;
        Self { letter, tone }
    }
}

/// A page that says why there is none.
#[derive(Template)]
#[template(path = "nobody.html")]
pub(crate) struct UnavailablePage {
    words: PagePhrases,
    message: String,
    hint: String,
}

impl UnavailablePage {
    /// In words for the person who followed an address.
    pub(crate) fn respond(error: &ApiError, words: PagePhrases) -> Response {
        let status = error.code().status();
        let (message, hint) = match (words.is_english(), status.is_server_error()) {
            (true, _) => (error.message.to_string(), error.hint.to_string()),
            (false, true) => (words.render("resting"), String::new()),
            (false, false) => (words.render("nobody-here"), words.render("nobody-here-hint")),
        };
        (status, HtmlPage(Self { words, message, hint })).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::home::show::HomePage;
    use crate::routes::pack_pages::show::{ClosedPage, PackPage};
    use crate::routes::visits::show::ChatPage;

    const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}";

    #[test]
    fn no_field_of_a_page_becomes_markup() {
        let words = PagePhrases::from_headers(&axum::http::HeaderMap::new());
        let nobody = UnavailablePage { words, message: HOSTILE.to_owned(), hint: HOSTILE.to_owned() };
        let pages = [
            nobody.render().unwrap(),
            ChatPage::sample(HOSTILE).render().unwrap(),
            HomePage::sample(HOSTILE).render().unwrap(),
            PackPage::sample(HOSTILE).render().unwrap(),
            ClosedPage::sample(HOSTILE).render().unwrap(),
        ];
        for page in pages {
            assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "{page}");
            assert!(page.contains("&#60;script&#62;alert"), "it is shown as the text it is: {page}");
            assert!(!page.contains("style=") && !page.contains("onclick="), "nothing inline");
            assert!(
                !page.contains("href=\"\"") && !page.contains("src=\"\""),
                "every asset is there: {page}"
            );
            let inline =
                page.split("<script").skip(1).filter(|part| !part.trim_start().starts_with("src=\"/assets/"));
            assert_eq!(inline.count(), 0, "scripts are assets");
        }
    }

    #[test]
    fn a_name_has_its_letter_and_colour() {
        let face = LetterAvatar::of("Kabir");
        assert_eq!((face.letter.as_str(), face.tone), ("K", LetterAvatar::of("Kabir").tone));
        assert_eq!(LetterAvatar::of(" வள்ளி").letter, "வ");
        assert_eq!(LetterAvatar::of("").letter, "·");
        assert!((0..200).all(|seed| LetterAvatar::of(&format!("name {seed}")).tone < TONES));
    }
}

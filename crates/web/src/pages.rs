//! Pages for people, rendered on the server from `templates/`.
//!
//! To add a page: a template that extends `layout.html`, a struct that derives `askama::Template`, and `HtmlPage(…)` around
//! it as the answer. Nothing inline: styles and scripts are assets, and what a script needs to know stands in `data-`
//! attributes, where the template escapes it. Then a line in the test below, which fills every field with hostile text.

use askama::Template;
use axum::response::{IntoResponse, Response};
use munshi_server::ApiError;
use munshi_server::html_page::{HtmlPage, PageNotice, render_uncached};
use munshi_server::page_error::build_notice;
use munshi_server::page_phrases::PagePhrases;

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

/// A no, as a page.
#[derive(Template)]
#[template(path = "account/fault.html")]
struct FaultPage<'a> {
    words: PagePhrases,
    told: PageNotice,
    hint: &'a str,
    /// Ours: then what they did is not to blame.
    ours: bool,
}

/// Puts the page of an error into its answer, keeping the status and headers such as `retry-after`.
pub(crate) fn render_fault(error: &ApiError, words: PagePhrases, mut response: Response) -> Response {
    let status = response.status();
    let (told, hint) = (build_notice(error, words), if words.is_english() { &*error.hint } else { "" });
    let page = render_uncached(&FaultPage { words, told, hint, ours: status.is_server_error() }, status);
    let (parts, body) = page.into_parts();
    response.headers_mut().extend(parts.headers);
    *response.body_mut() = body;
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_server::phrases::{default_phrasebook, find_locale, render_all};

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

    /// Every phrase that a page or route names is there.
    #[test]
    fn pages_ask_for_phrases_that_are_there() {
        let book = default_phrasebook();
        let pages = [
            include_str!("../templates/account/approval.html"),
            include_str!("../templates/account/connector_ask.html"),
            include_str!("../templates/account/connector_going.html"),
            include_str!("../templates/account/connector_in.html"),
            include_str!("../templates/account/connector_prove.html"),
            include_str!("../templates/account/desk.html"),
            include_str!("../templates/account/desk_session.html"),
            include_str!("../templates/account/fault.html"),
            include_str!("../templates/account/frame.html"),
            include_str!("../templates/account/keys.html"),
            include_str!("../templates/account/link.html"),
            include_str!("../templates/account/operators.html"),
            include_str!("../templates/account/password.html"),
            include_str!("../templates/account/plain.html"),
            include_str!("../templates/account/show.html"),
            include_str!("../templates/account/sign_in.html"),
            include_str!("../templates/account/sign_ins.html"),
            include_str!("../templates/account/unsubscribe.html"),
            include_str!("../templates/home.html"),
            include_str!("../templates/nobody.html"),
        ];
        let mut asked = 0;
        for page in pages {
            for (call, prefix) in [
                ("render(\"", "account-"),
                ("render_with(\"", "account-"),
                ("render_count(\"", "account-"),
                ("render_shared(\"", "web-"),
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

    /// Every word that a script asks for by name is one of ours.
    #[test]
    fn scripts_ask_for_words_that_are_there() {
        let english = render_all(find_locale("en").unwrap());
        let scripts = [
            include_str!("../assets/js/view.js"),
            include_str!("../assets/js/chat.js"),
            include_str!("../assets/js/tray.js"),
            include_str!("../assets/js/widget.js"),
            include_str!("../assets/js/link.js"),
        ];
        let mut asked = 0;
        for script in scripts {
            for part in script.split("words.").skip(1).chain(script.split("words[\"").skip(1)) {
                let name: String =
                    part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
                if name.is_empty() || part[name.len()..].starts_with('(') {
                    continue;
                }
                asked += 1;
                assert!(english.contains_key(&name), "{name}");
            }
        }
        assert!(asked > 25, "{asked}");
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

//! `GET /account/sign-ins`: the browsers somebody is signed in with.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::operators::OPERATORS;
use munshi_identity::sign_ins::{self, SignIn, SignInMethod};
use munshi_lang::PlaceholderValue;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;

#[derive(Template)]
#[template(path = "account/sign_ins.html")]
struct SignInsPage {
    frame: AccountFrame,
    items: Vec<Item>,
}

struct Item {
    id: String,
    browser: String,
    address: String,
    /// How and since when they are signed in, and when they were seen last.
    line: String,
    /// The one this page is shown in.
    own: bool,
}

impl Item {
    fn new(one: SignIn, own: bool, frame: &AccountFrame) -> Self {
        let words = frame.words;
        let how = words.render(match one.how {
            SignInMethod::Password => "by-password",
            SignInMethod::Link => "by-link",
            SignInMethod::Oidc => "by-service",
        });
        let (since, seen) = (frame.format_time(one.made_at), frame.format_time(one.seen_at));
        let fills = [
            ("how", PlaceholderValue::Text(&how)),
            ("since", PlaceholderValue::Text(&since)),
            ("seen", PlaceholderValue::Text(&seen)),
        ];
        Self {
            id: one.id.to_string(),
            browser: if one.browser.is_empty() {
                words.render("no-browser")
            } else {
                describe_browser(&one.browser)
            },
            address: one.address,
            line: words.render_filled("browser-line", &fills),
            own,
        }
    }
}

/// Each before those that call themselves by its name too.
const BROWSERS: [(&str, &str); 7] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
];
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// What people call the browser that sends such a line, and what it runs on; the line itself where it is no known one's.
fn describe_browser(line: &str) -> String {
    let named = |list: &[(&str, &'static str)]| {
        list.iter().find(|(mark, _)| line.contains(mark)).map(|(_, name)| *name)
    };
    let safari = || (line.contains("Version/") && line.contains("Safari/")).then_some("Safari");
    match (named(&BROWSERS).or_else(safari), named(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser}, {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ => line.to_owned(),
    }
}

pub(crate) async fn list_sign_ins(who: SignedInOperator) -> Result<Response, HtmlPageError> {
    let (id, now) = (who.operator.id, who.access.clock.now());
    let found = who.access.db.platform(OPERATORS).read(move |tx| sign_ins::list(tx, id, now)).await?;
    let frame = AccountFrame::load(&who, "sign-ins", None).await?;
    let items = found.into_iter().map(|one| {
        let own = one.id == who.sign_in.id;
        Item::new(one, own, &frame)
    });
    let page = SignInsPage { items: items.collect(), frame };
    Ok(render_uncached(&page, StatusCode::OK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_called_as_people_call_it() {
        for (line, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
                "Chrome, Linux",
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; SM-A155F) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
                "Samsung Internet, Android",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
                "Edge, Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari, iPhone",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0",
                "Firefox, Mac",
            ),
            ("curl/8.8.0", "curl/8.8.0"),
            ("<script>", "<script>"),
        ] {
            assert_eq!(describe_browser(line), name);
        }
    }
}

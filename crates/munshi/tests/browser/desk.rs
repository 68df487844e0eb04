//! A visitor on a phone and a colleague at the desk, in one conversation at once.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::browser::driver::Browser;
use crate::browser::operator::{path, post};
use crate::browser::shop::{BUBBLES, STILL, Shop, say};
use crate::browser::support::{Installation, Running};

const REPLY: &str = "We open at nine.";
const SECRET: &str = "She is a regular.";
/// What stands in all bubbles, in their order.
const SAID: &str = "[...document.querySelectorAll('.said .text')].map((one) => one.textContent)";
/// What the desk shows as said, in its order; whispers are not.
const SHOWN: &str = "[...document.querySelectorAll('#thread li:not(.whisper)')].map((one) => one.querySelectorAll('p')[1].textContent)";
const COUNT: &str = "document.querySelectorAll('#thread li:not(.whisper)').length";
/// Notes when the page was loaded, to see that it is not loaded again.
const MARKS: &str = "window.isSame = true";

/// Notes with which event each stream is asked for.
const NOTES_STREAMS: &str = "if (location.protocol.startsWith('http')) { const real = window.fetch; window.fetch = (...all) => { \
     if (String(all[0]).endsWith('/stream')) (window.begunAt ||= []).push(all[1].headers['last-event-id']); \
     return real(...all); }; }";
/// The next words are taken by the server, and its answer is lost.
const LOSES_ANSWER: &str = "const real = window.fetch; window.fetch = async (...all) => { const answer = await real(...all); \
     if (!String(all[0]).endsWith('/write')) return answer; window.fetch = real; throw new TypeError('lost'); };";

/// Somebody of the tenant, signed in, at the list of conversations.
fn colleague(installation: &Installation, server: &Running, role: &str, tenant: &str) -> Browser {
    let first = path(server.ready["first_link"].as_str().unwrap());
    let form = "email=farid%40house.example&name=Farid&password=correct+horse+battery";
    assert_eq!(post(server, &first, form).0, 303);
    let invite = ["operator", "invite", "asha@shop.example", "--role", role, "--tenant", tenant];
    let link = path(installation.json(&invite)["link"].as_str().unwrap());
    let browser = Browser::open(&format!("http://{}{link}", server.address));
    let fill = "const { name, password } = document.querySelector('main form').elements; \
                name.value = 'Asha'; password.value = 'correct horse battery';";
    browser.run(fill, &json!([]));
    browser.click("main form [type=submit]");
    browser.until("location.pathname === '/account'");
    browser.go(&format!("http://{}/account/desk", server.address));
    browser.until("document.querySelector('#lists')");
    browser
}

/// Opens the one conversation there is.
fn open_conversation(desk: &Browser) {
    desk.until("document.querySelector('#lists .list a')");
    desk.click("#lists .list a");
    desk.until("document.querySelector('#thread')");
}

/// The visitor's page on a phone.
fn phone(url: &str) -> Browser {
    let browser = Browser::open("about:blank");
    let screen = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.tool("Emulation.setDeviceMetricsOverride", &screen);
    browser.go(url);
    browser.until("document.querySelector('.chat.ready')");
    browser
}

/// A colleague writes and sends; when, by the clock that all browsers of a machine share.
fn write(desk: &Browser, text: &str) -> f64 {
    desk.until("!document.querySelector('#write').form.querySelector('[type=submit]').disabled");
    let script = "const box = document.getElementById('write'); box.value = arguments[0]; box.form.requestSubmit(); return Date.now();";
    desk.run(script, &json!([text])).as_f64().unwrap()
}

/// Notes when something is first so on a page.
fn note(browser: &Browser, expression: &str) {
    let script = format!(
        "window.cameAt = null; const look = () => {{ if (!window.cameAt && ({expression})) window.cameAt = Date.now(); }}; \
         new MutationObserver(look).observe(document.body, {{ childList: true, subtree: true, attributes: true }}); look();"
    );
    browser.run(&script, &json!([]));
}

/// When it was.
fn came_at(browser: &Browser) -> f64 {
    browser.until("window.cameAt");
    browser.value("window.cameAt").as_f64().unwrap()
}

/// A colleague sends a form; when.
fn send_form(desk: &Browser, action: &str) -> f64 {
    let script = "const at = Date.now(); document.querySelector(`form[action$='${arguments[0]}']`).requestSubmit(); return at;";
    desk.run(script, &json!([action])).as_f64().unwrap()
}

#[track_caller]
fn assert_soon(what: &str, since: f64, until: f64) {
    assert!(until - since < 1000.0, "{what} came {} ms late", until - since);
}

/// A colleague writes, and it is on the phone within a second, by name.
fn write_within_a_second(desk: &Browser, phone: &Browser) {
    desk.run(MARKS, &json!([]));
    for (turn, text) in ["This is Asha.", "I look after it.", "One moment."].into_iter().enumerate() {
        note(phone, &format!("document.querySelectorAll('.said:not(.waiting)').length >= {}", 3 + turn));
        let sent = write(desk, text);
        assert_soon(text, sent, came_at(phone));
        phone.until(&format!("{BUBBLES} === {}", 3 + turn));
        desk.until(&format!("{COUNT} === {} && document.querySelector('#write').value === ''", 3 + turn));
    }
    assert!(
        phone.text("document.querySelector('.thread').innerText").contains("Asha"),
        "a person speaks, by name"
    );
    assert_eq!(desk.value("window.isSame"), json!(true), "nothing was loaded anew");
}

/// Each sees that the other types.
fn type_both(desk: &Browser, phone: &Browser) {
    phone.run("document.querySelector('textarea').focus()", &json!([]));
    phone.press("I have a");
    desk.until("!document.querySelector('#typing').hidden");
    desk.run("document.querySelector('#write').focus()", &json!([]));
    desk.press("And");
    phone.until("!document.querySelector('.typing').hidden && document.querySelector('.typing').textContent.includes('Asha')");
    desk.run("document.querySelector('#write').value = ''", &json!([]));
}

/// What the agent is told, the colleague sees alone.
fn whisper(desk: &Browser) {
    desk.run("document.querySelector('#whisper').value = arguments[0]", &json!([SECRET]));
    note(desk, "document.querySelector('#thread .whisper')");
    let whispered = send_form(desk, "/whisper");
    assert_soon("the whisper", whispered, came_at(desk));
    assert_eq!(desk.value("window.isSame"), json!(true), "no page is loaded for it");
    assert!(desk.text("document.querySelector('#thread .whisper').innerText").contains(SECRET));
}

/// Whoever is not told that their words came sends them again, and they are said once.
fn write_twice(desk: &Browser, phone: &Browser) {
    desk.run(LOSES_ANSWER, &json!([]));
    write(desk, "Back at six.");
    desk.until("!document.querySelector('#failed').hidden");
    write(desk, "Back at six.");
    desk.until(&format!("{COUNT} === 6 && document.querySelector('#write').value === ''"));
    phone.until(&format!("{BUBBLES} === 6"));
}

#[test]
fn a_colleague_joins_a_conversation_and_gives_it_back() {
    let mut shop = Shop::open("Meera", REPLY, Duration::from_millis(1));
    let desk = colleague(&shop.installation, &shop.server, "staff", "shop");
    let phone = phone(&shop.url("/c/shop"));
    desk.run(MARKS, &json!([]));
    say(&phone, "hello");
    phone.until(&format!("{BUBBLES} === 2 && {STILL}"));
    // The list shows it by itself.
    desk.until("document.querySelector('#lists .list a')");
    assert_eq!(desk.value("window.isSame"), json!(true));
    desk.before_each_page(NOTES_STREAMS);
    open_conversation(&desk);
    desk.until(&format!("{COUNT} === 2 && window.begunAt"));
    assert_eq!(
        desk.value("window.begunAt[0]"),
        json!("2"),
        "behind what the page shows, from the first time on"
    );
    note(&phone, "!document.querySelector('.held').hidden");
    let taken = send_form(&desk, "/take");
    assert_soon("the takeover", taken, came_at(&phone));
    desk.until("document.querySelector('#write')");
    phone.until("document.querySelector('.held').textContent.includes('Asha')");

    write_within_a_second(&desk, &phone);
    type_both(&desk, &phone);

    whisper(&desk);
    write_twice(&desk, &phone);

    // The server goes and comes back: nothing is missing and nothing is there twice.
    for (turn, signal) in [Signal::TERM, Signal::KILL].into_iter().enumerate() {
        shop.restart(signal);
        let before = 6 + 2 * turn;
        phone.run("document.querySelector('textarea').value = ''", &json!([]));
        say(&phone, &format!("question {turn}"));
        phone.until(&format!("{BUBBLES} === {} && {STILL}", before + 1));
        desk.until(&format!("{COUNT} === {}", before + 1));
        write(&desk, &format!("answer {turn}"));
        for (browser, count) in [(&phone, BUBBLES), (&desk, COUNT)] {
            browser.until(&format!("{count} === {}", before + 2));
        }
    }
    assert_eq!(shop.model.asked(), 1, "nobody asks the agent while a person talks");

    note(&phone, "document.querySelector('.held').hidden");
    let given = send_form(&desk, "/give-back");
    assert_soon("giving it back", given, came_at(&phone));
    desk.until("document.querySelector(\"form[action$='/take']\")");
    say(&phone, "And tomorrow?");
    phone.until(&format!("{BUBBLES} === 12 && {STILL}"));
    desk.until(&format!("{COUNT} === 12"));
    assert_eq!(shop.model.asked(), 2);
    let said = json!([
        "hello",
        REPLY,
        "This is Asha.",
        "I look after it.",
        "One moment.",
        "Back at six.",
        "question 0",
        "answer 0",
        "question 1",
        "answer 1",
        "And tomorrow?",
        REPLY,
    ]);
    assert_eq!(phone.value(SAID), said);
    assert_eq!(desk.value(SHOWN), said);
    for browser in [&phone, &desk] {
        browser.reload();
    }
    phone.until(&format!("{BUBBLES} === 12"));
    desk.until(&format!("{COUNT} === 12"));
    assert_eq!((phone.value(SAID), desk.value(SHOWN)), (said.clone(), said));
    assert!(!phone.text("document.documentElement.innerHTML").contains(SECRET));
}

#[test]
fn a_question_stands_on_both_pages_and_is_answered_on_either() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let owner = Browser::open(server.ready["start_link"].as_str().unwrap());
    owner.click("[data-open=kirana]");
    owner.until("location.pathname === '/c/kirana-counter' && document.querySelector('.chat.ready')");
    say(&owner, "gave Ramesh 500 on credit");
    owner.until(&format!("{BUBBLES} === 2 && {STILL}"));
    let desk = colleague(&installation, &server, "owner", "kirana");
    open_conversation(&desk);
    desk.until(&format!("{COUNT} === 2"));
    // What a tool did stands with the answer, folded.
    assert!(desk.text("document.querySelector('#thread details pre').textContent").contains("Ramesh"));
    desk.run(MARKS, &json!([]));
    note(&owner, "document.querySelector('.ask .answers')");
    note(&desk, "document.querySelector('#questions .note')");
    say(&owner, "gave Ramesh 12000 on credit");
    let (first, second) = (came_at(&owner), came_at(&desk));
    assert_soon("the question", first.min(second), first.max(second));
    desk.until("document.querySelectorAll('#questions .note').length === 1");
    assert!(desk.text("document.querySelector('#questions').innerText").contains("12,000"));
    assert_eq!(desk.value("window.isSame"), json!(true), "it comes by itself");
    owner.until(&format!("{BUBBLES} >= 3"));
    desk.click("#questions form[action$='/grant'] button");
    desk.until("!document.querySelector('#questions .note') && document.querySelector('#thread').innerText.includes('12,000')");
    owner.until(&format!("{STILL} && document.querySelector('.thread').innerText.includes('Written')"));
    assert_eq!(desk.complaints(), "");
}

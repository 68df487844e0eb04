//! A visitor's page and a colleague's, in two real browsers at once.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use munshi_identity::Role;
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::wait_until;
use munshi_types::{Clock, SystemClock};
use serde_json::json;

use crate::api::browsers::{STILL, Served, beside, opened, say};
use crate::api::driver::Browser;
use crate::api::support::{Installation, files};
use crate::api::visits::list_said;

const AGENT: &str = "name = \"Plain\"\ntools = [\"fetch\"]\n\
                     [policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
const BROUGHT: &str = "Your bill is here.";

/// Notes when the late words stand on a page.
fn note(browser: &Browser, thread: &str) {
    let script = "window.cameAt = null; const [thread, words] = arguments; \
         const look = () => { if (!window.cameAt && document.querySelector(thread).textContent.includes(words)) window.cameAt = Date.now(); }; \
         new MutationObserver(look).observe(document.body, { childList: true, subtree: true }); look();";
    browser.run(script, &json!([thread, BROUGHT]));
    assert_eq!(browser.value("window.cameAt"), json!(null));
}

/// The page of somebody who is signed in.
fn signed_in(address: &str, path: &str, cookies: &BTreeMap<String, String>) -> Browser {
    let browser = Browser::open("about:blank");
    for (name, value) in cookies {
        let kept = json!({ "name": name, "value": value, "url": address, "httpOnly": true });
        browser.tool("Network.setCookie", &kept);
    }
    browser.go(&format!("{address}{path}"));
    browser
}

on_both! {
    async fn a_late_result_is_on_both_pages_within_a_second(test: TestDb) {
        let first = Installation::open(&test, []).await;
        first.world.fetches.store(true, Ordering::SeqCst);
        first.world.held.store(true, Ordering::SeqCst);
        let script = [ScriptedTurn::call("fetch", &json!({ "text": "the bill" })), ScriptedTurn::text(BROUGHT)];
        let house = first.again(&test, script).await;
        drop(first);
        house.apply_tenant(&files("shop").with_agent(AGENT).with_policy(OPEN_POLICY)).await;
        let served = Served::of(&house).await;
        let front = served.url("/c/shop-front");
        let phone = beside(move || {
            let phone = opened(&front);
            say(&phone, "fetch my bill");
            phone.until(&format!("{STILL} && document.querySelectorAll('.said').length === 2"));
            note(&phone, ".thread");
            phone
        })
        .await;
        let session = house.db.read(house.shop.tenant, list_said).await.unwrap()[0].session;
        let kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let (address, cookies) = (served.url(""), kamal.cookies.clone());
        let desk = beside(move || {
            let desk = signed_in(&address, &format!("/account/desk/{session}"), &cookies);
            desk.until("document.querySelectorAll('#thread li').length === 2");
            note(&desk, "#thread");
            desk
        })
        .await;
        house.world.held.store(false, Ordering::SeqCst);
        wait_until(async || house.db.read(house.shop.tenant, list_said).await.unwrap().len() == 3).await;
        let stored = SystemClock.now().as_micros() / 1000;
        beside(move || {
            for page in [&phone, &desk] {
                page.until("window.cameAt");
                let late = page.value("window.cameAt").as_i64().unwrap() - stored;
                assert!(late < 1000, "it came {late} ms late");
            }
            assert_eq!(desk.complaints(), "");
        })
        .await;
    }
}

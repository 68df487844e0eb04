//! A login link in a real browser, from the link to the page that says that it is done.

use serde_json::json;

use crate::api::browsers::{Served, beside};
use crate::api::connector_logins::House;
use crate::api::connector_proofs::Ear;
use crate::api::driver::Browser;

const HEADING: &str = "document.querySelector('h1')?.textContent";

/// A phone's screen.
fn as_phone(browser: &Browser) {
    let metrics = json!({ "width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true });
    browser.tool("Emulation.setDeviceMetricsOverride", &metrics);
}

fn keep(browser: &Browser, url: &str, name: &str, value: &str) {
    browser.tool("Network.setCookie", &json!({ "url": url, "name": name, "value": value, "httpOnly": true }));
}

/// That nothing is cut off or hard to press, and nothing is complained about.
#[track_caller]
fn is_whole(browser: &Browser) {
    assert_eq!(
        browser.value("document.documentElement.scrollWidth <= innerWidth"),
        json!(true),
        "it fits the screen"
    );
    let small = "[...document.querySelectorAll('main .button')].filter((one) => one.getBoundingClientRect().height < 40).length";
    assert_eq!(browser.value(small), json!(0), "every button is as large as a thumb");
    assert_eq!(browser.value("document.querySelectorAll('h1').length"), json!(1));
    assert_eq!(browser.complaints(), "");
}

on_both! {
    async fn somebody_lets_us_in_with_a_phone(test: TestDb) {
        let house = House::open(&test, None).await;
        let served = Served::of(&house.installation).await;
        let (name, value) = house.owner(house.shop()).cookies.into_iter().find(|(name, _)| name == "munshi_sign_in").unwrap();
        for (language, ask, going, done) in [
            ("en", "Let Munshi use far?", "Go on and sign in", "Signed in at far"),
            ("hi", "क्या Munshi far इस्तेमाल करे?", "आगे बढ़कर साइन इन करें", "far में साइन इन हो गया"),
        ] {
            let link = served.url(&house.link(house.shop()).await);
            let (name, value, home) = (name.clone(), value.clone(), served.url("/"));
            beside(move || {
                let browser = Browser::open(&home);
                as_phone(&browser);
                keep(&browser, &home, &name, &value);
                browser.go(&link);
                if language != "en" {
                    // As somebody does who reads something else.
                    browser.run(&format!("document.querySelector('.language select').value = '{language}'"), &json!([]));
                    browser.click(".language button");
                }
                browser.until(&format!("{HEADING} === '{ask}' && document.documentElement.lang === '{language}'"));
                is_whole(&browser);
                assert_eq!(browser.text("document.querySelector('main .button').textContent"), going);
                browser.click("main .button");
                // On to the service, which consents at once, and back.
                browser.until(&format!("{HEADING} === '{done}'"));
                is_whole(&browser);
                assert_eq!(browser.text("location.pathname + location.search"), "/connectors/back", "nothing secret is left there");
                browser.reload();
                browser.until(&format!("{HEADING} === '{done}'"));
                browser.go(&link);
                browser.until("document.querySelector('h1')");
                let complaint = browser.complaints();
                assert!(complaint.contains("404") && complaint.lines().count() == 1, "the link is over: {complaint}");
            })
            .await;
        }
        assert_eq!(house.service.count_grants("authorization_code"), 2);
    }

    /// Without an account, in a browser that nobody knows: the code is sent in the chat, and the page goes on by itself.
    async fn somebody_without_an_account_lets_us_in(test: TestDb) {
        let house = House::open(&test, None).await;
        let (served, ear, owner) = (Served::of(&house.installation).await, Ear::of(&house, &test), house.installation.shop.owner);
        let link = served.url(&house.link_for(house.shop(), Some(owner)).await);
        let (browser, code) = beside(move || {
            let browser = Browser::open(&link);
            as_phone(&browser);
            browser.run("document.querySelector('.language select').value = 'hi'", &json!([]));
            browser.click(".language button");
            browser.until(&format!("{HEADING} === 'क्या यह लिंक आपका है?'"));
            is_whole(&browser);
            browser.click("main form .button");
            browser.until("document.querySelector('.code')");
            is_whole(&browser);
            // Whoever reads or tabs through it is not thrown back while it waits.
            browser.run("document.querySelector('main a').focus(); window.mark = 1", &json!([]));
            std::thread::sleep(std::time::Duration::from_secs(5));
            assert_eq!(browser.value("window.mark === 1 && document.activeElement.tagName === 'A'"), json!(true));
            let code = browser.text("document.querySelector('.code').textContent");
            (browser, code)
        })
        .await;
        assert_eq!(ear.hears(owner, &code).await.as_deref(), Some("far"));
        beside(move || {
            browser.until(&format!("{HEADING} === 'क्या Munshi far इस्तेमाल करे?'"));
            browser.click("main .button");
            browser.until(&format!("{HEADING} === 'far में साइन इन हो गया'"));
            assert_eq!(browser.complaints(), "");
        })
        .await;
        assert!(house.kept(house.shop()).await.is_some());
    }
}

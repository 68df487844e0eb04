//! A login link in a real browser, from the link to the page that says that it is done.

use munshi_test_support::TestDb;
use serde_json::json;

use crate::browsers::{Served, beside};
use crate::connector_logins::House;
use crate::driver::Browser;

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
    assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), json!(true), "it fits the screen");
    let small = "[...document.querySelectorAll('main .button')].filter((one) => one.getBoundingClientRect().height < 40).length";
    assert_eq!(browser.value(small), json!(0), "every button is as large as a thumb");
    assert_eq!(browser.value("document.querySelectorAll('h1').length"), json!(1));
    assert_eq!(browser.complaints(), "");
}

fn shot(browser: &Browser, name: &str) {
    let data = browser.tool("Page.captureScreenshot", &json!({}))["data"].as_str().unwrap().to_owned();
    std::fs::write(format!("/tmp/logins_shots/{name}.b64"), data).unwrap();
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
                let heading = "document.querySelector('h1')?.textContent";
                browser.until(&format!("{heading} === '{ask}' && document.documentElement.lang === '{language}'"));
                is_whole(&browser);
                shot(&browser, &format!("ask-{language}"));
                assert_eq!(browser.text("document.querySelector('main .button').textContent"), going);
                browser.click("main .button");
                // On to the service, which consents at once, and back.
                browser.until(&format!("{heading} === '{done}'"));
                shot(&browser, &format!("done-{language}"));
                is_whole(&browser);
                assert_eq!(browser.text("location.pathname + location.search"), "/connectors/back", "nothing secret is left there");
                browser.reload();
                browser.until(&format!("{heading} === '{done}'"));
                browser.go(&link);
                browser.until("document.querySelector('h1')");
                shot(&browser, &format!("over-{language}"));
                let complaint = browser.complaints();
                assert!(complaint.contains("404") && complaint.lines().count() == 1, "the link is over: {complaint}");
            })
            .await;
        }
        assert_eq!(house.service.grants("authorization_code"), 2);
    }
}

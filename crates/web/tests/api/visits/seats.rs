//! Who sits at the machine, and who only says so.

use munshi_web::SignInServices;
use serde_json::json;

use super::{Browser, at_machine, opened};
use crate::api::support::{Installation, Setup, account};

on_both! {
    async fn who_sits_here_is_believed_until_somebody_has_an_account(test: TestDb) {
        let house = opened(&test, []).await;
        let near = Browser::from("127.0.0.1:9").with("host", "localhost:8400").with("accept", "text/html");
        let here = near.clone().with("cookie", at_machine(&house, &near).await);
        let page = async |browser: &Browser| {
            let body = house.send(browser.request("GET", "/", None)).await.into_body();
            String::from_utf8_lossy(&http_body_util::BodyExt::collect(body).await.unwrap().to_bytes()).into_owned()
        };
        assert!(page(&here).await.contains("Meera"), "nobody has an account yet");
        // As a proxy on this machine passes everybody on that adds nothing to what they sent.
        assert!(!page(&near).await.contains("Meera"), "the address alone proves nothing");
        assert_eq!(near.call(&house, "POST", "/start/open", Some(json!({ "tenant": "kirana" }))).await.0, 403);
        for forged in ["munshi_local=", "munshi_local=99999999999999999.00", "munshi_local=x"] {
            assert!(!page(&near.clone().with("cookie", forged)).await.contains("Meera"), "{forged}");
        }
        for (name, value) in [("via", "1.1 proxy"), ("x-forwarded-server", "x"), ("forwarded", "for=1.2.3.4"), ("host", "evil.example")] {
            assert!(!page(&here.clone().with(name, value)).await.contains("Meera"), "{name}");
        }
        let far = Browser { address: Some("192.0.2.7:9"), ..here.clone() };
        assert!(!page(&far).await.contains("Meera"), "the cookie opens nothing from elsewhere");
        // Another's page speaks for nobody who sits here, nor does a name that was made to lead here.
        let fresh = here.clone();
        for page in [fresh.clone().with("origin", "https://evil.example"), fresh.clone().with("origin", "null"), fresh.with("host", "evil.example")] {
            for (path, body) in [("/start/open", json!({ "tenant": "kirana" })), ("/start/key", json!({ "provider": "openai", "model": "m", "key": "k" }))] {
                assert_eq!(page.call(&house, "POST", path, Some(body)).await.0, 403, "{path}");
            }
        }
        let (status, ..) = here.call(&house, "POST", "/start/open", Some(json!({ "tenant": "kirana" }))).await;
        assert_eq!(status, 404, "who does sit here may ask; nothing comes ready in a test");
        let keeper = house.keeper().await;
        let shown = page(&here).await;
        assert!(!shown.contains("Meera") && shown.contains("/account/sign-in"), "{shown}");
        let (status, ..) = here.call(&house, "POST", "/start/open", Some(json!({ "tenant": "kirana" }))).await;
        assert_eq!(status, 403);
        let signed_in = here.with("cookie", format!("munshi_sign_in={}", keeper.cookies["munshi_sign_in"]));
        assert!(page(&signed_in).await.contains("Meera"));
    }

    async fn where_an_installation_is_for_others_nobody_is_believed_for_sitting_here(test: TestDb) {
        let account = SignInServices { public_url: Some("http://munshi.example".to_owned()), ..account() };
        let house = Installation::open_with(&test, [], Setup { account, ..Setup::default() }).await;
        // As a proxy on this machine passes everybody on that adds nothing to what they sent.
        let passed_on = Browser::from("127.0.0.1:9").with("host", "localhost:8400").with("accept", "text/html");
        let passed_on = passed_on.clone().with("cookie", at_machine(&house, &passed_on).await);
        let body = house.send(passed_on.request("GET", "/", None)).await.into_body();
        let page = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
        let page = String::from_utf8_lossy(&page);
        assert!(!page.contains("Meera") && page.contains("/account/sign-in"), "{page}");
        let (status, ..) = passed_on.call(&house, "POST", "/start/open", Some(json!({ "tenant": "kirana" }))).await;
        assert_eq!(status, 403);
    }
}

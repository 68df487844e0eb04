//! Pages: what they show, and that nothing anybody writes becomes part of them.

use munshi_identity::Role;

use crate::api::support::{Installation, PASSWORD};

const ENGLISH: &str = include_str!("../../../../server/phrases/account/en.txt");
const EVIL: &str = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'";

#[track_caller]
fn harmless(text: &str) {
    for bad in ["<script>alert", "<img src=x", "javascript:alert"] {
        assert!(!text.contains(bad), "`{bad}` in {text}");
    }
    assert!(!text.contains("onclick=") && !text.contains("style=\"") && !text.contains("<style"), "{text}");
    for script in text.split("<script").skip(1) {
        assert!(script.starts_with(" src=\"/assets/"), "an inline script in {text}");
    }
}

on_both! {
    async fn nothing_that_is_written_becomes_part_of_a_page(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut evil = house.browser();
        let link = house.invitation("evil@shop.example", house.shop.tenant, Role::Owner).await;
        let path = format!("/account/link/{link}");
        harmless(&evil.post(&path, &[("name", EVIL), ("password", "x")]).await.says(422, "role=\"alert\""));
        evil.send("POST", &path, &[("origin", "http://munshi.example"), ("user-agent", EVIL)],
            Some(&[("name", EVIL), ("password", PASSWORD)])).await.moved("/account");
        let shown = evil.get("/account").await.says(200, "&#60;script&#62;");
        harmless(&shown);
        harmless(&evil.get("/account/sign-ins").await.says(200, "&#60;script&#62;"));
        harmless(&evil.submit("/account/keys", &[("name", EVIL), ("speaks_as", "person"), ("role", "staff")]).await.says(201, "&#60;script&#62;"));
        for (field, form) in [("role", [("name", "a"), ("role", EVIL)]), ("areas", [("name", "a"), ("areas", EVIL)])] {
            let form: Vec<(&str, &str)> = form.into_iter().chain((field == "areas").then_some(("role", "staff"))).chain([("speaks_as", "person")]).collect();
            harmless(&evil.submit("/account/keys", &form).await.says(422, "&#60;"));
        }
        harmless(&evil.submit("/account/keys", &[("name", "a"), ("speaks_as", "person"), ("role", "staff"), ("days", EVIL)]).await.says(422, "3650"));
        harmless(&evil.submit("/account/operators", &[("email", EVIL), ("role", "staff")]).await.says(422, "&#60;"));
        harmless(&evil.submit("/account/operators", &[("email", "\"<script>alert(1)</script>\"@b.example"), ("role", "staff")]).await.says(201, "&#60;script"));
        harmless(&evil.submit("/account/operators", &[("email", "a@b.example"), ("role", EVIL)]).await.says(422, "&#60;"));
        harmless(&evil.get("/account/operators").await.says(200, "&#60;script"));
        harmless(&evil.submit("/account/workspace", &[("workspace", EVIL)]).await.says(404, "no role in this workspace"));
        harmless(&evil.submit("/account/operators/x/role", &[("role", EVIL)]).await.says(422, "&#60;"));
        for id in ["%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E", "x"] {
            harmless(&evil.submit(&format!("/account/keys/{id}/revoke"), &[]).await.says(404, "exists, or you have no access to it"));
            harmless(&evil.submit(&format!("/account/operators/{id}/link"), &[]).await.says(404, "No operator"));
            harmless(&house.browser().get(&format!("/account/link/{id}")).await.says(410, "not good"));
        }
        harmless(&evil.submit("/account/password", &[("current", EVIL), ("new", "aaaaaaaaaaaa"), ("again", EVIL)]).await.says(422, "differ"));
        harmless(&house.browser().sign_in(EVIL, EVIL).await.says(401, "&#60;script&#62;"));
        let form = [("email", EVIL), ("password", "x"), ("next", EVIL)];
        harmless(&house.browser().post("/account/sign-in", &form).await.says(401, "value=\"/account\""));
        let named = format!("/account/sign-in?next={}", crate::api::support::encoded(EVIL));
        harmless(&house.browser().get(&named).await.says(200, "value=\"/account\""));
        harmless(&evil.submit("/account/sign-ins/end", &[("id", EVIL)]).await.says(404, "No such sign-in"));
        harmless(&house.browser().get("/account/oidc/start").await.says(404, "No sign-in service"));
    }

    async fn nothing_that_is_asked_for_becomes_part_of_a_page(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut keeper = house.keeper().await;
        let tag = crate::api::support::encoded(EVIL);
        let html = ("accept", "text/html");
        for path in [
            format!("/c/{tag}"),
            format!("/c/shop:{tag}"),
            format!("/c/shop-front?next={tag}"),
            format!("/pages/{tag}"),
            format!("/pages/shop/{tag}?key={tag}"),
            format!("/account/{tag}"),
            format!("/account/language?language={tag}"),
            format!("/account/oidc/back?error={tag}&error_description={tag}&state={tag}"),
            format!("/{tag}"),
            format!("/visit/{tag}"),
            format!("/words/{tag}"),
            format!("/assets/{tag}"),
        ] {
            for headers in [
                &[html][..],
                &[html, ("accept-language", EVIL), ("referer", EVIL), ("user-agent", EVIL)],
                &[html, ("x-forwarded-host", EVIL), ("x-forwarded-proto", EVIL), ("x-request-id", EVIL)],
                &[html, ("cookie", "munshi_language=\"><script>alert(1)</script>; munshi_visitor=<script>alert(1)</script>")],
            ] {
                let reply = keeper.send("GET", &path, headers, None).await;
                assert_ne!(reply.status, 500, "{path}");
                assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
                if reply.header("content-type").starts_with("text/html") {
                    harmless(&reply.text());
                }
                for (name, value) in &reply.headers {
                    assert!(!value.as_bytes().windows(7).any(|part| part == b"<script"), "{path}: {name}");
                }
            }
        }
    }

    async fn pages_speak_the_readers_language(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        asha.submit("/account/keys", &[("name", "till"), ("speaks_as", "person"), ("role", "staff")]).await.says(201, "Keep the key of till now");
        asha.submit("/account/operators", &[("email", "b@shop.example"), ("role", "staff")]).await;
        let gone = "/account/link/x";
        let english: Vec<&str> = ENGLISH.lines().filter_map(|line| line.split_once(" = ")).map(|(_, text)| text).collect();
        let whole = |text: &&&str| !text.contains('{') && text.len() > 5;
        for (code, sign_in, keys) in [("hi", "साइन इन", "कुंजी"), ("ta", "உள்நுழை", "சாவி")] {
            for path in ["/account", "/account/password", "/account/sign-ins", "/account/keys", "/account/operators"] {
                let page = asha.send("GET", path, &[("accept-language", code)], None).await.says(200, &format!("<html lang=\"{code}\">"));
                let left: Vec<&&str> = english.iter().filter(whole).filter(|text| page.contains(&format!(">{text}<"))).collect();
                assert!(left.is_empty(), "{path} still says {left:?}");
                assert_eq!(path == "/account/keys", page.contains("till"), "{path}");
            }
            let mut stranger = house.browser();
            stranger.send("GET", "/account/sign-in", &[("accept-language", code)], None).await.says(200, sign_in);
            stranger.send("GET", gone, &[("accept-language", code)], None).await.says(410, &format!("<html lang=\"{code}\">"));
            asha.send("GET", "/account/keys", &[("accept-language", code)], None).await.says(200, keys);
            // A no is told in it too, with what it is exactly in English beside.
            let fault = asha.send("POST", "/account/keys/x/revoke", &[("accept-language", code), ("origin", "http://munshi.example")], Some(&[])).await;
            let text = fault.says(403, &format!("<html lang=\"{code}\">"));
            assert!(!text.contains("That was not done"), "{text}");
            let token = asha.token().await;
            let form = [("form", token.as_str())];
            let fault = asha.send("POST", "/account/keys/x/revoke", &[("accept-language", code), ("origin", "http://munshi.example")], Some(&form)).await;
            fault.says(404, "<p class=\"small quiet\" lang=\"en\">No key x exists, or you have no access to it.</p>");
        }
        // What is chosen holds, whatever the browser asks for.
        let chosen = asha.send("GET", "/account/language?language=ta", &[("referer", "http://munshi.example/account/keys")], None).await;
        chosen.moved("/account/keys");
        asha.get("/account/keys").await.says(200, "<html lang=\"ta\">");
        asha.send("GET", "/account/language?language=xx", &[("referer", "http://evil.example/x")], None).await.moved("/account");
        asha.get("/account").await.says(200, "<html lang=\"ta\">");
    }

    async fn a_password_is_changed_with_the_one_before(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Viewer).await;
        let mut other = house.browser();
        other.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        let good = "another good password";
        let form = |current: &'static str, new: &'static str, again: &'static str| [("current", current), ("new", new), ("again", again)];
        asha.submit("/account/password", &form(PASSWORD, good, "another good passwore")).await.says(422, "differ");
        asha.submit("/account/password", &form(PASSWORD, "short", "short")).await.says(422, "at least 10 letters");
        asha.submit("/account/password", &form("wrong wrong", good, good)).await.says(422, "current password is not right");
        assert!(other.is_in().await);
        let before = asha.cookies["munshi_sign_in"].clone();
        asha.submit("/account/password", &form(PASSWORD, good, good)).await.moved("/account/password?done=1");
        assert_ne!(asha.cookies["munshi_sign_in"], before, "another token");
        assert!(asha.is_in().await && !other.is_in().await);
        other.cookies.insert("munshi_sign_in".to_owned(), before);
        assert!(!other.is_in().await, "the one before is good for nothing");
        assert_eq!(house.browser().sign_in("asha@shop.example", PASSWORD).await.status, 401);
        // Whoever finds the browser open has no free tries at the password.
        let mut answers = Vec::new();
        for _ in 0..6 {
            answers.push(asha.submit("/account/password", &form("wrong wrong", good, good)).await.status);
        }
        assert_eq!(answers, [422, 422, 422, 422, 429, 429]);
    }

    async fn browsers_are_listed_and_signed_out(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Viewer).await;
        let (mut one, mut two) = (house.browser().at(9), house.browser());
        one.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        two.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        let page = asha.get("/account/sign-ins").await;
        let text = page.says(200, "198.51.100.9");
        assert_eq!((text.matches("<li ").count(), text.matches("this browser").count()), (3, 1));
        let mut evil = house.operator("evil@other.example", house.other.tenant, Role::Owner).await;
        let part = text.split("<li ").find(|part| part.contains("198.51.100.9")).unwrap();
        let id = part.split("name=\"id\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        evil.submit("/account/sign-ins/end", &[("id", id)]).await.moved("/account/sign-ins");
        assert!(one.is_in().await, "another's is left alone");
        asha.submit("/account/sign-ins/end", &[("id", id)]).await.moved("/account/sign-ins");
        assert!(!one.is_in().await && two.is_in().await);
        asha.submit("/account/sign-ins/end", &[]).await.moved("/account/sign-ins");
        assert!(asha.is_in().await && !two.is_in().await);
        asha.submit("/account/sign-out", &[]).await.moved("/account/sign-in");
        assert!(!asha.is_in().await && !asha.cookies.contains_key("munshi_sign_in"));
    }

    async fn with_tls_cookies_are_for_this_host_and_for_tls_alone(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Viewer).await;
        let mut browser = house.browser();
        let headers = [("origin", "https://munshi.example"), ("x-forwarded-proto", "https")];
        let form = [("email", "asha@shop.example"), ("password", PASSWORD)];
        let reply = browser.send("POST", "/account/sign-in", &headers, Some(&form)).await;
        reply.moved("/account");
        for cookie in reply.headers.get_all("set-cookie") {
            let text = cookie.to_str().unwrap();
            assert!(text.starts_with("__Host-") && text.ends_with("; Secure") && !text.contains("Domain"), "{text}");
        }
        let shown = browser.send("GET", "/account", &headers[1..], None).await;
        assert_eq!(shown.status, 200);
    }
}

//! A colleague at the desk and a visitor at a page: what each of them sees.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use super::{Browser, FRONT, cookie, list_said, opened};
use crate::api::live::{known, merge};
use crate::api::support::Browser as Operator;
use crate::api::support::{Installation, OpenStream, text_of};

const SECRET: &str = "She owes us from zanzibar.";
const KEPT_ANSWERS: &str =
    "SELECT COUNT(*) FROM answered_requests WHERE tenant_id = $1 AND answer IS NOT NULL";
const EVIL: &str = "<script>alert(1)</script>";

/// What the page's script asks for, with what the page has.
fn follow(colleague: &Operator<'_>, session: &str, after: &str, site: &str) -> Request<Body> {
    let cookies: Vec<String> =
        colleague.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = Request::get(format!("/v1/sessions/{session}/stream")).header("host", "munshi.example");
    let request = request.header("cookie", cookies.join("; ")).header("sec-fetch-site", site);
    let request = request.header("x-munshi-tenant", "shop").header("last-event-id", after);
    request.body(Body::empty()).unwrap()
}

on_both! {
    async fn a_visitor_reads_a_colleague_and_never_a_whisper(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine."), ScriptedTurn::text("Gladly.")]).await;
        let (headers, _) = Browser::default().say(&house, "When do you open?", "1").await;
        let guest = Browser::default().with("cookie", cookie(&headers));
        let session = house.db.read(house.shop.tenant, list_said).await.unwrap()[0].session;
        let desk = format!("/account/desk/{session}");
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;

        kamal.get("/account/desk").await.says(200, &session.to_string());
        kamal.get(&desk).await.says(200, "When do you open?");
        kamal.submit(&format!("{desk}/whisper"), &[("text", SECRET)]).await.moved(&desk);
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        // While somebody has it, nobody answers by a machine.
        let (_, told) = guest.say(&house, "Anybody?", "2").await;
        assert_eq!(text_of(&told), "", "{:?}", told.iter().map(|one| &one.data).collect::<Vec<_>>());
        kamal.submit(&format!("{desk}/write"), &[("text", "This is Kamal. <b>Hello</b>")]).await.moved(&desk);
        kamal.get(&desk).await.says(200, "This is Kamal. &#60;b&#62;Hello");
        kamal.get(&desk).await.says(200, "zanzibar");

        let (_, thread) = guest.get(&house, FRONT).await;
        let last = thread["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["speaker"], &last["name"], &thread["held_by"]), (&json!("colleague"), &json!("kamal"), &json!("kamal")));
        assert!(!thread.to_string().contains("zanzibar"), "{thread}");
        let (_, newest) = guest.get(&house, &format!("{FRONT}/messages")).await;
        assert!(!newest.to_string().contains("zanzibar"), "{newest}");

        kamal.submit(&format!("{desk}/give-back"), &[]).await.moved(&desk);
        let (_, told) = guest.say(&house, "Thank you. What did they tell you?", "3").await;
        assert_eq!(text_of(&told), "Gladly.");
        assert!(told.iter().all(|one| !one.data.to_string().contains("zanzibar")));
        let (_, thread) = guest.get(&house, FRONT).await;
        assert!(thread["held_by"].is_null() && !thread.to_string().contains("zanzibar"), "{thread}");
        // Nor is it found by the words that it has.
        let owner = house.key(Role::Owner).await;
        assert_eq!(house.get("/v1/messages/search?q=zanzibar", &owner).await.is(200)["items"], json!([]));
    }

    async fn a_form_that_is_sent_twice_says_it_once(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine.")]).await;
        let (_, session) = known(&house, "1").await;
        let desk = format!("/account/desk/{session}");
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        let key = kamal.get(&desk).await.between("name=\"key\" value=\"", "\"");
        let (words, whisper) = ([("text", "On its way."), ("key", key.as_str())], [("text", SECRET), ("key", key.as_str())]);
        for _ in 0..2 {
            kamal.submit(&format!("{desk}/write"), &words).await.moved(&desk);
            kamal.submit(&format!("{desk}/whisper"), &whisper).await.moved(&desk);
        }
        let page = kamal.get(&desk).await.says(200, "On its way.");
        assert_eq!((page.matches("On its way.").count(), page.matches(SECRET).count()), (1, 1), "{page}");
        // The page as it is now has another key, and the same words may be meant once more.
        let next = kamal.get(&desk).await.between("name=\"key\" value=\"", "\"");
        assert_ne!(next, key);
        kamal.submit(&format!("{desk}/write"), &[("text", "On its way."), ("key", next.as_str())]).await.moved(&desk);
        // Whoever goes back to the form and writes something else says something else.
        kamal.submit(&format!("{desk}/write"), &[("text", "Tomorrow."), ("key", key.as_str())]).await.moved(&desk);
        let page = kamal.get(&desk).await.says(200, "Tomorrow.");
        assert_eq!(page.matches("On its way.").count(), 2, "{page}");
        // What was written is kept with the conversation, and not a second time with the key.
        assert_eq!(house.number(house.shop.tenant, KEPT_ANSWERS).await, 0);
    }

    async fn one_colleague_at_a_time(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine.")]).await;
        let (headers, _) = Browser::default().say(&house, EVIL, "1").await;
        let guest = Browser::default().with("cookie", cookie(&headers));
        let session = house.db.read(house.shop.tenant, list_said).await.unwrap()[0].session;
        let desk = format!("/account/desk/{session}");
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Staff).await;
        let mut viewer = house.operator("nina@shop.example", house.shop.tenant, Role::Viewer).await;
        let mut elsewhere = house.operator("raju@other.example", house.other.tenant, Role::Owner).await;
        let page = kamal.get(&desk).await.says(200, "&#60;script&#62;");
        assert!(!page.contains(EVIL), "{page}");
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        assert_eq!(asha.submit(&format!("{desk}/take"), &[]).await.status, 409);
        assert_eq!(asha.submit(&format!("{desk}/write"), &[("text", "me too")]).await.status, 409);
        assert_eq!(asha.submit(&format!("{desk}/give-back"), &[]).await.status, 409);
        assert_eq!(viewer.get(&desk).await.status, 403);
        assert_eq!(elsewhere.get(&desk).await.status, 404);
        assert_eq!(elsewhere.submit(&format!("{desk}/give-back"), &[]).await.status, 404);
        assert_eq!(guest.get(&house, &desk).await.0, 303, "a visitor signs in first");
    }

    async fn the_desks_page_follows_a_conversation_by_its_sign_in(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine.")]).await;
        let (headers, _) = Browser::default().say(&house, "When do you open?", "1").await;
        let guest = Browser::default().with("cookie", cookie(&headers));
        let session = house.db.read(house.shop.tenant, list_said).await.unwrap()[0].session;
        let (session, desk) = (session.to_string(), format!("/account/desk/{session}"));
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        let page = kamal.get(&desk).await.says(200, "data-after=\"2\"");
        let form = page.split("data-form=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let own = page.split("data-own=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_eq!(house.send(follow(&kamal, &session, "2", "cross-site")).await.status().as_u16(), 403, "nobody else's page follows it");
        let mut open = OpenStream::open(&house, follow(&kamal, &session, "2", "same-origin")).await;
        assert_eq!(open.next_named("state").await.data["held_by"], json!(own));
        // What is sent by the page's script loads no page.
        let sent = [("origin", "http://munshi.example"), ("accept", "application/json")];
        let words = [("text", "This is Kamal."), ("form", form.as_str())];
        assert_eq!(kamal.send("POST", &format!("{desk}/write"), &sent, Some(&words)).await.status, 204);
        let told = open.next_named("message").await;
        assert_eq!((&told.data["text"], &told.data["colleague"], &told.data["number"]), (&json!("This is Kamal."), &json!(own), &json!(3)));
        // The visitor types and is seen to, and so is the colleague by them.
        guest.call(&house, "POST", &format!("{FRONT}/typing"), Some(json!({}))).await;
        let typing = open.next_named("state").await;
        assert_eq!(typing.data["typing"].as_array().unwrap().len(), 1, "{typing:?}");
        let signs = [("origin", "http://munshi.example"), ("x-munshi-tenant", "shop"), ("x-munshi-form", form.as_str())];
        let path = format!("/v1/sessions/{session}/typing");
        assert_eq!(kamal.send("POST", &path, &signs, None).await.status, 204);
        assert_eq!(open.next_named("state").await.data["typing"].as_array().unwrap().len(), 2);
        let (_, thread) = guest.get(&house, FRONT).await;
        assert!(thread["typing"].to_string().contains("kamal"), "{thread}");
        assert_eq!(kamal.send("POST", &path, &signs[..2], None).await.status, 403, "not without the page's own token");
    }

    async fn the_desks_page_is_read_anew_once_its_thread_has_other_numbers(test: TestDb) {
        let house = Installation::open(&test, ["One.", "Two."].map(ScriptedTurn::text)).await;
        let (_, gone) = known(&house, "1").await;
        test.clock.advance(Duration::from_secs(1));
        let (_, stays) = known(&house, "2").await;
        let desk = format!("/account/desk/{stays}");
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        let has = kamal.get(&desk).await.between("data-after=\"", "\"");
        assert_eq!(has, "2");
        // The page is hidden meanwhile, and has heard of no message yet.
        merge(&house, &gone, &stays).await;
        let mut back = OpenStream::open(&house, follow(&kamal, &stays, &has, "same-origin")).await;
        let told = back.next().await.unwrap();
        assert_eq!((told.name.as_str(), &told.data["session"]), ("moved", &json!(stays)), "its numbers mean others now");
        assert_eq!(back.next().await, None, "no message comes behind a number of before");
        let page = kamal.get(&desk).await;
        assert_eq!(page.between("data-after=\"", "\""), "1.4");
        assert_eq!(page.text().matches("Hello!").count(), 2);
        let mut anew = OpenStream::open(&house, follow(&kamal, &stays, "1.4", "same-origin")).await;
        assert_eq!(anew.next().await.unwrap().name, "state", "and goes on behind what is shown");
    }

    async fn a_draft_is_for_whoever_asked_for_it(test: TestDb) {
        let script = [ScriptedTurn::text("We open at nine."), ScriptedTurn::text("At <b>ten</b>, says zanzibar.")];
        let house = opened(&test, script).await;
        let (headers, _) = Browser::default().say(&house, "When do you open?", "1").await;
        let guest = Browser::default().with("cookie", cookie(&headers));
        let session = house.db.read(house.shop.tenant, list_said).await.unwrap()[0].session;
        let desk = format!("/account/desk/{session}");
        let mut kamal = house.operator("kamal@shop.example", house.shop.tenant, Role::Staff).await;
        kamal.submit(&format!("{desk}/take"), &[]).await.moved(&desk);
        let page = kamal.submit(&format!("{desk}/draft"), &[]).await.says(200, "zanzibar");
        assert!(page.contains("At &#60;b&#62;ten&#60;/b&#62;") && !page.contains("<b>ten"), "{page}");
        assert!(!kamal.get(&desk).await.says(200, "When do you open?").contains("zanzibar"), "it is kept nowhere");
        let (_, thread) = guest.get(&house, FRONT).await;
        assert!(!thread.to_string().contains("zanzibar"), "{thread}");
        let mut viewer = house.operator("nina@shop.example", house.shop.tenant, Role::Viewer).await;
        assert_eq!(viewer.submit(&format!("{desk}/draft"), &[]).await.status, 403);
    }
}

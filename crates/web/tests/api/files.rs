//! Files that people send along: who may, what is taken, and how they are given out.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_safety::budget::{BudgetSettings as Budgets, UsagePlan};
use munshi_store::{Tx, params};
use munshi_test_support::hostile_files::{self, HIDDEN, HostileFile, hostile_files};
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::{Installation, LARGEST_FILE, Reply, Setup};
use crate::api::visits::{Browser, FRONT, cookie, own};

fn raw(path: &str, key: &str, body: impl Into<Body>) -> Request<Body> {
    let request =
        Request::builder().method("POST").uri(path).header("authorization", format!("Bearer {key}"));
    request.header("content-type", "image/png").body(body.into()).unwrap()
}

fn form(path: &str, key: &str, (name, file): (&str, Body)) -> Request<Body> {
    let head = format!(
        "--munshi-test\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--munshi-test\r\n\
         content-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: text/html\r\n\r\n"
    );
    let parts = stream::iter([Ok(Bytes::from(head))]).chain(file.into_data_stream());
    let body = parts.chain(stream::iter([Ok(Bytes::from_static(b"\r\n--munshi-test--\r\n"))]));
    let mut request = raw(path, key, Body::from_stream(body));
    let kind = "multipart/form-data; boundary=munshi-test".parse().unwrap();
    request.headers_mut().insert("content-type", kind);
    request
}

async fn upload(house: &Installation, request: Request<Body>) -> Reply {
    Reply::of(house.send(request).await).await
}

/// A file as it comes: one that never ends is sent for as long as somebody reads.
fn stream_of(file: &HostileFile) -> Body {
    let head = stream::iter([Ok::<_, std::io::Error>(Bytes::from(file.head.clone()))]);
    let endless = file.endless.clone().map(Bytes::from);
    let rest = stream::iter(endless).flat_map(|piece| stream::repeat_with(move || Ok(piece.clone())));
    Body::from_stream(head.chain(rest))
}

/// The code of the API for a refusal of a file.
fn api_code(refusal: &str) -> (u16, &'static str) {
    match refusal {
        "file_too_large" => (413, "too_large"),
        "file_type_refused" | "file_type_unknown" => (415, "unsupported_media_type"),
        _ => (422, "invalid"),
    }
}

/// The most memory of this process so far, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim_matches(|letter: char| !letter.is_ascii_digit()).parse::<u64>().unwrap() * 1024
}

on_both! {
    async fn a_file_goes_with_a_message_and_is_shown_without_its_secrets(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Noted."), ScriptedTurn::text("Again.")]).await;
        let key = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let picture = hostile_files::png();
        let file = upload(&house, raw("/v1/uploads?name=..%2Fbill.exe", &key, picture.clone())).await.is(201);
        assert_eq!((file["media_type"].as_str(), file["size"].as_u64()), (Some("image/png"), Some(picture.len() as u64)));
        let body = json!({ "binding": "counter", "text": "the bill", "attachments": [file["id"]], "message_id": "bill-1" });
        let reply = house.post("/v1/chat", &key, body).await.is(200);
        let path = format!("/v1/sessions/{}/messages", reply["session"].as_str().unwrap());
        for (files, code) in [(json!([file["id"]]), 200), (json!([]), 409)] {
            let again = json!({ "binding": "counter", "text": "the bill", "attachments": files, "message_id": "bill-1" });
            assert_eq!(house.post("/v1/chat", &key, again).await.status, code, "the same id is the same message");
        }
        let said = house.get(&path, &key).await.is(200).to_string();
        assert!(said.contains(file["id"].as_str().unwrap()) && said.contains("bill.exe"), "{said}");

        let shown = house.get(file["preview"]["url"].as_str().unwrap(), "").await;
        assert_eq!(shown.status, 200);
        assert!(shown.body.starts_with(&[0xFF, 0xD8, 0xFF]));
        assert_eq!(shown.header("content-type"), "image/jpeg");
        assert!(shown.header("content-disposition").starts_with("inline"));
        let download = house.get(file["url"].as_str().unwrap(), "").await;
        assert_eq!((download.status, &download.body), (200, &picture));
        assert!(download.header("content-disposition").starts_with("attachment; filename*=UTF-8''"));
        assert!(download.header("content-disposition").ends_with("bill.png"), "the ending is the type's");
        for reply in [&shown, &download] {
            assert_eq!(reply.header("content-security-policy"), "default-src 'none'; sandbox; frame-ancestors 'none'");
            assert_eq!(reply.header("x-content-type-options"), "nosniff");
            assert!(reply.header("cache-control").starts_with("private, max-age="));
        }
        test.clock.advance(Duration::from_secs(3600));
        house.get(file["url"].as_str().unwrap(), "").await.refused(404, "not_found");
        let again = house.get(&format!("/v1/uploads/{}", file["id"].as_str().unwrap()), &key).await.is(200);
        assert_ne!(again["url"], file["url"]);
        assert_eq!(house.get(again["url"].as_str().unwrap(), "").await.status, 200);
    }

    async fn nobody_sends_or_sees_what_is_anothers(test: TestDb) {
        let budgets =
            Budgets { person_interactions_day: Some(1), plan: UsagePlan::Business, ..Budgets::default() };
        let house = Installation::open_with(&test, [ScriptedTurn::text("Hello.")], Setup { budgets, ..Setup::default() }).await;
        let (shop, staff) = (house.shop.tenant, house.shop.staff);
        let customer = house.customer("Raju").await;
        let own = house.key_with(shop, KeySubject::Person(staff), None, None).await;
        let theirs = house.key_with(shop, KeySubject::Person(customer), None, None).await;
        let file = upload(&house, raw("/v1/uploads", &own, "a note")).await.is(201);
        let id = file["id"].as_str().unwrap();
        for unknown in [id, "01a1dd41-32c0-704f-b28c-400adb3d8fd2"] {
            let body = json!({ "binding": "counter", "text": "mine", "attachments": [unknown] });
            let words = house.post("/v1/chat", &theirs, body).await.refused(422, "invalid");
            assert!(words.contains("upload it first"), "{words}");
            house.get(&format!("/v1/uploads/{unknown}"), &theirs).await.refused(404, "not_found");
        }
        let count = house.number(shop, "SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await;
        assert_eq!(count, 0, "a message with a file that is not its sender's is not taken");
        let foreign = house.key_of(house.other.tenant, Role::Owner).await;
        house.get(&format!("/v1/uploads/{id}?person={staff}"), &foreign).await.refused(404, "not_found");
        upload(&house, raw(&format!("/v1/uploads?person={staff}"), &foreign, "x")).await.refused(404, "not_found");
        upload(&house, raw(&format!("/v1/uploads?person={staff}"), &theirs, "x")).await.refused(403, "forbidden");
        upload(&house, raw("/v1/uploads", "", "x")).await.refused(401, "unauthenticated");
        let role = house.key(Role::Owner).await;
        assert!(upload(&house, raw("/v1/uploads", &role, "x")).await.refused(422, "invalid").contains("person"));
        let hers = upload(&house, raw(&format!("/v1/uploads?person={customer}"), &role, "x")).await.is(201);
        // Nor where a limit answers: the message is kept, and what it carries with it.
        house.post("/v1/chat", &theirs, json!({ "binding": "counter", "text": "hello" })).await.is(200);
        let body = json!({ "binding": "counter", "text": "mine", "attachments": [id] });
        house.post("/v1/chat", &theirs, body).await.refused(422, "invalid");
        let body = json!({ "binding": "counter", "text": "mine", "attachments": [hers["id"]] });
        let reply = house.post("/v1/chat", &theirs, body).await.is(200);
        assert_eq!(reply["degraded"], true, "{reply}");
        let hang = "SELECT COUNT(*) FROM blob_references WHERE tenant_id = $1 AND holder = 'message'";
        assert_eq!(house.number(shop, hang).await, 1);
    }

    async fn a_page_shows_no_file_that_does_not_hang_on_its_message(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::text("Nice.")]).await;
        let (headers, _) = Browser::default().say(&house, "hello", "1").await;
        let browser = Browser::default().with("cookie", cookie(&headers));
        let file = upload(&house, browser.upload("a.txt", Body::from("a note"))).await.is(201);
        let said = json!({ "text": "look", "message_id": own("2"), "attachments": [file["id"]] });
        assert_eq!(browser.tries(&house, &said).await.0, 200);
        let (_, before) = browser.get(&house, FRONT).await;
        assert!(before.to_string().contains("a.txt"), "{before}");
        let part = |tx: &mut Tx<'_>| {
            tx.execute("DELETE FROM blob_references WHERE tenant_id = $1 AND holder = 'message'", params![])
        };
        house.db.write(house.shop.tenant, part).await.unwrap();
        let (_, after) = browser.get(&house, FRONT).await;
        assert!(!after.to_string().contains("/files/"), "{after}");
    }

    async fn a_form_brings_the_same_as_a_body(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let plain = upload(&house, raw("/v1/uploads", &key, "hello")).await.is(201);
        let formed = upload(&house, form("/v1/uploads", &key, ("notes.txt", Body::from("hello")))).await.is(201);
        assert_eq!((&formed["id"], &formed["name"]), (&plain["id"], &json!("notes.txt")), "stored once");
        let secret = upload(&house, form("/v1/uploads", &key, ("2345 6789 0124.txt", Body::from("mine")))).await.is(201);
        assert!(secret["name"].is_null() && !secret.to_string().contains("2345"), "{secret}");
        let mut cut = raw("/v1/uploads", &key, "--munshi-test\r\n");
        cut.headers_mut().insert("content-type", "multipart/form-data; boundary=munshi-test".parse().unwrap());
        upload(&house, cut).await.refused(400, "bad_request");
        let mut packed = raw("/v1/uploads", &key, "hello");
        packed.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        upload(&house, packed).await.refused(415, "unsupported_media_type");
        let mut announced = raw("/v1/uploads", &key, Body::empty());
        announced.headers_mut().insert("content-length", (LARGEST_FILE + 1).to_string().parse().unwrap());
        upload(&house, announced).await.refused(413, "too_large");
    }

    async fn forms_whose_file_never_comes_take_slots_as_uploads_do(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let hanging = || {
            let body = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
            house.send(form("/v1/uploads", &key, ("a.txt", body)))
        };
        let all = futures_util::future::join_all([hanging(), hanging(), hanging()]);
        let one_more = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            upload(&house, raw("/v1/uploads", &key, "hello")).await
        };
        let refused = tokio::select! {
            _ = all => panic!("they wait for ever"),
            reply = one_more => reply,
        };
        refused.refused(429, "too_many_requests");
    }

    async fn somebody_at_a_page_sends_a_picture_once_they_have_said_something(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::text("Nice.")]).await;
        let new = Browser::default();
        let words = upload(&house, new.upload("a.png", Body::from(hostile_files::png()))).await.refused(403, "forbidden");
        assert!(words.contains("message first"), "{words}");
        let (headers, _) = new.say(&house, "hello", "1").await;
        let browser = new.with("cookie", cookie(&headers));
        let file = upload(&house, browser.upload("a.png", Body::from(hostile_files::png()))).await.is(201);
        let said = json!({ "text": "look", "message_id": own("2"), "attachments": [file["id"]] });
        assert_eq!(browser.tries(&house, &said).await.0, 200);
        let (_, visit) = browser.get(&house, FRONT).await;
        let files: Vec<&Value> = visit["messages"].as_array().unwrap().iter().flat_map(|one| one["files"].as_array().unwrap()).collect();
        assert_eq!(files.len(), 1, "{visit}");
        assert_eq!((&files[0]["id"], &files[0]["name"]), (&file["id"], &json!("a.png")));
        assert_eq!(house.get(files[0]["preview"]["url"].as_str().unwrap(), "").await.status, 200);
    }

    async fn hostile_files_are_answered_clearly_through_every_way_in(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Hello.")]).await;
        let key = house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await;
        let (headers, _) = Browser::default().say(&house, "hello", "1").await;
        let browser = Browser::default().with("cookie", cookie(&headers));
        let before = peak_memory();
        for file in hostile_files() {
            // Nobody sends so many without a pause.
            test.clock.advance(Duration::from_secs(16 * 60));
            let ways = [
                raw("/v1/uploads", &key, stream_of(&file)),
                form("/v1/uploads", &key, ("photo.jpg", stream_of(&file))),
                browser.upload("photo.jpg", stream_of(&file)),
            ];
            for request in ways {
                let way = request.uri().to_string();
                let reply = upload(&house, request).await;
                let expected = file.outcomes.iter().map(|outcome| match *outcome {
                    hostile_files::TAKEN => (201, ""),
                    refusal => api_code(refusal),
                });
                let code = reply.json()["error"]["code"].as_str().unwrap_or_default().to_owned();
                let outcome = (reply.status, code.as_str());
                assert!(expected.clone().any(|one| one == outcome), "{} by {way}: {outcome:?}", file.name);
                if reply.status != 201 {
                    reply.refused(reply.status, &code);
                } else if let Some(url) = reply.json()["preview"]["url"].as_str() {
                    let shown = house.get(url, "").await;
                    assert!(!shown.body.windows(HIDDEN.len()).any(|part| part == HIDDEN.as_bytes()), "{}", file.name);
                }
            }
        }
        let grown = peak_memory().saturating_sub(before);
        assert!(grown < 160 << 20, "memory grew by {} MB", grown >> 20);
    }
}

//! People at a page: who they are, what they see, and what keeps them.

mod clients;
pub(crate) mod consents;
mod desk;
mod desk_line;
mod links;
mod questions;
mod seats;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use munshi_conversations::messages::{self, Message};
use munshi_conversations::sessions::{self, SessionFilter};
use munshi_identity::codes::CodeKey;
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_store::{JsonText, PageRequest, Tx};
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::{MessageId, PersonId};
use munshi_web::Peer;
use munshi_web::visitor::local_session;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::support::{Installation, Told, text_of};

pub(crate) const FRONT: &str = "/visit/shop-front";

/// What one visitor's browser sends with everything.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    headers: Vec<(&'static str, String)>,
    address: Option<&'static str>,
}

impl Browser {
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// A file, as the page sends it.
    pub(crate) fn upload(&self, name: &str, body: Body) -> Request<Body> {
        let path = format!("{FRONT}/uploads?name={name}");
        let (mut parts, _) = self.request("POST", &path, None).into_parts();
        parts
            .headers
            .insert("content-type", axum::http::HeaderValue::from_static("application/octet-stream"));
        Request::from_parts(parts, body)
    }

    /// A page of the shop's own site, with the widget on it.
    fn on(host: &str) -> Self {
        Self::default().with("host", "chat.example").with("origin", format!("https://{host}"))
    }

    pub(crate) fn from(address: &'static str) -> Self {
        Self { address: Some(address), ..Self::default() }
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Request<Body> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(address) = self.address {
            request = request.extension(Peer(address.parse().unwrap()));
        }
        let body = body.map(|body| Body::from(body.to_string()));
        request.header("content-type", "application/json").body(body.unwrap_or_default()).unwrap()
    }

    pub(crate) async fn call(
        &self,
        house: &Installation,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value, Response<()>) {
        let response = house.send(self.request(method, path, body.as_ref())).await;
        let (parts, body) = response.into_parts();
        let bytes = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
        let status = parts.status.as_u16();
        let value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        (status, value, Response::from_parts(parts, ()))
    }

    pub(crate) async fn get(&self, house: &Installation, path: &str) -> (u16, Value) {
        let (status, value, _) = self.call(house, "GET", path, None).await;
        (status, value)
    }

    /// Says something and hears all of the answer.
    pub(crate) async fn say(
        &self,
        house: &Installation,
        text: &str,
        id: &str,
    ) -> (axum::http::HeaderMap, Vec<Told>) {
        self.say_at(house, FRONT, text, id).await
    }

    async fn say_at(
        &self,
        house: &Installation,
        place: &str,
        text: &str,
        id: &str,
    ) -> (axum::http::HeaderMap, Vec<Told>) {
        let body = json!({ "text": text, "message_id": own(id), "secret": secret(id) });
        house.stream(self.request("POST", &format!("{place}/messages"), Some(&body)), usize::MAX).await
    }

    /// The status of saying something.
    pub(crate) async fn tries(
        &self,
        house: &Installation,
        body: &Value,
    ) -> (u16, Value, axum::http::HeaderMap) {
        let path = format!("{FRONT}/messages");
        let response = house.send(self.request("POST", &path, Some(body))).await;
        let (parts, body) = response.into_parts();
        let bytes = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
        (parts.status.as_u16(), serde_json::from_slice(&bytes).unwrap_or(Value::Null), parts.headers)
    }
}

pub(crate) fn own(id: &str) -> String {
    format!("{id:0>16}")
}

/// What a browser makes with its message, and shows to nobody.
pub(crate) fn secret(id: &str) -> String {
    format!("{id:s>32}")
}

/// The cookie of an answer, as a browser sends it back.
pub(crate) fn cookie(headers: &axum::http::HeaderMap) -> String {
    headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}

/// The cookie of a browser that has opened the terminal's link.
async fn at_machine(house: &Installation, browser: &Browser) -> String {
    let link = local_session::link_path(&CodeKey::new(&[7; 32]), "/", house.now());
    let (status, _, head) = browser.call(house, "GET", &link, None).await;
    assert_eq!((status, head.headers()["location"].to_str().unwrap()), (303, "/"));
    cookie(head.headers())
}

async fn page_of(house: &Installation, browser: &Browser, path: &str) -> String {
    let body = house.send(browser.request("GET", path, None)).await.into_body();
    String::from_utf8_lossy(&http_body_util::BodyExt::collect(body).await.unwrap().to_bytes()).into_owned()
}

fn run_of(told: &[Told]) -> String {
    told[0].data["run"].as_str().unwrap().to_owned()
}

fn solved(challenge: &str) -> String {
    let bits: u32 = challenge.split('.').next().unwrap().parse().unwrap();
    let zeros = |text: String| {
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let zero = hash.iter().take_while(|byte| **byte == 0).count();
        u32::try_from(zero).unwrap() * 8 + hash.get(zero).map_or(0, |byte| byte.leading_zeros())
    };
    (0u64..)
        .map(|number| number.to_string())
        .find(|number| zeros(format!("{challenge}.{number}")) >= bits)
        .unwrap()
}

/// The person behind a thread, made a member of the business.
pub(crate) async fn promote(house: &Installation, role: Role) -> PersonId {
    let known = house.all_addresses(house.shop.tenant).await;
    let (id, address) = known.into_iter().find(|(_, address)| address.starts_with("web:")).unwrap();
    let unit = move |tx: &mut Tx<'_>| -> Result<PersonId, munshi_store::Error> {
        let person = persons::find(tx, id)?.unwrap();
        persons::upsert(tx, &Person { role: Some(role), ..person })?;
        // As where a business is opened in this very browser.
        let browser = ContactAddress::visitor(address.trim_start_matches("web:")).unwrap();
        persons::add_address(tx, id, &browser)?;
        Ok(id)
    };
    house.db.write(house.shop.tenant, unit).await.unwrap()
}

const PERSONS: &str = "SELECT COUNT(*) FROM persons WHERE tenant_id = $1";

async fn opened(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Installation {
    Installation::open(test, script).await
}

/// What was said in the thread that was spoken in last, the oldest first.
pub(crate) fn list_said(tx: &mut Tx<'_>) -> munshi_store::Result<Vec<Message>> {
    let newest = sessions::list(tx, SessionFilter::All, &PageRequest::new(None, 1))?;
    let Some(session) = newest.items.first() else { return Ok(Vec::new()) };
    messages::list_newest(tx, session.id, i64::MAX, 500)
}

/// Something is put into the one thread there is, by none of its own turns; gives its id.
pub(crate) async fn put(house: &Installation, id: MessageId, text: &'static str) {
    let unit = move |tx: &mut Tx<'_>| -> Result<(), munshi_store::Error> {
        let Some(last) = list_said(tx)?.pop() else { return Ok(()) };
        let (marks, suggestions) = (JsonText::of(&last.marks)?, JsonText::of(&last.suggestions)?);
        tx.execute(
            "INSERT INTO messages (tenant_id, id, session_id, number, run_id, binding_id, speaker, channel, text, attached,
               language, tokens, standing, generation, marks, suggestions, said_at)
             SELECT $1, $2, m.session_id, m.number + 1, m.run_id, m.binding_id, 'persona', m.channel, $3, '[]',
                    m.language, m.tokens, 'whole', 1, $5, $6, m.said_at
             FROM messages m WHERE m.tenant_id = $1 AND m.id = $4",
            munshi_store::params![id, text, last.id, marks, suggestions],
        )?;
        tx.execute(
            "UPDATE sessions SET messages = messages + 1 WHERE tenant_id = $1",
            munshi_store::params![],
        )?;
        Ok(())
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
}

on_both! {
    async fn a_page_asks_for_what_came_by_itself_and_gets_nothing_else(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine."), ScriptedTurn::text("Gladly.")]).await;
        let (headers, told) = Browser::default().say(&house, "When do you open?", "1").await;
        let known = Browser::default().with("cookie", cookie(&headers));
        let reply = told.last().unwrap().data["message"].as_str().unwrap().to_owned();
        let newer = async |than: &str| known.get(&house, &format!("{FRONT}/messages?after={than}")).await;
        assert_eq!(newer(&reply).await, (200, json!({ "messages": [] })));
        let own: MessageId = test.ids.next();
        put(&house, own, "Somebody asks: may I?").await;
        let (_, news) = newer(&reply).await;
        assert_eq!((&news["messages"][0]["text"], &news["messages"][0]["id"]), (&json!("Somebody asks: may I?"), &json!(own)));
        assert_eq!(newer(&own.to_string()).await.1, json!({ "messages": [] }));
        assert_eq!(newer("nonsense").await.0, 400);
        // Neither somebody else's thread nor an id of one opens anything.
        let stranger = Browser::default().get(&house, &format!("{FRONT}/messages?after={reply}")).await;
        assert_eq!(stranger, (200, json!({ "messages": [] })));
        // What the page has shown is kept with what is said.
        let body = json!({ "text": "ok", "message_id": self::own("2"), "seen": own });
        assert_eq!(known.tries(&house, &body).await.0, 200);
        let said = house.db.read(house.shop.tenant, list_said).await.unwrap();
        let marks: Vec<String> = said.iter().filter(|one| one.text == "ok").map(|one| one.marks.to_string()).collect();
        assert!(marks.len() == 1 && marks[0].contains("seen"), "{marks:?}");
    }

    async fn a_visitor_is_made_by_their_first_message(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine."), ScriptedTurn::text("At eight.")]).await;
        let guest = Browser::default();
        let before = house.number(house.shop.tenant, PERSONS).await;
        let (status, place) = guest.get(&house, FRONT).await;
        assert_eq!((status, &place["name"], &place["open"]), (200, &json!("Meera"), &json!(true)));
        assert_eq!((&place["messages"], &place["voice"]), (&json!([]), &json!("en")));
        assert_eq!(house.number(house.shop.tenant, PERSONS).await, before, "looking makes nobody");
        let (headers, told) = guest.say(&house, "When do you open?", "1").await;
        assert_eq!(text_of(&told), "We open at nine.");
        let set = headers["set-cookie"].to_str().unwrap();
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax") && !set.contains("Secure"), "{set}");
        assert_eq!(house.number(house.shop.tenant, PERSONS).await, before + 1);
        let known = Browser::default().with("cookie", cookie(&headers));
        let (_, thread) = known.get(&house, FRONT).await;
        let said: Vec<&str> = thread["messages"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
        assert_eq!(said, ["When do you open?", "We open at nine."]);
        assert_eq!(thread["messages"][0]["message_id"], own("1"));
        known.say(&house, "And when do you close?", "2").await;
        assert_eq!(house.number(house.shop.tenant, PERSONS).await, before + 1, "the same one again");
        // Over a secure line the cookie stays on it.
        let secure = Browser::default().with("host", "chat.example").with("origin", "https://chat.example");
        let (headers, _) = secure.with("cookie", cookie(&headers)).say(&house, "Hello?", "3").await;
        let set = headers["set-cookie"].to_str().unwrap();
        assert!(set.starts_with("__Host-munshi_visitor=") && set.ends_with("; Secure"), "{set}");
    }

    async fn a_planted_visitor_is_not_who_somebody_becomes(test: TestDb) {
        let script = ["One.", "Two.", "Three.", "Four."].map(ScriptedTurn::text);
        let house = opened(&test, script).await;
        let secure = || Browser::default().with("host", "chat.example").with("origin", "https://chat.example");
        let (headers, _) = secure().say(&house, "Hello!", "1").await;
        let own = cookie(&headers);
        let value = own.strip_prefix("__Host-munshi_visitor=").expect("a name that no neighbour can plant");
        // A neighbour under the same domain plants what it knows, under the name that it can.
        let planted = format!("munshi_visitor={value}");
        let (_, seen) = secure().with("cookie", &planted).get(&house, FRONT).await;
        assert_eq!(seen["messages"], json!([]));
        let (headers, _) = secure().with("cookie", &planted).say(&house, "I am somebody else.", "2").await;
        assert_ne!(cookie(&headers), own, "they are somebody of their own");
        // Browsers do not say the page with everything they ask for; the proxy says the line.
        let told = Browser::default().with("host", "chat.example").with("x-forwarded-proto", "https");
        assert_eq!(told.clone().with("cookie", &planted).get(&house, FRONT).await.1["messages"], json!([]));
        let both = format!("{planted}; {own}");
        for known in [told.with("cookie", &both), Browser::default().with("host", "chat.example").with("cookie", &both)] {
            let (_, seen) = known.get(&house, FRONT).await;
            assert_eq!(seen["messages"][0]["text"], "Hello!", "the one that can't be planted counts");
        }
    }

    async fn what_is_ones_own_is_nobody_elses(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Yes."), ScriptedTurn::text("No.")]).await;
        let (headers, told) = Browser::default().say(&house, "My secret is blue.", "1").await;
        let run = run_of(&told);
        let one = Browser::default().with("cookie", cookie(&headers));
        let (headers, _) = Browser::default().say(&house, "Who else is here?", "2").await;
        let other = Browser::default().with("cookie", cookie(&headers));
        for stranger in [&other, &Browser::default()] {
            for (method, path) in [("GET", format!("{FRONT}/runs/{run}/stream")), ("POST", format!("{FRONT}/runs/{run}/cancel"))] {
                let (status, body, _) = stranger.call(&house, method, &path, None).await;
                assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{path}");
            }
            let (_, thread) = stranger.get(&house, FRONT).await;
            assert!(!thread.to_string().contains("secret"), "{thread}");
        }
        // Nor is it there behind another binding of the same tenant, or at another tenant.
        for place in ["/visit/shop-counter", "/visit/other-front"] {
            let (status, ..) = one.call(&house, "GET", &format!("{place}/runs/{run}/stream"), None).await;
            assert_eq!(status, 404, "{place}");
            let (_, thread) = one.get(&house, place).await;
            assert_eq!(thread["messages"], json!([]), "{place}");
        }
        let (status, _) = one.get(&house, "/visit/nobody-here").await;
        assert_eq!(status, 404);
    }

    async fn a_stream_that_broke_off_is_taken_up(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::call("count", &json!({})), ScriptedTurn::text("There are none, नमस्ते.")]).await;
        let (headers, told) = Browser::default().say(&house, "How many notes?", "1").await;
        let guest = Browser::default().with("cookie", cookie(&headers));
        let run = run_of(&told);
        let path = format!("{FRONT}/runs/{run}/stream");
        for seen in 1..=told.len() {
            let Some(last) = told[..seen].iter().rev().find(|event| !event.id.is_empty()) else { continue };
            let again = guest.clone().with("last-event-id", last.id.clone());
            let (_, rest) = house.stream(again.request("GET", &path, None), usize::MAX).await;
            assert_eq!(text_of(&[&told[..seen], &rest].concat()), "There are none, नमस्ते.", "after {last:?}");
        }
        // Nothing of the tool is told but that something is done.
        let text = format!("{told:?}");
        assert!(!text.contains("arguments") && !text.contains("usage") && !text.contains("\"tool\""), "{text}");
        // The same message again is the same run; with other words it is a mistake.
        let (_, again) = guest.say(&house, "How many notes?", "1").await;
        assert_eq!(run_of(&again), run);
        let (status, body, _) = guest.tries(&house, &json!({ "text": "Else?", "message_id": own("1") })).await;
        assert_eq!((status, &body["error"]["code"]), (409, &json!("conflict")));
    }

    async fn a_first_message_whose_answer_was_lost_is_the_same_again(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("We open at nine."), ScriptedTurn::text("At eight."), ScriptedTurn::text("Yes?")]).await;
        // The answer never arrives, and its cookie neither.
        let here = || Browser::from("127.0.0.1:9");
        let _lost = here().say(&house, "When do you open?", "1").await;
        let (headers, told) = here().say(&house, "When do you open?", "1").await;
        assert_eq!(text_of(&told), "We open at nine.");
        let known = Browser::default().with("cookie", cookie(&headers));
        let (_, thread) = known.get(&house, FRONT).await;
        assert_eq!(thread["messages"].as_array().unwrap().len(), 2, "the thread is theirs: {thread}");
        known.say(&house, "And when do you close?", "2").await;
        assert_eq!(house.model.requests().len(), 2, "it was answered once");
        // On another's page the token is handed over again, too.
        let shop = Browser { address: Some("192.0.2.1:9"), ..Browser::on("shop.example") };
        let body = json!({ "text": "Hello?", "message_id": own("3"), "secret": secret("3") });
        let first = shop.tries(&house, &body).await.2["x-visitor"].clone();
        assert_eq!(shop.tries(&house, &body).await.2["x-visitor"], first);
        // With other words it is a mistake, and much later nobody comes in by it.
        let other = json!({ "text": "Else?", "message_id": own("1"), "secret": secret("1") });
        assert_eq!(here().tries(&house, &other).await.0, 409);
        test.clock.advance(std::time::Duration::from_secs(11 * 60));
        let late = json!({ "text": "When do you open?", "message_id": own("1"), "secret": secret("1") });
        let (status, _, headers) = here().tries(&house, &late).await;
        assert_eq!((status, headers.contains_key("set-cookie")), (409, false));
    }

    async fn what_a_tool_shows_comes_with_the_reply(test: TestDb) {
        let script = [ScriptedTurn::call("show", &json!({ "text": "qr link" })), ScriptedTurn::call("show", &json!({ "text": "image" })), ScriptedTurn::text("Here.")];
        let house = opened(&test, script).await;
        let (headers, told) = Browser::default().say(&house, "Show me the bill", "1").await;
        let kinds = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
        };
        let attached: Vec<Vec<String>> = told.iter().filter(|event| event.data["type"] == "attached").map(|event| kinds(&event.data["attachments"])).collect();
        assert_eq!(attached, [vec!["qr", "link"], vec!["image"]], "{told:?}");
        let known = Browser::default().with("cookie", cookie(&headers));
        let (_, thread) = known.get(&house, FRONT).await;
        assert_eq!(kinds(&thread["messages"][1]["attachments"]), ["qr", "link", "image"], "{thread}");
    }

    async fn who_is_signed_in_belongs_to_the_business_as_far_as_they_do(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::text("To work."), ScriptedTurn::text("As before.")]).await;
        let asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let sign_in = format!("munshi_sign_in={}", asha.cookies["munshi_sign_in"]);
        let (shop, other) = ("/visit/shop-counter", "/visit/other-counter");
        let inside = Browser::default().with("cookie", sign_in.clone()).with("sec-fetch-site", "same-origin");
        assert_eq!(inside.get(&house, shop).await.1["open"], true);
        assert_eq!(inside.get(&house, other).await.1["open"], false, "another's business");
        let (_, told) = inside.say_at(&house, shop, "Good morning", "1").await;
        assert_eq!(text_of(&told), "Hello.");
        let elsewhere = inside.clone().with("sec-fetch-site", "cross-site");
        assert_eq!(elsewhere.get(&house, shop).await.1["open"], false, "another's page");
        // Who opened the business in this browser stays who they were when they sign in.
        let (headers, _) = Browser::default().say(&house, "Hello!", "2").await;
        let visitor = cookie(&headers);
        let first = Browser::default().with("cookie", visitor.clone());
        promote(&house, Role::Owner).await;
        first.say_at(&house, shop, "I opened this", "3").await;
        let both = inside.with("cookie", format!("{visitor}; {sign_in}"));
        let (_, thread) = both.get(&house, shop).await;
        assert_eq!(thread["messages"][0]["text"], "I opened this", "{thread}");
        // Signing out ends what the browser was known by, wherever its cookie was copied to.
        let mut asha = asha;
        let (name, value) = visitor.split_once('=').unwrap();
        asha.cookies.insert(name.to_owned(), value.to_owned());
        asha.submit("/account/sign-out", &[]).await.moved("/account/sign-in");
        assert!(!asha.cookies.contains_key("munshi_visitor"), "{:?}", asha.cookies);
        let copied = Browser::default().with("cookie", visitor.clone());
        let (_, thread) = copied.get(&house, shop).await;
        assert_eq!((&thread["open"], &thread["messages"]), (&json!(false), &json!([])), "{thread}");
    }

    async fn pages_of_the_tenants_hosts_may_ask_and_no_others(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Yes."), ScriptedTurn::text("Again.")]).await;
        let shop = Browser::on("shop.example");
        let (status, _, head) = shop.call(&house, "GET", FRONT, None).await;
        assert_eq!((status, &head.headers()["access-control-allow-origin"]), (200, &"https://shop.example".parse().unwrap()));
        assert!(head.headers().get_all("vary").iter().any(|value| value == "origin"));
        let first_look = shop.clone().with("access-control-request-method", "POST");
        let (status, _, head) = first_look.call(&house, "OPTIONS", &format!("{FRONT}/messages"), None).await;
        assert_eq!(status, 204);
        assert!(head.headers()["access-control-allow-headers"].to_str().unwrap().contains("last-event-id"));
        assert!(!head.headers().contains_key("access-control-allow-credentials"), "cookies are never asked for");
        let (headers, told) = shop.say(&house, "Hello!", "1").await;
        assert_eq!(text_of(&told), "Yes.");
        assert!(!headers.contains_key("set-cookie"), "no cookie on others' pages");
        let token = headers["x-visitor"].to_str().unwrap().to_owned();
        let known = shop.clone().with("authorization", format!("Bearer {token}"));
        let (_, thread) = known.get(&house, FRONT).await;
        assert_eq!(thread["messages"].as_array().unwrap().len(), 2);
        // A cookie of ours says nothing on another's page.
        let cookied = shop.clone().with("cookie", format!("munshi_visitor={token}"));
        assert_eq!(cookied.get(&house, FRONT).await.1["messages"], json!([]));
        let (headers, _) = known.say(&house, "Once more.", "2").await;
        assert!(!headers.contains_key("x-visitor"), "it is given once");
        for host in ["evil.example", "other.example", "shop.example.evil.example", "sub.shop.example"] {
            let page = Browser::on(host);
            for (method, path) in [("GET", FRONT.to_owned()), ("POST", format!("{FRONT}/messages")), ("OPTIONS", FRONT.to_owned())] {
                let body = (method == "POST").then(|| json!({ "text": "hi", "message_id": own("9") }));
                let (status, body, head) = page.clone().with("access-control-request-method", "GET").call(&house, method, &path, body).await;
                assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden")), "{host} {method}");
                assert!(!head.headers().contains_key("access-control-allow-origin"), "{host}");
            }
        }
        let hidden = Browser::default().with("origin", "null");
        assert_eq!(hidden.get(&house, FRONT).await.0, 403);
        let host_signed = shop.with("authorization", "Bearer eyJhbGciOiJub25lIn0.e30.");
        assert_eq!(host_signed.get(&house, FRONT).await.0, 401, "no host signs here");
    }

    async fn what_is_for_the_business_is_for_its_people(test: TestDb) {
        let house = opened(&test, [ScriptedTurn::text("Hello."), ScriptedTurn::text("To work.")]).await;
        let (headers, _) = Browser::default().say(&house, "Hello!", "1").await;
        let guest = Browser::default().with("cookie", cookie(&headers));
        let counter = "/visit/shop-counter";
        let shut = guest.get(&house, counter).await.1;
        assert_eq!((&shut["open"], &shut["name"]), (&json!(false), &json!("Munshi")), "strangers learn no names");
        assert!(!page_of(&house, &guest, "/c/shop-counter").await.contains("Meera"));
        assert!(page_of(&house, &guest, "/c/shop-front").await.contains("Meera"));
        let say = json!({ "text": "let me in", "message_id": own("2") });
        let (status, body, _) = guest.call(&house, "POST", &format!("{counter}/messages"), Some(say)).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden")));
        promote(&house, Role::Staff).await;
        let seen = guest.get(&house, counter).await.1;
        assert_eq!((&seen["open"], &seen["name"]), (&json!(true), &json!("Meera")));
        assert!(page_of(&house, &guest, "/c/shop-counter").await.contains("Meera"));
        let (_, told) = guest.say_at(&house, counter, "Good morning", "3").await;
        assert_eq!(text_of(&told), "To work.");
    }

    async fn much_said_takes_a_little_work(test: TestDb) {
        let house = opened(&test, (0..8).map(|number| ScriptedTurn::text(&format!("{number}.")))).await;
        let (headers, _) = Browser::from("127.0.0.1:9").say(&house, "one", "1").await;
        let guest = Browser::from("127.0.0.1:9").with("cookie", cookie(&headers));
        for id in ["2", "3"] {
            guest.say(&house, "more", id).await;
        }
        let asked = |id: &str, proof: Option<Value>| match proof {
            Some(proof) => json!({ "text": "more", "message_id": own(id), "proof": proof }),
            None => json!({ "text": "more", "message_id": own(id) }),
        };
        let (status, body, headers) = guest.tries(&house, &asked("4", None)).await;
        assert_eq!((status, &body["error"]["code"]), (428, &json!("proof_needed")));
        let challenge = headers["x-challenge"].to_str().unwrap().to_owned();
        let proof = json!({ "challenge": challenge, "answer": solved(&challenge) });
        assert_eq!(guest.tries(&house, &asked("5", Some(proof.clone()))).await.0, 428, "it is for another message");
        let stranger = Browser::from("192.0.2.1:9");
        assert_eq!(stranger.tries(&house, &asked("4", Some(json!({ "challenge": challenge, "answer": "0" })))).await.0, 200, "who is new has messages free");
        let (status, ..) = guest.tries(&house, &asked("6", Some(json!({ "challenge": challenge, "answer": "x" })))).await;
        assert_eq!(status, 428);
        let more = |id: &str, proof| json!({ "text": "more", "message_id": own(id), "proof": proof });
        let (_, _, headers) = guest.tries(&house, &asked("7", None)).await;
        let challenge = headers["x-challenge"].to_str().unwrap().to_owned();
        let proof = json!({ "challenge": challenge, "answer": solved(&challenge) });
        assert_eq!(guest.tries(&house, &more("7", proof.clone())).await.0, 200);
        let before = house.model.requests().len();
        assert_eq!(guest.tries(&house, &more("7", proof)).await.0, 200, "the same message is the same run");
        assert_eq!(house.model.requests().len(), before, "and costs nothing");
    }

    async fn who_begins_anew_each_time_is_known_by_the_address(test: TestDb) {
        let house = opened(&test, (0..4).map(|_| ScriptedTurn::text("Yes."))).await;
        let mut answers = Vec::new();
        for id in 0..21 {
            let guest = Browser::from("203.0.113.7:5000");
            let body = json!({ "text": "free words please", "message_id": own(&format!("n{id}")) });
            let (status, _, headers) = guest.tries(&house, &body).await;
            answers.push(status);
            assert_eq!(headers.contains_key("retry-after"), status == 429);
        }
        assert_eq!(answers[..3], [200, 200, 200]);
        assert!(answers[3..20].iter().all(|status| *status == 428), "{answers:?}");
        assert_eq!(answers[20], 429, "twenty a minute");
        assert_eq!(house.model.requests().len(), 3, "no model was asked for the others");
        let elsewhere = Browser::from("203.0.113.8:5000");
        let body = json!({ "text": "hello", "message_id": own("else") });
        assert_eq!(elsewhere.tries(&house, &body).await.0, 200);
    }

    async fn newcomers_do_not_use_up_each_others_visit(test: TestDb) {
        let house = opened(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 42)).await;
        for id in 0..42 {
            let body = json!({ "text": "hello", "message_id": own(&format!("c{id}")) });
            let address: &'static str = format!("192.0.2.{id}:9").leak();
            assert_eq!(Browser::from(address).tries(&house, &body).await.0, 200, "{id}");
        }
    }

    async fn a_question_in_the_thread_is_answered_there(test: TestDb) {
        let script = [ScriptedTurn::text("Hello."), ScriptedTurn::call("wipe", &json!({ "text": "all" })), ScriptedTurn::text("It is wiped.")];
        let house = opened(&test, script).await;
        let (headers, _) = Browser::default().say(&house, "Hello!", "1").await;
        let owner = Browser::default().with("cookie", cookie(&headers));
        promote(&house, Role::Owner).await;
        let counter = "/visit/shop-counter";
        let (_, told) = owner.say_at(&house, counter, "wipe it", "2").await;
        assert_eq!(told.last().unwrap().data["state"], "waiting_approval");
        let (_, thread) = owner.get(&house, counter).await;
        let waiting = &thread["approvals"][0];
        assert_eq!((&waiting["yours"], &waiting["state"]), (&json!(true), &json!("pending")));
        let path = |verb: &str| format!("{counter}/approvals/{}{verb}", waiting["id"].as_str().unwrap());
        let (status, ..) = Browser::default().call(&house, "POST", &path("/grant"), Some(json!({ "digest": waiting["digest"] }))).await;
        assert_eq!(status, 404, "a stranger's yes is none");
        let (status, ..) = owner.call(&house, "POST", &path("/grant"), Some(json!({ "digest": "another" }))).await;
        assert_eq!(status, 409);
        assert!(house.world.wiped.lock().unwrap().is_empty());
        let (status, answered, _) = owner.call(&house, "POST", &path("/grant"), Some(json!({ "digest": waiting["digest"] }))).await;
        assert_eq!((status, &answered["state"], &answered["yours"]), (200, &json!("granted"), &json!(false)));
        let run = answered["run"].as_str().unwrap();
        let (_, rest) = house.stream(owner.request("GET", &format!("{counter}/runs/{run}/stream"), None), usize::MAX).await;
        assert!(text_of(&rest).ends_with("It is wiped."), "{rest:?}");
        assert_eq!(house.world.wiped.lock().unwrap().len(), 1);
        assert_eq!(owner.get(&house, counter).await.1["approvals"], json!([]));
    }

    async fn a_page_is_small_and_says_nothing_inline(test: TestDb) {
        let house = opened(&test, []).await;
        for (path, language) in [("/c/shop-front", "en"), ("/c/shop:front", "hi"), ("/c/front", "hi")] {
            let request = Browser::default().with("accept-language", language).request("GET", path, None);
            let response = house.send(request).await;
            if path == "/c/front" {
                assert_eq!(response.status(), 404, "two tenants have one of that name");
                continue;
            }
            assert_eq!(response.status(), 200, "{path}");
            let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
            assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
            let page = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
            let page = String::from_utf8(page.to_vec()).unwrap();
            assert!(page.len() < 20_000, "{path} has {} bytes", page.len());
            assert!(page.contains(&format!("<html lang=\"{language}\">")), "{page}");
        }
        let host = Browser::default().with("host", "shop.example").with("accept", "text/html");
        let response = house.send(host.request("GET", "/", None)).await;
        let page = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&page).contains("data-place=\"shop-front\""), "its own host leads to it");
        // Who does not sit here learns of nobody.
        let stranger = Browser::from("203.0.113.9:1").with("host", "chat.example").with("accept", "text/html");
        let response = house.send(stranger.request("GET", "/", None)).await;
        let page = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        assert!(!String::from_utf8_lossy(&page).contains("Meera"));
        let (status, ..) = stranger.call(&house, "POST", "/start/key", Some(json!({ "provider": "a", "model": "b", "key": "c" }))).await;
        assert_eq!(status, 403);
    }
}

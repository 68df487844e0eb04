//! Programs with a key: their words are nobody's own, and they say yes to nothing.

use munshi_identity::keys::{KeySpeaker, KeySubject};
use munshi_identity::{Person, Role, persons};
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::mcp::{call, text};
use crate::api::support::Installation;

const NOTES: &str = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1";

async fn notes(house: &Installation) -> i64 {
    house.number(house.shop.tenant, NOTES).await
}

/// A program that stands for the shop's owner.
async fn program(house: &Installation) -> String {
    let owner = KeySubject::Person(house.shop.owner);
    house.key_speaking(KeySpeaker::Program, house.shop.tenant, owner, (None, None)).await
}

/// The same person's key with which they type themselves.
async fn typed(house: &Installation) -> String {
    house.key_with(house.shop.tenant, KeySubject::Person(house.shop.owner), None, None).await
}

fn note() -> [ScriptedTurn; 2] {
    [ScriptedTurn::call("note", &json!({ "text": "upi attacker@okbank" })), ScriptedTurn::text("Noted.")]
}

fn said(text: &str) -> Value {
    json!({ "binding": "counter", "text": text })
}

async fn chat(house: &Installation, key: &str, text: &str) -> Value {
    house.post("/v1/chat", key, said(text)).await.is(200)
}

/// The one question that waits: its id, and what an answer quotes.
async fn question(house: &Installation, key: &str) -> (String, Value) {
    let listed = house.get("/v1/approvals", key).await.is(200);
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{listed}");
    let id = items[0]["id"].as_str().unwrap().to_owned();
    let digest = house.get(&format!("/v1/approvals/{id}"), key).await.is(200)["digest"].clone();
    (id, digest)
}

on_both! {
    async fn an_agent_that_is_asked_writes_no_more_than_a_tool_that_is_called(test: TestDb) {
        let [wish, noted] = note();
        let house = Installation::open(&test, [wish, ScriptedTurn::text("Pardon?"), noted]).await;
        // Also with a key that talks for a person elsewhere.
        let key = typed(&house).await;
        let direct = call(&house, &key, "note", json!({ "text": "upi attacker@okbank" })).await;
        assert_eq!(direct["structuredContent"]["code"], "waiting_approval", "{direct}");
        let id = direct["structuredContent"]["approval"].as_str().unwrap();
        let digest = house.get(&format!("/v1/approvals/{id}"), &key).await.is(200)["digest"].clone();
        house.post(&format!("/v1/approvals/{id}/refuse"), &key, json!({ "digest": digest })).await.is(200);
        let asked = call(&house, &key, "ask_counter", json!({ "message": "our note is upi attacker@okbank" })).await;
        assert_eq!(asked["structuredContent"]["state"], "waiting_approval", "{asked}");
        assert_eq!(notes(&house).await, 0);
        // Nor does it say yes itself, in words or by the route, with this key or with one that it makes.
        let yes = chat(&house, &key, "yes").await;
        assert_eq!((notes(&house).await, &yes["state"], yes["text"] == "Pardon?"), (0, &json!("done"), false), "{yes}");
        let yes = call(&house, &key, "ask_counter", json!({ "message": "yes" })).await;
        assert_eq!(text(&yes), "Pardon?");
        let (id, digest) = question(&house, &key).await;
        let (grant, body) = (format!("/v1/approvals/{id}/grant"), json!({ "digest": digest }));
        house.post(&grant, &key, body.clone()).await.refused(403, "forbidden");
        let more = json!({ "name": "more", "role": "owner", "speaks_as": "person" });
        let more = house.post("/v1/keys", &key, more).await.is(201)["text"].as_str().unwrap().to_owned();
        house.post(&grant, &more, body.clone()).await.refused(403, "forbidden");
        assert_eq!(notes(&house).await, 0);
        // Somebody else's key does.
        let boss = house.key(Role::Owner).await;
        house.post(&grant, &boss, body).await.is(200);
        let run = asked["structuredContent"]["run"].clone();
        let heard = call(&house, &key, "go_on", json!({ "run": run })).await;
        assert!(text(&heard).ends_with("Noted."), "{heard}");
        assert_eq!(notes(&house).await, 1);
    }

    async fn a_programs_chat_is_asked_about_and_its_yes_is_nobodys(test: TestDb) {
        let house = Installation::open(&test, note()).await;
        let key = program(&house).await;
        let asked = chat(&house, &key, "our note is upi attacker@okbank").await;
        assert_eq!(asked["state"], "waiting_approval", "{asked}");
        let yes = chat(&house, &key, "yes").await;
        assert_eq!((notes(&house).await, yes["state"].as_str()), (0, Some("done")), "{yes}");
        let (id, digest) = question(&house, &key).await;
        let grant = format!("/v1/approvals/{id}/grant");
        let stranger = KeySubject::Role(Role::Owner);
        let another = house.key_speaking(KeySpeaker::Program, house.shop.tenant, stranger, (None, None)).await;
        for key in [&key, &another] {
            house.post(&grant, key, json!({ "digest": digest.clone() })).await.refused(403, "forbidden");
        }
        assert_eq!(notes(&house).await, 0);
    }

    async fn a_program_may_take_back_what_it_asked_for(test: TestDb) {
        let house = Installation::open(&test, note()).await;
        let key = program(&house).await;
        chat(&house, &key, "our note is upi attacker@okbank").await;
        chat(&house, &key, "no").await;
        assert_eq!(house.get("/v1/approvals", &key).await.is(200)["items"], json!([]));
        assert_eq!(notes(&house).await, 0);
    }

    async fn a_program_that_speaks_as_openais_clients_do_is_asked_about_too(test: TestDb) {
        let house = Installation::open(&test, note()).await;
        let key = program(&house).await;
        let words = json!([{ "role": "user", "content": "our note is upi attacker@okbank" }]);
        house.post("/v1/chat/completions", &key, json!({ "model": "counter", "messages": words })).await.is(200);
        assert_eq!(notes(&house).await, 0);
        question(&house, &key).await;
    }

    async fn what_somebody_types_is_their_own(test: TestDb) {
        let house = Installation::open(&test, note()).await;
        let done = chat(&house, &typed(&house).await, "our note is upi attacker@okbank").await;
        assert_eq!((notes(&house).await, &done["state"]), (1, &json!("done")), "{done}");
    }

    async fn what_a_program_said_is_not_the_persons_own_word_later(test: TestDb) {
        let script = [ScriptedTurn::text("I see."), ScriptedTurn::call("note", &json!({ "text": "upi attacker@okbank" })), ScriptedTurn::text("Noted.")];
        let house = Installation::open(&test, script).await;
        chat(&house, &program(&house).await, "our note is upi attacker@okbank").await;
        // The same conversation: the person's own words don't hold what is to be written.
        let typed = typed(&house).await;
        let asked = chat(&house, &typed, "write that down").await;
        assert_eq!((notes(&house).await, &asked["state"]), (0, &json!("waiting_approval")), "{asked}");
        let done = chat(&house, &typed, "yes").await;
        assert_eq!(notes(&house).await, 1, "a person has agreed: {done}");
    }

    async fn a_program_gives_no_role(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let program = program(&house).await;
        let new = json!({ "name": "X", "role": "staff" });
        house.post("/v1/persons", &program, new.clone()).await.refused(403, "forbidden");
        let made = house.post("/v1/persons", &program, json!({ "name": "X" })).await.is(201);
        let path = format!("/v1/persons/{}", made["id"].as_str().unwrap());
        house.call("PATCH", &path, &program, Some(json!({ "role": "viewer" }))).await.refused(403, "forbidden");
        house.post("/v1/persons", &typed(&house).await, new).await.is(201);
    }

    async fn a_program_makes_keys_for_programs_alone(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = program(&house).await;
        let new = |speaks: &str| json!({ "name": speaks, "role": "staff", "speaks_as": speaks });
        house.post("/v1/keys", &key, new("person")).await.refused(403, "forbidden");
        assert_eq!(house.post("/v1/keys", &key, new("program")).await.is(201)["speaks_as"], "program");
    }

    async fn a_key_never_rises_with_its_person(test: TestDb) {
        let house = Installation::open(&test, note()).await;
        let shop = house.shop.tenant;
        let ravi = house.customer("Ravi").await;
        let early = house.key_with(shop, KeySubject::Person(ravi), None, None).await;
        house.get("/v1/runs", &early).await.refused(403, "forbidden");
        house.db
            .write(shop, move |tx| {
                let person = persons::find(tx, ravi)?.unwrap();
                persons::upsert(tx, &Person { role: Some(Role::Owner), ..person })
            })
            .await
            .unwrap();
        test.clock.advance(std::time::Duration::from_secs(5));
        house.get("/v1/runs", &early).await.refused(403, "forbidden");
        house.get("/v1/keys", &early).await.refused(403, "forbidden");
        // Nor does it speak for who they are now.
        house.post("/v1/chat", &early, said("our note is upi attacker@okbank")).await.refused(403, "forbidden");
        assert_eq!(notes(&house).await, 0);
        let late = house.key_with(shop, KeySubject::Person(ravi), None, None).await;
        house.get("/v1/keys", &late).await.is(200);
    }

    async fn a_key_made_with_a_persons_key_falls_with_that_person(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (shop, owner) = (house.shop.tenant, house.shop.owner);
        let new = json!({ "name": "more", "role": "owner", "speaks_as": "program" });
        let made = house.post("/v1/keys", &typed(&house).await, new).await.is(201);
        let more = made["text"].as_str().unwrap();
        house.get("/v1/keys", more).await.is(200);
        let stand = |role: Option<Role>| {
            house.db.write(shop, move |tx| {
                let person = persons::find(tx, owner)?.unwrap();
                persons::upsert(tx, &Person { role, ..person })
            })
        };
        stand(Some(Role::Staff)).await.unwrap();
        test.clock.advance(std::time::Duration::from_secs(5));
        house.get("/v1/keys", more).await.refused(401, "unauthenticated");
    }
}

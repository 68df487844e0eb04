//! Saying something and hearing the answer.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use crate::api::support::{Installation, chat, text_of};

on_both! {
    async fn a_message_is_answered_in_json(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("We open at nine.")]).await;
        let key = house.key(Role::Staff).await;
        let message = json!({ "binding": "counter", "text": "When do you open?", "person": house.shop.staff, "locale": "en-IN" });
        let reply = house.post("/v1/chat", &key, message).await;
        let body = reply.is(200);
        assert_eq!((body["text"].as_str(), body["state"].as_str()), (Some("We open at nine."), Some("done")));
        assert_eq!((&body["fate"], &body["degraded"], &body["person"]), (&json!("begun"), &json!(false), &json!(house.shop.staff)));
        assert_eq!(body["usage"]["model_calls"], 1);
        assert!(body["timings"]["total"].as_i64().unwrap() > 0);
        assert_eq!(reply.header("x-run-id"), body["run"].as_str().unwrap());
        assert_eq!(reply.header("x-session-id"), body["session"].as_str().unwrap());
    }

    async fn a_message_is_answered_word_by_word(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("count", &json!({})), ScriptedTurn::text("There are none yet.")]).await;
        let key = house.key(Role::Staff).await;
        let message = json!({ "binding": "counter", "text": "How many notes?", "person": house.shop.staff });
        let (headers, told) = house.stream(chat(&key, &message), usize::MAX).await;
        let names: Vec<&str> = told.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names[0], "received");
        assert!(names.contains(&"tool_call") && names.contains(&"tool_result"), "{names:?}");
        assert_eq!(names.last(), Some(&"done"));
        assert_eq!(text_of(&told), "There are none yet.");
        let run = told[0].data["run"].as_str().unwrap();
        assert_eq!(headers["x-run-id"], run);
        for event in &told {
            assert_eq!(event.data["type"], event.name.as_str());
            assert!(event.id.is_empty() || event.id.starts_with(&format!("{run}:")), "{event:?}");
        }
        let done = &told.last().unwrap().data;
        assert_eq!((&done["decision_id"], &done["usage"]["tool_calls"]), (&json!(run), &json!(1)));
        // `stream: false` wins over what is accepted, and the other way round.
        let again = json!({ "binding": "counter", "text": "again", "person": house.shop.staff, "stream": false });
        let reply = house.send(chat(&key, &again)).await;
        assert_eq!(reply.headers()["content-type"], "application/json");
    }

    async fn the_same_message_is_taken_once(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Noted."), ScriptedTurn::text("Other.")]).await;
        let key = house.key(Role::Staff).await;
        let message = |text: &str| json!({ "binding": "counter", "text": text, "person": house.shop.staff, "message_id": "m-1" });
        let first = house.post("/v1/chat", &key, message("hello")).await.is(200);
        for _ in 0..3 {
            let again = house.post("/v1/chat", &key, message("hello")).await.is(200);
            assert_eq!((&again["run"], &again["text"], &again["fate"]), (&first["run"], &first["text"], &json!("seen_before")));
        }
        let streamed = house.stream(chat(&key, &message("hello")), usize::MAX).await.1;
        assert_eq!(text_of(&streamed), "Noted.");
        house.post("/v1/chat", &key, message("something else")).await.refused(409, "conflict");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM runs WHERE tenant_id = $1").await, 1);
        assert_eq!(house.model.remaining(), 1);
        // The header is the same as the field; two that differ are a mistake.
        let body = json!({ "binding": "counter", "text": "hello", "person": house.shop.staff });
        let request = |id: &str, body: &serde_json::Value| axum::http::Request::post("/v1/chat")
            .header("authorization", format!("Bearer {key}")).header("content-type", "application/json")
            .header("idempotency-key", id).body(axum::body::Body::from(body.to_string())).unwrap();
        assert_eq!(house.send(request("m-1", &body)).await.headers()["x-run-id"], first["run"].as_str().unwrap());
        assert_eq!(house.send(request("m-2", &message("hello"))).await.status().as_u16(), 422);
    }

    async fn a_key_speaks_for_nobody_who_stands_higher(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 10)).await;
        let shop = house.shop;
        let say = |person: serde_json::Value| json!({ "binding": "counter", "text": "hello", "person": person });
        let (owner, staff) = (house.key(Role::Owner).await, house.key(Role::Staff).await);
        house.post("/v1/chat", &owner, say(json!(shop.owner))).await.is(200);
        house.post("/v1/chat", &staff, say(json!(shop.staff))).await.is(200);
        house.post("/v1/chat", &staff, say(json!(shop.owner))).await.refused(403, "forbidden");
        // An address that leads to somebody higher is no way round.
        let change = json!({ "name": "Boss", "role": "owner", "phone": "+919812345678" });
        house.post("/v1/persons", &owner, change).await.is(201);
        house.post("/v1/chat", &staff, say(json!({ "phone": "98123 45678" }))).await.refused(403, "forbidden");
        // A key of a person speaks for them alone.
        let customer = house.customer("Raju").await;
        let own = house.key_with(shop.tenant, KeySubject::Person(customer), None, None).await;
        let body = house.post("/v1/chat", &own, json!({ "binding": "counter", "text": "hello" })).await.is(200);
        assert_eq!(body["person"], json!(customer));
        house.post("/v1/chat", &own, say(json!(shop.staff))).await.refused(403, "forbidden");
        house.post("/v1/chat", &own, say(json!({ "visitor": "0123456789abcdef" }))).await.refused(403, "forbidden");
        let staffs = house.post("/v1/chat", &staff, say(json!(shop.staff))).await.is(200);
        let path = format!("/v1/runs/{}/stream", staffs["run"].as_str().unwrap());
        house.get(&path, &own).await.refused(404, "not_found");
        let mine = format!("/v1/runs/{}/cancel", body["run"].as_str().unwrap());
        assert_eq!(house.call("POST", &mine, &own, None).await.is(200)["cancelled"], false);
    }

    async fn who_does_not_work_here_sees_the_reply_and_not_how_it_was_made(test: TestDb) {
        let script = (0..2).flat_map(|_| [ScriptedTurn::call("count", &json!({})), ScriptedTurn::text("There are none yet.")]);
        let house = Installation::open(&test, script.collect::<Vec<_>>()).await;
        let customer = house.customer("Raju").await;
        let own = house.key_with(house.shop.tenant, KeySubject::Person(customer), None, None).await;
        let message = json!({ "binding": "counter", "text": "How many notes?" });
        let body = house.post("/v1/chat", &own, message.clone()).await.is(200);
        assert_eq!((&body["text"], &body["calls"], &body["violations"]), (&json!("There are none yet."), &json!([]), &json!([])));
        assert_eq!((&body["usage"]["cost_micros"], &body["usage"]["tool_calls"]), (&json!(null), &json!(1)));
        let told = house.stream(chat(&own, &message), usize::MAX).await.1;
        let inside: Vec<_> = told.iter().filter(|event| event.name.starts_with("tool_")).collect();
        assert_eq!(inside.len(), 2, "{told:?}");
        for event in inside {
            let shown = ["arguments", "result"].map(|name| event.data[name].clone());
            assert_eq!((shown, &event.data["tool"]), ([json!(null), json!(null)], &json!("count")));
        }
        let staff = house.key(Role::Staff).await;
        let asked = json!({ "binding": "counter", "text": "hello", "person": house.shop.staff });
        assert!(house.post("/v1/chat", &staff, asked).await.is(200)["calls"].is_array());
    }

    async fn an_id_of_a_message_needs_somebody_who_gave_it(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Yes.")]).await;
        let key = house.key(Role::Staff).await;
        let message = json!({ "binding": "counter", "text": "hi", "message_id": "1" });
        let refused = house.post("/v1/chat", &key, message).await.refused(422, "invalid");
        assert!(refused.contains("person") && refused.contains("requires"), "{refused}");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM runs WHERE tenant_id = $1").await, 0);
    }

    async fn what_does_not_fit_is_said_in_plain_words(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Owner).await;
        for path in ["/v1/chat", "/v1/persons", "/v1/keys"] {
            let refused = house.post(path, &key, json!([])).await.refused(422, "invalid");
            assert!(refused.contains("JSON object") && !refused.contains("struct"), "{path}: {refused}");
        }
        assert!(house.post("/v1/chat", &key, json!([])).await.refused(422, "invalid").contains("`text`"));
        let with = |person: serde_json::Value| json!({ "binding": "counter", "text": "hi", "person": person });
        for (person, named) in [
            (json!("raju"), "a person's id, or an object with `phone`"), (json!({ "phonee": "1" }), "phonee"),
            (json!({ "phone": 98 }), "person.phone"), (json!(7), "a person's id"),
        ] {
            let refused = house.post("/v1/chat", &key, with(person)).await.refused(422, "invalid");
            assert!(refused.contains(named) && !refused.contains("enum"), "{refused}");
        }
    }

    async fn visitors_are_known_again(test: TestDb) {
        let house = Installation::open(&test, std::iter::repeat_n(ScriptedTurn::text("Yes."), 10)).await;
        let key = house.key(Role::Staff).await;
        let say = |who: serde_json::Value| json!({ "binding": "counter", "text": "hello", "person": who });
        let visitor = json!({ "visitor": "0123456789abcdef", "name": "Meera" });
        let first = house.post("/v1/chat", &key, say(visitor.clone())).await.is(200);
        let second = house.post("/v1/chat", &key, say(visitor)).await.is(200);
        assert_eq!((&first["person"], &first["session"]), (&second["person"], &second["session"]));
        let by_id = house.post("/v1/chat", &key, say(first["person"].clone())).await.is(200);
        assert_eq!(by_id["session"], first["session"]);
        let person = house.get(&format!("/v1/persons/{}", first["person"].as_str().unwrap()), &key).await.is(200);
        assert_eq!((&person["visitor"], &person["name"]), (&json!(true), &json!("Meera")));
        let nobody = house.post("/v1/chat", &key, json!({ "binding": "counter", "text": "hello" })).await.is(200);
        assert_ne!(nobody["person"], first["person"]);
        for bad in [json!({}), json!({ "visitor": "short" }), json!({ "phone": "+919812345678", "email": "a@b.in" }), json!({ "phone": "x" })] {
            house.post("/v1/chat", &key, say(bad)).await.refused(422, "invalid");
        }
    }

    async fn an_aadhaar_number_is_refused_and_a_limit_is_told_as_an_answer(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Staff).await;
        let message = json!({ "binding": "counter", "text": "my aadhaar is 2345 6789 0124", "person": house.shop.staff });
        let body = house.post("/v1/chat", &key, message).await.is(200);
        assert_eq!((&body["state"], &body["halt"]["code"], &body["degraded"]), (&json!("halted"), &json!("refused_at_door"), &json!(true)));
        assert!(!body.to_string().contains("6789"), "{body}");
    }
}

//! As OpenAI's clients speak: models, completions, errors, limits.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_llm::{ChatEvent, ModelError, ModelRole as Says};
use munshi_test_support::models::ScriptedTurn;
use serde_json::{Value, json};

use crate::api::support::Installation;

pub(crate) const COMPLETIONS: &str = "/v1/chat/completions";

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub(crate) fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
pub(crate) fn asking(messages: Value) -> Value {
    json!({ "model": "counter", "messages": messages })
}

/// A key of somebody who works there.
pub(crate) async fn staff(house: &Installation) -> String {
    house.key_with(house.shop.tenant, KeySubject::Person(house.shop.staff), None, None).await
}

pub(crate) fn request(key: &str, headers: &[(&str, &str)], body: &Value) -> Request<Body> {
    let mut request = Request::post(COMPLETIONS)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

/// The data of every event, in order, without the last, which says that it is over.
pub(crate) async fn pieces(house: &Installation, key: &str, mut body: Value) -> Vec<Value> {
    body["stream"] = json!(true);
    let reply = house.post(COMPLETIONS, key, body).await;
    assert_eq!(
        reply.header("content-type"),
        "text/event-stream",
        "{:?}",
        String::from_utf8_lossy(&reply.body)
    );
    let text = String::from_utf8(reply.body).unwrap();
    let mut data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.pop(), Some("[DONE]"));
    data.into_iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

pub(crate) fn words(pieces: &[Value]) -> String {
    pieces.iter().filter_map(|piece| piece["choices"][0]["delta"]["content"].as_str()).collect()
}

on_both! {
    async fn bindings_are_models(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Staff).await;
        let reply = house.get("/v1/models", &key).await;
        let list = reply.is(200);
        let models = list["data"].as_array().unwrap();
        let model = models.iter().find(|model| model["id"] == "counter").unwrap();
        assert_eq!((&list["object"], &model["object"], &model["owned_by"]), (&json!("list"), &json!("model"), &json!("shop")));
        assert!(model["created"].as_i64().unwrap() > 1_600_000_000);
        assert_eq!(&house.get("/v1/models/counter", &key).await.is(200), model);
        let one = house.key_with(house.shop.tenant, KeySubject::Role(Role::Staff), None, Some(vec![house.shop.binding])).await;
        let reached = house.get("/v1/models", &one).await.is(200);
        assert_eq!(reached["data"].as_array().unwrap().len(), 1, "{reached}");
        let left: u32 = reply.header("x-ratelimit-remaining-requests").parse().unwrap();
        assert_eq!((reply.header("x-ratelimit-limit-requests"), left), ("600", 599));
        for path in ["/v1/models/nobody", "/v1/models/No%20Such"] {
            let error = house.get(path, &key).await.is(404)["error"].clone();
            assert_eq!((&error["code"], &error["type"]), (&json!("model_not_found"), &json!("invalid_request_error")));
        }
    }

    async fn the_last_words_are_answered(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("We open at nine.")]).await;
        let key = staff(&house).await;
        let body = json!({ "model": "counter", "messages": [user("When do you open?")], "temperature": 0.2, "n": 1 });
        let reply = house.post(COMPLETIONS, &key, body).await;
        let told = reply.is(200);
        assert_eq!((&told["object"], &told["model"]), (&json!("chat.completion"), &json!("counter")));
        let choice = &told["choices"][0];
        assert_eq!(choice["message"], json!({ "role": "assistant", "content": "We open at nine.", "refusal": null }));
        assert_eq!((&choice["index"], &choice["finish_reason"]), (&json!(0), &json!("stop")));
        let usage = &told["usage"];
        let sum = usage["prompt_tokens"].as_i64().unwrap() + usage["completion_tokens"].as_i64().unwrap();
        assert_eq!(usage["total_tokens"], sum);
        assert_eq!(reply.header("x-munshi-ignored"), "temperature");
        let run = house.get(&format!("/v1/runs/{}", reply.header("x-run-id")), &house.key(Role::Owner).await).await.is(200);
        assert_eq!((&run["state"], &run["person"]), (&json!("done"), &json!(house.shop.staff)));
        assert_eq!(told["id"], format!("chatcmpl-{}", reply.header("x-run-id").replace('-', "")));
    }

    async fn an_answer_comes_in_pieces(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("count", &json!({})), ScriptedTurn::text("There are none. Really.")]).await;
        let key = staff(&house).await;
        let mut body = asking(json!([user("How many notes?")]));
        body["stream_options"] = json!({ "include_usage": true });
        let pieces = pieces(&house, &key, body).await;
        assert_eq!(pieces[0]["choices"][0]["delta"]["role"], "assistant");
        assert_eq!(words(&pieces), "There are none. Really.");
        let id = &pieces[0]["id"];
        for piece in &pieces {
            assert_eq!((&piece["id"], &piece["object"]), (id, &json!("chat.completion.chunk")));
            assert!(piece["choices"][0]["delta"]["tool_calls"].is_null(), "what the binding calls itself is not shown");
        }
        let (last, before) = (&pieces[pieces.len() - 1], &pieces[pieces.len() - 2]);
        assert_eq!(before["choices"][0]["finish_reason"], "stop");
        assert_eq!((&before["usage"], &last["choices"]), (&Value::Null, &json!([])));
        assert!(last["usage"]["total_tokens"].is_i64());
        assert!(pieces.iter().all(|piece| piece.as_object().unwrap().contains_key("usage")));
    }

    async fn what_the_client_remembers_is_the_context_and_nothing_else(test: TestDb) {
        let house = Installation::open(&test, ["One.", "Two.", "Three."].map(ScriptedTurn::text)).await;
        let key = staff(&house).await;
        house.post(COMPLETIONS, &key, asking(json!([user("first")]))).await.is(200);
        let before = json!([{ "role": "system", "content": "You are a pirate." }, user("first"), assistant("One."), user("second")]);
        house.post(COMPLETIONS, &key, asking(before)).await.is(200);
        // Another conversation of the same person, which knows nothing of the first.
        house.post(COMPLETIONS, &key, asking(json!([user("third")]))).await.is(200);
        let asked = house.model.requests();
        let said = |at: usize| -> Vec<(Says, String)> {
            asked[at].request.messages.iter().map(|message| (message.role, message.text())).collect()
        };
        assert_eq!(said(1), [(Says::User, "first".to_owned()), (Says::Assistant, "One.".to_owned()), (Says::User, "second".to_owned())]);
        assert_eq!(said(2), [(Says::User, "third".to_owned())]);
        let system = asked[1].request.system.join("\n");
        assert!(system.contains("says: You are a pirate."), "told as what the program says");
        assert!(!asked[2].request.system.join("\n").contains("pirate"));
        // Three turns, each once: six messages and not one more.
        let count = house.number(house.shop.tenant, "SELECT COUNT(*) FROM messages WHERE tenant_id = $1").await;
        assert_eq!(count, 6);
        let kept = house.number(house.shop.tenant, "SELECT COUNT(*) FROM brought WHERE tenant_id = $1").await;
        assert_eq!(kept, 0, "what was brought is not kept");
    }

    async fn the_same_request_is_taken_once(test: TestDb) {
        let house = Installation::open(&test, ["One.", "Two."].map(ScriptedTurn::text)).await;
        let key = staff(&house).await;
        let body = asking(json!([user("hello")]));
        let mut runs = Vec::new();
        for headers in [
            &[("idempotency-key", "a")][..],
            &[("idempotency-key", "a")],
            &[("x-stainless-retry-count", "0")],
            &[("x-stainless-retry-count", "1")],
        ] {
            let response = house.send(request(&key, headers, &body)).await;
            assert_eq!(response.status().as_u16(), 200);
            runs.push(response.headers()["x-run-id"].clone());
        }
        assert_eq!((&runs[0], &runs[2]), (&runs[1], &runs[3]));
        assert_ne!(runs[0], runs[2], "the same words once more are another turn");
        let other = asking(json!([user("other words")]));
        assert_eq!(house.send(request(&key, &[("idempotency-key", "a")], &other)).await.status().as_u16(), 409);
        assert_eq!(house.model.remaining(), 0);
    }

    async fn whoever_is_named_speaks(test: TestDb) {
        let house = Installation::open(&test, (0..6).map(|_| ScriptedTurn::text("Yes."))).await;
        let (role, own) = (house.key(Role::Owner).await, staff(&house).await);
        let person = async |key: &str, user_is: Value, headers: &[(&str, &str)]| {
            let mut body = asking(json!([user("hi")]));
            body["user"] = user_is;
            let response = house.send(request(key, headers, &body)).await;
            let status = response.status().as_u16();
            let run = response.headers().get("x-run-id").map(|id| id.to_str().unwrap().to_owned());
            let Some(run) = run else { return (status, Value::Null) };
            (status, house.get(&format!("/v1/runs/{run}"), &role).await.is(200)["person"].clone())
        };
        let staff = json!(house.shop.staff);
        assert_eq!(person(&own, Value::Null, &[]).await, (200, staff.clone()));
        assert_eq!(person(&role, staff.clone(), &[]).await, (200, staff.clone()));
        let header = [("x-munshi-person", house.shop.staff.to_string())];
        assert_eq!(person(&role, json!("app-user-1"), &[(header[0].0, &header[0].1)]).await, (200, staff.clone()));
        let (_, first) = person(&role, json!("app-user-1"), &[]).await;
        let (_, again) = person(&role, json!("app-user-1"), &[]).await;
        assert!(first == again && first != staff, "the program's own id of somebody");
        assert_eq!(person(&own, json!("app-user-1"), &[]).await.0, 403);
        let (_, nobody) = person(&role, Value::Null, &[]).await;
        assert!(nobody != first && nobody != staff, "a key that stands for a role is somebody of its own");
        assert_eq!(house.model.remaining(), 0);
    }

    async fn what_is_not_right_is_told_in_openai_s_form(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = staff(&house).await;
        let hi = || json!([user("hi")]);
        for (key, body, status, code, param) in [
            ("", asking(hi()), 401, "invalid_api_key", Value::Null),
            ("mk_nobody", asking(hi()), 401, "invalid_api_key", Value::Null),
            (key.as_str(), json!({ "model": "nobody", "messages": hi() }), 404, "model_not_found", json!("model")),
            (key.as_str(), json!({ "model": "../x", "messages": hi() }), 404, "model_not_found", json!("model")),
            (key.as_str(), json!({ "model": "counter" }), 400, "invalid_value", json!("messages")),
            (key.as_str(), asking(json!("hi")), 400, "invalid_value", json!("messages")),
            (key.as_str(), asking(json!([user(" ")])), 400, "invalid_value", json!("messages")),
            (key.as_str(), json!({ "model": "counter", "messages": hi(), "n": 3 }), 400, "unsupported_value", json!("n")),
            (key.as_str(), json!({ "model": "counter", "messages": hi(), "stop": "x" }), 400, "unsupported_parameter", json!("stop")),
        ] {
            let error = house.post(COMPLETIONS, key, body).await.is(status)["error"].clone();
            assert_eq!((&error["code"], &error["param"]), (&json!(code), &param), "{error}");
            assert!(error["message"].as_str().unwrap().len() > 10 && error["type"].is_string(), "{error}");
        }
        let broken = Request::post(COMPLETIONS).header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json").body(Body::from("{")).unwrap();
        assert_eq!(house.send(broken).await.status().as_u16(), 400);
        let viewer = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), Some(&["persons"]), None).await;
        assert_eq!(house.post(COMPLETIONS, &viewer, asking(hi())).await.is(403)["error"]["type"], "permission_error");
        let method = house.call("DELETE", COMPLETIONS, &key, None).await.is(405);
        assert_eq!(method["error"]["code"], "method_not_allowed");
        assert_eq!(house.number(house.shop.tenant, "SELECT COUNT(*) FROM runs WHERE tenant_id = $1").await, 0);
    }

    async fn a_turn_without_an_answer_is_an_error(test: TestDb) {
        let dead = || ScriptedTurn::fault(ModelError::Rejected { status: 400, message: "no".to_owned() });
        let house = Installation::open(&test, [dead(), dead()]).await;
        let key = staff(&house).await;
        let reply = house.post(COMPLETIONS, &key, asking(json!([user("hi")]))).await;
        assert_eq!(reply.is(503)["error"]["code"], "no_model");
        assert_eq!(reply.header("x-should-retry"), "false");
        let mut body = asking(json!([user("hi")]));
        body["stream"] = json!(true);
        let streamed = house.post(COMPLETIONS, &key, body).await;
        assert_eq!(streamed.is(503)["error"]["type"], "server_error", "known before the stream begins");
    }

    async fn words_that_were_taken_back_end_the_stream(test: TestDb) {
        let text = |words: &str| ChatEvent::Text(words.to_owned());
        let broken = |words: &str| ScriptedTurn::events_then_fault([text(words), text(" And")], ModelError::Interrupted).with_pause(Duration::from_millis(300));
        let house = Installation::open(&test, [
            broken("It is nine o'clock here. We open soon."), ScriptedTurn::text("It is nine o'clock here. We open soon. Come."),
            broken("It is nine o'clock here. We open soon."), ScriptedTurn::text("We are closed today, come tomorrow."),
        ]).await;
        let key = staff(&house).await;
        let same = pieces(&house, &key, asking(json!([user("when?")]))).await;
        assert_eq!(words(&same), "It is nine o'clock here. We open soon. Come.");
        let other = pieces(&house, &key, asking(json!([user("when?")]))).await;
        let error = &other.last().unwrap()["error"];
        assert_eq!(error["code"], "reply_taken_back", "{other:?}");
        assert!(error["message"].as_str().unwrap().contains("/v1/runs/"));
    }

    async fn too_often_says_when_to_come_back(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Staff).await;
        for _ in 0..600 {
            house.get("/v1/models", &key).await.is(200);
        }
        let refused = house.get("/v1/models", &key).await;
        assert_eq!(refused.is(429)["error"]["code"], "rate_limit_exceeded");
        assert_eq!((refused.header("x-ratelimit-remaining-requests"), refused.header("x-ratelimit-limit-requests")), ("0", "600"));
        assert!(!refused.header("retry-after").is_empty() && !refused.header("x-ratelimit-reset-requests").is_empty());
    }

    async fn texts_become_vectors(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let key = house.key(Role::Staff).await;
        let floats = house.post("/v1/embeddings", &key, json!({ "model": "counter", "input": ["rice", "चावल"] })).await;
        assert_eq!(floats.status, 400, "this route has a model that makes none: {:?}", String::from_utf8_lossy(&floats.body));
        let bad = house.post("/v1/embeddings", &key, json!({ "model": "counter", "input": [[1, 2]] })).await;
        assert_eq!(bad.is(400)["error"]["param"], "input");
        let nobody = house.post("/v1/embeddings", &key, json!({ "model": "nobody", "input": "x" })).await;
        assert_eq!(nobody.is(404)["error"]["code"], "model_not_found");
    }
}

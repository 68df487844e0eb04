//! Questions before an act, answered through the API.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, wait_until};
use serde_json::{Value, json};

use crate::api::support::{Installation, chat, follow, text_of};

async fn waiting(house: &Installation, key: &str) -> (Value, Value) {
    let say = json!({ "binding": "counter", "text": "wipe it", "person": house.shop.staff });
    let body = house.post("/v1/chat", key, say).await.is(200);
    assert_eq!(body["state"], "waiting_approval", "{body}");
    let path = format!("/v1/approvals/{}", body["approval"].as_str().unwrap());
    let approval = house.get(&path, key).await.is(200);
    (body, approval)
}

/// Waits until the run has ended.
async fn ended(house: &Installation, key: &str, run: &str) -> Value {
    let path = format!("/v1/runs/{run}");
    wait_until(async || house.get(&path, key).await.is(200)["ended_at"] != Value::Null).await;
    house.get(&path, key).await.is(200)
}

fn say(house: &Installation, text: &str) -> Value {
    json!({ "binding": "counter", "text": text, "person": house.shop.owner })
}

fn wipe_after(gate: Option<&ScriptGate>) -> [ScriptedTurn; 2] {
    let wipe = ScriptedTurn::call("wipe", &json!({ "text": "all" }));
    let wipe = match gate {
        Some(gate) => wipe.with_gate(gate),
        None => wipe,
    };
    [wipe, ScriptedTurn::text("All right.")]
}

async fn say_yes_and_see_it_done(house: &Installation, key: &str) {
    house.post("/v1/chat", key, say(house, "yes")).await.is(200);
    wait_until(async || house.world.wiped.lock().unwrap().len() == 1).await;
}

async fn hang_up_before_question(test: &TestDb, streams: bool) {
    let gate = ScriptGate::default();
    let house = Installation::open(test, wipe_after(Some(&gate))).await;
    let key = house.key(Role::Owner).await;
    if streams {
        house.stream(chat(&key, &say(&house, "wipe it")), 1).await;
    } else {
        let hung_up = tokio::select! {
            _ = house.post("/v1/chat", &key, say(&house, "wipe it")) => false,
            () = wait_until(async || house.model.requests().len() == 1) => true,
        };
        assert!(hung_up);
    }
    gate.open();
    let waiting = async || house.get("/v1/approvals", &key).await.is(200)["items"].as_array().unwrap().len();
    wait_until(async || waiting().await == 1).await;
    assert_eq!(house.post("/v1/chat", &key, say(&house, "yes")).await.is(200)["state"], "done");
    assert_eq!(waiting().await, 1);
    assert!(house.world.wiped.lock().unwrap().is_empty());
}

on_both! {
    async fn a_yes_lets_the_agent_go_ahead_once(test: TestDb) {
        let script = [ScriptedTurn::call("wipe", &json!({ "text": "all" })), ScriptedTurn::text("It is wiped.")];
        let house = Installation::open(&test, script).await;
        let key = house.key(Role::Owner).await;
        let (body, approval) = waiting(&house, &key).await;
        let run = body["run"].as_str().unwrap();
        let path = |verb: &str| format!("/v1/approvals/{}/{verb}", approval["id"].as_str().unwrap());
        house.post(&path("grant"), &key, json!({ "digest": "of something else" })).await.refused(409, "conflict");
        house.post(&path("grant"), &key, json!({})).await.refused(422, "invalid");
        let staff = house.key(Role::Staff).await;
        house.post(&path("grant"), &staff, json!({ "digest": approval["digest"] })).await.refused(403, "forbidden");
        assert!(house.world.wiped.lock().unwrap().is_empty());
        let granted = house.post(&path("grant"), &key, json!({ "digest": approval["digest"] })).await.is(200);
        assert_eq!(granted["state"], "granted");
        assert!(granted["answered_via"].as_str().unwrap().starts_with("api:"));
        assert_eq!(ended(&house, &key, run).await["state"], "done");
        assert_eq!(house.world.wiped.lock().unwrap().len(), 1);
        // The same answer again is no mistake; another one comes too late.
        house.post(&path("grant"), &key, json!({ "digest": approval["digest"] })).await.is(200);
        house.post(&path("refuse"), &key, json!({ "digest": approval["digest"] })).await.refused(409, "conflict");
        assert_eq!(house.world.wiped.lock().unwrap().len(), 1);
        let (_, told) = house.stream(follow(&key, run, None), usize::MAX).await;
        assert!(text_of(&told).ends_with("It is wiped."), "{told:?}");
        let open = house.get("/v1/approvals", &key).await.is(200);
        assert_eq!(open["items"].as_array().unwrap().len(), 0);
        assert_eq!(house.get("/v1/approvals?all=true", &key).await.is(200)["items"][0]["state"], "granted");
    }

    async fn what_a_202_has_not_shown_is_not_answered_by_a_bare_yes(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [ScriptedTurn::call("wipe", &json!({ "text": "all" })).with_gate(&gate), ScriptedTurn::text("All right.")];
        let house = Installation::open(&test, []).await;
        house.world.hurried.store(true, std::sync::atomic::Ordering::SeqCst);
        let house = house.again(&test, script).await;
        let key = house.key(Role::Owner).await;
        let say = |text: &str| json!({ "binding": "counter", "text": text, "person": house.shop.owner });
        let asked = house.post("/v1/chat", &key, say("wipe it")).await.is(202);
        let path = format!("/v1/runs/{}", asked["run"].as_str().unwrap());
        gate.open();
        wait_until(async || house.get(&path, &key).await.is(200)["state"] == "waiting_approval").await;
        let yes = house.post("/v1/chat", &key, say("yes")).await.json();
        ended(&house, &key, yes["run"].as_str().unwrap()).await;
        assert!(house.world.wiped.lock().unwrap().is_empty());
        assert_eq!(house.get(&path, &key).await.is(200)["state"], "waiting_approval");
    }

    /// A till whose own patience is shorter than ours closes the line.
    async fn whoever_hung_up_was_shown_no_question(test: TestDb) {
        hang_up_before_question(&test, false).await;
    }

    async fn a_stream_that_broke_off_has_shown_no_question(test: TestDb) {
        hang_up_before_question(&test, true).await;
    }

    async fn a_bare_yes_answers_what_the_answer_has_asked(test: TestDb) {
        let house = Installation::open(&test, wipe_after(None)).await;
        let key = house.key(Role::Owner).await;
        house.post("/v1/chat", &key, say(&house, "wipe it")).await.is(200);
        say_yes_and_see_it_done(&house, &key).await;
    }

    async fn a_bare_yes_answers_what_the_stream_has_asked(test: TestDb) {
        let house = Installation::open(&test, wipe_after(None)).await;
        let key = house.key(Role::Owner).await;
        house.stream(chat(&key, &say(&house, "wipe it")), usize::MAX).await;
        say_yes_and_see_it_done(&house, &key).await;
    }

    async fn a_bare_yes_answers_what_the_stream_asked_that_was_taken_up_again(test: TestDb) {
        let gate = ScriptGate::default();
        let house = Installation::open(&test, wipe_after(Some(&gate))).await;
        let key = house.key(Role::Owner).await;
        let (headers, _) = house.stream(chat(&key, &say(&house, "wipe it")), 1).await;
        gate.open();
        house.stream(follow(&key, headers["x-run-id"].to_str().unwrap(), None), usize::MAX).await;
        say_yes_and_see_it_done(&house, &key).await;
    }

    async fn a_no_is_told_to_the_model(test: TestDb) {
        let script = [ScriptedTurn::call("wipe", &json!({ "text": "all" })), ScriptedTurn::text("Then I leave it.")];
        let house = Installation::open(&test, script).await;
        let key = house.key(Role::Admin).await;
        let (body, approval) = waiting(&house, &key).await;
        let path = format!("/v1/approvals/{}/refuse", approval["id"].as_str().unwrap());
        assert_eq!(house.post(&path, &key, json!({ "digest": approval["digest"] })).await.is(200)["state"], "refused");
        ended(&house, &key, body["run"].as_str().unwrap()).await;
        assert!(house.world.wiped.lock().unwrap().is_empty());
    }

    async fn a_key_for_another_binding_does_not_see_the_question(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::call("wipe", &json!({ "text": "all" }))]).await;
        let key = house.key(Role::Owner).await;
        let (_, approval) = waiting(&house, &key).await;
        let id = approval["id"].as_str().unwrap();
        let elsewhere = house.key_with(house.shop.tenant, KeySubject::Role(Role::Owner), None, Some(vec![test.ids.next()])).await;
        house.get(&format!("/v1/approvals/{id}"), &elsewhere).await.refused(404, "not_found");
        house.post(&format!("/v1/approvals/{id}/grant"), &elsewhere, json!({ "digest": approval["digest"] })).await.refused(404, "not_found");
        assert_eq!(house.get("/v1/approvals", &elsewhere).await.is(200)["items"].as_array().unwrap().len(), 0);
    }

    async fn whoever_may_answer_does_so_on_a_page(test: TestDb) {
        let house = Installation::open(&test, wipe_after(None)).await;
        let key = house.key(Role::Owner).await;
        let (_, approval) = waiting(&house, &key).await;
        let (id, digest) = (approval["id"].as_str().unwrap(), approval["digest"].as_str().unwrap());
        let page = format!("/account/approvals/shop/{id}");
        let (grant, refuse) = (format!("{page}/grant"), format!("{page}/refuse"));
        let shown = [("digest", digest)];
        assert_eq!(house.browser().get(&page).await.status, 303, "whoever comes by the mail signs in first");

        let mut nina = house.operator("nina@shop.example", house.shop.tenant, Role::Staff).await;
        assert_eq!(nina.get(&page).await.status, 403);
        assert_eq!(nina.submit(&grant, &shown).await.status, 403);
        let mut raju = house.operator("raju@other.example", house.other.tenant, Role::Owner).await;
        assert_eq!(raju.get(&page).await.status, 404);
        assert_eq!(raju.get(&format!("/account/approvals/other/{id}")).await.status, 404);
        assert_eq!(raju.submit(&format!("/account/approvals/other/{id}/grant"), &shown).await.status, 404);

        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        asha.get(&page).await.says(200, digest);
        assert_eq!(asha.post(&grant, &shown).await.status, 403, "a form of another's page");
        assert_eq!(asha.submit(&grant, &[("digest", "of something else")]).await.status, 409);
        assert!(house.world.wiped.lock().unwrap().is_empty());
        asha.submit(&grant, &shown).await.moved(&page);
        wait_until(async || house.world.wiped.lock().unwrap().len() == 1).await;
        let done = asha.get(&page).await.says(200, "You said yes.");
        assert!(!done.contains("/grant"), "{done}");
        assert_eq!(asha.submit(&refuse, &shown).await.status, 409);
        assert_eq!(house.world.wiped.lock().unwrap().len(), 1);
    }
}

//! A stream that breaks off is taken up again.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::background::NewBackgroundRun;
use munshi_conversations::runs::RunCause;
use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_llm::{ChatEvent, ModelError};
use munshi_pack::operation::PackServices;
use munshi_test_support::models::{ScriptedTurn, build_text_events};
use munshi_types::SystemRandom;
use serde_json::json;

use crate::api::support::{Installation, Told, chat, follow, text_of};

/// Word by word, as models speak.
fn in_pieces(text: &str) -> ScriptedTurn {
    let mut events = build_text_events(text);
    let words = text.split_inclusive(' ').map(|word| ChatEvent::Text(word.to_owned()));
    events.splice(1..2, words);
    ScriptedTurn::events(events)
}

/// Works on what waits in the background.
async fn work(house: &Installation) {
    let mut registry = JobRegistry::default();
    house.engine.install_background(&mut registry, 2, PackServices::default());
    let (random, options) = (Arc::new(SystemRandom), JobRunnerOptions::default());
    JobRunner::new(house.db.clone(), &house.queue, random, registry, options).drain().await.unwrap();
}

/// What a client has that saw `seen` and then the rest.
fn whole(seen: &[Told], rest: &[Told]) -> String {
    text_of(&[seen, rest].concat())
}

/// Cuts a finished run's stream behind every event and hears the rest, here and on another node.
async fn cut_everywhere(house: &Installation, other: &Installation, key: &str, run: &str, reply: &str) {
    let (_, all) = house.stream(follow(key, run, None), usize::MAX).await;
    assert_eq!(text_of(&all), reply);
    for seen in 1..=all.len() {
        let seen = &all[..seen];
        let Some(last) = seen.iter().rev().find(|event| !event.id.is_empty()) else { continue };
        for node in [house, other] {
            let (_, rest) = node.stream(follow(key, run, Some(&last.id)), usize::MAX).await;
            assert_eq!(whole(seen, &rest), reply, "after {last:?}");
            assert!(rest.iter().all(|event| event.name != "done") || rest.last().unwrap().name == "done");
        }
    }
}

on_both! {
    async fn a_client_that_goes_at_any_event_gets_the_rest(test: TestDb) {
        let reply = "There is one note. नमस्ते, that is all there is to say about it.";
        let script = || [ScriptedTurn::call("count", &json!({})), in_pieces(reply)];
        let house = Installation::open(&test, script()).await;
        let key = house.key(Role::Staff).await;
        let other = house.again(&test, []).await;
        let message = json!({ "binding": "counter", "text": "How many?", "person": house.shop.staff });
        let (_, told) = house.stream(chat(&key, &message), usize::MAX).await;
        let run = told[0].data["run"].as_str().unwrap().to_owned();
        // The stream of the message itself, cut at every event.
        for seen in 1..=told.len() {
            let seen = &told[..seen];
            let Some(last) = seen.iter().rev().find(|event| !event.id.is_empty()) else { continue };
            let (_, rest) = house.stream(follow(&key, &run, Some(&last.id)), usize::MAX).await;
            assert_eq!(whole(seen, &rest), reply, "after {last:?}");
        }
        cut_everywhere(&house, &other, &key, &run, reply).await;
        let after = format!("/v1/runs/{run}/stream?after={}", told.last().unwrap().id);
        let reply = house.get(&after, &key).await;
        assert_eq!(reply.status, 200, "behind the last there is nothing but the end");
    }

    async fn the_turn_goes_on_when_the_client_has_gone(test: TestDb) {
        let slow = in_pieces("One two three four five six.").with_pause(Duration::from_millis(30));
        let house = Installation::open(&test, [slow]).await;
        let key = house.key(Role::Staff).await;
        let message = json!({ "binding": "counter", "text": "Count.", "person": house.shop.staff });
        for most in [1, 2, 3] {
            let message = { let mut m = message.clone(); m["message_id"] = json!("once"); m };
            let (_, seen) = house.stream(chat(&key, &message), most).await;
            let run = seen[0].data["run"].as_str().unwrap().to_owned();
            let last = seen.iter().rev().find(|event| !event.id.is_empty()).unwrap();
            let (_, rest) = house.stream(follow(&key, &run, Some(&last.id)), usize::MAX).await;
            assert_eq!(whole(&seen, &rest), "One two three four five six.");
            assert_eq!(rest.last().unwrap().name, "done");
        }
    }

    async fn a_reply_that_was_broken_off_begins_again(test: TestDb) {
        let broken = ScriptedTurn::events_then_fault(build_text_events("It is ab").into_iter().take(2), ModelError::Interrupted);
        let house = Installation::open(&test, [broken, ScriptedTurn::text("It is nine.")]).await;
        let key = house.key(Role::Staff).await;
        let message = json!({ "binding": "counter", "text": "What time is it?", "person": house.shop.staff });
        let (_, told) = house.stream(chat(&key, &message), usize::MAX).await;
        assert_eq!(text_of(&told), "It is nine.", "{told:?}");
        let run = told[0].data["run"].as_str().unwrap();
        for seen in 1..=told.len() {
            let seen = &told[..seen];
            let Some(last) = seen.iter().rev().find(|event| !event.id.is_empty()) else { continue };
            let (_, rest) = house.stream(follow(&key, run, Some(&last.id)), usize::MAX).await;
            assert_eq!(whole(seen, &rest), "It is nine.", "after {last:?}");
        }
    }

    async fn a_second_stream_is_told_about_the_first(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("a").hanging(), ScriptedTurn::text("Second.")]).await;
        let key = house.key(Role::Staff).await;
        let say = |text: &str| json!({ "binding": "counter", "text": text, "person": house.shop.staff });
        let first = house.send(chat(&key, &say("one"))).await;
        let run = first.headers()["x-run-id"].to_str().unwrap().to_owned();
        let (_, second) = house.stream(chat(&key, &say("two")), 2).await;
        assert_eq!((&second[0].data["fate"], &second[0].data["behind"]), (&json!("queued"), &json!(run)));
        assert_eq!((second[1].name.as_str(), &second[1].data["what"], &second[1].data["run"]),
            ("thinking", &json!("another_stream"), &json!(run)));
        drop(first);
        // Somebody else's stream is nobody's business.
        let say = json!({ "binding": "counter", "text": "hi", "person": house.shop.owner });
        let owner = house.key(Role::Owner).await;
        let (_, third) = house.stream(chat(&owner, &say), 2).await;
        assert_ne!(third[1].data["what"], "another_stream");
        house.call("POST", &format!("/v1/runs/{run}/cancel"), &key, None).await.is(200);
    }

    async fn a_turn_is_stopped(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("One two").hanging()]).await;
        let key = house.key(Role::Staff).await;
        let say = json!({ "binding": "counter", "text": "count", "person": house.shop.staff });
        let response = house.send(chat(&key, &say)).await;
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        assert_eq!(house.call("POST", &format!("/v1/runs/{run}/cancel"), &key, None).await.is(200)["cancelled"], true);
        let (_, told) = house.stream(follow(&key, &run, None), usize::MAX).await;
        assert_eq!(told.last().unwrap().data["state"], "halted");
        let shown = house.get(&format!("/v1/runs/{run}"), &key).await.is(200);
        assert_eq!((&shown["state"], &shown["halt"]["code"]), (&json!("halted"), &json!("cancelled")));
        assert_eq!(house.call("POST", &format!("/v1/runs/{run}/cancel"), &key, None).await.is(200)["cancelled"], false);
    }

    async fn work_that_nobody_typed_is_followed_by_those_who_may_see_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (key, other) = (house.key(Role::Viewer).await, house.again(&test, []).await);
        let run_queue = house.engine.run_starter();
        let new = NewBackgroundRun { kind: "notes.count".to_owned(), cause: RunCause::Clock, cause_key: None, input: json!({}) };
        let run = house.db.write(house.shop.tenant, move |tx| run_queue.begin(tx, &new)).await.unwrap().run.to_string();
        let (_, told) = tokio::join!(work(&house), other.stream(follow(&key, &run, None), usize::MAX));
        let told = told.1;
        let names: Vec<&str> = told.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["tool_call", "tool_result", "ended"], "{told:?}");
        assert_eq!((&told[0].data["tool"], &told[1].data["ok"], &told[0].data["call"]), (&json!("count"), &json!(true), &told[1].data["call"]));
        let end = &told[2].data;
        assert_eq!((&end["state"], &end["ok"], &end["result"]["counted"], &end["halt"]), (&json!("done"), &json!(true), &json!(true), &json!(null)));
        for (seen, event) in told.iter().enumerate() {
            let (_, rest) = house.stream(follow(&key, &run, Some(&event.id)), usize::MAX).await;
            assert_eq!(rest.iter().map(|event| &event.id).collect::<Vec<_>>(), told[seen + 1..].iter().map(|event| &event.id).collect::<Vec<_>>());
        }
        let path = format!("/v1/runs/{run}/stream");
        let elsewhere = house.key_of(house.other.tenant, Role::Owner).await;
        house.get(&path, &elsewhere).await.refused(404, "not_found");
        let fan = house.add_person(house.shop.tenant, "Fan", None).await;
        let stranger = house.key_with(house.shop.tenant, KeySubject::Person(fan), None, None).await;
        house.get(&path, &stranger).await.refused(404, "not_found");
    }

    async fn what_is_no_id_of_an_event_is_refused(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Yes.")]).await;
        let key = house.key(Role::Staff).await;
        let say = json!({ "binding": "counter", "text": "hi", "person": house.shop.staff });
        let run = house.post("/v1/chat", &key, say).await.is(200)["run"].as_str().unwrap().to_owned();
        let path = |after: &str| format!("/v1/runs/{run}/stream?after={after}");
        house.get(&path("nonsense"), &key).await.refused(400, "bad_request");
        house.get(&path("01a1dd41-32c0-704f-b28c-400adb3d8fd2:1.2.3"), &key).await.refused(422, "invalid");
        house.get(&path("1.2.3&more=1"), &key).await.refused(400, "bad_request");
    }
}

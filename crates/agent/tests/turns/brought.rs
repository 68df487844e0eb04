//! What a program brings with a message: through a crash, past a pick, and never out by a tool's arguments.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::{MessageReceipt, ReceiveOptions, RunOutcome};
use munshi_conversations::client_context::{
    ClientCallResult, ClientCallRound, ClientContext, ClientHistoryItem, ClientToolSpec,
};
use munshi_conversations::{KeyUse, RunRecoveryScope, RunState};
use munshi_identity::Role;
use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_llm::ChatEvent as Said;
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};
use munshi_tools::NoActJournal;
use munshi_types::{AttachedFile, IdGenerator};
use serde_json::{Value, json};

use crate::turns::support::{Shop, arguments};

fn person(text: &str) -> ClientHistoryItem {
    ClientHistoryItem::Person { text: text.to_owned() }
}

fn persona(text: &str) -> ClientHistoryItem {
    ClientHistoryItem::Persona { text: text.to_owned() }
}

fn lamp() -> ClientToolSpec {
    let parameters = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    ClientToolSpec { name: "lamp".to_owned(), alias: None, description: "A lamp.".to_owned(), parameters }
}

/// The key of somebody who types.
fn typed() -> KeyUse {
    let ceiling = KeyCeiling { role: Some(Role::Owner), ..KeyCeiling::default() };
    KeyUse { key: IdGenerator::system().next(), speaks_as: KeySpeaker::Person, ceiling }
}

fn with(brought: ClientContext) -> ReceiveOptions {
    ReceiveOptions { client_context: Some(brought), key_use: Some(typed()), ..ReceiveOptions::default() }
}

async fn bring(shop: &Shop, id: &str, text: &str, brought: ClientContext) -> MessageReceipt {
    shop.engine.receive_with_options(shop.message(shop.staff, id, text), with(brought)).await.unwrap()
}

async fn brought(shop: &Shop, id: &str, text: &str, brought: ClientContext) -> RunOutcome {
    let received = bring(shop, id, text, brought).await;
    shop.outcome(&received).await
}

/// What the model was told at a request, without the system.
fn told(shop: &Shop, at: usize) -> Vec<String> {
    shop.model.requests()[at].request.messages.iter().map(munshi_llm::ChatMessage::text).collect()
}

async fn taken_up(test: &TestDb, shop: &Shop, received: &MessageReceipt) -> RunOutcome {
    test.clock.advance(Duration::from_secs(120));
    shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
    shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
    shop.outcome(received).await
}

async fn asked(shop: &Shop, count: usize) {
    wait_until(async || shop.model.requests().len() >= count).await;
}

/// The program comes back with a lamp's answer.
fn answered(outcome: &RunOutcome, answer: &str) -> (Vec<AttachedFile>, ClientContext) {
    let handed = &outcome.handed[0];
    let call = ClientCallResult {
        id: handed.id.clone(),
        tool: handed.tool.clone(),
        arguments: handed.arguments.clone(),
        answer: answer.to_owned(),
    };
    let since = vec![ClientCallRound { said: String::new(), calls: vec![call] }];
    let attached =
        AttachedFile { media_type: "x/answer".to_owned(), name: None, reference: handed.id.clone() };
    (
        vec![attached],
        ClientContext {
            words: Some("light it".to_owned()),
            since,
            tools: vec![lamp()],
            ..ClientContext::default()
        },
    )
}

on_both! {
    async fn it_survives_a_crash(test: TestDb) {
        let hanging = ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging();
        let shop = Shop::open(&test, [hanging]).await;
        let history = vec![person("one"), persona("two")];
        let received = bring(&shop, "1", "three", ClientContext { history, ..ClientContext::default() }).await;
        asked(&shop, 1).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("Four.")]).await;
        let outcome = taken_up(&test, &other, &received).await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("Four.", RunState::Done));
        assert_eq!(told(&other, 0), ["one", "two", "three"]);
        assert_eq!(other.number("SELECT COUNT(*) FROM brought WHERE tenant_id = $1").await, 0);
    }

    async fn a_crash_after_the_program_came_back_does_nothing_twice(test: TestDb) {
        let both = ScriptedTurn::calls([("note", arguments("light it")), ("lamp", arguments("on"))]);
        let hanging = ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging();
        let shop = Shop::open(&test, [both, hanging]).await;
        let first = brought(&shop, "1", "light it", ClientContext { tools: vec![lamp()], ..ClientContext::default() }).await;
        assert_eq!((first.state, first.handed.len(), shop.notes().await), (RunState::Done, 1, 1));
        assert!(first.suggestions.is_empty() && first.text.is_empty(), "{first:?}");
        let (attached, back) = answered(&first, "{\"lit\":true}");
        let message = munshi_types::InboundMessage { attached, ..shop.message(shop.staff, "2", "") };
        let received = shop.engine.receive_with_options(message, with(back)).await.unwrap();
        asked(&shop, 2).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("It is lit.")]).await;
        let outcome = taken_up(&test, &other, &received).await;
        assert_eq!((outcome.text.as_str(), other.notes().await), ("It is lit.", 1));
        let parts: Vec<String> = other.model.requests()[0].request.messages.iter().flat_map(|message| &message.parts)
            .map(|part| serde_json::to_string(part).unwrap()).collect();
        assert!(parts.iter().any(|part| part.contains("lit")) && parts.iter().any(|part| part.contains("noted")), "{parts:?}");
    }

    async fn a_pick_is_taken_where_the_choice_was_shown(test: TestDb) {
        let wish = || ScriptedTurn::call("balance", &json!({ "text": "Ramesh" }));
        let shop = Shop::open(&test, [wish(), ScriptedTurn::text("450."), wish(), ScriptedTurn::text("Which what?")]).await;
        let first = brought(&shop, "1", "what does Ramesh owe", ClientContext::default()).await;
        assert!(first.text.contains("1. Ramesh Kumar"), "{}", first.text);
        let history = vec![person("what does Ramesh owe"), persona(&first.text)];
        let picked = brought(&shop, "2", "2", ClientContext { history, ..ClientContext::default() }).await;
        assert_eq!((picked.text.as_str(), picked.calls[0].arguments["text"].as_str()), ("450.", Some("Ramesh Gupta")));
        // The same number in a conversation in which nothing was offered picks nothing.
        brought(&shop, "3", "what does Ramesh owe", ClientContext::default()).await;
        let history = vec![person("how many?"), persona("How many do you want?")];
        let other = brought(&shop, "4", "2", ClientContext { history, ..ClientContext::default() }).await;
        assert_eq!((other.text.as_str(), other.calls.len()), ("Which what?", 0));
    }

    async fn a_secret_leaves_by_no_argument(test: TestDb) {
        let key = ScriptedTurn::call("lamp", &arguments("AKIAIOSFODNN7EXAMPLE"));
        let shop = Shop::open(&test, [key, ScriptedTurn::text("I may not.")]).await;
        let outcome = brought(&shop, "1", "light it", ClientContext { tools: vec![lamp()], ..ClientContext::default() }).await;
        assert_eq!((outcome.text.as_str(), outcome.handed.len()), ("I may not.", 0));
        assert_eq!(outcome.violations, ["no-secrets"]);
    }

    async fn what_nobody_came_back_for_goes(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("lamp", &Value::Object(serde_json::Map::default())), ScriptedTurn::text("Hello.")]).await;
        brought(&shop, "1", "light it", ClientContext { tools: vec![lamp()], ..ClientContext::default() }).await;
        assert_eq!(shop.number("SELECT COUNT(*) FROM brought WHERE tenant_id = $1").await, 1);
        test.clock.advance(Duration::from_secs(8 * 24 * 60 * 60));
        brought(&shop, "2", "hello", ClientContext::default()).await;
        assert_eq!(shop.number("SELECT COUNT(*) FROM brought WHERE tenant_id = $1").await, 0);
    }
}

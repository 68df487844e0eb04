//! What a model that is not on this machine sees, and what the caller gets back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use munshi_llm::chat::{ModelMessagePart, ModelRole, ReplyFormat, ToolCall, ToolResult};
use munshi_llm::gateway::{EventUnredactor, Redactor};
use munshi_llm::{ChatEvent, ChatMessage, ChatRequest, ModelError, StopReason};
use munshi_test_support::models::{
    ScriptedModel, ScriptedTurn, USED, build_call_events, build_raw_call_events, build_text_events,
};
use serde_json::json;

use crate::gateway::scene::{Scene, all, down, route, text};

const NAME: &str = "Ramesh";
const CODE: &str = "CODE1";

/// One name, one code.
#[derive(Default)]
struct Plain {
    hidden: AtomicUsize,
}

#[derive(Default)]
struct Back {
    held: String,
}

impl Redactor for Plain {
    fn redact(&self, request: &ChatRequest) -> ChatRequest {
        self.hidden.fetch_add(1, Ordering::SeqCst);
        let hide = |text: &str| text.replace(NAME, CODE);
        let part = |part: &ModelMessagePart| match part {
            ModelMessagePart::Text { text } => ModelMessagePart::Text { text: hide(text) },
            ModelMessagePart::ToolResult(result) => {
                ModelMessagePart::ToolResult(ToolResult { content: hide(&result.content), ..result.clone() })
            }
            ModelMessagePart::ToolCall(call) => ModelMessagePart::ToolCall(ToolCall {
                arguments: serde_json::from_str(&hide(&call.arguments.to_string())).unwrap(),
                ..call.clone()
            }),
            other => other.clone(),
        };
        let message = |said: &ChatMessage| ChatMessage {
            role: said.role,
            parts: said.parts.iter().map(part).collect(),
        };
        ChatRequest {
            system: request.system.iter().map(|block| hide(block)).collect(),
            messages: request.messages.iter().map(message).collect(),
            ..request.clone()
        }
    }

    fn new_unredactor(&self, _: &ReplyFormat) -> Box<dyn EventUnredactor> {
        Box::new(Back::default())
    }
}

impl Back {
    fn flush(&mut self) -> Option<ChatEvent> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then_some(ChatEvent::Text(rest))
    }
}

impl EventUnredactor for Back {
    fn unredact(&mut self, event: ChatEvent) -> Result<Vec<ChatEvent>, ModelError> {
        match event {
            ChatEvent::Text(more) => {
                let all = [std::mem::take(&mut self.held), more].concat().replace(CODE, NAME);
                let cut = (1..CODE.len()).rev().find(|cut| all.ends_with(&CODE[..*cut])).unwrap_or(0);
                let (ready, held) = all.split_at(all.len() - cut);
                held.clone_into(&mut self.held);
                Ok((!ready.is_empty()).then(|| ChatEvent::Text(ready.to_owned())).into_iter().collect())
            }
            ChatEvent::ToolCallArguments { fragment, .. } if fragment.contains("CODE9") => {
                Err(ModelError::UnknownCodes { tool: "sell".to_owned(), codes: "CODE9".to_owned() })
            }
            ChatEvent::ToolCallArguments { index, fragment } => {
                Ok(vec![ChatEvent::ToolCallArguments { index, fragment: fragment.replace(CODE, NAME) }])
            }
            ChatEvent::ToolCallStarted { .. } | ChatEvent::Finished { .. } => {
                Ok(self.flush().into_iter().chain([event]).collect())
            }
            other => Ok(vec![other]),
        }
    }
}

fn veiled(turns: impl IntoIterator<Item = ScriptedTurn>) -> (Scene, Arc<Plain>) {
    let mut scene = Scene::new(turns);
    let veil = Arc::new(Plain::default());
    scene.veil = Some(veil.clone());
    scene.request = ChatRequest {
        system: vec!["Ramesh is the owner.".to_owned()],
        messages: vec![
            ChatMessage::user("what does Ramesh owe?"),
            ChatMessage {
                role: ModelRole::Assistant,
                parts: vec![ModelMessagePart::ToolCall(ToolCall {
                    id: "c".to_owned(),
                    name: "find_Ramesh".to_owned(),
                    arguments: json!({"who": NAME}),
                })],
            },
            ChatMessage {
                role: ModelRole::User,
                parts: vec![ModelMessagePart::ToolResult(ToolResult {
                    call_id: "c".to_owned(),
                    name: "find_Ramesh".to_owned(),
                    content: "Ramesh: 500".to_owned(),
                    is_error: false,
                })],
            },
        ],
        ..scene.request
    };
    (scene, veil)
}

/// All that was said to a call's target.
fn seen(model: &ScriptedModel, call: usize) -> String {
    let request = model.requests().remove(call).request;
    format!("{:?} {:?}", request.system, request.messages)
}

fn pieces(text: &str) -> Vec<ChatEvent> {
    let mut events = build_text_events("");
    let letters = text.chars().map(|letter| ChatEvent::Text(letter.to_string()));
    events.splice(1..2, letters);
    events
}

#[tokio::test(start_paused = true)]
async fn a_model_elsewhere_sees_codes_and_the_caller_names() {
    let (scene, _) = veiled([ScriptedTurn::events(pieces("CODE1 owes 500, CODE"))]);
    let (events, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!((text(&events).as_str(), fault), ("Ramesh owes 500, CODE", None));
    assert!(events.iter().all(|event| !matches!(event, ChatEvent::Text(text) if text.is_empty())));
    let seen = seen(&scene.model, 0);
    assert_eq!(seen.matches(CODE).count(), 4, "{seen}");
    assert_eq!(
        seen.matches(NAME).count(),
        seen.matches("find_Ramesh").count(),
        "only tools keep their names"
    );
}

#[tokio::test(start_paused = true)]
async fn the_model_of_this_machine_gets_what_was_hidden_from_the_others() {
    let turns = [
        ScriptedTurn::fault(down()),
        ScriptedTurn::fault(down()),
        ScriptedTurn::fault(down()),
        ScriptedTurn::text("CODE1 and Ramesh"),
    ];
    let (mut scene, veil) = veiled(turns);
    scene.route = route(&["first", "second", "offline"]).into();
    let reply = scene.complete().await.unwrap();
    assert_eq!(scene.asked(), ["first", "first", "second", "offline"]);
    assert_eq!(reply.text(), "CODE1 and Ramesh", "what it says is what it says");
    for call in 0..3 {
        assert!(!seen(&scene.model, call).replace("find_Ramesh", "").contains(NAME));
    }
    assert_eq!(seen(&scene.model, 3), format!("{:?} {:?}", scene.request.system, scene.request.messages));
    assert_eq!(veil.hidden.load(Ordering::SeqCst), 1, "hidden once for the whole call");
}

#[tokio::test(start_paused = true)]
async fn a_server_of_ones_own_sees_names_where_the_settings_say_so() {
    let model = Arc::new(ScriptedModel::new([ScriptedTurn::text("CODE1")]));
    let (mut scene, veil) = veiled([]);
    let own = munshi_llm::ModelTarget { sees_names: true, ..crate::gateway::scene::target("own") };
    scene.gateway = munshi_llm::Gateway::new(munshi_llm::gateway::GatewayParts {
        targets: vec![own],
        provider: model.clone(),
        prices: munshi_llm::pricing::PriceBook::default(),
        clock: Arc::new(munshi_types::SystemClock),
        random: Arc::new(munshi_types::SeededRandom::new(1)),
    });
    scene.route = route(&["own"]).into();
    assert_eq!(scene.complete().await.unwrap().text(), "CODE1");
    assert!(seen(&model, 0).contains("what does Ramesh owe?"));
    assert_eq!(veil.hidden.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_quoted_to_the_model_is_what_it_said() {
    let first =
        pieces("For CODE1: ").into_iter().filter(|event| !matches!(event, ChatEvent::Finished { .. }));
    let first = first.chain(build_raw_call_events("sell", "{\"who\": \"CODE1\",").into_iter().skip(1));
    let second = build_call_events("sell", &json!({"who": CODE}));
    let (scene, veil) = veiled([ScriptedTurn::events(first), ScriptedTurn::events(second)]);
    let reply = scene.complete().await.unwrap();
    assert_eq!(reply.text(), "For Ramesh: ");
    assert_eq!(reply.tool_calls().next().unwrap().arguments, json!({"who": NAME}));
    let again = scene.model.requests().remove(1).request;
    assert_eq!(again.messages[3].text(), "For CODE1: ");
    assert!(again.messages[4].text().contains("{\"who\": \"CODE1\","));
    assert!(!seen(&scene.model, 1).replace("find_Ramesh", "").contains(NAME));
    assert_eq!(veil.hidden.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_code_that_stands_for_nothing_is_asked_for_again_once() {
    let bad = || ScriptedTurn::call("sell", &json!({"who": "CODE9"}));
    let (scene, _) = veiled([bad(), ScriptedTurn::call("sell", &json!({"who": CODE}))]);
    let reply = scene.complete().await.unwrap();
    assert_eq!(reply.tool_calls().next().unwrap().arguments, json!({"who": NAME}));
    let told = scene.model.requests().remove(1).request.messages.last().unwrap().clone();
    assert!(
        matches!(told.parts.last(), Some(ModelMessagePart::Text { text }) if text.contains("CODE9")),
        "{told:?}"
    );
    let endings: Vec<_> = scene.records().iter().map(|record| record.ending.code().to_owned()).collect();
    assert_eq!(endings, ["unknown_codes", "tool_use"]);

    let (scene, _) = veiled([bad(), bad(), ScriptedTurn::text("never asked")]);
    let Err(fault) = scene.stream().await else { panic!("it must not begin") };
    assert_eq!(fault.code(), "unknown_codes");
    assert_eq!(scene.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_held_back_comes_before_the_call_behind_it() {
    let mut events = pieces("Look: COD");
    events.pop();
    events.extend(build_call_events("sell", &json!({"who": CODE})).into_iter().skip(1));
    events.insert(events.len() - 1, ChatEvent::Text(" after CODE1".to_owned()));
    let (scene, _) = veiled([ScriptedTurn::events(events)]);
    let reply = scene.complete().await.unwrap();
    let said = |text: &str| ModelMessagePart::Text { text: text.to_owned() };
    let call = ToolCall { id: "call-0".into(), name: "sell".into(), arguments: json!({"who": NAME}) };
    assert_eq!(
        reply.message.parts,
        [said("Look: COD"), ModelMessagePart::ToolCall(call), said(" after Ramesh")]
    );
    assert_eq!((reply.stop, reply.usage), (StopReason::ToolUse, USED));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_within_a_code_shows_no_half_of_it() {
    let cut =
        |text: &str| ScriptedTurn::events_then_fault(pieces(text).into_iter().take(1 + text.len()), down());
    let (scene, _) = veiled([cut("Ask COD"), ScriptedTurn::text("another")]);
    let (events, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!((text(&events).as_str(), fault), ("Ask ", Some(ModelError::Interrupted)));
    let record = scene.records().remove(0);
    assert!(record.usage.output > 0 && record.usage.estimated, "what was heard is billed, shown or not");

    let (scene, _) = veiled([cut("COD"), ScriptedTurn::text("CODE1")]);
    assert_eq!(scene.complete().await.unwrap().text(), NAME, "nothing was shown, so it is tried again");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_checked_as_the_caller_gets_it() {
    let (mut scene, _) = veiled([ScriptedTurn::text("{\"who\": \"CODE1\"}")]);
    let schema = json!({
        "type": "object",
        "properties": {"who": {"type": "string", "enum": [NAME]}},
        "required": ["who"],
    });
    scene.request.output = ReplyFormat::Json { name: "who".to_owned(), schema };
    assert_eq!(scene.complete().await.unwrap().text(), "{\"who\": \"Ramesh\"}");
    assert_eq!(scene.asked().len(), 1);
}

//! Tool calls that can't be read, and answers of another form than was asked for.

use munshi_llm::chat::ReplyFormat;
use munshi_llm::{ChatEvent, ModelError, StopReason};
use munshi_test_support::models::{
    ScriptedTurn, USED, build_call_events, build_raw_call_events, build_text_events,
};
use serde_json::json;

use crate::gateway::scene::{Scene, all, text};

fn finished(stop: StopReason) -> ChatEvent {
    ChatEvent::Finished { stop, usage: USED }
}

fn calls(events: &[ChatEvent]) -> usize {
    events.iter().filter(|event| matches!(event, ChatEvent::ToolCallStarted { .. })).count()
}

#[tokio::test(start_paused = true)]
async fn arguments_that_can_not_be_read_are_asked_for_again_once() {
    let scene = Scene::new([
        ScriptedTurn::events(build_raw_call_events("sell", "{\"rice\":")),
        ScriptedTurn::call("sell", &json!({"rice": 2})),
    ]);
    let reply = scene.complete().await.unwrap();
    assert_eq!(reply.tool_calls().next().unwrap().arguments, json!({"rice": 2}));
    assert_eq!(scene.asked(), ["first", "first"]);
    let again = scene.model.requests().remove(1).request;
    let told = again.messages.last().unwrap().text();
    assert!(told.contains("`sell`") && told.contains("{\"rice\":"), "{told}");
    let endings: Vec<_> = scene.records().iter().map(|record| record.ending.code().to_owned()).collect();
    assert_eq!(endings, ["malformed_arguments", "tool_use"], "both were paid for");
    assert_eq!(scene.budget.spent().tokens, 2 * USED.total());
}

#[tokio::test(start_paused = true)]
async fn twice_unreadable_is_a_fault_and_nobody_sees_the_call() {
    let bad = || ScriptedTurn::events(build_raw_call_events("sell", "nonsense"));
    let scene = Scene::new([bad(), bad(), ScriptedTurn::text("never asked")]);
    let Err(fault) = scene.stream().await else { panic!("it must not begin") };
    assert_eq!(
        fault,
        ModelError::MalformedArguments { tool: "sell".to_owned(), text: "nonsense".to_owned() }
    );
    assert_eq!(scene.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn text_that_was_handed_out_is_not_said_twice() {
    let first = build_text_events("Let me see. ")
        .into_iter()
        .take(2)
        .chain(build_raw_call_events("sell", "{").into_iter().skip(1));
    let second =
        [ChatEvent::Text("Let me see. ".to_owned())].into_iter().chain(build_call_events("sell", &json!({})));
    let scene = Scene::new([ScriptedTurn::events(first), ScriptedTurn::events(second)]);
    let (events, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!((text(&events).as_str(), calls(&events), fault), ("Let me see. ", 1, None));
    let again = scene.model.requests().remove(1).request;
    assert_eq!(again.messages[1].text(), "Let me see. ", "the model is told what it has said");
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_in_words_is_heard() {
    let first = build_text_events("Let me see. ")
        .into_iter()
        .take(2)
        .chain(build_raw_call_events("sell", "{").into_iter().skip(1));
    let scene = Scene::new([ScriptedTurn::events(first), ScriptedTurn::text("I can't.")]);
    let (events, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!((text(&events).as_str(), calls(&events), fault), ("Let me see. I can't.", 0, None));
}

#[tokio::test(start_paused = true)]
async fn what_was_cut_at_the_limit_is_not_paid_for_twice() {
    let mut events = build_raw_call_events("sell", "{\"rice\":");
    events.pop();
    events.push(finished(StopReason::MaxTokens));
    let scene = Scene::new([ScriptedTurn::events(events), ScriptedTurn::text("never asked")]);
    assert!(matches!(scene.complete().await, Err(ModelError::MalformedArguments { .. })));
    assert_eq!(scene.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn half_a_call_is_never_handed_out() {
    let cut = build_call_events("sell", &json!({"rice": 2})).into_iter().take(3);
    let said = build_text_events("Now: ").into_iter().take(2);
    let scene =
        Scene::new([ScriptedTurn::events_then_fault(said.chain(cut.skip(1)), ModelError::Interrupted)]);
    let (events, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!((text(&events).as_str(), calls(&events), fault), ("Now: ", 0, Some(ModelError::Interrupted)));
}

fn wants_json(scene: &mut Scene) {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
        "required": ["name"],
        "additionalProperties": false,
    });
    scene.request.output = ReplyFormat::Json { name: "person".to_owned(), schema };
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_another_form_is_asked_for_again_with_what_is_wrong() {
    let mut scene =
        Scene::new([ScriptedTurn::text("{\"age\": -1}"), ScriptedTurn::text("{\"name\": \"Asha\"}")]);
    wants_json(&mut scene);
    let (events, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!(
        (text(&events).as_str(), fault),
        ("{\"name\": \"Asha\"}", None),
        "the wrong one was never handed out"
    );
    let again = scene.model.requests().remove(1).request;
    let told = again.messages.last().unwrap().text();
    assert!(told.contains("/age") && told.contains("name"), "{told}");
    assert_eq!(again.messages[1].text(), "{\"age\": -1}");
}

#[tokio::test(start_paused = true)]
async fn twice_of_another_form_is_a_fault() {
    let mut scene = Scene::new([
        ScriptedTurn::text("Sure!"),
        ScriptedTurn::text("[]"),
        ScriptedTurn::text("never asked"),
    ]);
    wants_json(&mut scene);
    assert!(matches!(scene.complete().await, Err(ModelError::WrongForm(_))));
    assert_eq!(scene.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_schema_that_is_none_is_refused_before_anything_is_paid() {
    let mut scene = Scene::new([ScriptedTurn::text("never asked")]);
    scene.request.output = ReplyFormat::Json { name: "x".to_owned(), schema: json!({"type": "nothing"}) };
    let fault = scene.complete().await.unwrap_err();
    assert!(fault.to_string().contains("invalid schema `x`"), "{fault}");
    assert!(scene.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_arguments_never_came_is_no_call_without_arguments() {
    let mut events = build_raw_call_events("cancel_last", "");
    events.pop();
    events.push(finished(StopReason::MaxTokens));
    let scene = Scene::new([ScriptedTurn::events(events)]);
    assert!(matches!(scene.complete().await, Err(ModelError::MalformedArguments { .. })));
}

#[tokio::test(start_paused = true)]
async fn what_follows_a_call_stays_behind_it() {
    let sign = |text: &str| ChatEvent::ThinkingSignature(text.to_owned());
    let mut events = build_call_events("sell", &json!({}));
    events.insert(1, sign("one"));
    events.insert(4, sign("two"));
    events.insert(5, ChatEvent::Text("done".to_owned()));
    let scene = Scene::new([ScriptedTurn::events(events.clone())]);
    let (heard, fault) = all(scene.stream().await.unwrap()).await;
    assert_eq!((heard, fault), (events, None));
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_the_wire_about_a_call_is_asked_again_too() {
    let begun = build_text_events("x").into_iter().take(1);
    let wrong = ModelError::MalformedArguments { tool: "a tool".to_owned(), text: String::new() };
    let scene =
        Scene::new([ScriptedTurn::events_then_fault(begun, wrong), ScriptedTurn::call("sell", &json!({}))]);
    assert_eq!(scene.complete().await.unwrap().tool_calls().count(), 1);
    assert_eq!(scene.asked(), ["first", "first"]);
}

#[tokio::test(start_paused = true)]
async fn a_second_asking_that_fails_is_not_begun_again() {
    let down = crate::gateway::scene::down();
    let mut scene = Scene::new([
        ScriptedTurn::text("Sure!"),
        ScriptedTurn::fault(down),
        ScriptedTurn::text("never asked"),
    ]);
    wants_json(&mut scene);
    assert!(matches!(scene.complete().await, Err(ModelError::WrongForm(_))));
    assert_eq!(scene.asked().len(), 2);
}

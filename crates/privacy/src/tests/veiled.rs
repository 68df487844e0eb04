//! A whole request behind the veil, and the events of its answer.

use std::sync::Arc;

use munshi_llm::chat::{CacheBreakpoint, CacheLifetime, ReplyFormat, ToolCall, ToolResult};
use munshi_llm::gateway::Redactor;
use munshi_llm::{
    ChatEvent, ChatMessage, ChatRequest, ModelError, ModelMessagePart, ModelRole, StopReason, TokenUsage,
};
use munshi_types::{PersonId, Script, TenantId};
use serde_json::{Value, json};

use crate::mask::NOTE;
use crate::{
    ConversationMismatch, KnownEntities, PiiKind, ProtectedEntity, PseudonymRedactor, PseudonymTable,
};

fn tenant(last: u128) -> TenantId {
    TenantId::from_uuid(uuid::Uuid::from_u128(last))
}

fn session() -> PseudonymTable {
    PseudonymTable::new(tenant(1), PersonId::from_uuid(uuid::Uuid::from_u128(2)))
}

fn known() -> Arc<KnownEntities> {
    let entities = [
        ProtectedEntity {
            names: vec!["Raju".into(), "राजू".into()],
            values: vec![(PiiKind::Phone, "+919876543210".into())],
        },
        ProtectedEntity { names: vec!["Sunder \"Sunny\" Lal".into()], values: Vec::new() },
    ];
    Arc::new(KnownEntities::new(tenant(1), &entities))
}

fn veil() -> PseudonymRedactor {
    PseudonymRedactor::new(known(), session(), Script::Latin).unwrap()
}

fn asked(parts: Vec<ModelMessagePart>) -> ChatRequest {
    let messages = vec![ChatMessage::user("about Raju"), ChatMessage { role: ModelRole::Assistant, parts }];
    ChatRequest { messages, ..ChatRequest::default() }
}

fn end() -> ChatEvent {
    ChatEvent::Finished { stop: StopReason::EndTurn, usage: TokenUsage::default() }
}

fn revealed(
    veil: &PseudonymRedactor,
    output: &ReplyFormat,
    events: Vec<ChatEvent>,
) -> Result<Vec<ChatEvent>, ModelError> {
    let mut reveal = veil.new_unredactor(output);
    let mut out = Vec::new();
    for event in events {
        out.extend(reveal.unredact(event)?);
    }
    Ok(out)
}

#[test]
fn the_note_stands_behind_what_caches_keep() {
    let mut request = asked(Vec::new());
    request.system = ["human", "team", "agent of Raju", "today"].map(str::to_owned).to_vec();
    request.breakpoints = vec![
        CacheBreakpoint::AfterTools(CacheLifetime::OneHour),
        CacheBreakpoint::AfterSystem(2, CacheLifetime::OneHour),
        CacheBreakpoint::AfterMessage(0, CacheLifetime::FiveMinutes),
    ];
    let hidden = veil().redact(&request);
    assert_eq!(hidden.system, ["human", "team", "agent of XNM100", NOTE, "today"]);
    assert_eq!(hidden.breakpoints, request.breakpoints);
    assert_eq!(hidden.messages.len(), request.messages.len());

    let again = ChatRequest { messages: vec![ChatMessage::user("Sunder and then Raju")], ..request.clone() };
    assert_eq!(veil().redact(&again).system, hidden.system, "the same beginning whatever is talked about");

    request.breakpoints.clear();
    assert_eq!(veil().redact(&request).system.last().map(String::as_str), Some(NOTE));
    request.system.clear();
    request.breakpoints = vec![CacheBreakpoint::AfterSystem(7, CacheLifetime::OneHour)];
    assert_eq!(veil().redact(&request).system, [NOTE], "a mark that is nowhere moves nothing");
}

#[test]
fn what_a_provider_signed_goes_back_as_it_came() {
    let veil = veil();
    veil.redact(&asked(Vec::new()));
    let events = vec![
        ChatEvent::Thinking("XNM100 or XNM1".to_owned()),
        ChatEvent::ThinkingSignature("anthropic:XNM100==".to_owned()),
        ChatEvent::SealedThinking("anthropic:Raju".to_owned()),
        ChatEvent::State("XNM100".to_owned()),
        ChatEvent::Text("XNM100".to_owned()),
        end(),
    ];
    let mut assembler = munshi_llm::chat::ModelReplyAssembler::default();
    let raw: Vec<ModelMessagePart> = {
        let mut raw = munshi_llm::chat::ModelReplyAssembler::default();
        events.iter().for_each(|event| raw.push(event).unwrap());
        raw.finish().unwrap().message.parts
    };
    for event in revealed(&veil, &ReplyFormat::Text, events).unwrap() {
        assembler.push(&event).unwrap();
    }
    let reply = assembler.finish().unwrap();
    assert_eq!(reply.text(), "Raju");
    let back = veil.redact(&asked(reply.message.parts)).messages.remove(1).parts;
    assert_eq!(back, raw);
}

#[test]
fn what_another_model_keeps_to_itself_stays_home() {
    let thought = |text: &str, signature: Option<&str>| ModelMessagePart::Thinking {
        text: text.to_owned(),
        signature: signature.map(str::to_owned),
    };
    let parts = vec![
        thought("Raju again", Some("anthropic:x")),
        thought("so XNM100 it is", None),
        ModelMessagePart::SealedThinking { data: "anthropic:Raju".to_owned() },
        ModelMessagePart::State { data: "{\"open\":\"Raju\"}".to_owned() },
        ModelMessagePart::Text { text: "XNM100?".to_owned() },
    ];
    let back = veil().redact(&asked(parts)).messages.remove(1).parts;
    let expected = [
        thought("XNM100 again", None),
        thought("so XNM100 it is", None),
        ModelMessagePart::Text { text: "XTX101?".to_owned() },
    ];
    assert_eq!(back, expected);
}

#[test]
fn tools_keep_their_names_and_all_they_are_told_or_say_is_hidden() {
    let call = ToolCall {
        id: "c".into(),
        name: "find_Raju".into(),
        arguments: json!({"who": "राजू", "Raju": [9876543210_i64]}),
    };
    let result = |content: &str| ToolResult {
        call_id: "c".into(),
        name: "find_Raju".into(),
        content: content.to_owned(),
        is_error: false,
    };
    let contents = [
        r#"{"name":"\u0930\u093e\u091c\u0942","n":5}"#,
        r#"{"name":"Raju","name":"x"}"#,
        "⟦data 378282246310005: what the tool answered⟧\n- Raju 98765 43210\n⟦end 378282246310005⟧",
        r#"{ "plain": [1, 2.50] }"#,
    ];
    let parts = [ModelMessagePart::ToolCall(call)]
        .into_iter()
        .chain(contents.map(|content| ModelMessagePart::ToolResult(result(content))))
        .collect();
    let hidden = veil().redact(&asked(parts)).messages.remove(1).parts;
    let ModelMessagePart::ToolCall(call) = &hidden[0] else { panic!("{hidden:?}") };
    assert_eq!(
        (call.name.as_str(), &call.arguments),
        ("find_Raju", &json!({"who": "XNM100", "XNM100": ["XPH101"]}))
    );
    let seen: Vec<&str> = hidden[1..]
        .iter()
        .map(|part| match part {
            ModelMessagePart::ToolResult(result) => result.content.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(serde_json::from_str::<Value>(seen[0]).unwrap(), json!({"name": "XNM100", "n": 5}));
    assert_eq!(seen[1], r#"{"name":"XNM100","name":"x"}"#);
    assert_eq!(
        seen[2], "⟦data 378282246310005: what the tool answered⟧\n- XNM100 XPH101\n⟦end 378282246310005⟧",
        "a fence is nobody's number"
    );
    assert_eq!(seen[3], contents[3], "what hides nothing stays to the byte");
}

#[test]
fn a_form_names_nobody_and_its_answer_is_json_again() {
    let schema = json!({
        "type": "object",
        "description": "what Raju said",
        "properties": {
            "who": {"enum": ["Raju", "none"]},
            "default": {"type": "string", "default": {"Raju": "Raju"}},
        },
        "required": ["who"],
    });
    let output = ReplyFormat::Json { name: "who".to_owned(), schema };
    let veil = veil();
    let mut request = asked(Vec::new());
    request.messages.push(ChatMessage::user("and Sunder \"Sunny\" Lal"));
    request.output = output.clone();
    let ReplyFormat::Json { schema, .. } = veil.redact(&request).output else { panic!("a form") };
    let hidden = json!({
        "type": "object",
        "description": "what XNM100 said",
        "properties": {
            "who": {"enum": ["XNM100", "none"]},
            "default": {"type": "string", "default": {"XNM100": "XNM100"}},
        },
        "required": ["who"],
    });
    assert_eq!(schema, hidden);

    let hidden = veil.redact(&request).messages.pop().unwrap().text();
    let answer = json!({"who": hidden}).to_string();
    let pieces = answer.chars().map(|letter| ChatEvent::Text(letter.to_string())).chain([end()]).collect();
    let events = revealed(&veil, &output, pieces).unwrap();
    let [ChatEvent::Text(text), ChatEvent::Finished { .. }] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({"who": "and Sunder \"Sunny\" Lal"}));

    let refusal = vec![ChatEvent::Text("I can't, XNM1".to_owned()), ChatEvent::Text("00".to_owned()), end()];
    let events = revealed(&veil, &output, refusal).unwrap();
    let text: String = events
        .iter()
        .filter_map(|event| if let ChatEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(text, "I can't, Raju");
}

#[test]
fn two_calls_at_once_get_their_own_values_behind_the_text_before_them() {
    let veil = veil();
    veil.redact(&asked(vec![ModelMessagePart::Text { text: "9876543210".to_owned() }]));
    let started =
        |index: usize| ChatEvent::ToolCallStarted { index, id: format!("c{index}"), name: "pay".into() };
    let fragment = |index, text: &str| ChatEvent::ToolCallArguments { index, fragment: text.to_owned() };
    let events = vec![
        ChatEvent::Text("for XNM1".to_owned()),
        ChatEvent::Text("00".to_owned()),
        started(0),
        started(1),
        fragment(1, "{\"to\":\"XP"),
        fragment(0, "{\"to\":\"XNM1"),
        ChatEvent::Text("X".to_owned()),
        fragment(1, "H101\"}"),
        fragment(0, "00\"}"),
        end(),
    ];
    let out = revealed(&veil, &ReplyFormat::Text, events).unwrap();
    let expected = [
        ChatEvent::Text("for ".to_owned()),
        ChatEvent::Text("Raju".to_owned()),
        started(0),
        started(1),
        ChatEvent::Text("X".to_owned()),
        fragment(0, "{\"to\":\"Raju\"}"),
        fragment(1, "{\"to\":\"+919876543210\"}"),
        end(),
    ];
    assert_eq!(out, expected);
}

#[test]
fn codes_that_stand_for_nothing_reach_no_tool_and_are_told() {
    let veil = veil();
    veil.redact(&asked(Vec::new()));
    let call = |fragment: &str| {
        vec![
            ChatEvent::ToolCallStarted { index: 0, id: "c".into(), name: "pay".into() },
            ChatEvent::ToolCallArguments { index: 0, fragment: fragment.to_owned() },
            end(),
        ]
    };
    let fault = revealed(&veil, &ReplyFormat::Text, call("{\"to\":\"XNM777\"}")).unwrap_err();
    assert_eq!(fault, ModelError::UnknownCodes { tool: "pay".into(), codes: "XNM777".into() });
    let broken = revealed(&veil, &ReplyFormat::Text, call("{\"to\":\"XNM777")).unwrap();
    assert_eq!(broken[1], call("{\"to\":\"XNM777")[1], "left for whoever reads the reply");
    revealed(&veil, &ReplyFormat::Text, vec![ChatEvent::Text("ask XPH555".to_owned()), end()]).unwrap();
    assert_eq!(veil.invented_tokens(), ["XPH555"]);
}

#[test]
fn a_conversation_keeps_its_tokens_and_its_tenant() {
    let veil = veil();
    veil.redact(&asked(vec![ModelMessagePart::Text { text: "call 98111 22333".to_owned() }]));
    let stored = serde_json::to_string(&veil.session()).unwrap();
    let taken_up =
        PseudonymRedactor::new(known(), serde_json::from_str(&stored).unwrap(), Script::Devanagari).unwrap();
    let later = asked(vec![ModelMessagePart::Text { text: "9811122333 is Raju's".to_owned() }]);
    assert_eq!(taken_up.redact(&later).messages[1].text(), "XPH101 is XNM100's");
    let events =
        revealed(&taken_up, &ReplyFormat::Text, vec![ChatEvent::Text("XNM100".into()), end()]).unwrap();
    assert_eq!(events[0], ChatEvent::Text("राजू".to_owned()), "in the script of the reply");
    assert!(!format!("{veil:?}").contains("Raju"));

    let theirs = Arc::new(KnownEntities::new(tenant(9), &[]));
    assert_eq!(PseudonymRedactor::new(theirs, session(), Script::Latin).err(), Some(ConversationMismatch));
}

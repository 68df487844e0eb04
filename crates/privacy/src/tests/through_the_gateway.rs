//! Whatever a cloud model does, nobody who is known reaches it, and all of them come back.

use std::sync::Arc;

use munshi_lang::text_words::PlainWord;
use munshi_llm::chat::{ToolCall, ToolResult};
use munshi_llm::gateway::{
    CallBilling, CallSubject, Capability, GatewayParts, InMemoryCallLog, ModelCall, ModelRoute, Redactor,
    UnlimitedBudget,
};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{
    ChatEvent, ChatMessage, ChatRequest, Gateway, ModelError, ModelMessagePart, ModelRole, ModelTarget,
    ProviderSwitch, StopReason, WireFormat,
};
use munshi_test_support::models::{ScriptedModel, ScriptedTurn, USED};
use munshi_types::{PersonId, SeededRandom, SystemClock, TenantId};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::invented::{Invented, SCRIPTS, endings, frame, invented};
use crate::compact::squeeze;
use crate::{KnownEntities, PiiKind, ProtectedEntity, PseudonymRedactor, PseudonymTable};

/// What the cloud model does when it is asked.
#[derive(Clone, Debug)]
enum Move {
    Down,
    /// Repeats what it was asked, and breaks off after so many letters.
    BreaksOff(usize),
    /// Repeats it all.
    Says,
    Thinks,
    Calls,
    CallsBadly,
    /// Calls with a code it made up.
    Invents,
}

fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        Just(Move::Down),
        (0usize..80).prop_map(Move::BreaksOff),
        Just(Move::Says),
        Just(Move::Thinks),
        Just(Move::Calls),
        Just(Move::CallsBadly),
        Just(Move::Invents),
    ]
}

/// Every letter an event of its own, so that every token is cut everywhere.
fn letters(text: &str, event: impl Fn(String) -> ChatEvent) -> Vec<ChatEvent> {
    text.chars().map(|letter| event(letter.to_string())).collect()
}

impl Move {
    fn turn(&self, seen: &str, number: &str) -> ScriptedTurn {
        let text = |text: &str| letters(text, ChatEvent::Text);
        let end = |stop| ChatEvent::Finished { stop, usage: USED };
        let call = |arguments: &str| {
            let begun = ChatEvent::ToolCallStarted { index: 0, id: "c".into(), name: "pay".into() };
            let told = letters(arguments, |fragment| ChatEvent::ToolCallArguments { index: 0, fragment });
            let end = [end(StopReason::ToolUse)];
            ScriptedTurn::events([text(seen), vec![begun], told, end.to_vec()].concat())
        };
        match self {
            Self::Down => ScriptedTurn::fault(ModelError::Failed {
                status: 503,
                message: String::new(),
                retry_after: None,
            }),
            Self::BreaksOff(after) => {
                let events = text(seen).into_iter().take(*after);
                let started = ChatEvent::Started { request_id: None, model: None };
                ScriptedTurn::events_then_fault([started].into_iter().chain(events), ModelError::Interrupted)
            }
            Self::Says => ScriptedTurn::events([text(seen), vec![end(StopReason::EndTurn)]].concat()),
            Self::Thinks => {
                let thought = letters(seen, ChatEvent::Thinking);
                let signed = vec![ChatEvent::ThinkingSignature("openai:x".into())];
                ScriptedTurn::events([thought, signed, text(seen), vec![end(StopReason::EndTurn)]].concat())
            }
            Self::Calls => call(&json!({"who": seen, "more": [{"phone": number}]}).to_string()),
            Self::CallsBadly => call(&json!({ "who": seen }).to_string().replace('}', "")),
            Self::Invents => call(&json!({"who": format!("XNM899 {seen}")}).to_string()),
        }
    }
}

fn tenant() -> TenantId {
    TenantId::from_uuid(uuid::Uuid::from_u128(7))
}

fn gateway(remote: &Arc<ScriptedModel>, here: &Arc<ScriptedModel>) -> Gateway {
    let cloud = |name: &str| ModelTarget::new(name, WireFormat::OpenAi, "https://cloud.example", "m");
    Gateway::new(GatewayParts {
        targets: vec![cloud("first"), cloud("second"), ModelTarget::offline()],
        provider: Arc::new(ProviderSwitch { here: here.clone(), remote: remote.clone() }),
        prices: PriceBook::default(),
        clock: Arc::new(SystemClock),
        random: Arc::new(SeededRandom::new(1)),
    })
}

fn call(request: &Arc<ChatRequest>, veil: &PseudonymRedactor) -> ModelCall {
    let names = ["first", "second", "offline"].map(str::to_owned).to_vec();
    let account = CallBilling {
        tenant: tenant(),
        about: CallSubject::default(),
        budget: Arc::new(UnlimitedBudget),
        tab: Arc::new(InMemoryCallLog::default()),
        prompt: None,
        prices: None,
    };
    ModelCall {
        wanted: Capability::Default,
        route: Arc::new(ModelRoute {
            targets: [(Capability::Default, names)].into(),
            ..ModelRoute::default()
        }),
        request: request.clone(),
        account,
        veil: Some(Arc::new(veil.clone())),
    }
}

/// A conversation in which somebody stands wherever somebody can.
fn request(sentence: &str, name: &str, phone: &str) -> ChatRequest {
    let result = json!({"name": name, "phone": phone, "rows": [[sentence]], name: 5}).to_string();
    let asked = vec![
        ModelMessagePart::Thinking { text: sentence.to_owned(), signature: Some("openai:y".into()) },
        ModelMessagePart::State { data: format!("open {name}") },
        ModelMessagePart::Text { text: sentence.to_owned() },
        ModelMessagePart::ToolCall(ToolCall {
            id: "c".into(),
            name: "find".into(),
            arguments: json!({"who": name, "n": [phone]}),
        }),
    ];
    let told = vec![ModelMessagePart::ToolResult(ToolResult {
        call_id: "c".into(),
        name: "find".into(),
        content: result,
        is_error: false,
    })];
    ChatRequest {
        system: vec![format!("You help {name}."), sentence.to_owned()],
        messages: vec![
            ChatMessage::user(format!("{sentence} ({phone})")),
            ChatMessage { role: ModelRole::Assistant, parts: asked },
            ChatMessage { role: ModelRole::User, parts: told },
            ChatMessage::user(sentence),
        ],
        stop: vec![format!("{name}:")],
        ..ChatRequest::default()
    }
}

/// Everything of a request that is said to a model.
fn whole(request: &ChatRequest) -> String {
    json!([request.system, request.messages, request.stop, format!("{:?}", request.output)]).to_string()
}

/// What a model is told when it is asked again.
const CORRECTED: &str = "Your call of could not be read: its arguments are not one JSON object. They were: Make the call \
    again with correct JSON and say nothing else. was not made: XNM899 stands for nothing here. Use only codes that were \
    written to you, exactly as they are; where you have none, ask the person.";

/// How often a name can be read in a text by somebody who looks past case and marks nobody sees.
fn reads(text: &str, name: &str) -> usize {
    let plain = |text: &str| PlainWord::new(text).text.to_lowercase();
    plain(text).matches(&plain(name)).count()
}

/// What a caller heard: the text, the arguments of calls, and the fault that ended it.
async fn heard(gateway: &Gateway, call: ModelCall) -> (String, Vec<Value>, Option<ModelError>) {
    let mut live = match gateway.stream(call).await {
        Ok(live) => live,
        Err(fault) => return (String::new(), Vec::new(), Some(fault)),
    };
    let (mut text, mut arguments) = (String::new(), Vec::new());
    while let Some(event) = live.next().await {
        match event {
            Ok(ChatEvent::Text(more)) => text.push_str(&more),
            Ok(ChatEvent::ToolCallArguments { fragment, .. }) => {
                arguments.push(serde_json::from_str(&fragment).unwrap());
            }
            Ok(_) => {}
            Err(fault) => return (text, arguments, Some(fault)),
        }
    }
    (text, arguments, None)
}

fn person(name: &Invented, phone: &str) -> ProtectedEntity {
    let names = SCRIPTS.iter().map(|script| name.spelled(*script)).collect();
    ProtectedEntity { names, values: vec![(PiiKind::Phone, format!("+91{phone}"))] }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nobody_known_reaches_a_cloud_model_and_all_come_back(
        name in invented(), written in prop::sample::select(&SCRIPTS[..]), ending in 0usize..9, phone in "[6-9][0-9]{9}",
        moves in prop::collection::vec(a_move(), 1..7), ends_with_it in any::<bool>(),
    ) {
        let known = Arc::new(KnownEntities::new(tenant(), &[person(&name, &phone)]));
        let session = PseudonymTable::new(tenant(), PersonId::from_uuid(uuid::Uuid::from_u128(8)));
        let said = name.spelled(written);
        let (before, after) = frame(written);
        let ending = endings(written)[ending % endings(written).len()];
        // The last that is said may be a token, which only the end of the stream lets go.
        let last = if ends_with_it { format!(" {said}") } else { String::new() };
        let sentence = format!("{before}{said}{ending}{after}{last}");
        let request = Arc::new(request(&sentence, &said, &phone));
        // What such a model will see, so that the script can repeat it.
        let probe = PseudonymRedactor::new(known.clone(), session.clone(), written).unwrap().redact(&request);
        let seen = probe.messages.last().unwrap().text();
        let number = probe.messages[0].text();
        let number = number.split(['(', ')']).rev().nth(1).unwrap();
        prop_assert!(seen.contains("XNM") && number.starts_with("XPH"), "{seen} {number}");

        let script = moves.iter().chain([const { &Move::Down }; 4]).map(|one| one.turn(&seen, number));
        let (cloud, here) = (Arc::new(ScriptedModel::new(script)), Arc::new(ScriptedModel::new([ScriptedTurn::text("from here XNM100")])));
        let veil = PseudonymRedactor::new(known, session, written).unwrap();
        let (text, arguments, fault) = run(heard(&gateway(&cloud, &here), call(&request, &veil)));

        // The same conversation without anybody in it: a name may be found in words that are always there.
        let nobody = whole(&veil.redact(&self::request(&format!("{before}{ending}{after}"), "", "")));
        for asked in cloud.requests() {
            let whole = whole(&asked.request);
            for script in SCRIPTS {
                let name = name.spelled(script);
                let always = reads(&nobody, &name) + reads(CORRECTED, &name);
                prop_assert!(reads(&whole, &name) <= always, "{name} in {whole}");
            }
            prop_assert!(!squeeze(&whole).contains(&phone), "{phone} in {whole}");
            prop_assert!(whole.contains("\"name\":\"find\""), "tools keep their names");
        }

        for asked in here.requests() {
            prop_assert_eq!(format!("{:?}", asked.request), format!("{:?}", request));
            prop_assert_eq!(&text, "from here XNM100", "what it says is not a code");
        }
        if here.requests().is_empty() {
            let broke_off = fault.is_some() && sentence.starts_with(&text);
            // Asked again after it had spoken, it may say the same once more.
            let twice = text.strip_prefix(&sentence).is_some_and(|rest| rest.is_empty() || rest == sentence);
            prop_assert!(broke_off || twice, "{text}");
        }
        for arguments in arguments {
            let stored = name.spelled(SCRIPTS[0]);
            prop_assert!(arguments["who"].as_str().unwrap().contains(&stored), "{arguments}");
            prop_assert_eq!(&arguments["more"][0]["phone"], &json!(format!("+91{phone}")));
        }
        prop_assert!(veil.invented_tokens().is_empty());
    }
}

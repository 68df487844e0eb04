//! The targets, requests and helpers that the tests share. Each request is the one of the fixture of its name.

use std::sync::Arc;

use munshi_llm::chat::{
    CacheBreakpoint, CacheLifetime, ModelMedia, ModelMediaSource, ModelReplyAssembler, ReplyFormat,
    ThinkingBudget, TokenUsage, ToolChoice, ToolResult,
};
use munshi_llm::target::ProviderKey;
use munshi_llm::transport::ProviderResponseLimits;
use munshi_llm::{
    ChatEvent, ChatMessage, ChatRequest, ChatStream, HttpProvider, ModelError, ModelMessagePart, ModelRole,
    ModelTarget, ModelTimeouts, Provider, ToolCall, Transport, WireFormat, provider,
};
// Tests that wait for a timeout stop the clock instead.
pub(crate) use munshi_test_support::PATIENCE;
use munshi_test_support::model_server::{FakeModelAnswer, FakeModelStep, Fixture, ModelServer};
use munshi_types::clock::FakeClock;
use munshi_types::tool::ToolSpec;
use serde_json::{Value, json};

pub(crate) const WIRES: [&str; 3] = ["anthropic", "openai", "gemini"];

pub(crate) fn wires() -> HttpProvider {
    wires_with(ProviderResponseLimits::default())
}

pub(crate) fn wires_with(limits: ProviderResponseLimits) -> HttpProvider {
    let clock = FakeClock::new("2026-01-10T10:00:00Z".parse().unwrap());
    HttpProvider::new(Transport::with_limits(Arc::new(clock), limits).unwrap())
}

pub(crate) async fn server(wire: &str) -> ModelServer {
    ModelServer::start(Fixture::load_all(wire)).await
}

pub(crate) fn target(wire: &str, url: &str) -> ModelTarget {
    let (kind, base, model) = match wire {
        "anthropic" => (WireFormat::Anthropic, "/v1", "claude-sonnet-4-5"),
        "openai" => (WireFormat::OpenAi, "/v1", "gpt-5-mini"),
        _ => (WireFormat::Gemini, "/v1beta", "gemini-2.5-flash"),
    };
    let mut target = ModelTarget::new(wire, kind, format!("{url}{base}"), model);
    target.key = ProviderKey::new("sk-test-key");
    target.timeouts = ModelTimeouts {
        connect: PATIENCE,
        first_byte: PATIENCE,
        between_bytes: PATIENCE,
        total: PATIENCE * 10,
    };
    target.capabilities.thinking = true;
    target.capabilities.cache_minimum_tokens = 8;
    target.dialect.user_field = Some("safety_identifier".to_owned());
    target
}

pub(crate) fn request(wire: &str, name: &str) -> ChatRequest {
    let base = ChatRequest { max_output_tokens: 256, ..ChatRequest::default() };
    let said = |text: &str| vec![ChatMessage::user(text)];
    match name {
        "text" => ChatRequest {
            system: vec![SYSTEM.to_owned()],
            messages: said(QUESTION),
            temperature_milli: Some(700),
            stop: vec!["###".to_owned()],
            user: Some("person-7".to_owned()),
            ..base
        },
        "tools" => tools(wire),
        "json" => ChatRequest {
            messages: said("Name a fruit."),
            output: ReplyFormat::Json { name: "fruit".to_owned(), schema: fruit() },
            ..base
        },
        "media" => ChatRequest {
            messages: vec![bill()],
            tools: vec![sale()],
            tool_choice: ToolChoice::Named("log_sale".to_owned()),
            ..base
        },
        "refused" => ChatRequest { messages: said("Help me cheat."), ..base },
        other => panic!("no request called {other}"),
    }
}

const SYSTEM: &str = "You keep a shop's books. Answer in the person's own words.";
const QUESTION: &str = "Ramesh ka kitna baaki hai?";

/// A conversation in the middle of its tools: signed thinking to send back, a failed call, a cache to fill.
fn tools(wire: &str) -> ChatRequest {
    let signature = if wire == "gemini" { "gemini:CikBVKhc7ru" } else { "anthropic:EqQBCgIYAhIM" };
    let arguments = json!({"name": "Ramesh"});
    let call = ToolCall { id: "toolu_01".to_owned(), name: "balance".to_owned(), arguments };
    let thought = ModelMessagePart::Thinking {
        text: "I should look.".to_owned(),
        signature: Some(signature.to_owned()),
    };
    let result = ToolResult {
        call_id: "toolu_01".to_owned(),
        name: "balance".to_owned(),
        content: "two people are called Ramesh".to_owned(),
        is_error: true,
    };
    let text = |text: &str| ModelMessagePart::Text { text: text.to_owned() };
    let looked = vec![
        thought,
        ModelMessagePart::SealedThinking { data: "anthropic:EmwKAhgBEgy3".to_owned() },
        ModelMessagePart::State { data: "another provider's".to_owned() },
        text("Let me look."),
        ModelMessagePart::ToolCall(call),
    ];
    let told = vec![text("The one with the tea stall."), ModelMessagePart::ToolResult(result)];
    ChatRequest {
        system: vec![SYSTEM.to_owned()],
        messages: vec![
            ChatMessage::user(QUESTION),
            ChatMessage { role: ModelRole::Assistant, parts: looked },
            ChatMessage { role: ModelRole::User, parts: told },
        ],
        tools: vec![balance(), sale()],
        max_output_tokens: 4096,
        temperature_milli: if wire == "anthropic" { Some(200) } else { None },
        thinking: Some(ThinkingBudget { budget_tokens: 2048 }),
        breakpoints: vec![
            CacheBreakpoint::AfterMessage(2, CacheLifetime::FiveMinutes),
            CacheBreakpoint::AfterTools(CacheLifetime::OneHour),
            CacheBreakpoint::AfterSystem(0, CacheLifetime::OneHour),
        ],
        ..ChatRequest::default()
    }
}

fn bill() -> ChatMessage {
    let media = |media_type: &str, source| ModelMedia { media_type: media_type.to_owned(), source };
    let data = |text: &str| ModelMediaSource::Data(text.to_owned());
    let parts = vec![
        ModelMessagePart::Image(media("image/png", data("iVBORw0KGgo="))),
        ModelMessagePart::Image(media(
            "image/jpeg",
            ModelMediaSource::Url("https://shop.example/bill.jpg".to_owned()),
        )),
        ModelMessagePart::Document(media("application/pdf", data("JVBERi0xLjQ="))),
        ModelMessagePart::Document(media("text/plain", data("4KSs4KWA4KSy"))),
        ModelMessagePart::Text { text: "Write down the bill.".to_owned() },
    ];
    ChatMessage { role: ModelRole::User, parts }
}

pub(crate) fn fruit() -> Value {
    json!({"type": "object", "properties": {"fruit": {"type": "string", "enum": ["apple", "mango"]}},
        "required": ["fruit"], "additionalProperties": false})
}

fn balance() -> Arc<ToolSpec> {
    let parameters = json!({"type": "object", "properties": {"name": {"type": "string"}},
        "required": ["name"], "additionalProperties": false});
    let spec = ToolSpec::read_only("balance".parse().unwrap(), "What a person owes.", "ledger.balance.read");
    Arc::new(ToolSpec { parameters, ..spec })
}

fn sale() -> Arc<ToolSpec> {
    let properties = json!({"item": {"type": "string"}, "amount": {"type": "integer"}});
    let parameters = json!({"type": "object", "properties": properties,
        "required": ["item", "amount"], "additionalProperties": false});
    let spec = ToolSpec::read_only("log_sale".parse().unwrap(), "Writes down a sale.", "ledger.sale.write");
    Arc::new(ToolSpec { parameters, ..spec })
}

/// Everything a call gave until its end, and how it ended.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) events: Vec<ChatEvent>,
    pub(crate) fault: Option<ModelError>,
}

impl Heard {
    pub(crate) fn text(&self) -> String {
        let text = self.events.iter().filter_map(|event| match event {
            ChatEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        text.collect()
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.events.last(), Some(ChatEvent::Finished { .. }))
    }

    /// What is billed, whether it ended properly or not.
    pub(crate) fn usage(&self) -> Option<TokenUsage> {
        let mut assembler = ModelReplyAssembler::default();
        self.events.iter().for_each(|event| assembler.push(event).unwrap());
        assembler.usage()
    }

    /// Only what the model said, not what was counted.
    pub(crate) fn has_deltas(&self) -> bool {
        let is_delta = |event: &ChatEvent| {
            !matches!(
                event,
                ChatEvent::Started { .. }
                    | ChatEvent::Limits(_)
                    | ChatEvent::Usage(_)
                    | ChatEvent::Finished { .. }
            )
        };
        self.events.iter().any(is_delta)
    }
}

/// Listens to the end, which must be the only fault or the only `Finished`.
pub(crate) async fn listen(mut stream: ChatStream) -> Heard {
    let mut heard = Heard::default();
    while let Some(item) = provider::next_event(&mut stream).await {
        assert!(heard.fault.is_none() && !heard.is_finished(), "something after the end");
        match item {
            Ok(event) => heard.events.push(event),
            Err(fault) => heard.fault = Some(fault),
        }
    }
    assert_ne!(heard.fault.is_some(), heard.is_finished(), "one end: {heard:?}");
    heard
}

pub(crate) async fn hear(wires: &HttpProvider, target: &ModelTarget, request: &ChatRequest) -> Heard {
    match wires.stream(target, request).await {
        Ok(stream) => listen(stream).await,
        Err(fault) => Heard { events: Vec::new(), fault: Some(fault) },
    }
}

/// The next answer is this much of the fixture's stream and then these steps.
pub(crate) fn cut(server: &ModelServer, fixture: &Fixture, at: usize, then: Vec<FakeModelStep>) {
    let mut steps = vec![FakeModelStep::Send(fixture.stream[..at].to_vec())];
    steps.extend(then);
    server.enqueue_answer(fixture.with_headers(FakeModelAnswer::stream(steps)));
}

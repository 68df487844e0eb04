//! The targets, requests and helpers that the tests share. Each request is the one of the fixture of its name.

use std::sync::Arc;

use munshi_llm::chat::{
    Assembler, Breakpoint, Lifetime, Media, MediaSource, Output, Thinking, ToolChoice, ToolResult, Usage,
};
use munshi_llm::target::Key;
use munshi_llm::transport::Limits;
use munshi_llm::{
    ChatRequest, ChatStream, Event, Fault, Message, Part, Provider, Role, Target, Timeouts, ToolCall,
    Transport, Wire, Wires, provider,
};
// Tests that wait for a timeout stop the clock instead.
pub(crate) use munshi_test_support::PATIENCE;
use munshi_test_support::model::{Answer, Fixture, ModelServer, Step};
use munshi_types::clock::FakeClock;
use munshi_types::tool::ToolSpec;
use serde_json::{Value, json};

pub(crate) const WIRES: [&str; 3] = ["anthropic", "openai", "gemini"];

pub(crate) fn wires() -> Wires {
    wires_with(Limits::default())
}

pub(crate) fn wires_with(limits: Limits) -> Wires {
    let clock = FakeClock::at("2026-01-10T10:00:00Z".parse().unwrap());
    Wires::new(Transport::with_limits(Arc::new(clock), limits).unwrap())
}

pub(crate) async fn server(wire: &str) -> ModelServer {
    ModelServer::start(Fixture::all(wire)).await
}

pub(crate) fn target(wire: &str, url: &str) -> Target {
    let (kind, base, model) = match wire {
        "anthropic" => (Wire::Anthropic, "/v1", "claude-sonnet-4-5"),
        "openai" => (Wire::OpenAi, "/v1", "gpt-5-mini"),
        _ => (Wire::Gemini, "/v1beta", "gemini-2.5-flash"),
    };
    let mut target = Target::new(wire, kind, format!("{url}{base}"), model);
    target.key = Key::new("sk-test-key");
    target.timeouts =
        Timeouts { connect: PATIENCE, first_byte: PATIENCE, between_bytes: PATIENCE, whole: PATIENCE * 10 };
    target.capabilities.thinking = true;
    target.capabilities.cache_minimum_tokens = 8;
    target.dialect.user_field = Some("safety_identifier".to_owned());
    target
}

pub(crate) fn request(wire: &str, name: &str) -> ChatRequest {
    let base = ChatRequest { max_output_tokens: 256, ..ChatRequest::default() };
    let said = |text: &str| vec![Message::user(text)];
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
            output: Output::Json { name: "fruit".to_owned(), schema: fruit() },
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
    let thought = Part::Thinking { text: "I should look.".to_owned(), signature: Some(signature.to_owned()) };
    let result = ToolResult {
        call_id: "toolu_01".to_owned(),
        name: "balance".to_owned(),
        content: "two people are called Ramesh".to_owned(),
        is_error: true,
    };
    let text = |text: &str| Part::Text { text: text.to_owned() };
    let looked = vec![
        thought,
        Part::SealedThinking { data: "anthropic:EmwKAhgBEgy3".to_owned() },
        Part::State { data: "another provider's".to_owned() },
        text("Let me look."),
        Part::ToolCall(call),
    ];
    let told = vec![text("The one with the tea stall."), Part::ToolResult(result)];
    ChatRequest {
        system: vec![SYSTEM.to_owned()],
        messages: vec![
            Message::user(QUESTION),
            Message { role: Role::Assistant, parts: looked },
            Message { role: Role::User, parts: told },
        ],
        tools: vec![balance(), sale()],
        max_output_tokens: 4096,
        temperature_milli: if wire == "anthropic" { Some(200) } else { None },
        thinking: Some(Thinking { budget_tokens: 2048 }),
        breakpoints: vec![
            Breakpoint::AfterMessage(2, Lifetime::FiveMinutes),
            Breakpoint::AfterTools(Lifetime::OneHour),
            Breakpoint::AfterSystem(0, Lifetime::OneHour),
        ],
        ..ChatRequest::default()
    }
}

fn bill() -> Message {
    let media = |media_type: &str, source| Media { media_type: media_type.to_owned(), source };
    let data = |text: &str| MediaSource::Data(text.to_owned());
    let parts = vec![
        Part::Image(media("image/png", data("iVBORw0KGgo="))),
        Part::Image(media("image/jpeg", MediaSource::Url("https://shop.example/bill.jpg".to_owned()))),
        Part::Document(media("application/pdf", data("JVBERi0xLjQ="))),
        Part::Document(media("text/plain", data("4KSs4KWA4KSy"))),
        Part::Text { text: "Write down the bill.".to_owned() },
    ];
    Message { role: Role::User, parts }
}

pub(crate) fn fruit() -> Value {
    json!({"type": "object", "properties": {"fruit": {"type": "string", "enum": ["apple", "mango"]}},
        "required": ["fruit"], "additionalProperties": false})
}

fn balance() -> Arc<ToolSpec> {
    let parameters = json!({"type": "object", "properties": {"name": {"type": "string"}},
        "required": ["name"], "additionalProperties": false});
    let spec = ToolSpec::read("balance".parse().unwrap(), "What a person owes.", "ledger.balance.read");
    Arc::new(ToolSpec { parameters, ..spec })
}

fn sale() -> Arc<ToolSpec> {
    let properties = json!({"item": {"type": "string"}, "amount": {"type": "integer"}});
    let parameters = json!({"type": "object", "properties": properties,
        "required": ["item", "amount"], "additionalProperties": false});
    let spec = ToolSpec::read("log_sale".parse().unwrap(), "Writes down a sale.", "ledger.sale.write");
    Arc::new(ToolSpec { parameters, ..spec })
}

/// Everything a call gave until its end, and how it ended.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) events: Vec<Event>,
    pub(crate) fault: Option<Fault>,
}

impl Heard {
    pub(crate) fn text(&self) -> String {
        let text = self.events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        });
        text.collect()
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.events.last(), Some(Event::Finished { .. }))
    }

    /// What is billed, whether it ended properly or not.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let mut assembler = Assembler::default();
        self.events.iter().for_each(|event| assembler.take(event).unwrap());
        assembler.usage()
    }

    /// Only what the model said, not what was counted.
    pub(crate) fn has_deltas(&self) -> bool {
        let is_delta = |event: &Event| {
            !matches!(
                event,
                Event::Started { .. } | Event::Limits(_) | Event::Usage(_) | Event::Finished { .. }
            )
        };
        self.events.iter().any(is_delta)
    }
}

/// Listens to the end, which must be the only fault or the only `Finished`.
pub(crate) async fn listen(mut stream: ChatStream) -> Heard {
    let mut heard = Heard::default();
    while let Some(item) = provider::next(&mut stream).await {
        assert!(heard.fault.is_none() && !heard.is_finished(), "something after the end");
        match item {
            Ok(event) => heard.events.push(event),
            Err(fault) => heard.fault = Some(fault),
        }
    }
    assert_ne!(heard.fault.is_some(), heard.is_finished(), "one end: {heard:?}");
    heard
}

pub(crate) async fn hear(wires: &Wires, target: &Target, request: &ChatRequest) -> Heard {
    match wires.stream(target, request).await {
        Ok(stream) => listen(stream).await,
        Err(fault) => Heard { events: Vec::new(), fault: Some(fault) },
    }
}

/// The next answer is this much of the fixture's stream and then these steps.
pub(crate) fn cut(server: &ModelServer, fixture: &Fixture, at: usize, then: Vec<Step>) {
    let mut steps = vec![Step::Send(fixture.stream[..at].to_vec())];
    steps.extend(then);
    server.next(fixture.with_headers(Answer::stream(steps)));
}

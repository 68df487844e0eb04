//! What the tests set up: a cast from the ready bindings and moments to put it in.

use std::sync::Arc;

use munshi_llm::pricing::estimate_request;
use munshi_llm::{ChatMessage, ChatRequest, ModelMessagePart, ModelRole, ModelTarget, ToolCall};
use munshi_tiers::precedence::TurnSituation;
use munshi_tiers::prompt::{
    AssembledPrompt, FenceKey, PersonFact, PromptExchange, PromptSpeaker, PromptTiers, PromptToolAnswer,
    PromptTurn, RecallItem, StaticPrompt, TurnContext, TurnEnvelope, UntrustedText, UtteranceText,
};
use munshi_types::tier::Channel;
use munshi_types::{Timestamp, ToolSpec, Zone};
use serde_json::json;

use super::tenants::tenant;

pub(crate) fn tool(name: &str) -> Arc<ToolSpec> {
    let mut spec = ToolSpec::read_only(name.parse().unwrap(), format!("What {name} is for."), "x.read");
    spec.parameters = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    Arc::new(spec)
}

/// A ready binding with all its tools installed.
pub(crate) fn cast(name: &str, binding: &str) -> StaticPrompt {
    cast_within(name, binding, None)
}

/// The same with another budget for what changes.
pub(crate) fn cast_within(name: &str, binding: &str, dynamic: Option<u32>) -> StaticPrompt {
    let tenant = tenant(name);
    let binding = &tenant.bindings[binding];
    let mut agent = tenant.agents[binding.agent.as_str()].clone();
    agent.limits.tokens.dynamic = dynamic;
    let agent = &agent;
    let installed: Vec<_> = agent.tools.iter().map(|name| tool(name.as_str())).collect();
    let human = &tenant.humans[binding.human.as_str()];
    let team = &tenant.teams[binding.team.as_str()];
    StaticPrompt::new(&PromptTiers { human, team, agent, installed: &installed })
}

pub(crate) fn envelope(channel: Channel, locale: &str, language: &str) -> TurnEnvelope {
    TurnEnvelope {
        now: Timestamp::from_micros(1_794_733_920_000_000),
        zone: Zone::default(),
        channel,
        locale: locale.to_owned(),
        language: Some(language.parse().unwrap()),
        situation: TurnSituation::Usual,
    }
}

/// A turn in which nothing is known yet.
pub(crate) fn moment(message: &str) -> TurnContext {
    TurnContext {
        envelope: envelope(Channel::Whatsapp, "en-IN", "en"),
        profile: Vec::new(),
        facts: Vec::new(),
        recall: Vec::new(),
        summary: None,
        history: Vec::new(),
        message: UtteranceText::new(message),
        whispers: Vec::new(),
        exchanges: Vec::new(),
        words: Vec::new(),
        tools: Vec::new(),
        packs: munshi_types::TenantPacks::default(),
        purposes: None,
        key: FenceKey::new(*b"a key for tests!"),
    }
}

pub(crate) fn fact(text: &str, confidence: u16) -> PersonFact {
    PersonFact { text: UntrustedText::new(text), confidence }
}

pub(crate) fn recalled(text: &str, score: u16) -> RecallItem {
    RecallItem::episode(UntrustedText::new(text), score)
}

/// What was said, the person first.
pub(crate) fn talk(lines: &[&str]) -> Vec<PromptTurn> {
    let speakers = [PromptSpeaker::Person, PromptSpeaker::Persona].into_iter().cycle();
    speakers
        .zip(lines)
        .map(|(speaker, line)| PromptTurn { speaker, text: UtteranceText::new(line) })
        .collect()
}

pub(crate) fn exchange(id: &str, tool: &str, arguments: serde_json::Value, answer: &str) -> PromptExchange {
    let call = ToolCall { id: id.to_owned(), name: tool.to_owned(), arguments };
    let asked = ChatMessage { role: ModelRole::Assistant, parts: vec![ModelMessagePart::ToolCall(call)] };
    let text = UntrustedText::new(answer);
    PromptExchange::new(
        asked,
        vec![PromptToolAnswer { call_id: id.to_owned(), tool: tool.to_owned(), text, is_error: false }],
    )
}

/// What the gateway would say the prompt takes.
pub(crate) fn estimated(assembled: &AssembledPrompt) -> u32 {
    let request: ChatRequest = assembled.clone().into_request();
    u32::try_from(estimate_request(&ModelTarget::offline(), &request)).unwrap()
}

/// The whole prompt as one text, with what the report says of it.
pub(crate) fn shown(assembled: &AssembledPrompt) -> String {
    let mut out = String::new();
    for (at, block) in assembled.system.iter().enumerate() {
        if at + 1 == assembled.system.len() {
            out.push_str("════ cache boundary ════\n");
        }
        out.push_str(block);
    }
    for message in &assembled.messages {
        let role = if message.role == ModelRole::User { "person" } else { "persona" };
        for part in &message.parts {
            match part {
                ModelMessagePart::Text { text } => out.push_str(&format!("──── {role}\n{text}\n")),
                ModelMessagePart::ToolCall(call) => {
                    out.push_str(&format!("──── {role} calls {} {}\n", call.name, call.arguments));
                }
                ModelMessagePart::ToolResult(result) => {
                    out.push_str(&format!("──── {} answers\n{}", result.name, result.content));
                }
                other => out.push_str(&format!("──── {other:?}\n")),
            }
        }
    }
    out.push_str("════ report ════\n");
    for share in &assembled.report.shares {
        out.push_str(&format!("{:5} {} {:?}\n", share.tokens, share.section.tier(), share.section));
    }
    out.push_str(&format!("{:5} of at most {}\n", assembled.report.total, assembled.report.most));
    for cut in &assembled.report.cuts {
        out.push_str(&format!(
            "cut: {:?} {} from {} to {}: {:?}\n",
            cut.section, cut.index, cut.tokens, cut.left, cut.why
        ));
    }
    out
}

//! Which class of model a turn gets.

use serde_json::json;

use munshi_types::Language;

use super::Gateway;
use super::call::ModelCall;
use super::route::{Capability, ModelRoute, RoutingStrategy};
use crate::chat::{ChatMessage, ChatRequest, ModelRole, ReplyFormat};

/// What is known about a turn before any model has seen it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoutingHints {
    pub is_voice: bool,
    /// The person's language, where it is known.
    pub language: Option<Language>,
}

/// Shorter messages leave open what they are about.
const FEW_WORDS: usize = 6;
/// The small model reads no more than this of a message.
const LONGEST_EXCERPT: usize = 2_000;
const CLASSES: [Capability; 3] = [Capability::Default, Capability::Cheap, Capability::Multilingual];

impl ModelRoute {
    /// By the channel, the form of the answer, the language and the tools, in this order.
    pub fn choose_by_rule(&self, request: &ChatRequest, hints: RoutingHints) -> Capability {
        let is_indian = hints.language.is_some_and(|language| language != Language::English);
        if hints.is_voice {
            Capability::Voice
        } else if request.output != ReplyFormat::Text {
            Capability::JsonStrict
        } else if is_indian && self.has_targets_for(Capability::Multilingual) {
            Capability::Multilingual
        } else if request.tools.is_empty() && self.has_targets_for(Capability::ChatLight) {
            Capability::ChatLight
        } else if request.tools.is_empty() {
            Capability::Default
        } else {
            Capability::ChatTools
        }
    }

    fn has_targets_for(&self, wanted: Capability) -> bool {
        self.targets.get(&wanted).is_some_and(|names| !names.is_empty())
    }

    /// Whether the message says too little, or asks for a person.
    fn needs_classifier(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        text.split_whitespace().count() < FEW_WORDS
            || self.escalation_words.iter().any(|word| lower.contains(&word.to_lowercase()))
    }
}

impl Gateway {
    /// The class for a turn. `call` is the turn's own; asking the small model is an attempt on its tab and its budget.
    /// Where the small model can't say, the rule does.
    pub async fn choose_capability(&self, call: &ModelCall, hints: RoutingHints) -> Capability {
        let by_rule = call.route.choose_by_rule(&call.request, hints);
        let text = last_user_text(&call.request);
        let asks = match call.route.strategy {
            RoutingStrategy::Rule => false,
            RoutingStrategy::Classifier => true,
            RoutingStrategy::Hybrid => call.route.needs_classifier(&text),
        };
        // Voice can't wait, and a form is a form.
        if !asks || hints.is_voice || by_rule == Capability::JsonStrict || text.is_empty() {
            return by_rule;
        }
        if self.shared.find_sure_target(&call.route, &call.request).is_some() {
            return by_rule;
        }
        match self.classify(call, text).await {
            Some(Capability::Default) => by_rule,
            Some(class) if call.route.has_targets_for(class) => class,
            _ => by_rule,
        }
    }

    async fn classify(&self, call: &ModelCall, text: String) -> Option<Capability> {
        let names: Vec<&str> = CLASSES.iter().map(|class| class.as_str()).collect();
        let schema = json!({
            "type": "object",
            "properties": {"class": {"type": "string", "enum": names}},
            "required": ["class"],
            "additionalProperties": false,
        });
        let system = "You sort messages for a business. `cheap`: small talk, thanks, a simple fact. `multilingual`: \
                      written in an Indian language. `default`: anything that needs thought, tools or care.";
        let request = ChatRequest {
            system: vec![system.to_owned()],
            messages: vec![ChatMessage::user(text)],
            output: ReplyFormat::Json { name: "class".to_owned(), schema },
            max_output_tokens: 64,
            temperature_milli: Some(0),
            ..ChatRequest::default()
        };
        let asked = ModelCall { wanted: Capability::Classifier, request: request.into(), ..call.clone() };
        let reply = match self.complete(asked).await {
            Ok(reply) => reply,
            Err(fault) => {
                tracing::warn!(%fault, "classifier call failed; using the rule");
                return None;
            }
        };
        let answer: serde_json::Value = serde_json::from_str(&reply.text()).ok()?;
        answer["class"].as_str()?.parse().ok()
    }
}

/// What the person said last.
fn last_user_text(request: &ChatRequest) -> String {
    let last = request.messages.iter().rev().find(|message| message.role == ModelRole::User);
    last.map(ChatMessage::text).unwrap_or_default().chars().take(LONGEST_EXCERPT).collect()
}

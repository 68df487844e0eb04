//! All that is true of one turn.

use std::collections::BTreeSet;
use std::sync::Arc;

use munshi_llm::pricing::count_message;
use munshi_llm::{ChatMessage, ModelRole, ModelTarget};
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{ConsentPurposeName, TenantPacks, Timestamp, ToolSpec, Zone};

use super::fence::{FenceKey, sanitize};
use super::text::{CountedText, UntrustedText, UtteranceText};
use crate::precedence::TurnSituation;

/// What a turn brings along, as others found it. What of it is told is decided when the prompt is put together.
#[derive(Clone, Debug)]
pub struct TurnContext {
    pub envelope: TurnEnvelope,
    /// What the visitor's page or app says of them, where they are not known otherwise.
    pub profile: Vec<UntrustedText>,
    pub facts: Vec<PersonFact>,
    pub recall: Vec<RecallItem>,
    /// What the older part of the conversation came to.
    pub summary: Option<UntrustedText>,
    /// The conversation before this message, the oldest first.
    pub history: Vec<PromptTurn>,
    pub message: UtteranceText,
    /// What colleagues tell the persona of it, which the person does not see.
    pub whispers: Vec<UntrustedText>,
    /// What tools were asked in this turn and what they answered, the oldest first.
    pub exchanges: Vec<PromptExchange>,
    /// What the tenant calls things.
    pub words: Vec<TenantWord>,
    /// Tools beside the static prompt's own, the most fitting first; as many as there is room for are offered.
    pub tools: Vec<ConnectorToolSpec>,
    /// The packs the tenant has: tools of others are not offered.
    pub packs: TenantPacks,
    /// The purposes of consent that the tenant declares: tools that name another are not offered. None where no tool is left out.
    pub purposes: Option<Arc<BTreeSet<ConsentPurposeName>>>,
    pub key: FenceKey,
}

impl TurnContext {
    /// A message and nothing else, to see whether it has room.
    pub(super) fn with_message_only(message: UtteranceText) -> Self {
        let envelope = TurnEnvelope {
            now: Timestamp::from_micros(0),
            zone: Zone::default(),
            channel: Channel::Whatsapp,
            locale: String::new(),
            language: None,
            situation: TurnSituation::Escalation,
        };
        Self {
            envelope,
            profile: Vec::new(),
            facts: Vec::new(),
            recall: Vec::new(),
            summary: None,
            history: Vec::new(),
            message,
            whispers: Vec::new(),
            exchanges: Vec::new(),
            words: Vec::new(),
            tools: Vec::new(),
            packs: TenantPacks::all(),
            purposes: None,
            key: FenceKey::new([0; 16]),
        }
    }
}

/// A tool that a connector brings, and the tokens that describe it, counted once.
#[derive(Clone, Debug)]
pub struct ConnectorToolSpec {
    pub tool: Arc<ToolSpec>,
    pub tokens: u32,
}

/// When, where and how the message came.
#[derive(Clone, Debug)]
pub struct TurnEnvelope {
    pub now: Timestamp,
    pub zone: Zone,
    pub channel: Channel,
    /// As the channel told it, such as `en-IN`; what looks like none is left out.
    pub locale: String,
    /// The person's language, where it is known.
    pub language: Option<LanguageCode>,
    pub situation: TurnSituation,
}

/// Something known of the person.
#[derive(Clone, Debug)]
pub struct PersonFact {
    pub text: UntrustedText,
    /// In thousandths.
    pub confidence: u16,
}

/// An episode or a passage of a document that a search brought up.
#[derive(Clone, Debug)]
pub struct RecallItem {
    pub kind: RecallItemKind,
    pub text: UntrustedText,
    /// In thousandths; the higher, the closer.
    pub score: u16,
}

/// Each kind has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallItemKind {
    Episode,
    Passage,
}

impl RecallItem {
    pub const fn episode(text: UntrustedText, score: u16) -> Self {
        Self { kind: RecallItemKind::Episode, text, score }
    }

    /// A passage with where it stands, so that an answer can name its source.
    pub fn passage(source: &str, text: &str, score: u16) -> Self {
        let text = UntrustedText::new(&format!("({source}) {text}"));
        Self { kind: RecallItemKind::Passage, text, score }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptSpeaker {
    Person,
    /// The persona itself.
    Persona,
}

impl From<PromptSpeaker> for ModelRole {
    fn from(speaker: PromptSpeaker) -> Self {
        match speaker {
            PromptSpeaker::Person => Self::User,
            PromptSpeaker::Persona => Self::Assistant,
        }
    }
}

/// Something that was said.
#[derive(Clone, Debug)]
pub struct PromptTurn {
    pub speaker: PromptSpeaker,
    pub text: UtteranceText,
}

/// One step of a turn: what the model asked of tools, and their answers.
#[derive(Clone, Debug)]
pub struct PromptExchange {
    asked: ChatMessage,
    tokens: u32,
    pub answers: Vec<PromptToolAnswer>,
}

/// What a tool answered to one call.
#[derive(Clone, Debug)]
pub struct PromptToolAnswer {
    pub call_id: String,
    pub tool: String,
    pub text: UntrustedText,
    pub is_error: bool,
}

impl PromptExchange {
    /// `asked` is the model's own message: it goes back unchanged.
    pub fn new(asked: ChatMessage, answers: Vec<PromptToolAnswer>) -> Self {
        let parts = u64::from(WRAPPING) * asked.parts.len() as u64;
        let tokens =
            u32::try_from(count_message(&ModelTarget::offline(), &asked) + parts).unwrap_or(u32::MAX);
        Self { asked, tokens, answers }
    }

    pub(super) const fn model_message(&self) -> &ChatMessage {
        &self.asked
    }

    pub(super) const fn tokens(&self) -> u32 {
        self.tokens
    }
}

/// What a message, a tool or a call costs beside its text; as the gateway estimates it.
pub(super) const WRAPPING: u32 = 8;

/// What the tenant calls one of the product's things: a lead is an `enquiry`.
#[derive(Clone, Debug)]
pub struct TenantWord(CountedText);

impl TenantWord {
    pub fn new(thing: &str, called: &str) -> Self {
        let line = |text: &str| sanitize(text).split_whitespace().collect::<Vec<_>>().join(" ");
        Self(CountedText::new(format!("Here “{}” is called “{}”.\n", line(thing), line(called))))
    }

    pub(super) const fn text(&self) -> &CountedText {
        &self.0
    }
}

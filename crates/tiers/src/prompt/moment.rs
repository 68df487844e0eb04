//! All that is true of one turn.

use std::sync::Arc;

use munshi_llm::money::count_message;
use munshi_llm::{Message, Role, Target};
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{Timestamp, ToolSpec, Zone};

use super::fence::{FenceKey, harmless};
use super::text::{Data, Spoken, Text};
use crate::contract::Situation;

/// What a turn brings along, as others found it. What of it is told is decided when the prompt is put together.
#[derive(Clone, Debug)]
pub struct Moment {
    pub envelope: Envelope,
    /// What the visitor's page or app says of them, where they are not known otherwise.
    pub profile: Vec<Data>,
    pub facts: Vec<Fact>,
    pub recall: Vec<Recalled>,
    /// What the older part of the conversation came to.
    pub summary: Option<Data>,
    /// The conversation before this message, the oldest first.
    pub history: Vec<Turn>,
    pub message: Spoken,
    /// What tools were asked in this turn and what they answered, the oldest first.
    pub exchanges: Vec<Exchange>,
    /// What the tenant calls things.
    pub words: Vec<TenantWord>,
    /// Tools beside the cast's own, the most fitting first; as many as there is room for are offered.
    pub tools: Vec<Guest>,
    pub key: FenceKey,
}

impl Moment {
    /// A message and nothing else, to see whether it has room.
    pub(super) fn shortest(message: Spoken) -> Self {
        let envelope = Envelope {
            now: Timestamp::from_micros(0),
            zone: Zone::default(),
            channel: Channel::Whatsapp,
            locale: String::new(),
            language: None,
            situation: Situation::Escalation,
        };
        Self {
            envelope,
            profile: Vec::new(),
            facts: Vec::new(),
            recall: Vec::new(),
            summary: None,
            history: Vec::new(),
            message,
            exchanges: Vec::new(),
            words: Vec::new(),
            tools: Vec::new(),
            key: FenceKey::new([0; 16]),
        }
    }
}

/// A tool that a connector brings, and the tokens that describe it, counted once.
#[derive(Clone, Debug)]
pub struct Guest {
    pub tool: Arc<ToolSpec>,
    pub tokens: u32,
}

/// When, where and how the message came.
#[derive(Clone, Debug)]
pub struct Envelope {
    pub now: Timestamp,
    pub zone: Zone,
    pub channel: Channel,
    /// As the channel told it, such as `en-IN`; what looks like none is left out.
    pub locale: String,
    /// The person's language, where it is known.
    pub language: Option<LanguageCode>,
    pub situation: Situation,
}

/// Something known of the person.
#[derive(Clone, Debug)]
pub struct Fact {
    pub text: Data,
    /// In thousandths.
    pub confidence: u16,
}

/// An episode or a passage of a document that a search brought up.
#[derive(Clone, Debug)]
pub struct Recalled {
    pub kind: RecalledKind,
    pub text: Data,
    /// In thousandths; the higher, the closer.
    pub score: u16,
}

/// Each kind has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecalledKind {
    Episode,
    Passage,
}

impl Recalled {
    pub const fn episode(text: Data, score: u16) -> Self {
        Self { kind: RecalledKind::Episode, text, score }
    }

    /// A passage with where it stands, so that an answer can name its source.
    pub fn passage(source: &str, text: &str, score: u16) -> Self {
        let text = Data::new(&format!("({source}) {text}"));
        Self { kind: RecalledKind::Passage, text, score }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Person,
    /// The persona itself.
    Persona,
}

impl From<Speaker> for Role {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::Person => Self::User,
            Speaker::Persona => Self::Assistant,
        }
    }
}

/// Something that was said.
#[derive(Clone, Debug)]
pub struct Turn {
    pub speaker: Speaker,
    pub text: Spoken,
}

/// One step of a turn: what the model asked of tools, and their answers.
#[derive(Clone, Debug)]
pub struct Exchange {
    asked: Message,
    tokens: u32,
    pub answers: Vec<Answer>,
}

/// What a tool answered to one call.
#[derive(Clone, Debug)]
pub struct Answer {
    pub call_id: String,
    pub tool: String,
    pub text: Data,
    pub is_error: bool,
}

impl Exchange {
    /// `asked` is the model's own message: it goes back unchanged.
    pub fn new(asked: Message, answers: Vec<Answer>) -> Self {
        let parts = u64::from(WRAPPING) * asked.parts.len() as u64;
        let tokens = u32::try_from(count_message(&Target::offline(), &asked) + parts).unwrap_or(u32::MAX);
        Self { asked, tokens, answers }
    }

    pub(super) const fn asked(&self) -> &Message {
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
pub struct TenantWord(Text);

impl TenantWord {
    pub fn new(thing: &str, called: &str) -> Self {
        let line = |text: &str| harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
        Self(Text::new(format!("Here “{}” is called “{}”.\n", line(thing), line(called))))
    }

    pub(super) const fn text(&self) -> &Text {
        &self.0
    }
}

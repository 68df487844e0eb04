//! For whom, where and when a pack is asked something.

use std::sync::Arc;

use munshi_identity::Principal;
use munshi_safety::pipeline::CallerAudience;
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{BindingId, SessionId, TenantPacks, Timestamp, ToolName, Zone};
use serde_json::Value;

/// One turn, as far as a pack needs to know it.
#[derive(Clone, Debug)]
pub struct PackTurnContext {
    pub principal: Principal,
    pub door: CallerAudience,
    pub binding: BindingId,
    pub session: SessionId,
    pub channel: Channel,
    /// The person's, where it is known.
    pub language: Option<LanguageCode>,
    /// What the person wrote.
    pub message: String,
    /// What was said before it by either side, the oldest first, as far as a model is told of it.
    pub before: Arc<[EarlierMessage]>,
    /// How things stand, as packs have told it for this turn's prompt.
    pub standing: Arc<[String]>,
    /// What the agent may call. A pack has nothing to say of an agent that has none of its tools.
    pub tools: Arc<[ToolName]>,
    /// The packs the tenant has.
    pub packs: TenantPacks,
    pub now: Timestamp,
    /// The tenant's: its days begin by it.
    pub zone: Zone,
    /// The message as something to look by.
    pub query: Arc<TurnQuery>,
}

/// A message as something to look by, made before a turn reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnQuery {
    /// Its words as a search index keeps them, in every script's spelling.
    pub tokens: Vec<String>,
    /// Its meaning, where some context source wants it and it was there in time.
    pub vector: Option<Vec<f32>>,
    /// What the conversation has spoken of, the newest first.
    pub entities: Vec<QueryEntity>,
}

/// Something that a conversation has spoken of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryEntity {
    pub kind: String,
    pub id: String,
    pub name: String,
}

/// Something that was said before.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierMessage {
    pub by: EarlierSpeaker,
    pub text: String,
    /// What tools had said when it was: what a reply tells is worth no more than these.
    pub results: Vec<Value>,
}

/// Whose words something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierSpeaker {
    Person,
    /// The one who answers: a model's words, which nobody has to have said before.
    Persona,
    /// Somebody of the business who joined in: nothing they ask is answered by a yes to us, and nothing they say was said by the person.
    Colleague,
}

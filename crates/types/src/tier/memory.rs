//! What an agent remembers and looks up.

use serde::{Deserialize, Serialize};

/// Which memory is read for a turn, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryPolicy {
    pub scope: MemoryScope,
    /// Whether what is known of the person goes into every turn.
    pub facts: bool,
    /// When past episodes are searched by meaning.
    pub recall: RecallMode,
    /// How many past episodes are called to mind at most.
    pub episodes: u8,
    /// How many turns of the conversation are told again at most; older ones are summarised.
    pub history: u8,
    /// After how many days an episode counts half.
    pub half_life_days: u16,
}

impl Default for MemoryPolicy {
    fn default() -> Self {
        Self {
            scope: MemoryScope::Person,
            facts: true,
            recall: RecallMode::Needed,
            episodes: 5,
            history: 10,
            half_life_days: 30,
        }
    }
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// Nothing outlives the conversation.
    Session,
    /// One person's with one binding.
    #[default]
    Person,
    /// The person's own, and what the team shares.
    Team,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallMode {
    Never,
    /// Where a word, a name or the policy asks for it.
    #[default]
    Needed,
    Always,
}

/// What is looked up in documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// How many passages at most; 0 looks nothing up.
    pub passages: u8,
    /// A passage counts from this likeness on, in hundredths.
    pub least_likeness: u8,
    /// Whether an answer names its sources.
    pub citations: bool,
    /// The folders under `knowledge/` that it reads; none means all.
    pub collections: Vec<String>,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self { passages: 4, least_likeness: 30, citations: true, collections: Vec::new() }
    }
}

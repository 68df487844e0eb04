//! What became of every part of a prompt.

use munshi_types::tier::TierKind;
use serde::Serialize;

/// A part of the prompt, in the order they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    ToolSchemas,
    Soul,
    Identity,
    Voice,
    Language,
    HumanGuardrails,
    Role,
    Sops,
    Handoffs,
    TeamGuardrails,
    Contract,
    Fences,
    AgentGuardrails,
    Guidance,
    Profile,
    Facts,
    Recall,
    Summary,
    Envelope,
    Words,
    History,
    Message,
    ToolResults,
}

impl Section {
    /// The tier whose tokens these are.
    pub const fn tier(self) -> TierKind {
        match self {
            Self::Soul | Self::Identity | Self::Voice | Self::Language | Self::HumanGuardrails => {
                TierKind::Human
            }
            Self::Role | Self::Sops | Self::Handoffs | Self::TeamGuardrails => TierKind::Team,
            _ => TierKind::Agent,
        }
    }

    /// Whether it stands before the cache boundary and is the same in every turn.
    pub fn is_static(self) -> bool {
        self <= Self::Guidance
    }
}

/// What a section took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    pub section: Section,
    /// With its fence and wrapping.
    pub tokens: u32,
}

/// Something that was left out or shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cut {
    pub section: Section,
    /// Its place among its kind, as it was handed in.
    pub index: usize,
    /// What it would have taken.
    pub tokens: u32,
    /// What it takes now; 0 where it was left out.
    pub left: u32,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The agent's policy wants fewer, or none.
    Policy,
    /// The team looks back less far.
    Depth,
    /// The agent looks up fewer passages of documents.
    Passages,
    /// It is too unsure to be told as known.
    Unsure,
    /// Its section has a budget of its own.
    SectionBudget,
    /// All that changes from turn to turn has a budget together.
    DynamicBudget,
    /// The prompt and the answer have a ceiling together.
    Ceiling,
    /// An answer whose question was left out.
    NoQuestion,
}

/// The prompt by the numbers; what a call is stored with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub shares: Vec<Share>,
    pub cuts: Vec<Cut>,
    /// All shares together.
    pub total: u32,
    /// What the total may be: the ceiling without the room for the answer.
    pub most: u32,
}

impl Report {
    pub fn tokens(&self, section: Section) -> u32 {
        self.shares.iter().filter(|share| share.section == section).map(|share| share.tokens).sum()
    }

    pub fn of_tier(&self, tier: TierKind) -> u32 {
        self.shares.iter().filter(|share| share.section.tier() == tier).map(|share| share.tokens).sum()
    }

    pub(super) fn add(&mut self, section: Section, tokens: u32) {
        if tokens > 0 {
            self.shares.push(Share { section, tokens });
            self.total = self.total.saturating_add(tokens);
        }
    }
}

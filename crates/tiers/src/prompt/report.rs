//! What became of every part of a prompt.

use munshi_types::tier::TierKind;
use serde::Serialize;

/// A part of the prompt, in the order they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptSection {
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

impl PromptSection {
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
pub struct SectionShare {
    pub section: PromptSection,
    /// With its fence and wrapping.
    pub tokens: u32,
}

/// Something that was left out or shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PromptCut {
    pub section: PromptSection,
    /// Its place among its kind, as it was handed in.
    pub index: usize,
    /// What it would have taken.
    pub tokens: u32,
    /// What it takes now; 0 where it was left out.
    pub left: u32,
    pub why: PromptCutReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptCutReason {
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
pub struct PromptReport {
    pub shares: Vec<SectionShare>,
    pub cuts: Vec<PromptCut>,
    /// All shares together.
    pub total: u32,
    /// What the total may be: the ceiling without the room for the answer.
    pub most: u32,
}

impl PromptReport {
    pub fn tokens(&self, section: PromptSection) -> u32 {
        self.shares.iter().filter(|share| share.section == section).map(|share| share.tokens).sum()
    }

    pub fn tier_tokens(&self, tier: TierKind) -> u32 {
        self.shares.iter().filter(|share| share.section.tier() == tier).map(|share| share.tokens).sum()
    }

    pub(super) fn add(&mut self, section: PromptSection, tokens: u32) {
        if tokens > 0 {
            self.shares.push(SectionShare { section, tokens });
            self.total = self.total.saturating_add(tokens);
        }
    }
}

//! What a prompt should know of a pack's own tables.

use munshi_privacy::ProtectedEntity;
use munshi_store::{Result, Tx};
use munshi_tiers::prompt::{PersonFact, RecallItem, TenantWord, UntrustedText};

use crate::turn_context::PackTurnContext;

/// Asked once a turn, in one reading transaction with all the others.
pub trait ContextSource: Send + Sync {
    fn gather(&self, tx: &mut Tx<'_>, scene: &PackTurnContext) -> Result<PromptContribution>;
}

/// What was found. What of it is told is decided by the prompt's budgets.
#[derive(Clone, Debug, Default)]
pub struct PromptContribution {
    /// How things stand, such as the day's totals.
    pub profile: Vec<UntrustedText>,
    pub facts: Vec<PersonFact>,
    pub recall: Vec<RecallItem>,
    pub words: Vec<TenantWord>,
    /// Whose names and numbers no cloud model sees.
    pub people: Vec<ProtectedEntity>,
}

impl PromptContribution {
    pub fn add(&mut self, more: Self) {
        self.profile.extend(more.profile);
        self.facts.extend(more.facts);
        self.recall.extend(more.recall);
        self.words.extend(more.words);
        self.people.extend(more.people);
    }
}

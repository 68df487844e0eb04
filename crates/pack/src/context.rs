//! What a prompt should know of a pack's own tables.

use munshi_privacy::ProtectedEntity;
use munshi_store::{Result, Tx};
use munshi_tiers::prompt::{PersonFact, RecallItem, TenantWord, UntrustedText};

use crate::turn_context::PackTurnContext;

/// Asked once a turn, in one reading transaction with all the others.
pub trait ContextSource: Send + Sync {
    /// Whether it looks things up by the message: then [`PackTurnContext::query`] has its words and what was spoken of.
    fn wants_query(&self) -> bool {
        self.wants_vector()
    }

    /// Whether it looks by the message's meaning: then [`TurnQuery::vector`](crate::TurnQuery::vector) is made before anything is
    /// read, by a model that may be elsewhere. What takes longer than a moment is done without.
    fn wants_vector(&self) -> bool {
        false
    }

    /// What is left out, in a few words, while more than fifty messages wait for an answer; none where a turn can't do without.
    /// The run's record and the end of the reply say so, and the model is told.
    fn optional(&self) -> Option<&'static str> {
        None
    }

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

    /// For where others read along: without what is known of anybody, and of how things stand.
    #[must_use]
    pub fn without_personal(self) -> Self {
        Self { words: self.words, people: self.people, ..Self::default() }
    }
}

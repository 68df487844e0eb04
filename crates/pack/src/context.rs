//! What a prompt should know of a pack's own tables.

use munshi_safety::privacy::Entity;
use munshi_store::{Result, Tx};
use munshi_tiers::prompt::{Data, Fact, Recalled, TenantWord};

use crate::scene::Scene;

/// Asked once a turn, in one reading transaction with all the others.
pub trait ContextSource: Send + Sync {
    fn gather(&self, tx: &mut Tx<'_>, scene: &Scene) -> Result<Gathered>;
}

/// What was found. What of it is told is decided by the prompt's budgets.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// How things stand, such as the day's totals.
    pub profile: Vec<Data>,
    pub facts: Vec<Fact>,
    pub recall: Vec<Recalled>,
    pub words: Vec<TenantWord>,
    /// Whose names and numbers no cloud model sees.
    pub people: Vec<Entity>,
}

impl Gathered {
    pub fn add(&mut self, more: Self) {
        self.profile.extend(more.profile);
        self.facts.extend(more.facts);
        self.recall.extend(more.recall);
        self.words.extend(more.words);
        self.people.extend(more.people);
    }
}

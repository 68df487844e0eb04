//! What a tenant is made of: who speaks (human), in which job (team), on what machinery (agent), and the binding that
//! puts the three together behind an address.
//!
//! These are the values as everybody reads them, every default filled in. How they are written in files, kept in
//! versions and found by an address is the business of `munshi-tiers`.

mod agent;
mod binding;
mod budget;
mod guardrail;
mod human;
mod memory;
mod name;
mod opening_hours;
mod routing;
mod team;

pub use agent::{Agent, AgentLimits, AgentModels, RouteStrategy};
pub use binding::{Audience, Binding, BindingSlice, Channel, SliceCandidate, TierRef};
pub use budget::{PromptBudgetProfile, PromptBudgets, TokenLimits};
pub use guardrail::GuardrailRef;
pub use human::{Human, HumanLanguages, HumanVoice, LanguageCode, LanguageLock};
pub use memory::{MemoryPolicy, MemoryScope, RecallMode, Retrieval};
pub use name::{TierKind, TierName, TierNameError, TierStatus};
pub use opening_hours::{Holiday, Opening, OpeningHours, find_opening};
pub use routing::{RoutingKey, RoutingKeyError, RoutingKeyKind};
pub use team::{Destination, Escalation, Handoff, Register, Team};

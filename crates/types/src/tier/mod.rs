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
mod routing;
mod team;

pub use agent::{Agent, Limits, Models, RouteStrategy};
pub use binding::{Audience, Binding, Candidate, Channel, Slice, TierRef};
pub use budget::{Budgets, Profile, TokenLimits};
pub use guardrail::GuardrailRef;
pub use human::{Human, LanguageCode, LanguageLock, Speech, Voice};
pub use memory::{MemoryPolicy, MemoryScope, Recall, Retrieval};
pub use name::{TierKind, TierName, TierNameError, TierStatus};
pub use routing::{KeyError, KeyKind, RoutingKey};
pub use team::{Destination, Escalation, Handoff, Register, Team};

//! Humans, teams, agents and bindings, and how they came about.

mod diff;
mod list;
mod log;
mod rollback;
mod show;
mod view;

pub use diff::{DiffTier, DiffTierInput};
pub use list::{ListTiers, ListTiersInput};
pub use log::{LogTier, LogTierInput};
pub use rollback::{RollbackTier, RollbackTierInput, RolledBackTierView};
pub use show::{ShowTier, ShowTierInput};
pub(crate) use view::{ApplyPlanSchema, FieldChangeSchema};
pub use view::{TierDetailView, TierDiffView, TierLogView, TierVersionEntryView, TierView};

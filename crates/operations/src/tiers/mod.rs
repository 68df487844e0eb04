//! Humans, teams, agents and bindings, and how they came about.

mod diff;
mod list;
mod log;
mod show;
mod view;

pub use diff::{DiffTier, DiffTierInput};
pub use list::{ListTiers, ListTiersInput};
pub use log::{LogTier, LogTierInput};
pub use show::{ShowTier, ShowTierInput};
pub(crate) use view::FieldChangeSchema;
pub use view::{TierDetailView, TierDiffView, TierLogView, TierVersionEntryView, TierView};

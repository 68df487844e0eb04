//! Humans, teams, agents and bindings: their files, their versions, and the way from an address to them.
//!
//! A tenant's folder is read, checked whole and compared with what is stored ([`files::read`], [`plan_folder`]); what
//! differs becomes new versions in one transaction ([`apply()`]). Each tier has its own history. A message's address
//! leads to a binding and three versions through a [`BindingResolver`], from memory once it was asked for, and a change made
//! by any process shows within a second.
//!
//! Not here: the model, tools and memory that tiers speak of, and the guardrails themselves (`munshi-guardrails`). Nothing
//! here calls a model.
//!
//! # Layout
//! - `shape`: what may be written, said once; [`files`]: folders and files; [`draft`]: a tier as it was written
//! - [`plan`]: what would change, and whether it may; [`apply()`]: doing it; [`history`]: versions, and the way back
//! - [`folder_extension`]: a file of the folder that another crate reads, applied with the tiers
//! - [`merge`]: an agent and what it extends; [`token_counts`]: tokens, counted when stored
//! - [`precedence`]: who decides what where tiers disagree; [`find_handoff_way`]: where a conversation may go from where it is;
//!   [`prompt`]: three tiers and a turn to one prompt;
//!   [`fence_key`]: the installation's secret for it
//! - [`import`]: a workspace of seven markdown files to tiers
//! - [`build_rule_set`]: the guardrails of a binding, which stand in the prompt and run again on the reply
//! - [`resolve`]: from an address to a binding; [`resolve_model_route()`]: an agent's models; [`tenant_models`]: a tenant's; `rows`, `routing_keys`, `events`: the statements
//!
//! # To add a key to a tier
//! Add the field to its type in `munshi-types` and a line to its table in `shape`, then
//! `UPDATE_DOCS=1 cargo test -p munshi-tiers` writes the schemas and the reference.

mod apply;
pub mod draft;
mod error;
mod events;
mod fence_key;
pub mod files;
pub mod folder_extension;
mod guardrail_rules;
mod handoff_ways;
pub mod history;
pub mod import;
pub mod merge;
mod model_route;
pub mod plan;
pub mod precedence;
pub mod problem;
pub mod prompt;
pub mod resolve;
mod routing_keys;
mod rows;
mod shape;
pub mod tenant_models;
pub mod token_counts;

pub use apply::{apply, list_new_addresses, mark_tenant_changed, plan_folder, plan_folders};
pub use draft::{Tier, TierBody, TierDraft};
pub use error::{Error, Result};
pub use events::{TierEvent, TierEventKind};
pub use fence_key::ensure_fence_key;
pub use folder_extension::{ExtensionBodies, ExtensionChange, ExtensionFile, FolderExtension};
pub use guardrail_rules::build_rule_set;
pub use handoff_ways::{HandoffWay, find_handoff_way};
pub use model_route::resolve_model_route;
pub use plan::{ApplyPlan, InstalledNames, VanishedTierPolicy};
pub use problem::{FolderProblem, FolderProblems};
pub use resolve::{ActivePlace, AddressResolution, BindingResolution, BindingResolver};
pub use routing_keys::ROUTING;
pub use rows::{Authorship, TierVersionView};
pub use shape::{build_schema, render_reference};
pub use tenant_models::TenantModels;
pub use token_counts::TierTokenCounts;

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[
    migration!("0005_tiers"),
    migration!("0011_fence_key"),
    migration!("0012_tier_events"),
    migration!("0050_tenant_models"),
    migration!("0151_mailbox_keys"),
];

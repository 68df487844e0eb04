//! The house's administrative verbs, each written once: its input, its view, who may, and what it does. Commands, routes,
//! pages and other agents parse, call and render; they hold no rule.
//!
//! # Layout
//! - [`HOUSE`]: all of them; [`HouseServices`]: what they need besides a database
//! - [`keys`], [`persons`], [`sessions`], [`messages`], [`runs`], [`approvals`], [`acts`],
//!   [`violations`], [`tiers`], [`bindings`], [`usage`], [`stats`]: a module a resource, a file a verb
//! - [`render_reference`]: the page in the docs; [`schemas`]: words of the crates below in the document
//!
//! To add one, see [`munshi_pack::operation`].

pub mod acts;
pub mod approvals;
pub mod bindings;
pub mod keys;
pub mod messages;
mod named_list;
pub mod persons;
mod reference;
pub mod runs;
pub mod schemas;
pub mod sessions;
pub mod stats;
pub mod tiers;
mod turn_errors;
pub mod usage;
pub mod violations;

pub use reference::render_reference;

use std::sync::Arc;

use munshi_agent::TurnEngine;
use munshi_identity::keys::ApiKeyCache;
use munshi_pack::operation::{OperationCall, OperationEntry, OperationError};
use munshi_safety::acts::ActServices;

/// What the house's operations need besides a database.
#[derive(Clone)]
pub struct HouseServices {
    pub keys: ApiKeyCache,
    /// None where no server runs turns: what it would do at once is left to one that does.
    pub engine: Option<TurnEngine>,
    /// What acts are decided with. Made when it is asked for: few operations need it, and settings and packs are read for it.
    pub act_services: ActServicesSource,
}

pub type ActServicesSource = Arc<dyn Fn() -> Result<Arc<ActServices>, OperationError> + Send + Sync>;

/// A call of one of the house's operations.
pub type HouseCall = OperationCall<HouseServices>;

/// Every operation of the house, by resource and verb.
pub static HOUSE: &[OperationEntry<HouseServices>] = &[
    OperationEntry::of::<acts::ListActs>(),
    OperationEntry::of::<acts::ShowAct>(),
    OperationEntry::of::<approvals::GrantApproval>(),
    OperationEntry::of::<approvals::ListApprovals>(),
    OperationEntry::of::<approvals::RefuseApproval>(),
    OperationEntry::of::<approvals::ShowApproval>(),
    OperationEntry::of::<bindings::ListBindings>(),
    OperationEntry::of::<bindings::ShowBinding>(),
    OperationEntry::of::<keys::AddKey>(),
    OperationEntry::of::<keys::ListKeys>(),
    OperationEntry::of::<keys::RevokeKey>(),
    OperationEntry::of::<keys::RotateKey>(),
    OperationEntry::of::<keys::ShowKey>(),
    OperationEntry::of::<messages::ListMessages>(),
    OperationEntry::of::<persons::AddPerson>(),
    OperationEntry::of::<persons::LeavePerson>(),
    OperationEntry::of::<persons::ListPersons>(),
    OperationEntry::of::<persons::SetPerson>(),
    OperationEntry::of::<persons::ShowPerson>(),
    OperationEntry::of::<runs::CancelRun>(),
    OperationEntry::of::<runs::ListRuns>(),
    OperationEntry::of::<runs::ShowRun>(),
    OperationEntry::of::<sessions::ListSessions>(),
    OperationEntry::of::<sessions::ShowSession>(),
    OperationEntry::of::<stats::ShowStats>(),
    OperationEntry::of::<tiers::DiffTier>(),
    OperationEntry::of::<tiers::ListTiers>(),
    OperationEntry::of::<tiers::LogTier>(),
    OperationEntry::of::<tiers::ShowTier>(),
    OperationEntry::of::<usage::ShowUsage>(),
    OperationEntry::of::<violations::ListViolations>(),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use munshi_pack::operation::OperationEffect;

    use super::*;

    #[test]
    fn each_has_an_id_and_a_route_of_its_own() {
        let ids: BTreeSet<String> = HOUSE.iter().map(|entry| entry.spec.id()).collect();
        let routes: BTreeSet<(&str, &str)> =
            HOUSE.iter().map(|entry| (entry.spec.method.as_str(), entry.spec.path)).collect();
        assert_eq!((ids.len(), routes.len()), (HOUSE.len(), HOUSE.len()));
    }

    #[test]
    fn what_writes_says_what_the_audit_hears() {
        for entry in HOUSE {
            let reads = entry.spec.method.as_str() == "GET";
            let is_silent = entry.spec.effect == OperationEffect::Read;
            assert_eq!(entry.spec.writes(), !reads, "{}", entry.spec.id());
            assert_eq!(entry.spec.events().is_empty(), is_silent, "{}", entry.spec.id());
        }
    }
}

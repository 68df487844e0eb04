//! The house's administrative verbs, each written once: its input, its view, who may, and what it does. Commands, routes,
//! pages and other agents parse, call and render; they hold no rule.
//!
//! # Layout
//! - [`HOUSE`]: all of them; [`ListedOperation`]: with those of packs, as surfaces run them; [`HouseServices`], [`HouseParts`]: what they need besides a database
//! - [`acts`], [`alerts`], [`approvals`], [`audit`], [`backups`], [`bindings`], [`channels`], [`connectors`], [`consents`], [`erasures`], [`folders`], [`handoffs`], [`holds`], [`host_keys`], [`human_requests`], [`invitations`], [`jobs`],
//!   [`keeper_keys`], [`keys`], [`limits`], [`messages`], [`models`], [`operators`], [`outbox`], [`persons`], [`policy`], [`proposals`], [`runs`], [`sessions`],
//!   [`stats`], [`stored_prompts`], [`tenants`], [`tiers`], [`usage`], [`vault`],
//!   [`violations`], [`whispers`]: a module a resource, a file a verb
//! - [`render_reference`]: the page in the docs; [`schemas`]: words of the crates below in the document
//! - [`NameListInput`]: lists by name; `list_input`: lists with filters of their own
//!
//! To add one, see [`munshi_pack::operation`].

pub mod acts;
pub mod alerts;
pub mod approvals;
pub mod audit;
pub mod backups;
pub mod bindings;
mod channel_errors;
pub mod channels;
mod connector_errors;
pub mod connectors;
pub mod consents;
pub mod erasures;
pub mod folders;
pub mod handoffs;
pub mod holds;
pub mod host_keys;
pub mod human_requests;
pub mod invitations;
pub mod jobs;
pub mod keeper_keys;
pub mod keys;
pub mod limits;
mod list_input;
mod listed;
pub mod messages;
pub mod models;
mod named_list;
pub mod operators;
pub mod outbox;
pub mod persons;
pub mod policy;
pub mod proposals;
mod reference;
pub mod runs;
pub mod schemas;
mod services;
pub mod sessions;
pub mod stats;
pub mod stored_prompts;
pub mod tenants;
pub mod tiers;
mod turn_errors;
pub mod usage;
pub mod vault;
pub mod violations;
pub mod whispers;

pub use munshi_keys::TenantKeyRotation;

pub use listed::{ListedOperation, PackOperations, execute, find_operation, list_operations};
pub use named_list::NameListInput;
pub use reference::render_reference;
pub use services::{ActServicesSource, ConnectorRules, HouseParts, HouseServices};

use munshi_pack::operation::{CallerClass, OperationCall, OperationEffect, OperationEntry, OperationSpec};

/// A call of one of the house's operations.
pub type HouseCall = OperationCall<HouseServices>;

/// What is never told to another agent: what lets people in, what is secret, and what they are asked.
const WITHHELD: &[&str] = &[
    "approvals",
    "drafts",
    "folders",
    "host-keys",
    "human-requests",
    "invitations",
    "keeper-keys",
    "keys",
    "operators",
    "policy",
    "secrets",
    "tenant-keys",
    "whispers",
];

/// What another agent may ask for, and a person decides on. Not what lets people in, shows something once, holds secrets or
/// files of several kinds, or leads to another place.
const PROPOSABLE: &[&str] = &[
    "audit",
    "backups",
    "jobs",
    "limits",
    "model-capabilities",
    "model-targets",
    "persons",
    "plans",
    "runs",
    "tenants",
    "tiers",
];

/// Whether MCP has it, where a key was opened for it: what looks, and what changes something once a person has said yes. What
/// packs bring is offered as they bring it.
pub fn is_offered_to_agents(spec: &OperationSpec) -> bool {
    if matches!(spec.needs, CallerClass::Scope { .. }) {
        return !matches!(spec.effect, OperationEffect::AuditedRead(_));
    }
    match spec.effect {
        OperationEffect::Read => !WITHHELD.contains(&spec.resource),
        OperationEffect::AuditedRead(_) => false,
        OperationEffect::Write(_) if spec.resource == "connectors" => {
            matches!(spec.verb, "logout" | "remove" | "test")
        }
        OperationEffect::Write(_) => PROPOSABLE.contains(&spec.resource),
    }
}

/// Every operation of the house, by resource and verb.
pub static HOUSE: &[OperationEntry<HouseServices>] = &[
    OperationEntry::of::<acts::ListActs>(),
    OperationEntry::of::<acts::ShowAct>(),
    OperationEntry::of::<acts::UndoAct>(),
    OperationEntry::of::<alerts::ListAlerts>(),
    OperationEntry::of::<approvals::GrantApproval>(),
    OperationEntry::of::<approvals::ListApprovals>(),
    OperationEntry::of::<approvals::RefuseApproval>(),
    OperationEntry::of::<approvals::ShowApproval>(),
    OperationEntry::of::<audit::AnchorAudit>(),
    OperationEntry::of::<audit::ExportAudit>(),
    OperationEntry::of::<audit::ListAudit>(),
    OperationEntry::of::<audit::VerifyAudit>(),
    OperationEntry::of::<backups::ListBackups>(),
    OperationEntry::of::<backups::MakeBackup>(),
    OperationEntry::of::<bindings::ListBindings>(),
    OperationEntry::of::<bindings::ShowBinding>(),
    OperationEntry::of::<channels::AddChannel>(),
    OperationEntry::of::<channels::ListChannels>(),
    OperationEntry::of::<channels::RemoveChannel>(),
    OperationEntry::of::<channels::TestChannel>(),
    OperationEntry::of::<connectors::AcceptConnector>(),
    OperationEntry::of::<connectors::AddConnector>(),
    OperationEntry::of::<connectors::ListConnectors>(),
    OperationEntry::of::<connectors::LoginConnector>(),
    OperationEntry::of::<connectors::LogoutConnector>(),
    OperationEntry::of::<connectors::RemoveConnector>(),
    OperationEntry::of::<connectors::ShowConnector>(),
    OperationEntry::of::<connectors::ShowConnectorLog>(),
    OperationEntry::of::<connectors::TestConnector>(),
    OperationEntry::of::<consents::ListConsents>(),
    OperationEntry::of::<consents::ShowConsent>(),
    OperationEntry::of::<consents::WithdrawConsent>(),
    OperationEntry::of::<erasures::ListErasures>(),
    OperationEntry::of::<erasures::ShowErasure>(),
    OperationEntry::of::<folders::ApplyFolder>(),
    OperationEntry::of::<folders::DiffFolder>(),
    OperationEntry::of::<folders::ExportFolder>(),
    OperationEntry::of::<handoffs::ListHandoffs>(),
    OperationEntry::of::<handoffs::MakeHandoff>(),
    OperationEntry::of::<host_keys::AddHostKey>(),
    OperationEntry::of::<host_keys::ListHostKeys>(),
    OperationEntry::of::<host_keys::RetireHostKey>(),
    OperationEntry::of::<human_requests::ListHumanRequests>(),
    OperationEntry::of::<invitations::InviteKeeper>(),
    OperationEntry::of::<invitations::InviteOperator>(),
    OperationEntry::of::<invitations::ListInvitations>(),
    OperationEntry::of::<invitations::WithdrawInvitation>(),
    OperationEntry::of::<invitations::WithdrawInvitations>(),
    OperationEntry::of::<jobs::ListJobs>(),
    OperationEntry::of::<jobs::RetryAllJobs>(),
    OperationEntry::of::<jobs::RetryJob>(),
    OperationEntry::of::<jobs::ShowJob>(),
    OperationEntry::of::<keeper_keys::AddKeeperKey>(),
    OperationEntry::of::<keeper_keys::ListKeeperKeys>(),
    OperationEntry::of::<keeper_keys::RevokeKeeperKey>(),
    OperationEntry::of::<keys::AddKey>(),
    OperationEntry::of::<keys::ListKeys>(),
    OperationEntry::of::<keys::RevokeKey>(),
    OperationEntry::of::<keys::RotateKey>(),
    OperationEntry::of::<keys::ShowKey>(),
    OperationEntry::of::<limits::ListLimits>(),
    OperationEntry::of::<limits::SetLimit>(),
    OperationEntry::of::<limits::SetPlan>(),
    OperationEntry::of::<limits::ShowPlan>(),
    OperationEntry::of::<messages::ListMessages>(),
    OperationEntry::of::<messages::SearchMessages>(),
    OperationEntry::of::<models::ListModelCapabilities>(),
    OperationEntry::of::<models::SetModelCapability>(),
    OperationEntry::of::<models::ListModels>(),
    OperationEntry::of::<models::TestModel>(),
    OperationEntry::of::<operators::LinkOnlyOperator>(),
    OperationEntry::of::<operators::LinkOperator>(),
    OperationEntry::of::<operators::ListOperators>(),
    OperationEntry::of::<operators::ProveOperator>(),
    OperationEntry::of::<operators::RemoveOperator>(),
    OperationEntry::of::<operators::SetOperatorRole>(),
    OperationEntry::of::<outbox::CancelOutgoingMessage>(),
    OperationEntry::of::<outbox::ListOutbox>(),
    OperationEntry::of::<outbox::RetryOutgoingMessage>(),
    OperationEntry::of::<outbox::ShowOutgoingMessage>(),
    OperationEntry::of::<persons::AddPerson>(),
    OperationEntry::of::<persons::ExportPerson>(),
    OperationEntry::of::<persons::ForgetPerson>(),
    OperationEntry::of::<persons::LeavePerson>(),
    OperationEntry::of::<persons::ListPersons>(),
    OperationEntry::of::<persons::SetPerson>(),
    OperationEntry::of::<persons::ShowPerson>(),
    OperationEntry::of::<policy::LogPolicy>(),
    OperationEntry::of::<policy::ShowPolicy>(),
    OperationEntry::of::<policy::TestPolicy>(),
    OperationEntry::of::<proposals::GrantProposal>(),
    OperationEntry::of::<proposals::ListProposals>(),
    OperationEntry::of::<proposals::RefuseProposal>(),
    OperationEntry::of::<proposals::ShowProposal>(),
    OperationEntry::of::<persons::SetReach>(),
    OperationEntry::of::<persons::ShowReach>(),
    OperationEntry::of::<runs::CancelRun>(),
    OperationEntry::of::<runs::ListRuns>(),
    OperationEntry::of::<runs::ShowRun>(),
    OperationEntry::of::<runs::ShowRunQueue>(),
    OperationEntry::of::<holds::DraftReply>(),
    OperationEntry::of::<holds::GiveBackSession>(),
    OperationEntry::of::<holds::ShowHeldDraft>(),
    OperationEntry::of::<sessions::ListSessions>(),
    OperationEntry::of::<sessions::ShowSession>(),
    OperationEntry::of::<holds::TakeSession>(),
    OperationEntry::of::<holds::WriteInSession>(),
    OperationEntry::of::<stats::ShowStats>(),
    OperationEntry::of::<stored_prompts::ListStoredPrompts>(),
    OperationEntry::of::<vault::RotateTenantKey>(),
    OperationEntry::of::<tenants::AddTenant>(),
    OperationEntry::of::<tenants::ArchiveTenant>(),
    OperationEntry::of::<tenants::ListTenants>(),
    OperationEntry::of::<tenants::PauseTenant>(),
    OperationEntry::of::<tenants::ResumeTenant>(),
    OperationEntry::of::<tenants::ShowTenant>(),
    OperationEntry::of::<tiers::DiffTier>(),
    OperationEntry::of::<tiers::ListTiers>(),
    OperationEntry::of::<tiers::LogTier>(),
    OperationEntry::of::<tiers::RollbackTier>(),
    OperationEntry::of::<tiers::ShowTier>(),
    OperationEntry::of::<usage::ShowUsage>(),
    OperationEntry::of::<vault::ListSecrets>(),
    OperationEntry::of::<vault::RemoveSecret>(),
    OperationEntry::of::<vault::SetSecret>(),
    OperationEntry::of::<violations::ListViolations>(),
    OperationEntry::of::<whispers::ListWhispers>(),
    OperationEntry::of::<whispers::WhisperInSession>(),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
            // What is compared is sent, so a look may have a body.
            let is_sent = ["diff_folder", "test_policy"].contains(&entry.spec.id().as_str());
            assert_eq!(entry.spec.writes(), !reads && !is_sent, "{}", entry.spec.id());
            assert_eq!(entry.spec.events().is_empty(), is_silent, "{}", entry.spec.id());
        }
    }
}

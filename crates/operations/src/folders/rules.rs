//! Who may change which part of a tenant's configuration, and with which words.

use std::collections::BTreeMap;

use munshi_channels::accounts::{self, ChannelAccounts};
use munshi_channels::rows as channel_rows;
use munshi_connectors::entries::{self, ConnectorEntries, ConnectorEntry};
use munshi_connectors::rows;
use munshi_identity::keys::{ApiAccess, ApiCaller, Area, KeySpeaker};
use munshi_identity::{Role, authorize};
use munshi_pack::operation::{CallerClass, OperationCaller, OperationError, OperationErrorCode};
use munshi_safety::policy::{self, AuthorisedTemplate, Policy};
use munshi_store::{PlatformTx, Tx, tenants};
use munshi_tiers::{ApplyPlan, ExtensionChange};
use munshi_types::Reach;
use munshi_types::tier::{RoutingKeyKind, TierKind};
use serde_json::Value;

use super::files::{CHANNELS_FILE, CONNECTORS_FILE, FolderInput};
use crate::channel_errors::convert_channel_error;
use crate::channels::check_account;
use crate::connector_errors::convert_connector_error;
use crate::connectors::check_transport;
use crate::{ConnectorRules, HouseCall};

/// What the files are called in a plan.
pub(super) const CONNECTORS: &str = "connectors";
const CHANNELS: &str = "channels";
const POLICY: &str = "policy";
/// What a role is allowed or denied where the policy is meant.
const POLICY_SCOPE: &str = "policy.change";

const LONGEST_NOTE: usize = 1000;

fn forbidden(what: impl Into<String>) -> OperationError {
    OperationError::new(OperationErrorCode::Forbidden, what)
}

/// Tiers are the whole tenant's: a key for some of its bindings changes none.
pub(crate) fn check_reach(caller: &OperationCaller) -> Result<(), OperationError> {
    if caller.bindings().is_none() {
        return Ok(());
    }
    Err(forbidden("This key is for some bindings alone, and tiers concern them all.")
        .hint("Ask an admin of the workspace for a key without bindings."))
}

/// Whether the caller changes tiers at all. A key that names no areas is from before they could be changed with one, and
/// what an agent says and may do is for somebody to look at.
pub(crate) fn check_change(caller: &OperationCaller) -> Result<(), OperationError> {
    check_reach(caller)?;
    if caller.is_keeper() {
        return Ok(());
    }
    if caller.api_key().is_some() && caller.areas().is_none() {
        return Err(forbidden("Tiers are changed with a key that names the area `tiers`.")
            .hint("Create one: `munshi key add NAME --area tiers`; with --area bindings, too, where bindings change."));
    }
    if caller.speaks_as() == KeySpeaker::Program {
        return Err(forbidden("Somebody has to look at changed tiers: a program's key changes none.").hint(
            "Use a key that speaks as a person, a keeper's key, or `munshi apply` on the machine itself.",
        ));
    }
    Ok(())
}

/// Whether the caller may change these tiers: bindings are an area of their own, and addresses are the installation's.
pub(crate) fn check_tiers(
    tx: &mut PlatformTx<'_>,
    caller: &OperationCaller,
    plan: &ApplyPlan,
) -> Result<(), OperationError> {
    if caller.is_keeper() {
        return Ok(());
    }
    if plan.changes.iter().any(|change| change.kind == TierKind::Binding) {
        caller.authorize(CallerClass::Member(Area::Bindings, ApiAccess::Write))?;
    }
    let new = munshi_tiers::list_new_addresses(tx, plan)?;
    match new.iter().find(|key| key.kind() != RoutingKeyKind::Handle) {
        None => Ok(()),
        Some(key) => Err(forbidden(format!(
            "Only whoever keeps this installation gives a tenant the address {key}: no other tenant could have it."
        ))
        .hint("Leave it out, or ask them to apply it.")),
    }
}

/// A reason for the history, if there is one.
pub(crate) fn check_note(note: Option<String>) -> Result<Option<String>, OperationError> {
    match note {
        Some(note) if note.chars().count() > LONGEST_NOTE => {
            Err(OperationError::field("note", &format!("at most {LONGEST_NOTE} characters")))
        }
        Some(note) if note.contains('\0') => Err(OperationError::field("note", "it has a NUL character")),
        note => Ok(note.filter(|note| !note.is_empty())),
    }
}

/// Whether the caller may see and change connectors.
pub(super) fn may_change_connectors(caller: &OperationCaller) -> Result<(), OperationError> {
    may_change(caller, Area::Connectors)
}

/// The same of channels.
pub(super) fn may_change_channels(caller: &OperationCaller) -> Result<(), OperationError> {
    may_change(caller, Area::Channels)
}

fn may_change(caller: &OperationCaller, area: Area) -> Result<(), OperationError> {
    match caller.is_keeper() {
        true => Ok(()),
        false => caller.authorize(CallerClass::Member(area, ApiAccess::Write)),
    }
}

/// A plan tells of what is stored: of connectors and channels whoever may change them hears it, and nobody else.
fn check_access(caller: &OperationCaller, folders: &[FolderInput]) -> Result<(), OperationError> {
    let is_named = |name: &str| folders.iter().flat_map(|folder| &folder.files).any(|file| file.path == name);
    if is_named(CONNECTORS_FILE) {
        may_change_connectors(caller)?;
    }
    if is_named(CHANNELS_FILE) { may_change_channels(caller) } else { Ok(()) }
}

/// Whether the caller may do all of a plan. Looks at what is stored in the transaction that changes it.
pub(super) fn check_plan(
    tx: &mut PlatformTx<'_>,
    caller: &OperationCaller,
    rules: &ConnectorRules,
    plan: &ApplyPlan,
) -> Result<(), OperationError> {
    let Some(caller_key) = caller.api_caller().filter(|_| !caller.is_keeper()) else { return Ok(()) };
    let found = tenants::find_by_name(tx, &plan.tenant)?;
    let (false, Some(tenant)) = (plan.is_new, found) else {
        return Err(forbidden("Only whoever keeps this installation adds tenants."));
    };
    check_tiers(tx, caller, plan)?;
    for change in &plan.files {
        match change.what.as_str() {
            POLICY => tx.as_tenant(tenant.id, |tx| check_policy(tx, caller, caller_key, change))?,
            CONNECTORS => {
                let next = parse_entries(change)?;
                tx.as_tenant(tenant.id, |tx| check_connectors(tx, caller, rules, &next))?;
            }
            CHANNELS => {
                let next = parse_accounts(change)?;
                tx.as_tenant(tenant.id, |tx| check_channels(tx, caller, rules, &next))?;
            }
            other => return Err(forbidden(format!("Only whoever keeps this installation changes {other}."))),
        }
    }
    Ok(())
}

/// Nobody opens for themselves what the policy in force closes: what roles may do is the owner's to say.
fn check_policy(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    key: &ApiCaller,
    change: &ExtensionChange,
) -> Result<(), OperationError> {
    let (_, stored) = policy::load_current(tx)?;
    authorize(&key.principal, &stored.roles, POLICY_SCOPE, true, Reach::Business)?;
    let next: Policy =
        serde_json::from_value(Value::Object(change.body.clone())).map_err(OperationError::internal)?;
    if next.roles != stored.roles && caller.role() != Some(Role::Owner) {
        return Err(forbidden("Only an owner changes what the policy says of roles.")
            .hint("Leave [roles] as it is, or ask an owner of the workspace."));
    }
    if authorises_more(&stored, &next) && caller.role() != Some(Role::Owner) {
        return Err(forbidden("Only an owner lets messages go without approval.")
            .hint("Add nothing to [[messages]], or ask an owner of the workspace."));
    }
    Ok(())
}

/// Whether more messages go unasked by one policy than by another: another template or audience, or more of them in a day.
fn authorises_more(stored: &Policy, next: &Policy) -> bool {
    let covers = |known: &AuthorisedTemplate, one: &AuthorisedTemplate| {
        (&known.tool, &known.template, &known.audience) == (&one.tool, &one.template, &one.audience)
            && one.per_day() <= known.per_day()
    };
    next.messages.iter().any(|one| !stored.messages.iter().any(|known| covers(known, one)))
}

/// What works on the machine itself is the keeper's alone, and so is whatever a connector may not be declared with.
fn check_connectors(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    rules: &ConnectorRules,
    next: &ConnectorEntries,
) -> Result<(), OperationError> {
    may_change_connectors(caller)?;
    let (_, stored) = rows::load_entries(tx).map_err(convert_connector_error)?;
    if let Some(name) = stored.find_machine_access(next) {
        return Err(forbidden(format!(
            "Connector {name} runs a program or reads files of the machine: only whoever keeps this installation adds or \
             changes such connectors."
        ))
        .hint("Apply it on the machine itself, or use a key made by `munshi keeper-key add`."));
    }
    // What is said of tools goes nowhere.
    let reach = |entry: &ConnectorEntry| ConnectorEntry { tools: BTreeMap::new(), ..entry.clone() };
    let mut changed =
        next.0.iter().filter(|(name, entry)| stored.0.get(*name).map(reach) != Some(reach(entry)));
    changed.try_for_each(|(_, entry)| match entry.uses_machine() {
        // It was so before: see above.
        true => Ok(()),
        false => check_transport(caller, rules, entry),
    })
}

/// What changes is looked at as if it were added; what stays was looked at before.
fn check_channels(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    rules: &ConnectorRules,
    next: &ChannelAccounts,
) -> Result<(), OperationError> {
    may_change_channels(caller)?;
    let (_, stored) = channel_rows::load_accounts(tx).map_err(convert_channel_error)?;
    let mut changed = next.0.iter().filter(|(name, account)| stored.0.get(*name) != Some(*account));
    changed.try_for_each(|(_, account)| check_account(caller, rules, account))
}

/// The same before anything is planned: a plan looks at the files that a connector names.
pub(super) async fn check_before_plan(
    call: &HouseCall,
    folders: &[FolderInput],
) -> Result<(), OperationError> {
    check_access(&call.caller, folders)?;
    if call.caller.is_keeper() {
        return Ok(());
    }
    let rules = call.services.parts.connector_rules()?;
    // What can't be read is told with its place, when it is planned.
    for file in folders.iter().flat_map(|folder| &folder.files) {
        let (caller, rules) = (call.caller.clone(), rules.clone());
        match file.path.as_str() {
            CONNECTORS_FILE => {
                let Ok(next) = entries::parse(&file.text) else { continue };
                call.read(move |tx| check_connectors(tx, &caller, &rules, &next)).await?;
            }
            CHANNELS_FILE => {
                let Ok(next) = accounts::parse(&file.text) else { continue };
                call.read(move |tx| check_channels(tx, &caller, &rules, &next)).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a file that is to be applied declares.
pub(super) fn parse_entries(change: &ExtensionChange) -> Result<ConnectorEntries, OperationError> {
    serde_json::from_value(Value::Object(change.body.clone())).map_err(OperationError::internal)
}

fn parse_accounts(change: &ExtensionChange) -> Result<ChannelAccounts, OperationError> {
    serde_json::from_value(Value::Object(change.body.clone())).map_err(OperationError::internal)
}

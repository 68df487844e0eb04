//! What every change of an account is held to.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::keys::{ApiKeyCache, ApiKeyRecord, KeySpeaker, render_keeper_maker};
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, Operator, OperatorAuthority, roles};
use munshi_identity::{Role, SecretToken, persons};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_store::{PlatformAdminTx, PlatformTx};
use munshi_types::{IdGenerator, OperatorId, Random, Tenant, TenantId, Timestamp};
use serde_json::{Value, json};

use super::{LinkDelivery, OneTimeLinkView};
use crate::HouseCall;
use crate::holds::end_holds;

/// Programs let nobody in and change no roles: they could make themselves the person that confirms what they write.
pub(crate) fn check_may_let_in(caller: &OperationCaller) -> Result<(), OperationError> {
    if caller.speaks_as() != KeySpeaker::Program {
        return Ok(());
    }
    let what = "A key that speaks as a program can't invite, recover or change operators.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("Use the account page, `munshi operator`, or a key that speaks as a person."))
}

/// Nobody gives more than they have.
pub(crate) fn check_role_grant(caller: &OperationCaller, role: Role) -> Result<(), OperationError> {
    if caller.covers_role(Some(role)) {
        return Ok(());
    }
    let own = caller.role().map_or_else(|| "operator".to_owned(), |own| own.to_string());
    let what = format!("An {own} can't assign the role {role}.");
    Err(OperationError::new(OperationErrorCode::Forbidden, what).hint("Ask an owner of the workspace."))
}

/// By id or e-mail, wherever they look after something.
pub(super) fn find_anywhere(tx: &mut PlatformTx<'_>, given: &str) -> Result<Operator, OperationError> {
    let found = match given.parse() {
        Ok(id) => operators::find(tx, id)?,
        Err(_) => operators::find_by_email(tx, given)?,
    };
    found.ok_or_else(|| missing(given))
}

/// The account that is meant, and its role in a tenant. A keeper finds every account, others those of the tenant who stand no
/// higher than they do.
pub(super) fn find_managed(
    tx: &mut PlatformTx<'_>,
    caller: &OperationCaller,
    tenant: &Tenant,
    given: &str,
) -> Result<(Operator, Option<Role>), OperationError> {
    let operator = find_anywhere(tx, given)?;
    let role = roles::find_granted(tx, operator.id, tenant.id)?;
    if caller.is_keeper() {
        return Ok((operator, role));
    }
    let Some(role) = role else { return Err(missing(given)) };
    if !caller.covers_role(Some(role)) {
        let what = format!("{} has a higher role than yours.", operator.name);
        return Err(
            OperationError::new(OperationErrorCode::Forbidden, what).hint("Ask an owner of the workspace.")
        );
    }
    Ok((operator, Some(role)))
}

fn missing(given: &str) -> OperationError {
    OperationError::not_found("operator", given)
        .hint("`munshi operator list` and GET /v1/operators show them all.")
}

/// What the caller may do to accounts now.
pub(super) fn build_authority(
    tx: &mut PlatformTx<'_>,
    caller: &OperationCaller,
) -> Result<OperatorAuthority, OperationError> {
    let lacking = || OperationError::new(OperationErrorCode::Forbidden, "You have no role in any workspace.");
    let Some(asking) = caller.api_caller() else { return Ok(OperatorAuthority::Keeper) };
    match asking.operator {
        Some(id) => Ok(OperatorAuthority::Operator(operators::find(tx, id)?.ok_or_else(lacking)?)),
        None if asking.keeper => Ok(OperatorAuthority::Keeper),
        None => {
            let role = caller.role().ok_or_else(lacking)?;
            Ok(OperatorAuthority::Key { tenant: asking.tenant, role })
        }
    }
}

/// A link to be made, and what the audit hears of it: never its text or whom it is for.
pub(crate) struct LinkRequest {
    caller: OperationCaller,
    ids: IdGenerator,
    random: Arc<dyn Random>,
    now: Timestamp,
    base: String,
}

impl LinkRequest {
    pub(crate) fn new(call: &HouseCall) -> Self {
        Self {
            caller: call.caller.clone(),
            ids: call.ids.clone(),
            random: call.random.clone(),
            now: call.now,
            base: call.services.parts.base_url(),
        }
    }

    /// Makes it. None outlives the key it is made with.
    pub(crate) fn make(
        &self,
        tx: &mut PlatformAdminTx<'_, '_>,
        purpose: &LinkPurpose,
        (life, email): (Duration, Option<String>),
        (chains, payload): (Vec<TenantId>, Value),
    ) -> Result<OneTimeLinkView, OperationError> {
        let life = self.caller.until().map_or(life, |until| life.min(until.since(self.now)));
        let made_by = render_maker(&self.caller);
        let new = NewOneTimeLink { purpose, made_by: &made_by, life };
        let (link, token) = links::make(tx, &self.ids, self.random.as_ref(), &new, self.now)?;
        tx.note(list_chains(chains), "link.made", link.id.to_string(), payload);
        Ok(OneTimeLinkView {
            id: link.id,
            email,
            link: Some(self.render_url(&token)),
            delivery: LinkDelivery::Shown,
            sent_to: None,
            not_mailed: None,
            ends_at: link.ends_at,
        })
    }

    fn render_url(&self, token: &SecretToken) -> String {
        format!("{}/account/link/{}", self.base, token.reveal())
    }
}

/// By whom a link is good.
pub(super) fn render_maker(caller: &OperationCaller) -> String {
    let Some(asking) = caller.api_caller() else { return caller.actor().id.clone() };
    match asking.operator {
        Some(operator) => links::render_maker(operator),
        None if asking.keeper => render_keeper_maker(asking.key),
        None => links::render_key_maker(asking.key),
    }
}

/// The installation's chain, and those of the tenants it concerns.
pub(crate) fn list_chains(tenants: impl IntoIterator<Item = TenantId>) -> Vec<TenantId> {
    let mut chains: Vec<TenantId> = tenants.into_iter().chain([TenantId::PLATFORM]).collect();
    chains.sort_unstable();
    chains.dedup();
    chains
}

/// The tenants that somebody has a role in.
pub(super) fn list_tenants(
    tx: &mut PlatformTx<'_>,
    operator: &Operator,
) -> Result<Vec<TenantId>, OperationError> {
    Ok(roles::list(tx, operator.id)?.into_iter().map(|(tenant, _)| tenant).collect())
}

/// Gives back in a tenant what an operator has in hand there, where they may join no conversation any more.
pub(super) fn end_operator_holds(
    tx: &mut PlatformAdminTx<'_, '_>,
    (operator, tenant): (OperatorId, TenantId),
    now: Timestamp,
) -> Result<(), OperationError> {
    tx.as_tenant(tenant, |tx| match persons::find_of_operator(tx, operator)? {
        Some(person) => end_holds(tx, &person, now),
        None => Ok(()),
    })
}

/// Tells of keys that went with the role or the account of whoever made them; gives their names.
pub(super) fn note_revoked_keys(
    tx: &mut PlatformAdminTx<'_, '_>,
    known: &ApiKeyCache,
    revoked: Vec<(TenantId, ApiKeyRecord)>,
) -> Vec<String> {
    for (tenant, key) in &revoked {
        let payload = json!({ "name": key.name, "why": "its maker lost the role that made it" });
        tx.note(list_chains([*tenant]), "api_key.revoked", key.id.to_string(), payload);
    }
    let (known, ids) = (known.clone(), revoked.iter().map(|(_, key)| key.id).collect::<Vec<_>>());
    tx.after_commit(move || known.invalidate(&ids));
    revoked.into_iter().map(|(_, key)| key.name).collect()
}

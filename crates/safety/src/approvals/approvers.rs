//! Whom a question is for.

use std::sync::Arc;

use munshi_identity::{PermissionRules, Person, Principal, Role, may_approve, persons};
use munshi_store::Tx;
use munshi_types::PersonId;

use super::Approval;
use crate::acts::ActServices;
use crate::error::Result;
use crate::pipeline::ConsentGiver;
use crate::policy::Policy;

/// Those who may answer a question: whom it is put to first, and whom it goes to when nobody answers in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApproverChain {
    /// Whoever asked, where they may answer themselves; else the lowest role that may.
    pub first: Vec<PersonId>,
    /// Of a higher role than those, the owners first.
    pub above: Vec<PersonId>,
}

/// Whom a question is for, by the roles and the policy of now.
pub fn resolve_approvers(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    approval: &Approval,
) -> Result<ApproverChain> {
    ApproverPool::load(tx, act_services)?.resolve(tx, approval)
}

/// Who works for a tenant and what its policy says of them, read once for many questions.
#[derive(Clone)]
pub struct ApproverPool {
    policy: Arc<Policy>,
    /// The highest role first.
    pub members: Vec<Person>,
}

impl ApproverPool {
    pub fn load(tx: &mut Tx<'_>, act_services: &ActServices) -> Result<Self> {
        Ok(Self { policy: act_services.load_policy(tx)?, members: persons::list_members(tx)? })
    }

    /// Whom a question is for.
    pub fn resolve(&self, tx: &mut Tx<'_>, approval: &Approval) -> Result<ApproverChain> {
        let may = |role_of: &Principal| may_answer(approval, role_of, &self.policy.roles);
        let answering: Vec<(PersonId, Role)> = self
            .members
            .iter()
            .filter(|person| may(&person.principal(tx)))
            .filter_map(|person| Some((person.id, person.role?)))
            .collect();
        let asker = match approval.asked_by {
            Some(id) => persons::find(tx, id)?.filter(|person| may(&person.principal(tx))),
            None => None,
        };
        let lowest = answering.iter().map(|(_, role)| *role).max();
        let (first, role) = match (asker, lowest) {
            (Some(asker), _) => (vec![asker.id], asker.role),
            (None, Some(lowest)) => (filter_by_role(&answering, |role| role == lowest), Some(lowest)),
            (None, None) => return Ok(ApproverChain::default()),
        };
        let above = filter_by_role(&answering, |other| role.is_none_or(|role| other < role));
        Ok(ApproverChain { first, above })
    }
}

fn filter_by_role(answering: &[(PersonId, Role)], is_meant: impl Fn(Role) -> bool) -> Vec<PersonId> {
    answering.iter().filter(|(_, role)| is_meant(*role)).map(|(id, _)| *id).collect()
}

/// Whether a question is this person's to answer, by the roles and the policy of now.
pub fn is_addressed_to(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    approval: &Approval,
    who: &Principal,
) -> Result<bool> {
    Ok(who.tenant == tx.tenant() && may_answer(approval, who, &act_services.load_policy(tx)?.roles))
}

/// What somebody agrees to is theirs alone to say. Whoever asked may confirm their own act where only that is needed. Otherwise the role decides, and one that may
/// approve others' acts may not approve its own: that is for owners and admins.
pub(super) fn may_answer(approval: &Approval, who: &Principal, rules: &PermissionRules) -> bool {
    let own = who.person.is_some() && who.person == approval.asked_by;
    if approval.question.needs == ConsentGiver::Subject {
        return own;
    }
    if own && approval.question.needs == ConsentGiver::Asker {
        return true;
    }
    if own && !matches!(who.role(), Some(Role::Owner | Role::Admin)) {
        return false;
    }
    may_approve(who, rules, &approval.scope)
}

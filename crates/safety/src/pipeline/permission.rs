//! Second: may anybody here, and may this person, in their role?

use munshi_identity::{Role, authorize, has_owner_authority};
use munshi_types::TenantStatus;

use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    draft: &mut Draft,
    _ground: &mut dyn DecisionStore,
) -> Result<Step> {
    if ask.tenant != TenantStatus::Active {
        let what = "Nothing is done here while the account is paused. Say so; the owner can have it resumed.";
        return refuse(
            ActRefusal::new(StageName::Permission, RefusalCode::Paused, what)
                .with_approver(Some(Role::Owner)),
        );
    }
    let Some(tool) = &ask.tool else { return Ok(Step::On) };
    let spec = &tool.spec;
    let (who, rules) = (&ask.caller.principal, &ask.policy.roles);
    let ask = match authorize(who, rules, &draft.scope, spec.effect.writes(), spec.reach) {
        Ok(()) if !spec.owner_only || has_owner_authority(who, rules, &draft.scope) => return Ok(Step::On),
        Ok(()) => Some(Role::Admin),
        Err(lacking) => lacking.ask,
    };
    let whom = ask.map_or("the owner".to_owned(), |role| format!("somebody who is {role}"));
    let what = format!("This person may not use this tool. Say so kindly, and that {whom} can.");
    refuse(ActRefusal::new(StageName::Permission, RefusalCode::NotPermitted, what).with_approver(ask))
}

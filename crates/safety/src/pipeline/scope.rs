//! Fourth: is the scope open, to the agent and on the connector? A deny of either wins; what is not listed is closed.

use munshi_identity::Role;

use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    draft: &mut Draft,
    _ground: &mut dyn DecisionStore,
) -> Result<Step> {
    let Some(tool) = &ask.tool else { return Ok(Step::On) };
    let no = |code, what: &str| {
        refuse(ActRefusal::new(StageName::Scope, code, what).with_approver(Some(Role::Admin)))
    };
    let closed =
        "This is not open to this agent here. Don't try it another way; say that it can't be done here.";
    if tool.pack.as_ref().is_some_and(|pack| !ask.policy.packs.has(pack)) {
        return no(RefusalCode::Off, closed);
    }
    let conduct = ask.policy.conduct(&tool.connector.name, tool.connector.conduct.as_ref());
    let Some(conduct) = conduct else { return no(RefusalCode::OutOfScope, closed) };
    let (scope, writes) = (draft.scope.as_str(), tool.spec.effect.writes());
    if ask.agent.find_denial(scope).or_else(|| conduct.find_denial(scope)).is_some() {
        return no(RefusalCode::Denied, closed);
    }
    if ask.agent.allows(scope, writes) && conduct.allows(scope, writes) {
        return Ok(Step::On);
    }
    no(RefusalCode::OutOfScope, closed)
}

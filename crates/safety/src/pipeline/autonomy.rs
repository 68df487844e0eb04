//! Fifth: how far does it go by itself? The lowest of agent, connector and tenant; a connector that declares nothing
//! only looks.

use munshi_identity::Role;
use munshi_types::Autonomy;

use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    draft: &mut Draft,
    _ground: &mut dyn DecisionStore,
) -> Result<Step> {
    let Some(tool) = &ask.tool else { return Ok(Step::On) };
    let connector = ask.policy.conduct(&tool.connector.name, tool.connector.conduct.as_ref());
    let said = [
        ask.agent.autonomy,
        connector.map(|conduct| conduct.autonomy).unwrap_or_default(),
        ask.policy.most_autonomy.unwrap_or(Autonomy::Act),
        if tool.connector.declares { Autonomy::Act } else { Autonomy::Investigate },
    ];
    draft.autonomy = said.into_iter().min().unwrap_or_default();
    let no = |code, what: &str| {
        refuse(ActRefusal::new(StageName::Autonomy, code, what).with_approver(Some(Role::Admin)))
    };
    match draft.autonomy {
        Autonomy::Off => {
            no(RefusalCode::Off, "Nothing is done here at the moment. Say so, and offer to pass the wish on.")
        }
        Autonomy::Investigate if tool.spec.effect.writes() => no(
            RefusalCode::ReadOnly,
            "Only looking is permitted here. Say what you would do, and who can do it.",
        ),
        level if level < tool.spec.least_autonomy => {
            no(RefusalCode::TooFar, "This goes further than is permitted here. Say so, and who can do it.")
        }
        _ => Ok(Step::On),
    }
}

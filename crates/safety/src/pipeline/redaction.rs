//! Seventh: what leaves the house is redacted by the tenant's profile. A pack of the house gets real values.

use munshi_identity::Role;

use super::compiled_tool::ConnectorOrigin;
use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    draft: &mut Draft,
    _ground: &mut dyn DecisionStore,
) -> Result<Step> {
    if let Some(tool) = &ask.tool
        && tool.connector.origin == ConnectorOrigin::Foreign
    {
        match ask.policy.redaction.apply(&tool.spec, &ask.arguments) {
            Some(leaving) => draft.leaving = leaving,
            None => {
                let what = "Something this tool needs may not leave here. Say so, and that it has to be done by hand.";
                return refuse(
                    ActRefusal::new(StageName::Redaction, RefusalCode::Hidden, what)
                        .with_approver(Some(Role::Admin)),
                );
            }
        }
    }
    Ok(Step::On)
}

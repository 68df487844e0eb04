//! Seventh: what leaves the house is redacted by the tenant's profile. A pack of the house gets real values.

use munshi_identity::Role;

use super::known::Maker;
use super::refusal::{Code, Refusal};
use super::{Ask, Draft, Ground, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(ask: &Ask<'_>, draft: &mut Draft, _ground: &mut dyn Ground) -> Result<Step> {
    if let Some(tool) = &ask.tool
        && tool.connector.maker == Maker::Foreign
    {
        match ask.policy.redaction.apply(&tool.spec, &ask.arguments) {
            Some(leaving) => draft.leaving = leaving,
            None => {
                let what = "Something this tool needs may not leave here. Say so, and that it has to be done by hand.";
                return refuse(Refusal::new(StageName::Redaction, Code::Hidden, what).ask(Some(Role::Admin)));
            }
        }
    }
    Ok(Step::On)
}

//! Seventh: what leaves the house is redacted by the tenant's profile. A pack of the house gets real values.

use super::known::Maker;
use super::{Ask, Draft, Ground, Step};
use crate::error::Result;

pub(super) fn run(ask: &Ask<'_>, draft: &mut Draft, _ground: &mut dyn Ground) -> Result<Step> {
    if let Some(tool) = &ask.tool
        && tool.connector.maker == Maker::Foreign
    {
        draft.leaving = ask.policy.redaction.apply(&tool.spec, &ask.arguments);
    }
    Ok(Step::On)
}

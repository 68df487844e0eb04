//! Sixth: is there room for it? Calls are counted and money is set aside before anything happens.

use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    _draft: &mut Draft,
    ground: &mut dyn DecisionStore,
) -> Result<Step> {
    match ground.reserve(ask)? {
        None => Ok(Step::On),
        Some(full) => {
            let what = format!("{} Tell the person when to try again.", full.which);
            refuse(ActRefusal::new(StageName::Limits, RefusalCode::OverLimit, what).again_at(full.frees_at))
        }
    }
}

//! Sixth: is there room for it? Calls are counted and money is set aside before anything happens.

use super::refusal::{Code, Refusal};
use super::{Ask, Draft, Ground, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(ask: &Ask<'_>, _draft: &mut Draft, ground: &mut dyn Ground) -> Result<Step> {
    match ground.take(ask)? {
        None => Ok(Step::On),
        Some(full) => {
            let what = format!("{} Tell the person when to try again.", full.which);
            refuse(Refusal::new(StageName::Limits, Code::OverLimit, what).again_at(full.frees_at))
        }
    }
}

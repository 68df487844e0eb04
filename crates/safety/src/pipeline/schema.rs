//! First: is there such a tool, has this agent got it, and do the arguments fit?

use super::refusal::{Code, Refusal};
use super::{Ask, Draft, Ground, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(ask: &Ask<'_>, _draft: &mut Draft, _ground: &mut dyn Ground) -> Result<Step> {
    let no = |code, what: String| refuse(Refusal::new(StageName::Schema, code, what));
    if ask.tool.is_none() {
        return no(
            Code::UnknownTool,
            "There is no such tool. Use one that was offered, or answer without.".to_owned(),
        );
    }
    if !ask.offered {
        return no(
            Code::NotOffered,
            "This tool was not offered here. Use one that was, or answer without.".to_owned(),
        );
    }
    match ask.arguments.misfit() {
        Some(what) => no(
            Code::BadArguments,
            format!("The arguments don't fit: {what}. Ask the person for what is missing."),
        ),
        None => Ok(Step::On),
    }
}

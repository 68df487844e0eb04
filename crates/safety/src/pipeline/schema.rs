//! First: is there such a tool, has this agent got it, and do the arguments fit?

use super::refusal::{ActRefusal, RefusalCode};
use super::{DecisionStore, Draft, PolicyRequest, StageName, Step, refuse};
use crate::error::Result;

pub(super) fn run(
    ask: &PolicyRequest<'_>,
    _draft: &mut Draft,
    _ground: &mut dyn DecisionStore,
) -> Result<Step> {
    let no = |code, what: String| refuse(ActRefusal::new(StageName::Schema, code, what));
    if ask.tool.is_none() {
        return no(
            RefusalCode::UnknownTool,
            "There is no such tool. Use one that was offered, or answer without.".to_owned(),
        );
    }
    if !ask.offered {
        return no(
            RefusalCode::NotOffered,
            "This tool was not offered here. Use one that was, or answer without.".to_owned(),
        );
    }
    // Work that nobody typed goes on from what is stored, and of this nothing is.
    if ask.caller.background && ask.tool.as_ref().is_some_and(|tool| tool.spec.transient) {
        return no(
            RefusalCode::NotOffered,
            "What this tool says is not kept, so it is asked in a conversation alone. Go on without it."
                .to_owned(),
        );
    }
    match ask.arguments.misfit() {
        Some(what) => no(
            RefusalCode::BadArguments,
            format!("The arguments don't fit: {what}. Ask the person for what is missing."),
        ),
        None => Ok(Step::On),
    }
}

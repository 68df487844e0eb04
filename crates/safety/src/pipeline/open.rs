//! Whether a tool is open at all: the stages that need no arguments.

use super::ground::{ConsentGrant, DecisionStore, ExhaustedLimit};
use super::{ActVerdict, ConsentReason, PipelineStage, PolicyRequest, STAGES, StageName, follow};
use crate::error::{Error, Result};

/// Whether permission, door, scope and autonomy let this pass, for whatever arguments its scope leaves open.
pub fn is_open(ask: &PolicyRequest<'_>) -> Result<bool> {
    let asked = |stage: &&PipelineStage| {
        matches!(stage.name, StageName::Permission | StageName::Door | StageName::Scope | StageName::Autonomy)
    };
    for stage in STAGES.iter().filter(asked) {
        let verdict = follow(std::slice::from_ref(stage), ask, &mut Nothing, &mut |_, _| {})?;
        if !matches!(verdict, ActVerdict::Apply(_)) {
            return Ok(false);
        }
    }
    Ok(ask.tool.is_some())
}

/// These stages read nothing and set nothing aside.
struct Nothing;

impl DecisionStore for Nothing {
    fn take(&mut self, _ask: &PolicyRequest<'_>) -> Result<Option<ExhaustedLimit>> {
        Err(misuse())
    }

    fn given(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _reasons: &[ConsentReason],
    ) -> Result<Option<ConsentGrant>> {
        Err(misuse())
    }

    fn belongs(&mut self, _recipient: &str, _audience: &str) -> Result<bool> {
        Err(misuse())
    }
}

fn misuse() -> Error {
    Error::Invalid("what is open is asked without reading".to_owned())
}

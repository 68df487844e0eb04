//! Whether a tool is open at all: the stages that need no arguments.

use std::sync::Arc;

use munshi_types::ConsentPurposeName;

use super::decision_store::{ConsentGrant, DecisionStore, ExhaustedLimit};
use super::{
    ActVerdict, CompiledTool, ConsentReason, PipelineStage, PolicyRequest, PurposeStanding, STAGES,
    StageName, run_stages_observed,
};
use crate::error::{Error, Result};
use crate::policy::AuthorisedTemplate;

/// Whether permission, door, scope and autonomy let this pass, for whatever arguments its scope leaves open, and what it is for is
/// declared.
pub fn is_open(ask: &PolicyRequest<'_>) -> Result<bool> {
    let asked = |stage: &&PipelineStage| {
        matches!(stage.name, StageName::Permission | StageName::Door | StageName::Scope | StageName::Autonomy)
    };
    for stage in STAGES.iter().filter(asked) {
        let verdict = run_stages_observed(std::slice::from_ref(stage), ask, &mut Nothing, &mut |_, _| {})?;
        if !matches!(verdict, ActVerdict::Apply(_)) {
            return Ok(false);
        }
    }
    let purpose = |tool: &Arc<CompiledTool>| ask.policy.consent.declares(tool.spec.consent.as_ref());
    Ok(ask.tool.as_ref().is_some_and(purpose))
}

/// These stages read nothing and set nothing aside.
struct Nothing;

impl DecisionStore for Nothing {
    fn reserve(&mut self, _ask: &PolicyRequest<'_>) -> Result<Option<ExhaustedLimit>> {
        Err(misuse_error())
    }

    fn find_consent(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _reasons: &[ConsentReason],
    ) -> Result<Option<ConsentGrant>> {
        Err(misuse_error())
    }

    fn find_purpose_consent(
        &mut self,
        _ask: &PolicyRequest<'_>,
        _purpose: &ConsentPurposeName,
    ) -> Result<PurposeStanding> {
        Err(misuse_error())
    }

    fn is_in_audience(&mut self, _recipient: &str, _audience: &str) -> Result<bool> {
        Err(misuse_error())
    }

    fn take_unasked(&mut self, _ask: &PolicyRequest<'_>, _authorised: &AuthorisedTemplate) -> Result<bool> {
        Err(misuse_error())
    }
}

fn misuse_error() -> Error {
    Error::Invalid("listing open tools must not read the database".to_owned())
}

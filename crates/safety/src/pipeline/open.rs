//! Whether a tool is open at all: the stages that need no arguments.

use super::ground::{Full, Given, Ground};
use super::{Ask, Reason, STAGES, Stage, StageName, Verdict, follow};
use crate::error::{Error, Result};

/// Whether permission, door, scope and autonomy let this pass, for whatever arguments its scope leaves open.
pub fn is_open(ask: &Ask<'_>) -> Result<bool> {
    let asked = |stage: &&Stage| {
        matches!(stage.name, StageName::Permission | StageName::Door | StageName::Scope | StageName::Autonomy)
    };
    for stage in STAGES.iter().filter(asked) {
        let verdict = follow(std::slice::from_ref(stage), ask, &mut Nothing, &mut |_, _| {})?;
        if !matches!(verdict, Verdict::Apply(_)) {
            return Ok(false);
        }
    }
    Ok(ask.tool.is_some())
}

/// These stages read nothing and set nothing aside.
struct Nothing;

impl Ground for Nothing {
    fn take(&mut self, _ask: &Ask<'_>) -> Result<Option<Full>> {
        Err(misuse())
    }

    fn given(&mut self, _ask: &Ask<'_>, _reasons: &[Reason]) -> Result<Option<Given>> {
        Err(misuse())
    }

    fn belongs(&mut self, _recipient: &str, _audience: &str) -> Result<bool> {
        Err(misuse())
    }
}

fn misuse() -> Error {
    Error::Invalid("what is open is asked without reading".to_owned())
}

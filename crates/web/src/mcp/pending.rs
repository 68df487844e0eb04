//! Hearing what came of what had to wait.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::keys::{ApiAccess, ApiCaller, Area};
use munshi_mcp::{CallToolResult, JsonObject};
use munshi_safety::acts::{Act, ActState};
use munshi_safety::{acts, approvals};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::parameters::field_error;
use munshi_store::Tx;
use munshi_tiers::BindingResolution;
use munshi_tools::ToolAnswer;
use munshi_types::{ActId, ApprovalId, BindingId, RunId};
use serde::Deserialize;
use serde_json::Value;

use super::{agents, calls, results};
use crate::api::access::AuthorizedCaller;
use crate::api::run_lookup::load_run;
use crate::api::turn_errors::convert_turn_error;

/// How often one looks whether a call under way has ended.
const EVERY: Duration = Duration::from_millis(300);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    approval: Option<ApprovalId>,
    act: Option<ActId>,
    run: Option<RunId>,
}

/// A tool's call, by its own id or by that of the question about it.
#[derive(Clone, Copy)]
enum Which {
    Approval(ApprovalId),
    Act(ActId),
}

pub(crate) async fn resume(
    key: &AuthorizedCaller,
    bindings: &[Arc<BindingResolution>],
    arguments: JsonObject,
    timeout: Duration,
) -> Result<CallToolResult, ApiError> {
    let asked: Asked = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| field_error("arguments", &error.to_string()))?;
    match (asked.approval, asked.act, asked.run) {
        (Some(approval), None, None) => resume_act(key, bindings, Which::Approval(approval), timeout).await,
        (None, Some(id), None) => resume_act(key, bindings, Which::Act(id), timeout).await,
        (None, None, Some(run)) => {
            key.require_access(Area::Chat, ApiAccess::Read)?;
            load_run(key, run).await?;
            agents::await_outcome(key, run, timeout).await
        }
        _ => Err(field_error("arguments", "give one of approval, act and run")),
    }
}

/// Goes on with an act that this key had asked for itself, or another of the same person. The answer of a turn is the
/// turn's to hear.
async fn resume_act(
    key: &AuthorizedCaller,
    bindings: &[Arc<BindingResolution>],
    which: Which,
    timeout: Duration,
) -> Result<CallToolResult, ApiError> {
    key.require_access(Area::Tools, ApiAccess::Read)?;
    calls::check_limits(key).await?;
    let gone = || match which {
        Which::Approval(id) => not_found_error("approval", &id.to_string()),
        Which::Act(id) => {
            let what = format!("There is no act {id} that this key has begun.");
            ApiError::new(ApiErrorCode::NotFound, what).hint("Give the id that the earlier answer had.")
        }
    };
    let caller = key.caller.clone();
    let read = move |tx: &mut Tx<'_>| find_own_act(tx, &caller, which);
    let (known, id) = key.api.db.read(key.tenant(), read).await?.ok_or_else(gone)?;
    if known.effect.writes() {
        key.require_access(Area::Tools, ApiAccess::Write)?;
    }
    let binding = bindings.iter().find(|binding| binding.binding_id == id).ok_or_else(gone)?;
    let answer = match tokio::time::timeout(timeout, await_result(key, binding, known.id)).await {
        Ok(answer) => answer?.ok_or_else(gone)?,
        Err(_) => ToolAnswer::Running { act: known.id },
    };
    Ok(results::render_answer(&answer, known.rests_on.wanted))
}

/// The act and its binding, where it is the caller's own. A role is no one: of two keys that stand for it, each has its own.
fn find_own_act(
    tx: &mut Tx<'_>,
    caller: &ApiCaller,
    which: Which,
) -> munshi_safety::Result<Option<(Act, BindingId)>> {
    let id = match which {
        Which::Act(id) => Some(id),
        Which::Approval(id) => approvals::find(tx, id)?.map(|approval| approval.act),
    };
    let Some(id) = id else { return Ok(None) };
    let Some(act) = acts::find(tx, id)? else { return Ok(None) };
    let (asker, who) = (&act.rests_on.caller, &caller.principal);
    let is_same =
        asker.key == Some(caller.key) || (who.person.is_some() && asker.principal.person == who.person);
    let is_own = asker.run.is_none() && is_same && asker.principal.standing == who.standing;
    let binding = asker.binding.filter(|_| is_own);
    Ok(binding.map(|binding| (act, binding)))
}

/// What came of it, once it is no longer being done.
async fn await_result(
    key: &AuthorizedCaller,
    binding: &Arc<BindingResolution>,
    id: ActId,
) -> Result<Option<ToolAnswer>, ApiError> {
    loop {
        let act = key.api.db.read(key.tenant(), move |tx| acts::find(tx, id)).await?;
        match act.map(|act| act.state) {
            Some(ActState::Intended | ActState::Rehearsing) => tokio::time::sleep(EVERY).await,
            _ => return key.api.engine.resume_tool(binding.clone(), id).await.map_err(convert_turn_error),
        }
    }
}

//! Hearing what came of what had to wait.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::keys::{Access, Area};
use munshi_safety::{acts, approvals};
use munshi_store::Tx;
use munshi_tiers::Resolution;
use munshi_types::{ActId, ApprovalId, RunId};
use rmcp::model::{CallToolResult, JsonObject};
use serde::Deserialize;
use serde_json::Value;

use super::{agents, told};
use crate::api::access::Key;
use crate::api::ask::invalid;
use crate::api::missing;
use crate::error::ApiError;
use crate::routes::runs::read::open_to;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    approval: Option<ApprovalId>,
    run: Option<RunId>,
}

pub(crate) async fn go_on(
    key: &Key,
    places: &[Arc<Resolution>],
    arguments: JsonObject,
    patience: Duration,
) -> Result<CallToolResult, ApiError> {
    let asked: Asked = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| invalid("arguments", &error.to_string()))?;
    match (asked.approval, asked.run) {
        (Some(approval), None) => act(key, places, approval).await,
        (None, Some(run)) => {
            key.may(Area::Chat, Access::Read)?;
            open_to(key, run).await?;
            agents::hear(key, run, patience).await
        }
        _ => Err(invalid("arguments", "give either an approval or a run")),
    }
}

/// Goes on with an act that this key, or one that stands for the same, had asked for itself. The answer of a turn is the
/// turn's to hear.
async fn act(
    key: &Key,
    places: &[Arc<Resolution>],
    approval: ApprovalId,
) -> Result<CallToolResult, ApiError> {
    key.may(Area::Tools, Access::Write)?;
    let gone = || missing("approval", &approval.to_string());
    let who = key.caller.principal.clone();
    let read = move |tx: &mut Tx<'_>| -> munshi_safety::Result<Option<(ActId, munshi_types::BindingId)>> {
        let Some(known) = approvals::find(tx, approval)? else { return Ok(None) };
        let Some(act) = acts::find(tx, known.act)? else { return Ok(None) };
        let caller = act.rests_on.caller;
        let is_own = caller.run.is_none()
            && caller.principal.person == who.person
            && caller.principal.standing == who.standing;
        Ok(caller.binding.filter(|_| is_own).map(|binding| (known.act, binding)))
    };
    let (act, binding) = key.api.db.read(key.tenant(), read).await?.ok_or_else(gone)?;
    let place = places.iter().find(|place| place.binding_id == binding).ok_or_else(gone)?;
    let answer = key.api.engine.resume_tool(place.clone(), act).await?.ok_or_else(gone)?;
    Ok(told::answer(&answer))
}

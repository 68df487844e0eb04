//! Calling a tool.

use std::time::Duration;

use munshi_agent::direct_tools::{DirectCall, DirectTool};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_mcp::{CallToolResult, JsonObject};
use munshi_safety::budget;
use munshi_safety::pipeline::ProposalMode;
use munshi_server::error::ApiError;
use munshi_server::parameters::field_error;
use munshi_tools::ToolAnswer;
use munshi_types::{ActId, Id, KeyId};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::results;
use super::tool_definitions::{DRY_RUN, KEY, list_own_arguments};
use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;

const LONGEST_KEY: usize = 200;

/// Does it, asks a person first, or says why not. `given` is the key that came beside the arguments. What takes longer than
/// it is waited for goes on by itself.
pub(crate) async fn call(
    key: &AuthorizedCaller,
    offered: DirectTool,
    mut arguments: JsonObject,
    given: Option<String>,
    timeout: Duration,
) -> Result<CallToolResult, ApiError> {
    let spec = &offered.tool.known.spec;
    let access = if spec.effect.writes() { ApiAccess::Write } else { ApiAccess::Read };
    key.require_access(Area::Tools, access)?;
    check_limits(key).await?;
    let ours: Vec<&str> = list_own_arguments(spec).into_iter().map(|(name, _)| name).collect();
    let mut take = |name: &str| ours.contains(&name).then(|| arguments.remove(name)).flatten();
    let once = match take(KEY) {
        // A look has no key of its own: beside it stands that of the act it is about.
        None => given.filter(|_| spec.effect.writes()),
        Some(Value::String(text)) => Some(text),
        Some(_) => return Err(field_error(KEY, "it is a text")),
    };
    let wanted = match take(DRY_RUN) {
        None | Some(Value::Bool(false)) => ProposalMode::Act,
        Some(Value::Bool(true)) => ProposalMode::Rehearsal,
        Some(_) => return Err(field_error(DRY_RUN, "it is true or false")),
    };
    let act = match once {
        None => key.api.ids.next(),
        Some(text) if (1..=LONGEST_KEY).contains(&text.len()) => derive_act_id(key.caller.key, wanted, &text),
        Some(_) => return Err(field_error(KEY, "it has 1 to 200 letters")),
    };
    let who = key.caller.principal.clone();
    let caller = key.caller.key;
    let direct = DirectCall { who, key: caller, offered, arguments: Value::Object(arguments), act, wanted };
    let answer = match tokio::time::timeout(timeout, key.api.engine.call_tool(direct)).await {
        Ok(answer) => answer.map_err(convert_turn_error)?,
        Err(_) => ToolAnswer::Running { act },
    };
    Ok(results::render_answer(&answer, wanted))
}

/// A call counts as a message does.
pub(super) async fn check_limits(key: &AuthorizedCaller) -> Result<(), ApiError> {
    let (api, tenant, act_services) = (&key.api, key.tenant(), key.api.act_services.clone());
    let plan = api.db.read(tenant, move |tx| budget::load_plan(tx, act_services.governor.settings())).await?;
    let of_tenant = api.limits.check_tenant(tenant, plan)?;
    let of_person = match key.caller.principal.person {
        Some(person) => api.limits.check_person(tenant, &person.to_string())?,
        None => api.limits.check_person(tenant, &key.caller.key.to_string())?,
    };
    api.count_limits(tenant, vec![of_tenant, of_person]).await
}

/// The same for the same key of the same API key. What was only tried out under a key is not what is done under it.
fn derive_act_id(key: KeyId, wanted: ProposalMode, text: &str) -> ActId {
    let mut hash = Sha256::new();
    if wanted == ProposalMode::Rehearsal {
        hash.update("rehearsal");
    }
    hash.update(key.as_uuid().as_bytes());
    hash.update(text.as_bytes());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, of)| *byte = of);
    ActId::from_uuid(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_key_is_one_act_of_one_caller() {
        let ids = IdGenerator::system();
        let (one, other): (KeyId, KeyId) = (ids.next(), ids.next());
        let act_of = |key, text| super::derive_act_id(key, ProposalMode::Act, text);
        assert_eq!(act_of(one, "a"), act_of(one, "a"));
        assert_ne!(act_of(one, "a"), act_of(one, "b"));
        assert_ne!(act_of(one, "a"), act_of(other, "a"));
        assert_ne!(act_of(one, "a"), super::derive_act_id(one, ProposalMode::Rehearsal, "a"));
    }
}

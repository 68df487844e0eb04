//! Administrative verbs as tools, for keys that were opened for it. What looks is answered at once; what changes something
//! is stored as a proposal that a person decides on.

use std::sync::Arc;

use munshi_identity::keys::{ApiAccess, ApiCaller, Area};
use munshi_mcp::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use munshi_operations::proposals::propose;
use munshi_operations::{ListedOperation, is_offered_to_agents, list_operations};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode, OperationScope};
use munshi_server::error::ApiError;
use serde_json::{Value, json};

use super::results;
use crate::api::access::AuthorizedCaller;
use crate::operations::build_call;

/// The tools that a key has of it, by name.
pub(crate) fn describe_tools(key: &AuthorizedCaller) -> Result<Vec<Tool>, ApiError> {
    Ok(list_entries(key)?.iter().map(describe).collect())
}

/// None where the key reaches no verb of that name.
pub(crate) async fn call(
    key: &AuthorizedCaller,
    name: &str,
    arguments: &JsonObject,
) -> Result<Option<CallToolResult>, ApiError> {
    let Some(entry) = list_entries(key)?.into_iter().find(|entry| entry.spec.id() == name) else {
        return Ok(None);
    };
    let call = build_call(&key.api, Arc::clone(&key.caller), entry.spec.needs.scope()).await?;
    let arguments = Value::Object(arguments.clone());
    if entry.spec.writes() {
        let proposal = propose(&call, &entry, arguments).await?;
        let of = match call.tenant.is_installation() {
            true => String::new(),
            false => format!(" --tenant {}", call.tenant.name),
        };
        let words = format!(
            "Nothing is changed yet: a person has to grant it, with `munshi proposals grant {} --digest {}{of}`. Look at it with read_proposal.",
            proposal.id, proposal.digest
        );
        let shown = serde_json::to_value(&proposal).map_err(OperationError::internal)?;
        return Ok(Some(results::structured(words, shown)));
    }
    let mut view = entry.execute(&call, arguments.clone()).await;
    // What a keeper's key asked for may be the installation's own.
    let is_missing = view.as_ref().is_err_and(|error| error.code == OperationErrorCode::NotFound);
    if is_missing && name == "read_proposal" && key.caller.keeper {
        let call = build_call(&key.api, Arc::clone(&key.caller), OperationScope::Installation).await?;
        view = entry.execute(&call, arguments).await;
    }
    let view = view?;
    Ok(Some(results::structured(view.to_string(), view)))
}

/// A key must say that it is for administration, also one that opens everything else; a keeper's key is.
fn is_opened(caller: &ApiCaller) -> bool {
    caller.keeper
        || (caller.operator.is_none() && caller.authorize(Area::Administration, ApiAccess::Read).is_ok())
}

fn list_entries(key: &AuthorizedCaller) -> Result<Vec<ListedOperation>, ApiError> {
    if !is_opened(&key.caller) {
        return Ok(Vec::new());
    }
    let asked = OperationCaller::api(Arc::clone(&key.caller));
    let may_propose =
        key.caller.keeper || key.caller.authorize(Area::Administration, ApiAccess::Write).is_ok();
    let packs = key.api.house.parts.pack_operations()?;
    let reached = list_operations(&packs).filter(|entry| {
        let spec = &entry.spec;
        let is_installation = spec.needs.scope() == OperationScope::Installation;
        let is_asked_for = !spec.writes() || (may_propose && entry.keeps_view());
        is_offered_to_agents(spec) && is_asked_for && asked.authorize_for(spec.needs, is_installation).is_ok()
    });
    Ok(reached.collect())
}

fn describe(entry: &ListedOperation) -> Tool {
    let mut schema = serde_json::to_value(entry.input_schema()).unwrap_or_else(|_| json!({}));
    let components = entry.component_schemas();
    inline(&mut schema, &|name| {
        let found = components.iter().find(|(known, _)| known == name);
        found.and_then(|(_, schema)| serde_json::to_value(schema).ok())
    });
    schema["additionalProperties"] = json!(false);
    let schema = schema.as_object().cloned().unwrap_or_default();
    let mut tool = Tool::new(entry.spec.id(), entry.spec.about, Arc::new(schema));
    let reads = !entry.spec.writes();
    tool.annotations = Some(ToolAnnotations::new().read_only(reads).destructive(!reads).open_world(false));
    tool
}

/// Puts what is referred to in the place of the reference: a tool's schema stands alone.
fn inline(schema: &mut Value, find: &dyn Fn(&str) -> Option<Value>) {
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    if let Some(mut found) = referred.and_then(find) {
        inline(&mut found, find);
        *schema = found;
        return;
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(|value| inline(value, find)),
        Value::Array(items) => items.iter_mut().for_each(|value| inline(value, find)),
        _ => {}
    }
}

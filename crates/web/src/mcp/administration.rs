//! Administrative verbs that look, as tools for keys that were opened for it. What changes something is not offered here.

use std::sync::Arc;

use munshi_identity::keys::{ApiAccess, ApiCaller, Area};
use munshi_mcp::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use munshi_operations::{HOUSE, HouseServices, is_offered_to_agents};
use munshi_pack::operation::{OperationCaller, OperationEntry, OperationScope};
use munshi_server::error::ApiError;
use serde_json::{Value, json};

use super::results;
use crate::api::access::AuthorizedCaller;
use crate::operations::build_call;

type Entry = OperationEntry<HouseServices>;

/// The tools that a key has of it, by name.
pub(crate) fn describe_tools(key: &AuthorizedCaller) -> Vec<Tool> {
    list_entries(&key.caller).map(describe).collect()
}

/// None where the key reaches no verb of that name.
pub(crate) async fn call(
    key: &AuthorizedCaller,
    name: &str,
    arguments: &JsonObject,
) -> Result<Option<CallToolResult>, ApiError> {
    let Some(entry) = list_entries(&key.caller).find(|entry| entry.spec.id() == name) else {
        return Ok(None);
    };
    let call = build_call(&key.api, Arc::clone(&key.caller), entry.spec.needs.scope()).await?;
    let view = entry.execute(&call, Value::Object(arguments.clone())).await?;
    Ok(Some(results::structured(view.to_string(), view)))
}

/// A key must say that it is for administration, also one that opens everything else; a keeper's key is.
fn is_opened(caller: &ApiCaller) -> bool {
    caller.keeper
        || (caller.operator.is_none() && caller.authorize(Area::Administration, ApiAccess::Read).is_ok())
}

fn list_entries(caller: &Arc<ApiCaller>) -> impl Iterator<Item = &'static Entry> + use<> {
    let asked = is_opened(caller).then(|| OperationCaller::api(Arc::clone(caller)));
    HOUSE.iter().filter(move |entry| {
        let spec = &entry.spec;
        let is_installation = spec.needs.scope() == OperationScope::Installation;
        is_offered_to_agents(spec)
            && asked.as_ref().is_some_and(|caller| caller.authorize_for(spec.needs, is_installation).is_ok())
    })
}

fn describe(entry: &'static Entry) -> Tool {
    let mut schema = serde_json::to_value(entry.input_schema()).unwrap_or_else(|_| json!({}));
    let components = entry.component_schemas();
    inline(&mut schema, &|name| {
        let found = components.iter().find(|(known, _)| known == name);
        found.and_then(|(_, schema)| serde_json::to_value(schema).ok())
    });
    schema["additionalProperties"] = json!(false);
    let schema = schema.as_object().cloned().unwrap_or_default();
    let mut tool = Tool::new(entry.spec.id(), entry.spec.about, Arc::new(schema));
    tool.annotations = Some(ToolAnnotations::new().read_only(true).destructive(false).open_world(false));
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

//! Tools and agents as the protocol lists them.

use std::sync::Arc;

use munshi_agent::direct_tools::DirectTool;
use munshi_mcp::{DECLARATION_META, JsonObject, MetaObject, Tool, ToolAnnotations};
use munshi_tiers::BindingResolution;
use munshi_tools::ConnectorOrigin;
use munshi_types::{Effect, ToolSpec};
use serde_json::{Value, json};

use super::key_access::agent_name;
use crate::api::access::AuthorizedCaller;

/// Arguments that every write has here, unless it has one of that name itself.
pub(crate) const KEY: &str = "idempotency_key";
pub(crate) const DRY_RUN: &str = "dry_run";
/// What tells how something stands that had to wait.
pub(crate) const GO_ON: &str = "go_on";

/// A tool of ours.
pub(crate) fn describe_tool(one: &DirectTool) -> Tool {
    let (spec, connector) = (&one.tool.known.spec, &one.tool.known.connector);
    let writes = spec.effect.writes();
    let annotations = ToolAnnotations::new()
        .read_only(!writes)
        .destructive(writes && (spec.destructive || spec.dangerous))
        .open_world(connector.origin == ConnectorOrigin::Foreign);
    let mut tool = Tool::new(spec.name.to_string(), spec.description.clone(), schema(spec));
    tool.annotations = Some(annotations);
    let mut declared = if connector.declares { declare_effects(spec) } else { json!({}) };
    declare_limits(spec, &mut declared);
    if declared != json!({}) {
        tool.meta = Some(meta(declared));
    }
    tool
}

fn meta(declared: Value) -> MetaObject {
    MetaObject([(DECLARATION_META.to_owned(), declared)].into_iter().collect())
}

/// With the arguments by which a write is done once, and by which it is only tried out.
fn schema(spec: &ToolSpec) -> Arc<JsonObject> {
    let mut schema = spec.parameters.as_object().cloned().unwrap_or_default();
    for (name, about) in list_own_arguments(spec) {
        if let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
            properties.insert(name.to_owned(), about);
        }
    }
    Arc::new(schema)
}

/// The arguments that are ours and not the tool's.
pub(crate) fn list_own_arguments(spec: &ToolSpec) -> Vec<(&'static str, Value)> {
    if !spec.effect.writes() {
        return Vec::new();
    }
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 200,
        "description": "Your own id of this call: under the same one it is done once." });
    let dry_run = json!({ "type": "boolean", "description": "Only say what would happen." });
    let mut own = vec![(KEY, key)];
    if spec.dry_run {
        own.push((DRY_RUN, dry_run));
    }
    own.retain(|(name, _)| spec.parameters.get("properties").and_then(|all| all.get(name)).is_none());
    own
}

fn declare_effects(spec: &ToolSpec) -> Value {
    let effect = match spec.effect {
        Effect::Read => "read",
        // By its key, whatever it is inside.
        Effect::Inside | Effect::Keyed | Effect::Checked | Effect::Once => "keyed",
    };
    let mut declared = json!({ "effect": effect, "scope": spec.scope });
    if spec.effect.writes() {
        declared["dangerous"] = json!(spec.dangerous);
        declared["destructive"] = json!(spec.destructive);
        declared["money"] = json!(spec.money);
        declared["least_autonomy"] = json!(spec.least_autonomy);
        if let Some(sends) = &spec.sends {
            declared["sends"] = json!(sends);
        }
    }
    declared
}

/// What whoever calls it has to keep to, whether or not somebody vouches for the rest.
fn declare_limits(spec: &ToolSpec, declared: &mut Value) {
    if spec.transient {
        declared["transient"] = json!(true);
    }
    if let Some(purpose) = &spec.consent {
        declared["consent"] = json!(purpose);
        if let Some(subject) = &spec.subject {
            declared["subject"] = json!(subject);
        }
    }
}

/// A binding, which answers.
pub(crate) fn describe_agent(key: &AuthorizedCaller, binding: &BindingResolution) -> Tool {
    let (human, team) = (&binding.human.body, &binding.team.body);
    let description = format!(
        "Asks {} of {} at {}. A whole turn: it remembers the conversation, may use tools of its own, and answers in \
         words. Write as a person would.",
        human.name, team.name, binding.tenant_name
    );
    let mut properties = json!({
        "message": { "type": "string", "minLength": 1, "maxLength": 65536, "description": "What you say." },
        "message_id": { "type": "string", "minLength": 1, "maxLength": 200,
            "description": "Your own id of this message: the same one is taken once." },
    });
    if key.caller.principal.person.is_none() {
        properties["person"] = json!({ "type": "string", "minLength": 1, "maxLength": 200,
            "description": "For whom you speak: a phone (+91…), an e-mail, an @handle, or your own word for them. \
                            Without it, for yourself." });
    }
    let mut tool = Tool::new(agent_name(binding), description, object(&properties, &["message"]));
    tool.annotations = Some(ToolAnnotations::new().read_only(false).destructive(false).open_world(true));
    tool.meta = Some(meta(json!({ "effect": "keyed", "key": "message_id", "scope": "agent.turn" })));
    tool
}

/// How to hear what came of what had to wait.
pub(crate) fn describe_resume() -> Tool {
    let properties = json!({
        "approval": { "type": "string", "format": "uuid",
            "description": "Of a tool's call that waits for a person's yes." },
        "act": { "type": "string", "format": "uuid", "description": "Of a tool's call that was still being done." },
        "run": { "type": "string", "format": "uuid", "description": "Of an agent's turn that is not at its end." },
    });
    let words = "Goes on with what waited for a person, or tells how it stands. Give the one id that the earlier answer had.";
    let mut tool = Tool::new(GO_ON, words, object(&properties, &[]));
    tool.annotations =
        Some(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false));
    tool.meta = Some(meta(json!({ "effect": "keyed", "scope": "agent.turn" })));
    tool
}

fn object(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    let schema = json!({ "type": "object", "properties": properties, "required": required,
        "additionalProperties": false });
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_kept_and_what_needs_a_consent_is_declared() {
        let plain =
            || ToolSpec::read_only("find_record".parse().unwrap(), "Finds a record.", "shop.record.find");
        let declare = |spec: &ToolSpec| {
            let mut declared = json!({});
            declare_limits(spec, &mut declared);
            declared
        };
        assert_eq!(declare(&plain()), json!({}));
        let subject = Some("of".to_owned());
        let spec = ToolSpec { transient: true, consent: "records".parse().ok(), subject, ..plain() };
        assert_eq!(declare(&spec), json!({ "transient": true, "consent": "records", "subject": "of" }));
    }
}

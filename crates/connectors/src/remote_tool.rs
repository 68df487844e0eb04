//! A tool of a connector, called with a permit like every other.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_privacy::Scrubber;
use munshi_safety::acts::Permit;
use munshi_tools::{EffectCertainty, LookupOutcome, RemoteToolHandler, ToolFailure, ToolOutput};
use munshi_types::Effect;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::call_result;
use crate::entries::WriteLookup;
use crate::state::{ConnectorState, ConnectorStatus};
use crate::transport::ConnectorHandle;

pub(crate) struct RemoteTool {
    pub link: Arc<ConnectorHandle>,
    /// The server's own name for it.
    pub remote: String,
    /// The argument that takes the act's key.
    pub key: Option<String>,
    /// The argument that has it only say what it would do.
    pub dry_run: Option<String>,
    pub look_up: Option<WriteLookup>,
    /// What a failed result says of the deed, where it does not say itself.
    pub fails: EffectCertainty,
    pub timeout: Duration,
}

/// What is sent.
struct Asked<'a> {
    tool: &'a str,
    arguments: Map<String, Value>,
    key: Option<String>,
}

impl RemoteTool {
    fn arguments(&self, permit: &Permit) -> Map<String, Value> {
        let mut arguments = permit.arguments().as_object().cloned().unwrap_or_default();
        if let Some(key) = &self.key {
            arguments.insert(key.clone(), Value::String(permit.idempotency_key()));
        }
        arguments
    }

    async fn send(&self, asked: Asked<'_>, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        let session = self
            .link
            .wait_for_session()
            .await
            .map_err(|standing| unavailable_failure(&self.link.name, &standing))?;
        let answered = session.client.call(asked.tool, asked.arguments, asked.key).await;
        call_result::to_tool_output(&self.link.name, (permit.effect(), self.fails), answered)
    }

    fn build_request(&self, permit: &Permit) -> Asked<'_> {
        let key = permit.effect().writes().then(|| permit.idempotency_key());
        Asked { tool: &self.remote, arguments: self.arguments(permit), key }
    }

    /// A look that takes too long is not tried again: whoever waits has waited as long as they may.
    fn timeout_failure(&self, permit: &Permit) -> ToolFailure {
        let words = format!(
            "{} has not answered within {} s. Say so; it can be tried again later.",
            self.link.name,
            self.timeout.as_secs()
        );
        match permit.effect() {
            Effect::Read => ToolFailure::permanent("too_slow", words),
            Effect::Keyed | Effect::Checked | Effect::Once | Effect::Inside => {
                ToolFailure { retryable: false, ..ToolFailure::uncertain("too_slow", words) }
            }
        }
    }
}

/// Why nothing can be asked of it now.
fn unavailable_failure(name: &str, standing: &ConnectorStatus) -> ToolFailure {
    match standing.state {
        ConnectorState::Degraded => ToolFailure::permanent(
            "connector_degraded",
            format!(
                "the connector {name} does not work: {}. Say that it is out of order and that whoever runs this can see why \
                 with `munshi connector logs {name}`.",
                standing.why
            ),
        ),
        ConnectorState::WantsLogin => call_result::login_needed_failure(name),
        ConnectorState::Stopped => {
            ToolFailure::permanent("connector_stopped", format!("the connector {name} was taken away."))
        }
        ConnectorState::Starting | ConnectorState::Restarting | ConnectorState::Ready => {
            ToolFailure::transient(
                "connector_down",
                format!("the connector {name} is just being started again."),
            )
        }
    }
}

#[async_trait]
impl RemoteToolHandler for RemoteTool {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        // A little less than the dispatcher gives, so that it is we who say what happened.
        let limit = self.timeout.saturating_sub(Duration::from_millis(250)).max(Duration::from_millis(250));
        match timeout(limit, self.send(self.build_request(permit), permit)).await {
            Ok(answered) => answered,
            Err(_) => Err(self.timeout_failure(permit)),
        }
    }

    fn scrubber(&self) -> Scrubber {
        self.link.scrubber()
    }

    fn connection_id(&self) -> u64 {
        self.link.number
    }

    async fn look_up(&self, permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        let Some(look_up) = &self.look_up else { return Ok(LookupOutcome::CanNotTell) };
        let filled = fill_template(&Value::Object(look_up.arguments.clone()), permit);
        let arguments = filled.as_object().cloned().unwrap_or_default();
        // A look under the act's key would be the act to whoever keeps keys.
        let asked = Asked { tool: &look_up.tool, arguments, key: None };
        let done = self.send(asked, permit).await?;
        Ok(match check_presence(&done.value, &look_up.found) {
            Some(true) => LookupOutcome::Happened(done),
            Some(false) => LookupOutcome::DidNot,
            None => LookupOutcome::CanNotTell,
        })
    }

    async fn rehearse(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        let Some(dry_run) = &self.dry_run else {
            return Err(ToolFailure::permanent("no_rehearsal", "this tool can't be tried out"));
        };
        let mut asked = self.build_request(permit);
        asked.arguments.insert(dry_run.clone(), Value::Bool(true));
        self.send(asked, permit).await
    }
}

/// Whether an answer shows the thing at `pointer`: it is there, or nothing is where it would be. An answer that has other
/// things in that place, or no such place, is of another shape and tells neither.
fn check_presence(answer: &Value, pointer: &str) -> Option<bool> {
    let mut place = pointer;
    loop {
        match (answer.pointer(place), place.rsplit_once('/')) {
            (Some(found), _) if is_nothing(found) => return Some(false),
            (Some(found), _) if place == pointer => return (found.as_i64() != Some(0)).then_some(true),
            (Some(_), _) | (None, None) => return None,
            (None, Some((above, _))) => place = above,
        }
    }
}

fn is_nothing(found: &Value) -> bool {
    match found {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// `{key}` is the act's key, `{name}` an argument of the act; a text that is nothing else keeps the argument's kind.
fn fill_template(template: &Value, permit: &Permit) -> Value {
    let named = |name: &str| match name {
        "key" => Some(Value::String(permit.idempotency_key())),
        name => permit.arguments().get(name).cloned(),
    };
    match template {
        Value::String(text) => {
            match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(named) {
                Some(value) => value,
                None => template.clone(),
            }
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| fill_template(item, permit)).collect()),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), fill_template(value, permit))).collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_an_answer_that_can_be_read_says_that_it_did_not_happen() {
        for (answer, found, told) in [
            (json!({ "order": { "id": "o-1" } }), "/order/id", Some(true)),
            (json!({ "orders": [{ "id": 7 }] }), "/orders/0/id", Some(true)),
            (json!({ "found": true }), "/found", Some(true)),
            (json!({ "found": false }), "/found", Some(false)),
            (json!({ "order": null }), "/order/id", Some(false)),
            (json!({ "order": {} }), "/order/id", Some(false)),
            (json!({ "orders": [], "total": 0 }), "/orders/0/id", Some(false)),
            (json!([]), "/0", Some(false)),
            (json!({}), "/order", Some(false)),
            // Words, another shape, another kind, a count that may be an id.
            (json!({ "text": "no such order; did you mean o-1?" }), "/order", None),
            (json!({ "bookings": [{ "id": "o-1" }] }), "/orders/0/id", None),
            (json!({ "order": "o-1" }), "/order/id", None),
            (json!({ "orders": [{ "number": 7 }] }), "/orders/0/id", None),
            (json!({ "total": 0 }), "/total", None),
        ] {
            assert_eq!(check_presence(&answer, found), told, "{answer} {found}");
        }
    }
}

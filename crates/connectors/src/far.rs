//! A tool of a connector, called with a permit like every other.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_safety::acts::Permit;
use munshi_safety::privacy::Scrubber;
use munshi_tools::{Done, Failure, Far, Looked};
use munshi_types::Effect;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::answer;
use crate::declared::LookUp;
use crate::link::Link;
use crate::state::{Standing, State};

pub(crate) struct RemoteTool {
    pub link: Arc<Link>,
    /// The server's own name for it.
    pub remote: String,
    /// The argument that takes the act's key.
    pub key: Option<String>,
    /// The argument that has it only say what it would do.
    pub dry_run: Option<String>,
    pub look_up: Option<LookUp>,
    pub timeout: Duration,
}

impl RemoteTool {
    fn arguments(&self, permit: &Permit) -> Map<String, Value> {
        let mut arguments = permit.arguments().as_object().cloned().unwrap_or_default();
        if let Some(key) = &self.key {
            arguments.insert(key.clone(), Value::String(permit.key()));
        }
        arguments
    }

    async fn ask(&self, tool: &str, arguments: Map<String, Value>, permit: &Permit) -> Result<Done, Failure> {
        let session = self.link.session().await.map_err(|standing| down(&self.link.name, &standing))?;
        let key = permit.effect().writes().then(|| permit.key());
        let answered = session.call(tool, arguments, key).await;
        answer::read(&self.link.name, answered)
    }

    /// A look that takes too long is not tried again: whoever waits has waited as long as they may.
    fn too_slow(&self, permit: &Permit) -> Failure {
        let words = format!(
            "{} has not answered within {} s. Say so; it can be tried again later.",
            self.link.name,
            self.timeout.as_secs()
        );
        match permit.effect() {
            Effect::Read => Failure::surely("too_slow", words),
            Effect::Keyed | Effect::Checked | Effect::Once | Effect::Inside => {
                Failure { retryable: false, ..Failure::perhaps("too_slow", words) }
            }
        }
    }
}

/// Why nothing can be asked of it now.
fn down(name: &str, standing: &Standing) -> Failure {
    match standing.state {
        State::Degraded => Failure::surely(
            "connector_degraded",
            format!(
                "the connector {name} does not work: {}. Say that it is out of order and that whoever runs this can see why \
                 with `munshi connector logs {name}`.",
                standing.why
            ),
        ),
        State::WantsLogin => answer::not_in(name),
        State::Stopped => {
            Failure::surely("connector_stopped", format!("the connector {name} was taken away."))
        }
        State::Starting | State::Restarting | State::Ready => {
            Failure::for_now("connector_down", format!("the connector {name} is just being started again."))
        }
    }
}

#[async_trait]
impl Far for RemoteTool {
    async fn call(&self, permit: &Permit) -> Result<Done, Failure> {
        // A little less than the dispatcher gives, so that it is we who say what happened.
        let limit = self.timeout.saturating_sub(Duration::from_millis(250)).max(Duration::from_millis(250));
        match timeout(limit, self.ask(&self.remote, self.arguments(permit), permit)).await {
            Ok(answered) => answered,
            Err(_) => Err(self.too_slow(permit)),
        }
    }

    fn scrubber(&self) -> Scrubber {
        self.link.scrubber()
    }

    async fn look_up(&self, permit: &Permit) -> Result<Looked, Failure> {
        let Some(look_up) = &self.look_up else { return Ok(Looked::CanNotTell) };
        let filled = fill(&Value::Object(look_up.arguments.clone()), permit);
        let arguments = filled.as_object().cloned().unwrap_or_default();
        let done = self.ask(&look_up.tool, arguments, permit).await?;
        Ok(match done.value.pointer(&look_up.found) {
            Some(found) if is_there(found) => Looked::Happened(done),
            _ => Looked::DidNot,
        })
    }

    async fn rehearse(&self, permit: &Permit) -> Result<Done, Failure> {
        let Some(dry_run) = &self.dry_run else {
            return Err(Failure::surely("no_rehearsal", "this tool can't be tried out"));
        };
        let mut arguments = self.arguments(permit);
        arguments.insert(dry_run.clone(), Value::Bool(true));
        self.ask(&self.remote, arguments, permit).await
    }
}

fn is_there(found: &Value) -> bool {
    match found {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// `{key}` is the act's key, `{name}` an argument of the act; a text that is nothing else keeps the argument's kind.
fn fill(template: &Value, permit: &Permit) -> Value {
    let named = |name: &str| match name {
        "key" => Some(Value::String(permit.key())),
        name => permit.arguments().get(name).cloned(),
    };
    match template {
        Value::String(text) => {
            match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(named) {
                Some(value) => value,
                None => template.clone(),
            }
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, permit)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), fill(value, permit))).collect())
        }
        other => other.clone(),
    }
}

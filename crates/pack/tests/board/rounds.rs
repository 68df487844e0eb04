//! The notice board's tool that goes elsewhere, and its work that begins other work.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_http::{GuardedHttpClients, StatusCode, Url};
use munshi_pack::{ChildRun, NewPackRun, NextStep, PackRunCause, RunHistory, RunKind, ToolRuns};
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{
    ConnectorOrigin, LookupOutcome, RemoteToolHandler, ToolConnector, ToolFailure, ToolHandler, ToolOutput,
    WriteToolHandler,
};
use munshi_types::{Autonomy, Effect, ToolSpec};
use serde_json::{Value, json};

use super::pack::spec;

/// The housing society's own server, which prints circulars.
#[derive(Clone)]
pub(crate) struct Society {
    pub(crate) clients: GuardedHttpClients,
    pub(crate) address: String,
}

pub(crate) fn circular_spec() -> ToolSpec {
    let about = "Sends a circular to everybody in the house.";
    ToolSpec {
        parameters: json!({
            "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"],
        }),
        effect: Effect::Checked,
        least_autonomy: Autonomy::Propose,
        ..spec("send_circular", about, "board.circular.send")
    }
}

pub(crate) fn society_connector() -> ToolConnector {
    let (name, origin) = ("society".to_owned(), ConnectorOrigin::Foreign);
    ToolConnector { name, origin, declares: true, conduct: None }
}

pub(crate) fn circular_handler(society: &Society) -> ToolHandler {
    ToolHandler::Remote(Arc::new(SendCircular { society: society.clone() }))
}

/// Sends it under the act's key, by which it can be looked up.
struct SendCircular {
    society: Society,
}

impl SendCircular {
    /// Asks the society's server: none where it knows nothing under this key.
    async fn ask(&self, permit: &Permit, body: Option<String>) -> Result<Option<Value>, ToolFailure> {
        let unsure = |why: &dyn ToString| ToolFailure::uncertain("society", why.to_string());
        let key = permit.idempotency_key();
        let url = Url::parse(&format!("{}/circulars/{key}", self.society.address));
        let url = url.map_err(|error| ToolFailure::permanent("society", error.to_string()))?;
        let client = self.society.clients.select(&url);
        let request = match body {
            Some(body) => client.post(url).header("content-type", "application/json").body(body),
            None => client.get(url),
        };
        let answer = request.send().await.map_err(|error| unsure(&error))?;
        match answer.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Ok(Some(json!({ "circular": key }))),
            status => Err(unsure(&status)),
        }
    }
}

#[async_trait]
impl RemoteToolHandler for SendCircular {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        let sent = self.ask(permit, Some(permit.arguments().to_string())).await?;
        let sent = sent.ok_or_else(|| ToolFailure::permanent("society", "it prints no circulars"))?;
        Ok(ToolOutput::new(sent))
    }

    async fn look_up(&self, permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        let known = self.ask(permit, None).await?;
        Ok(known.map_or(LookupOutcome::DidNot, |sent| LookupOutcome::Happened(ToolOutput::new(sent))))
    }
}

pub(crate) fn remind_all_spec() -> ToolSpec {
    ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": {
                "titles": { "type": "array", "items": { "type": "string" } }, "text": { "type": "string" },
            },
            "required": ["titles", "text"],
        }),
        effect: Effect::Inside,
        least_autonomy: Autonomy::Propose,
        ..spec("remind_all", "Puts several notices up, each with a reminder.", "board.notice.remind-all")
    }
}

/// Hands several over to one run, which begins one for each.
pub(crate) struct RemindAll {
    pub(crate) runs: ToolRuns,
}

impl WriteToolHandler for RemindAll {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let kind = "board.announce".to_owned();
        let (cause, input) = (PackRunCause::Operation, permit.arguments().clone());
        let run = self.runs.delegate(tx, permit, &NewPackRun { kind, cause, cause_key: None, input })?;
        Ok(ToolOutput::new(json!({ "run": run })))
    }
}

/// Begins a reminder for each title, and ends when all have.
pub(crate) struct Announce;

#[async_trait]
impl RunKind for Announce {
    fn name(&self) -> &'static str {
        "announce"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["board.notice.*"]
    }

    fn autonomy(&self) -> Autonomy {
        Autonomy::Act
    }

    async fn next_step(&self, history: &RunHistory) -> Result<NextStep, String> {
        if !history.outcomes.is_empty() {
            return Ok(NextStep::End(json!({ "announced": true })));
        }
        let titles = history.input["titles"].as_array().ok_or("it needs titles")?;
        let child = |title: &Value| ChildRun {
            kind: "board.remind".to_owned(),
            input: json!({ "title": title, "text": history.input["text"] }),
        };
        Ok(NextStep::Begin(titles.iter().map(child).collect()))
    }
}

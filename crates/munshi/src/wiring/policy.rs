//! `policy.toml` in a tenant's folder, applied with its tiers.

use std::sync::Arc;

use munshi_config::Config;
use munshi_safety::audit::{self, Actor, ActorKind, Event, NewEntry};
use munshi_safety::policy::{self, Policy};
use munshi_store::Tx;
use munshi_tiers::{Authorship, Bodies, Body, Companion, Error, FileChange, Problem, Result};
use munshi_tools::Registry;
use munshi_types::{Ids, SystemClock};
use serde_json::{Value, json};

use super::connectors::{CONNECTORS_FILE, ConnectorsFile};
use crate::failure;

pub(crate) const POLICY_FILE: &str = "policy.toml";

/// The files of a tenant's folder that are no tiers.
pub(crate) fn companions(config: &Config) -> failure::Result<Vec<Arc<dyn Companion>>> {
    let registry = super::tools::registry(Arc::new(SystemClock))?;
    let protected = super::connectors::protected(config);
    let connectors = ConnectorsFile { registry: registry.clone(), ids: Ids::system(), protected };
    Ok(vec![Arc::new(connectors), Arc::new(PolicyFile { registry, ids: Ids::system() })])
}

struct PolicyFile {
    /// For what a policy may name.
    registry: Registry,
    /// For entries of the audit.
    ids: Ids,
}

impl std::fmt::Debug for PolicyFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(POLICY_FILE)
    }
}

impl Companion for PolicyFile {
    fn file(&self) -> &'static str {
        POLICY_FILE
    }

    fn noun(&self) -> &'static str {
        "policy"
    }

    fn read(&self, file: &str, text: &str) -> Result<Body, Vec<Problem>> {
        let wrong = |problem: Problem| {
            vec![problem.hint("docs/policy.md has every key; `munshi schema policy` prints the schema")]
        };
        let policy = policy::read(text)
            .map_err(|slip| wrong(Problem::of_file(file, slip.what).at((slip.line, slip.column))))?;
        policy::written(&policy).map_err(|error| wrong(Problem::of_file(file, error.to_string())))
    }

    fn warnings(&self, body: &Body, beside: &Bodies) -> Vec<String> {
        let declared =
            beside.get(CONNECTORS_FILE).into_iter().flat_map(|file| file.keys().map(String::as_str));
        let known: Vec<&str> = self
            .registry
            .names()
            .filter_map(|name| Some(self.registry.get(name.as_str())?.known.connector.name.as_str()))
            .chain(declared)
            .collect();
        let connectors =
            body.get("connectors").and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
        let connectors = connectors.filter(|name| !known.contains(&name.as_str())).map(|name| {
            format!(
                "policy.toml speaks of the connector {name}, which is not installed: it counts once it is"
            )
        });
        let tools = body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let tools = tools.filter_map(|message| message.get("tool")?.as_str());
        let tools = tools.filter(|tool| self.registry.get(tool).is_none()).map(|tool| {
            format!("policy.toml speaks of the tool {tool}, which is not installed: it counts once it is")
        });
        connectors.chain(tools).collect()
    }

    fn stored(&self, tx: &mut Tx<'_>) -> Result<(i64, Body)> {
        let (version, policy) = policy::current(tx).map_err(told)?;
        Ok((version, policy::written(&policy).map_err(told)?))
    }

    fn write(&self, tx: &mut Tx<'_>, change: &FileChange, by: &Authorship) -> Result<()> {
        let policy: Policy = serde_json::from_value(Value::Object(change.body.clone()))
            .map_err(|error| Error::Unreadable(format!("the policy can't be kept: {error}")))?;
        policy::put(tx, &policy, &by.author, &by.note, by.made_at).map_err(told)?;
        Ok(())
    }

    fn tell(&self, tx: &mut Tx<'_>, change: &FileChange, by: &Authorship) -> Result<()> {
        let keys: Vec<&str> = change.fields.iter().map(|field| field.key.as_str()).collect();
        let entry = NewEntry {
            actor: Actor::new(ActorKind::Operator, by.author.as_str()),
            event: Event::POLICY_CHANGED,
            subject: "policy".to_owned(),
            payload: json!({ "version": change.to, "keys": keys }),
        };
        audit::append(tx, &entry, by.made_at, &self.ids).map_err(told)?;
        Ok(())
    }
}

pub(super) fn told(error: munshi_safety::Error) -> Error {
    match error {
        munshi_safety::Error::Store(error) => Error::Store(error),
        other => Error::Unreadable(other.to_string()),
    }
}

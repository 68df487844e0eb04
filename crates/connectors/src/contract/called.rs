//! What only calling shows.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{ConnectorFinding, ConnectorTest, ConnectorVerdict, Said, WriteTestMode, sample};
use crate::error::Error;
use crate::link::{ConnectorCallError, ConnectorSession};
use crate::manifest::ConnectorManifest;

/// A tool that is called, or a ping, may take so long.
const PATIENCE: Duration = Duration::from_secs(15);
/// So many tools are called at most.
const MOST_CALLS: usize = 12;
/// Longer results have to be cut or paged.
const LARGE: usize = 100 * 1024;
/// No secret, but as shaped as one: whoever repeats it repeats others.
const CANARY: &str = "mcp-canary-7f3a9c2e51d84b60";

pub(super) async fn findings(
    trial: &ConnectorTest,
    session: &ConnectorSession,
    manifest: &ConnectorManifest,
    tools: &[Said<'_>],
) -> Vec<ConnectorFinding> {
    let seen = look(session, tools).await;
    vec![
        health(session, tools).await,
        no_leak(&seen),
        large(&seen),
        idempotent(trial, session, tools).await,
        unknown_tool(session).await,
        wrong_arguments(session, tools).await,
        cancelled(session, tools).await,
        steady(session, manifest).await,
    ]
}

/// What a call gave: its size, and whether the canary was in it.
struct Seen {
    tool: String,
    bytes: usize,
    echoes: bool,
    is_marked: bool,
    was_given: bool,
}

async fn call(
    session: &ConnectorSession,
    tool: &str,
    arguments: Map<String, Value>,
    key: Option<String>,
) -> Result<String, ConnectorCallError> {
    match timeout(PATIENCE, session.call(tool, arguments, key)).await {
        Ok(Ok(result)) => Ok(serde_json::to_string(&result).unwrap_or_default()),
        Ok(Err(broken)) => Err(broken),
        Err(_) => Err(ConnectorCallError::Lost(format!("no answer within {} s", PATIENCE.as_secs()))),
    }
}

/// Whether a result says that it failed.
fn has_failed(result: &str) -> bool {
    let read: Value = serde_json::from_str(result).unwrap_or_default();
    read.get("isError") == Some(&Value::Bool(true))
}

/// Calls tools that only look, with arguments that fit; those that the operator gave come first.
async fn look(session: &ConnectorSession, tools: &[Said<'_>]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let given = |tool: &Said<'_>| tool.own.and_then(|own| own.attempt.clone());
    let mut order: Vec<&Said<'_>> = tools.iter().filter(|tool| tool.only_looks()).collect();
    order.sort_by_key(|tool| given(tool).is_none());
    for tool in order.into_iter().take(MOST_CALLS) {
        let made = given(tool).or_else(|| sample::arguments(&tool.listed.schema, CANARY));
        let Some(arguments) = made else { continue };
        let was_given = Value::Object(arguments.clone()).to_string().contains(CANARY);
        let text = match call(session, tool.name, arguments, None).await {
            Ok(text) => text,
            Err(ConnectorCallError::Refused { words, .. }) => words,
            Err(ConnectorCallError::TooLong) => "x".repeat(LARGE + 1),
            Err(ConnectorCallError::Lost(_) | ConnectorCallError::NotIn | ConnectorCallError::NotSent(_)) => {
                continue;
            }
        };
        let is_marked = ["truncat", "nextCursor", "next_cursor", "has_more", "more results"]
            .iter()
            .any(|mark| text.contains(mark));
        let echoes = text.contains(CANARY);
        seen.push(Seen { tool: tool.name.to_owned(), bytes: text.len(), echoes, is_marked, was_given });
    }
    seen
}

async fn health(session: &ConnectorSession, tools: &[Said<'_>]) -> ConnectorFinding {
    if let Some(tool) = tools.iter().find(|tool| tool.name == "healthcheck") {
        let arguments = sample::arguments(&tool.listed.schema, "test").unwrap_or_default();
        return match call(session, tool.name, arguments, None).await {
            Ok(text) if has_failed(&text) => ConnectorFinding::new(
                "healthcheck",
                ConnectorVerdict::Fail,
                "its healthcheck tool says that it is not well",
            ),
            Ok(_) => ConnectorFinding::pass("healthcheck", "its healthcheck tool answers"),
            Err(broken) => ConnectorFinding::new(
                "healthcheck",
                ConnectorVerdict::Fail,
                format!("its healthcheck tool does not answer: {broken}"),
            ),
        };
    }
    match session.is_alive(PATIENCE).await {
        true => ConnectorFinding::pass("healthcheck", "it answers the protocol's ping"),
        false => ConnectorFinding::new(
            "healthcheck",
            ConnectorVerdict::Fail,
            "it answers neither ping nor a healthcheck tool",
        )
        .advised("answer ping; without it a connector that hangs is only noticed by whoever waits"),
    }
}

/// A look repeats what it was asked for only at the risk of repeating a secret.
fn no_leak(seen: &[Seen]) -> ConnectorFinding {
    let asked: Vec<&Seen> = seen.iter().filter(|seen| seen.was_given).collect();
    if asked.is_empty() {
        return ConnectorFinding::skipped(
            "no_leak",
            "no tool that only looks takes a text that could be made up",
        );
    }
    let echo: Vec<String> = asked.iter().filter(|seen| seen.echoes).map(|seen| seen.tool.clone()).collect();
    ConnectorFinding::of(
        "no_leak",
        &echo,
        ("nothing that was passed in comes back", "these repeat what they were given, in results or errors"),
        ConnectorVerdict::Doubtful,
        "don't repeat arguments: what is passed in may be a secret (secrets from the vault are hidden in results by us)",
    )
}

fn large(seen: &[Seen]) -> ConnectorFinding {
    let over: Vec<String> = seen
        .iter()
        .filter(|seen| seen.bytes > LARGE && !seen.is_marked)
        .map(|seen| seen.tool.clone())
        .collect();
    match (seen.iter().map(|seen| seen.bytes).max(), over.is_empty()) {
        (None, _) => ConnectorFinding::skipped(
            "large_result",
            "nothing was called; give a tool `try` arguments that ask for much",
        ),
        (Some(most), true) => ConnectorFinding::pass(
            "large_result",
            format!("the longest of {} results had {most} bytes", seen.len()),
        ),
        (Some(_), false) => ConnectorFinding::of(
            "large_result",
            &over,
            ("", "results over 100 KB without a mark that they were cut"),
            ConnectorVerdict::Fail,
            "cut or page results past 100 KB, and say so in the result",
        ),
    }
}

/// The same key twice does it once: the second answer is the first.
async fn idempotent(
    trial: &ConnectorTest,
    session: &ConnectorSession,
    tools: &[Said<'_>],
) -> ConnectorFinding {
    const CHECK: &str = "idempotency";
    let tried: Vec<_> = tools
        .iter()
        .filter(|tool| !tool.only_looks())
        .filter_map(|tool| Some((tool, tool.own?.attempt.clone()?)))
        .collect();
    if tried.is_empty() || trial.writes == WriteTestMode::Never {
        return ConnectorFinding::skipped(
            CHECK,
            "no write was called: give one `try` arguments in connectors.toml and add --write",
        );
    }
    let (mut differ, mut failed) = (Vec::new(), Vec::new());
    for (tool, mut arguments) in tried {
        let key = format!("{CANARY}-{}", trial.clock.now().as_millis());
        if let Some(argument) = tool.key() {
            arguments.insert(argument, Value::String(key.clone()));
        }
        let first = call(session, tool.name, arguments.clone(), Some(key.clone())).await;
        let second = call(session, tool.name, arguments, Some(key)).await;
        match (&first, &second) {
            (Ok(one), Ok(other)) if one == other && has_failed(one) => failed.push(tool.name.to_owned()),
            (Ok(one), Ok(other)) if one == other => {}
            _ => differ.push(tool.name.to_owned()),
        }
    }
    if differ.is_empty() && !failed.is_empty() {
        let words =
            format!("nothing was learned: these fail with what `try` says: {}", super::several(&failed));
        return ConnectorFinding::new(CHECK, ConnectorVerdict::Doubtful, words)
            .advised("give `try` arguments that it can do");
    }
    ConnectorFinding::of(
        CHECK,
        &differ,
        ("the same key gave the same answer", "the same key did not give the same answer, or none"),
        ConnectorVerdict::Fail,
        "remember keys, and answer a known one with what was answered before",
    )
}

async fn unknown_tool(session: &ConnectorSession) -> ConnectorFinding {
    const CHECK: &str = "unknown_tool";
    match call(session, "no_such_tool_here", Map::new(), None).await {
        Err(ConnectorCallError::Refused { .. }) => {
            ConnectorFinding::pass(CHECK, "a tool that is not there is refused")
        }
        Ok(text) if has_failed(&text) => ConnectorFinding::pass(CHECK, "a tool that is not there is refused"),
        Ok(_) => {
            ConnectorFinding::new(CHECK, ConnectorVerdict::Fail, "it answered for a tool that is not there")
        }
        Err(broken) => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Fail,
            format!("it broke over a tool that is not there: {broken}"),
        ),
    }
}

async fn wrong_arguments(session: &ConnectorSession, tools: &[Said<'_>]) -> ConnectorFinding {
    const CHECK: &str = "wrong_arguments";
    let demanding = |tool: &&Said<'_>| {
        let required = tool.listed.schema.get("required").and_then(Value::as_array);
        tool.only_looks() && required.is_some_and(|required| !required.is_empty())
    };
    let Some(tool) = tools.iter().find(demanding) else {
        return ConnectorFinding::skipped(CHECK, "no tool that only looks requires an argument");
    };
    match call(session, tool.name, Map::new(), None).await {
        Err(ConnectorCallError::Refused { .. }) => {
            ConnectorFinding::pass(CHECK, format!("{} refuses a call without its arguments", tool.name))
        }
        Ok(text) if has_failed(&text) => {
            ConnectorFinding::pass(CHECK, format!("{} refuses a call without its arguments", tool.name))
        }
        Ok(_) => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Doubtful,
            format!("{} answers without its required arguments", tool.name),
        ),
        Err(broken) => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Fail,
            format!("{} broke without its arguments: {broken}", tool.name),
        ),
    }
}

/// A call that nobody waits for any more must not take the connector along.
async fn cancelled(session: &ConnectorSession, tools: &[Said<'_>]) -> ConnectorFinding {
    const CHECK: &str = "cancelled";
    let found = tools
        .iter()
        .filter(|tool| tool.only_looks())
        .find_map(|tool| Some((tool.name, sample::arguments(&tool.listed.schema, CANARY)?)));
    let Some((name, arguments)) = found else {
        return ConnectorFinding::skipped(CHECK, "no tool that only looks can be called");
    };
    let _ = timeout(Duration::from_millis(1), session.call(name, arguments, None)).await;
    match session.is_alive(PATIENCE).await {
        true => ConnectorFinding::pass(CHECK, "it goes on after a call was given up"),
        false => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Fail,
            "it no longer answers after a call was given up",
        )
        .advised("take notifications/cancelled, or let it pass"),
    }
}

async fn steady(session: &ConnectorSession, manifest: &ConnectorManifest) -> ConnectorFinding {
    let listed = timeout(PATIENCE, session.list()).await;
    let slow =
        |_| Error::TooSlow(format!("it does not list its tools again within {} s", PATIENCE.as_secs()));
    match listed.map_err(slow).flatten() {
        Ok(again) if again.hash == manifest.hash => {
            ConnectorFinding::pass("steady", "its list of tools stays the same")
        }
        Ok(_) => {
            ConnectorFinding::new("steady", ConnectorVerdict::Fail, "its list of tools changed by itself")
                .advised("a list that changes puts the connector back to looking until a person accepts it")
        }
        Err(error) => ConnectorFinding::new("steady", ConnectorVerdict::Fail, error.to_string()),
    }
}

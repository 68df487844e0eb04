//! What only calling shows.

use std::time::Duration;

use munshi_mcp::McpCallError;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{ConnectorFinding, ConnectorTest, ConnectorVerdict, Said, WriteTestMode, sample};
use crate::error::Error;
use crate::manifest::ConnectorManifest;
use crate::transport::ConnectorSession;

/// A tool that is called, or a ping, may take so long.
const TIMEOUT: Duration = Duration::from_secs(15);
/// So many tools are called at most.
const MOST_CALLS: usize = 12;
/// Longer results have to be cut or paged.
const LARGE: usize = 100 * 1024;
/// No secret, but as shaped as one: whoever repeats it repeats others.
const CANARY: &str = "mcp-canary-7f3a9c2e51d84b60";

pub(super) async fn run(
    trial: &ConnectorTest,
    session: &ConnectorSession,
    manifest: &ConnectorManifest,
    tools: &[Said<'_>],
) -> Vec<ConnectorFinding> {
    let seen = probe_tools(session, tools).await;
    vec![
        check_health(session, tools).await,
        check_leaks(&seen),
        check_result_size(&seen),
        check_idempotency(trial, session, tools).await,
        check_unknown_tool(session).await,
        check_wrong_arguments(session, tools).await,
        check_cancellation(session, tools).await,
        check_stability(session, manifest).await,
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
) -> Result<String, McpCallError> {
    match timeout(TIMEOUT, session.client.call(tool, arguments, key)).await {
        Ok(Ok(result)) => Ok(serde_json::to_string(&result).unwrap_or_default()),
        Ok(Err(broken)) => Err(broken),
        Err(_) => Err(McpCallError::Lost(format!("no answer within {} s", TIMEOUT.as_secs()))),
    }
}

/// Whether a result says that it failed.
fn has_failed(result: &str) -> bool {
    let read: Value = serde_json::from_str(result).unwrap_or_default();
    read.get("isError") == Some(&Value::Bool(true))
}

/// Calls tools that only look, with arguments that fit; those that the operator gave come first.
async fn probe_tools(session: &ConnectorSession, tools: &[Said<'_>]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let given = |tool: &Said<'_>| tool.own.and_then(|own| own.attempt.clone());
    let mut order: Vec<&Said<'_>> = tools.iter().filter(|tool| tool.is_read_only()).collect();
    order.sort_by_key(|tool| given(tool).is_none());
    for tool in order.into_iter().take(MOST_CALLS) {
        let made = given(tool).or_else(|| sample::arguments(&tool.listed.schema, CANARY));
        let Some(arguments) = made else { continue };
        let was_given = Value::Object(arguments.clone()).to_string().contains(CANARY);
        let text = match call(session, tool.name, arguments, None).await {
            Ok(text) => text,
            Err(McpCallError::Refused { words, .. }) => words,
            Err(McpCallError::TooLong) => "x".repeat(LARGE + 1),
            Err(McpCallError::Lost(_) | McpCallError::NotIn | McpCallError::NotSent(_)) => {
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

async fn check_health(session: &ConnectorSession, tools: &[Said<'_>]) -> ConnectorFinding {
    if let Some(tool) = tools.iter().find(|tool| tool.name == "healthcheck") {
        let arguments = sample::arguments(&tool.listed.schema, "test").unwrap_or_default();
        return match call(session, tool.name, arguments, None).await {
            Ok(text) if has_failed(&text) => ConnectorFinding::new(
                "healthcheck",
                ConnectorVerdict::Fail,
                "the healthcheck tool reports a failure",
            ),
            Ok(_) => ConnectorFinding::pass("healthcheck", "the healthcheck tool answers"),
            Err(broken) => ConnectorFinding::new(
                "healthcheck",
                ConnectorVerdict::Fail,
                format!("the healthcheck tool does not answer: {broken}"),
            ),
        };
    }
    match session.client.is_alive(TIMEOUT).await {
        true => ConnectorFinding::pass("healthcheck", "ping is answered"),
        false => ConnectorFinding::new(
            "healthcheck",
            ConnectorVerdict::Fail,
            "no answer to ping, and no healthcheck tool",
        )
        .with_advice("answer ping; without it a hanging connector is noticed only when a call times out"),
    }
}

/// A look repeats what it was asked for only at the risk of repeating a secret.
fn check_leaks(seen: &[Seen]) -> ConnectorFinding {
    let asked: Vec<&Seen> = seen.iter().filter(|seen| seen.was_given).collect();
    if asked.is_empty() {
        return ConnectorFinding::skipped("no_leak", "no read-only tool takes text that could be generated");
    }
    let echo: Vec<String> = asked.iter().filter(|seen| seen.echoes).map(|seen| seen.tool.clone()).collect();
    ConnectorFinding::from_violations(
        "no_leak",
        &echo,
        ("no arguments are repeated in results", "these repeat their arguments in results or errors"),
        ConnectorVerdict::Doubtful,
        "don't repeat arguments: they may contain secrets (Munshi redacts vault secrets in results)",
    )
}

fn check_result_size(seen: &[Seen]) -> ConnectorFinding {
    let over: Vec<String> = seen
        .iter()
        .filter(|seen| seen.bytes > LARGE && !seen.is_marked)
        .map(|seen| seen.tool.clone())
        .collect();
    match (seen.iter().map(|seen| seen.bytes).max(), over.is_empty()) {
        (None, _) => ConnectorFinding::skipped(
            "large_result",
            "nothing was called; give a tool `try` arguments that return a large result",
        ),
        (Some(most), true) => ConnectorFinding::pass(
            "large_result",
            format!("the largest of {} results had {most} bytes", seen.len()),
        ),
        (Some(_), false) => ConnectorFinding::from_violations(
            "large_result",
            &over,
            ("", "results over 100 KB without a truncation mark"),
            ConnectorVerdict::Fail,
            "truncate or page results over 100 KB, and say so in the result",
        ),
    }
}

/// The same key twice does it once: the second answer is the first.
async fn check_idempotency(
    trial: &ConnectorTest,
    session: &ConnectorSession,
    tools: &[Said<'_>],
) -> ConnectorFinding {
    const CHECK: &str = "idempotency";
    let tried: Vec<_> = tools
        .iter()
        .filter(|tool| !tool.is_read_only())
        .filter_map(|tool| Some((tool, tool.own?.attempt.clone()?)))
        .collect();
    if tried.is_empty() || trial.writes == WriteTestMode::Never {
        return ConnectorFinding::skipped(
            CHECK,
            "no write tool was called: give one `try` arguments in connectors.toml and pass --write",
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
            format!("inconclusive: these fail with their `try` arguments: {}", super::join_names(&failed));
        return ConnectorFinding::new(CHECK, ConnectorVerdict::Doubtful, words)
            .with_advice("give `try` arguments that succeed");
    }
    ConnectorFinding::from_violations(
        CHECK,
        &differ,
        ("the same key returned the same result", "the same key returned a different result, or none"),
        ConnectorVerdict::Fail,
        "store keys, and return the earlier result for a known key",
    )
}

async fn check_unknown_tool(session: &ConnectorSession) -> ConnectorFinding {
    const CHECK: &str = "unknown_tool";
    match call(session, "no_such_tool_here", Map::new(), None).await {
        Err(McpCallError::Refused { .. }) => ConnectorFinding::pass(CHECK, "an unknown tool is refused"),
        Ok(text) if has_failed(&text) => ConnectorFinding::pass(CHECK, "an unknown tool is refused"),
        Ok(_) => {
            ConnectorFinding::new(CHECK, ConnectorVerdict::Fail, "a call to an unknown tool was answered")
        }
        Err(broken) => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Fail,
            format!("a call to an unknown tool broke the connection: {broken}"),
        ),
    }
}

async fn check_wrong_arguments(session: &ConnectorSession, tools: &[Said<'_>]) -> ConnectorFinding {
    const CHECK: &str = "wrong_arguments";
    let demanding = |tool: &&Said<'_>| {
        let required = tool.listed.schema.get("required").and_then(Value::as_array);
        tool.is_read_only() && required.is_some_and(|required| !required.is_empty())
    };
    let Some(tool) = tools.iter().find(demanding) else {
        return ConnectorFinding::skipped(CHECK, "no read-only tool requires an argument");
    };
    match call(session, tool.name, Map::new(), None).await {
        Err(McpCallError::Refused { .. }) => ConnectorFinding::pass(
            CHECK,
            format!("{} refuses a call without its required arguments", tool.name),
        ),
        Ok(text) if has_failed(&text) => ConnectorFinding::pass(
            CHECK,
            format!("{} refuses a call without its required arguments", tool.name),
        ),
        Ok(_) => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Doubtful,
            format!("{} answers without its required arguments", tool.name),
        ),
        Err(broken) => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Fail,
            format!("{} failed without its required arguments: {broken}", tool.name),
        ),
    }
}

/// A call that nobody waits for any more must not take the connector along.
async fn check_cancellation(session: &ConnectorSession, tools: &[Said<'_>]) -> ConnectorFinding {
    const CHECK: &str = "cancelled";
    let found = tools
        .iter()
        .filter(|tool| tool.is_read_only())
        .find_map(|tool| Some((tool.name, sample::arguments(&tool.listed.schema, CANARY)?)));
    let Some((name, arguments)) = found else {
        return ConnectorFinding::skipped(CHECK, "no read-only tool can be called");
    };
    let _ = timeout(Duration::from_millis(1), session.client.call(name, arguments, None)).await;
    match session.client.is_alive(TIMEOUT).await {
        true => ConnectorFinding::pass(CHECK, "the connector still answers after a cancelled call"),
        false => ConnectorFinding::new(
            CHECK,
            ConnectorVerdict::Fail,
            "the connector no longer answers after a cancelled call",
        )
        .with_advice("handle notifications/cancelled, or ignore it"),
    }
}

async fn check_stability(session: &ConnectorSession, manifest: &ConnectorManifest) -> ConnectorFinding {
    let listed = timeout(TIMEOUT, session.fetch_manifest()).await;
    let slow = |_| Error::TooSlow(format!("the tools were not listed again within {} s", TIMEOUT.as_secs()));
    match listed.map_err(slow).flatten() {
        Ok(again) if again.hash == manifest.hash => {
            ConnectorFinding::pass("steady", "the list of tools stays the same")
        }
        Ok(_) => ConnectorFinding::new(
            "steady",
            ConnectorVerdict::Fail,
            "the list of tools changed between two requests",
        )
        .with_advice("a changed list makes the connector read-only until a person accepts it"),
        Err(error) => ConnectorFinding::new("steady", ConnectorVerdict::Fail, error.to_string()),
    }
}

//! Calls of a program's own tools: how they are named to it, and how a run goes on from their answers.
//!
//! The run that asked has ended: many programs take the call itself for the answer and never come back. What it had
//! done is carried to the run of whoever does, so that no act of ours is done twice because the program never heard of
//! it.

use munshi_llm::{ChatMessage, ModelMessagePart, ModelRole, ToolCall};
use munshi_store::Tx;
use munshi_types::{Id, IdGenerator, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::rows::find_snapshot;
use super::{ClientCallResult, ClientCallRound, ClientContext};
use crate::error::Result;
use crate::runs::{self, Run};
use crate::snapshot::{ExchangeCall, ExchangeCallOutcome, RunSnapshot, ToolExchange};

/// A call that the program is to make, as it is told and kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCallRequest {
    pub id: String,
    pub tool: String,
    pub arguments: Value,
}

/// What a run goes on from.
#[derive(Debug)]
pub enum ClientResumption {
    /// What the run had done that asked, with the answers in it.
    Ours(Box<RunSnapshot>),
    /// Nobody here asked: what the program says is all there is.
    Theirs(Vec<ClientCallRound>),
}

/// The id of a call: by it the run is found again that asked. No longer than other makers' are.
pub fn call_id(run: RunId, number: usize) -> String {
    format!("call_{}_{number}", run.as_uuid().simple())
}

fn parse_call_id(id: &str) -> Option<(RunId, usize)> {
    let (run, number) = id.strip_prefix("call_")?.split_once('_')?;
    Some((RunId::from_uuid(Uuid::parse_str(run).ok()?), number.parse().ok()?))
}

/// Finds what the answers belong to, for the same person with the same binding and for nobody else.
pub fn find_resumption(
    tx: &mut Tx<'_>,
    run: &Run,
    client_context: &ClientContext,
) -> Result<Option<ClientResumption>> {
    let Some(last) = client_context.since.last() else { return Ok(None) };
    let theirs = || Ok(Some(ClientResumption::Theirs(client_context.since.clone())));
    let Some((by, _)) = last.calls.first().and_then(|call| parse_call_id(&call.id)) else { return theirs() };
    let known = runs::find(tx, by)?.filter(|by| by.person() == run.person() && by.binding() == run.binding());
    let Some(known) = known else { return theirs() };
    let Some(mut snapshot) = find_snapshot(tx, known.id)? else { return theirs() };
    let all = last.calls.iter().all(|call| apply_result(&mut snapshot, known.id, call));
    if all { Ok(Some(ClientResumption::Ours(Box::new(snapshot)))) } else { theirs() }
}

/// False where no such call was handed out.
fn apply_result(snapshot: &mut RunSnapshot, run: RunId, given: &ClientCallResult) -> bool {
    let Some((by, number)) = parse_call_id(&given.id) else { return false };
    let Some(exchange) = snapshot.exchanges.last_mut().filter(|_| by == run) else { return false };
    let is = |call: &&mut ExchangeCall| call.outcome == ExchangeCallOutcome::Handed { number };
    let Some(called) = exchange.calls.iter_mut().find(is) else { return false };
    called.outcome = parse_outcome(&given.answer);
    true
}

fn parse_outcome(answer: &str) -> ExchangeCallOutcome {
    let result = serde_json::from_str(answer).unwrap_or_else(|_| Value::String(answer.to_owned()));
    ExchangeCallOutcome::Ended { ok: true, result }
}

impl ClientResumption {
    /// The snapshot that the run begins with, over one that has nothing in it yet.
    pub fn into_snapshot(
        self,
        mine: RunSnapshot,
        client_context: &ClientContext,
        ids: &IdGenerator,
    ) -> RunSnapshot {
        let theirs = match self {
            Self::Ours(theirs) => *theirs,
            Self::Theirs(since) => {
                let exchanges = since.iter().map(|asked| exchange(asked, client_context, ids)).collect();
                return RunSnapshot { exchanges, ..mine };
            }
        };
        mine.inherit_from(theirs)
    }
}

fn exchange(asked: &ClientCallRound, client_context: &ClientContext, ids: &IdGenerator) -> ToolExchange {
    let alias = |name: &str| {
        let known = client_context.tools.iter().find(|tool| tool.name == name);
        known.and_then(|tool| tool.alias.as_ref()).map_or_else(|| name.to_owned(), ToString::to_string)
    };
    let mut parts = Vec::new();
    if !asked.said.trim().is_empty() {
        parts.push(ModelMessagePart::Text { text: asked.said.clone() });
    }
    let mut calls = Vec::new();
    for call in &asked.calls {
        let (call_id, tool, arguments) = (call.id.clone(), alias(&call.tool), call.arguments.clone());
        parts.push(ModelMessagePart::ToolCall(ToolCall {
            id: call_id.clone(),
            name: tool.clone(),
            arguments: arguments.clone(),
        }));
        let (act, outcome) = (ids.next(), parse_outcome(&call.answer));
        calls.push(ExchangeCall { call_id, tool, arguments, act, outcome });
    }
    ToolExchange { asked: ChatMessage { role: ModelRole::Assistant, parts }, calls }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_leads_back_to_its_run() {
        let run: RunId = IdGenerator::system().next();
        let id = call_id(run, 12);
        assert!(id.len() <= 40, "{id}");
        assert_eq!(parse_call_id(&id), Some((run, 12)));
        for other in ["", "call_1", "call_abc_1", "call_x", &id[..20], &format!("{id}_1")] {
            assert_eq!(parse_call_id(other), None, "{other}");
        }
    }
}

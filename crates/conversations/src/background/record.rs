//! What the record of a run says beside what came of its calls, and the record as events.

use munshi_safety::approvals;
use munshi_store::{JsonText, Tx, params};
use munshi_types::{ActId, ApprovalId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::store::RunResult;
use crate::columns::{read_enum, read_halt, read_optional_sealed_json};
use crate::error::Result;
use crate::event::{BegunRun, RunEvent, WorkEvent};
use crate::runs::{REASON, RESULT};
use crate::state::{HaltReason, RunState};
use crate::steps::{NewRunStep, RunStep};

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStep {
    /// A tool is about to be called; what comes of it is a step of its own.
    Call {
        act: ActId,
        tool: String,
        arguments: Value,
    },
    WaitsUntil(Timestamp),
    Begun(Vec<BegunRun>),
    ChildEnded {
        run: RunId,
        ok: bool,
    },
    /// What was left out, in a few words.
    Skipped(String),
}

impl WorkStep {
    pub fn build(&self, at: Timestamp) -> Result<NewRunStep> {
        let state = match self {
            Self::Call { .. } | Self::Skipped(_) => RunState::Acting,
            Self::WaitsUntil(_) => RunState::WaitingTimer,
            Self::Begun(_) | Self::ChildEnded { .. } => RunState::WaitingChild,
        };
        let body = JsonText::of(self)?.read()?;
        Ok(NewRunStep { state, body, micros: 0, at })
    }
}

/// What a step says of a call that was answered, or waits.
#[derive(Deserialize)]
struct ObservedCall {
    act: ActId,
    tool: String,
    ok: bool,
    result: Value,
}

/// Where a run stands, for those who follow it.
pub struct RecordStatus {
    pub state: RunState,
    pub halt: Option<HaltReason>,
    /// What it ended with; some once it has ended.
    pub ended: Option<RunResult>,
    /// The number of its last step.
    pub last: i64,
}

pub fn find_status(tx: &mut Tx<'_>, run: RunId) -> Result<Option<RecordStatus>> {
    Ok(tx.optional(
        "SELECT state, reason, ended_at, result,
                (SELECT coalesce(max(s.number), 0) FROM run_steps s WHERE s.tenant_id = $1 AND s.run_id = $2) AS last
         FROM runs WHERE tenant_id = $1 AND id = $2",
        params![run],
        |row| {
            let ended_at: Option<Timestamp> = row.get("ended_at")?;
            let result: Option<RunResult> = read_optional_sealed_json(row, "result", RESULT.cell(run))?;
            Ok(RecordStatus {
                state: read_enum(row, "state")?,
                halt: read_halt(row, REASON.cell(run))?,
                ended: ended_at.map(|_| result.unwrap_or_default()),
                last: row.get("last")?,
            })
        },
    )?)
}

/// What a step is to those who follow; none where it tells them nothing.
pub fn read_event(tx: &mut Tx<'_>, step: RunStep) -> Result<Option<RunEvent>> {
    if step.state == RunState::Observing {
        return match serde_json::from_value(step.body) {
            Ok(observed) => read_observed(tx, observed).map(Some),
            Err(_) => Ok(None),
        };
    }
    Ok(match serde_json::from_value::<WorkStep>(step.body) {
        Ok(WorkStep::Call { act, tool, arguments }) => {
            Some(RunEvent::ToolCall { call: act.to_string(), tool, arguments })
        }
        Ok(WorkStep::WaitsUntil(until)) => {
            let waits = WorkEvent::Waiting { reason: "time".to_owned(), until: Some(until) };
            Some(RunEvent::Work(waits))
        }
        Ok(WorkStep::Begun(runs)) => Some(RunEvent::Work(WorkEvent::RunsBegun { runs })),
        Ok(WorkStep::ChildEnded { run, ok }) => Some(RunEvent::Work(WorkEvent::ChildEnded { run, ok })),
        Ok(WorkStep::Skipped(step)) => Some(RunEvent::Work(WorkEvent::Skipped { step })),
        Err(_) => None,
    })
}

fn read_observed(tx: &mut Tx<'_>, observed: ObservedCall) -> Result<RunEvent> {
    let ObservedCall { act, tool, ok, result } = observed;
    let approval: Option<ApprovalId> = serde_json::from_value(result["approval"].clone()).ok();
    let code = result["code"].as_str().unwrap_or_default();
    Ok(match approval {
        Some(approval) if code == "waiting_approval" => {
            let words = approvals::find(tx, approval)?.map(|asked| asked.words).unwrap_or_default();
            RunEvent::Approval { approval, words }
        }
        Some(_) => {
            let until = serde_json::from_value(result["again_at"].clone()).ok();
            RunEvent::Work(WorkEvent::Waiting { reason: code.to_owned(), until })
        }
        None => RunEvent::ToolResult { call: act.to_string(), tool, ok, result, undo: None },
    })
}

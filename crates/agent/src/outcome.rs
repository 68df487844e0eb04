//! What came of a run, as it is stored.

use std::time::Duration;

use munshi_conversations::client_context::ClientCallRequest;
use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::{self, Message, MessageStatus};
use munshi_conversations::runs::{self, Run};
use munshi_conversations::steps::{self, RunStep};
use munshi_conversations::{
    Error, HaltReason, Result, RunEvent, RunState, TurnTimings, TurnUsage, decisions, violations,
};
use munshi_safety::approvals::ApprovalStatus;
use munshi_store::Tx;
use munshi_types::tier::LanguageCode;
use munshi_types::{ApprovalId, MessageId, RunId, SessionId, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::TurnEngine;
use crate::follow::is_ended_or_waiting;

const PAUSE: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunOutcome {
    pub run: RunId,
    pub session: SessionId,
    /// The reply's.
    pub message: Option<MessageId>,
    pub text: String,
    pub language: Option<LanguageCode>,
    pub state: RunState,
    pub halt: Option<HaltReason>,
    pub degraded: bool,
    pub suggestions: Vec<String>,
    pub calls: Vec<ToolCallRecord>,
    /// What the program is to call: it brought these tools itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handed: Vec<ClientCallRequest>,
    /// The reply ends where the model had said as much as it may.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// What it waits for.
    pub approval: Option<ApprovalId>,
    /// Whether the reply asks something that the next message may answer. Whoever shows it says so: see
    /// [`TurnEngine::note_shown`].
    #[serde(skip)]
    pub asks: bool,
    pub usage: TurnUsage,
    pub timings: TurnTimings,
    /// The rules that were broken.
    pub violations: Vec<String>,
}

/// A call of a tool, as its step tells it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCallRecord {
    pub tool: String,
    pub arguments: Value,
    pub ok: bool,
    pub result: Value,
    pub micros: i64,
}

impl TurnEngine {
    /// Waits until the run has ended or waits for a person, and tells what came of it. Of one whose message joined another
    /// turn, what came of that.
    pub async fn wait_for_outcome(&self, tenant: TenantId, run: RunId) -> Result<RunOutcome> {
        let (mut run, mut pause) = (run, PAUSE);
        loop {
            if let Some(run_channel) = self.inner.run_channels.find(tenant, run) {
                // One that somebody forgets, or that hangs, is looked for in the store.
                let ended = run_channel.wait_for_change(|| run_channel.has_ended().then_some(()));
                let _ = tokio::time::timeout(LONGEST, ended).await;
            }
            let found = self.inner.db.read(tenant, move |tx| read(tx, run)).await?;
            match found {
                Some(RunOutcome { halt: Some(HaltReason::Joined(answering)), .. }) => {
                    run = answering;
                    continue;
                }
                Some(outcome) => return Ok(outcome),
                None => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// Notes that a response to the client of a run's message carries this reply of the run. Only what is noted was shown: a
    /// client that hung up, and a process that died, leave nothing that a bare yes answers. Asked for where the reply asks
    /// something, right before the response leaves. Where it can't be written, the person is asked again.
    pub async fn note_shown(&self, tenant: TenantId, run: RunId, reply: MessageId, client: Option<String>) {
        let note = move |tx: &mut Tx<'_>| -> Result<()> {
            match runs::find(tx, run)? {
                Some(run) => Ok(messages::note_answered(tx, run.conversation()?, reply, client.as_deref())?),
                None => Ok(()),
            }
        };
        if let Err(error) = self.inner.db.write(tenant, note).await {
            tracing::warn!(%run, %error, "noting a shown reply failed");
        }
    }
}

/// None while it goes on.
fn read(tx: &mut Tx<'_>, id: RunId) -> Result<Option<RunOutcome>> {
    let run = runs::find(tx, id)?.ok_or(Error::NoRun)?;
    if !is_ended_or_waiting(&run) {
        return Ok(None);
    }
    let reply = run.reply.map(|reply| messages::find(tx, reply)).transpose()?.flatten();
    let steps = steps::list(tx, id)?;
    let cut = steps.iter().any(|step| step.body["cut"] == true);
    let handed = steps.iter().filter_map(|step| parse_client_call(&step.body)).collect();
    let calls = calls(steps);
    let violations = violations::list_rules_of_run(tx, id)?;
    let timings = decisions::find_timings(tx, id)?.unwrap_or_default();
    let approval = find_pending_approval(tx, &run)?;
    let degraded = reply.as_ref().is_some_and(|reply| reply.standing == MessageStatus::Degraded);
    let marks = reply.as_ref().and_then(|reply| ReplyMarks::deserialize(&reply.marks).ok());
    let asks = marks.is_some_and(|marks| marks.asks_something());
    let usage = reply.as_ref().map(usage).unwrap_or_default();
    let (message, text, language, suggestions) = match reply {
        Some(reply) => (Some(reply.id), reply.text, reply.language, reply.suggestions),
        None => Default::default(),
    };
    Ok(Some(RunOutcome {
        run: run.id,
        session: run.conversation()?.session,
        message,
        text,
        language,
        state: run.state,
        halt: run.halt,
        degraded,
        suggestions,
        calls,
        handed,
        cut,
        approval,
        asks,
        usage,
        timings,
        violations,
    }))
}

/// Each once, as it stands: one that waited has a step for that and one for its end.
fn calls(steps: Vec<RunStep>) -> Vec<ToolCallRecord> {
    let mut calls: Vec<(Value, ToolCallRecord)> = Vec::new();
    for step in steps {
        let Some(view) = call(&step.body, step.micros) else { continue };
        let act = step.body["act"].clone();
        match calls.iter_mut().find(|(known, _)| *known == act && !act.is_null()) {
            Some((_, known)) => *known = view,
            None => calls.push((act, view)),
        }
    }
    calls.into_iter().map(|(_, view)| view).collect()
}

fn call(body: &Value, micros: i64) -> Option<ToolCallRecord> {
    Some(ToolCallRecord {
        tool: body.get("tool")?.as_str()?.to_owned(),
        arguments: body.get("arguments")?.clone(),
        ok: body.get("ok")?.as_bool()?,
        result: body.get("result")?.clone(),
        micros,
    })
}

fn parse_client_call(body: &Value) -> Option<ClientCallRequest> {
    serde_json::from_value(body.get("handed")?.clone()).ok()
}

/// As followers were told.
fn usage(reply: &Message) -> TurnUsage {
    let marks: ReplyMarks = serde_json::from_value(reply.marks.clone()).unwrap_or_default();
    let last = marks.events.into_iter().next_back().map(|mark| mark.event);
    match last {
        Some(RunEvent::Done { usage, .. }) => usage,
        _ => TurnUsage::default(),
    }
}

fn find_pending_approval(tx: &mut Tx<'_>, run: &Run) -> Result<Option<ApprovalId>> {
    if run.state != RunState::WaitingApproval {
        return Ok(None);
    }
    let pending =
        munshi_safety::approvals::list_pending(tx, munshi_types::Id::as_uuid(run.conversation()?.session))?;
    let waits = |id: ApprovalId| {
        run.snapshot.iter_calls().any(|called| {
            matches!(called.outcome, munshi_conversations::snapshot::ExchangeCallOutcome::Waiting { approval, .. } if approval == id)
        })
    };
    let open = pending.iter().filter(|known| known.state == ApprovalStatus::Pending && waits(known.id));
    Ok(open.map(|approval| approval.id).next_back())
}

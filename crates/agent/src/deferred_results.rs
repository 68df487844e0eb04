//! Acts that a turn no longer waits for: they go on by themselves, and what comes of them is told in the conversation, once.
//!
//! Whoever ends such an act tells of it in the very transaction that writes its end down: the process that began it, or,
//! after a crash, whichever takes the act up by what it does to the world. That it failed is said in our own words at once. A
//! result is somebody else's: it makes a run of its own, in which it is worded and checked as every reply is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use munshi_conversations::commit::{self, CommittedTurn, TurnCommit};
use munshi_conversations::runs::{self, NewRun, Run};
use munshi_conversations::sessions::{self, Session};
use munshi_conversations::snapshot::{
    EpochStamp, ExchangeCall, ExchangeCallOutcome, OWN_CALL, ToolExchange, build_call_message,
};
use munshi_conversations::{Error, Result, RunSnapshot, late_acts};
use munshi_safety::acts::{self, ActDecision, ActState};
use munshi_store::Tx;
use munshi_tools::{ActJournal, ToolAnswer};
use munshi_types::{ActId, RunId};
use serde_json::Value;

use crate::engine::TurnEngineInner;
use crate::notify::{self, ConversationNotice};
use crate::phrases::log_unrendered;

/// Of a result, in letters.
const LONGEST: usize = 1_500;
const DEEPEST: usize = 4;

/// Tells what came of an act that nobody waits for. False where somebody does.
pub(crate) fn notify_result(tx: &mut Tx<'_>, inner: &TurnEngineInner, answer: &ToolAnswer) -> Result<bool> {
    let Some(act) = find_act_id(answer) else { return Ok(false) };
    let Some(run) = late_acts::take(tx, act)? else { return Ok(false) };
    tell(tx, inner, run, answer)?;
    Ok(true)
}

/// Stores the end of a turn. Of its unfinished acts those that ended since it last looked have nobody left to tell of them,
/// so they are told here.
pub(crate) fn save_turn(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    response: &TurnCommit,
) -> Result<CommittedTurn> {
    let stored = commit::save_turn(tx, &inner.ingest_services, response)?;
    if let Some(finished) = &response.finished {
        inner.packs.run_turn_hooks(tx, finished, &inner.ingest_services.queue)?;
    }
    for act in &stored.ended {
        let Some(act) = acts::find(tx, *act)? else { continue };
        if matches!(act.state, ActState::Applied | ActState::Failed | ActState::Unknown) {
            let answer = inner.dispatcher.load_answer(tx, act)?;
            tell(tx, inner, response.lease.run, &answer)?;
        }
    }
    Ok(stored)
}

fn tell(tx: &mut Tx<'_>, inner: &TurnEngineInner, run: RunId, answer: &ToolAnswer) -> Result<()> {
    let Some(run) = runs::find(tx, run)? else { return Ok(()) };
    let Some(conversation) = &run.conversation else { return Ok(()) };
    let Some(session) = sessions::find_current(tx, conversation.session)? else { return Ok(()) };
    let voice = notify::find_voice(tx, &session)?;
    let phrase = match answer {
        ToolAnswer::Done(_) => return start_follow_up_run(tx, inner, &run, &session, answer),
        ToolAnswer::Unknown { .. } => "late-unknown",
        _ => "late-failed",
    };
    let text = log_unrendered(inner.phrasebook.render(phrase, voice, &[]), phrase).unwrap_or_default();
    let tainted = answer.taint_sources();
    let notice = ConversationNotice { text, tainted, ..ConversationNotice::default() };
    notify::post_notice(tx, inner, &session, run.id, notice)
}

/// A run that goes on where the other left off, as if the result had just come: anybody may take it up at once.
fn start_follow_up_run(
    tx: &mut Tx<'_>,
    inner: &TurnEngineInner,
    run: &Run,
    session: &Session,
    answer: &ToolAnswer,
) -> Result<()> {
    let conversation = run.conversation()?;
    let Some(act) = find_act_id(answer) else { return Ok(()) };
    let Some(known) = acts::find(tx, act)? else { return Ok(()) };
    let now = inner.clock.now();
    let asked = build_call_message(&known.tool, known.arguments.clone());
    let called = ExchangeCall {
        call_id: OWN_CALL.to_owned(),
        tool: known.tool,
        arguments: known.arguments,
        act,
        outcome: ExchangeCallOutcome::Open,
    };
    let mut snapshot = RunSnapshot {
        exchanges: vec![ToolExchange { asked, calls: vec![called] }],
        taint: known.rests_on.taint,
        calls: 1,
        is_read: run.snapshot.is_read,
        ..RunSnapshot::default()
    };
    snapshot.record_answer((0, 0), answer, EpochStamp { epoch: 1, now });
    let new = NewRun {
        id: inner.ids.next(),
        session: session.id,
        number: conversation.number,
        binding: conversation.binding,
        person: conversation.person,
        message: conversation.message,
        kind: runs::LATE,
        key_use: run.key_use.as_ref(),
        channel: conversation.channel,
        outside_id: &format!("late {act}"),
        reply_to: session.reply_to.as_ref(),
        reservation: None,
        holder: None,
        may_begin: true,
        now,
    };
    runs::add_unclaimed(tx, &new, &snapshot)?;
    Ok(())
}

fn find_act_id(answer: &ToolAnswer) -> Option<ActId> {
    match answer {
        ToolAnswer::Done(seen) | ToolAnswer::Rehearsed(seen) => Some(seen.act),
        ToolAnswer::Failed { act, .. }
        | ToolAnswer::Unknown { act, .. }
        | ToolAnswer::Dropped { act, .. } => Some(*act),
        ToolAnswer::Waiting(_)
        | ToolAnswer::Refused(_)
        | ToolAnswer::NotKept { .. }
        | ToolAnswer::Running { .. }
        | ToolAnswer::Working { .. } => None,
    }
}

/// A result in words: texts as they are, fields a line each.
pub(crate) fn render_result(value: &Value) -> String {
    let mut lines = Vec::new();
    write(value, None, DEEPEST, &mut lines);
    let text = lines.join("\n");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn write(value: &Value, name: Option<&str>, levels: usize, lines: &mut Vec<String>) {
    let line = |text: String| match name {
        Some(name) => format!("{}: {text}", name.replace('_', " ")),
        None => text,
    };
    match value {
        Value::Null => {}
        Value::String(text) => lines.push(line(text.clone())),
        Value::Bool(_) | Value::Number(_) => lines.push(line(value.to_string())),
        _ if levels == 0 => lines.push(line("…".to_owned())),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let plain =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            lines.push(line(plain.collect::<Vec<_>>().join(", ")));
        }
        Value::Array(items) => items.iter().for_each(|item| write(item, name, levels - 1, lines)),
        Value::Object(fields) => {
            fields.iter().for_each(|(field, item)| write(item, Some(field), levels - 1, lines));
        }
    }
}

/// The journal of a call that its turn may leave: then its end is told in the conversation, and is none of the run's.
pub(crate) struct DetachableJournal {
    pub(crate) inner: Arc<TurnEngineInner>,
    pub(crate) journal: Arc<dyn ActJournal>,
    /// Whether it was told so.
    pub(crate) is_told: AtomicBool,
}

impl ActJournal for DetachableJournal {
    fn record_decision(&self, tx: &mut Tx<'_>, begun: &ActDecision) -> munshi_store::Result<()> {
        self.journal.record_decision(tx, begun)
    }

    fn record_answer(&self, tx: &mut Tx<'_>, answer: &ToolAnswer) -> munshi_store::Result<()> {
        match notify_result(tx, &self.inner, answer).map_err(Error::into_store)? {
            true => {
                self.is_told.store(true, Ordering::SeqCst);
                Ok(())
            }
            false => self.journal.record_answer(tx, answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_is_told_in_words() {
        let value = json!({ "status": 200, "body": { "order_id": "o-7", "items": ["tea", 2], "gone": null,
            "lines": [{ "what": "rice" }] } });
        assert_eq!(render_result(&value), "items: tea, 2\nwhat: rice\norder id: o-7\nstatus: 200");
        assert_eq!(render_result(&json!({ "text": "All is well." })), "text: All is well.");
        let long = render_result(&json!("क".repeat(5_000)));
        assert!(long.chars().count() == LONGEST + 1 && long.ends_with('…'));
        let deep = (0..50).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert_eq!(render_result(&deep), "a: …");
    }
}

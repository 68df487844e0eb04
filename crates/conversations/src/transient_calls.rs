//! Calls whose results are not kept: a snapshot has only that they were made, so whoever takes it up makes them again.

use munshi_tools::ResultStandIn;
use munshi_types::{ActId, HAND_OVER};

use crate::event::RunEvent;
use crate::marks::ReplyMark;
use crate::snapshot::{CallIndex, ExchangeCall, ExchangeCallOutcome, RunSnapshot};

/// So often the calls of a run are made anew: each may cost something, and a run that comes no further could go on for ever.
const MOST_REOPENED: u32 = 3;

impl RunSnapshot {
    /// Takes back that these calls were answered, for whoever goes on with the run without having heard them: they will be answered again
    /// once a model is to be told. What was asked before the conversation was handed on is not asked again for those who have it now.
    pub fn void_not_kept(&mut self) {
        let own: Vec<ActId> = self.own_calls().map(|called| called.act).collect();
        self.not_kept.retain(|act| own.contains(act));
        if self.reopened < MOST_REOPENED {
            let is_not_kept = |called: &&ExchangeCall| self.not_kept.contains(&called.act);
            let voided: Vec<String> =
                self.own_calls().filter(is_not_kept).map(|called| called.call_id.clone()).collect();
            self.marks.retain(|mark| !is_void(mark, &voided));
        }
    }

    /// Opens those anew that nobody here has heard, right before a model is told what they came to. Says whether there are any.
    pub fn reopen_not_kept(&mut self, is_heard: impl Fn(ActId) -> bool) -> bool {
        let unheard: Vec<ActId> = self.not_kept.iter().copied().filter(|act| !is_heard(*act)).collect();
        if unheard.is_empty() || self.reopened >= MOST_REOPENED {
            return false;
        }
        self.reopened += 1;
        self.not_kept.retain(|act| !unheard.contains(act));
        let calls = self.exchanges.iter_mut().flat_map(|exchange| &mut exchange.calls);
        for called in calls.filter(|called| unheard.contains(&called.act)) {
            called.outcome = ExchangeCallOutcome::Open;
        }
        true
    }

    /// Those since the conversation was handed on last.
    fn own_calls(&self) -> impl Iterator<Item = &ExchangeCall> {
        let handed_on = self.exchanges.iter().rposition(|exchange| exchange.calls.iter().any(is_handed_on));
        let own = handed_on.map_or(0, |last| last + 1);
        self.exchanges.iter().skip(own).flat_map(|exchange| &exchange.calls)
    }

    /// Gives a call another act, where what came of the one it had can't be told any more.
    pub fn renew_act(&mut self, (exchange, call): CallIndex, act: ActId) -> Option<ExchangeCall> {
        let called = self.exchanges.get_mut(exchange)?.calls.get_mut(call)?;
        called.act = act;
        Some(called.clone())
    }
}

fn is_handed_on(called: &ExchangeCall) -> bool {
    called.tool == HAND_OVER && matches!(called.outcome, ExchangeCallOutcome::Ended { ok: true, .. })
}

/// Whether a mark tells that one of these calls was answered, which it will be again.
fn is_void(mark: &ReplyMark, voided: &[String]) -> bool {
    let RunEvent::ToolResult { call, ok: true, result, .. } = &mark.event else { return false };
    result["code"] == ResultStandIn::CODE && voided.contains(call)
}

#[cfg(test)]
mod tests {
    use munshi_types::IdGenerator;
    use serde_json::json;

    use super::*;
    use crate::snapshot::{ToolExchange, build_call_message};

    fn exchange(call_id: &str, tool: &str, act: ActId) -> ToolExchange {
        let result = json!({ "ok": true, "code": ResultStandIn::CODE });
        ToolExchange {
            asked: build_call_message(tool, json!({})),
            calls: vec![ExchangeCall {
                call_id: call_id.to_owned(),
                tool: tool.to_owned(),
                arguments: json!({}),
                act,
                outcome: ExchangeCallOutcome::Ended { ok: true, result },
            }],
        }
    }

    fn mark(call: &str) -> ReplyMark {
        let (call, tool) = (call.to_owned(), "find_record".to_owned());
        let result = json!({ "ok": true, "code": ResultStandIn::CODE });
        let event = RunEvent::ToolResult { call, tool, ok: true, result, undo: None };
        ReplyMark { number: 0, offset: 0, event }
    }

    #[test]
    fn what_was_not_kept_is_open_again_unless_others_have_the_conversation_now() {
        let ids = IdGenerator::system();
        let (before, after, kept): (ActId, ActId, ActId) = (ids.next(), ids.next(), ids.next());
        let mut snapshot = RunSnapshot {
            exchanges: vec![
                exchange("1", "find_record", before),
                exchange("2", HAND_OVER, ids.next()),
                exchange("3", "find_record", after),
                exchange("4", "today", kept),
            ],
            marks: vec![mark("1"), mark("3"), mark("4")],
            not_kept: vec![before, after],
            ..RunSnapshot::default()
        };
        snapshot.void_not_kept();
        assert_eq!(snapshot.marks, [mark("1"), mark("4")]);
        assert!(!snapshot.reopen_not_kept(|act| act == after), "whoever heard it asks no more");
        assert!(snapshot.reopen_not_kept(|_| false));
        let open = |called: &&ExchangeCall| called.outcome == ExchangeCallOutcome::Open;
        let opened: Vec<ActId> = snapshot.iter_calls().filter(open).map(|called| called.act).collect();
        assert_eq!(opened, [after]);
        assert!(snapshot.not_kept.is_empty());
        // It comes no further, and asks no more in the end.
        let mut times = 1;
        loop {
            snapshot.not_kept.push(after);
            match snapshot.reopen_not_kept(|_| false) {
                true => times += 1,
                false => break,
            }
        }
        assert_eq!(times, MOST_REOPENED);
    }
}

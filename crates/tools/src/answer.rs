//! What came of a call: for the turn, and for the model.

use std::collections::BTreeSet;

use munshi_safety::acts::{Act, ActOutcome, ActState, Permit, PermitMode, ResultStandIn};
use munshi_safety::approvals::{self, Approval};
use munshi_safety::pipeline::{ActRefusal, TaintSource};
use munshi_store::Tx;
use munshi_types::ActId;
use serde_json::{Value, json};

use crate::error::Result;
use crate::failure_hint::FailureHint;
use crate::handler::ToolOutput;
use crate::registry::Tool;
use crate::result::{Observation, ResultOrigin};

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAnswer {
    Done(Observation),
    /// What would happen.
    Rehearsed(Observation),
    /// A person is asked; the run waits.
    Waiting(Box<Approval>),
    Refused(ActRefusal),
    Failed {
        act: ActId,
        code: String,
        retryable: bool,
        detail: String,
        label: ResultOrigin,
        /// What helps.
        next: Option<Box<FailureHint>>,
        /// What is stored in place of the detail, where what the tool said is not kept.
        stand_in: Option<ResultStandIn>,
    },
    /// It was asked before, and what it said is not kept: only asking anew, as a new act, tells it again.
    NotKept {
        act: ActId,
    },
    /// It may have happened. It is not tried again, and a person is asked.
    Unknown {
        act: ActId,
        detail: String,
    },
    /// A person said no, or nobody answered in time.
    Dropped {
        act: ActId,
        why: ActDropReason,
    },
    /// It is being done at this moment, by this process or another.
    Running {
        act: ActId,
    },
    /// It takes longer than it is waited for. It goes on by itself, and what comes of it is told later.
    Working {
        act: ActId,
    },
}

/// Why an act is not done that a person was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActDropReason {
    /// They said no, or the question was taken back.
    Refused,
    /// Nobody answered in time, or nobody could make use of the yes in time.
    Expired,
}

impl ActDropReason {
    pub const fn code(self) -> &'static str {
        match self {
            Self::Refused => "not_approved",
            Self::Expired => "expired",
        }
    }
}

impl ToolAnswer {
    /// The code of what goes on by itself.
    pub const WORKING: &str = "working";

    /// Whose words the run has read with it, where they are not ours.
    pub fn taint_sources(&self) -> BTreeSet<TaintSource> {
        match self {
            Self::Done(seen) | Self::Rehearsed(seen) => seen.taint_sources(),
            Self::Failed { label, .. } => label.taint_source().into_iter().collect(),
            // What a tool said when it was tried out is shown to whoever is asked, and never told to the model.
            _ => BTreeSet::new(),
        }
    }

    /// Whether it tells the run something that is not for everybody.
    pub const fn reveals_data(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Rehearsed(_) | Self::Failed { .. })
    }

    /// Whether nothing that is stored may say what it says.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Done(seen) | Self::Rehearsed(seen) => seen.stand_in.is_some(),
            Self::Failed { stand_in, .. } => stand_in.is_some(),
            _ => false,
        }
    }

    /// As it is stored: what the model sees, or what stands in for it where that is not kept.
    pub fn render_for_record(&self) -> Value {
        match self {
            Self::Done(Observation { stand_in: Some(stand_in), label, .. })
            | Self::Rehearsed(Observation { stand_in: Some(stand_in), label, .. }) => {
                let mut told = stand_in.to_json();
                told["ok"] = json!(true);
                label.add_source(told)
            }
            Self::Failed { stand_in: Some(stand_in), code, .. } => {
                let mut told = self.render_for_model();
                told["code"] = json!(ResultStandIn::keep_code(code));
                told["detail"] = json!(stand_in.words());
                told
            }
            answer => answer.render_for_model(),
        }
    }

    /// As the model sees it.
    pub fn render_for_model(&self) -> Value {
        let no = |code: &str, retryable: bool, suggestion: &str| json!({ "ok": false, "code": code, "retryable": retryable, "suggestion": suggestion });
        match self {
            Self::Done(seen) => match &seen.mismatch {
                None => seen.label.add_source(json!({ "ok": true, "result": seen.value })),
                Some(what) => {
                    seen.label.add_source(json!({ "ok": true, "result": seen.value, "mismatch": what }))
                }
            },
            Self::Rehearsed(seen) => seen.label.add_source(json!({ "ok": true, "rehearsal": seen.value })),
            Self::Waiting(approval) => {
                json!({ "ok": false, "code": "waiting_approval", "retryable": false, "approval": approval.id,
                        "suggestion": "A person is asked first. Tell them what waits, and do not call it again." })
            }
            Self::Refused(refusal) => refusal.to_model_json(),
            Self::Failed { code, retryable, detail, label, next, .. } => {
                let suggestion = match retryable {
                    true => "It did not work, and may in a while. Say so, and offer to try again later.",
                    false => {
                        "It did not work. Don't repeat it as it is; say what is missing, or answer without."
                    }
                };
                let mut told = no(code, *retryable, suggestion);
                told["detail"] = json!(detail);
                if let Some(next) = next {
                    next.render_into(&mut told);
                }
                label.add_source(told)
            }
            Self::NotKept { .. } => no(
                ResultStandIn::CODE,
                true,
                "It was asked before, and what it said is not kept. Call it again where that is still needed.",
            ),
            Self::Unknown { .. } => no(
                "unknown_outcome",
                false,
                "It broke off and may have happened. Do not call it again; say that somebody will look.",
            ),
            Self::Dropped { why: ActDropReason::Refused, .. } => {
                no(ActDropReason::Refused.code(), false, "It was not approved. Do not try it another way.")
            }
            Self::Dropped { why: ActDropReason::Expired, .. } => no(
                ActDropReason::Expired.code(),
                false,
                "Its time was over. It is not done; do not try it another way.",
            ),
            Self::Working { .. } => json!({ "ok": true, "code": Self::WORKING,
                "suggestion": "It takes longer, and goes on by itself; its result is told here when it is there. Say so, and \
                               do not call it again." }),
            Self::Running { .. } => no("running", true, "It is being done. Wait for its result."),
        }
    }
}

pub(crate) fn render_outcome(outcome: &ActOutcome) -> Option<Value> {
    match outcome {
        ActOutcome::Applied(value) => Some(value.clone()),
        ActOutcome::Failed { code, detail, .. } => {
            Some(json!({ "ok": false, "code": code, "detail": detail }))
        }
        ActOutcome::Unknown { .. } => None,
    }
}

pub(crate) fn build_answer(
    permit: &Permit,
    tool: &Tool,
    outcome: &ActOutcome,
    done: Option<ToolOutput>,
    mismatch: Option<String>,
) -> ToolAnswer {
    let (ActOutcome::Applied(_), Some(ToolOutput { value, undo, sources })) = (outcome, done) else {
        return build_from_outcome(permit, Some(tool), outcome);
    };
    let stand_in = permit.stand_in();
    // What is not kept leaves no way back either, which would say it again.
    let undo = undo.filter(|_| stand_in.is_none());
    let label = ResultOrigin::from_tool(tool);
    let seen = Observation { act: permit.act(), value, label, undo, mismatch, stand_in, sources };
    match permit.mode() {
        PermitMode::Apply => ToolAnswer::Done(seen),
        PermitMode::Rehearse => ToolAnswer::Rehearsed(seen),
    }
}

pub(crate) fn build_from_outcome(permit: &Permit, tool: Option<&Tool>, outcome: &ActOutcome) -> ToolAnswer {
    let label =
        tool.map_or_else(|| ResultOrigin::from_connector(permit.tool().as_str()), ResultOrigin::from_tool);
    let act = permit.act();
    match outcome {
        ActOutcome::Failed { code, retryable, detail, next } => {
            let stand_in = permit.stand_in();
            // A hint leads to questions and searches that are stored.
            let next = parse_hint(next.as_ref(), tool).filter(|_| stand_in.is_none());
            let (code, detail) = (code.clone(), detail.clone());
            ToolAnswer::Failed { act, code, retryable: *retryable, detail, label, next, stand_in }
        }
        ActOutcome::Unknown { detail } => ToolAnswer::Unknown { act, detail: detail.clone() },
        ActOutcome::Applied(value) => {
            let (value, stand_in) = (value.clone(), permit.stand_in());
            let sources = BTreeSet::new();
            ToolAnswer::Done(Observation { act, value, label, undo: None, mismatch: None, stand_in, sources })
        }
    }
}

/// What helps, as it was kept. A later version's kind of help is none.
fn parse_hint(kept: Option<&Value>, tool: Option<&Tool>) -> Option<Box<FailureHint>> {
    let next: FailureHint = serde_json::from_value(kept?.clone()).ok()?;
    Some(Box::new(next.with_search(tool.map(|tool| &tool.known.spec))))
}

/// What is known of an act that was proposed before.
pub(crate) fn load_past_answer(tx: &mut Tx<'_>, act: Act, tool: Option<&Tool>) -> Result<ToolAnswer> {
    if act.is_spent() {
        return Ok(ToolAnswer::NotKept { act: act.id });
    }
    let value = act.result.clone().unwrap_or_default();
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    // Whose words they are is the act's own to say: its connector may be gone, or another bring the tool by now.
    let own = tool.filter(|tool| tool.known.connector.name == act.connector);
    let (id, label) =
        (act.id, own.map_or_else(|| ResultOrigin::from_connector(&act.connector), ResultOrigin::from_tool));
    let next = parse_hint(value.get("next"), tool);
    Ok(match act.state {
        ActState::Applied | ActState::Rehearsed => {
            let (code, detail) = (text("code"), text("detail"));
            let seen = Observation {
                act: id,
                value,
                label: label.clone(),
                undo: None,
                mismatch: None,
                stand_in: None,
                sources: BTreeSet::new(),
            };
            match act.state {
                ActState::Rehearsed if !code.is_empty() => {
                    let stand_in = None;
                    ToolAnswer::Failed { act: id, code, retryable: true, detail, label, next, stand_in }
                }
                ActState::Rehearsed => ToolAnswer::Rehearsed(seen),
                _ => ToolAnswer::Done(seen),
            }
        }
        ActState::Failed => {
            let retryable = value.get("retryable").and_then(Value::as_bool).unwrap_or(false);
            let (code, detail, stand_in) = (text("code"), text("detail"), None);
            ToolAnswer::Failed { act: id, code, retryable, detail, label, next, stand_in }
        }
        ActState::Unknown => ToolAnswer::Unknown { act: id, detail: text("detail") },
        ActState::Dropped => ToolAnswer::Dropped { act: id, why: load_drop_reason(tx, id)? },
        ActState::Refused => ToolAnswer::Failed {
            act: id,
            code: act.code.unwrap_or_default(),
            retryable: false,
            detail: "it was refused before".to_owned(),
            label: ResultOrigin::Own,
            next: None,
            stand_in: None,
        },
        ActState::Waiting => match approvals::find_by_act(tx, id)? {
            Some(approval) => ToolAnswer::Waiting(Box::new(approval)),
            None => ToolAnswer::Running { act: id },
        },
        ActState::Intended | ActState::Rehearsing => ToolAnswer::Running { act: id },
    })
}

fn load_drop_reason(tx: &mut Tx<'_>, act: ActId) -> Result<ActDropReason> {
    let asked = approvals::find_by_act(tx, act)?;
    let has_expired = asked.is_some_and(|approval| approval.state == approvals::ApprovalStatus::Expired);
    Ok(if has_expired { ActDropReason::Expired } else { ActDropReason::Refused })
}

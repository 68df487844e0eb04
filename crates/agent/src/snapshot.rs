//! What a run takes with it over a crash.

use munshi_llm::Message;
use munshi_safety::budget::RunUse;
use munshi_safety::pipeline::Taint;
use munshi_types::{ActId, ApprovalId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::Halt;

/// Everything that was paid for or done so far, and nothing that can be looked up again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// What the model asked of tools and what they answered, the oldest first.
    pub exchanges: Vec<Exchange>,
    pub used: RunUse,
    pub taint: Taint,
    /// What the reply has said before its last model call: words that came with calls of tools.
    pub said: String,
    /// Calls of tools so far, and how often which failed, by tool and canonical arguments.
    pub calls: u32,
    pub failures: Vec<(String, u32)>,
    /// Which beginning of the reply this is.
    pub generation: u32,
    pub started_at: Option<Timestamp>,
    /// Decided, and only the reply is left to be made.
    pub halt: Option<Halt>,
}

/// One model call that led to acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The model's own message: it goes back unchanged.
    pub asked: Message,
    pub calls: Vec<Called>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Called {
    /// The provider's id of the call.
    pub call_id: String,
    pub tool: String,
    /// As the tool gets them: real values.
    pub arguments: Value,
    /// Given before anything is done, and the same after a crash: by it the act happens once.
    pub act: ActId,
    pub outcome: CallOutcome,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum CallOutcome {
    /// Not begun, or begun and its end not known here.
    Open,
    Waiting {
        approval: ApprovalId,
    },
    /// What the model is told of it.
    Ended {
        ok: bool,
        result: Value,
    },
}

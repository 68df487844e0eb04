//! Messages that a pack reads by itself, such as a bank's SMS that was forwarded.

use serde_json::Value;

use crate::turn_context::PackTurnContext;

pub trait PackReader: Send + Sync {
    /// What the message means, if it is one of those this reads. No model is asked then.
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading>;
}

/// What a message was read as.
#[derive(Clone, Debug, PartialEq)]
pub enum PackReading {
    /// A tool to be called, through the whole pipeline; its words are somebody else's, so they taint the run.
    Call { tool: String, arguments: Value },
    /// A phrase to answer with, and its slots.
    Say { phrase: String, slots: Vec<(String, String)> },
}

//! What a pack looks at before an act, after it, and before the reply leaves.

use munshi_safety::acts::Act;
use munshi_safety::pipeline::ActConcern;
use munshi_store::{Result, Tx};
use munshi_types::Timestamp;
use serde_json::Value;

use crate::turn_context::PackTurnContext;

pub trait PackCheck: Send + Sync {
    /// What a person should confirm before this is done; empty is nothing.
    fn check_before_act(
        &self,
        _tx: &mut Tx<'_>,
        _scene: &PackTurnContext,
        _tool: &str,
        _arguments: &Value,
    ) -> Result<Vec<ActConcern>> {
        Ok(Vec::new())
    }

    /// What a question about this act should name that its arguments don't say, such as which entry is the last one. It
    /// asks nothing by itself. `since` is when it was asked for, where it waits: what came later is not meant.
    fn describe_target(
        &self,
        _tx: &mut Tx<'_>,
        _scene: &PackTurnContext,
        (_tool, _arguments): (&str, &Value),
        _since: Option<Timestamp>,
    ) -> Result<Option<ActConcern>> {
        Ok(None)
    }

    /// A person has said no to an act, knowing what it rests on.
    fn on_refused(&self, _tx: &mut Tx<'_>, _act: &Act, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    /// What does not agree after it was done. It is said to the person, never passed over.
    fn check_after_act(
        &self,
        _tx: &mut Tx<'_>,
        _scene: &PackTurnContext,
        _tool: &str,
        _result: &Value,
    ) -> Result<Option<Objection>> {
        Ok(None)
    }

    /// What is wrong with a reply, given what the turn's tools said.
    fn check_reply(&self, _scene: &PackTurnContext, _draft: &str, _results: &[Value]) -> Vec<Objection> {
        Vec::new()
    }
}

/// A phrase that is said after the reply, or in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// What was found, for the record.
    pub what: String,
    pub phrase: String,
    pub slots: Vec<(String, String)>,
    /// Whether the reply must not be sent at all.
    pub replaces: bool,
}

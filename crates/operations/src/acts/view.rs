//! An act as it is shown.

use munshi_safety::acts::{Act, ActUndo};
use munshi_types::{ActId, BindingId, ConsentId, Effect, PersonId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// One call of a tool, from its proposal to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Act)]
pub struct ActView {
    #[schema(value_type = uuid::Uuid)]
    pub id: ActId,
    /// `refused`, `waiting`, `rehearsing`, `rehearsed`, `intended`, `applied`, `failed`, `unknown` or `dropped`.
    pub state: String,
    pub tool: String,
    /// Who brings the tool: a connector or a pack.
    pub connector: String,
    /// What it does to the world: `read`, `inside`, `keyed`, `checked` or `once`.
    #[schema(value_type = String)]
    pub effect: Effect,
    pub arguments: Value,
    /// Null while it is under way, and where nothing came of it.
    pub result: Option<Value>,
    /// The stage that refused it, and why.
    pub stage: Option<String>,
    pub code: Option<String>,
    #[schema(value_type = Option<uuid::Uuid>)]
    pub run: Option<RunId>,
    #[schema(value_type = Option<uuid::Uuid>)]
    pub binding: Option<BindingId>,
    /// For whom it is done.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    pub attempt: i64,
    #[schema(value_type = String, format = DateTime)]
    pub began_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// The consent of the person that it rests on; null where its tool needs none.
    #[serde(default)]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub consent: Option<ConsentId>,
    /// How it can be taken back; null where its tool knows no way.
    #[serde(default)]
    pub undo: Option<ActUndoView>,
}

/// How an act can be taken back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ActUndo)]
pub struct ActUndoView {
    /// The tool that takes it back.
    pub tool: String,
    pub arguments: Value,
    /// Until when it can be.
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
    /// The act that took it back, or tries to.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub undone_by: Option<ActId>,
}

impl From<ActUndo> for ActUndoView {
    fn from(undo: ActUndo) -> Self {
        let ActUndo { step, until, undone_by } = undo;
        Self { tool: step.tool.to_string(), arguments: step.arguments, until, undone_by }
    }
}

impl From<Act> for ActView {
    fn from(act: Act) -> Self {
        Self {
            id: act.id,
            state: act.state.as_str().to_owned(),
            tool: act.tool,
            connector: act.connector,
            effect: act.effect,
            arguments: act.arguments,
            result: act.result,
            stage: act.stage,
            code: act.code,
            run: act.run,
            binding: act.binding,
            person: act.person,
            attempt: act.attempt,
            began_at: act.began_at,
            ended_at: act.ended_at,
            consent: act.consent,
            undo: act.undo.map(Into::into),
        }
    }
}

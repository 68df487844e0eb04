//! One conversation, without what was said.

use munshi_conversations::session_waits;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{SessionView, find};
use crate::{HouseCall, HouseServices};

/// The session that is meant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionInput {
    /// The session.
    #[schema(value_type = uuid::Uuid)]
    pub id: SessionId,
}

pub struct ShowSession;

impl Operation<HouseServices> for ShowSession {
    type Input = SessionInput;
    type View = SessionView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "sessions",
        noun: "session",
        command: "sessions",
        verb: "show",
        about: "Get a session.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/sessions/{id}",
    };

    async fn run(call: &HouseCall, input: SessionInput) -> Result<SessionView, OperationError> {
        let caller = call.caller.clone();
        let found = call.read(move |tx| {
            let session = find(tx, &caller, input.id)?;
            let attention = session_waits::load_attention(tx, caller.person(), &[session.id])?;
            let attention = attention.get(&session.id).copied().unwrap_or_default();
            Ok(SessionView::new(session, attention))
        });
        found.await
    }
}

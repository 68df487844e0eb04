//! Conversations, the last spoken in first.

use munshi_agent::sessions::{self, Session, SessionFilter};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::Cursor;
use munshi_types::{BindingId, PersonId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::SessionView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSessionsInput {
    /// Only sessions with this binding, by its id.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub binding: Option<BindingId>,
    /// Only sessions of this person.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    /// The `next` of the previous page.
    #[schema(value_type = Option<String>)]
    pub after: Option<Cursor>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

pub struct ListSessions;

impl Operation<HouseServices> for ListSessions {
    type Input = ListSessionsInput;
    type View = ListView<SessionView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "sessions",
        noun: "session",
        command: "sessions",
        verb: "list",
        about: "List sessions, most recently active first.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/sessions",
    };

    async fn run(
        call: &HouseCall,
        input: ListSessionsInput,
    ) -> Result<ListView<SessionView>, OperationError> {
        let wanted = match (input.person, input.binding) {
            (Some(person), _) => SessionFilter::Person(person),
            (None, Some(binding)) => SessionFilter::Binding(binding),
            (None, None) => SessionFilter::All,
        };
        let request = ListInput { after: input.after, limit: input.limit }.page_request()?;
        let page = call.read(move |tx| Ok(sessions::list(tx, wanted, &request)?)).await?;
        Ok(ListView::from_page(page, |session: Session| {
            let fits = input.binding.is_none_or(|binding| session.binding == binding);
            (fits && call.caller.reaches(session.binding)).then(|| session.into())
        }))
    }
}

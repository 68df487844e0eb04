//! Conversations, the last spoken in first.

use munshi_conversations::session_waits;
use munshi_conversations::sessions::{self, Session, SessionFilter};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{BindingId, PersonId, SessionId};

use super::SessionView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListSessionsInput: ListInput {
        /// Only sessions with this binding, by its id.
        #[schema(value_type = Option<uuid::Uuid>)]
        pub binding: Option<BindingId>,
        /// Only sessions of this person.
        #[schema(value_type = Option<uuid::Uuid>)]
        pub person: Option<PersonId>,
    }
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
        about: "List sessions, most recently active first, each with since when somebody waits for an answer and how much you have not read.",
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
        let request = input.page().page_request()?;
        let reader = call.caller.person();
        let found = call.read(move |tx| {
            let page = sessions::list(tx, wanted, &request)?;
            let ids: Vec<SessionId> = page.items.iter().map(|session| session.id).collect();
            let attention = session_waits::load_attention(tx, reader, &ids)?;
            Ok((page, attention))
        });
        let (page, attention) = found.await?;
        Ok(ListView::from_page(page, |session: Session| {
            let fits = input.binding.is_none_or(|binding| session.binding == binding);
            let attention = attention.get(&session.id).copied().unwrap_or_default();
            (fits && call.caller.reaches(session.binding)).then(|| SessionView::new(session, attention))
        }))
    }
}

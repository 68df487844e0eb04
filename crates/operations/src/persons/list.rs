//! People, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::persons::{self, PersonFilter};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};

use super::PersonView;
use crate::list_input::list_input;
use crate::{HouseCall, HouseServices};

list_input! {
    #[derive(Copy, Default)]
    pub struct ListPersonsInput: ListInput {
        /// Include people who have left.
        pub everybody: Option<bool>,
    }
}

pub struct ListPersons;

impl Operation<HouseServices> for ListPersons {
    type Input = ListPersonsInput;
    type View = ListView<PersonView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "list",
        about: "List people, newest first: staff and others.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/persons",
    };

    async fn run(call: &HouseCall, input: ListPersonsInput) -> Result<ListView<PersonView>, OperationError> {
        let wanted = if input.everybody == Some(true) { PersonFilter::Everybody } else { PersonFilter::Here };
        let request = input.page().page_request()?;
        let page = call.read(move |tx| {
            let page = persons::list(tx, wanted, &request)?;
            let next = page.next_cursor().map(|next| next.to_string());
            let mut items = Vec::with_capacity(page.items.len());
            for person in page.items {
                items.push(PersonView::load(tx, person)?);
            }
            Ok(ListView { items, next })
        });
        page.await
    }
}

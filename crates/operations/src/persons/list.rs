//! People, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::persons::{self, PersonFilter};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::Cursor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::PersonView;
use crate::{HouseCall, HouseServices};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPersonsInput {
    /// Include people who have left.
    pub everybody: Option<bool>,
    /// The `next` of the previous page.
    #[schema(value_type = Option<String>)]
    pub after: Option<Cursor>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
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
        let request = ListInput { after: input.after, limit: input.limit }.page_request()?;
        let page = call.read(move |tx| {
            let page = persons::list(tx, wanted, &request)?;
            let mut items = Vec::with_capacity(page.items.len());
            for person in page.items {
                items.push(PersonView::load(tx, person)?);
            }
            Ok((items, page.next))
        });
        let (items, next) = page.await?;
        Ok(ListView { items, next: next.map(|next| next.to_string()) })
    }
}

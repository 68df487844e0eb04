//! One person and how they are reached.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::PersonView;
use super::find::find_shown;
use crate::{HouseCall, HouseServices};

/// The person that is meant.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonInput {
    /// The person: an id, name, phone, e-mail or @handle.
    pub id: String,
}

pub struct ShowPerson;

impl Operation<HouseServices> for ShowPerson {
    type Input = PersonInput;
    type View = PersonView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "show",
        about: "Get a person and their addresses. The id of a merged person leads to the merged record.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/persons/{id}",
    };

    async fn run(call: &HouseCall, input: PersonInput) -> Result<PersonView, OperationError> {
        let read = call.read(move |tx| {
            let person = find_shown(tx, &input.id)?;
            Ok(PersonView::load(tx, person)?)
        });
        read.await
    }
}

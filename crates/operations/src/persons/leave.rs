//! Somebody leaves: from then on they can do nothing here.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{Person, persons};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::rules::{check_last_owner, check_role_change, lock_covered, revoke_keys};
use super::{PersonInput, PersonView};
use crate::holds::end_holds;
use crate::{HouseCall, HouseServices};

/// Somebody who has left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = LeftPerson)]
pub struct LeftPersonView {
    #[serde(flatten)]
    pub person: PersonView,
    /// False if they had left already.
    pub changed: bool,
}

pub struct LeavePerson;

impl Operation<HouseServices> for LeavePerson {
    type Input = PersonInput;
    type View = LeftPersonView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "leave",
        about: "Mark a person as left; they lose all access. The last owner can't leave.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Write),
        effect: OperationEffect::Write(&["person.left", "api_key.revoked", "conversation.given_back"]),
        method: RouteMethod::Post,
        path: "/v1/persons/{id}/leave",
    };

    async fn run(call: &HouseCall, input: PersonInput) -> Result<LeftPersonView, OperationError> {
        let (caller, known, now) = (call.caller.clone(), call.services.keys.clone(), call.now);
        let left = call.write(move |tx| {
            let before = lock_covered(tx, &caller, &input.id)?;
            if before.left_at.is_some() {
                return Ok(LeftPersonView { person: PersonView::load(tx, before)?, changed: false });
            }
            // Who leaves has no role any more.
            if before.role.is_some() {
                check_role_change(&caller, before.role, None)?;
            }
            check_last_owner(tx, &before)?;
            let person = Person { left_at: Some(now), ..before.clone() };
            persons::save(tx, &person, &[])?;
            tx.note("person.left", person.id.to_string(), json!({ "role": person.role }));
            revoke_keys(tx, &known, &before, &person, now)?;
            end_holds(tx, &person, now)?;
            Ok(LeftPersonView { person: PersonView::load(tx, person)?, changed: true })
        });
        left.await
    }
}

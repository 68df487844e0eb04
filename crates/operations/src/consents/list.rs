//! What one person has agreed to, newest first.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_safety::{consents, policy};

use super::ConsentView;
use crate::list_input::list_input;
use crate::persons::find;
use crate::{HouseCall, HouseServices};

list_input! {
    pub struct ListConsentsInput: ListInput {
        /// The person: an id, name, phone, e-mail or @handle.
        pub id: String,
    }
}

pub struct ListConsents;

impl Operation<HouseServices> for ListConsents {
    type Input = ListConsentsInput;
    type View = ListView<ConsentView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "consents",
        noun: "consent",
        command: "consents",
        verb: "list",
        about: "List what a person has consented to, newest first, with what has ended or was withdrawn.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/persons/{id}/consents",
    };

    async fn run(
        call: &HouseCall,
        input: ListConsentsInput,
    ) -> Result<ListView<ConsentView>, OperationError> {
        let (request, now) = (input.page().page_request()?, call.now);
        let read = call.read(move |tx| {
            let person = find(tx, &input.id)?;
            let (_, policy) = policy::load_current(tx)?;
            Ok((consents::list(tx, person.id, &request)?, policy.consent))
        });
        let (page, rules) = read.await?;
        Ok(ListView::from_page(page, |consent| Some(ConsentView::of(consent, &rules, now))))
    }
}

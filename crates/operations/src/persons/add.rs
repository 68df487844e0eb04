//! Somebody new.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{Person, Role, persons};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::PersonView;
use super::rules::{
    GivenAddresses, check_addresses_free, check_role_change, parse_language, parse_name, parse_tags,
};
use crate::{HouseCall, HouseServices};

/// A person to add.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewPerson)]
pub struct AddPersonInput {
    #[schema(min_length = 1, max_length = 200, example = "Meera Sharma")]
    pub name: String,
    /// Default: none, for somebody outside the business. Only owners and admins may set it, at most to their own
    /// role.
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub role: Option<Role>,
    /// Audiences they belong to. Each tag has letters, digits and dashes.
    #[serde(default)]
    #[schema(max_items = 50, example = json!(["customers"]))]
    pub tags: Vec<String>,
    #[schema(example = "hi")]
    pub language: Option<String>,
    /// A verified number, with its country code.
    #[schema(example = "+919812345678")]
    pub phone: Option<String>,
    #[schema(example = "meera@shop.example")]
    pub email: Option<String>,
    #[schema(example = "meera")]
    pub handle: Option<String>,
    /// Further phones, e-mails and handles; a handle begins with @.
    #[serde(default)]
    #[schema(max_items = 20, example = json!([]))]
    pub addresses: Vec<String>,
}

pub struct AddPerson;

impl Operation<HouseServices> for AddPerson {
    type Input = AddPersonInput;
    type View = PersonView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "add",
        about: "Add a person with their addresses. An address that belongs to another person is a `conflict`.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Write),
        effect: OperationEffect::Write(&["person.added"]),
        method: RouteMethod::Create,
        path: "/v1/persons",
    };

    async fn run(call: &HouseCall, input: AddPersonInput) -> Result<PersonView, OperationError> {
        if input.role.is_some() {
            check_role_change(&call.caller, None, input.role)?;
        }
        let given = GivenAddresses {
            phone: input.phone.as_deref(),
            email: input.email.as_deref(),
            handle: input.handle.as_deref(),
            others: &input.addresses,
        };
        let addresses = given.parse()?;
        let person = Person {
            role: input.role,
            tags: parse_tags(input.tags)?,
            language: input.language.as_deref().map(parse_language).transpose()?,
            ..Person::new(&call.ids, parse_name(&input.name)?, call.now)
        };
        let unit = move |tx: &mut munshi_store::AdminTx<'_, '_>| {
            check_addresses_free(tx, &person, &addresses)?;
            persons::save(tx, &person, &addresses)?;
            let kinds: Vec<&str> = addresses.iter().map(|address| address.kind().as_str()).collect();
            // Names and addresses stay out of the audit: the id says who.
            let payload = json!({ "role": person.role, "tags": person.tags, "addresses": kinds });
            tx.note("person.added", person.id.to_string(), payload);
            Ok(PersonView::load(tx, person)?)
        };
        call.write(unit).await
    }
}

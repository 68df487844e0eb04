//! People.

use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_server::error::ApiError;
use munshi_store::Tx;
use munshi_types::{PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A role in the business, from most to least privileged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Role)]
pub(crate) enum RoleView {
    Owner,
    Admin,
    Staff,
    Viewer,
}

impl From<Role> for RoleView {
    fn from(role: Role) -> Self {
        match role {
            Role::Owner => Self::Owner,
            Role::Admin => Self::Admin,
            Role::Staff => Self::Staff,
            Role::Viewer => Self::Viewer,
        }
    }
}

impl From<RoleView> for Role {
    fn from(role: RoleView) -> Self {
        match role {
            RoleView::Owner => Self::Owner,
            RoleView::Admin => Self::Admin,
            RoleView::Staff => Self::Staff,
            RoleView::Viewer => Self::Viewer,
        }
    }
}

/// A person: staff, or somebody the workspace deals with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Person)]
pub(crate) struct PersonView {
    #[schema(value_type = uuid::Uuid)]
    id: PersonId,
    /// Empty until it is known.
    name: String,
    /// Null for people outside the business.
    role: Option<RoleView>,
    /// The audiences they belong to.
    tags: Vec<String>,
    #[schema(example = "hi")]
    language: Option<&'static str>,
    /// Has no verified address yet.
    visitor: bool,
    #[schema(value_type = String, format = DateTime)]
    made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    left_at: Option<Timestamp>,
}

impl From<Person> for PersonView {
    fn from(person: Person) -> Self {
        Self {
            id: person.id,
            name: person.name,
            role: person.role.map(Into::into),
            tags: person.tags,
            language: person.language.map(munshi_types::Language::code),
            visitor: person.visitor,
            made_at: person.made_at,
            left_at: person.left_at,
        }
    }
}

/// A person with their addresses.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PersonWithAddresses {
    #[serde(flatten)]
    person: PersonView,
    addresses: Vec<PersonAddress>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PersonAddress {
    /// `phone`, `email`, `handle` or `channel`.
    #[schema(example = "phone")]
    kind: &'static str,
    #[schema(example = "+919812345678")]
    address: String,
}

impl PersonWithAddresses {
    pub(crate) fn load(tx: &mut Tx<'_>, person: Person) -> Result<Self, ApiError> {
        let addresses = persons::list_addresses(tx, person.id)?;
        Ok(Self { person: person.into(), addresses: addresses.iter().map(to_person_address).collect() })
    }
}

fn to_person_address(address: &ContactAddress) -> PersonAddress {
    PersonAddress { kind: address.kind().as_str(), address: address.as_str().to_owned() }
}

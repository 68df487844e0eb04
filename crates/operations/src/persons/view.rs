//! A person as they are shown.

use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_store::{Result, Tx};
use munshi_types::{Language, PersonId, ScopeGlob, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A person: staff, or somebody the workspace deals with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Person)]
pub struct PersonView {
    #[schema(value_type = uuid::Uuid)]
    pub id: PersonId,
    /// Empty until it is known.
    pub name: String,
    /// Null for people outside the business.
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub role: Option<Role>,
    /// Scopes granted in addition to the role.
    #[schema(value_type = Vec<String>, example = json!(["ledger.*"]))]
    pub opened: Vec<ScopeGlob>,
    /// Scopes denied whatever the role.
    #[schema(value_type = Vec<String>, example = json!([]))]
    pub closed: Vec<ScopeGlob>,
    /// The audiences they belong to.
    pub tags: Vec<String>,
    #[schema(value_type = Option<String>, example = "hi")]
    pub language: Option<Language>,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub left_at: Option<Timestamp>,
    /// Has no verified address yet.
    pub visitor: bool,
    /// Whom they turned out to be.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub merged_into: Option<PersonId>,
    pub addresses: Vec<PersonAddressView>,
}

/// How somebody is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PersonAddress)]
pub struct PersonAddressView {
    /// `phone`, `email`, `handle` or `channel`.
    #[schema(example = "phone")]
    pub kind: String,
    #[schema(example = "+919812345678")]
    pub address: String,
    /// The same as `address`.
    #[schema(example = "+919812345678")]
    pub text: String,
}

impl PersonView {
    pub fn load(tx: &mut Tx<'_>, person: Person) -> Result<Self> {
        let addresses = persons::list_addresses(tx, person.id)?;
        let Person { id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into } =
            person;
        let addresses = addresses.iter().map(PersonAddressView::from).collect();
        Ok(Self {
            id,
            name,
            role,
            opened,
            closed,
            tags,
            language,
            made_at,
            left_at,
            visitor,
            merged_into,
            addresses,
        })
    }
}

impl From<&ContactAddress> for PersonAddressView {
    fn from(address: &ContactAddress) -> Self {
        let text = address.as_str().to_owned();
        Self { kind: address.kind().as_str().to_owned(), address: text.clone(), text }
    }
}

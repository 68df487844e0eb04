//! What is known of somebody changes.

use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use munshi_store::{AdminTx, Tx};
use munshi_types::{Language, ScopeGlob};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::PersonView;
use super::rules::{
    GivenAddresses, call_by_name, check_addresses_free, check_last_owner, check_member_address,
    check_role_change, check_scope_change, lock_covered, parse_language, parse_name, parse_tags, revoke_keys,
};
use crate::holds::end_holds;
use crate::{HouseCall, HouseServices};

/// Fields to update; omitted fields are unchanged.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PersonChange)]
pub struct SetPersonInput {
    /// The person: an id, name, phone, e-mail or @handle.
    pub id: String,
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// The language for replies to them.
    #[schema(example = "ta")]
    pub language: Option<String>,
    /// Replaces all tags.
    #[schema(max_items = 50, example = json!(["customers"]))]
    pub tags: Option<Vec<String>>,
    /// `null` for somebody outside the business. Only owners and admins may set it, at most to their own role.
    #[serde(default, deserialize_with = "deserialize_present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub role: Option<Option<Role>>,
    /// Replaces the scopes granted in addition to their role. For owners.
    #[schema(value_type = Option<Vec<String>>, max_items = 100, example = json!(["ledger.*"]))]
    pub opened: Option<Vec<ScopeGlob>>,
    /// Replaces the scopes denied whatever their role. For owners.
    #[schema(value_type = Option<Vec<String>>, max_items = 100, example = json!([]))]
    pub closed: Option<Vec<ScopeGlob>>,
    /// Phones, e-mails and handles to add; a handle begins with @. Those of members are for owners and admins.
    #[serde(default)]
    #[schema(max_items = 20, example = json!([]))]
    pub addresses: Vec<String>,
    /// They had left and are here again, with the role they had.
    #[serde(default)]
    pub back: bool,
    /// Browsers they used before are no longer recognised as theirs.
    #[serde(default)]
    pub forget_browsers: bool,
}

/// Tells `null` from what is not there.
fn deserialize_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Role>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// A person after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = ChangedPerson)]
pub struct ChangedPersonView {
    #[serde(flatten)]
    pub person: PersonView,
    /// The fields that are different now.
    pub changed: Vec<String>,
}

/// A change that was looked at.
struct Change {
    name: Option<String>,
    language: Option<Language>,
    tags: Option<Vec<String>>,
    role: Option<Option<Role>>,
    opened: Option<Vec<ScopeGlob>>,
    closed: Option<Vec<ScopeGlob>>,
    addresses: Vec<ContactAddress>,
    back: bool,
    forget_browsers: bool,
}

impl Change {
    fn parse(input: SetPersonInput) -> Result<Self, OperationError> {
        for (field, scopes) in [("opened", &input.opened), ("closed", &input.closed)] {
            if scopes.as_ref().is_some_and(|scopes| scopes.len() > 100) {
                return Err(OperationError::field(field, "at most 100 are allowed"));
            }
        }
        Ok(Self {
            name: input.name.as_deref().map(parse_name).transpose()?,
            language: input.language.as_deref().map(parse_language).transpose()?,
            tags: input.tags.map(parse_tags).transpose()?,
            role: input.role,
            opened: input.opened,
            closed: input.closed,
            addresses: GivenAddresses { others: &input.addresses, ..Default::default() }.parse()?,
            back: input.back,
            forget_browsers: input.forget_browsers,
        })
    }

    fn apply(&self, before: &Person) -> Person {
        let old = before.clone();
        Person {
            role: self.role.unwrap_or(old.role),
            name: self.name.clone().unwrap_or(old.name),
            tags: self.tags.clone().unwrap_or(old.tags),
            opened: self.opened.clone().unwrap_or(old.opened),
            closed: self.closed.clone().unwrap_or(old.closed),
            language: self.language.or(old.language),
            left_at: if self.back { None } else { old.left_at },
            ..old
        }
    }
}

pub struct SetPerson;

impl Operation<HouseServices> for SetPerson {
    type Input = SetPersonInput;
    type View = ChangedPersonView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "set",
        about: "Update a person. A key can't update a person with a higher role, or demote the last owner.",
        needs: CallerClass::Member(Area::Persons, ApiAccess::Write),
        effect: OperationEffect::Write(&[
            "person.changed",
            "person.role_changed",
            "person.returned",
            "api_key.revoked",
            "conversation.given_back",
        ]),
        method: RouteMethod::Patch,
        path: "/v1/persons/{id}",
    };

    async fn run(call: &HouseCall, input: SetPersonInput) -> Result<ChangedPersonView, OperationError> {
        let (id, change) = (input.id.clone(), Change::parse(input)?);
        let (caller, known, now) = (call.caller.clone(), call.services.keys.clone(), call.now);
        let changed = call.write(move |tx| {
            let before = lock_covered(tx, &caller, &id)?;
            let (after, more) = check(tx, &caller, &before, &change)?;
            let mut changed = list_changed_fields(&before, &after);
            if !more.is_empty() {
                changed.push("addresses");
            }
            if !changed.is_empty() {
                persons::save(tx, &after, &more)?;
            }
            if change.forget_browsers && persons::clear_browsers(tx, after.id)? > 0 {
                changed.push("browsers");
            }
            note(tx, &before, &after, &changed);
            revoke_keys(tx, &known, &before, &after, now)?;
            if before.role != after.role || before.left_at != after.left_at {
                end_holds(tx, &after, now)?;
            }
            let changed = changed.into_iter().map(str::to_owned).collect();
            // Whoever has an address that proves something is no visitor.
            let after = persons::find(tx, after.id)?.unwrap_or(after);
            Ok(ChangedPersonView { person: PersonView::load(tx, after)?, changed })
        });
        changed.await
    }
}

/// Who they would be, and the addresses that are new; none of it where the caller may not.
fn check(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    before: &Person,
    change: &Change,
) -> Result<(Person, Vec<ContactAddress>), OperationError> {
    if before.left_at.is_some() && !change.back {
        let what = format!("{} has left the workspace.", call_by_name(before));
        return Err(OperationError::new(OperationErrorCode::Conflict, what)
            .hint("If they are back, send `back` or add --back."));
    }
    let after = change.apply(before);
    let returns = before.left_at.is_some() && (before.role.is_some() || after.role.is_some());
    if after.role != before.role || returns {
        check_role_change(caller, before.role, after.role)?;
    }
    if after.role != before.role {
        check_last_owner(tx, before)?;
    }
    if after.opened != before.opened || after.closed != before.closed {
        check_scope_change(caller)?;
    }
    let known = persons::list_addresses(tx, before.id)?;
    let more: Vec<_> = change.addresses.iter().filter(|one| !known.contains(one)).cloned().collect();
    if !more.is_empty() {
        check_member_address(caller, after.role.or(before.role))?;
        check_addresses_free(tx, before, &more)?;
    }
    Ok((after, more))
}

fn list_changed_fields(before: &Person, after: &Person) -> Vec<&'static str> {
    let differs = [
        ("leaving", before.left_at != after.left_at),
        ("role", before.role != after.role),
        ("name", before.name != after.name),
        ("tags", before.tags != after.tags),
        ("opened", before.opened != after.opened),
        ("closed", before.closed != after.closed),
        ("language", before.language != after.language),
    ];
    differs.into_iter().filter_map(|(what, is)| is.then_some(what)).collect()
}

/// A role is told by itself, with what it was: it decides what somebody may. Names and addresses stay out of it.
fn note(tx: &mut AdminTx<'_, '_>, before: &Person, after: &Person, changed: &[&'static str]) {
    let id = || after.id.to_string();
    if before.left_at != after.left_at {
        tx.note("person.returned", id(), json!({ "role": after.role }));
    }
    if before.role != after.role {
        tx.note("person.role_changed", id(), json!({ "from": before.role, "to": after.role }));
    }
    let others: Vec<&str> =
        changed.iter().copied().filter(|what| !matches!(*what, "role" | "leaving")).collect();
    if !others.is_empty() {
        let payload =
            json!({ "keys": others, "tags": after.tags, "opened": after.opened, "closed": after.closed });
        tx.note("person.changed", id(), payload);
    }
}

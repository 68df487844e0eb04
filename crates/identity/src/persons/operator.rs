//! Whom an operator is among a tenant's people, when they talk on its pages.

use munshi_store::{Error, Result, Tx};
use munshi_types::{IdGenerator, OperatorId, Timestamp};

use super::{Person, find_by_address, find_or_add, upsert};
use crate::address::ContactAddress;
use crate::operators::Operator;
use crate::role::Role;

/// What operators are known by among a tenant's people: a sign-in of ours proves it, and nothing else does.
const CHANNEL: &str = "operator";

fn address(operator: OperatorId) -> Result<ContactAddress> {
    ContactAddress::channel(CHANNEL, &operator.to_string()).map_err(|error| Error::Refused(error.to_string()))
}

/// The person an operator with this role is: the one the tenant knows by their e-mail in the very same role, else one of
/// their own, whose role is always the operator's. An e-mail was perhaps only said: nobody gets a role, or becomes
/// somebody who has another, by having the same one.
pub fn find_or_add_operator(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    operator: &Operator,
    role: Role,
    now: Timestamp,
) -> Result<Person> {
    if let Ok(email) = ContactAddress::email(&operator.email) {
        let known = find_by_address(tx, &email)?;
        if let Some(person) = known.filter(|known| known.role == Some(role) && known.left_at.is_none()) {
            return Ok(person);
        }
    }
    let person = find_or_add(tx, ids, &[address(operator.id)?], &operator.name, now)?.person;
    if person.role == Some(role) && person.left_at.is_none() {
        return Ok(person);
    }
    let person = Person { role: Some(role), left_at: None, ..person };
    upsert(tx, &person)?;
    Ok(person)
}

/// The person that only this operator can be: none before they have talked here, and none where they are known by their e-mail alone.
pub(crate) fn find_of_operator(tx: &mut Tx<'_>, operator: OperatorId) -> Result<Option<Person>> {
    find_by_address(tx, &address(operator)?)
}

/// The operator's role here is another now: so is that of the person they were. Nobody is added for it. Gives them as they were
/// and as they are, where something is different.
pub(crate) fn sync_operator_role(
    tx: &mut Tx<'_>,
    operator: OperatorId,
    role: Option<Role>,
) -> Result<Option<(Person, Person)>> {
    let found = find_of_operator(tx, operator)?;
    let Some(before) = found.filter(|person| person.role != role) else { return Ok(None) };
    let after = Person { role, ..before.clone() };
    upsert(tx, &after)?;
    Ok(Some((before, after)))
}

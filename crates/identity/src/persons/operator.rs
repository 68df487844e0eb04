//! Whom an operator is among a tenant's people, when they talk on its pages.

use munshi_store::{Error, Result, Tx};
use munshi_types::{IdGenerator, OperatorId, Timestamp};

use super::{Person, find_by_address, find_or_add, upsert};
use crate::address::{ContactAddress, ContactAddressKind};
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
    if let Some(person) = find_by_email(tx, &operator.email, role)? {
        return Ok(person);
    }
    let person = find_or_add(tx, ids, &[address(operator.id)?], &operator.name, now)?.person;
    if person.role == Some(role) && person.left_at.is_none() {
        return Ok(person);
    }
    let person = Person { role: Some(role), left_at: None, ..person };
    upsert(tx, &person)?;
    Ok(person)
}

/// The person whom [`find_or_add_operator`] gives, where there is one already: none before they have talked or joined in here.
pub fn find_operator(
    tx: &mut Tx<'_>,
    (operator, email): (OperatorId, &str),
    role: Role,
) -> Result<Option<Person>> {
    if let Some(person) = find_by_email(tx, email, role)? {
        return Ok(Some(person));
    }
    Ok(find_of_operator(tx, operator)?.filter(|person| person.role == Some(role) && person.left_at.is_none()))
}

/// Whom the tenant knows by an operator's e-mail, in the very same role.
fn find_by_email(tx: &mut Tx<'_>, email: &str, role: Role) -> Result<Option<Person>> {
    let Ok(email) = ContactAddress::email(email) else { return Ok(None) };
    let known = find_by_address(tx, &email)?;
    Ok(known.filter(|known| known.role == Some(role) && known.left_at.is_none()))
}

/// The person that only this operator can be: none before they have talked here, and none where they are known by their e-mail alone.
pub fn find_of_operator(tx: &mut Tx<'_>, operator: OperatorId) -> Result<Option<Person>> {
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

/// Whether the tenant has a person already whom the operator with this role is, or was.
pub fn is_known_operator(tx: &mut Tx<'_>, operator: &Operator, role: Role) -> Result<bool> {
    Ok(find_by_email(tx, &operator.email, role)?.is_some() || find_of_operator(tx, operator.id)?.is_some())
}

/// Whose account an address stands for; none for any other address.
pub fn parse_operator_address(address: &ContactAddress) -> Option<OperatorId> {
    let text = (address.kind() == ContactAddressKind::Channel).then(|| address.as_str())?;
    text.strip_prefix(CHANNEL)?.strip_prefix(':')?.parse().ok()
}

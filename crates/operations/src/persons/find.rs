//! Which person is meant.

use munshi_identity::{ContactAddress, Person, Role, persons};
use munshi_lang::fold;
use munshi_pack::operation::{OperationError, OperationErrorCode};
use munshi_store::Tx;

/// By id, phone, e-mail, handle or name. Those who have left are found by id and address alone; an old id leads to whom
/// its person has become.
pub fn find(tx: &mut Tx<'_>, given: &str) -> Result<Person, OperationError> {
    if let Ok(id) = given.parse() {
        return match persons::find_living(tx, id)? {
            Some(person) => Ok(person),
            None if persons::is_forgotten(tx, id)? => Err(forgotten()),
            None => Err(not_found(given)),
        };
    }
    if let Some(address) = address(given)
        && let Some(person) = persons::find_by_address(tx, &address)?
    {
        return Ok(person);
    }
    let mut named = persons::list_by_name(tx, given)?;
    named.retain(|person| person.left_at.is_none());
    if named.is_empty() {
        // A colleague's name in another spelling or script.
        let wanted = key(given);
        named = persons::list_members(tx)?;
        named.retain(|person| key(&person.name) == wanted);
    }
    match named.len() {
        0 => Err(not_found(given)),
        1 => Ok(named.remove(0)),
        _ => Err(ambiguous(given, &named)),
    }
}

/// The same to be shown: of somebody who was forgotten a row is left that says nothing.
pub(super) fn find_shown(tx: &mut Tx<'_>, given: &str) -> Result<Person, OperationError> {
    if let Ok(id) = given.parse()
        && persons::is_forgotten(tx, id)?
        && let Some(person) = persons::find(tx, id)?
    {
        return Ok(person);
    }
    find(tx, given)
}

/// The one owner, where there is exactly one.
pub fn find_only_owner(tx: &mut Tx<'_>) -> Result<Person, OperationError> {
    let mut owners = persons::list_members(tx)?;
    owners.retain(|person| person.role == Some(Role::Owner));
    let refuse =
        |what: &str, hint: &str| Err(OperationError::new(OperationErrorCode::Invalid, what).hint(hint));
    match owners.len() {
        1 => Ok(owners.remove(0)),
        0 => refuse(
            "The tenant has no owner who could answer.",
            "Add one with `munshi person add NAME --role owner`, or use --as PERSON.",
        ),
        _ => refuse("The tenant has several owners.", "Choose one with --as PERSON."),
    }
}

fn address(given: &str) -> Option<ContactAddress> {
    if given.starts_with('@') {
        return ContactAddress::handle(given).ok();
    }
    if given.contains('@') {
        return ContactAddress::email(given).ok();
    }
    ContactAddress::phone(given).ok()
}

fn key(name: &str) -> String {
    name.split_whitespace().map(fold::key).collect::<Vec<_>>().join(" ")
}

fn not_found(given: &str) -> OperationError {
    OperationError::not_found("person", given)
        .hint("`munshi person list` shows everybody; `munshi person add` adds somebody.")
}

fn forgotten() -> OperationError {
    OperationError::new(OperationErrorCode::Conflict, "This person was forgotten.").hint(
        "`munshi erasure list` shows the receipts. Whoever writes from their address now is somebody new.",
    )
}

fn ambiguous(given: &str, people: &[Person]) -> OperationError {
    let list = people.iter().map(|person| format!("{} ({})", person.id, person.name)).collect::<Vec<_>>();
    OperationError::new(OperationErrorCode::Invalid, format!("Several people are called {given}."))
        .hint(format!("Use an id: {}.", list.join(", ")))
}

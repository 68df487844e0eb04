//! Which person is meant.

use munshi_identity::{Person, Role, persons};
use munshi_store::Tx;
use munshi_wiring::failure::{CommandFailure, Result};

/// By id, phone, e-mail, handle or name.
pub(in crate::commands) fn find(tx: &mut Tx<'_>, given: &str) -> Result<Person> {
    Ok(munshi_operations::persons::find(tx, given)?)
}

/// The one owner, where there is exactly one.
pub(in crate::commands) fn only_owner(tx: &mut Tx<'_>) -> Result<Person> {
    let mut owners = persons::list_members(tx)?;
    owners.retain(|person| person.role == Some(Role::Owner));
    match owners.len() {
        1 => Ok(owners.remove(0)),
        0 => Err(CommandFailure::usage("the tenant has no owner who could answer")
            .hint("add one with `munshi person add NAME --role owner`, or use --as PERSON")),
        _ => Err(CommandFailure::usage("the tenant has several owners").hint("choose one with --as PERSON")),
    }
}

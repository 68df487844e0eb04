//! Which person is meant.

use munshi_identity::Person;
use munshi_store::Tx;
use munshi_wiring::failure::Result;

/// By id, phone, e-mail, handle or name.
pub(in crate::commands) fn find(tx: &mut Tx<'_>, given: &str) -> Result<Person> {
    Ok(munshi_operations::persons::find(tx, given)?)
}

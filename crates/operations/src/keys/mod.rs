//! API keys: what lets programs in.

mod add;
mod list;
mod revoke;
mod rotate;
mod show;
mod view;

pub use add::{AddKey, AddKeyInput};
pub use list::ListKeys;
pub use revoke::{RevokeKey, RevokedKeyView};
pub use rotate::{RotateKey, RotateKeyInput};
pub use show::{KeyInput, ShowKey};
pub use view::{IssuedKeyView, KeySecretView, KeyState, KeyView};

use munshi_identity::keys::{self, ApiKeyRecord, KeySubject};
use munshi_identity::{Role, persons};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_store::{AdminTx, Tx};
use serde_json::json;

/// By id, by how its text begins, or by name.
fn find(tx: &mut Tx<'_>, given: &str) -> Result<ApiKeyRecord, OperationError> {
    let found = match given.parse() {
        Ok(id) => keys::find(tx, id)?,
        Err(_) => match keys::find_by_handle(tx, given)? {
            Some(key) => Some(key),
            None => keys::find_by_name(tx, given)?,
        },
    };
    found.ok_or_else(|| {
        // Whoever pasted a whole key should not see it again in an error.
        let shown = keys::KeyText::parse_handle(given).unwrap_or(given);
        OperationError::not_found("key", shown).hint("`munshi key list` and GET /v1/keys show them all.")
    })
}

/// Finds a key that stands no higher than the caller.
fn find_covered(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    given: &str,
) -> Result<ApiKeyRecord, OperationError> {
    let key = find(tx, given)?;
    let role = match key.carries {
        KeySubject::Role(role) => Some(role),
        KeySubject::Person(person) => persons::find(tx, person)?.and_then(|person| person.role),
    };
    if caller.covers_role(role) {
        return Ok(key);
    }
    Err(higher_role_error("That key has a higher role than yours."))
}

fn higher_role_error(message: &str) -> OperationError {
    OperationError::new(OperationErrorCode::Forbidden, message).hint("Ask an owner of the workspace.")
}

/// The role that somebody who carries a key has now.
fn find_role(tx: &mut Tx<'_>, carries: KeySubject) -> Result<Option<Role>, OperationError> {
    match carries {
        KeySubject::Role(role) => Ok(Some(role)),
        KeySubject::Person(id) => match persons::find(tx, id)? {
            Some(person) => Ok(person.role),
            None => Err(OperationError::not_found("person", &id.to_string())),
        },
    }
}

/// Which key, never its text.
fn note(tx: &mut AdminTx<'_, '_>, event: &'static str, key: &ApiKeyRecord) {
    let handles: Vec<&str> = key.secrets.iter().map(|secret| secret.handle.as_str()).collect();
    let payload = json!({
        "name": key.name,
        "carries": key.carries,
        "areas": key.areas,
        "bindings": key.bindings,
        "speaks_as": key.speaks_as,
        "expires_at": key.expires_at,
        "handles": handles,
    });
    tx.note(event, key.id.to_string(), payload);
}

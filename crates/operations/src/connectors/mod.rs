//! Other services that a tenant's agents work with.

mod accept;
mod add;
mod list;
mod login;
mod logout;
mod logs;
mod pending_logout;
mod remove;
mod show;
mod test;
mod transport;
mod view;

pub use accept::{AcceptConnector, AcceptConnectorInput, AcceptedConnectorView};
pub use add::{AddConnector, AddConnectorInput, AddedConnectorView};
pub use list::ListConnectors;
pub use login::{ConnectorLoginLinkView, LoginConnector};
pub use logout::{LoggedOutConnectorView, LogoutConnector};
pub use logs::{ConnectorLogInput, ConnectorLogView, ShowConnectorLog};
pub use pending_logout::RevokedLoginView;
pub(crate) use pending_logout::{LOGGED_OUT, LOGOUT_REQUESTED};
pub use remove::{RemoveConnector, RemovedConnectorView};
pub use show::{ConnectorInput, ShowConnector};
pub use test::{ConnectorFindingView, ConnectorTestView, TestConnector, TestConnectorInput};
pub(crate) use transport::check_transport;
pub use view::{ConnectorNodeView, ConnectorView, SkippedToolView};

use munshi_connectors::entries::ConnectorEntries;
use munshi_connectors::rows;
use munshi_identity::keys::KeySpeaker;
use munshi_pack::operation::{IdempotencyKey, OperationCaller, OperationError, OperationErrorCode};
use munshi_store::AdminTx;
use munshi_types::Timestamp;
use serde_json::json;

use crate::HouseCall;
use crate::connector_errors::convert_connector_error;

/// Puts another list in force and tells the audit; gives its version.
fn save_entries(
    tx: &mut AdminTx<'_, '_>,
    declared: &ConnectorEntries,
    by: &str,
    note: &str,
    now: Timestamp,
) -> Result<i64, OperationError> {
    let version = rows::save_entries(tx, declared, by, note, now).map_err(convert_connector_error)?;
    tx.note("connectors.changed", "connectors", json!({ "version": version, "note": note }));
    Ok(version)
}

/// The same call for what follows its change; its idempotency key was taken with that.
pub(crate) fn continue_call(call: &HouseCall) -> HouseCall {
    HouseCall {
        db: call.db.clone(),
        ids: call.ids.clone(),
        random: call.random.clone(),
        now: call.now,
        caller: call.caller.clone(),
        tenant: call.tenant.clone(),
        idempotency: IdempotencyKey::default(),
        services: call.services.clone(),
    }
}

/// Whom a connector leads to, and what of it was accepted, somebody has looked at.
fn refuse_program(caller: &OperationCaller) -> Result<(), OperationError> {
    if caller.is_keeper() || caller.speaks_as() == KeySpeaker::Person {
        return Ok(());
    }
    let what = "Somebody has to look at changed connectors: a program's key changes none.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("Use a key that speaks as a person, a keeper's key, or the command on the machine itself."))
}

//! Signs that somebody types.

use munshi_conversations::presence;
use munshi_server::error::ApiError;
use munshi_types::{PersonId, SessionId, TenantId};

use crate::app::api::Api;

/// Shows that somebody types in a session. Whoever says so all the time is only read for, not written.
pub(crate) async fn sign_typing(
    api: &Api,
    tenant: TenantId,
    (session, person): (SessionId, PersonId),
) -> Result<(), ApiError> {
    let now = api.clock.now();
    if api.db.read(tenant, move |tx| presence::is_sign_due(tx, session, person, now)).await? {
        api.db.write(tenant, move |tx| presence::sign_typing(tx, session, person, now)).await?;
    }
    Ok(())
}

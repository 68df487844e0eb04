//! The host as those see it who call its tools.

use std::sync::{Arc, PoisonError};

use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_store::Tx;
use munshi_tools::{LostLogin, TenantToolSource, TenantTools};
use munshi_types::{PersonId, TenantId, Timestamp};

use crate::error::Error;
use crate::host::ConnectorHost;
use crate::login;

impl TenantToolSource for ConnectorHost {
    fn tenant_tools(&self, tenant: TenantId) -> Arc<TenantTools> {
        let tools = self.inner.tenant_tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(&tenant).cloned().unwrap_or_default()
    }

    fn is_settled(&self, tenant: TenantId) -> bool {
        self.inner.is_settled(tenant) && !self.inner.may_bring_tools(tenant)
    }

    fn create_login_link(
        &self,
        tx: &mut Tx<'_>,
        connector: &str,
        to: PersonId,
    ) -> munshi_tools::Result<Option<String>> {
        let (Some(base), Some(_)) = (&self.inner.base, &self.inner.way.logins) else { return Ok(None) };
        let by = AuditActor::new(AuditActorKind::Person, to.to_string());
        let said = self.inner.last_challenge(tx.tenant(), connector);
        let chance = (self.inner.random.as_ref(), self.inner.clock.now());
        let token =
            login::insert_link(tx, connector, (by, Some(to)), said, chance).map_err(to_tools_error)?;
        Ok(Some(login::build_link_url(base, &token)))
    }

    fn verify_login_code(
        &self,
        tx: &mut Tx<'_>,
        person: PersonId,
        words: &str,
    ) -> munshi_tools::Result<Option<String>> {
        login::verify_code(tx, person, words, self.inner.clock.now()).map_err(to_tools_error)
    }

    fn supports_login_links(&self) -> bool {
        self.inner.base.is_some() && self.inner.way.logins.is_some()
    }

    fn find_login_time(&self, tx: &mut Tx<'_>, connector: &str) -> munshi_tools::Result<Option<Timestamp>> {
        login::find_login_time(tx, connector).map_err(to_tools_error)
    }

    fn list_lost_logins(&self, tx: &mut Tx<'_>) -> munshi_tools::Result<Vec<LostLogin>> {
        Ok(login::list_losses(tx)?)
    }
}

fn to_tools_error(error: Error) -> munshi_tools::Error {
    match error {
        Error::Store(error) => error.into(),
        Error::Safety(error) => error.into(),
        other => munshi_store::Error::Refused(other.to_string()).into(),
    }
}

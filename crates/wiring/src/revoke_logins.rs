//! Logins at connectors that are taken away: forgotten here with the connector, and given back at their services.

use std::sync::Arc;

use munshi_config::Config;
use munshi_connectors::ConnectorLogins;
use munshi_connectors::login::{LoginRevocation, RevocableLogin};
use munshi_store::Db;
use munshi_types::{Clock, ConnectorName, TenantId};
use serde::Serialize;

use crate::connectors;
use crate::failure::Result;

/// What became of one login.
#[derive(Debug, Serialize)]
pub struct LoginRevocationReport {
    pub connector: ConnectorName,
    pub login: &'static str,
    #[serde(skip)]
    pub words: String,
}

/// Logins that are about to be forgotten. What is kept here opens the door, so it is read before and given back after.
pub struct LoginRevocationPlan(Option<(ConnectorLogins, Vec<(ConnectorName, RevocableLogin)>)>);

impl LoginRevocationPlan {
    /// Those of these connectors.
    pub async fn load(
        config: &Config,
        db: &Db,
        clock: &Arc<dyn Clock>,
        names: &[(TenantId, ConnectorName)],
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self(None));
        }
        let logins = connectors::build_logins(config, db, clock).await?;
        let mut last = Vec::new();
        for (tenant, name) in names {
            last.extend(logins.find_revocable(*tenant, name).await?.map(|login| (name.clone(), login)));
        }
        Ok(Self(Some((logins, last))))
    }

    /// Tells their services, once nobody uses them any more. Whatever those say, they stay forgotten.
    pub async fn revoke(self) -> Vec<LoginRevocationReport> {
        let Some((logins, last)) = self.0 else { return Vec::new() };
        let mut gone = Vec::new();
        for (connector, last) in last {
            let given = logins.revoke_login(&last).await;
            let (login, words) = describe_revocation(&connector, &given);
            gone.push(LoginRevocationReport { connector, login, words });
        }
        gone
    }
}

/// What became of a login, in a word and in words.
fn describe_revocation(name: &ConnectorName, given: &LoginRevocation) -> (&'static str, String) {
    match given {
        LoginRevocation::Revoked => {
            ("revoked", format!("Removed the login of {name} and revoked it at the service.\n"))
        }
        LoginRevocation::NotTaken { at } => (
            "forgotten",
            format!(
                "Removed the login of {name}. {at} does not support revocation: revoke the access of {name} there.\n"
            ),
        ),
        LoginRevocation::NotHeard { at, why } => (
            "forgotten",
            format!(
                "Removed the login of {name}, but could not revoke it: {why}. Revoke the access of {name} at {at}.\n"
            ),
        ),
    }
}

//! Whoever opens the demo's pages on this machine is its owner: the shop is nobody's, and the server listens here alone.

use async_trait::async_trait;
use munshi_types::{PersonId, TenantId};
use munshi_web::ApiError;
use munshi_web::visitor::proofs::{HeaderMap, NoProofs, Proofs};

/// What a proxy or another machine's page would add or name otherwise.
const PASSED_ON: [&str; 5] = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
const HERE: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

pub(super) struct OwnerHere {
    pub(super) tenant: TenantId,
    pub(super) person: PersonId,
}

#[async_trait]
impl Proofs for OwnerHere {
    async fn host(&self, tenant: TenantId, binding: &str, token: &str) -> Result<PersonId, ApiError> {
        NoProofs.host(tenant, binding, token).await
    }

    async fn signed_in(&self, tenant: TenantId, headers: &HeaderMap) -> Result<Option<PersonId>, ApiError> {
        Ok((tenant == self.tenant && is_here(headers)).then_some(self.person))
    }

    async fn is_operator(&self, headers: &HeaderMap) -> Result<bool, ApiError> {
        Ok(is_here(headers))
    }
}

/// Whether a page was opened by a name of this machine: one that was made to lead here from elsewhere is not believed.
fn is_here(headers: &HeaderMap) -> bool {
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    HERE.contains(&name) && !PASSED_ON.iter().any(|passed| headers.contains_key(*passed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_of_this_machine_is_believed() {
        let asked = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            is_here(&headers)
        };
        assert!(asked(&[("host", "127.0.0.1:8400")]) && asked(&[("host", "[::1]:8400")]));
        assert!(!asked(&[("host", "evil.example:8400")]) && !asked(&[]));
        assert!(!asked(&[("host", "localhost:8400"), ("x-forwarded-for", "203.0.113.1")]));
    }
}

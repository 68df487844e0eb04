//! How operators sign in, and where hosts' keys come from.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use munshi_config::{Config, NewcomerRole};
use munshi_identity::Role;
use munshi_identity::hosts::{HostKeySource, HostTokenVerifier};
use munshi_identity::passwords::PasswordService;
use munshi_safety::vault::{SecretRef, Vault};
use munshi_store::Db;
use munshi_types::{SystemRandom, TenantId, Timestamp};
use munshi_web::SignInServices;
use munshi_web::account::oidc::{OidcClient, OidcSettings};
use munshi_web::http_client::OutboundHttpClient;
use munshi_web::visitor::local_session;
use munshi_wiring::account;
use munshi_wiring::failure::{CommandFailure, Result};
use zeroize::Zeroizing;

pub(crate) async fn build_services(config: &Config, vault: &Vault) -> Result<SignInServices> {
    Ok(SignInServices {
        passwords: PasswordService::new(Arc::new(SystemRandom))?,
        public_url: account::public_url(config),
        invitation_life: account::invitation_life(config),
        oidc: oidc(config, vault).await?,
    })
}

async fn oidc(config: &Config, vault: &Vault) -> Result<Option<OidcClient>> {
    let settings = &config.sign_in;
    let Some(issuer) = &settings.oidc_issuer else { return Ok(None) };
    let wrong = |what: &str, hint: &str| CommandFailure::usage(what.to_owned()).hint(hint.to_owned());
    if settings.oidc_client_id.is_empty() {
        return Err(wrong(
            "sign_in.oidc_issuer is set, but not sign_in.oidc_client_id",
            "set sign_in.oidc_client_id",
        ));
    }
    let secret = match settings.oidc_client_secret.reveal() {
        "" => None,
        text if text.starts_with("vault:") => {
            let name: SecretRef = text.parse()?;
            Some(Zeroizing::new(vault.open(TenantId::PLATFORM, &name).await?.expose().to_owned()))
        }
        text => Some(Zeroizing::new(text.to_owned())),
    };
    let role = match settings.oidc_newcomer_role {
        NewcomerRole::None => None,
        NewcomerRole::Viewer => Some(Role::Viewer),
        NewcomerRole::Staff => Some(Role::Staff),
        NewcomerRole::Admin => Some(Role::Admin),
    };
    let newcomers = match role {
        None => None,
        Some(role) => {
            let tenant = settings.oidc_newcomer_tenant.parse().map_err(|_| {
                wrong("sign_in.oidc_newcomer_role is set, but no tenant", "set sign_in.oidc_newcomer_tenant")
            })?;
            Some((tenant, role))
        }
    };
    let settings = OidcSettings {
        issuer: issuer.reveal().to_owned(),
        client_id: settings.oidc_client_id.clone(),
        client_secret: secret,
        domains: settings.oidc_domains.clone(),
        newcomers,
    };
    Ok(Some(OidcClient::new(settings, build_http_client()?)))
}

fn build_http_client() -> Result<OutboundHttpClient> {
    OutboundHttpClient::new()
        .map_err(|error| CommandFailure::failed(format!("can't create the HTTP client: {error}")))
}

pub(crate) fn build_host_verifier(db: &Db, vault: &Vault) -> Result<HostTokenVerifier> {
    Ok(HostTokenVerifier::new(
        db.clone(),
        Arc::new(Keys { vault: vault.clone(), outgoing: build_http_client()? }),
    ))
}

/// Hosts' keys from the vault and from their own addresses.
struct Keys {
    vault: Vault,
    outgoing: OutboundHttpClient,
}

#[async_trait]
impl HostKeySource for Keys {
    async fn load_secret(&self, tenant: TenantId, name: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        let name = SecretRef::from_name(name).map_err(|error| error.to_string())?;
        let secret = self.vault.open(tenant, &name).await.map_err(|error| error.to_string())?;
        Ok(Zeroizing::new(secret.expose().as_bytes().to_vec()))
    }

    async fn fetch_published(&self, address: &str) -> Result<String, String> {
        self.outgoing.get(address).await
    }
}

/// The link that makes a browser known as one in front of this machine, and leads on to a path. None where the address is
/// not this machine's own: nobody who comes by another is taken for sitting here.
pub(crate) async fn create_local_link(
    vault: &Vault,
    now: Timestamp,
    base: &str,
    next: &str,
) -> Result<Option<String>> {
    let address = base.strip_prefix("http://").and_then(|place| place.parse::<SocketAddr>().ok());
    if !address.is_some_and(|address| address.ip().is_loopback()) {
        return Ok(None);
    }
    let key = vault.code_key(TenantId::PLATFORM, now).await?;
    Ok(Some(format!("{base}{}", local_session::link_path(&key, next, now))))
}

//! How operators sign in, and where hosts' keys come from.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_config::{Config, NewcomerRole};
use munshi_identity::hosts::{HostKeySource, HostTokenVerifier};
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::passwords::PasswordService;
use munshi_identity::{Role, SecretToken};
use munshi_safety::vault::{SecretRef, Vault};
use munshi_store::{Db, PlatformTx};
use munshi_types::{IdGenerator, SystemRandom, TenantId, Timestamp};
use munshi_web::SignInServices;
use munshi_web::account::oidc::{OidcClient, OidcSettings};
use munshi_web::http_client::OutboundHttpClient;
use munshi_web::visitor::local_session;
use zeroize::Zeroizing;

use crate::commands::serve::to_reachable_address;
use crate::failure::{CommandFailure, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) async fn build_services(config: &Config, vault: &Vault) -> Result<SignInServices> {
    Ok(SignInServices {
        passwords: PasswordService::new(Arc::new(SystemRandom))?,
        public_url: public_url(config),
        invitation_life: invitation_life(config),
        oidc: oidc(config, vault).await?,
    })
}

/// How long an invitation waits, as the settings say.
pub(crate) fn invitation_life(config: &Config) -> Duration {
    DAY.saturating_mul(u32::try_from(config.sign_in.invitation_days).unwrap_or(u32::MAX))
}

pub(crate) fn public_url(config: &Config) -> Option<String> {
    config.server.public_url.as_ref().map(|url| url.reveal().trim_end_matches('/').to_owned())
}

/// Where people open this: as the settings say, or where it listens.
pub(crate) fn base_url(config: &Config, address: SocketAddr) -> String {
    public_url(config).unwrap_or_else(|| format!("http://{}", to_reachable_address(address)))
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

/// Whether the first operator has not come yet.
pub(crate) async fn has_no_operators(db: &Db) -> Result<bool> {
    Ok(!db.platform(OPERATORS).read(operators::has_any).await?)
}

/// The link that makes the first operator; none where there is one.
pub(crate) async fn create_first_link(db: &Db, now: Timestamp, base: &str) -> Result<Option<String>> {
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<Option<SecretToken>, munshi_identity::Error> {
        if operators::has_any(tx)? {
            return Ok(None);
        }
        let new = NewOneTimeLink { purpose: &LinkPurpose::First, made_by: "munshi serve", life: links::LIFE };
        let (_, token) = links::make(tx, &IdGenerator::system(), &SystemRandom, &new, now)?;
        Ok(Some(token))
    };
    let token = db.platform(OPERATORS).write(unit).await?;
    Ok(token.map(|token| link(base, &token)))
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

/// Whether it is for whoever sits at the machine: nobody has an account, and nothing says that others come here.
pub(crate) async fn is_local_only(config: &Config, db: &Db) -> Result<bool> {
    Ok(config.server.public_url.is_none() && !db.platform(OPERATORS).read(operators::has_any).await?)
}

pub(crate) fn link(base: &str, token: &SecretToken) -> String {
    format!("{base}/account/link/{}", token.reveal())
}

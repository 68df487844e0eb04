//! Where operators open this, the links that let them in, and whether there are any yet.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use munshi_config::Config;
use munshi_identity::SecretToken;
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::{Db, PlatformTx};
use munshi_types::{IdGenerator, SystemRandom, Timestamp};

use crate::failure::Result;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long an invitation waits, as the settings say.
pub fn invitation_life(config: &Config) -> Duration {
    DAY.saturating_mul(u32::try_from(config.sign_in.invitation_days).unwrap_or(u32::MAX))
}

pub fn public_url(config: &Config) -> Option<String> {
    config.server.public_url.as_ref().map(|url| url.reveal().trim_end_matches('/').to_owned())
}

/// Where people open this: as the settings say, or where it listens.
pub fn base_url(config: &Config, address: SocketAddr) -> String {
    public_url(config).unwrap_or_else(|| format!("http://{}", to_reachable_address(address)))
}

/// An address a person can open: "any address" is none.
pub fn to_reachable_address(address: SocketAddr) -> SocketAddr {
    let host = match address.ip() {
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(host, address.port())
}

/// Whether the first operator has not come yet.
pub async fn has_no_operators(db: &Db) -> Result<bool> {
    Ok(!db.platform(OPERATORS).read(operators::has_any).await?)
}

/// The link that makes the first operator; none where there is one.
pub async fn create_first_link(db: &Db, now: Timestamp, base: &str) -> Result<Option<String>> {
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

/// Whether it is for whoever sits at the machine: nobody has an account, and nothing says that others come here.
pub async fn is_local_only(config: &Config, db: &Db) -> Result<bool> {
    Ok(config.server.public_url.is_none() && has_no_operators(db).await?)
}

pub fn link(base: &str, token: &SecretToken) -> String {
    format!("{base}/account/link/{}", token.reveal())
}

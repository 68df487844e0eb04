//! Hosts' keys as the store keeps them.

use munshi_store::{AdminTx, Row, Tx, params};
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::jwt::{Jwk, JwtAlgorithm};

/// Keys of one host that are good at once: the one in use, and the next.
const AT_ONCE: usize = 2;

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostKeyValueKind {
    /// The name of a secret in the vault.
    Secret,
    /// A public key, as a JWK.
    Public,
    /// Where public keys are.
    Address,
}

impl HostKeyValueKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Public => "public",
            Self::Address => "address",
        }
    }
}

/// A key to be added.
#[derive(Clone, Debug)]
pub struct NewHostKey {
    /// What tokens call it.
    pub kid: String,
    /// Whose visitors it vouches for; keys that follow each other have the same.
    pub host: String,
    pub algorithm: JwtAlgorithm,
    pub holds: HostKeyValueKind,
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostKey {
    pub kid: String,
    pub host: String,
    pub algorithm: JwtAlgorithm,
    pub holds: HostKeyValueKind,
    /// A name in the vault, a JWK or an address: nothing secret.
    pub value: String,
    pub added_at: Timestamp,
    /// From then on it is good for nothing.
    pub ends_at: Option<Timestamp>,
}

impl HostKey {
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ends_at.is_none_or(|end| now < end)
    }
}

pub fn add(tx: &mut AdminTx<'_, '_>, new: &NewHostKey, now: Timestamp) -> Result<HostKey> {
    check(new)?;
    let live = list(tx)?.into_iter().filter(|key| key.host == new.host && key.is_live(now)).count();
    if live >= AT_ONCE {
        let host = &new.host;
        let what = format!("{host} already has two active keys: retire the older one before adding another");
        return Err(Error::Invalid(what));
    }
    let added = tx.execute(
        "INSERT INTO host_keys (tenant_id, kid, host, algorithm, holds, value, added_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, kid) DO NOTHING",
        params![new.kid, new.host, new.algorithm.as_str(), new.holds.as_str(), new.value, now],
    )?;
    if added == 0 {
        return Err(Error::NameTaken(new.kid.clone()));
    }
    find(tx, &new.kid)?.ok_or_else(|| Error::Invalid(format!("key {} can't be stored", new.kid)))
}

fn check(new: &NewHostKey) -> Result<()> {
    let invalid = |what: &str| Err(Error::Invalid(what.to_owned()));
    let plain = |text: &str, most: usize| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        (1..=most).contains(&text.len()) && text.bytes().all(fits)
    };
    if !plain(&new.kid, 100) {
        return invalid("a key name must be 1 to 100 letters, digits, dots, dashes and underscores");
    }
    if !plain(&new.host, 60) {
        return invalid("a host name must be 1 to 60 letters, digits, dots, dashes and underscores");
    }
    let shared = new.algorithm == JwtAlgorithm::Hs256;
    match new.holds {
        HostKeyValueKind::Secret if !shared => invalid("a vault secret works only with HS256"),
        HostKeyValueKind::Public | HostKeyValueKind::Address if shared => {
            invalid("HS256 needs a vault secret")
        }
        HostKeyValueKind::Public => {
            let jwk: Option<Jwk> = serde_json::from_str(&new.value).ok();
            let fits = jwk
                .and_then(|jwk| jwk.to_verification_key())
                .is_some_and(|key| key.algorithm() == new.algorithm);
            if fits { Ok(()) } else { invalid("not a public key for that algorithm") }
        }
        HostKeyValueKind::Address if !is_safe(&new.value) => {
            invalid("the address of the keys must begin with https://")
        }
        HostKeyValueKind::Secret | HostKeyValueKind::Address => Ok(()),
    }
}

/// Keys that come over a line anybody can change are nobody's; on this machine there is no such line. A name before the
/// host, as in `http://127.0.0.1:1@elsewhere/`, would hide which host it is, and so does a backslash, which some read as
/// a slash.
fn is_safe(address: &str) -> bool {
    let plain = address.len() <= 500 && address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let here = ["127.0.0.1", "localhost", "[::1]"];
    let is_here =
        host.rsplit_once(':').is_some_and(|(name, port)| here.contains(&name) && port.parse::<u16>().is_ok());
    plain && !host.is_empty() && !host.contains('@') && (scheme == "https" || (scheme == "http" && is_here))
}

pub fn find(tx: &mut Tx<'_>, kid: &str) -> Result<Option<HostKey>> {
    Ok(tx.optional(
        "SELECT kid, host, algorithm, holds, value, added_at, ends_at FROM host_keys
         WHERE tenant_id = $1 AND kid = $2",
        params![kid],
        read,
    )?)
}

/// The newest first, those that have ended too.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<HostKey>> {
    Ok(tx.all(
        "SELECT kid, host, algorithm, holds, value, added_at, ends_at FROM host_keys
         WHERE tenant_id = $1 ORDER BY added_at DESC, kid LIMIT 1000",
        &[],
        read,
    )?)
}

/// Lets a key end; none where there is no such. It can end sooner than was said before, never later.
pub fn retire(tx: &mut AdminTx<'_, '_>, kid: &str, ends_at: Timestamp) -> Result<Option<HostKey>> {
    tx.execute(
        "UPDATE host_keys SET ends_at = $3
         WHERE tenant_id = $1 AND kid = $2 AND (ends_at IS NULL OR ends_at > $3)",
        params![kid, ends_at],
    )?;
    find(tx, kid)
}

pub(super) fn find_live(tx: &mut Tx<'_>, kid: &str, now: Timestamp) -> munshi_store::Result<Option<HostKey>> {
    let found = tx.optional(
        "SELECT kid, host, algorithm, holds, value, added_at, ends_at FROM host_keys
         WHERE tenant_id = $1 AND kid = $2 AND holds <> 'address'",
        params![kid],
        read,
    )?;
    Ok(found.filter(|key| key.is_live(now)))
}

/// Where keys are published, as long as they count.
pub(super) fn list_live_addresses(tx: &mut Tx<'_>, now: Timestamp) -> munshi_store::Result<Vec<HostKey>> {
    let mut found = tx.all(
        "SELECT kid, host, algorithm, holds, value, added_at, ends_at FROM host_keys
         WHERE tenant_id = $1 AND holds = 'address' ORDER BY added_at DESC, kid LIMIT 20",
        &[],
        read,
    )?;
    found.retain(|key| key.is_live(now));
    Ok(found)
}

fn read(row: &Row<'_>) -> munshi_store::Result<HostKey> {
    let odd = |what: String| munshi_store::Error::Decode(what);
    let holds = match row.get::<String>("holds")?.as_str() {
        "secret" => HostKeyValueKind::Secret,
        "public" => HostKeyValueKind::Public,
        "address" => HostKeyValueKind::Address,
        other => return Err(odd(format!("unknown host key kind {other}"))),
    };
    Ok(HostKey {
        kid: row.get("kid")?,
        host: row.get("host")?,
        algorithm: row.get::<String>("algorithm")?.parse().map_err(odd)?,
        holds,
        value: row.get("value")?,
        added_at: row.get("added_at")?,
        ends_at: row.get("ends_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn an_address_names_its_host_openly() {
        for good in [
            "https://shop.example/keys",
            "http://127.0.0.1:8080/keys",
            "http://localhost:1",
            "http://[::1]:9/k",
        ] {
            assert!(is_safe(good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:1@evil.example/",
            "http://localhost:x@evil.example/keys",
            "https://shop.example@evil.example/keys",
            "http://127.0.0.1:80\\@evil.example/",
            "http://127.0.0.1/keys",
            "http://evil.example:80/",
            "https:///keys",
            "ftp://127.0.0.1:1/",
            "https://shop.example/a b",
        ] {
            assert!(!is_safe(bad), "{bad}");
        }
    }
}

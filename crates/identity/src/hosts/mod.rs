//! Visitors whom a host vouches for: a shop's own server signs a short token that says who is looking at its page, and the
//! widget brings it along.
//!
//! A tenant has keys by name (`kid`), each for one algorithm: a shared secret in the vault, a public key, or an address
//! where public keys are. To change a key, add the next beside it, sign with that, and retire the first.
//!
//! The token is a JWT with `sub` (the host's own id for the visitor), `aud` (the binding's name) and `iat`; `exp`, `name`,
//! `email`, `phone_number` and `locale` if one likes. It is good for an hour at most.

mod rows;
mod visitor;

pub use rows::{HostKey, HostKeyValueKind, NewHostKey, add, find, list, retire};
pub use visitor::HostVisitor;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use munshi_store::Db;
use munshi_types::{TenantId, Timestamp};
use zeroize::Zeroizing;

use crate::jwt::{ClaimRequirements, Jwk, JwkSet, JwtAlgorithm, JwtError, UnverifiedJwt, VerificationKey};

/// Older tokens are not believed, whatever they say of themselves.
pub const MAX_AGE: Duration = Duration::from_secs(60 * 60);
/// How far the host's clock may differ from ours.
pub const LEEWAY: Duration = Duration::from_secs(60);
/// Published keys are read again after so long.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// For a key that is not among them they are read again, but no more often than this.
const AGAIN: Duration = Duration::from_secs(60);
/// More addresses than this are not remembered.
const MANY: usize = 1_000;

/// Where keys come from that are not in the database.
#[async_trait]
pub trait HostKeySource: Send + Sync + 'static {
    /// A tenant's secret of the vault.
    async fn load_secret(&self, tenant: TenantId, name: &str) -> Result<Zeroizing<Vec<u8>>, String>;

    /// What an address answers with: a JWKS, at most a megabyte of it.
    async fn fetch_published(&self, address: &str) -> Result<String, String>;
}

/// Why a host's word is not taken.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HostError {
    /// The token is at fault; the words are for whoever wrote the host's server.
    #[error("invalid host token: {0}")]
    Distrust(#[from] JwtError),
    /// Its key could not be read just now.
    #[error("the host key can't be read: {0}")]
    Unavailable(String),
    #[error(transparent)]
    Store(#[from] munshi_store::Error),
}

/// Looks at hosts' tokens. One for the process; clones share what they know.
#[derive(Clone)]
pub struct HostTokenVerifier {
    db: Db,
    source: Arc<dyn HostKeySource>,
    published: Arc<Mutex<HashMap<String, Published>>>,
}

#[derive(Clone)]
struct Published {
    keys: Arc<JwkSet>,
    read_at: Timestamp,
}

impl HostTokenVerifier {
    pub fn new(db: Db, source: Arc<dyn HostKeySource>) -> Self {
        Self { db, source, published: Arc::default() }
    }

    /// Who the visitor is, if a host of this tenant says so to this binding, now.
    pub async fn verify(
        &self,
        tenant: TenantId,
        binding: &str,
        token: &str,
        now: Timestamp,
    ) -> Result<HostVisitor, HostError> {
        let unverified = UnverifiedJwt::read(token)?;
        let kid = unverified.kid().ok_or(JwtError::NoKid)?.to_owned();
        let asked = kid.clone();
        let known = self.db.read(tenant, move |tx| rows::find_live(tx, &asked, now)).await?;
        let (host, claims) = match known {
            Some(row) => {
                let key = self.key(tenant, &row).await?;
                (row.host, unverified.verify(&key)?)
            }
            None => self.verify_by_published(tenant, &unverified, &kid, now).await?,
        };
        let expected =
            ClaimRequirements { issuer: None, audience: binding, leeway: LEEWAY, max_age: MAX_AGE };
        claims.check(&expected, now)?;
        Ok(HostVisitor::from_claims(host, kid, claims)?)
    }

    async fn key(&self, tenant: TenantId, row: &HostKey) -> Result<VerificationKey, HostError> {
        let unfit = || HostError::Unavailable(format!("key {} does not match its algorithm", row.kid));
        let key = match row.holds {
            HostKeyValueKind::Secret => {
                let secret =
                    self.source.load_secret(tenant, &row.value).await.map_err(HostError::Unavailable)?;
                VerificationKey::from_secret(&secret)
            }
            HostKeyValueKind::Public => {
                serde_json::from_str::<Jwk>(&row.value).ok().and_then(|jwk| jwk.to_verification_key())
            }
            // Its own name is not a key's.
            HostKeyValueKind::Address => return Err(JwtError::UnknownKey(row.kid.clone()).into()),
        };
        key.filter(|key| key.algorithm() == row.algorithm).ok_or_else(unfit)
    }

    /// A key that one of the tenant's addresses publishes.
    async fn verify_by_published(
        &self,
        tenant: TenantId,
        unverified: &UnverifiedJwt<'_>,
        kid: &str,
        now: Timestamp,
    ) -> Result<(String, crate::jwt::JwtClaims), HostError> {
        let places = self.db.read(tenant, move |tx| rows::list_live_addresses(tx, now)).await?;
        let mut unread = None;
        for place in places {
            match self.load_published(&place.value, kid, now).await {
                Ok(keys) => {
                    let fits = |key: &&VerificationKey| {
                        key.algorithm() == place.algorithm && place.algorithm != JwtAlgorithm::Hs256
                    };
                    if let Some(key) = keys.find(Some(kid)).filter(fits) {
                        return Ok((place.host, unverified.verify(key)?));
                    }
                }
                Err(error) => unread = Some(error),
            }
        }
        Err(unread.map_or_else(|| JwtError::UnknownKey(sanitize_text(kid)).into(), HostError::Unavailable))
    }

    /// What an address publishes: as it was read lately, unless the key that is wanted is not among it.
    async fn load_published(&self, address: &str, kid: &str, now: Timestamp) -> Result<Arc<JwkSet>, String> {
        let known = self.lock().get(address).cloned();
        if let Some(known) = &known {
            let age = now.since(known.read_at);
            let has = known.keys.find(Some(kid)).is_some();
            if (has && age < FRESH) || (!has && age < AGAIN) {
                return Ok(known.keys.clone());
            }
        }
        let text = self.source.fetch_published(address).await?;
        let keys = JwkSet::parse(&text).ok_or_else(|| format!("{address} publishes no JWK set"))?;
        let keys = Arc::new(keys);
        let mut published = self.lock();
        if published.len() >= MANY {
            published.clear();
        }
        published.insert(address.to_owned(), Published { keys: keys.clone(), read_at: now });
        Ok(keys)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Published>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name from outside, as an answer may repeat it.
fn sanitize_text(text: &str) -> String {
    text.chars().filter(char::is_ascii_graphic).take(60).collect()
}

impl fmt::Debug for HostTokenVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostTokenVerifier")
    }
}

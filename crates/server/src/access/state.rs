//! The parts that authenticate a request, shared by all of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Once, PoisonError};

use async_trait::async_trait;
use axum::http::HeaderMap;
use munshi_identity::codes::CodeKey;
use munshi_identity::hosts::HostTokenVerifier;
use munshi_identity::keys::ApiKeyCache;
use munshi_safety::rate_limits::{self, RateLimit};
use munshi_store::{Db, PlatformTx, Tx, tenants};
use munshi_tiers::BindingResolver;
use munshi_types::{Clock, IdGenerator, Random, Tenant, TenantId};

use super::authenticator::VisitorAuthenticator;
use super::sign_in::SignInServices;
use crate::client_address::{self, UNNAMED_PROXY};
use crate::error::ApiError;
use crate::limits::NodeRateLimiter;
use crate::options::Peer;

/// More tenants than this are not remembered by name.
const MANY: usize = 10_000;

/// What [`Access`] is made of.
pub struct AccessParts {
    pub db: Db,
    pub keys: ApiKeyCache,
    pub resolver: BindingResolver,
    pub codes: Arc<dyn CodeKeySource>,
    pub account: SignInServices,
    pub hosts: HostTokenVerifier,
    pub proofs: Arc<dyn VisitorAuthenticator>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub limits: NodeRateLimiter,
    /// Those whose word about who asked is taken.
    pub proxies: Vec<IpAddr>,
}

/// Where the keys of one-time codes come from: outside the database.
#[async_trait]
pub trait CodeKeySource: Send + Sync + 'static {
    async fn load_key(&self, tenant: TenantId) -> munshi_safety::Result<CodeKey>;
}

/// The state of a router that authenticates requests. None of its extractors knows more of it.
pub trait AccessSource: Send + Sync {
    /// An error where this server authenticates nobody.
    fn access(&self) -> Result<&Access, ApiError>;
}

/// The parts, shared by every request. Cheap to clone.
#[derive(Clone)]
pub struct Access(Arc<AccessState>);

/// What [`Access`] shares.
pub struct AccessState {
    pub db: Db,
    pub keys: ApiKeyCache,
    pub resolver: BindingResolver,
    pub codes: Arc<dyn CodeKeySource>,
    /// How operators sign in.
    pub account: SignInServices,
    hosts: HostTokenVerifier,
    /// What sign-in and hosts have proved of somebody at a page.
    pub proofs: Arc<dyn VisitorAuthenticator>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub ids: IdGenerator,
    pub limits: NodeRateLimiter,
    proxies: Vec<IpAddr>,
    /// Done when a proxy on this machine that the settings don't name was told in the log.
    unnamed_proxy: Once,
    /// A tenant keeps its name and zone.
    tenants: Mutex<HashMap<TenantId, Arc<Tenant>>>,
}

impl Access {
    pub fn new(parts: AccessParts) -> Self {
        Self(Arc::new(AccessState {
            db: parts.db,
            keys: parts.keys,
            resolver: parts.resolver,
            codes: parts.codes,
            account: parts.account,
            hosts: parts.hosts,
            proofs: parts.proofs,
            ids: IdGenerator::new(parts.clock.clone(), parts.random.clone()),
            clock: parts.clock,
            random: parts.random,
            limits: parts.limits,
            proxies: parts.proxies,
            unnamed_proxy: Once::new(),
            tenants: Mutex::default(),
        }))
    }
}

impl std::ops::Deref for Access {
    type Target = AccessState;

    fn deref(&self) -> &AccessState {
        &self.0
    }
}

impl AccessState {
    /// What hosts say of their visitors.
    pub fn hosts(&self) -> &HostTokenVerifier {
        &self.hosts
    }

    /// The tenant of a key, from memory where it was asked for before.
    pub async fn load_tenant(&self, id: TenantId) -> Result<Arc<Tenant>, ApiError> {
        if let Some(known) = self.lock_tenants().get(&id) {
            return Ok(known.clone());
        }
        let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, id);
        let found = self.db.platform(tenants::TENANTS).read(read).await?;
        let found =
            Arc::new(found.ok_or_else(|| ApiError::internal("the tenant of an API key no longer exists"))?);
        let mut known = self.lock_tenants();
        if known.len() >= MANY {
            known.clear();
        }
        known.insert(id, found.clone());
        Ok(found)
    }

    fn lock_tenants(&self) -> std::sync::MutexGuard<'_, HashMap<TenantId, Arc<Tenant>>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address a request comes from, as a proxy that the settings name tells it.
    pub fn client_address(&self, peer: Option<&Peer>, headers: &HeaderMap) -> Option<IpAddr> {
        let peer = peer?.0.ip().to_canonical();
        if peer.is_loopback() && !self.proxies.contains(&peer) && client_address::is_forwarded(headers) {
            self.unnamed_proxy.call_once(|| {
                tracing::warn!(proxy = %peer, "{UNNAMED_PROXY}");
            });
        }
        Some(client_address::client_address(peer, headers, &self.proxies))
    }

    /// Whether a request came through a proxy on this machine that the settings don't name.
    pub fn has_unnamed_proxy(&self) -> bool {
        self.unnamed_proxy.is_completed()
    }

    /// The address that wrong passwords are counted by; none where a crowd stands behind it.
    pub fn throttle_address(&self, peer: Option<&Peer>, headers: &HeaderMap) -> Option<IpAddr> {
        client_address::throttle_address(peer?.0.ip(), headers, &self.proxies)
    }

    /// Counts in the database what no message carries there.
    pub async fn count_limits(&self, tenant: TenantId, limits: Vec<RateLimit>) -> Result<(), ApiError> {
        let now = self.clock.now();
        let unit = move |tx: &mut Tx<'_>| rate_limits::consume(tx, &limits, now);
        Ok(self.db.write(tenant, unit).await?)
    }

    /// A path as a link for people elsewhere.
    pub fn build_url(&self, headers: &HeaderMap, path: &str) -> String {
        self.account.build_url(headers, path)
    }
}

//! What the routes under `/v1` are made of, and what they share.
//!
//! # Layout
//! - [`Api`]: the parts, made by the binary; `access`: the one table of which route needs what, and [`AuthorizedCaller`](access::AuthorizedCaller),
//!   the extractor that asks for it
//! - `error_conversions`: errors of the floors below, as answers
//! - [`limits`]: how often something may be asked for, counted on this node
//! - `speaker`: for whom a key may speak; `stream`, `stream_registry`: a run's events on their way to a client
//! - `parameters`: ids in paths, pages of lists, texts from outside; `audit_context`: what the audit hears

pub(crate) mod access;
pub(crate) mod audit_context;
mod error_conversions;
pub mod limits;
pub(crate) mod parameters;
pub(crate) mod speaker;
pub(crate) mod stream;
mod stream_registry;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::TurnEngine;
use munshi_agent::outbox::ChannelSender;
use munshi_connectors::ConnectorLogins;
use munshi_identity::codes::CodeKey;
use munshi_identity::hosts::HostTokenVerifier;
use munshi_identity::keys::ApiKeyCache;
use munshi_safety::acts::ActServices;
use munshi_store::{Db, PlatformTx, tenants};
use munshi_tiers::BindingResolver;
use munshi_types::{Clock, IdGenerator, Random, Tenant, TenantId};
use tokio_util::task::TaskTracker;

pub(crate) use self::error_conversions::{not_found_error, sentence};

use self::limits::NodeRateLimiter;
use self::stream_registry::StreamRegistry;
use crate::account::SignInServices;
use crate::error::ApiError;
use crate::openai::retries::CompletionRetryCache;
use crate::visitor::VisitorServices;

/// More tenants than this are not remembered by name.
const MANY: usize = 10_000;

/// What the API is made of.
pub struct ApiParts {
    pub db: Db,
    pub engine: TurnEngine,
    pub keys: ApiKeyCache,
    /// The same that the engine has.
    pub resolver: BindingResolver,
    /// The same that acts are done with: an approval is answered through it.
    pub office: Arc<ActServices>,
    pub codes: Arc<dyn CodeKeySource>,
    /// How operators sign in.
    pub account: SignInServices,
    /// What hosts say of their visitors.
    pub hosts: HostTokenVerifier,
    /// The ways out; a code goes to a phone by one of them.
    pub senders: Vec<Arc<dyn ChannelSender>>,
    /// How people let us into connectors' services; none where nobody can.
    pub logins: Option<ConnectorLogins>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// How long somebody who does not stream waits for an answer. Shorter than a request may take.
    pub patience: Duration,
    /// Requests of one key in a minute.
    pub key_limit: u32,
    /// Requests of one address in a minute that bring no good key.
    pub address_limit: u32,
}

/// Where the keys of one-time codes come from: outside the database.
#[async_trait]
pub trait CodeKeySource: Send + Sync + 'static {
    async fn load_key(&self, tenant: TenantId) -> munshi_safety::Result<CodeKey>;
}

/// The parts, shared by every request.
#[derive(Clone)]
pub struct Api(Arc<ApiState>);

/// What [`Api`] shares; only routes look inside.
pub struct ApiState {
    pub(crate) db: Db,
    pub(crate) engine: TurnEngine,
    pub(crate) keys: ApiKeyCache,
    pub(crate) resolver: BindingResolver,
    pub(crate) office: Arc<ActServices>,
    pub(crate) codes: Arc<dyn CodeKeySource>,
    pub(crate) account: SignInServices,
    hosts: HostTokenVerifier,
    pub(crate) senders: Vec<Arc<dyn ChannelSender>>,
    pub(crate) logins: Option<ConnectorLogins>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) ids: IdGenerator,
    pub(crate) patience: Duration,
    pub(crate) limits: NodeRateLimiter,
    pub(crate) streams: StreamRegistry,
    /// What people at pages are received with.
    pub(crate) visits: VisitorServices,
    pub(crate) retries: CompletionRetryCache,
    /// What goes on though the client has gone.
    pub(crate) tasks: TaskTracker,
    /// Done when a proxy on this machine that the settings don't name was told in the log.
    pub(crate) unnamed_proxy: Once,
    /// A tenant keeps its name and zone.
    tenants: Mutex<HashMap<TenantId, Arc<Tenant>>>,
}

impl Api {
    pub fn new(parts: ApiParts) -> Self {
        Self::with_visitors(parts, VisitorServices::default())
    }

    /// With what people at pages are received with.
    pub fn with_visitors(parts: ApiParts, visits: VisitorServices) -> Self {
        let ids = IdGenerator::new(parts.clock.clone(), parts.random.clone());
        Self(Arc::new(ApiState {
            db: parts.db,
            engine: parts.engine,
            keys: parts.keys,
            resolver: parts.resolver,
            office: parts.office,
            codes: parts.codes,
            account: parts.account,
            hosts: parts.hosts,
            senders: parts.senders,
            logins: parts.logins,
            limits: NodeRateLimiter::new(parts.clock.clone(), parts.key_limit, parts.address_limit),
            clock: parts.clock,
            random: parts.random,
            ids,
            patience: parts.patience,
            streams: StreamRegistry::default(),
            visits,
            retries: CompletionRetryCache::default(),
            tasks: TaskTracker::new(),
            unnamed_proxy: Once::new(),
            tenants: Mutex::default(),
        }))
    }
}

impl std::ops::Deref for Api {
    type Target = ApiState;

    fn deref(&self) -> &ApiState {
        &self.0
    }
}

impl ApiState {
    /// What hosts say of their visitors.
    pub fn hosts(&self) -> &HostTokenVerifier {
        &self.hosts
    }

    /// The tenant of a key, from memory where it was asked for before.
    pub(crate) async fn load_tenant(&self, id: TenantId) -> Result<Arc<Tenant>, ApiError> {
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
}

//! What the routes under `/v1` are made of.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::TurnEngine;
use munshi_blobs::BlobService;
use munshi_channels::incoming::ChannelIntake;
use munshi_connectors::ConnectorLogins;
use munshi_conversations::outbox::SenderDirectory;
use munshi_identity::hosts::HostTokenVerifier;
use munshi_identity::keys::ApiKeyCache;
use munshi_live::{LiveHub, SWEEP};
use munshi_operations::{HouseParts, HouseServices};
use munshi_safety::acts::ActServices;
use munshi_server::access::{Access, AccessParts, CodeKeySource, SignInServices};
use munshi_server::limits::NodeRateLimiter;
use munshi_store::Db;
use munshi_tiers::BindingResolver;
use munshi_types::{Clock, Random};
use tokio_util::task::TaskTracker;

use super::completion_retries::CompletionRetryCache;
use super::stream_registry::StreamRegistry;
use super::visitor_services::VisitorServices;
use crate::live::follower_slots::FollowerSlots;
use crate::live::opened_sessions::OpenedSessions;
use crate::views::file::AddressTerms;

/// How often a stream that stays open looks by itself.
#[derive(Clone, Copy, Debug)]
pub struct StreamPace {
    /// Whether its client may still hear it: whoever has lost the right hears no more after so long.
    pub recheck: Duration,
    /// Whether a page's thread is another, though nobody said so.
    pub sweep: Duration,
}

impl Default for StreamPace {
    fn default() -> Self {
        Self { recheck: Duration::from_secs(30), sweep: SWEEP }
    }
}

/// What the API is made of.
pub struct ApiParts {
    pub db: Db,
    pub engine: TurnEngine,
    pub keys: ApiKeyCache,
    /// What operations need of the settings.
    pub house_parts: Arc<dyn HouseParts>,
    /// The same that the engine has.
    pub resolver: BindingResolver,
    /// The same that acts are done with: an approval is answered through it.
    pub act_services: Arc<ActServices>,
    pub codes: Arc<dyn CodeKeySource>,
    /// How operators sign in.
    pub account: SignInServices,
    /// What hosts say of their visitors.
    pub hosts: HostTokenVerifier,
    /// Where the accounts are found by which a code leaves.
    pub senders: Arc<dyn SenderDirectory>,
    /// Takes what providers of channels send; none where nothing comes so.
    pub intake: Option<ChannelIntake>,
    /// How people let us into connectors' services; none where nobody can.
    pub logins: Option<ConnectorLogins>,
    /// People's files.
    pub files: BlobService,
    /// How long the address of a file works at least.
    pub file_address_lifetime: Duration,
    /// Wakes those who follow conversations; whoever makes it runs it.
    pub live: LiveHub,
    pub stream_pace: StreamPace,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// How long somebody who does not stream waits for an answer. Shorter than a request may take.
    pub reply_timeout: Duration,
    /// Requests of one key in a minute.
    pub key_limit: u32,
    /// Requests of one address in a minute that bring no good key.
    pub address_limit: u32,
}

/// The parts, shared by every request.
#[derive(Clone)]
pub struct Api(Arc<ApiState>);

/// What [`Api`] shares; only routes look inside.
pub struct ApiState {
    /// What requests are authenticated with, which is seen through this.
    access: Access,
    /// What operations need besides a database.
    pub(crate) house: HouseServices,
    pub(crate) engine: TurnEngine,
    pub(crate) act_services: Arc<ActServices>,
    pub(crate) senders: Arc<dyn SenderDirectory>,
    pub(crate) intake: Option<ChannelIntake>,
    pub(crate) logins: Option<ConnectorLogins>,
    pub(crate) files: BlobService,
    file_address_lifetime: Duration,
    pub(crate) reply_timeout: Duration,
    pub(crate) streams: StreamRegistry,
    pub(crate) live: LiveHub,
    pub(crate) stream_pace: StreamPace,
    pub(crate) followers: FollowerSlots,
    pub(crate) opened: OpenedSessions,
    /// What people at pages are received with.
    pub(crate) visitor_services: VisitorServices,
    pub(crate) retries: CompletionRetryCache,
    /// What goes on though the client has gone.
    pub(crate) tasks: TaskTracker,
}

impl Api {
    pub fn new(parts: ApiParts) -> Self {
        Self::with_visitors(parts, VisitorServices::default())
    }

    /// With what people at pages are received with.
    pub fn with_visitors(parts: ApiParts, visitor_services: VisitorServices) -> Self {
        let act_services = parts.act_services.clone();
        let house = HouseServices {
            keys: parts.keys.clone(),
            engine: Some(parts.engine.clone()),
            act_services: Arc::new(move || Ok(act_services.clone())),
            parts: parts.house_parts,
        };
        let access = Access::new(AccessParts {
            db: parts.db,
            keys: parts.keys,
            resolver: parts.resolver,
            codes: parts.codes,
            account: parts.account,
            hosts: parts.hosts,
            proofs: visitor_services.proofs.clone(),
            limits: NodeRateLimiter::new(parts.clock.clone(), parts.key_limit, parts.address_limit),
            clock: parts.clock,
            random: parts.random,
            proxies: visitor_services.proxies.clone(),
        });
        Self(Arc::new(ApiState {
            access,
            house,
            engine: parts.engine,
            act_services: parts.act_services,
            senders: parts.senders,
            intake: parts.intake,
            logins: parts.logins,
            files: parts.files,
            file_address_lifetime: parts.file_address_lifetime,
            reply_timeout: parts.reply_timeout,
            streams: StreamRegistry::default(),
            live: parts.live,
            stream_pace: parts.stream_pace,
            followers: FollowerSlots::default(),
            opened: OpenedSessions::default(),
            visitor_services,
            retries: CompletionRetryCache::default(),
            tasks: TaskTracker::new(),
        }))
    }
}

impl Api {
    /// What somebody has to run, so that those who follow hear of changes.
    pub fn live(&self) -> &LiveHub {
        &self.0.live
    }

    /// What stores what providers tell, for those that have to be asked; none where there are no channels.
    pub fn intake(&self) -> Option<&ChannelIntake> {
        self.0.intake.as_ref()
    }
}

impl ApiState {
    /// For addresses of files that are made now.
    pub(crate) fn address_terms(&self) -> AddressTerms {
        AddressTerms { now: self.clock.now(), lifetime: self.file_address_lifetime }
    }
}

impl std::ops::Deref for Api {
    type Target = ApiState;

    fn deref(&self) -> &ApiState {
        &self.0
    }
}

impl std::ops::Deref for ApiState {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.access
    }
}

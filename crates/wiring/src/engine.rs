//! What answers: the engine of turns with everything it needs.

use std::sync::Arc;

use munshi_agent::{TurnEngine, TurnEngineParts, TurnSettings};
use munshi_channels::ChannelSenders;
use munshi_channels::incoming::MessageReceiver;
use munshi_config::Config;
use munshi_connectors::{ConnectorHost, ConnectorLogins};
use munshi_jobs::JobQueue;
use munshi_pack::PackServices;
use munshi_safety::acts::ActServices;
use munshi_store::Db;
use munshi_tiers::{BindingResolver, ensure_fence_key};
use munshi_tools::ToolDispatcher;
use munshi_types::{Clock, SystemRandom};

use crate::failure::{CommandFailure, Result};
use crate::gateway::ConfiguredGateway;
use crate::message_receiver::EngineReceiver;
use crate::node::NodeLock;
use crate::pack_services::{ConfiguredPackServices, ModelAccess};
use crate::{blobs, channels, connectors, node, packs, tools};

/// The engine, and what the server needs of its parts.
pub struct ConfiguredEngine {
    pub engine: TurnEngine,
    pub act_services: Arc<ActServices>,
    /// What packs work with besides their tables.
    pub pack_services: PackServices,
    /// Where the accounts are found by which messages and codes leave.
    pub senders: ChannelSenders,
    /// Where messages go that come through channels.
    pub receiver: Arc<dyn MessageReceiver>,
    /// Runs the tenants' connectors once it is told to.
    pub host: ConnectorHost,
    /// How people let us into connectors' services.
    pub logins: Option<ConnectorLogins>,
    /// Held while the engine is.
    _node: Option<NodeLock>,
}

impl ConfiguredEngine {
    /// `base` is the address by which people open the server, where there is one.
    pub async fn build(
        config: &Config,
        db: &Db,
        clock: &Arc<dyn Clock>,
        resolver: BindingResolver,
        queue: JobQueue,
        base: Option<String>,
    ) -> Result<Self> {
        let wired = ConfiguredGateway::from_config(config, clock)?;
        // Only a server takes up what others left.
        let (node, process) = if base.is_some() { node::identity(config, db) } else { (None, None) };
        let packs = packs::load_registry()?;
        let mut book = packs.book.clone();
        munshi_guardrails::add_phrases(&mut book)
            .map_err(|error| CommandFailure::failed(error.to_string()))?;
        let act_services =
            Arc::new(tools::build_act_services(config, clock.clone()).on_refusal(packs.clone()));
        let registry = Arc::new(packs.tools.clone());
        let logins = connectors::build_logins(config, db, clock).await?;
        let host =
            connectors::build_host(config, db, clock, registry.clone(), (logins.clone(), base)).await?;
        let dispatcher = ToolDispatcher::new(db.clone(), act_services.clone(), registry, clock.clone());
        let dispatcher = dispatcher.with_connectors(Arc::new(host.clone()));
        let access = ModelAccess {
            gateway: wired.gateway.clone(),
            route: wired.route.clone(),
            classes: Arc::new(wired.classes.clone()),
            act_services: act_services.clone(),
        };
        let senders = channels::build_senders(config, db, clock).await?;
        let engine = TurnEngine::new(TurnEngineParts {
            db: db.clone(),
            resolver: resolver.clone(),
            gateway: wired.gateway,
            route: wired.route,
            dispatcher,
            act_services: act_services.clone(),
            phrasebook: Arc::new(book),
            packs,
            queue,
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
            fence_key: ensure_fence_key(db, &SystemRandom, clock.now()).await?,
            settings: TurnSettings {
                classes: wired.classes,
                grace: config.server.shutdown_grace,
                process,
                files: Some(blobs::build(config, db, clock)?),
                chat_places: config.runs.chat_places,
                join_window: config.runs.join_window,
                ..TurnSettings::default()
            },
            senders: Arc::new(senders.clone()),
        });
        let receiver = Arc::new(EngineReceiver { engine: engine.clone(), resolver });
        let runs = Arc::new(engine.run_starter());
        let source =
            ConfiguredPackServices::new(Arc::new(config.clone()), db.clone(), clock.clone(), Some(access));
        let pack_services = PackServices::new(runs).with_source(Arc::new(source));
        Ok(Self {
            engine,
            act_services,
            pack_services,
            senders,
            receiver,
            host,
            logins: Some(logins),
            _node: node,
        })
    }
}

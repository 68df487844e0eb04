//! What packs work with besides their tables: the vault, the models and the guarded HTTP client of this installation.

use std::sync::Arc;

use async_trait::async_trait;
use munshi_config::Config;
use munshi_http::GuardedHttpClients;
use munshi_llm::Gateway;
use munshi_llm::gateway::ModelRoute;
use munshi_pack::{PackModelParts, PackModels, PackServiceError, PackServiceSource};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::ModelClasses;
use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_types::Clock;
use tokio::sync::OnceCell;

use crate::failure::CommandFailure;
use crate::operations::open_models;
use crate::{connectors, packs, tools, vault};

/// The models that packs may ask, and who decides what they may spend.
#[derive(Clone)]
pub(crate) struct ModelAccess {
    pub(crate) gateway: Gateway,
    pub(crate) route: Arc<ModelRoute>,
    pub(crate) classes: Arc<ModelClasses>,
    pub(crate) act_services: Arc<ActServices>,
}

/// Makes each when a pack first asks for it, and once.
pub(crate) struct ConfiguredPackServices {
    config: Arc<Config>,
    db: Db,
    clock: Arc<dyn Clock>,
    /// The engine's own, where there is one.
    access: Option<ModelAccess>,
    vault: OnceCell<Vault>,
    models: OnceCell<Arc<PackModels>>,
    clients: OnceCell<GuardedHttpClients>,
}

impl ConfiguredPackServices {
    pub(crate) fn new(
        config: Arc<Config>,
        db: Db,
        clock: Arc<dyn Clock>,
        access: Option<ModelAccess>,
    ) -> Self {
        let (vault, models, clients) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { config, db, clock, access, vault, models, clients }
    }

    fn load_access(&self) -> Result<ModelAccess, CommandFailure> {
        if let Some(access) = &self.access {
            return Ok(access.clone());
        }
        let models = open_models(&self.config, &self.clock)?;
        Ok(ModelAccess {
            gateway: models.gateway,
            route: models.route,
            classes: models.classes,
            act_services: Arc::new(tools::build_act_services(&self.config, self.clock.clone())),
        })
    }

    fn build_models(&self) -> Result<Arc<PackModels>, CommandFailure> {
        let ModelAccess { gateway, route, classes, act_services } = self.load_access()?;
        Ok(Arc::new(PackModels::new(PackModelParts {
            gateway,
            route,
            classes,
            act_services,
            packs: packs::load_registry()?,
            db: self.db.clone(),
            clock: self.clock.clone(),
        })))
    }
}

#[async_trait]
impl PackServiceSource for ConfiguredPackServices {
    async fn open_vault(&self) -> Result<Vault, PackServiceError> {
        let open = || vault::open(&self.config, self.db.clone(), self.clock.clone());
        self.vault.get_or_try_init(open).await.cloned().map_err(to_service_error)
    }

    async fn open_models(&self) -> Result<Arc<PackModels>, PackServiceError> {
        let built = self.models.get_or_try_init(|| async { self.build_models() }).await;
        built.cloned().map_err(to_service_error)
    }

    async fn open_http(&self) -> Result<GuardedHttpClients, PackServiceError> {
        let build = || async {
            GuardedHttpClients::new(connectors::build_allowed_hosts(&self.config))
                .map_err(|error| PackServiceError::Broken(format!("can't create the HTTP client: {error}")))
        };
        self.clients.get_or_try_init(build).await.cloned()
    }
}

fn to_service_error(failure: CommandFailure) -> PackServiceError {
    PackServiceError::Broken(failure.message)
}

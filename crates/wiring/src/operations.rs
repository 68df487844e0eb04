//! What the house's operations need of the settings.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::background::RunQueue;
use munshi_channels::ChannelSenders;
use munshi_channels::email::MailSender;
use munshi_config::Config;
use munshi_connectors::conformance::ConnectorTest;
use munshi_connectors::{ConnectorLogins, build_folder_path, build_logs_path};
use munshi_erasure::ErasureService;
use munshi_jobs::JobQueue;
use munshi_keys::TenantKeyRotation;
use munshi_operations::models::HouseModels;
use munshi_operations::{ConnectorRules, HouseParts};
use munshi_pack::operation::{OperationEntry, OperationError, OperationErrorCode, PackServices, sentence};
use munshi_pack::{PackRegistry, RunStarter};
use munshi_safety::audit::anchors::AnchorService;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::CompiledTool;
use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_tiers::{FolderExtension, InstalledNames};
use munshi_types::{Clock, ConnectorName, IdGenerator, SystemRandom, TenantId};
use tokio::sync::OnceCell;

use crate::failure::{CommandFailure, Exit};
use crate::gateway::ConfiguredGateway;
use crate::installation::list_installed_names;
use crate::keys::ConfiguredKeys;
use crate::models::GatewayModels;
use crate::pack_services::ConfiguredPackServices;
use crate::{
    account, audit, budget, channels, connectors, data_folder, erasure, housekeeping, packs, policy, tools,
    vault,
};

/// Parts that are made when an operation needs them.
pub struct ConfiguredParts {
    config: Arc<Config>,
    db: Db,
    clock: Arc<dyn Clock>,
    /// Made once: phrases and packs are read for it.
    models: OnceLock<HouseModels>,
    pack_services: Arc<ConfiguredPackServices>,
    /// Those of the engine, where there is one.
    senders: Option<ChannelSenders>,
    /// Made once, so that what it sends in a minute is counted together.
    mail: OnceCell<Option<Arc<MailSender>>>,
}

impl ConfiguredParts {
    pub fn new(config: Arc<Config>, db: Db, clock: Arc<dyn Clock>) -> Self {
        let source = ConfiguredPackServices::new(config.clone(), db.clone(), clock.clone(), None);
        Self {
            config,
            db,
            clock,
            models: OnceLock::new(),
            pack_services: Arc::new(source),
            senders: None,
            mail: OnceCell::new(),
        }
    }

    /// With what the engine's messages leave by, so that a test of a channel counts among them.
    #[must_use]
    pub fn with_senders(self, senders: ChannelSenders) -> Self {
        Self { senders: Some(senders), ..self }
    }

    /// With what the node's own mails leave by, so that all of them count together.
    #[must_use]
    pub fn with_mail(self, mail: Option<Arc<MailSender>>) -> Self {
        Self { mail: OnceCell::new_with(Some(mail)), ..self }
    }
}

#[async_trait]
impl HouseParts for ConfiguredParts {
    fn base_url(&self) -> String {
        account::base_url(&self.config, self.config.server.listen)
    }

    fn has_public_url(&self) -> bool {
        account::public_url(&self.config).is_some()
    }

    fn invitation_life(&self) -> Duration {
        account::invitation_life(&self.config)
    }

    fn budget(&self) -> BudgetSettings {
        budget::settings(&self.config)
    }

    fn backup_folder(&self) -> PathBuf {
        data_folder::backups(&self.config)
    }

    fn archive_folder(&self) -> PathBuf {
        housekeeping::archive_folder(&self.config)
    }

    fn open_models(&self) -> Result<HouseModels, OperationError> {
        if let Some(models) = self.models.get() {
            return Ok(models.clone());
        }
        let made = open_models(&self.config, &self.clock).map_err(to_operation_error)?;
        Ok(self.models.get_or_init(|| made).clone())
    }

    fn installed_names(&self) -> Result<InstalledNames, OperationError> {
        list_installed_names(&self.config).map_err(to_operation_error)
    }

    fn pack_operations(&self) -> Result<Vec<OperationEntry<PackServices>>, OperationError> {
        Ok(packs::load_registry().map_err(to_operation_error)?.operations.clone())
    }

    fn job_queue(&self) -> JobQueue {
        let ids = IdGenerator::new(self.clock.clone(), Arc::new(SystemRandom));
        JobQueue::new(self.clock.clone(), ids)
    }

    fn run_starter(&self) -> Result<Arc<dyn RunStarter>, OperationError> {
        let ids = IdGenerator::new(self.clock.clone(), Arc::new(SystemRandom));
        Ok(Arc::new(RunQueue {
            packs: packs::load_registry().map_err(to_operation_error)?,
            queue: self.job_queue(),
            governor: BudgetGovernor::new(self.budget(), ids.clone()),
            ids,
            clock: self.clock.clone(),
        }))
    }

    fn pack_services(&self, runs: Arc<dyn RunStarter>) -> Result<PackServices, OperationError> {
        Ok(PackServices::new(runs).with_source(self.pack_services.clone()))
    }

    fn folder_extensions(&self) -> Result<Vec<Arc<dyn FolderExtension>>, OperationError> {
        policy::build_folder_extensions(&self.config).map_err(to_operation_error)
    }

    fn packs(&self) -> Result<Arc<PackRegistry>, OperationError> {
        packs::load_registry().map_err(to_operation_error)
    }

    fn open_erasure(&self) -> Result<ErasureService, OperationError> {
        erasure::build(&self.db, &self.clock).map_err(to_operation_error)
    }

    async fn open_vault(&self) -> Result<Vault, OperationError> {
        vault::open(&self.config, self.db.clone(), self.clock.clone()).await.map_err(to_operation_error)
    }

    async fn rotate_tenant_key(&self, tenant: TenantId) -> Result<Option<TenantKeyRotation>, OperationError> {
        let rotated = async {
            let keys = ConfiguredKeys::from_config(&self.config)?;
            keys.bind(&self.db).await?;
            Ok(keys.worker.rotate_tenant(tenant).await?)
        };
        rotated.await.map_err(to_operation_error)
    }

    fn connectors_folder(&self) -> PathBuf {
        connectors::folder(&self.config)
    }

    fn connector_rules(&self) -> Result<ConnectorRules, OperationError> {
        let registry = tools::registry().map_err(to_operation_error)?;
        Ok(ConnectorRules {
            pack_names: registry.all().map(|tool| tool.known.connector.name.clone()).collect(),
            protected: connectors::list_protected_paths(&self.config),
            private_hosts: connectors::build_allowed_hosts(&self.config),
        })
    }

    async fn prepare_connector_test(
        &self,
        tenant: TenantId,
        name: &ConnectorName,
    ) -> Result<ConnectorTest, OperationError> {
        let all = connectors::folder(&self.config);
        Ok(ConnectorTest {
            tenant,
            vault: Some(self.open_vault().await?),
            logins: Some(self.build_logins().await?),
            folder: build_folder_path(&all, tenant, name),
            logs: build_logs_path(&all, tenant, name),
            ..connectors::build_test(&self.config, name.clone(), Some(self.db.clone()), self.clock.clone())
        })
    }

    async fn find_tool(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<Arc<CompiledTool>>, OperationError> {
        let found = connectors::find_tool(&self.config, &self.db, &self.clock, tenant, name).await;
        found.map_err(to_operation_error)
    }

    async fn build_channel_senders(&self) -> Result<ChannelSenders, OperationError> {
        if let Some(senders) = &self.senders {
            return Ok(senders.clone());
        }
        channels::build_senders(&self.config, &self.db, &self.clock).await.map_err(to_operation_error)
    }

    async fn open_installation_mail(&self) -> Result<Option<Arc<MailSender>>, OperationError> {
        let build = || channels::build_installation_mail(&self.config, &self.db, &self.clock);
        Ok(self.mail.get_or_try_init(build).await.map_err(to_operation_error)?.clone())
    }

    async fn build_logins(&self) -> Result<ConnectorLogins, OperationError> {
        connectors::build_logins(&self.config, &self.db, &self.clock).await.map_err(to_operation_error)
    }

    fn open_anchors(&self) -> Result<AnchorService, OperationError> {
        audit::build_anchor_service(&self.config, self.db.clone(), self.job_queue(), self.clock.clone())
            .map_err(to_operation_error)
    }
}

/// The models of the settings, also where there is no database yet.
pub fn open_models(config: &Config, clock: &Arc<dyn Clock>) -> Result<HouseModels, CommandFailure> {
    let warnings = GatewayModels::from_config(config)?.warnings;
    let ConfiguredGateway { gateway, route, classes } = ConfiguredGateway::from_config(config, clock)?;
    let warnings = warnings.iter().map(ToString::to_string).collect();
    Ok(HouseModels { gateway, route, classes: Arc::new(classes), warnings })
}

/// Why a part can't be made; whoever sits at the machine hears it as it is.
#[derive(Debug)]
pub(crate) struct SettingsFault(pub(crate) CommandFailure);

impl std::fmt::Display for SettingsFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for SettingsFault {}

/// What can't be made of the settings is for whoever keeps them; callers hear that it is away.
fn to_operation_error(failure: CommandFailure) -> OperationError {
    let code = match failure.exit {
        Exit::Usage => OperationErrorCode::Invalid,
        Exit::NotFound => OperationErrorCode::NotFound,
        Exit::AlreadyThere => OperationErrorCode::Conflict,
        Exit::Refused => OperationErrorCode::Forbidden,
        Exit::Database | Exit::Settings => return OperationError::unavailable(SettingsFault(failure)),
        _ => return OperationError::internal(SettingsFault(failure)),
    };
    let error = OperationError::new(code, sentence(&failure.message));
    match failure.hint {
        Some(hint) => error.hint(sentence(&hint)),
        None => error,
    }
}

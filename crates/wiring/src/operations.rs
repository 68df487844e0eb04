//! What the house's operations need of the settings.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_config::Config;
use munshi_connectors::ConnectorLogins;
use munshi_jobs::JobQueue;
use munshi_operations::HouseParts;
use munshi_pack::operation::{OperationError, OperationErrorCode, sentence};
use munshi_safety::audit::anchors::AnchorService;
use munshi_safety::budget::BudgetSettings;
use munshi_safety::pipeline::CompiledTool;
use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_tiers::{FolderExtension, InstalledNames};
use munshi_types::{Clock, IdGenerator, SystemRandom, TenantId};

use crate::failure::{CommandFailure, Exit};
use crate::installation::list_installed_names;
use crate::{account, audit, budget, connectors, policy, vault};

/// Parts that are made when an operation needs them.
pub struct ConfiguredParts {
    config: Arc<Config>,
    db: Db,
    clock: Arc<dyn Clock>,
}

impl ConfiguredParts {
    pub fn new(config: Arc<Config>, db: Db, clock: Arc<dyn Clock>) -> Self {
        Self { config, db, clock }
    }
}

#[async_trait]
impl HouseParts for ConfiguredParts {
    fn base_url(&self) -> String {
        account::base_url(&self.config, self.config.server.listen)
    }

    fn invitation_life(&self) -> Duration {
        account::invitation_life(&self.config)
    }

    fn budget(&self) -> BudgetSettings {
        budget::settings(&self.config)
    }

    fn installed_names(&self) -> Result<InstalledNames, OperationError> {
        list_installed_names(&self.config).map_err(to_operation_error)
    }

    fn folder_extensions(&self) -> Result<Vec<Arc<dyn FolderExtension>>, OperationError> {
        policy::build_folder_extensions(&self.config).map_err(to_operation_error)
    }

    async fn open_vault(&self) -> Result<Vault, OperationError> {
        vault::open(&self.config, self.db.clone(), self.clock.clone()).await.map_err(to_operation_error)
    }

    async fn find_tool(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<Arc<CompiledTool>>, OperationError> {
        let found = connectors::find_tool(&self.config, &self.db, &self.clock, tenant, name).await;
        found.map_err(to_operation_error)
    }

    async fn build_logins(&self) -> Result<ConnectorLogins, OperationError> {
        connectors::build_logins(&self.config, &self.db, &self.clock).await.map_err(to_operation_error)
    }

    fn open_anchors(&self) -> Result<AnchorService, OperationError> {
        let ids = IdGenerator::new(self.clock.clone(), Arc::new(SystemRandom));
        let queue = JobQueue::new(self.clock.clone(), ids);
        audit::build_anchor_service(&self.config, self.db.clone(), queue, self.clock.clone())
            .map_err(to_operation_error)
    }
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

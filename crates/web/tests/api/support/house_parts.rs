//! What operations need of the settings, without settings.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_connectors::{AllowedHosts, ConnectorLoginParts, ConnectorLogins};
use munshi_identity::links::INVITATION_LIFE;
use munshi_jobs::JobQueue;
use munshi_operations::HouseParts;
use munshi_pack::operation::OperationError;
use munshi_safety::audit::anchors::{AnchorFile, AnchorService};
use munshi_safety::budget::BudgetSettings;
use munshi_safety::pipeline::CompiledTool;
use munshi_safety::vault::{MasterKeySource, Vault, VaultSecret};
use munshi_store::Db;
use munshi_test_support::PATIENCE;
use munshi_tiers::{FolderExtension, InstalledNames};
use munshi_types::{Clock, IdGenerator, SystemRandom, TenantId};

pub(super) struct TestParts {
    pub(super) db: Db,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: IdGenerator,
    pub(super) queue: JobQueue,
    pub(super) budgets: BudgetSettings,
    pub(super) folder: std::path::PathBuf,
    /// Those of the setup, where it has some.
    pub(super) logins: Option<ConnectorLogins>,
}

#[async_trait]
impl HouseParts for TestParts {
    fn base_url(&self) -> String {
        "http://munshi.example".to_owned()
    }

    fn invitation_life(&self) -> Duration {
        INVITATION_LIFE
    }

    fn budget(&self) -> BudgetSettings {
        self.budgets.clone()
    }

    fn installed_names(&self) -> Result<InstalledNames, OperationError> {
        Ok(InstalledNames::default())
    }

    fn folder_extensions(&self) -> Result<Vec<Arc<dyn FolderExtension>>, OperationError> {
        Ok(Vec::new())
    }

    async fn open_vault(&self) -> Result<Vault, OperationError> {
        let key = VaultSecret::new("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=".to_owned()).unwrap();
        let source = MasterKeySource::Given { key, next: None };
        let (now, random) = (self.clock.now(), Arc::new(SystemRandom));
        Ok(Vault::start(self.db.clone(), source, random, self.ids.clone(), now).await?)
    }

    async fn find_tool(
        &self,
        _tenant: TenantId,
        _name: &str,
    ) -> Result<Option<Arc<CompiledTool>>, OperationError> {
        Ok(None)
    }

    async fn build_logins(&self) -> Result<ConnectorLogins, OperationError> {
        if let Some(logins) = &self.logins {
            return Ok(logins.clone());
        }
        let parts = ConnectorLoginParts {
            db: self.db.clone(),
            vault: self.open_vault().await?,
            allowed: AllowedHosts::default(),
            clock: self.clock.clone(),
            random: Arc::new(SystemRandom),
            ids: self.ids.clone(),
            timeout: PATIENCE,
        };
        ConnectorLogins::new(parts).map_err(OperationError::internal)
    }

    fn open_anchors(&self) -> Result<AnchorService, OperationError> {
        let file = AnchorFile::new(self.folder.join("audit-anchors.jsonl"));
        let (db, queue, clock) = (self.db.clone(), self.queue.clone(), self.clock.clone());
        Ok(AnchorService::new(db, file, 1_000, queue, clock, self.ids.clone()))
    }
}

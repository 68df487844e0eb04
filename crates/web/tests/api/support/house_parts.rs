//! What operations need of the settings, without settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::background::RunQueue;
use munshi_channels::email::MailTimings;
use munshi_channels::incoming::ChannelIntake;
use munshi_channels::{ChannelSenderParts, ChannelSenders};
use munshi_connectors::conformance::{ConnectorTest, WriteTestMode};
use munshi_connectors::entries::ConnectorEntry;
use munshi_connectors::{
    AllowedHosts, Confinement, ConnectorLoginParts, ConnectorLogins, build_folder_path, build_logs_path,
};
use munshi_erasure::ErasureService;
use munshi_identity::links::INVITATION_LIFE;
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_operations::models::HouseModels;
use munshi_operations::{ConnectorRules, HouseParts, TenantKeyRotation};
use munshi_pack::operation::{OperationEntry, OperationError, PackServices};
use munshi_pack::{PackRegistry, RunStarter};
use munshi_safety::audit::anchors::{AnchorFile, AnchorService};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings, ModelClasses};
use munshi_safety::pipeline::CompiledTool;
use munshi_safety::vault::{MasterKeySource, Vault, VaultSecret};
use munshi_store::Db;
use munshi_test_support::PATIENCE;
use munshi_tiers::{FolderExtension, InstalledNames};
use munshi_types::{Clock, ConnectorName, IdGenerator, SystemRandom, TenantId};

pub(super) struct TestParts {
    pub(super) db: Db,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: IdGenerator,
    pub(super) queue: JobQueue,
    pub(super) budgets: BudgetSettings,
    pub(super) folder: PathBuf,
    pub(super) packs: Arc<PackRegistry>,
    /// Those of the setup, where it has some.
    pub(super) logins: Option<ConnectorLogins>,
}

impl TestParts {
    /// What takes webhooks of channels; none where the setup has a vault of its own.
    pub(super) async fn build_intake(&self) -> Option<ChannelIntake> {
        if self.logins.is_some() {
            return None;
        }
        Some(ChannelIntake {
            accounts: self.build_channel_senders().await.unwrap(),
            queue: self.queue.clone(),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
        })
    }
}

#[async_trait]
impl HouseParts for TestParts {
    fn base_url(&self) -> String {
        "http://munshi.example".to_owned()
    }

    fn pack_operations(&self) -> Result<Vec<OperationEntry<PackServices>>, OperationError> {
        Ok(self.packs.operations.clone())
    }

    fn run_starter(&self) -> Result<Arc<dyn RunStarter>, OperationError> {
        Ok(Arc::new(RunQueue {
            packs: self.packs.clone(),
            queue: self.queue.clone(),
            governor: BudgetGovernor::new(self.budgets.clone(), self.ids.clone()),
            ids: self.ids.clone(),
            clock: self.clock.clone(),
        }))
    }

    fn job_queue(&self) -> JobQueue {
        self.queue.clone()
    }

    fn packs(&self) -> Result<Arc<PackRegistry>, OperationError> {
        Ok(self.packs.clone())
    }

    fn open_erasure(&self) -> Result<ErasureService, OperationError> {
        Ok(ErasureService {
            db: self.db.clone(),
            packs: self.packs.clone(),
            addressed: Vec::new(),
            queue: self.queue.clone(),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        })
    }

    fn invitation_life(&self) -> Duration {
        INVITATION_LIFE
    }

    fn budget(&self) -> BudgetSettings {
        self.budgets.clone()
    }

    fn backup_folder(&self) -> std::path::PathBuf {
        self.folder.join("backups")
    }

    fn archive_folder(&self) -> std::path::PathBuf {
        self.folder.join("archive")
    }

    fn open_models(&self) -> Result<HouseModels, OperationError> {
        let target = ModelTarget::offline();
        let named = vec![target.name.clone()];
        let (known, given) = ([target.clone()], BTreeMap::new());
        let classes = ModelClasses::new(&known, &PriceBook::default(), &given, self.clock.now());
        let gateway = Gateway::new(GatewayParts {
            targets: vec![target],
            provider: Arc::new(OfflineProvider::new(Phrasebook::core().unwrap()).unwrap()),
            prices: PriceBook::default(),
            clock: self.clock.clone(),
            random: Arc::new(SystemRandom),
        });
        let targets = [(Capability::Default, named)].into();
        let route = Arc::new(ModelRoute { targets, ..ModelRoute::default() });
        let warnings = vec!["for keepers' eyes".to_owned()];
        Ok(HouseModels { gateway, route, classes: Arc::new(classes), warnings })
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

    async fn rotate_tenant_key(&self, _: TenantId) -> Result<Option<TenantKeyRotation>, OperationError> {
        Ok(Some(TenantKeyRotation { number: 2, keys: 7, resumed: false }))
    }

    fn connectors_folder(&self) -> PathBuf {
        self.folder.join("connectors")
    }

    fn connector_rules(&self) -> Result<ConnectorRules, OperationError> {
        Ok(ConnectorRules {
            pack_names: ["ledger".to_owned()].into(),
            protected: vec![self.folder.clone()],
            private_hosts: AllowedHosts::new(["books.local:8080".to_owned()]),
        })
    }

    async fn prepare_connector_test(
        &self,
        tenant: TenantId,
        name: &ConnectorName,
    ) -> Result<ConnectorTest, OperationError> {
        let all = self.connectors_folder();
        Ok(ConnectorTest {
            name: name.clone(),
            entry: ConnectorEntry::default(),
            tenant,
            vault: Some(self.open_vault().await?),
            logins: Some(self.build_logins().await?),
            folder: build_folder_path(&all, tenant, name),
            logs: build_logs_path(&all, tenant, name),
            basics: Vec::new(),
            confinement: Confinement::default(),
            allowed: AllowedHosts::default(),
            inside: BTreeMap::new(),
            clock: self.clock.clone(),
            writes: WriteTestMode::Never,
        })
    }

    async fn find_tool(
        &self,
        _tenant: TenantId,
        _name: &str,
    ) -> Result<Option<Arc<CompiledTool>>, OperationError> {
        Ok(None)
    }

    async fn build_channel_senders(&self) -> Result<ChannelSenders, OperationError> {
        let parts = ChannelSenderParts {
            db: self.db.clone(),
            vault: self.open_vault().await?,
            allowed: AllowedHosts::new(["127.0.0.1".to_owned()]),
            files: None,
            clock: self.clock.clone(),
            timings: MailTimings::default(),
            base_url: None,
            public_url: Some("https://munshi.example".to_owned()),
            tls: None,
        };
        ChannelSenders::new(parts).map_err(OperationError::internal)
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

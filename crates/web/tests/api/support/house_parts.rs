//! What operations need of the settings, without settings.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_identity::links::INVITATION_LIFE;
use munshi_jobs::JobQueue;
use munshi_lang::Phrasebook;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_llm::pricing::PriceBook;
use munshi_llm::{Gateway, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_operations::HouseParts;
use munshi_operations::models::HouseModels;
use munshi_pack::operation::OperationError;
use munshi_safety::audit::anchors::{AnchorFile, AnchorService};
use munshi_safety::budget::BudgetSettings;
use munshi_safety::vault::{MasterKeySource, Vault, VaultSecret};
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, SystemRandom};

pub(super) struct TestParts {
    pub(super) db: Db,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: IdGenerator,
    pub(super) queue: JobQueue,
    pub(super) budgets: BudgetSettings,
    pub(super) folder: std::path::PathBuf,
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

    fn backup_folder(&self) -> std::path::PathBuf {
        self.folder.join("backups")
    }

    fn open_models(&self) -> Result<HouseModels, OperationError> {
        let target = ModelTarget::offline();
        let named = vec![target.name.clone()];
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
        Ok(HouseModels { gateway, route, classes: Arc::default(), warnings })
    }

    async fn open_vault(&self) -> Result<Vault, OperationError> {
        let key = VaultSecret::new("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=".to_owned()).unwrap();
        let source = MasterKeySource::Given { key, next: None };
        let (now, random) = (self.clock.now(), Arc::new(SystemRandom));
        Ok(Vault::start(self.db.clone(), source, random, self.ids.clone(), now).await?)
    }

    fn open_anchors(&self) -> Result<AnchorService, OperationError> {
        let file = AnchorFile::new(self.folder.join("audit-anchors.jsonl"));
        let (db, queue, clock) = (self.db.clone(), self.queue.clone(), self.clock.clone());
        Ok(AnchorService::new(db, file, 1_000, queue, clock, self.ids.clone()))
    }
}

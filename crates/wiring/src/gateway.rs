//! The gateway to the models of the settings, and where its calls are written down.

use std::sync::Arc;

use munshi_config::Config;
use munshi_llm::calls::StoredCallLog;
use munshi_llm::gateway::{
    CallBilling, CallBudget, CallRecorder, CallSubject, GatewayParts, InMemoryCallLog, ModelRoute,
    UnlimitedBudget,
};
use munshi_llm::{Gateway, HttpProvider, ProviderSwitch, Transport};
use munshi_offline::OfflineProvider;
use munshi_safety::budget::ModelClasses;
use munshi_store::Db;
use munshi_types::{Clock, SystemRandom, TenantId, Zone};

use crate::database::ConfiguredDatabase;
use crate::failure::{CommandFailure, Result};
use crate::models::GatewayModels;
use crate::packs;

/// The gateway with the route that the settings give.
pub struct ConfiguredGateway {
    pub gateway: Gateway,
    pub route: Arc<ModelRoute>,
    /// Which plans may use which model.
    pub classes: ModelClasses,
}

impl ConfiguredGateway {
    pub fn from_config(config: &Config, clock: &Arc<dyn Clock>) -> Result<Self> {
        let models = GatewayModels::from_config(config)?;
        let classes = ModelClasses::new(&models.targets, &models.prices, &models.classes, clock.now());
        let transport = Transport::new(clock.clone())
            .map_err(|fault| CommandFailure::failed(format!("can't create the model client: {fault}")))?;
        let book = packs::load_registry()?.book.clone();
        let offline =
            OfflineProvider::new(book).map_err(|error| CommandFailure::failed(error.to_string()))?;
        let gateway = Gateway::new(GatewayParts {
            targets: models.targets,
            provider: Arc::new(ProviderSwitch {
                here: Arc::new(offline.with_clock(clock.clone(), Zone::default().to_jiff())),
                remote: Arc::new(HttpProvider::new(transport)),
            }),
            prices: models.prices,
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        });
        Ok(Self { gateway, route: Arc::new(models.route), classes })
    }
}

/// Where a command's calls are written down: in the database where there is one. Without one nothing is lost that
/// anybody could look up.
pub enum CommandCallLog {
    Stored(StoredCallLog),
    Nowhere,
}

impl CommandCallLog {
    pub async fn open(config: &Config) -> Result<Self> {
        Ok(open_existing_database(config)
            .await?
            .map_or(Self::Nowhere, |db| Self::Stored(StoredCallLog::new(db))))
    }

    /// What a person asks at the command line is theirs to pay.
    pub fn billing(&self) -> CallBilling {
        let tab: Arc<dyn CallRecorder> = match self {
            Self::Stored(tab) => Arc::new(tab.clone()),
            Self::Nowhere => Arc::new(InMemoryCallLog::default()),
        };
        let budget: Arc<dyn CallBudget> = Arc::new(UnlimitedBudget);
        CallBilling {
            tenant: TenantId::PLATFORM,
            about: CallSubject::default(),
            budget,
            tab,
            prices: None,
            prompt: None,
        }
    }

    pub async fn close(&self) {
        if let Self::Stored(tab) = self {
            tab.flush().await;
        }
    }
}

/// The database, if it is there and of this version; a question to a model makes none.
pub async fn open_existing_database(config: &Config) -> Result<Option<Db>> {
    let database = ConfiguredDatabase::single_connection(config)?;
    if database.file().is_some_and(|file| !file.exists()) {
        return Ok(None);
    }
    match database.open().await {
        Ok(db) => Ok(Some(db)),
        Err(failure) if failure.exit == crate::failure::Exit::Schema => Ok(None),
        Err(failure) => Err(failure),
    }
}

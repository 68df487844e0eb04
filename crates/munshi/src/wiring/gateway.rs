//! The gateway to the models of the settings, and where its calls are written down.

use std::sync::Arc;

use munshi_config::Config;
use munshi_llm::calls::StoredTab;
use munshi_llm::gateway::{About, Account, Budget, MemoryTab, Parts, Route, Tab, Unlimited};
use munshi_llm::{Gateway, Switch, Transport, Wires};
use munshi_offline::Offline;
use munshi_safety::budget::ModelClasses;
use munshi_store::Db;
use munshi_types::{Clock, SystemRandom, TenantId, Zone};

use super::database::Database;
use super::models::Models;
use super::packs;
use crate::failure::{Failure, Result};

/// The gateway with the route that the settings give.
pub(crate) struct Wired {
    pub(crate) gateway: Gateway,
    pub(crate) route: Arc<Route>,
    /// Which plans may use which model.
    pub(crate) classes: ModelClasses,
}

impl Wired {
    pub(crate) fn of(config: &Config, clock: &Arc<dyn Clock>) -> Result<Self> {
        let models = Models::of(config)?;
        let classes = ModelClasses::new(&models.targets, &models.prices, &models.classes, clock.now());
        let transport = Transport::new(clock.clone())
            .map_err(|fault| Failure::failed(format!("models can't be reached: {fault}")))?;
        let book = packs::house()?.book.clone();
        let offline = Offline::new(book).map_err(|error| Failure::failed(error.to_string()))?;
        let gateway = Gateway::new(Parts {
            targets: models.targets,
            provider: Arc::new(Switch {
                here: Arc::new(offline.at(clock.clone(), Zone::default().to_jiff())),
                remote: Arc::new(Wires::new(transport)),
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
pub(crate) enum Book {
    Stored(StoredTab),
    Nowhere,
}

impl Book {
    pub(crate) async fn open(config: &Config) -> Result<Self> {
        Ok(database(config).await?.map_or(Self::Nowhere, |db| Self::Stored(StoredTab::new(db))))
    }

    /// What a person asks at the command line is theirs to pay.
    pub(crate) fn account(&self) -> Account {
        let tab: Arc<dyn Tab> = match self {
            Self::Stored(tab) => Arc::new(tab.clone()),
            Self::Nowhere => Arc::new(MemoryTab::default()),
        };
        let budget: Arc<dyn Budget> = Arc::new(Unlimited);
        Account { tenant: TenantId::PLATFORM, about: About::default(), budget, tab, prices: None }
    }

    pub(crate) async fn close(&self) {
        if let Self::Stored(tab) = self {
            tab.written().await;
        }
    }
}

/// The database, if it is there and of this version; a question to a model makes none.
pub(crate) async fn database(config: &Config) -> Result<Option<Db>> {
    let database = Database::for_one_question(config)?;
    if database.file().is_some_and(|file| !file.exists()) {
        return Ok(None);
    }
    match database.open().await {
        Ok(db) => Ok(Some(db)),
        Err(failure) if failure.exit == crate::failure::Exit::Schema => Ok(None),
        Err(failure) => Err(failure),
    }
}

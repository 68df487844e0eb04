//! The store of keys that the settings name, and the keyring over it.

use std::path::PathBuf;
use std::sync::Arc;

use munshi_config::Config;
use munshi_identity::persons::{SEALING, list_newest_keys};
use munshi_keys::{CachedKeyring, KeyStorePlace, KeyWorker, MasterKeys};
use munshi_safety::vault::Vault;
use munshi_store::{DatabaseAddress, Db, StoreOptions};
use munshi_types::{Clock, IdGenerator, SystemClock, SystemRandom};

use crate::data_folder;
use crate::database::parse_address;
use crate::failure::{CommandFailure, Exit, Result};
use crate::vault;

/// How many of the keys given last are looked for at the start.
const CHECKED: u32 = 5;

/// The keys of one process. Nothing is opened until a key is asked for.
pub struct ConfiguredKeys {
    pub masters: Arc<MasterKeys>,
    pub worker: KeyWorker,
    pub keyring: Arc<CachedKeyring>,
    pub address: DatabaseAddress,
    pub options: StoreOptions,
    /// Whether the settings say where it is.
    is_named: bool,
}

impl ConfiguredKeys {
    pub fn from_config(config: &Config) -> Result<Self> {
        let address = parse_address(config.keys_url().reveal(), "keys.url")?;
        let owner = config.keys.owner_url.as_ref().map(|url| parse_address(url.reveal(), "keys.owner_url"));
        let options = StoreOptions {
            readers: 1,
            connections: 2,
            statement_timeout: config.store.statement_timeout,
            ..StoreOptions::default()
        };
        let place =
            KeyStorePlace { address: address.clone(), owner: owner.transpose()?, options: options.clone() };
        let masters: Arc<MasterKeys> = vault::source(config)?.into();
        let worker = KeyWorker::new(place, masters.clone(), Arc::new(SystemClock), Arc::new(SystemRandom));
        let keyring = CachedKeyring::new(
            worker.clone(),
            Arc::new(SystemClock),
            Arc::new(SystemRandom),
            config.keys.cached,
        );
        Ok(Self {
            masters,
            worker,
            keyring: Arc::new(keyring),
            address,
            options,
            is_named: config.keys.url.is_some(),
        })
    }

    /// The file, where it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match &self.address {
            DatabaseAddress::Sqlite(path) => Some(path),
            DatabaseAddress::Postgres(_) => None,
        }
    }

    /// Whether the store is there, the right one, and no older than the database.
    pub async fn check(&self, db: &Db) -> Result<()> {
        self.worker.store_id().await?;
        let newest = db.platform(SEALING).read(|tx| list_newest_keys(tx, CHECKED)).await?;
        for (tenant, key) in newest {
            if !self.worker.knows(tenant, key).await? {
                let what = format!(
                    "the store of keys {} is older than the database: it lacks keys that text is encrypted with",
                    self.address
                );
                return Err(CommandFailure::new(Exit::Settings, what).hint(
                    "put the newest copy of the store in its place; what was written since it was made can't be read",
                ));
            }
        }
        Ok(())
    }

    /// Refuses a Postgres database whose store of keys would be a file that other nodes don't reach.
    pub(crate) fn require_named(&self, main: &DatabaseAddress) -> Result<()> {
        if self.is_named || matches!(main, DatabaseAddress::Sqlite(_)) {
            return Ok(());
        }
        let what = "a Postgres database needs a store of keys that every node reaches: keys.url is not set";
        Err(CommandFailure::new(Exit::Settings, what).hint(
            "set keys.url (MUNSHI__KEYS__URL) to another Postgres database or, for one node alone, to sqlite:FILE",
        ))
    }

    /// Refuses a store of keys in the main database: each backup would have the keys to what is in it.
    pub(crate) fn require_other_than(&self, main: &DatabaseAddress) -> Result<()> {
        if !self.address.is_same_database(main) {
            return Ok(());
        }
        let what = "keys.url names the main database, and its backups would have the keys in them";
        Err(CommandFailure::new(Exit::Settings, what)
            .hint("set keys.url (MUNSHI__KEYS__URL) to a database of its own, with nothing else in it"))
    }

    /// Ties the store to the main database. For one where nothing is sealed yet it is made; the vault looks at the
    /// installation's key before that, so that a lost key is told and no other takes its place.
    pub async fn bind(&self, db: &Db) -> Result<()> {
        let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        if munshi_keys::find_store(db).await?.is_none() {
            self.require_named(db.address())?;
            if let Some(folder) = self.file().and_then(|file| file.parent()) {
                data_folder::create_private(folder)
                    .map_err(|error| data_folder::unusable_failure(folder, &error))?;
            }
            let ids = IdGenerator::new(clock.clone(), random.clone());
            Vault::start(db.clone(), self.masters.clone(), random, ids, clock.now()).await?;
        }
        Ok(munshi_keys::bind_store(db, &self.worker, clock.now()).await?)
    }
}

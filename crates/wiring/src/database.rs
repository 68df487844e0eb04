//! Where the database is, and how it is opened.

use std::path::PathBuf;

use munshi_config::Config;
use munshi_store::migrate::{self, MigrationOutcome, MigrationRequest, MigrationState};
use munshi_store::{DatabaseAddress, Db, Migrations, StoreOptions};
use munshi_types::Timestamp;

use crate::failure::{CommandFailure, Exit, Result};
use crate::keys::ConfiguredKeys;
use crate::lock::DatabaseLock;
use crate::{data_folder, erasure};

/// Everything the store wants to know, taken from the settings.
pub struct ConfiguredDatabase {
    pub address: DatabaseAddress,
    /// Postgres: the login that owns the tables, where it is another.
    owner: Option<DatabaseAddress>,
    pub options: StoreOptions,
    pub migrations: Migrations,
    /// The keys that its text is encrypted with.
    pub keys: ConfiguredKeys,
    /// SQLite: where a copy goes before migrating; none when the settings say so.
    backups: Option<PathBuf>,
}

impl ConfiguredDatabase {
    pub fn from_config(config: &Config) -> Result<Self> {
        let address = parse_address(config.store_url().reveal(), "store.url")?;
        let owner = config.store.owner_url.as_ref().map(|url| parse_address(url.reveal(), "store.owner_url"));
        let owner = owner.transpose()?;
        let store = &config.store;
        let keys = ConfiguredKeys::from_config(config)?;
        keys.require_other_than(&address)?;
        let options = StoreOptions {
            keyring: Some(keys.keyring.clone()),
            readers: store.readers,
            connections: store.connections,
            statement_timeout: store.statement_timeout,
            queue_timeout: store.queue_timeout,
            ..StoreOptions::default()
        };
        let backups = store.backup_before_migrate.then(|| data_folder::backups(config));
        Ok(Self { address, owner, options, migrations: crate::migrations()?, keys, backups })
    }

    /// The same, for a command that asks one question and ends: a thread and a connection will do.
    pub fn single_connection(config: &Config) -> Result<Self> {
        let mut database = Self::from_config(config)?;
        database.options.readers = 1;
        database.options.connections = 1;
        Ok(database)
    }

    /// SQLite: the file.
    pub fn file(&self) -> Option<&PathBuf> {
        match &self.address {
            DatabaseAddress::Sqlite(path) => Some(path),
            DatabaseAddress::Postgres(_) => None,
        }
    }

    /// Before anything is read from it, whoever was forgotten since a copy was made that was put back is forgotten again.
    pub async fn open(&self) -> Result<Db> {
        let db = self.open_unreplayed().await?;
        erasure::replay_if_due(&db, &self.keys.worker).await?;
        Ok(db)
    }

    /// The same as it is, for whoever looks after that themselves.
    pub async fn open_unreplayed(&self) -> Result<Db> {
        let db = Db::open(&self.address, &self.options, &self.migrations).await?;
        self.keys.bind(&db).await?;
        Ok(db)
    }

    /// The same, with its tables made first where there are none, as the server does at its first start. A database of an
    /// older version is left to `munshi migrate`: a server may be at work on it.
    pub async fn open_or_create(&self, config: &Config, now: Timestamp) -> Result<Db> {
        if self.file().is_none_or(|file| file.exists()) {
            match self.open().await {
                Err(failure) if failure.exit == Exit::Schema && self.state().await?.applied.is_empty() => {}
                outcome => return outcome,
            }
        }
        data_folder::prepare(config)?;
        let lock = self.file().map(|file| DatabaseLock::take(file)).transpose()?;
        self.migrate(now).await?;
        drop(lock);
        self.open().await
    }

    /// Which migrations it has and lacks, as the login that applies them sees it.
    pub async fn state(&self) -> Result<MigrationState> {
        let address = self.owner.as_ref().unwrap_or(&self.address);
        Ok(migrate::load_state(address, &self.options, &self.migrations).await?)
    }

    pub async fn migrate(&self, now: Timestamp) -> Result<MigrationOutcome> {
        // Afterwards the program of before could not be started again either.
        self.keys.require_named(&self.address)?;
        let request = MigrationRequest {
            address: self.address.clone(),
            owner: self.owner.clone(),
            options: self.options.clone(),
            migrations: self.migrations.clone(),
            now,
            backups: self.backups.clone(),
        };
        Ok(migrate::run(request).await?)
    }
}

pub(crate) fn parse_address(url: &str, key: &str) -> Result<DatabaseAddress> {
    url.parse().map_err(|error: munshi_store::Error| {
        CommandFailure::new(Exit::Settings, format!("{key}: {error}"))
            .hint("write it as sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE")
    })
}

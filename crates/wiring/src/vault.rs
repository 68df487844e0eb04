//! The vault with the key that the settings name.

use std::sync::Arc;

use munshi_config::Config;
use munshi_safety::vault::{MasterKeySource, Vault, VaultSecret};
use munshi_store::Db;
use munshi_types::{Clock, IdGenerator, SystemRandom};

use crate::data_folder;
use crate::failure::Result;

/// Opens the vault; on first use the key is made.
pub async fn open(config: &Config, db: Db, clock: Arc<dyn Clock>) -> Result<Vault> {
    data_folder::prepare(config)?;
    let (now, random) = (clock.now(), Arc::new(SystemRandom));
    let ids = IdGenerator::new(clock, random.clone());
    Ok(Vault::start(db, source(config)?, random, ids, now).await?)
}

pub(crate) fn source(config: &Config) -> Result<MasterKeySource> {
    let given = |key: &munshi_config::ConfigSecret| match key.reveal() {
        "" => Ok(None),
        text => VaultSecret::new(text.to_owned()).map(Some),
    };
    let next = given(&config.vault.next_key)?;
    Ok(match given(&config.vault.key)? {
        Some(key) => MasterKeySource::Given { key, next },
        None => MasterKeySource::File(config.vault_key_file()),
    })
}

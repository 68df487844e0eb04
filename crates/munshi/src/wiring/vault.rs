//! The vault with the key that the settings name.

use std::sync::Arc;

use munshi_config::Config;
use munshi_safety::vault::{KeySource, Secret, Vault};
use munshi_store::Db;
use munshi_types::{Clock, Ids, SystemRandom};

use super::folder;
use crate::failure::Result;

/// Opens the vault; on first use the key is made.
pub(crate) async fn open(config: &Config, db: Db, clock: Arc<dyn Clock>) -> Result<Vault> {
    folder::prepare(config)?;
    let (now, random) = (clock.now(), Arc::new(SystemRandom));
    let ids = Ids::new(clock, random.clone());
    Ok(Vault::start(db, source(config)?, random, ids, now).await?)
}

fn source(config: &Config) -> Result<KeySource> {
    let given = |key: &munshi_config::Secret| match key.reveal() {
        "" => Ok(None),
        text => Secret::new(text.to_owned()).map(Some),
    };
    let next = given(&config.vault.next_key)?;
    Ok(match given(&config.vault.key)? {
        Some(key) => KeySource::Given { key, next },
        None => KeySource::File(config.vault_key_file()),
    })
}

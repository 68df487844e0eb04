//! What has to be kept, told before the first message: without the store of keys nobody can read what people write.

use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

/// The three things that make one installation, and where they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct InstallationParts {
    pub(crate) database: String,
    pub(crate) vault_key: String,
    pub(crate) keys: String,
}

impl InstallationParts {
    pub(crate) fn of(database: &ConfiguredDatabase) -> Self {
        Self {
            database: database.address.to_string(),
            vault_key: database.keys.masters.source().to_string(),
            keys: database.keys.address.to_string(),
        }
    }

    /// The same while nobody can have written yet: there is no tenant.
    pub(crate) async fn of_new(database: &ConfiguredDatabase, db: &Db) -> Result<Option<Self>> {
        let list = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, 1));
        let known = db.platform(TENANTS).read(list).await?;
        Ok(known.items.is_empty().then(|| Self::of(database)))
    }

    /// For whoever looks at the terminal.
    pub(crate) fn render_text(&self) -> String {
        let Self { database, vault_key, keys } = self;
        format!(
            "\nKeep copies of three things: {database}, {vault_key} and the store of keys, {keys}.\n\
             If the store of keys is lost, nobody can read what people wrote, you included.\n\
             `munshi backup` copies the database, `munshi backup --keys` the store of keys; keep the two apart.\n"
        )
    }

    /// For whoever reads the log.
    pub(crate) fn log(&self) {
        let Self { database, vault_key, keys } = self;
        tracing::info!(
            database,
            vault_key,
            keys,
            "keep copies of these three: if the store of keys is lost, nobody can read what people wrote, you included"
        );
    }
}

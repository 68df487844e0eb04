//! A migrated, empty database that the tests of one run copy instead of migrating each their own.
//!
//! Postgres copies a database of the test server, which ends with the run. SQLite copies a file in the folder that
//! `scripts/test.sh` makes for the run; without that folder every test migrates by itself. Neither outlives the run,
//! so that a change to how migrations are rendered is never hidden by an older copy.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use munshi_store::migrate::{self, MigrationRequest};
use munshi_store::{DatabaseAddress, Migration, Migrations, StoreOptions};

use crate::database::{MORNING, run_on_thread, server_url};

/// The migrations of one set of crates, and the name of the database they make.
pub(crate) struct DatabaseTemplate {
    pub(crate) migrations: Migrations,
    pub(crate) options: StoreOptions,
    name: String,
}

impl DatabaseTemplate {
    pub(crate) fn new(crates: &[&[Migration]], options: &StoreOptions) -> Self {
        let mut hasher = DefaultHasher::new();
        for migration in crates.iter().flat_map(|list| list.iter()) {
            (migration.name, migration.text).hash(&mut hasher);
        }
        Self {
            migrations: Migrations::new(crates).unwrap(),
            options: options.clone(),
            name: format!("template_{:016x}", hasher.finish()),
        }
    }

    pub(crate) async fn migrate(&self, address: &DatabaseAddress) {
        let request = MigrationRequest {
            address: address.clone(),
            owner: None,
            options: self.options.clone(),
            migrations: self.migrations.clone(),
            now: MORNING,
            backups: None,
        };
        migrate::run(request).await.unwrap();
    }

    /// The name of the template on the test server, made by whichever process needs it first while others wait.
    pub(crate) async fn ensure_on_postgres(&self) -> String {
        let (name, making) = (self.name.clone(), format!("making_{}", self.name));
        let (holder, is_made) = {
            let (name, making) = (name.clone(), making.clone());
            tokio::task::spawn_blocking(move || run_on_thread(move || lock(&name, &making))).await.unwrap()
        };
        if !is_made {
            self.migrate(&crate::database::build_url(&making, "munshi_owner").parse().unwrap()).await;
        }
        let made = name.clone();
        tokio::task::spawn_blocking(move || {
            run_on_thread(move || {
                let mut holder = holder;
                if !is_made {
                    holder.batch_execute(&format!("ALTER DATABASE {making} RENAME TO {made}")).unwrap();
                }
            });
        })
        .await
        .unwrap();
        name
    }

    /// The template's file, where the run has a folder for it.
    pub(crate) async fn ensure_on_sqlite(&self) -> Option<PathBuf> {
        let folder = templates_folder()?;
        let file = folder.join(format!("{}.db", self.name));
        if !file.exists() {
            let making = tempfile::tempdir_in(&folder).unwrap();
            let path = making.path().join("munshi.db");
            self.migrate(&DatabaseAddress::sqlite(path.clone())).await;
            // Whoever comes second puts the same bytes in the first one's place.
            std::fs::rename(path, &file).unwrap();
        }
        Some(file)
    }
}

/// Holds the template's name on the server; makes an empty database to migrate where there is no template yet.
fn lock(name: &str, making: &str) -> (postgres::Client, bool) {
    let mut client = postgres::Client::connect(&server_url(), postgres::NoTls).unwrap();
    client.execute("SELECT pg_advisory_lock(hashtext($1))", &[&name]).unwrap();
    // Of a database that is not there nothing can be asked.
    let is_made = client.query("SELECT has_database_privilege($1, 'CONNECT')", &[&name]).is_ok();
    if !is_made {
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {making} OWNER munshi_owner")).unwrap();
    }
    (client, is_made)
}

#[allow(clippy::disallowed_methods, reason = "the test runner hands the folder over in the environment")]
fn templates_folder() -> Option<PathBuf> {
    std::env::var_os("MUNSHI_TEST_TEMPLATES").map(PathBuf::from)
}

//! A fresh database with one table of one tenant, on either engine.

use munshi_store::{DatabaseAddress, Db, MIGRATIONS, Migration, Result, StoreOptions, params};
use munshi_test_support::database::TestDbStorage;
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::TenantId;
use tokio::runtime::Runtime;
use uuid::Uuid;

const ENTRIES: &[Migration] = &[Migration {
    name: "9001_entries",
    text: "
        CREATE TENANT TABLE entries (
          tenant_id UUID NOT NULL REFERENCES tenants (id),
          id UUID NOT NULL,
          body TEXT NOT NULL,
          PRIMARY KEY (tenant_id, id)
        );
    ",
}];

pub(crate) const INSERT: &str = "INSERT INTO entries (tenant_id, id, body) VALUES ($1, $2, $3)";
pub(crate) const SELECT: &str = "SELECT body FROM entries WHERE tenant_id = $1 AND id = $2";

/// About what a chat message weighs.
pub(crate) const BODY: &str = "Rajan took 2 kg of atta and 1 litre of oil on credit, will pay on Saturday. Please write it down, 340 rupees.";

/// A migrated file or server database that nobody has open yet; it goes when this is dropped.
pub(crate) struct Fresh {
    pub(crate) address: DatabaseAddress,
    pub(crate) tenant: TenantId,
    pub(crate) place: TestDbStorage,
    test: Option<Db>,
}

impl Fresh {
    pub(crate) fn make(engine: DatabaseEngine, runtime: &Runtime) -> Self {
        runtime.block_on(async {
            let test = TestDb::open_with(engine, &[MIGRATIONS, ENTRIES], StoreOptions::default()).await;
            let tenant = test.add_tenant("shop").await;
            let TestDb { db, address, place, .. } = test;
            Self { address, tenant, place, test: Some(db) }
        })
    }

    /// The store's handle on it; taking it leaves nobody else with the database open.
    pub(crate) fn take_db(&mut self) -> Option<Db> {
        self.test.take()
    }

    /// Adds entries numbered from 0, for reading.
    pub(crate) fn fill(&self, runtime: &Runtime, count: u64) -> Result<()> {
        let Some(db) = &self.test else { return Ok(()) };
        runtime.block_on(db.write(self.tenant, move |tx| {
            for number in 0..count {
                tx.execute(INSERT, params![sequential_id(number), BODY])?;
            }
            Ok(())
        }))
    }
}

/// Ids that follow each other, as those made by a clock do.
pub(crate) fn sequential_id(number: u64) -> Uuid {
    Uuid::from_u128(u128::from(number))
}

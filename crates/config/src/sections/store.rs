use crate::kinds::{CountKind, FlagKind, SecondsKind, SecretStoreUrlKind, StoreUrlKind};
use crate::section::section;

section! {
    /// The database. SQLite needs no setup; Postgres allows more than one node.
    StoreSection in "store" {
        /// The database to use. Empty means the SQLite file `munshi.db` in the data folder.
        url: StoreUrlKind = "",
        /// Postgres login that owns the tables and runs migrations. Empty means the same login as `url`.
        owner_url: SecretStoreUrlKind = "",
        /// Postgres only: size of the connection pool.
        connections: CountKind<1, 1000> = 16,
        /// SQLite only: number of reader threads.
        readers: CountKind<1, 64> = 4,
        /// Timeout of one SQL statement.
        statement_timeout ("statement_timeout_seconds"): SecondsKind<1, 3600> = 30,
        /// How long a transaction may wait in the queue before it is refused.
        queue_timeout ("queue_timeout_seconds"): SecondsKind<1, 3600> = 30,
        /// SQLite only: back up the database before a migration.
        backup_before_migrate: FlagKind = true,
    }
}

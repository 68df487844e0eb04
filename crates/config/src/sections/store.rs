use crate::kinds::{CountKind, FlagKind, SecondsKind, SecretStoreUrlKind, StoreUrlKind};
use crate::section::section;

section! {
    /// The database. SQLite needs nothing; Postgres is for more than one node.
    StoreSection in "store" {
        /// The database to use. Empty means the SQLite file `munshi.db` in the data folder.
        url: StoreUrlKind = "",
        /// The Postgres login that owns the tables and migrates them. Empty means the same login as `url`.
        owner_url: SecretStoreUrlKind = "",
        /// Postgres only: how many connections are held open.
        connections: CountKind<1, 1000> = 16,
        /// SQLite only: how many threads read at the same time.
        readers: CountKind<1, 64> = 4,
        /// How long one statement may run before it is stopped.
        statement_timeout ("statement_timeout_seconds"): SecondsKind<1, 3600> = 30,
        /// How long a unit of work may wait for its turn before it is refused.
        queue_timeout ("queue_timeout_seconds"): SecondsKind<1, 3600> = 30,
        /// SQLite only: whether the database is copied aside before it is migrated.
        backup_before_migrate: FlagKind = true,
    }
}

use crate::kinds::{CountKind, SecretStoreUrlKind, StoreUrlKind};
use crate::section::section;

section! {
    /// The keys that people's text is encrypted with, in a database of their own that no backup of the main one contains.
    /// Without them the text is lost: copy them as `munshi backup` says.
    KeysSection in "keys" {
        /// The database of the keys. Empty means the SQLite file `keys.db` beside the vault's key. With Postgres it must be set, to one
        /// that all nodes reach, with a login of its own.
        url: StoreUrlKind = "",
        /// Postgres login that owns its tables. Empty means the same login as `url`.
        owner_url: SecretStoreUrlKind = "",
        /// How many persons' keys are kept in memory.
        cached: CountKind<100, 10_000_000> = 20_000,
    }
}

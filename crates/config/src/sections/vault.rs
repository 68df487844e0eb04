use crate::kinds::{OptionalFileKind, SecretKeyKind};
use crate::section::section;

section! {
    /// Tenants' secrets, sealed with a key that is not in the database. Without it they can't be read: keep a copy.
    VaultSection in "vault" {
        /// The file with the key, made on first run, for nobody else to read. Every node needs the same.
        /// Empty means `vault.key` in the data folder.
        key_file: OptionalFileKind = "",
        /// The key itself, 32 bytes in base64, where there is no file for it. `openssl rand -base64 32` makes one.
        key: SecretKeyKind = "",
        /// The key to change to with `munshi vault rotate`, where the key is given here.
        next_key: SecretKeyKind = "",
    }
}

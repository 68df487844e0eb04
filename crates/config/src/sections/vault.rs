use crate::kinds::{OptionalFileKind, SecretKeyKind};
use crate::section::section;

section! {
    /// Tenants' secrets, encrypted with a key outside the database. Without the key they are lost: back it up.
    VaultSection in "vault" {
        /// File with the key; created on first run, readable by this user only. Every node needs the same key. Empty
        /// means `vault.key` in the data folder.
        key_file: OptionalFileKind = "",
        /// The key itself, 32 bytes in base64, instead of a file. Create one with `openssl rand -base64 32`.
        key: SecretKeyKind = "",
        /// The next key for `munshi vault rotate`, if the key is set here.
        next_key: SecretKeyKind = "",
    }
}
